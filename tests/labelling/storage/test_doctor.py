import multiprocessing
import os
import shutil
import sqlite3
from importlib.metadata import PackageNotFoundError

import psycopg
import pytest
from PIL import Image
from support.begun import campaign, clouds, said, source, told

from possibal.labelling.storage import database, doctor
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.leases import Lease
from possibal.labelling.storage.store import Store, clock

pytest_plugins = ["support.postgres"]


@pytest.fixture(name="db")
def _db(tmp_path):
    """A campaign in a file, with answers."""
    db = campaign(source(tmp_path), tmp_path / "a.db")
    clouds(db)
    return db


@pytest.fixture(name="server")
def _server(tmp_path, postgresql):
    """A campaign in PostgreSQL, with answers."""
    db = campaign(source(tmp_path), postgresql)
    clouds(db)
    return db


@pytest.fixture(name="any_db", params=["db", "server"])
def _any_db(request):
    """Each of them in turn."""
    return request.getfixturevalue(request.param)


def faults(db) -> list[str]:
    """What a doctor wants looked at."""
    return [finding.sentence for finding in doctor.doctor(db) if not finding.ok]


def sentences(db) -> str:
    """All that a doctor says of a campaign that is well."""
    assert faults(db) == []
    return " ".join(finding.sentence for finding in doctor.doctor(db))


def changed(db, *statements) -> None:
    """Do to a database what no possibal would do."""
    if "://" in db:
        with psycopg.connect(db) as connection:
            for statement in statements:
                connection.execute(statement)
        return
    with sqlite3.connect(db) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


# ---------------------------------------------------------------- well
def test_a_file_that_is_well_is_told_so(db):
    said_of_it = sentences(db)
    assert f"SQLite is of version {sqlite3.sqlite_version}: " in said_of_it
    for words in (
        f"journal mode {database.pragmas()[0].rpartition(' ')[2]}.",
        "the file is sound",
        "can be written",
        "no other possibal has the file open",
        f"the tables are of version {database.SCHEMA}.",
        "all 30 rows are there",
        "answers and other events: 12, by 1 person; rows with a label: 12",
        "people at work: 0",
    ):
        assert words in said_of_it


def test_a_server_that_is_well_is_told_so(server):
    said_of_it = sentences(server)
    for words in (
        "PostgreSQL is of version 1",
        "keeps text in UTF8.",
        "the tables can be written",
        "other connections to the database: ",
        "answers and other events: 12, by 1 person; rows with a label: 12",
    ):
        assert words in said_of_it


def test_nothing_is_changed(db, tmp_path):
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    doctor.doctor(db)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_people_at_work_are_counted(any_db):
    now = clock()
    with Store.open(any_db) as store:
        store.hold([1, 2], Lease("ann", now + 60_000), now, 2)
        store.hold([3], Lease("bob", now + 60_000), now)
    assert "people at work: 2, on so many rows: 3." in sentences(any_db)


def holds(db, ready, go_on) -> None:
    """Hold a campaign for a while."""
    with Store.open(db):
        ready.set()
        go_on.wait(60)


def test_a_campaign_in_use_is_well(db):
    context = multiprocessing.get_context("spawn")
    ready, go_on = context.Event(), context.Event()
    other = context.Process(target=holds, args=(db, ready, go_on))
    other.start()
    try:
        assert ready.wait(60)
        assert "another possibal has the file open" in sentences(db)
    finally:
        go_on.set()
        other.join()


def test_a_campaign_that_was_only_copied_is_well(db, tmp_path):
    shutil.copy(db, tmp_path / "b.db")
    assert "no other possibal has the file open" in sentences(str(tmp_path / "b.db"))
    assert sorted(path.name for path in tmp_path.glob("b.db*")) == ["b.db"]


def test_a_file_of_two_names_is_to_be_looked_at(db, tmp_path):
    (tmp_path / "b.db").hardlink_to(db)
    (fault,) = faults(db)
    assert fault.startswith("the file has 2 names (hard links)")


