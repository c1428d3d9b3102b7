"""Repository of a campaign in a SQL database: its rows, its append-only journal, and leases.

    store = Store.create(db, setup, contents)          store = Store.open(db)
    store.append(events)        store.events(after=n)        store.hold(rows, lease, now)

The journal is the source of truth. Everything else follows from it or can be made again.
"""

import json
import time
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from io import BytesIO
from itertools import islice
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Text,
    delete,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from possibal.arguments import DEFAULT_STRATEGY
from possibal.data.label_sets import LabelSyntax
from possibal.data.name_types import NameType
from possibal.errors import PossibalError, UnavailableError, UnsavedError, summary
from possibal.files import is_there
from possibal.labelling.storage import database
from possibal.labelling.storage.database import TABLES, address, held, leases, refusals
from possibal.labelling.storage.journal import (
    Event,
    JournalState,
    Kind,
    paused_collection,
    replay,
)
from possibal.labelling.storage.leases import LONGEST, Lease
from possibal.labelling.storage.write_queue import Job, Result, WriteQueue
from possibal.numerics.geometry import EUCLIDEAN, RBF_ALONE, RowGeometry

CHUNK, MANY = 8_000_000, 500
"""Bytes of an array in one cell, and values that one statement names."""
KEPT_RANKING = "ranking:"
"""Begins the names of the arrays of the last ranking, which can be made again from the others."""
INCOMPLETE = "incomplete"
"""In place of the digest of a source of which rows have still to join."""
COLUMNS = {one.name: one.name for one in fields(Event)} | {"predicted_label": "thought"}
"""The column of the journal that holds each attribute of an event."""
put_key, put_kind, put_who, put_made, put_row, put_label, put_target, put_necessity, *others = (
    vars(Event)[name].__set__ for name in COLUMNS
)
put_predicted, put_detail, put_number, put_at = others
"""What fill the slots of an event that is read: the constructor would take twice as long."""
AHEAD = 60_000
"""Milliseconds that an event may claim to be made after it arrived: clocks differ, and what one
person did within a millisecond is told apart by counting on."""
KINDS = {str(kind): kind for kind in Kind}
"""The kinds of events by what the journal holds: a look is faster than a call, a million times."""


@dataclass(frozen=True)
class Setup:
    """What a campaign was begun with.

    Attributes:
        name: what it is called.
        kind: how a row is shown: as a table, a text or an image.
        rows: how many there are.
        fields: names of what is shown.
        text: which of them is the text.
        folder: of the pictures.
        classes: named at the start.
        strategy: what is asked first.
        seed: of what is drawn.
        people: how many are to answer each row.
        check: how many rows, drawn at random at the start, only measure the model.
        recipe: how rows became numbers.
        digest: of the source's content at the start; it tells the campaign from others.
        notes: what was done to read it.
        columns: how each column of the source was understood: its name, its kind, and a note.
        id_type: of the rows' ids, a value of :class:`~possibal.data.name_types.NameType`.
        label_type: of the labels, another.
        begun: how many rows there were at the start; zero where there are no others.
        latest_digest: of the source's content when rows last joined; empty if none did, and
            `INCOMPLETE` while some still do.
        hidden_folders: whether the ids begin with folders that give the labels away.
        blind: whether people answer without seeing what others or the model say of a row.
        find: the class of which nearly all rows are to be found, by its name at the start; empty
            for none.
        multi: whether a row may have several of the classes, one or none.
    """

    name: str
    kind: str
    rows: int
    fields: tuple[str, ...] = ()
    text: str | None = None
    folder: str | None = None
    classes: tuple[str, ...] = ()
    strategy: str = DEFAULT_STRATEGY
    seed: int = 0
    people: int = 1
    check: int = 0
    recipe: dict[str, Any] = field(default_factory=dict[str, Any])
    digest: str = ""
    notes: tuple[str, ...] = ()
    columns: tuple[tuple[str, str, str], ...] = ()
    id_type: str = NameType.TEXT
    label_type: str = NameType.TEXT
    begun: int = 0
    latest_digest: str = ""
    hidden_folders: bool = False
    blind: bool = False
    find: str = ""
    multi: bool = False

    @property
    def syntax(self) -> LabelSyntax:
        """How labels are read."""
        return LabelSyntax.of(multi=self.multi)

    @property
    def is_complete(self) -> bool:
        """Whether all rows of its source are in it; otherwise some were to join later."""
        return self.latest_digest != INCOMPLETE

    @property
    def known_digest(self) -> str:
        """Of the source's content as the campaign knows it."""
        return self.latest_digest or self.digest

    @property
    def other_notes(self) -> tuple[str, ...]:
        """What was done that the columns' own notes do not say."""
        said = [(name, note) for name, _, note in self.columns if note]
        return tuple(
            sentence
            for sentence in self.notes
            if not any(note in sentence.replace(f" of column {name}", "") for name, note in said)
        )

    @property
    def geometry(self) -> RowGeometry:
        """How the rows' numbers are compared."""
        blocks = tuple(len(part["features"]) for part in self.recipe.get("parts", ()))
        metric, diffusion = self.recipe.get("metric", EUCLIDEAN), self.recipe.get("diffusion", 0)
        kernel = self.recipe.get("kernel", RBF_ALONE if self.recipe else None)
        return RowGeometry(blocks, metric, diffusion, kernel)  # earlier ones keep their model


