"""Read-only integrity checks of a campaign's database, and of this machine.

doctor(db) -> findings        machine() -> findings
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sqlalchemy import URL, Connection, inspect, text

from possibal.data.label_sets import LabelSyntax
from possibal.errors import summary
from possibal.labelling.storage import database
from possibal.labelling.storage.database import SCHEMA, TABLES, address, file_of
from possibal.labelling.storage.file_lock import is_locked
from possibal.labelling.storage.journal import (
    LABELLED,
    ON_CLASSES,
    ON_ROWS,
    PLACES,
    TEXT,
    TO,
    Event,
    JournalState,
    Kind,
    named_places,
    replay,
)
from possibal.labelling.storage.store import Setup, Store, clock

PACKAGES = {
    "psycopg": "PostgreSQL",
    "polars": "Parquet files",
    "pillow": "pictures",
    "skops": "models in one file",
}
"""Packages that may be missing, and what they are for."""
TYPED = frozenset([Kind.LABEL, Kind.EDIT, Kind.SETTLE])
"""Kinds whose label people choose among those there are."""
SHOWN = 5
"""Events that are named where something is wrong with them."""


@dataclass(frozen=True)
class Finding:
    """Something that was looked at, and whether it is well."""

    ok: bool
    sentence: str


@dataclass(frozen=True, eq=False)
class _Examined:
    """A campaign that is looked at."""

    store: Store
    connection: Connection

    @property
    def file(self) -> Path:
        """The file of a campaign that is in one."""
        return Path(str(self.store.url.database))

    def first(self, statement: str) -> str:
        """The first thing that a statement tells."""
        return str(self.connection.execute(text(statement)).scalar())


Check = Callable[[_Examined], list[Finding]]


# ---------------------------------------------------------------- the face
def machine() -> list[Finding]:
    """What this machine has, with no database at all."""
    found = [_sqlite_version()]
    for name, purpose in PACKAGES.items():
        try:
            found.append(Finding(ok=True, sentence=f"{name} {version(name)} is there."))
        except PackageNotFoundError:
            said = f"{name} is not installed; only {purpose} need it."
            found.append(Finding(ok=True, sentence=said))
    return found


def doctor(db: str) -> list[Finding]:
    """Everything that can be looked at without changing it, whether or not it is in use."""
    url = address(db)
    try:
        is_there = Store.exists(db)
    except ValueError as error:
        return [Finding(ok=False, sentence=str(error))]
    if not is_there:
        raise ValueError(
            f"db must hold a campaign; got {database.shown(url)!r}, which holds none. "
            "Begin one with possibal label FILE."
        )
    with Store(url, writes=False) as store:
        checks = SERVER if file_of(url) is None else FILE
        found = [finding for check in checks for finding in _tried(check, store)]
        found += _tried(_version, store)
        if found[-1].ok:
            found += [finding for check in CAMPAIGN for finding in _tried(check, store)]
        return found


def _tried(check: Check, store: Store) -> list[Finding]:
    """What a check finds; one that fails is itself a finding.

    Each has a connection of its own, lest people who label wait for all of them.
    """
    try:
        with connected(store.url) as connection:
            return check(_Examined(store, connection))
    except Exception as error:  # noqa: BLE001 - the other checks are wanted all the same
        words = (check.__doc__ or "").removesuffix(".")
        first = error.__cause__ or error
        why = summary(getattr(first, "orig", first))
        return [Finding(ok=False, sentence=f"{words}: this could not be looked at ({why}).")]


@contextmanager
def connected(url: URL) -> Generator[Connection]:
    """A connection that only reads, as of one moment, and leaves nothing open."""
    engine = database.engine(url, writes=False)
    moment = {} if file_of(url) else {"isolation_level": "REPEATABLE READ"}
    try:
        with engine.connect().execution_options(**moment) as connection:
            yield connection
    finally:
        engine.dispose()


# ---------------------------------------------------------------- files
def _sqlite_version() -> Finding:
    """SQLite, and whether its write-ahead log is used."""
    least = ".".join(map(str, database.WAL_IS_SOUND))
    if sqlite3.sqlite_version_info >= database.WAL_IS_SOUND:
        why = "its write-ahead log is sound and is used."
    else:
        why = f"its write-ahead log is sound from {least} on only, so that it is not used."
    return Finding(ok=True, sentence=f"SQLite is of version {sqlite3.sqlite_version}: {why}")


def _journal_mode(examined: _Examined) -> list[Finding]:
    """How SQLite writes."""
    mode = examined.first("PRAGMA journal_mode").upper()
    wanted = database.pragmas()[0].rpartition(" ")[2]
    ok = mode == wanted
    said = f"the file is written with journal mode {mode}"
    return [
        _sqlite_version(),
        Finding(ok, f"{said}." if ok else f"{said}, where {wanted} is safe: stop all users of it."),
    ]


def _integrity(examined: _Examined) -> list[Finding]:
    """Whether the file is sound."""
    for name in ("quick_check", "integrity_check"):
        said = examined.connection.execute(text(f"PRAGMA {name}")).scalars().all()
        if said != ["ok"]:
            why = " ".join(str(said[0]).split())[:160]
            sentence = f"the file is damaged: {name} found {len(said)} faults, the first: {why}."
            return [Finding(ok=False, sentence=sentence)]
    return [Finding(ok=True, sentence="the file is sound: no check of SQLite found a fault.")]


def _writable(examined: _Examined) -> list[Finding]:
    """Whether the file can be written."""
    path = examined.file
    closed = [one for one in (path, path.absolute().parent) if not os.access(one, os.W_OK)]
    if closed:
        return [Finding(ok=False, sentence=f"{str(closed[0])!r} cannot be written by you.")]
    return [Finding(ok=True, sentence="the file and its folder can be written.")]


def _names(examined: _Examined) -> list[Finding]:
    """What the file is called."""
    names = examined.file.stat().st_nlink
    if names > 1:
        said = f"the file has {names} names (hard links), of which each would have its own journal"
        return [Finding(ok=False, sentence=f"{said}: remove the others.")]
    return []


def _in_use(examined: _Examined) -> list[Finding]:
    """Whether another process holds the file."""
    said = "no other possibal has the file open."
    if is_locked(examined.file):
        said = "another possibal has the file open, as it should while people label."
    return [Finding(ok=True, sentence=said)]


# ---------------------------------------------------------------- servers
def _server(examined: _Examined) -> list[Finding]:
    """The server and how it keeps text."""
    encoding = examined.first("SHOW server_encoding")
    is_utf8 = encoding == "UTF8"
    remedy = "" if is_utf8 else ", where UTF8 is needed: make a database with that encoding"
    release = f"PostgreSQL is of version {examined.first('SHOW server_version')}."
    kept = f"the database keeps text in {encoding}{remedy}."
    return [Finding(ok=True, sentence=release), Finding(is_utf8, kept)]


def _may_write(examined: _Examined) -> list[Finding]:
    """Whether the tables can be written."""
    statement = text("SELECT has_table_privilege(:name, 'INSERT')")
    present = set(inspect(examined.connection).get_table_names())
    names = [table.name for table in TABLES.sorted_tables if table.name in present]
    may = {n: examined.connection.execute(statement, {"name": n}).scalar() for n in names}
    closed = [name for name, allowed in may.items() if not allowed]
    if closed:
        said = f"you may not write to {', '.join(closed)}: ask the owner of the database."
        return [Finding(ok=False, sentence=said)]
    if examined.first("SHOW transaction_read_only") == "on":
        return [Finding(ok=False, sentence="the server takes no writes: it is a copy of another.")]
    return [Finding(ok=True, sentence="the tables can be written.")]


def _others(examined: _Examined) -> list[Finding]:
    """Who else is connected."""
    count = examined.first(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    return [Finding(ok=True, sentence=f"other connections to the database: {count}.")]


# ---------------------------------------------------------------- campaigns
def _version(examined: _Examined) -> list[Finding]:
    """The tables and their version."""
    present = set(inspect(examined.connection).get_table_names())
    found = database.version(examined.connection)
    missing = database.table_names(found or SCHEMA) - present
    if missing:
        said = f"tables are missing: {', '.join(sorted(missing))}. Restore a backup."
        return [Finding(ok=False, sentence=said)]
    said = f"the tables are of version {found}"
    if found == SCHEMA:
        return [Finding(ok=True, sentence=f"{said}.")]
    later = "update it." if (found or 0) > SCHEMA else "open them with possibal label."
    return [Finding(ok=False, sentence=f"{said}, and this possibal is for {SCHEMA}: {later}")]


def _rows(examined: _Examined) -> list[Finding]:
    """The rows of the campaign."""
    wanted, listed = examined.store.setup().rows, sorted(examined.store.items())
    numbers = len(examined.store.array("X"))
    if listed != list(range(wanted)) or numbers != wanted:
        said = f"the campaign has {wanted} rows, but {len(listed)} are kept, {numbers} as numbers."
        return [Finding(ok=False, sentence=f"{said} Restore a backup.")]
    kept = "copies" in examined.store.array_names()
    leaders = examined.store.array("copies").tolist() if kept else listed
    if len(leaders) != wanted or any(leaders[at : at + 1] != [at] for at in set(leaders)):
        said = "what is kept of copies does not fit the rows. Restore a backup."
        return [Finding(ok=False, sentence=said)]
    return [Finding(ok=True, sentence=f"all {wanted} rows are there, as text and as numbers.")]


def _journal(examined: _Examined) -> list[Finding]:
    """The journal."""
    events, setup = examined.store.events(), examined.store.setup()
    state = replay(events, setup.syntax)
    found = [Finding(ok=True, sentence=f"the journal replays: {counted(state)}.")]
    lost = [e for e in events if e.kind in ON_ROWS and not _are_rows(e.rows, setup)]
    given = (e.label for e in events if e.kind in LABELLED - TYPED)
    members = (one for label in given for one in setup.syntax.members(label or ""))
    named: set[str | None] = {*setup.classes, *members}
    named |= {(e.detail or {}).get(TO) for e in events if e.kind is Kind.RENAME}
    nameless = [e for e in events if e.kind in LABELLED | ON_CLASSES and not e.label]
    strange = [e for e in events if e.kind in TYPED and not _is_named(e, setup.syntax, named)]
    vague = [e for e in events if not _has_detail(e, setup)]
    for odd, fault, well in (
        (lost, "about rows that there are not", "every event is about a row that there is."),
        (nameless, "that should name a class and do not", "every answer names its class."),
        (strange, "that name a class nobody added", "every label is a class that was named."),
        (vague, "whose detail is missing or odd", "every change of the campaign says what it is."),
    ):
        said = f"there are events {fault}: {_numbers(odd)}." if odd else well
        found.append(Finding(not odd, said))
    return found


def _is_named(event: Event, syntax: LabelSyntax, named: Collection[str | None]) -> bool:
    """Whether every class in the label of an event is one of those named, if it has a label."""
    return not event.label or all(one in named for one in syntax.members(event.label))


def counted(state: JournalState) -> str:
    """How much a journal holds."""
    events, people, rows = len(state.events), len(state.people), len(state.labelled())
    by = "1 person" if people == 1 else f"{people} people"
    return f"answers and other events: {events}, by {by}; rows with a label: {rows}"


def _is_row(row: int | None, setup: Setup) -> bool:
    """Whether a row is one of the campaign."""
    return row is not None and 0 <= row < setup.rows


def _are_rows(rows: Sequence[int], setup: Setup) -> bool:
    """Whether there are rows, and all of them are rows of the campaign."""
    return bool(rows) and all(_is_row(row, setup) for row in rows)


def _has_detail(event: Event, setup: Setup) -> bool:
    """Whether an event that needs a detail has one that makes sense."""
    detail = event.detail or {}
    if event.kind is Kind.CHECK:
        return _are_rows(named_places(event), setup)
    if event.kind in ON_ROWS and PLACES in detail:
        return bool(named_places(event))
    if event.kind in {Kind.COMMENT, Kind.GUIDELINES}:
        return TEXT in detail
    return bool(detail.get(TO)) if event.kind is Kind.RENAME else True


def _numbers(events: Sequence[Event]) -> str:
    """Numbers of the first few events."""
    shown = ", ".join(str(event.number) for event in events[:SHOWN])
    return shown if len(events) <= SHOWN else f"{shown} and {len(events) - SHOWN} others"


def _leases(examined: _Examined) -> list[Finding]:
    """Who is at work."""
    living, setup = examined.store.leases(clock()), examined.store.setup()
    lost = [row for row in living if not _is_row(row, setup)]
    if lost:
        said = f"there are leases of rows that there are not: {', '.join(map(str, lost[:SHOWN]))}."
        return [Finding(ok=False, sentence=said)]
    people = len({lease.who for lease in living.values()})
    said = f"people at work: {people}, on so many rows: {len(living)}."
    return [Finding(ok=True, sentence=said)]


def _media(examined: _Examined) -> list[Finding]:
    """The pictures."""
    folder = examined.store.setup().folder
    if folder is None:
        return []
    names = [item.media for item in examined.store.items().values() if item.media]
    if not Path(folder).is_dir():
        said = f"the folder of the pictures is gone: {folder!r}. Put it back."
        return [Finding(ok=False, sentence=said)]
    lost = [name for name in names if not (Path(folder) / name).is_file()]
    if lost:
        said = f"{len(lost)} of {len(names)} pictures are gone from {folder!r}, first {lost[0]!r}."
        return [Finding(ok=False, sentence=f"{said} Put them back.")]
    return [Finding(ok=True, sentence=f"all {len(names)} pictures are in {folder!r}.")]


FILE: tuple[Check, ...] = (_journal_mode, _integrity, _writable, _names, _in_use)
SERVER: tuple[Check, ...] = (_server, _may_write, _others)
CAMPAIGN: tuple[Check, ...] = (_rows, _journal, _leases, _media)
"""What is looked at, of files, of servers, and of both."""
