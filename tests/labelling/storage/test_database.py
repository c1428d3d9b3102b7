import json
import os
import signal
import socket
import sqlite3
import sys
from contextlib import closing
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import psycopg
import pytest
from sqlalchemy import inspect, text
from sqlalchemy.exc import OperationalError
from support.contracts import created, go, process, word

from possibal.errors import MissingPackageError, UnsavedError
from possibal.labelling.storage import backup as backups
from possibal.labelling.storage import database
from possibal.labelling.storage.database import (
    address,
    engine,
    file_of,
    held,
    pragmas,
    reason,
    refusals,
    shown,
)
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Setup, Store

pytest_plugins = ["support.postgres"]
ELSEWHERE = os.environ.get("CI") != "true"
POSIX = pytest.mark.skipif(ELSEWHERE and os.name != "posix", reason="needs locks of POSIX")
ROOT = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="nothing is read-only to this user"
)
IN_USE = (
    r"^db must not be in use; got '.*a\.db', which another possibal has open\. "
    r"Stop that one, or use its page\.$"
)
NOW = database.SCHEMA
HOLDS = """
import sys, time
from possibal.labelling.storage.database import address, held
with held(address(sys.argv[1])):
    print("mine", flush=True)
    time.sleep(99)
"""
PAUSES = """
import os, signal, sys, time
from possibal.errors import UnsavedError
from possibal.labelling.storage import database
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Store
database.ABANDONED = 4.0
with Store.open(sys.argv[1]) as store:
    usual = store.writing.run
    def paused(job):
        def stopped(connection):
            done = job(connection)
            os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(2)  # another thread may hear of it first, and this one would go on to commit
            return done
        return usual(stopped)
    store.writing.run = paused
    try:
        store.append([Event("paused", Kind.LABEL, "bob", 1, row=0, label="x")])
    except UnsavedError:
        print("UnsavedError", flush=True)
"""
OPENS = """
import sys
from possibal.labelling.storage import backup as backups
from possibal.labelling.storage import database
from possibal.labelling.storage.store import Store
note = "ALTER TABLE items ADD note TEXT"
database.MIGRATIONS[database.SCHEMA] = lambda connection: connection.exec_driver_sql(note)
database.SCHEMA += 1
print("ready", flush=True)
sys.stdin.readline()
Store.open(sys.argv[1]).close()
"""


@pytest.fixture(name="db", params=["file", "server"])
def _db(request, tmp_path):
    """The address of nothing, on each backend in turn."""
    is_file = request.param == "file"
    return str(tmp_path / "a.db") if is_file else request.getfixturevalue("postgresql")


# ---------------------------------------------------------------- addresses
@pytest.mark.parametrize(
    ("db", "driver", "place"),
    [
        ("a.db", "sqlite+pysqlite", "a.db"),
        ("/x y/é?#%.db", "sqlite+pysqlite", "/x y/é?#%.db"),
        ("sqlite:///a.db", "sqlite+pysqlite", "a.db"),
        ("sqlite:////x/a.db", "sqlite+pysqlite", "/x/a.db"),
        ("sqlite+aiosqlite:///a.db", "sqlite+pysqlite", "a.db"),
        ("postgresql://ann@host/name", "postgresql+psycopg", "name"),
        ("postgres://ann:pw@host:5433/name", "postgresql+psycopg", "name"),
        ("postgresql+psycopg2://host/name", "postgresql+psycopg", "name"),
    ],
)
def test_an_address_may_be_a_path_or_name_its_kind(db, driver, place):
    url = address(db)
    assert (url.drivername, url.database) == (driver, place)
    assert file_of(url) == (Path(place) if driver.startswith("sqlite") else None)


@pytest.mark.parametrize(
    ("db", "seen"),
    [
        ("mysql://ann:secret@host/name", "host/name"),
        ("oracle://host/name?password=secret", "oracle://host/name"),
        ("postgresql://ann:secret@host:door/name", "host:door/name"),
        ("http://example.org", "http://example.org"),
        ("://", "://"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        (":memory:", ":memory:"),
    ],
)
def test_another_address_is_refused_without_its_password(db, seen):
    with pytest.raises(
        ValueError,
        match=r"^db must be the path of a file, sqlite:///FILE or postgresql://USER@HOST/NAME; "
        r"got '.+'\. Write it like one of these\.$",
    ) as e:
        address(db)
    assert f"got {seen!r}." in str(e.value)


def test_an_address_is_shown_without_its_password():
    assert shown(address("x/a.db")) == str(Path("x/a.db"))
    told = shown(address("postgresql://ann:secret@host/name?password=secret&host=/run"))
    assert "secret" not in told
    assert told.startswith("postgresql+psycopg://ann:***@host/name")


def test_a_server_needs_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "psycopg")
    with pytest.raises(MissingPackageError, match=r"needs psycopg.*pip install 'possibal\[postg"):
        address("postgresql://ann@host/name")


