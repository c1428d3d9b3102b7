"""Campaigns of the version before: they open with their ids, labels, check rows and predictions."""

import csv
import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import LargeBinary, MetaData, create_engine, insert, select, text
from support.old_campaigns import OLD_CAMPAIGNS
from support.refusals import refused
from support.served import visited

from possibal import load_model, open_campaign
from possibal.cli import main
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage import database
from possibal.labelling.storage.store import Store

pytest_plugins = ["support.postgres"]
ROLES = {"sizes": {}, "named": {"id": "name", "label": "sort"}, "texts": {"text": "message"}}
"""What is said of columns in Python; that of names is found where it is called id."""


@pytest.fixture(name="old", params=OLD_CAMPAIGNS)
def _old(request, tmp_path, monkeypatch):
    """A campaign of the version before, in the folder we are in, and what it is called."""
    monkeypatch.chdir(tmp_path)
    campaign = OLD_CAMPAIGNS[request.param]
    campaign.unpack(tmp_path)
    return request.param, campaign


def ids(campaign) -> tuple[str, ...]:
    """The names of all rows of the file."""
    return tuple(one[0] for one in campaign.predicted)


def labels(campaign) -> dict[str, str]:
    """The labels that were exported."""
    lines = csv.DictReader(campaign.exported.splitlines())
    return {line["id"]: line["final"] for line in lines if line["final"]}


def grow(campaign) -> None:
    """Let the file have all its rows."""
    Path("old.csv").write_text(campaign.file)


def check_kept(db: str, before: bytes) -> None:
    """Whether the copy from before the migration is there, as it was."""
    with Store.open(db, writes=False) as store:
        assert store.version == database.SCHEMA
    copy = Path(f"{db}.version1")
    assert copy.is_file()
    assert not Path(f"{db}.version2").exists()
    copy.rename("copy.db")
    with Store.open("copy.db", writes=False) as store:
        assert store.version == 1
    assert before[:16] == Path("copy.db").read_bytes()[:16]


def test_it_opens_with_its_ids_labels_and_check_rows(old):
    _, campaign = old
    before = Path("old.db").read_bytes()
    with open_campaign("old.db") as opened:
        assert opened.rows == ids(campaign)[: campaign.rows]
        assert opened.labels == labels(campaign)
        assert set(opened.left) == set(opened.rows) - labels(campaign).keys()
        (row,) = opened.ask()
        opened.tell(row, opened.classes[0])
        assert opened.undo() == row
        assert opened.labels == labels(campaign)
    with Store.open("old.db") as store:
        assert ReadModel(store).check_rows == campaign.check
        places = enumerate(ids(campaign)[: campaign.rows])
        assert store.places() == {name: place for place, name in places}
    check_kept("old.db", before)


def test_to_read_it_changes_nothing(old, capsys):
    _, campaign = old
    before = hashlib.sha256(Path("old.db").read_bytes()).digest()
    for arguments in (
        ["status", "old.db"],
        ["export", "old.db", "--no-fields"],
        ["model", "old.db"],
    ):
        assert main.main(arguments) == 0
    assert main.main(["status", "old.db", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))
    assert (found["rows"], found["answered"]) == (campaign.rows, len(labels(campaign)))
    assert found["check"]["size"] == len(campaign.check)
    assert Path("labels.csv").read_text() == campaign.exported
    assert hashlib.sha256(Path("old.db").read_bytes()).digest() == before


def test_its_model_predicts_what_it_predicted(old):
    name, campaign = old
    grow(campaign)
    named = campaign.options[:2]
    assert main.main(["model", "old.db"]) == 0
    assert main.main(["predict", "model", "old.csv", "--to", "out.csv", "--no-fields", *named]) == 0
    _, *lines = csv.reader(Path("out.csv").read_text().splitlines())
    assert [line[:2] for line in lines] == [list(one[:2]) for one in campaign.predicted]
    numbers = np.array([line[2:] for line in lines], dtype=float)
    np.testing.assert_allclose(numbers, [one[2:] for one in campaign.predicted], rtol=1e-4)
    with open_campaign("old.db") as opened:
        found = opened.predict(pd.read_csv("old.csv"))
        assert found.tolist() == [one[1] for one in campaign.predicted], name
    assert load_model("model").predict(pd.read_csv("old.csv")).tolist() == found.tolist()