def test_labels_that_a_file_brought_are_classes(db):
    told(db, said(20, "new", kind=Kind.IMPORT), said(21, "new"), said(22, "new", kind=Kind.EDIT))
    assert "every label is a class that was named" in sentences(db)


# ---------------------------------------------------------------- not well
def test_what_is_no_campaign_is_a_mistake(tmp_path, postgresql):
    for db in (str(tmp_path / "none.db"), postgresql):
        with pytest.raises(ValueError, match=r"^db must hold a campaign; got .* Begin one"):
            doctor.doctor(db)


def test_what_is_no_database_is_to_be_looked_at(tmp_path):
    (tmp_path / "a.db").write_bytes(b"x" * 5000)
    (fault,) = faults(str(tmp_path / "a.db"))
    assert "file is not a database" in fault


def test_a_damaged_file_is_to_be_looked_at(db):
    with sqlite3.connect(db) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_events%'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with open(db, "r+b") as file:  # noqa: PTH123 - a damage
        file.seek((page - 1) * size + size // 2)
        file.write(b"\x55" * (size // 2))
    assert any(fault.startswith("the file is damaged: ") for fault in faults(db))


def test_events_that_make_no_sense_are_named(any_db):
    told(any_db, *(said(row, "huge") for row in range(12, 19)))
    changed(
        any_db,
        "UPDATE events SET row = 99 WHERE number = 2",
        "UPDATE events SET row = NULL WHERE number = 3",
        """UPDATE events SET detail = '{"rows": "[99]"}' WHERE number = 13""",
        "UPDATE events SET label = NULL WHERE number = 4",
    )
    assert faults(any_db) == [
        "there are events about rows that there are not: 2, 3, 13.",
        "there are events that should name a class and do not: 4.",
        "there are events that name a class nobody added: 13, 14, 15, 16, 17 and 2 others.",
    ]


def test_changes_of_the_campaign_are_well(db):
    made = {"key": "c1", "who": "ann", "made": 1}
    told(
        db,
        Event(**made, kind=Kind.RENAME, label="small", detail={"to": "tiny"}),
        said(20, "tiny"),
        Event("c2", Kind.CHECK, "ann", 2, detail={"rows": "[3, 4]"}),
        Event("c3", Kind.LABEL, "ann", 3, 20, "tiny", detail={"rows": "[21, 22]"}),
    )
    assert "every label is a class that was named" in sentences(db)
    assert "every change of the campaign says what it is" in sentences(db)


def test_changes_that_say_nothing_are_named(any_db):
    told(
        any_db,
        Event("c1", Kind.RENAME, "ann", 1, label="small"),
        Event("c2", Kind.CHECK, "ann", 2, detail={"rows": "[99]"}),
        Event("c3", Kind.CHECK, "ann", 3),
        Event("c4", Kind.REMOVE, "ann", 4),
        Event("c5", Kind.SKIP, "ann", 5, 3, detail={"rows": "{"}),
    )
    assert faults(any_db) == [
        "there are events that should name a class and do not: 16.",
        "there are events whose detail is missing or odd: 13, 14, 15, 17.",
    ]


def test_events_of_no_kind_are_to_be_looked_at(any_db):
    changed(any_db, "UPDATE events SET kind = 'dance' WHERE number = 2")
    (fault,) = faults(any_db)
    assert fault.startswith("The journal: this could not be looked at ('dance' is not a valid Kind")


@pytest.mark.parametrize("of", ["items", "parts"])
def test_rows_that_are_lost_are_to_be_looked_at(any_db, of):
    changed(any_db, "DELETE FROM items WHERE row = 3" if of == "items" else "DELETE FROM parts")
    (fault,) = faults(any_db)
    if of == "items":
        assert fault.startswith("the campaign has 30 rows, but 29 are kept, 30 as numbers.")
    else:
        assert fault.startswith("The rows of the campaign: this could not be looked at (")


def test_a_table_that_is_lost_ends_the_look(any_db):
    changed(any_db, "DROP TABLE leases")
    assert "tables are missing: leases. Restore a backup." in faults(any_db)
    assert "replays" not in " ".join(f.sentence for f in doctor.doctor(any_db))


@pytest.mark.parametrize(
    ("number", "remedy"), [("7", "update it."), ("0", "open them with possibal label.")]
)
def test_tables_of_another_version_end_the_look(any_db, number, remedy):
    changed(any_db, f"UPDATE facts SET value = '{number}' WHERE name = 'schema'")  # noqa: S608 - ours
    assert faults(any_db) == [
        f"the tables are of version {number}, and this possibal is for {database.SCHEMA}: {remedy}"
    ]


def test_leases_of_no_rows_are_to_be_looked_at(db):
    changed(db, f"INSERT INTO leases VALUES (99, 'ann', {clock() + 60_000}, 0)")  # noqa: S608 - ours
    assert faults(db) == ["there are leases of rows that there are not: 99."]


def test_a_file_that_cannot_be_written_is_to_be_looked_at(db, monkeypatch):
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, how: str(path) != db and access(path, how))
    assert faults(db) == [f"{db!r} cannot be written by you."]


def test_a_journal_that_is_not_safe_is_to_be_looked_at(db, monkeypatch):
    monkeypatch.setattr(database, "WAL_IS_SOUND", (3, 0))
    monkeypatch.setattr(database, "pragmas", lambda: ("journal_mode = WAL",))
    assert "write-ahead log is sound and is used" in sentences(db)
    monkeypatch.setattr(database, "pragmas", lambda: ("application_id = DELETE",))
    (fault,) = faults(db)
    assert fault.startswith("the file is written with journal mode WAL, where DELETE is safe")


def test_pictures_that_are_gone_are_to_be_looked_at(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for shade in range(4):
        Image.new("RGB", (8, 8), (60 * shade,) * 3).save(folder / f"{shade}.png")
    db = campaign(folder, tmp_path / "a.db")
    assert f"all 4 pictures are in {str(folder)!r}." in sentences(db)
    (folder / "2.png").unlink()
    (fault,) = faults(db)
    assert fault.startswith("1 of 4 pictures are gone from ")
    assert "first '2.png'. Put them back." in fault
    shutil.rmtree(folder)
    (fault,) = faults(db)
    assert fault.startswith("the folder of the pictures is gone: ")


def test_a_server_that_takes_no_writes_is_to_be_looked_at(server):
    name = database.address(server).database
    changed(server, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    assert faults(server) == ["the server takes no writes: it is a copy of another."]


def test_tables_that_are_closed_to_us_are_to_be_looked_at(server):
    role = f"guest_{clock()}"
    changed(
        server,
        f"CREATE ROLE {role} LOGIN",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}",
    )
    guest = server.replace("postgres@", f"{role}@")
    (fault,) = faults(guest)
    assert fault.startswith(
        "you may not write to events, facts, invitations, items, leases, parts, "
    )
    changed(server, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_text_in_another_encoding_is_to_be_looked_at(tmp_path, postgres_server):
    postgres_server.execute("CREATE DATABASE odd ENCODING 'LATIN1' TEMPLATE template0")
    try:
        db = campaign(source(tmp_path), postgres_server.address("odd"))
        (fault,) = faults(db)
    finally:
        postgres_server.execute("DROP DATABASE odd WITH (FORCE)")
    assert fault.startswith("the database keeps text in LATIN1, where UTF8 is needed")


# ---------------------------------------------------------------- machines
def test_a_machine_tells_what_it_has(monkeypatch):
    def lost(name):
        if name == "skops":
            raise PackageNotFoundError(name)
        return "1.2.3"

    monkeypatch.setattr(doctor, "version", lost)
    found = doctor.machine()
    assert all(finding.ok for finding in found)
    told_of_it = " ".join(finding.sentence for finding in found)
    assert sqlite3.sqlite_version in told_of_it
    assert "psycopg 1.2.3 is there." in told_of_it
    assert "skops is not installed; only models in one file need it." in told_of_it
