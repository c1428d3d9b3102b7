"""The campaigns of a folder in one line each."""

import sqlite3

import numpy as np
from support.served import let_in, service_of, table

from possibal.data.source import SourceSpec
from possibal.labelling.home import catalogue as module
from possibal.labelling.home.catalogue import CampaignCatalogue
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Contents, Item, Setup, Store


def campaign(path, used: int = 0, name: str = "a") -> None:
    """A campaign of four rows, of which one was labelled at some time."""
    setup = Setup(name, "table", 4, classes=("yes", "no"), recipe={"owners": []})
    contents = Contents([Item(row, str(row)) for row in range(4)], {"X": np.eye(4)})
    with Store.create(str(path), setup, contents) as store:
        if used:
            store.append([Event("1" * 32, Kind.LABEL, "Ann", 1, 2, "yes")])


def test_campaigns_are_listed_with_how_far_they_are(tmp_path):
    campaign(tmp_path / "b.csv.possibal.db", name="b")
    campaign(tmp_path / "a.db", used=1)
    newest, oldest = CampaignCatalogue(tmp_path).listed()
    assert (newest.file, newest.name, newest.kind) == ("a.db", "a", "table")
    assert (newest.rows, newest.labelled, newest.trouble) == (4, 1, "")
    assert (oldest.file, oldest.labelled) == ("b.csv.possibal.db", 0)
    assert newest.used >= oldest.used > 1_600_000_000_000


def test_what_is_no_campaign_is_not_listed(tmp_path):
    with sqlite3.connect(tmp_path / "mine.db") as other:
        other.execute("create table a (b)")
    (tmp_path / "noise.db").write_bytes(b"no database" * 999)
    (tmp_path / "folder.db").mkdir()
    campaign(tmp_path / ".hidden.db")
    assert CampaignCatalogue(tmp_path).listed() == []


def test_a_campaign_that_cannot_be_read_says_why(tmp_path):
    (tmp_path / "a.csv.possibal.db").write_bytes(b"no database" * 999)
    (found,) = CampaignCatalogue(tmp_path).listed()
    assert (found.file, found.name) == ("a.csv.possibal.db", "a.csv")
    assert "db must be a database that possibal can open" in found.trouble


def test_a_campaign_is_read_again_only_once_it_changed(tmp_path, monkeypatch):
    db, read = tmp_path / "a.db", list[str]()
    campaign(db)
    fold = module.replay
    monkeypatch.setattr(module, "replay", lambda *given: read.append("again") or fold(*given))
    catalogue = CampaignCatalogue(tmp_path)
    assert catalogue.listed() == catalogue.listed()
    assert read == ["again"]
    with Store.open(str(db)) as store:
        store.append([Event("1" * 32, Kind.LABEL, "Ann", 1, 2, "yes")])
        assert catalogue.listed()[0].labelled == 1  # also while somebody has it open
    assert read == ["again", "again"]
    db.unlink()
    assert catalogue.listed() == []


def test_labels_that_came_with_a_file_count(tmp_path):
    path = table(tmp_path / "a.csv")
    head, first, *others = path.read_text().splitlines()
    lines = [f"{head},label", f"{first},yes", *(f"{line}," for line in others)]
    path.write_text("\n".join(lines))
    with service_of(SourceSpec(path, classes=("yes", "no")), tmp_path / "a.db") as service:
        let_in(service)
        (found,) = CampaignCatalogue(tmp_path).listed()
    assert (found.rows, found.labelled) == (40, 1)