@dataclass(frozen=True)
class Item:
    """A row as its source has it.

    Attributes:
        row: its place.
        id: what the user calls it.
        cells: what is shown, in the order of the fields.
        media: the file of its picture.
    """

    row: int
    id: str
    cells: tuple[str | None, ...] = ()
    media: str | None = None


@dataclass(frozen=True, eq=False)
class Contents:
    """The rows of a campaign and what is kept beside them.

    Attributes:
        items: in the order of the source.
        arrays: by name; the rows as numbers are called X, those asked in the stead of others
            copies, and the check rows of the start, where not all rows may be drawn, check.
        events: what is known from the start.
    """

    items: Sequence[Item]
    arrays: dict[str, NDArray[Any]]
    events: Sequence[Event] = ()


def clock() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def _ticks() -> int:
    """Milliseconds of a clock that nobody sets."""
    return time.monotonic_ns() // 1_000_000


@dataclass(frozen=True)
class Glance:
    """What others that write to a database did lately.

    Attributes:
        leases: the lease of each row that is held.
        events: what was added after an event, in the order of the journal.
    """

    leases: dict[int, Lease]
    events: list[Event]


class Store:
    """An open campaign. Close it, or use it in a ``with`` block."""

    def __init__(self, url: URL, *, writes: bool) -> None:
        """Connect; :meth:`create` and :meth:`open` check that there is a campaign."""
        self.url, self._stack = url, ExitStack()
        self.version = database.SCHEMA
        """Of its tables; earlier than that of this program only for whoever reads."""
        if writes:
            self._stack.enter_context(held(url))
        self._read = database.engine(url, writes=False)
        self._stack.callback(self._read.dispose)
        self._glances = database.glancing(url) if self.is_shared else None
        if self._glances is not None:
            self._stack.callback(self._glances.dispose)
        self._offset: int | None = None  # from our ticks to the clock of the database
        self._writer: WriteQueue | None = None
        if writes:
            engine = database.engine(url, writes=True)
            self._stack.callback(engine.dispose)
            self._writer = WriteQueue(engine)
            self._stack.callback(self._writer.close)

    # ------------------------------------------------------------ beginning

    @classmethod
    def exists(cls, db: str) -> bool:
        """Whether there is a campaign at that address."""
        url = address(db)
        path = database.file_of(url)
        if path is not None and not is_there(path):
            return False
        store = cls(url, writes=False)
        with store, refusals(url), store._read.connect() as connection:
            return database.version(connection) is not None

    @classmethod
    def create(cls, db: str, setup: Setup, contents: Contents) -> "Store":
        """A new campaign, all of it or nothing."""
        if cls.exists(db):
            shown = database.shown(address(db))
            raise ValueError(
                f"db must not hold a campaign yet; got {shown!r}. Choose another with --db."
            )
        store = cls(address(db), writes=True)
        try:
            with refusals(store.url):
                store.writing.run(lambda connection: _begin(connection, setup, contents))
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open(cls, db: str, *, writes: bool = True) -> "Store":
        """A campaign that was begun before; whoever writes brings earlier tables up to date."""
        url = address(db)
        if not cls.exists(db):
            raise ValueError(
                f"db must hold a campaign; got {database.shown(url)!r}, which holds none. "
                "Begin one with possibal label FILE."
            )
        store = cls(url, writes=writes)
        try:
            store._check_version()
        except BaseException:
            store.close()
            raise
        return store

    def _check_version(self) -> None:
        """Refuse tables of a later version; migrate earlier ones after a backup, or read them."""
        with refusals(self.url), self._read.connect() as connection:
            found = database.version(connection) or 0
        if found > database.SCHEMA:
            raise ValueError(
                f"db must be of version {database.SCHEMA} or earlier; got version {found}. "
                "Update possibal: pip install --upgrade possibal."
            )
        if self._writer is None and database.READABLE <= found < database.SCHEMA:
            self.version = found
        elif self._writer is None and found < database.SCHEMA:
            raise ValueError(
                f"db must be of version {database.READABLE} or later to be read; got version "
                f"{found}. Open it once with possibal label, which keeps a copy."
            )
        elif found < database.SCHEMA:
            with refusals(self.url):
                self.writing.run(database.migrate)

    def run(self, job: Job[Result]) -> Result:
        """What a job returns once it is durable."""
        try:
            return self.writing.run(job)
        except (DBAPIError, PoolTimeoutError) as error:
            is_commit = isinstance(error, DBAPIError) and error.statement is None
            outcome = "It may be kept all the same" if is_commit else "Nothing of it was kept"
            raise UnsavedError(
                f"db must take what is written; got {database.reason(error)!r} from "
                f"{database.shown(self.url)!r}. {outcome}: try again."
            ) from error

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """A connection that reads."""
        with self._told(), self._read.connect() as connection:
            yield connection

    @contextmanager
    def _told(self) -> Generator[None]:
        """Where something is read: what the database cannot do is told in one sentence."""
        try:
            yield
        except (DBAPIError, PoolTimeoutError) as error:
            raise UnavailableError(
                f"db must be there and sound; got {database.reason(error)!r} from "
                f"{database.shown(self.url)!r}. Try again, or see what possibal doctor says."
            ) from error

    @contextmanager
    def _sound(self, what: str) -> Generator[None]:
        """Where something is read that we wrote: if it is otherwise now, that is told."""
        try:
            yield
        except PossibalError:
            raise
        except Exception as error:
            raise ValueError(
                f"db must be sound; got {database.shown(self.url)!r}, of which {what} cannot be "
                f"read ({summary(error)}). See what possibal doctor says, or restore a backup."
            ) from error

    @property
    def writing(self) -> WriteQueue:
        """What writes."""
        if self._writer is None:
            raise ValueError("store must be open for writing; got one that only reads. Open it so.")
        return self._writer

    @property
    def is_shared(self) -> bool:
        """Whether other processes may write to it at the same time."""
        return database.file_of(self.url) is None

    @property
    def ahead(self) -> int:
        """Milliseconds by which the clock of the database is ahead of ours, as glances told."""
        return 0 if self._offset is None else self._offset + _ticks() - clock()

    def clock(self) -> int:
        """Milliseconds since 1970, by the one clock of all who write to the database."""
        return clock() + self.ahead

    def glance(self, after: int) -> Glance | None:
        """What others did lately, and their clock from now on; None where there are no others.

        The clock of the database was read between the question and its answer, which bounds how far
        it is ahead (Cristian's algorithm). Of what is possible the least is taken, and kept until
        it is found impossible: an answer that a pause held up tells little. So what is done after
        something was acknowledged anywhere is later everywhere, whatever our own clock says.
        """
        if self._glances is None:
            return None
        with self._told():
            asked = _ticks()
            now, held_rows, added = database.glance(self._glances, after)
        least, most = now - _ticks(), now - asked
        self._offset = min(max(least, least if self._offset is None else self._offset), most)
        with self._sound("the journal"):
            events = [_event(one[name] for name in COLUMNS.values()) for one in json.loads(added)]
        return Glance({row: Lease(*by) for row, *by in json.loads(held_rows)}, events)

    def close(self) -> None:
        """Write what waits and close the database."""
        self._stack.close()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    # ------------------------------------------------------------ rows, which seldom change

    def extend(self, setup: Setup, contents: Contents, changed: Sequence[Item]) -> None:
        """Rows that join at the end, rows that changed, and what the campaign is with them.

        Args:
            setup: that of the grown campaign.
            contents: the rows that join, the arrays that are replaced, and what is known of rows.
            changed: rows as they are now.
        """
        self.run(lambda connection: _extend(connection, setup, contents, changed))

    def setup(self) -> Setup:
        """What the campaign was begun with."""
        with self.reading() as connection:
            query = select(database.facts.c.value).where(database.facts.c.name == "setup")
            found = connection.execute(query).scalar()
        with self._sound("the setup"):
            given: dict[str, Any] = dict(json.loads(found or ""))
            self._check_known(given.keys() - {one.name for one in fields(Setup)})
            return Setup(**{name: _tuple(value) for name, value in given.items()})

    def _check_known(self, unknown: Collection[str]) -> None:
        """Refuse what only a later program can have written."""
        if unknown:
            raise ValueError(
                f"it has {', '.join(sorted(unknown))}, which a later possibal may know"
            )

    def state(self) -> JournalState:
        """What holds after all that is in the journal."""
        return replay(self.events(), self.setup().syntax)

    def amend(self, **changes: Any) -> Setup:  # noqa: ANN401 - attributes of a setup
        """Change some of what the campaign was begun with; the setup from now on."""
        setup, facts = replace(self.setup(), **changes), database.facts
        later = update(facts).where(facts.c.name == "setup")
        later = later.values(value=json.dumps(asdict(setup)))
        self.run(lambda connection: connection.execute(later).rowcount)
        return setup

    def fact(self, name: str) -> str | None:
        """What is noted under a name; None if nothing is."""
        table = database.facts
        with self.reading() as connection:
            return connection.execute(select(table.c.value).where(table.c.name == name)).scalar()

    def note_fact(self, name: str, value: str) -> None:
        """Note something that is not a part of the campaign, such as where it was served last."""
        self.run(lambda connection: _note_fact(connection, name, value))

    def array(self, name: str) -> NDArray[Any]:
        """What is kept under a name."""
        table = database.parts
        query = select(table.c.content).where(table.c.name == name).order_by(table.c.number)
        with self.reading() as connection:
            content = b"".join(connection.execute(query).scalars())
        with self._sound(f"the array {name}"):
            return np.load(BytesIO(content), allow_pickle=False)

    def array_names(self) -> list[str]:
        """What the arrays are called that are kept."""
        with self.reading() as connection:
            names = connection.execute(select(database.parts.c.name).distinct()).scalars().all()
        return sorted(names)

    def arrays(self, start: str = "") -> dict[str, NDArray[Any]]:
        """Everything that is kept under names that begin so, by name."""
        return {name: self.array(name) for name in self.array_names() if name.startswith(start)}

    def replace_arrays(self, start: str, arrays: dict[str, NDArray[Any]]) -> None:
        """Keep arrays in the place of all whose names begin so, all of them or none."""
        self.run(lambda connection: _replace_arrays(connection, start, arrays))

    def items(self, rows: Iterable[int] | None = None) -> dict[int, Item]:
        """Rows as their source has them; all if none are named."""
        table, found = database.items, dict[int, Item]()
        parts = [None] if rows is None else _parts(list(dict.fromkeys(rows)))
        with self._sound("the rows"), self.reading() as connection:
            for part in parts:
                query = select(table).order_by(table.c.row)
                query = query if part is None else query.where(table.c.row.in_(part))
                for row, name, cells, media in connection.execute(query):
                    found[row] = Item(row, name, tuple(json.loads(cells)), media)
        return found

    def items_like(self, text: str) -> list[Item]:
        """Rows in whose id or cells a text may occur: all where it does, and perhaps others.

        Letters of either case are the same. Cells are kept as JSON, in which all that is not
        plain is written otherwise: such a text is looked for by whoever asked.
        """
        table = database.items
        query = select(table).order_by(table.c.row)
        if text.isascii() and text.isprintable() and not set(text) & set('"\\'):
            both = (table.c.id, table.c.cells)
            query = query.where(or_(*(one.icontains(text, autoescape=True) for one in both)))
        with self._sound("the rows"), self.reading() as connection:
            return [
                Item(row, name, tuple(json.loads(cells)), media)
                for row, name, cells, media in connection.execute(query)
            ]

    def places(self) -> dict[str, int]:
        """The place of each row, by its id."""
        query = select(database.items.c.id, database.items.c.row)
        with self.reading() as connection:
            return {item.id: item.row for item in connection.execute(query)}

    # ------------------------------------------------------------ the journal

    def append(self, drafts: Sequence[Event]) -> list[Event]:
        """Append events durably, and return them as the journal has them.

        Idempotent: an event whose key is known is not added again. An event on rows releases
        the person's leases of them.
        """
        now = self.clock()
        return self.run(lambda connection: _append(connection, drafts, now))

    def events(self, after: int = 0) -> list[Event]:
        """What was added after an event, in the order of the journal."""
        table = database.events
        missing = {name for name, since in database.SINCE.items() if since > self.version}
        columns = (
            literal(None, Text) if name in missing else table.c[name] for name in COLUMNS.values()
        )
        query = select(*columns)
        query = query.where(table.c.number > after).order_by(table.c.number)
        with self._sound("the journal"), self.reading() as connection, paused_collection():
            rows = connection.execute(query).cursor  # of the driver: to wrap each takes long
            return [_event(row) for row in cast("Iterable[tuple[Any, ...]]", rows)]

    # ------------------------------------------------------------ leases

    def hold(self, rows: Sequence[int], lease: Lease, now: int, most: int = 1) -> list[int]:
        """The first rows that nobody else holds, now leased to this person.

        A row that somebody holds in reserve counts as free unless this lease is a spare one too.

        Args:
            rows: in the order in which they are wanted.
            lease: whose they become, and until when.
            now: in milliseconds, when older leases have expired.
            most: how many of the rows.
        """
        return self.run(lambda connection: _hold(connection, rows, lease, now, most))

    def release(self, rows: Sequence[int], who: str) -> None:
        """End the leases of rows that a person holds."""
        mine = leases.c.row.in_(rows) & (leases.c.who == who)
        self.run(lambda connection: connection.execute(delete(leases).where(mine)).rowcount)

    def renew(self, who: str, now: int, until: int) -> None:
        """Extend all leases of a person that have not expired."""
        living = (leases.c.who == who) & _is_running(now)
        later = update(leases).where(living, leases.c.until < until).values(until=until)
        self.run(lambda connection: connection.execute(later).rowcount)

    def leases(self, now: int) -> dict[int, Lease]:
        """The lease of each row that is held."""
        c = leases.c
        query = select(c.row, c.who, c.until, c.spare).where(_is_running(now))
        with self.reading() as connection:
            return {row: Lease(*by) for row, *by in connection.execute(query)}


