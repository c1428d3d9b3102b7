"""Several campaigns in one server: opened, found, and closed to make room."""

import time
from pathlib import Path

import pytest
from support.served import PATIENCE, service_of, table

from possibal.data.source import SourceSpec
from possibal.errors import RefusedError
from possibal.labelling.home import hosting as module
from possibal.labelling.home.hosting import CampaignHost
from possibal.labelling.storage.store import INCOMPLETE, Store
from possibal.progress import no_stages

DB = "a.csv.possibal.db"


def begun(folder: Path, name: str = "a.csv", rows: int = 20) -> str:
    """The database of a campaign about a table."""
    wanted = SourceSpec(table(folder / name, rows=rows), classes=("yes", "no"))
    with service_of(wanted, folder / f"{name}.possibal.db") as service:
        return Path(str(service.store.url.database)).name


@pytest.fixture(name="served")
def _served():
    return []


@pytest.fixture
def host(tmp_path, served):
    host = CampaignHost(tmp_path, lambda _store, file: served.append(file))
    yield host
    host.close()


def test_campaigns_are_opened_once_and_closed_with_how_far_they_are(tmp_path, host, served):
    begun(tmp_path)
    begun(tmp_path, "b.csv")
    first = host.opened(DB, no_stages)
    assert host.opened(DB, no_stages) is host.find(DB) is first
    second = host.opened("b.csv.possibal.db", no_stages)
    assert (host.campaigns, served) == ([first, second], [DB, "b.csv.possibal.db"])
    assert (first.notes, first.service.ask("Ann").item.row >= 0) == ((), True)
    with pytest.raises(ValueError, match="another possibal has open"):
        Store.open(str(tmp_path / DB))
    assert host.close()[0] == f"a: 0 of 20 rows have a label, kept in {DB}."
    assert host.campaigns == []
    Store.open(str(tmp_path / DB)).close()


@pytest.mark.parametrize("file", ["none.db", "../a.db", "", "."])
def test_what_is_no_campaign_of_the_folder_is_refused(host, file):
    with pytest.raises(ValueError, match=r"campaign must be one of the list|db must"):
        host.opened(file, no_stages)
    assert host.campaigns == []


def test_the_campaign_that_is_idle_for_longest_makes_room(tmp_path, host, monkeypatch):
    monkeypatch.setattr(module, "MOST", 1)
    begun(tmp_path)
    begun(tmp_path, "b.csv")
    first = host.opened(DB, no_stages)
    with pytest.raises(RefusedError, match="At most 1 campaigns are open at once"):
        host.opened("b.csv.possibal.db", no_stages)
    monkeypatch.setattr(module, "IDLE", 0.0)
    with first.request():
        assert first.idle == 0
    host.opened("b.csv.possibal.db", no_stages)
    assert [one.file for one in host.campaigns] == ["b.csv.possibal.db"]


def test_new_rows_of_the_source_join_and_nothing_else_without_consent(tmp_path, host):
    begun(tmp_path)
    table(tmp_path / "a.csv", rows=25)
    found = host.opened(DB, no_stages)
    assert found.notes[0] == "Rows since last time: 5 new."
    assert found.service.setup.rows == 25
    host.close()
    table(tmp_path / "a.csv", rows=25, seed=1)
    found = host.opened(DB, no_stages)
    assert found.notes[0].startswith("a.csv is not as it was. Rows since last time: 25 changed.")
    assert "possibal label a.csv --accept-changes does" in found.notes[0]
    host.close()
    (tmp_path / "a.csv").write_text("other,columns\n1,2\n3,4\n")
    (note,) = host.opened(DB, no_stages).notes
    assert note.startswith("a.csv is not as it was, and nothing of it was taken in: pool must")


def test_a_campaign_needs_its_source_no_more(tmp_path, host):
    begun(tmp_path)
    (tmp_path / DB).rename(tmp_path / "mine.db")
    assert host.opened("mine.db", no_stages).notes == ()
    host.close()
    with Store.open(str(tmp_path / "mine.db")) as store:
        store.amend(latest_digest=INCOMPLETE)
    (note,) = host.opened("mine.db", no_stages).notes
    assert note == "Rows that had still to join cannot: what they were in is not here."


def test_rows_that_had_still_to_join_do_so(tmp_path, host):
    begun(tmp_path)
    with Store.open(str(tmp_path / DB)) as store:
        store.amend(latest_digest=INCOMPLETE)
    table(tmp_path / "a.csv", rows=22)
    found = host.opened(DB, no_stages)
    assert found.service.intake is not None
    until = time.monotonic() + PATIENCE
    while found.service.store.setup().rows < 22:
        assert time.monotonic() < until
        time.sleep(0.02)