# ---------------------------------------------------------------- engines
@pytest.mark.parametrize("version", [(3, 7, 0), (3, 40, 1), (3, 51, 2)])
def test_an_older_sqlite_writes_without_a_write_ahead_log(version):
    assert pragmas(version) == ("journal_mode = DELETE", "synchronous = EXTRA")


@pytest.mark.parametrize("version", [(3, 51, 3), (3, 52, 0), (4, 0, 0)])
def test_a_sound_sqlite_writes_with_a_write_ahead_log(version):
    assert pragmas(version) == ("journal_mode = WAL", "synchronous = FULL")


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("version", [(3, 40, 1), (3, 51, 3)])
def test_every_connection_to_a_file_is_set_up(tmp_path, monkeypatch, version, writes):
    monkeypatch.setattr(database, "pragmas", lambda: pragmas(version))
    made = engine(address(str(tmp_path / "a.db")), writes=writes)
    with made.connect() as connection:
        mode = connection.execute(text("PRAGMA journal_mode")).scalar()
        level = connection.execute(text("PRAGMA synchronous")).scalar()
        patience = connection.execute(text("PRAGMA busy_timeout")).scalar()
    made.dispose()
    assert (mode, level) == (("wal", 2) if version == (3, 51, 3) else ("delete", 3))
    assert patience == database.PATIENCE * 1000


@pytest.mark.parametrize("version", [(3, 40, 1), (3, 51, 3)])
def test_a_campaign_lives_with_either_way_of_writing(tmp_path, monkeypatch, version):
    monkeypatch.setattr(database, "pragmas", lambda: pragmas(version))
    db = str(tmp_path / "a.db")
    with created(db) as made:
        stored = made.append([word("a")])
        with Store.open(db, writes=False) as reading:
            assert reading.events() == stored
    monkeypatch.undo()
    with Store.open(db) as opened:
        assert opened.events() == stored


def test_two_that_write_take_turns_and_nobody_who_reads_waits(db, monkeypatch):
    url = address(db)
    writing, reading = engine(url, writes=True), engine(url, writes=False)
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    monkeypatch.setattr(database, "LOCKED", 0.1)
    impatient = engine(url, writes=True)
    with writing.begin() as connection:
        connection.execute(text("CREATE TABLE words (word TEXT)"))
    with writing.begin():
        with reading.connect() as other:
            assert other.execute(text("SELECT * FROM words")).all() == []
        with pytest.raises(OperationalError, match=r"locked|lock timeout"), impatient.begin():
            pass
    with impatient.begin() as connection:
        connection.execute(text("INSERT INTO words VALUES ('a')"))
    for each in (writing, reading, impatient):
        each.dispose()


# ---------------------------------------------------------------- others that stand still
@pytest.mark.works_with("PostgreSQL", "answers of a team in one database", "psycopg")
def test_whoever_waits_too_long_for_another_is_told_and_nothing_is_written(postgresql, monkeypatch):
    monkeypatch.setattr(database, "LOCKED", 0.2)
    with created(postgresql) as made:
        with psycopg.connect(postgresql) as other:
            other.execute(f"SELECT pg_advisory_xact_lock({database.LOCK})")
            with pytest.raises(UnsavedError, match=r"lock timeout.*Nothing of it was kept: try ag"):
                made.append([word("lost")])
            assert made.events() == []  # whoever reads does not wait
        made.append([word("kept")])
        assert [event.key for event in made.events()] == ["kept"]


@POSIX
def test_a_process_that_is_paused_while_it_writes_stops_nobody_for_long(postgresql, monkeypatch):
    monkeypatch.setattr(database, "LOCKED", 60.0)
    created(postgresql).close()
    with process(PAUSES, postgresql) as other:
        os.waitid(os.P_PID, other.pid, os.WSTOPPED)
        with Store.open(postgresql) as made:
            made.append([word("mine")])
        other.send_signal(signal.SIGCONT)
        assert other.stdout.readline() == "UnsavedError\n"
    with Store.open(postgresql) as made:
        assert [event.key for event in made.events()] == ["mine"]


