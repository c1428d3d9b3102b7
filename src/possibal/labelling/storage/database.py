"""Schema, engines and migrations of the databases that keep campaigns: SQLite and PostgreSQL.

with held(url): engine(url, writes=True)        migrate(connection)        TABLES
"""

import errno
import os
import sqlite3
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from reprlib import repr as brief
from typing import Any

from sqlalchemy import (
    URL,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    inspect,
    make_url,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError

from possibal.errors import MissingPackageError
from possibal.files import part_of
from possibal.labelling.storage.file_lock import locked_file
from possibal.labelling.storage.leases import LONGEST

SCHEMA = 3
"""The version of the tables below."""
READABLE = 1
"""The earliest version whose tables can be read as they are."""
PATIENCE = 30.0
"""Seconds to wait for a database that is busy."""
CONNECTING, LOCKED = 5.0, 4.0
"""Seconds in which a server must be reached, and in which whoever else writes must be done."""
WRITING, READING = 30.0, 120.0
"""Seconds that one statement may take on a server; whole arrays are read by one."""
ABANDONED = 10.0
"""Seconds after which a server ends a transaction that stands still, as of a paused process."""
LIMITS = "lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"
"""What bounds how long a transaction on a server may wait, work and stand still."""
UNHURRIED = 600.0
"""The same, and seconds for a statement, where very many rows are written at once."""
REACHED = {
    "connect_timeout": int(CONNECTING),
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""What tells that a server cannot be reached any more, unless the address says otherwise."""
WAL_IS_SOUND = (3, 51, 3)
"""The first SQLite whose write-ahead log survives two connections that write at once."""
LOCK = 7_263_541
"""Advisory lock that serialises whoever writes to a PostgreSQL database."""
NUMBER = BigInteger().with_variant(Integer, "sqlite")
TABLES = MetaData()

facts = Table(
    "facts",
    TABLES,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
items = Table(
    "items",
    TABLES,
    Column("row", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False, unique=True),
    Column("cells", Text, nullable=False),
    Column("media", Text),
)
parts = Table(
    "parts",
    TABLES,
    Column("name", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)
events = Table(
    "events",
    TABLES,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("made", BigInteger, nullable=False),
    Column("row", Integer),
    Column("label", Text),
    Column("target", Text),
    Column("necessity", Float(53)),
    Column("thought", Text),
    Column("at", BigInteger, nullable=False),
    Column("detail", Text),
)
SINCE = {"detail": 2}
"""The version in which a column of the events came, if that was not the first."""
TABLES_SINCE = {"invitations": 3, "sessions": 3}
"""The version in which a table came, likewise."""
leases = Table(
    "leases",
    TABLES,
    Column("row", Integer, primary_key=True, autoincrement=False),
    Column("who", Text, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("spare", Boolean, nullable=False),
)
invitations = Table(
    "invitations",
    TABLES,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("code", Text, nullable=False, unique=True),
    Column("who", Text),
    Column("role", Text, nullable=False),
    Column("made", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
    Column("joined", BigInteger),
)
sessions = Table(
    "sessions",
    TABLES,
    Column("secret", Text, primary_key=True),
    Column("pictures", Text, nullable=False, unique=True),
    Column("invitation", NUMBER, nullable=False),
    Column("expires", BigInteger, nullable=False),
)


# ---------------------------------------------------------------- addresses
def address(db: str) -> URL:
    """The address of a database; a plain path is a SQLite file."""
    try:
        url = make_url(db) if "://" in db else URL.create("sqlite", database=str(Path(db)))
    except (ArgumentError, ValueError):
        url = URL.create("none")
    backend = url.drivername.partition("+")[0]
    if backend == "sqlite" and url.database not in {None, "", ":memory:"}:
        return url.set(drivername="sqlite+pysqlite")
    if backend in {"postgresql", "postgres"}:
        if find_spec("psycopg") is None:
            raise MissingPackageError(
                "A PostgreSQL database needs psycopg, which is not installed: "
                "run pip install 'possibal[postgres]'."
            )
        return url.set(drivername="postgresql+psycopg")
    raise ValueError(
        "db must be the path of a file, sqlite:///FILE or postgresql://USER@HOST/NAME; "
        f"got {db.rsplit('@', maxsplit=1)[-1].partition('?')[0]!r}. Write it like one of these."
    )


def file_of(url: URL) -> Path | None:
    """The file of a SQLite database; None for a server."""
    return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None


def shown(url: URL) -> str:
    """The address as people may read it: without a password."""
    path = file_of(url)
    open_url = url.difference_update_query(["password"])
    return str(path) if path else open_url.render_as_string(hide_password=True)


# ---------------------------------------------------------------- engines
def engine(url: URL, *, writes: bool) -> Engine:
    """What connects to a database; for a single writer, or for any number of readers.

    Whoever writes takes the lock at once: nobody finds out later that somebody else was first,
    no two wait for one another, and the journal's numbers follow its commits.
    """
    if file_of(url) is None:
        pool = {"pool_size": 1, "max_overflow": 0} if writes else {"pool_size": 5}
        reached = {name: most for name, most in REACHED.items() if name not in url.query}
        made = create_engine(
            url, pool_pre_ping=True, pool_timeout=CONNECTING, connect_args=reached, **pool
        )
        begin = _limits(WRITING if writes else READING, ABANDONED if writes else READING)
        begin += f"; SELECT pg_advisory_xact_lock({LOCK})" if writes else ""
    else:
        made = create_engine(url, connect_args={"timeout": PATIENCE, "check_same_thread": False})
        event.listen(made, "connect", _connected)
        begin = "BEGIN IMMEDIATE" if writes else "BEGIN"

    def start(connection: Connection) -> None:
        """Take the lock at once where we are going to write."""
        connection.exec_driver_sql(begin)

    event.listen(made, "begin", start)
    return made


def glancing(url: URL) -> Engine:
    """What connects to a server for :func:`glance`: a few connections without transactions."""
    reached = {name: most for name, most in REACHED.items() if name not in url.query}
    return create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        pool_size=3,
        max_overflow=0,
        pool_timeout=CONNECTING,
        connect_args=reached,
    )


def glance(connections: Engine, after: int) -> tuple[int, str, str]:
    """The time by a server's clock, and as JSON the running leases, and the events after one.

    All of it is one message to the server and one back: every request begins with it. A connection
    that broke while nobody used it is replaced, with all others of its age.
    """
    broken = connections.dialect.loaded_dbapi.Error
    try:
        return _glanced(connections, after)
    except broken:
        connections.dispose()
    try:
        return _glanced(connections, after)
    except broken as error:
        raise DBAPIError.instance(GLANCE, None, error, broken) from error


def _glanced(connections: Engine, after: int) -> tuple[int, str, str]:
    """The same, by a connection that may be broken."""
    connection = connections.raw_connection()
    try:
        with closing(connection.cursor()) as cursor:
            cursor.execute(GLANCE % after)
            for _ in LIMITS:  # setting them says nothing
                cursor.nextset()  # pyright: ignore[reportAttributeAccessIssue] - psycopg has it
            found: Any = cursor.fetchone()
            return found
    except BaseException:
        connection.invalidate()
        raise
    finally:
        connection.close()


def _limits(statement: float, idle: float) -> str:
    """How long a transaction on a server may wait, work and stand still.

    They are set in each transaction and end with it: a pool of connections between us and the
    server may hand the session to somebody else.
    """
    seconds = dict(zip(LIMITS, (LOCKED, statement, idle), strict=True))
    return "; ".join(f"SET LOCAL {name} = {int(1000 * most)}" for name, most in seconds.items())


GLANCE = f"""{_limits(CONNECTING, CONNECTING)};
    SELECT now, (
        SELECT coalesce(json_agg(json_build_array("row", who, until, spare)), '[]')
        FROM leases WHERE until > now AND until <= now + {LONGEST}
    )::text, (
        SELECT coalesce(json_agg(to_json(events) ORDER BY number), '[]')
        FROM events WHERE number > after
    )::text
    FROM (SELECT floor(1000 * extract(epoch FROM clock_timestamp()))::bigint) AS clock(now),
    (VALUES (%d::bigint)) AS known(after)"""  # noqa: S608 - numbers of ours
"""What :func:`glance` asks; a string of statements is a transaction of its own."""


def unhurried(connection: Connection) -> None:
    """Let the transaction take its time, as it must where very many rows are written."""
    if file_of(connection.engine.url) is None:
        connection.exec_driver_sql(_limits(UNHURRIED, UNHURRIED))


def _connected(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own
    """Let SQLite's transactions begin as we say, and make them durable."""
    connection.isolation_level = None
    for pragma in pragmas():
        connection.execute(f"PRAGMA {pragma}")


def pragmas(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> tuple[str, ...]:
    """How SQLite is to write, given its version.

    A write-ahead log only where it is sound. Without it, EXTRA also makes durable that the
    journal of a commit is gone, which FULL leaves to luck.
    """
    if version >= WAL_IS_SOUND:
        return "journal_mode = WAL", "synchronous = FULL"
    return "journal_mode = DELETE", "synchronous = EXTRA"


@contextmanager
def held(url: URL) -> Generator[None]:
    """A SQLite file to ourselves, by whatever name; a server looks after itself."""
    path = file_of(url)
    if path is None:
        yield
        return
    refusal = (
        f"db must not be in use; got {str(path)!r}, which another possibal has open. "
        "Stop that one, or use its page."
    )
    with ExitStack() as stack:
        try:
            _check_names(path)
            stack.enter_context(locked_file(path, refusal))
        except OSError as error:
            raise ValueError(
                f"db must be a file that can be written; got {str(path)!r} ({error.strerror}). "
                "Choose another with --db."
            ) from None
        yield


def _check_names(path: Path) -> None:
    """Refuse a file of several names, and one in a folder that takes no journal.

    SQLite names the journal of a file after the file: by another name it would not be found.
    """
    folder = path.resolve().parent
    if folder.is_dir() and not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    names = path.stat().st_nlink if path.is_file() else 1
    if names > 1:
        raise ValueError(
            f"db must be a file of one name; got {str(path)!r}, which has {names} (hard links). "
            "Remove the others, or make a copy with possibal backup."
        )


# ---------------------------------------------------------------- versions
def _add_detail(connection: Connection) -> None:
    """Events have a detail since version 2."""
    connection.execute(text("ALTER TABLE events ADD COLUMN detail TEXT"))


def _add_access(connection: Connection) -> None:
    """Campaigns know who may come in since version 3."""
    TABLES.create_all(connection, [invitations, sessions], checkfirst=False)


MIGRATIONS: dict[int, Callable[[Connection], None]] = {1: _add_detail, 2: _add_access}
"""What brings the tables of each earlier version to the next."""


def table_names(number: int) -> set[str]:
    """The tables that there are in a version."""
    return {name for name in TABLES.tables if TABLES_SINCE.get(name, 1) <= number}


def version(connection: Connection) -> int | None:
    """The version of the tables; None where there is no campaign."""
    if not inspect(connection).has_table("facts"):
        return None
    found = connection.execute(text("SELECT value FROM facts WHERE name = 'schema'")).scalar()
    if found is None or str(found).isdecimal():
        return None if found is None else int(found)
    raise ValueError(
        f"db must say of which version its tables are; got {brief(found)} from "
        f"{shown(connection.engine.url)!r}. Restore a backup."
    )


def keep(connection: Connection, found: int) -> None:
    """A copy of everything before a migration: a file beside the file, or tables beside tables."""
    path = file_of(connection.engine.url)
    if path is not None:
        copy(path, path.with_name(f"{path.name}.version{found}"))
        return
    for name in sorted(TABLES.tables.keys() & set(inspect(connection).get_table_names())):
        copied = f"CREATE TABLE {name}_v{found} AS SELECT * FROM {name}"  # noqa: S608 - ours
        connection.execute(text(copied))


def copy(path: Path, to: Path) -> None:
    """A SQLite file copied as of one moment, also while it is in use."""
    part = part_of(to)
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(part)) as target:
            source.backup(target)
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)


def migrate(connection: Connection) -> None:
    """Bring the tables to the version of this program after a backup, unless they are there."""
    found = version(connection) or SCHEMA  # another process may have been first
    if found >= SCHEMA:
        return
    unhurried(connection)
    keep(connection, found)
    for number in range(found, SCHEMA):
        MIGRATIONS[number](connection)
    statement = text("UPDATE facts SET value = :value WHERE name = 'schema'")
    connection.execute(statement, {"value": str(SCHEMA)})


def reason(error: Exception) -> str:
    """What a database said, in one line."""
    said = str(getattr(error, "orig", error)).strip().splitlines()
    return said[0][:300] if said else "no reason"


@contextmanager
def refusals(url: URL) -> Generator[None]:
    """What a database refuses, in one sentence."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        raise ValueError(
            f"db must be a database that possibal can open; got {shown(url)!r} "
            f"({reason(error)}). Check the address, or choose another."
        ) from None
