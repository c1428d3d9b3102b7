import sqlite3
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Flag

import numpy as np
import pytest
from support.begun import campaign, clouds, said, source, told

from possibal.labelling.storage import backup as copies
from possibal.labelling.storage import database
from possibal.labelling.storage.backup import backup
from possibal.labelling.storage.doctor import doctor
from possibal.labelling.storage.leases import Lease
from possibal.labelling.storage.store import KEPT_RANKING, Store, clock

pytest_plugins = ["support.postgres"]


@pytest.fixture(name="db", params=["file", "server"])
def _db(request, tmp_path):
    """A campaign with answers, in a file and in PostgreSQL."""
    where = tmp_path / "a.db" if request.param == "file" else request.getfixturevalue("postgresql")
    db = campaign(source(tmp_path), where)
    clouds(db)
    return db


def contents(db):
    """All that a campaign holds."""
    with Store.open(str(db), writes=False) as store:
        arrays = {name: array.tolist() for name, array in store.arrays().items()}
        leases = store.leases(clock())
        return store.setup(), store.items(), arrays, store.events(), leases


def names(folder):
    """What is in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())


def test_a_copy_is_the_campaign(db, tmp_path):
    now = clock()
    with Store.open(db) as store:
        store.hold([5], Lease("bob", now + 60_000), now)
    said_of_it = backup(db, tmp_path / "b.db")
    assert said_of_it == "answers and other events: 12, by 1 person; rows with a label: 12"
    assert contents(tmp_path / "b.db") == contents(db)
    assert all(finding.ok for finding in doctor(str(tmp_path / "b.db")))


def test_the_last_ranking_is_copied_and_may_shrink_while_it_is(db, tmp_path, monkeypatch):
    with Store.open(db) as store:
        store.replace_arrays(KEPT_RANKING, {f"{KEPT_RANKING}{n}": np.arange(3) for n in "ab"})
    backup(db, tmp_path / "b.db")
    assert contents(tmp_path / "b.db") == contents(db)
    plain = copies._copied  # noqa: SLF001 - nobody else knows when the copy is made

    def copied_then_kept(url, part):
        sizes = plain(url, part)
        with Store.open(db) as store:
            store.replace_arrays(KEPT_RANKING, {f"{KEPT_RANKING}a": np.arange(3)})
        return sizes

    monkeypatch.setattr(copies, "_copied", copied_then_kept)
    backup(db, tmp_path / "c.db")
    assert contents(tmp_path / "c.db") == contents(tmp_path / "b.db")


def test_nothing_is_left_beside_the_copy(db, tmp_path):
    (tmp_path / "new").mkdir()
    backup(db, tmp_path / "new" / "b[1].db")
    assert names(tmp_path / "new") == ["b[1].db"]


def test_a_copy_goes_on_where_the_campaign_was(db, tmp_path):
    backup(db, tmp_path / "b.db")
    with Store.open(str(tmp_path / "b.db")) as store:
        (event,) = store.append([said(20)])
    assert event.number == 13


def test_tables_of_many_rows_are_copied_in_parts(db, tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "MANY", 7)
    backup(db, tmp_path / "b.db")
    assert contents(tmp_path / "b.db") == contents(db)


def test_a_copy_is_made_while_people_label(db, tmp_path):
    enough, events = Flag(), [said(row % 30, who=f"p{row}") for row in range(5000)]

    def work(store):
        for count, event in enumerate(events):
            if enough.is_set():
                return count
            store.append([event])
        return len(events)

    with Store.open(db) as store, ThreadPoolExecutor() as threads:
        done = threads.submit(work, store)
        for number in range(3):
            backup(db, tmp_path / f"{number}.db")
        enough.set()
        done.result()
    every = contents(db)[3]
    for number in range(3):
        copied = contents(tmp_path / f"{number}.db")[3]
        assert copied == every[: len(copied)]
        assert len(copied) >= 12


def test_nothing_is_overwritten(db, tmp_path):
    (tmp_path / "b.db").write_text("mine")
    with pytest.raises(ValueError, match=r"^to must be a new file; got '.*b\.db', which exists\."):
        backup(db, tmp_path / "b.db")
    assert (tmp_path / "b.db").read_text() == "mine"


def test_the_folder_must_be_there(db, tmp_path):
    with pytest.raises(ValueError, match=r"^to must be in a folder that exists; got "):
        backup(db, tmp_path / "none" / "b.db")


def test_a_campaign_must_be_there(tmp_path):
    with pytest.raises(ValueError, match=r"^db must hold a campaign; got "):
        backup(str(tmp_path / "none.db"), tmp_path / "b.db")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "damage",
    ["DELETE FROM events WHERE number = 12", "DELETE FROM items WHERE row = 3"],
)
def test_a_copy_that_lacks_something_is_not_kept(tmp_path, monkeypatch, damage):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    clouds(db)
    (tmp_path / "new").mkdir()
    copy = database.copy

    def spoilt(path, to):
        copy(path, to)
        with sqlite3.connect(to) as connection:
            connection.execute(damage)
        connection.close()

    monkeypatch.setattr(database, "copy", spoilt)
    with pytest.raises(ValueError, match=r"^to must be a place that keeps what is written there"):
        backup(db, tmp_path / "new" / "b.db")
    assert names(tmp_path / "new") == []


def test_a_copy_that_cannot_be_read_is_not_kept(tmp_path, monkeypatch):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    (tmp_path / "new").mkdir()
    monkeypatch.setattr(database, "copy", lambda _path, to: to.write_bytes(b"x" * 5000))
    with pytest.raises(ValueError, match=r"^db must be a database that possibal can open"):
        backup(db, tmp_path / "new" / "b.db")
    assert names(tmp_path / "new") == []


def test_arrays_larger_than_a_cell_come_along(tmp_path, postgresql, monkeypatch):
    monkeypatch.setattr("possibal.labelling.storage.store.CHUNK", 100)
    db = campaign(source(tmp_path), postgresql)
    told(db, said(1))
    backup(db, tmp_path / "b.db")
    with Store.open(str(tmp_path / "b.db"), writes=False) as copy, Store.open(db) as store:
        np.testing.assert_array_equal(copy.array("X"), store.array("X"))
