import os
import sqlite3
from contextlib import closing
from dataclasses import replace

import psycopg
import pytest
from sqlalchemy.exc import OperationalError
from support.contracts import APPENDS, StoreContract, created, go, process, word

from possibal.errors import UnavailableError
from possibal.labelling.storage import database, store
from possibal.labelling.storage.leases import Lease
from possibal.labelling.storage.store import Glance, Store

pytest_plugins = ["support.postgres"]
ELSEWHERE = os.environ.get("CI") != "true"
POSIX = pytest.mark.skipif(ELSEWHERE and os.name != "posix", reason="needs locks of POSIX")
IN_USE = (
    r"^db must not be in use; got '.*a\.db', which another possibal has open\. "
    r"Stop that one, or use its page\.$"
)
HOLDS = """
import sys, time
from possibal.labelling.storage.store import Store
with Store.open(sys.argv[1]):
    print("open", flush=True)
    time.sleep(99)
"""
TAKES = """
import sys
from random import Random
from threading import Thread
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.leases import Lease
from possibal.labelling.storage.store import Store

def work(who):
    rows = Random(who).sample(range(300), 300)
    while taken := store.hold(rows, Lease(who, 100), now=0, most=3):
        rows = [row for row in rows if row not in taken]
        store.append([Event(f"{who} {row}", Kind.LABEL, who, 0) for row in taken])
        mine.extend(taken)

mine = []
with Store.open(sys.argv[1]) as store:
    threads = [Thread(target=work, args=(f"{sys.argv[2]} {i}",)) for i in range(8)]
    print("ready", flush=True)
    sys.stdin.readline()
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
print(*mine)
"""
"""A process in which people take all they can get, and say something of each row."""