# ---------------------------------------------------------------- inside a transaction
def _begin(connection: Connection, setup: Setup, contents: Contents) -> None:
    """Make the tables and fill them."""
    database.unhurried(connection)
    TABLES.create_all(connection, checkfirst=False)  # tables of somebody else are not for us
    given = {"schema": str(database.SCHEMA), "setup": json.dumps(asdict(setup))}
    rows = [{"name": name, "value": value} for name, value in given.items()]
    connection.execute(insert(database.facts), rows)
    _fill(connection, contents)
    if contents.events:
        known = [_values(event, clock()) for event in contents.events]
        connection.execute(insert(database.events), known)


def _note_fact(connection: Connection, name: str, value: str) -> None:
    """Note something in place of what was noted under its name."""
    adding = _inserting(connection, database.facts).values(name=name, value=value)
    connection.execute(adding.on_conflict_do_update(index_elements=["name"], set_={"value": value}))


def _extend(
    connection: Connection, setup: Setup, contents: Contents, changed: Sequence[Item]
) -> None:
    """Put rows beside and in place of others."""
    database.unhurried(connection)
    facts, items, parts = database.facts, database.items, database.parts
    given = json.dumps(asdict(setup))
    connection.execute(update(facts).where(facts.c.name == "setup").values(value=given))
    for item in changed:
        values = {"cells": json.dumps(item.cells), "media": item.media}
        connection.execute(update(items).where(items.c.row == item.row).values(values))
    connection.execute(delete(parts).where(parts.c.name.in_(contents.arrays)))
    _replace_arrays(connection, KEPT_RANKING, {})  # it is of the rows before
    _fill(connection, contents)
    _append(connection, contents.events, clock())


