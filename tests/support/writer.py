"""A process that begins a campaign, or goes on with it, and appends pairs of answers.

    PYTHONPATH=src:tests python -m support.writer DB PAIRS PRAGMA ...

Whatever it was told is one line of standard output, in one system call.
"""

import os
import sys

import numpy as np

from possibal.errors import UnavailableError, UnsavedError
from possibal.labelling.storage import database
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Contents, Item, Setup, Store

OPEN, KEPT, REFUSED, THERE, CLOSED = "open", "kept", "refused", "there", "closed"
"""What it tells: that the campaign is open or closed, that a pair was kept, that something was
refused, and how many answers of a pair that was refused are there."""
TRIES = 3
"""Of a pair that is refused; each is told."""
ROWS = 3


def pair(number: int) -> list[Event]:
    """Two answers that are sent together; some of them are longer than a page of the database."""
    keys = keys_of(number)
    detail = {"note": "x" * (6000 if number % 3 == 2 else 10)}
    return [Event(key, Kind.LABEL, "ann", 1, row=0, label="x", detail=detail) for key in keys]


def keys_of(number: int) -> list[str]:
    """The keys of a pair."""
    return [f"{number:03}-{one}" for one in "ab"]


def campaign(db: str) -> Store:
    """The campaign at an address, begun if it is not there."""
    if Store.exists(db):
        return Store.open(db)
    items = [Item(row, f"r{row}") for row in range(ROWS)]
    contents = Contents(items, {"X": np.zeros((ROWS, 1))})
    return Store.create(db, Setup("a", "table", ROWS, classes=("x", "y")), contents)


def tell(what: str, *about: object) -> None:
    """Print one line at once."""
    line = " ".join([what, *map(str, about)])
    os.write(1, " ".join(line.split()).encode() + b"\n")


def append(store: Store, number: int) -> bool:
    """Whether a pair was kept; where it was not, how much of it is there is told."""
    try:
        store.append(pair(number))
    except UnsavedError as error:
        tell(REFUSED, number, error)
    else:
        tell(KEPT, number)
        return True
    try:
        there = {event.key for event in store.events()}.intersection(keys_of(number))
    except UnavailableError as error:
        tell(REFUSED, number, error)
    else:
        tell(THERE, number, len(there))
    return False


def main() -> None:
    """Append as many pairs as are wanted, if the campaign can be opened."""
    db, pairs, *pragmas = sys.argv[1:]
    database.pragmas = lambda: tuple(pragmas)
    try:
        store = campaign(db)
    except (ValueError, UnavailableError) as error:
        tell(REFUSED, OPEN, error)
        return
    with store:
        tell(OPEN)
        for number in range(int(pairs)):
            if not any(append(store, number) for _ in range(TRIES)):
                raise TimeoutError(number)
    tell(CLOSED)


if __name__ == "__main__":
    main()