def test_limits_end_with_their_transaction(postgresql):
    idle = "idle_in_transaction_session_timeout"
    query, found = text(f"SELECT current_setting('lock_timeout'), current_setting('{idle}')"), []
    for writes in (True, False):
        made = engine(address(postgresql), writes=writes)
        with made.connect() as connection:
            found.append(connection.execute(query).one())
            raw = connection.connection.driver_connection
            connection.rollback()
            assert raw.execute("SHOW lock_timeout").fetchone() == ("0",)
            raw.rollback()
        made.dispose()
    assert found == [("4s", "10s"), ("4s", "2min")]


def test_a_server_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setitem(database.REACHED, "connect_timeout", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ValueError, match=r"^db must be a database that possibal can open"):
            Store.exists(f"postgresql://ann@127.0.0.1:{port}/name")


# ---------------------------------------------------------------- one process a file
@POSIX
def test_a_file_is_held_by_one_process_until_it_is_killed(tmp_path):
    url = address(str(tmp_path / "a.db"))
    with process(HOLDS, tmp_path / "a.db") as other:
        assert other.stdout.readline() == "mine\n"
        with pytest.raises(ValueError, match=IN_USE), held(url):
            pass
    with held(url):
        pass


@POSIX
@pytest.mark.parametrize("way", ["symbolic link", "path", "no lock files"])
def test_no_other_name_and_no_removal_of_files_opens_what_is_held(tmp_path, way):
    (tmp_path / "other").mkdir()
    second = tmp_path / "other" / "../a.db"
    if way == "symbolic link":
        second = tmp_path / "b.db"
        second.symlink_to(tmp_path / "a.db")
    created(str(tmp_path / "a.db")).close()
    with process(HOLDS, tmp_path / "a.db") as other:
        assert other.stdout.readline() == "mine\n"
        if way == "no lock files":
            for lock in [path for path in tmp_path.iterdir() if "lock" in path.name]:
                lock.unlink()
        with pytest.raises(ValueError, match=r"^db must not be in use; got "):
            Store.open(str(second))
        with Store.open(str(second), writes=False) as opened:
            assert opened.setup().rows == 3
    Store.open(str(second)).close()


@POSIX
def test_a_file_of_two_names_is_refused_under_each(tmp_path):
    created(str(tmp_path / "a.db")).close()
    (tmp_path / "b.db").hardlink_to(tmp_path / "a.db")
    for name in ("a.db", "b.db"):
        with pytest.raises(
            ValueError,
            match=rf"^db must be a file of one name; got '.*{name}', which has 2 \(hard links\)\. "
            r"Remove the others, or make a copy with possibal backup\.$",
        ):
            Store.open(str(tmp_path / name))
    (tmp_path / "b.db").unlink()
    Store.open(str(tmp_path / "a.db")).close()


@POSIX
def test_nothing_is_left_beside_a_file_that_was_closed(tmp_path):
    with created(str(tmp_path / "a.db")) as made:
        made.append([word("a")])
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


@POSIX
def test_a_file_is_let_go_if_the_work_fails_and_the_error_stays_its_own(tmp_path):
    url = address(str(tmp_path / "a.db"))
    for _ in range(2):
        with pytest.raises(OSError, match=r"^mine$"), held(url):
            raise OSError("mine")


@POSIX
def test_a_place_where_nothing_can_be_written_is_refused(tmp_path):
    (tmp_path / "a.db").mkdir()
    with (
        pytest.raises(
            ValueError,
            match=r"^db must be a file that can be written; got '.*a\.db' \(Is a directory\)\. "
            r"Choose another with --db\.$",
        ),
        held(address(str(tmp_path / "a.db"))),
    ):
        pass


@ROOT
def test_a_folder_that_is_read_only_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match=r"got '.*a\.db' \(Permission denied\)\. Choose another"):
        created(str(tmp_path / "a.db"))
    tmp_path.chmod(0o700)


def test_a_server_looks_after_itself(postgresql):
    with held(address(postgresql)), held(address(postgresql)):
        pass


# ---------------------------------------------------------------- versions
def newer(monkeypatch, migration) -> None:
    """Let this program be of the next version."""
    monkeypatch.setattr(database, "SCHEMA", NOW + 1)
    monkeypatch.setitem(database.MIGRATIONS, NOW, migration)