def _replace_arrays(connection: Connection, start: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Put arrays in the place of all whose names begin so."""
    name = database.parts.c.name
    connection.execute(delete(database.parts).where(name.startswith(start, autoescape=True)))
    _fill(connection, Contents((), arrays))


def _fill(connection: Connection, contents: Contents) -> None:
    """Put rows and arrays into the tables."""
    if contents.items:
        listed = [{**vars(item), "cells": json.dumps(item.cells)} for item in contents.items]
        connection.execute(insert(database.items), listed)
    for name, array in contents.arrays.items():
        buffer = BytesIO()
        np.save(buffer, array, allow_pickle=False)
        content = buffer.getvalue()
        numbered = [
            {"name": name, "number": number, "content": content[at : at + CHUNK]}
            for number, at in enumerate(range(0, len(content), CHUNK))
        ]
        connection.execute(insert(database.parts), numbered)


def _append(connection: Connection, drafts: Sequence[Event], now: int) -> list[Event]:
    """Add events that are not there yet, and return all as they are there.

    One that is there released its rows when it came: its sender may have them again since.
    """
    table, stored = database.events, list[Event]()
    adding = _inserting(connection, table).on_conflict_do_nothing().returning(table.c.number)
    for one in drafts:
        draft = replace(one, made=min(one.made, now + AHEAD))
        number = connection.execute(adding, _values(draft, now)).scalar()
        if number is None:
            columns = (table.c[name] for name in COLUMNS.values())
            known = select(*columns).where(table.c.key == draft.key)
            stored.append(_event(connection.execute(known).one()))
            continue
        stored.append(replace(draft, number=number, at=now))
        if draft.kind is Kind.COMMENT:
            continue  # the person is still at the row
        for rows in _parts(draft.rows):
            held_rows = leases.c.row.in_(rows) & (leases.c.who == draft.who)
            connection.execute(delete(leases).where(held_rows))
    return stored


def _values(event: Event, now: int) -> dict[str, Any]:
    """What the journal holds of an event that it gives a number."""
    values = {column: getattr(event, name) for name, column in COLUMNS.items() if name != "number"}
    detail = None if event.detail is None else json.dumps(dict(event.detail))
    return values | {"at": now, "detail": detail}


def _hold(
    connection: Connection, rows: Sequence[int], lease: Lease, now: int, most: int
) -> list[int]:
    """Lease the first rows that are free; nobody else writes meanwhile, so they stay free."""
    is_held = _is_running(now) & (leases.c.who != lease.who)
    if not lease.spare:
        is_held &= ~leases.c.spare
    kept = set(connection.execute(select(leases.c.row).where(is_held)).scalars())
    free = list(islice((row for row in dict.fromkeys(rows) if row not in kept), most))
    values = vars(lease)
    adding = _inserting(connection, leases).on_conflict_do_update(
        index_elements=[leases.c.row], set_=values
    )
    if free:
        connection.execute(adding, [{"row": row, **values} for row in free])
    return free


def _is_running(now: int) -> ColumnElement[bool]:
    """Whether a lease has not ended, as :meth:`Lease.is_running` has it."""
    return (leases.c.until > now) & (leases.c.until <= now + LONGEST)


def _inserting(connection: Connection, table: Any) -> Any:  # noqa: ANN401 - one of two dialects
    """An insert that can say what to do about a row that is there."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def _event(row: Iterable[Any]) -> Event:
    """An event as it was stored."""
    key, kind, who, made, place, label, target, necessity, predicted, detail, number, at = row
    event = object.__new__(Event)
    put_key(event, key)
    put_kind(event, KINDS.get(kind) or Kind(kind))
    put_who(event, who)
    put_made(event, min(made, at + AHEAD))
    put_row(event, place)
    put_label(event, label)
    put_target(event, target)
    put_necessity(event, necessity)
    put_predicted(event, predicted)
    put_detail(event, None if detail is None else json.loads(detail))
    put_number(event, number)
    put_at(event, at)
    return event


def _tuple(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """A list as the tuple it was before it was written."""
    return tuple(map(_tuple, cast("list[Any]", value))) if isinstance(value, list) else value


def _parts(values: Sequence[Any]) -> list[Sequence[Any]]:
    """The values, as many at a time as one statement may name."""
    return [values[at : at + MANY] for at in range(0, len(values), MANY)]
