"""Online backup of a campaign: a consistent snapshot, verified, while people go on labelling.

backup(db, file)
"""

import glob
from pathlib import Path

from sqlalchemy import URL, Connection, func, insert, select

from possibal.files import part_of
from possibal.labelling.storage import database
from possibal.labelling.storage.database import TABLES, address, file_of, refusals
from possibal.labelling.storage.doctor import connected, counted
from possibal.labelling.storage.store import KEPT_RANKING, Store

LARGE = frozenset(["parts"])
"""Tables whose rows are copied one by one."""
MANY = 2000
"""Rows of the others that are copied at a time."""
LASTING = (database.facts, database.items, database.parts, database.events)
"""Tables of which no row is ever taken out, but for those of the last ranking."""


def backup(db: str, to: Path) -> str:
    """A sentence on the copy: the campaign as of one moment, in a new SQLite file.

    The campaign may be in use. The copy is read again before it is put in place.
    """
    _check_free(to)
    part = part_of(to)
    try:
        with Store.open(db, writes=False) as store, refusals(store.url):
            _check_version(store)
            before = _copied(store.url, part)
            with connected(store.url) as connection:
                after = _sizes(connection)
        with refusals(address(str(part))):
            said = _verified(part, before, after)
        part.replace(to)
    finally:
        for left in part.parent.glob(f"{glob.escape(part.name)}*"):
            left.unlink()
    return said


def _copied(url: URL, part: Path) -> dict[str, int]:
    """The sizes of the tables at the moment of the copy, or before it."""
    path = file_of(url)
    with connected(url) as connection:
        sizes = _sizes(connection)
        if path is None:
            _pour(connection, part)
    if path is not None:
        database.copy(path, part)
    return sizes


def _check_version(store: Store) -> None:
    """Refuse tables of an earlier version that are not copied as a file."""
    if store.is_shared and store.version < database.SCHEMA:
        raise ValueError(
            f"db must be of version {database.SCHEMA} to be copied; got version {store.version}. "
            "Open it once with possibal label."
        )


def _check_free(to: Path) -> None:
    """Refuse to write over anything, or where there is no folder."""
    if to.exists():
        raise ValueError(f"to must be a new file; got {str(to)!r}, which exists. Choose another.")
    if not to.parent.is_dir():
        raise ValueError(
            f"to must be in a folder that exists; got {str(to)!r}. Make the folder first."
        )


def _sizes(connection: Connection) -> dict[str, int]:
    """How many rows each lasting table has, without those of the last ranking."""
    counts = {table.name: select(func.count()).select_from(table) for table in LASTING}
    derived = database.parts.c.name.startswith(KEPT_RANKING, autoescape=True)
    counts[database.parts.name] = counts[database.parts.name].where(~derived)
    return {name: connection.execute(count).scalar_one() for name, count in counts.items()}


def _pour(source: Connection, part: Path) -> None:
    """Fill a new SQLite file with the tables of a server, as of one moment."""
    engine = database.engine(address(str(part)), writes=True)
    try:
        with engine.begin() as target:
            TABLES.create_all(target, checkfirst=False)
            for table in TABLES.sorted_tables:
                size = 1 if table.name in LARGE else MANY
                rows = source.execution_options(yield_per=size).execute(select(table))
                for some in rows.mappings().partitions():
                    target.execute(insert(table), [dict(row) for row in some])
    finally:
        engine.dispose()


def _verified(part: Path, before: dict[str, int], after: dict[str, int]) -> str:
    """What a copy holds, if it has all that there was before, and at most what came since."""
    with Store.open(str(part), writes=False) as copy, connected(copy.url) as connection:
        state, found = copy.state(), _sizes(connection)
        whole = len(copy.array("X")) == copy.setup().rows == found["items"]
    if not whole or any(not before[name] <= found[name] <= after[name] for name in found):
        raise ValueError(
            f"to must be a place that keeps what is written there; got {str(part.parent)!r}, where "
            "the copy is not like the campaign. Choose another."
        )
    return counted(state)