def first_version(db: str) -> None:
    """A campaign as the first version of the tables had it, with one answer."""
    is_file = file_of(address(db)) is not None
    number = "INTEGER PRIMARY KEY" if is_file else "BIGSERIAL PRIMARY KEY"
    content = "BLOB" if is_file else "BYTEA"
    spare = "0" if is_file else "FALSE"
    statements = [
        "CREATE TABLE facts (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
        (
            "CREATE TABLE items (row INTEGER NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
            "cells TEXT NOT NULL, media TEXT)"
        ),
        (
            "CREATE TABLE parts (name TEXT NOT NULL, number INTEGER NOT NULL, "
            f"content {content} NOT NULL, PRIMARY KEY (name, number))"
        ),
        (
            f"CREATE TABLE events (number {number}, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, "
            "who TEXT NOT NULL, made BIGINT NOT NULL, row INTEGER, label TEXT, target TEXT, "
            "necessity FLOAT(53), thought TEXT, at BIGINT NOT NULL)"
        ),
        (
            "CREATE TABLE leases (row INTEGER NOT NULL PRIMARY KEY, who TEXT NOT NULL, "
            "until BIGINT NOT NULL, spare BOOLEAN NOT NULL)"
        ),
        "INSERT INTO facts VALUES ('schema', '1')",
        *(f"INSERT INTO items VALUES ({row}, 'r{row}', '[]', NULL)" for row in range(3)),  # noqa: S608 - ours
        (
            "INSERT INTO events (key, kind, who, made, row, label, at) "
            "VALUES ('a', 'label', 'ann', 1, 0, 'x', 1)"
        ),
        f"INSERT INTO leases VALUES (1, 'ann', 0, {spare})",  # noqa: S608 - ours
    ]
    buffer = BytesIO()
    np.save(buffer, np.zeros((3, 1)))
    setup = {"name": "old", "kind": "table", "rows": 3, "classes": ["x", "y"]}
    made = engine(address(db), writes=True)
    with made.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
        given = {"setup": json.dumps(setup), "X": buffer.getvalue()}
        connection.execute(text("INSERT INTO facts VALUES ('setup', :setup)"), given)
        connection.execute(text("INSERT INTO parts VALUES ('X', 0, :X)"), given)
    made.dispose()


def with_note(connection) -> None:
    """A migration that changes a table and its rows."""
    connection.execute(text("ALTER TABLE items ADD COLUMN note TEXT"))
    connection.execute(text("UPDATE items SET id = 'new ' || id"))


def asked(db: str, query: str) -> list:
    """What a query finds."""
    made = engine(address(db), writes=False)
    with made.connect() as connection:
        found = connection.execute(text(query)).all()
    made.dispose()
    return found


def backup(db: str, number: int) -> tuple[list, list]:
    """The rows and the version that were kept before a migration."""
    wanted = "SELECT id FROM items{0} ORDER BY id", "SELECT value FROM facts{0} WHERE name='schema'"
    path = file_of(address(db))
    name = f"_v{number}" if path is None else ""
    place = db if path is None else f"{path}.version{number}"
    return tuple([row[0] for row in asked(place, query.format(name))] for query in wanted)


def test_tables_of_an_earlier_version_are_kept_and_brought_up_to_date(db, monkeypatch):
    with created(db) as made:
        stored = made.append([word("a")])
    newer(monkeypatch, with_note)
    for _ in range(2):
        with Store.open(db) as opened:
            assert opened.events() == stored
            assert sorted(opened.places()) == ["new r0", "new r1", "new r2"]
        assert asked(db, "SELECT note FROM items") == [(None,)] * 3
        assert asked(db, "SELECT value FROM facts WHERE name = 'schema'") == [(str(NOW + 1),)]
        assert backup(db, NOW) == (["r0", "r1", "r2"], [str(NOW)])


def test_a_campaign_of_the_first_version_is_kept_and_goes_on(db):
    first_version(db)
    with Store.open(db) as opened:
        assert opened.version == NOW
        (known,) = opened.events()
        assert (known.key, known.kind, known.label, known.detail) == ("a", Kind.LABEL, "x", None)
        renamed = Event("b", Kind.RENAME, "ann", 2, label="x", detail={"to": "ü"})
        opened.append([renamed])
        assert opened.events()[1].detail == {"to": "ü"}
        assert opened.setup() == Setup("old", "table", 3, classes=("x", "y"))
    assert asked(db, "SELECT value FROM facts WHERE name = 'schema'") == [(str(NOW),)]
    assert backup(db, 1) == (["r0", "r1", "r2"], ["1"])