class TestSQLite(StoreContract):
    """A campaign in a file."""

    @pytest.fixture(name="db")
    def _db(self, tmp_path):
        """A file that is not there yet."""
        return str(tmp_path / "a.db")

    @POSIX
    def test_a_file_has_one_writer_and_any_number_of_readers(self, db):
        with created(db) as made:
            assert not made.is_shared
            for _ in range(2):
                with pytest.raises(ValueError, match=IN_USE):
                    Store.open(db)
            with Store.open(db, writes=False) as one, Store.open(db, writes=False) as other:
                stored = made.append([word("a")])
                assert one.events() == other.events() == stored
        with Store.open(db) as opened:
            assert opened.events() == stored

    @POSIX
    def test_another_process_keeps_us_out_until_it_is_killed(self, db):
        created(db).close()
        with process(HOLDS, db) as other:
            assert other.stdout.readline() == "open\n"
            with pytest.raises(ValueError, match=IN_USE):
                Store.open(db)
        Store.open(db).close()

    def test_an_empty_file_that_a_killed_process_left_is_a_fresh_start(self, db, tmp_path):
        (tmp_path / "a.db").touch()
        assert not Store.exists(db)
        created(db).close()
        assert Store.exists(db)

    def test_a_file_that_is_no_database_is_refused_and_left_alone(self, db, tmp_path):
        for content in (b"id,label\n1,x\n", b"\x00" * 4096):
            (tmp_path / "a.db").write_bytes(content)
            for act in (Store.exists, Store.open, created):
                with pytest.raises(
                    ValueError,
                    match=r"^db must be a database that possibal can open; got '.*a\.db' "
                    r"\(file is not a database\)\. Check the address, or choose another\.$",
                ):
                    act(db)
            assert (tmp_path / "a.db").read_bytes() == content

    def test_a_folder_is_refused(self, tmp_path):
        for act in (Store.exists, Store.open, created):
            with pytest.raises(
                ValueError, match=r"^db must be a database .* \(unable to open database file\)\."
            ):
                act(str(tmp_path))

    @pytest.mark.parametrize("place", ["missing/a.db", "file/a.db"])
    def test_a_place_where_no_file_can_be_made_is_refused(self, place, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(
            ValueError,
            match=r"^db must be a file that can be written; got '.*a\.db' \(.+\)\. Choose .*--db",
        ):
            created(str(tmp_path / place))
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    def test_a_campaign_may_live_beside_tables_whose_names_it_does_not_need(self, db):
        with closing(sqlite3.connect(db)) as raw:
            raw.execute("CREATE TABLE own AS SELECT 7 AS a")
        assert not Store.exists(db)
        created(db).close()
        with closing(sqlite3.connect(db)) as raw:
            assert raw.execute("SELECT a FROM own").fetchall() == [(7,)]
        with Store.open(db) as opened:
            assert opened.setup().name == "many"


class TestPostgreSQL(StoreContract):
    """A campaign on a server."""

    @pytest.fixture(name="db")
    def _db(self, postgresql):
        """An empty database."""
        return postgresql

    def test_several_may_write_at_once(self, db):
        with created(db) as made, Store.open(db) as other:
            assert made.is_shared
            stored = [*made.append([word("a")]), *other.append([word("b")])]
            stored += made.append([word("c")])
            assert other.append([word("a", 2)]) == stored[:1]
            assert made.events() == other.events() == stored

    def test_a_glance_tells_what_others_did_lately(self, db):
        with created(db) as made, Store.open(db) as other:
            assert made.glance(0) == Glance({}, [])
            now = other.clock()
            others = word("c", who="bob"), replace(word("b"), necessity=0.1, detail={"to": "é"})
            first, *stored = other.append([word("a"), *others])
            other.hold([2], Lease("ann", now + 60_000), now)
            other.hold([1], Lease("bob", now - 1), now)  # which has ended
            held = {2: Lease("ann", now + 60_000)}
            assert made.glance(0) == Glance(held, [first, *stored])
            assert made.glance(first.number) == Glance(held, stored)

    @pytest.mark.parametrize("wrong", [-86_400_000, 300_000])
    def test_all_go_by_the_clock_of_the_database(self, db, monkeypatch, wrong):
        with created(db) as made:
            right = store.clock()
            monkeypatch.setattr(store, "clock", lambda: right + wrong)
            made.glance(0)
            assert abs(made.clock() - right) < 60_000
            (stored,) = made.append([word("a")])
            assert abs(stored.at - right) < 60_000

    def test_an_answer_that_was_held_up_does_not_put_the_clock_back(self, db, monkeypatch):
        with created(db) as made:
            made.glance(0)
            ticks, glance = store._ticks, database.glance  # noqa: SLF001 - what time it is here
            before, passed = made.clock(), [0]

            def late(*asked):
                found = glance(*asked)
                passed[0] = 100_000  # as a process that is paused has it
                return found

            monkeypatch.setattr(store, "_ticks", lambda: ticks() + passed[0])
            monkeypatch.setattr(database, "glance", late)
            made.glance(0)
            assert made.clock() >= before + 100_000

    def test_a_connection_that_broke_is_replaced_at_the_next_glance(self, db):
        with created(db) as made, psycopg.connect(db, autocommit=True) as other:
            assert made.glance(0) is not None
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            assert made.glance(0) is not None
            other.execute("ALTER TABLE leases RENAME TO elsewhere")
            with pytest.raises(UnavailableError, match="db must be there and sound"):
                made.glance(0)

    def test_no_row_goes_to_two_processes_and_neither_waits_for_the_other(self, db):
        created(db, 300).close()
        with process(TAKES, db, "one") as one, process(TAKES, db, "other") as other:
            go(one, other)
            told = [each.communicate(timeout=120)[0].split() for each in (one, other)]
            assert (one.returncode, other.returncode) == (0, 0)
        assert all(told)
        taken = sorted(int(row) for words in told for row in words)
        assert taken == list(range(300))
        with Store.open(db) as opened:
            events = opened.events()
            assert sorted(int(event.key.split()[-1]) for event in events) == taken

    def test_whoever_follows_the_journal_misses_nothing_that_several_processes_add(self, db):
        created(db).close()
        seen = []
        with (
            process(APPENDS, db, 100, "a") as one,
            process(APPENDS, db, 100, "b") as other,
            Store.open(db, writes=False) as reading,
        ):
            while one.poll() is None or other.poll() is None:
                seen += reading.events(after=seen[-1].number if seen else 0)
            seen += reading.events(after=seen[-1].number)
            assert (one.returncode, other.returncode) == (0, 0)
            assert seen == reading.events()
        assert len({event.key for event in seen}) == len(seen) == 800

    def test_of_two_that_create_at_once_one_is_refused_in_a_sentence(self, db):
        code = (
            "import sys\nfrom support.contracts import created\n"
            "print('ready', flush=True)\nsys.stdin.readline()\n"
            "try:\n    created(sys.argv[1]).close()\n    print('made')\n"
            "except ValueError as error:\n    print(error)\n"
        )
        with process(code, db) as one, process(code, db) as other:
            go(one, other)
            told = sorted(each.communicate(timeout=120)[0] for each in (one, other))
        assert told[1] == "made\n"
        assert told[0].startswith("db must ")
        assert told[0].count("\n") == 1
        with Store.open(db) as opened:
            assert len(opened.items()) == 3

    def test_a_database_that_is_not_there_is_refused_without_its_password(self, db):
        missing = db.replace("postgres@", "postgres:secret@").replace("test_", "gone_")
        for act in (Store.exists, Store.open, created):
            with pytest.raises(
                ValueError, match=r"^db must be a database that possibal can open; .*not exist"
            ) as e:
                act(missing)
            assert "secret" not in str(e.value)
            assert "\n" not in str(e.value)

    def test_a_server_that_is_not_there_is_refused(self, tmp_path):
        with pytest.raises(ValueError, match=r"^db must be a database that possibal can open; got"):
            Store.exists(f"postgresql://postgres@/x?host={tmp_path}")

    def test_a_lost_connection_fails_once_and_nothing_is_added_twice(self, db):
        with created(db) as made:
            with pytest.raises(OperationalError, match="terminat"):
                made.writing.run(
                    lambda connection: connection.exec_driver_sql(
                        "SELECT pg_terminate_backend(pg_backend_pid())"
                    )
                )
            first = made.append([word("a")])
            assert made.append([word("a")]) == first == made.events()
