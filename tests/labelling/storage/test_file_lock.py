"""A database file is locked by what it is, and SQLite's own locks on it stay as they are."""

import errno
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.contracts import process
from support.services import until

from possibal.labelling.storage import file_lock
from possibal.labelling.storage.file_lock import IDLE, is_locked, lock_beside, locked_file

ELSEWHERE = os.environ.get("CI") != "true"
pytestmark = pytest.mark.skipif(ELSEWHERE and os.name != "posix", reason="needs locks of POSIX")
HOLDS = """
import sys, time
from pathlib import Path
from possibal.labelling.storage.file_lock import locked_file
with locked_file(Path(sys.argv[1]), "not now"):
    print("mine", flush=True)
    time.sleep(99)
"""
WRITES = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
    print("taken")
except sqlite3.OperationalError as error:
    print(error)
"""


@pytest.fixture(name="path")
def _path(tmp_path):
    """A SQLite file."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE words (word TEXT)")
    return tmp_path / "a.db"


@pytest.fixture(name="beside")
def _beside(monkeypatch):
    """A system that can lock no file by its inode."""
    monkeypatch.setattr(file_lock, "COMMANDS", (None, None))


def refused(path: Path) -> bool:
    """Whether a lock is refused to us."""
    try:
        with locked_file(path, "not now"):
            return False
    except ValueError:
        return True


def told(code: str, path: Path) -> str:
    """What another process says of a file."""
    with process(code, path) as other:
        return other.stdout.readline().strip()


# ---------------------------------------------------------------- one at a time
def test_a_lock_is_held_by_one_process_until_it_is_killed(path):
    with process(HOLDS, path) as other:
        assert other.stdout.readline() == "mine\n"
        assert is_locked(path)
        with pytest.raises(ValueError, match=r"^not now$"), locked_file(path, "not now"):
            pass
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert not is_locked(path)
    assert not refused(path)


def test_a_lock_is_held_once_in_a_process_too(path):
    with locked_file(path, "first"):
        assert is_locked(path)
        assert refused(path)
        assert refused(path)
    assert not is_locked(path)
    assert not refused(path)


def test_links_lead_to_the_same_lock(path, tmp_path):
    (tmp_path / "soft.db").symlink_to(path)
    (tmp_path / "hard.db").hardlink_to(path)
    for name in ("soft.db", "hard.db"):
        with locked_file(path, "first"):
            assert refused(tmp_path / name)
            assert told(HOLDS, tmp_path / name) == ""  # it ended with the refusal
        with locked_file(tmp_path / name, "first"):
            assert refused(path)


def test_a_file_that_is_not_there_is_made_and_a_file_put_in_its_place_is_another(tmp_path):
    with locked_file(tmp_path / "a.db", "first"):
        assert (tmp_path / "a.db").read_bytes() == b""
        (tmp_path / "a.db").rename(tmp_path / "b.db")
        assert refused(tmp_path / "b.db")
        assert not refused(tmp_path / "a.db")


def test_a_file_that_is_replaced_while_it_is_locked_is_locked_as_it_is_then(path, monkeypatch):
    usual, replaced = file_lock._asked, []  # noqa: SLF001 - between two steps of it

    def slow(*given):
        if not replaced:
            replaced.append(path.rename(path.with_name("old.db")))
            path.touch()
        return usual(*given)

    monkeypatch.setattr(file_lock, "_asked", slow)
    with locked_file(path, "first"):
        assert refused(path)
        assert not refused(path.with_name("old.db"))


# ---------------------------------------------------------------- beside SQLite
def test_locks_of_sqlite_outlive_ours(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with locked_file(path, "first"):
            assert is_locked(path)
        assert told(WRITES, path) == "database is locked"
        connection.execute("ROLLBACK")
        assert told(WRITES, path) == "taken"


def test_our_lock_outlives_connections_of_sqlite(path):
    with locked_file(path, "first"):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO words VALUES ('a')")
            connection.commit()
        assert told(HOLDS, path) == ""
        assert told(WRITES, path) == "taken"  # who writes is up to SQLite
    assert told(HOLDS, path) == "mine"


def test_few_descriptors_are_kept(tmp_path):
    for number in range(2 * IDLE):
        with locked_file(tmp_path / f"{number}.db", "first"):
            assert len(file_lock._descriptors) <= IDLE + 1  # noqa: SLF001 - they are what is kept
    for path in tmp_path.iterdir():
        path.unlink()
    with locked_file(tmp_path / "a.db", "first"):
        living = file_lock._descriptors.values()  # noqa: SLF001 - as above
        assert all(os.fstat(one).st_nlink for one in living)


# ---------------------------------------------------------------- elsewhere
@pytest.mark.usefixtures("beside")
def test_without_such_locks_a_file_beside_it_is_locked_and_goes_away(path, tmp_path):
    (tmp_path / "soft.db").symlink_to(path)
    lock_beside(path).touch()  # as a killed process leaves it
    with locked_file(path, "first"):
        assert lock_beside(path).exists()
        assert is_locked(tmp_path / "soft.db")
        assert refused(tmp_path / "soft.db")
        assert refused(path)
    assert not lock_beside(path).exists()
    assert not is_locked(path)
    assert not refused(path)
    lock_beside(path).touch()
    assert not is_locked(path)


@pytest.mark.usefixtures("beside")
def test_a_lock_file_that_went_away_just_before_is_made_anew(path, monkeypatch):
    import fcntl

    usual, removed = fcntl.flock, []

    def slow(*given):
        if not removed:
            removed.append(lock_beside(path).unlink())
        usual(*given)

    monkeypatch.setattr(fcntl, "flock", slow)
    with locked_file(path, "first"):
        assert lock_beside(path).exists()
        assert refused(path)


@pytest.mark.usefixtures("beside")
def test_without_locks_at_all_nobody_is_kept_out(path, monkeypatch):
    monkeypatch.setattr(file_lock, "fcntl", None)
    with locked_file(path, "first"), locked_file(path, "second"):
        assert not is_locked(path)


def test_a_file_system_without_such_locks_is_found_out(path, monkeypatch):
    import fcntl

    def none(*_given):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(fcntl, "fcntl", none)
    with locked_file(path, "first"):
        assert refused(path)
        assert is_locked(path)
    until(lambda: not lock_beside(path).exists())