def test_a_campaign_of_the_first_version_is_read_as_it_is(db, tmp_path):
    first_version(db)
    with Store.open(db, writes=False) as opened:
        assert opened.version == 1
        assert [(event.key, event.detail) for event in opened.events()] == [("a", None)]
    assert asked(db, "SELECT value FROM facts WHERE name = 'schema'") == [("1",)]
    copy = tmp_path / "copy.db"
    if file_of(address(db)) is None:
        with pytest.raises(
            ValueError, match=rf"^db must be of version {NOW} to be copied; got version"
        ):
            backups.backup(db, copy)
        return
    assert "rows with a label: 1" in backups.backup(db, copy)
    with Store.open(str(copy)) as opened:
        assert opened.version == NOW


def test_a_migration_that_breaks_changes_nothing_and_can_be_tried_again(db, monkeypatch):
    created(db).close()

    def breaks(connection):
        with_note(connection)
        connection.execute(text("SELECT * FROM nowhere"))

    newer(monkeypatch, breaks)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^db must be a database that .*nowhere"):
            Store.open(db)
    assert asked(db, "SELECT value FROM facts WHERE name = 'schema'") == [(str(NOW),)]
    newer(monkeypatch, with_note)
    Store.open(db).close()
    assert backup(db, NOW) == (["r0", "r1", "r2"], [str(NOW)])


def tables_of(db: str) -> dict[str, list]:
    """All tables with their columns and rows."""
    made = engine(address(db), writes=False)
    with made.connect() as connection:
        names = sorted(inspect(connection).get_table_names())
        found = {name: connection.execute(text(f"SELECT * FROM {name}")) for name in names}  # noqa: S608 - ours
        held = {name: [tuple(rows.keys()), *sorted(rows.all())] for name, rows in found.items()}
    made.dispose()
    return held


def counted(monkeypatch, broken: int | None = None) -> list[int]:
    """The steps that are taken from now on; one of them may break when all of it is done."""
    taken = []

    def step(connection, number, usual):
        usual(connection)
        taken.append(number)
        if number == broken:
            raise RuntimeError("the power of the program ended")

    for number, usual in database.MIGRATIONS.items():
        one = partial(step, number=number, usual=usual)
        monkeypatch.setitem(database.MIGRATIONS, number, one)
    return taken


@pytest.mark.parametrize("broken", sorted(database.MIGRATIONS))
def test_a_campaign_of_the_first_version_stays_as_it_was_if_any_step_breaks(
    db, monkeypatch, broken
):
    first_version(db)
    before = tables_of(db)
    with monkeypatch.context() as breaking:
        taken = counted(breaking, broken)
        with pytest.raises(RuntimeError, match="ended"):
            Store.open(db)
        assert taken == list(range(1, broken + 1))
    assert tables_of(db) == before
    with Store.open(db, writes=False) as opened:
        assert (opened.version, [event.key for event in opened.events()]) == (1, ["a"])
    taken = counted(monkeypatch)
    for _ in range(2):
        with Store.open(db) as opened:
            assert opened.version == NOW
            assert [event.key for event in opened.events()] == ["a"]
    assert taken == list(range(1, NOW))
    assert backup(db, 1) == (["r0", "r1", "r2"], ["1"])


KILLED = """
import os, signal, sys
from possibal.labelling.storage import database
from possibal.labelling.storage.store import Store
first = min(database.MIGRATIONS)
usual = database.MIGRATIONS[first]
def killed(connection):
    usual(connection)
    os.kill(os.getpid(), signal.SIGKILL)
database.MIGRATIONS[first] = killed
Store.open(sys.argv[1])
"""


@POSIX
def test_a_campaign_of_the_first_version_stays_as_it_was_if_a_migration_is_killed(db):
    first_version(db)
    before = tables_of(db)
    with process(KILLED, db) as other:
        assert other.wait(120) == -signal.SIGKILL
    assert tables_of(db) == before
    with Store.open(db) as opened:
        assert (opened.version, [event.key for event in opened.events()]) == (NOW, ["a"])
    assert backup(db, 1) == (["r0", "r1", "r2"], ["1"])


def test_several_versions_are_crossed_one_after_the_other(db, monkeypatch):
    created(db).close()
    steps = []
    monkeypatch.setattr(database, "SCHEMA", NOW + 3)
    for number in (NOW, NOW + 1, NOW + 2):
        monkeypatch.setitem(
            database.MIGRATIONS, number, lambda _connection, number=number: steps.append(number)
        )
    Store.open(db).close()
    assert steps == [NOW, NOW + 1, NOW + 2]
    assert asked(db, "SELECT value FROM facts WHERE name = 'schema'") == [(str(NOW + 3),)]