def test_people_go_on_with_it_and_new_rows_join(old, capsys):
    _, campaign = old
    before = Path("old.db").read_bytes()
    assert visited(lambda _: None, "old.csv", "--db", "old.db", *campaign.options)[0] == 0
    shown = capsys.readouterr().out
    assert "Rows since last time" not in shown
    assert "stays as when the campaign began" not in shown
    grow(campaign)
    assert visited(lambda _: None, "old.csv", "--db", "old.db", *campaign.options)[0] == 0
    more = len(ids(campaign)) - campaign.rows
    assert f"Rows since last time: {more} new." in capsys.readouterr().out
    with open_campaign("old.db") as opened:
        assert opened.rows == ids(campaign)
        assert opened.labels == labels(campaign)
    with Store.open("old.db", writes=False) as store:
        assert ReadModel(store).check_rows == campaign.check
    check_kept("old.db", before)


@pytest.mark.parametrize("is_file", [True, False])
def test_new_rows_join_it_from_python(old, is_file):
    name, campaign = old
    grow(campaign)
    pool = "old.csv" if is_file else pd.read_csv("old.csv")
    roles = ROLES[name] | ({"id": "id"} if name == "texts" else {})
    with open_campaign("old.db", pool, **roles) as opened:
        assert opened.rows == ids(campaign)
        assert opened.labels == labels(campaign)
    with open_campaign("old.db", pool, **roles) as again:
        assert again.rows == ids(campaign)


# ---------------------------------------------------------------- on a server
@pytest.fixture(name="served")
def _served(tmp_path, monkeypatch, postgresql):
    """The address of a campaign of the version before on PostgreSQL, and the campaign."""
    monkeypatch.chdir(tmp_path)
    campaign = OLD_CAMPAIGNS["named"]
    campaign.unpack(tmp_path)
    tables = MetaData()
    old, new = (create_engine(database.address(db)) for db in ("old.db", postgresql))
    try:
        with old.connect() as source, new.begin() as target:
            tables.reflect(source)
            tables.tables["parts"].c.content.type = LargeBinary()  # as each server calls it
            tables.create_all(target)
            for table in tables.sorted_tables:
                rows = source.execute(select(table)).mappings().all()
                if rows:
                    target.execute(insert(table), [dict(row) for row in rows])
            last = "SELECT setval('events_number_seq', (SELECT max(number) FROM events))"
            target.execute(text(last))
    finally:
        old.dispose()
        new.dispose()
    return postgresql, campaign


def tables_of(db: str) -> dict[str, list]:
    """All tables with their columns and rows."""
    engine, tables = create_engine(database.address(db)), MetaData()
    with engine.connect() as connection:
        tables.reflect(connection)
        found = {
            name: [
                sorted(table.columns.keys()),
                *sorted(connection.execute(select(table)).all(), key=repr),
            ]
            for name, table in tables.tables.items()
        }
    engine.dispose()
    return found


def test_commands_that_read_take_it_as_it_is_on_a_server_too(served, capsys):
    db, campaign = served
    before = tables_of(db)
    for arguments in (
        ["status", db],
        ["export", db, "--to", "labels.csv", "--no-fields"],
        ["model", db, "--to", "model"],
    ):
        assert main.main(arguments) == 0, capsys.readouterr()
    assert Path("labels.csv").read_text() == campaign.exported
    assert main.main(["doctor", db]) == 1
    assert "The tables are of version 1" in capsys.readouterr().out
    refused(capsys, ["backup", db, "--to", "copy.db"])
    assert tables_of(db) == before


def test_it_goes_on_on_a_server_too_once_it_was_kept(served):
    db, campaign = served
    before = tables_of(db)
    for _ in range(2):
        with open_campaign(db) as opened:
            assert opened.labels == labels(campaign)
        after = tables_of(db)
        assert ("schema", str(database.SCHEMA)) in after["facts"]
        assert {name: after[f"{name}_v1"] for name in before} == before