def test_whoever_only_reads_migrates_nothing(db, monkeypatch, tmp_path):
    created(db).close()
    newer(monkeypatch, with_note)
    monkeypatch.setattr(database, "READABLE", NOW + 1)
    for reads in (lambda: Store.open(db, writes=False), lambda: backups.backup(db, tmp_path / "b")):
        with pytest.raises(
            ValueError,
            match=rf"^db must be of version {NOW + 1} or later to be read; got version {NOW}\. "
            r"Open it once with possibal label, which keeps a copy\.$",
        ):
            reads()
    assert asked(db, "SELECT value FROM facts WHERE name = 'schema'") == [(str(NOW),)]
    path = file_of(address(db))
    assert path is None or not path.with_name(f"a.db.version{NOW}").exists()


def test_tables_of_a_later_version_are_refused_and_left_alone(db, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr(database, "SCHEMA", NOW + 2)
        created(db).close()
    for writes in (True, False):
        with pytest.raises(
            ValueError,
            match=rf"^db must be of version {NOW} or earlier; got version {NOW + 2}\. Update poss",
        ):
            Store.open(db, writes=writes)
    assert asked(db, "SELECT value FROM facts WHERE name = 'schema'") == [(str(NOW + 2),)]


def test_of_two_that_migrate_at_once_one_does_it(postgresql):
    created(postgresql).close()
    with process(OPENS, postgresql) as one, process(OPENS, postgresql) as other:
        go(one, other)
        assert [each.wait(120) for each in (one, other)] == [0, 0]
    assert asked(postgresql, "SELECT note FROM items") == [(None,)] * 3
    assert backup(postgresql, NOW) == (["r0", "r1", "r2"], [str(NOW)])


def test_whoever_comes_second_finds_nothing_left_to_migrate(postgresql, monkeypatch):
    created(postgresql).close()
    newer(monkeypatch, with_note)
    made = engine(address(postgresql), writes=True)
    for _ in range(2):
        with made.begin() as connection:
            database.migrate(connection)
    made.dispose()
    assert backup(postgresql, NOW) == (["r0", "r1", "r2"], [str(NOW)])


def test_tables_that_hold_no_campaign_have_no_version(db):
    made = engine(address(db), writes=True)
    with made.begin() as connection:
        assert database.version(connection) is None
        database.facts.create(connection)
        assert database.version(connection) is None
    made.dispose()
    assert not Store.exists(db)


# ---------------------------------------------------------------- copies
def test_a_file_is_copied_as_of_one_moment_while_it_is_in_use(tmp_path):
    path, to = tmp_path / "a.db", tmp_path / "b.db"
    to.write_bytes(b"old")
    with created(str(path)) as made:
        stored = made.append([word("a")])
        database.copy(path, to)
        made.append([word("b")])
    with Store.open(str(to), writes=False) as copied:
        assert copied.events() == stored
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".part") == []


def test_a_copy_that_breaks_leaves_what_was_there(tmp_path):
    path, to = tmp_path / "a.db", tmp_path / "b.db"
    path.write_bytes(b"no database at all, but long enough to have a header" * 20)
    to.write_bytes(b"old")
    with pytest.raises(ValueError, match="file is not a database"), refusals(address(str(path))):
        database.copy(path, to)
    assert to.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.db", "b.db"]


# ---------------------------------------------------------------- sentences
def test_what_a_database_says_is_one_short_line():
    assert reason(sqlite3.OperationalError("  one\ntwo")) == "one"
    assert reason(sqlite3.OperationalError()) == "no reason"
    assert len(reason(sqlite3.OperationalError("x" * 999))) == 300


def test_a_full_disk_is_told_in_a_sentence_and_the_campaign_goes_on(tmp_path):
    """SQLite's own limit of pages stands for the disk's."""
    path = tmp_path / "a.db"
    with created(str(path)) as made:
        made.append([word("a")])

        def limit(connection):
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

        made.writing.run(limit)
        with pytest.raises(OSError, match=r"^db must take what is written; got '.* full' from"):
            made.append([word("x" * 100_000)])
        assert [event.key for event in made.events()] == ["a"]
        made.writing.run(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 100000"))
        made.append([word("x" * 100_000)])
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
