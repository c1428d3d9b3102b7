"""What opening a long journal takes, beside a plain loop over the same events.

    python bench/replay.py --events 1000000

Half of the events are on 2000 rows, the others on a row each: labels, edits, skips, settlements
and undos of three people, by clocks that differ. Printed are the seconds of the processor: to open
the campaign as the server does, to read the events from SQLite, to replay them, one more answer,
and, as the limit of what this language can do, one loop that puts the events into a dictionary by
their row and does nothing else.
"""

import gc
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.journal import (
    LABELLED,
    Event,
    JournalState,
    Kind,
    paused_collection,
    replay,
)
from possibal.labelling.storage.store import Contents, Item, Setup, Store

BUSY_ROWS, SEED = 2000, 22
KINDS = [Kind.LABEL] * 90 + [Kind.SKIP] * 4 + [Kind.EDIT] * 4 + [Kind.SETTLE, Kind.BAD]
CLOCKS = {"ann": 0, "bob": 5_000, "cy": 60_000}
"""Milliseconds that the clocks of people are fast; a second lies between two events."""
MORE = 1000
"""Answers that come after the replay, one at a time, on a busy row."""
Made = TypeVar("Made")


def history(count: int) -> Iterator[Event]:
    """Events of three people; one of fifty undoes a late one."""
    rng = Random(SEED)  # noqa: S311 - no secret
    for at in range(count):
        who = rng.choice(list(CLOCKS))
        made = 1000 * at + CLOCKS[who]
        if at % 50 == 49:
            yield Event(key(at), Kind.UNDO, who, made, target=key(at - rng.randrange(1, 9)))
            continue
        kind, row = rng.choice(KINDS), rng.randrange(BUSY_ROWS) if at % 2 else BUSY_ROWS + at // 2
        label = rng.choice("xyz") if kind in LABELLED else None
        yield Event(key(at), kind, who, made, row, label, None, 0.5, "x")


def key(at: int) -> str:
    """An idempotency key, as long as the page's."""
    return f"{at:032x}"


def by_row(events: list[Event]) -> dict[int | None, list[Event]]:
    """The plain loop: events by their row."""
    found = defaultdict[int | None, list[Event]](list)
    with paused_collection():
        for event in events:
            found[event.row].append(event)
    return found


def answered(state: JournalState) -> None:
    """One answer after the other on one row."""
    made = state.latest_of("ann")
    for at in range(MORE):
        state.apply(Event(f"more {at}", Kind.EDIT, "ann", made + at, 0, "x"))


def seconds(job: Callable[[], Made]) -> tuple[float, Made]:
    """What a job takes of the processor, and what it returns."""
    began = time.process_time()
    made = job()
    return time.process_time() - began, made


def main() -> None:
    """Print one table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    count: int = parser.parse_args().events
    rows = BUSY_ROWS + count // 2
    console = Console()
    with TemporaryDirectory() as folder:
        with paused_collection():
            contents = Contents([Item(0, "0")], {"X": np.zeros((1, 1))}, list(history(count)))
        setup = Setup("replay", "table", rows, classes=("x", "y", "z"))
        with Store.create(str(Path(folder) / "a.db"), setup, contents) as store:
            del contents
            opening, model = seconds(lambda: ReadModel(store))
            assert len(model.state.events) == count
            del model
            reading, events = seconds(store.events)
    looping, _ = seconds(lambda: by_row(events))
    folding, state = seconds(lambda: replay(events))
    gc.collect()  # as it would be by the time that somebody answers
    answering, _ = seconds(lambda: answered(state))
    table = Table("", "seconds", "per event", title=f"{count} events on {rows} rows")
    for name, took in (
        ("read from SQLite", reading),
        ("replay", folding),
        ("open, goal: 5 s for 1000000", opening),
        ("plain loop, the limit", looping),
    ):
        table.add_row(name, f"{took:.2f}", f"{1e6 * took / count:.2f} µs")
    table.add_row(f"{MORE} answers more", f"{answering:.3f}", f"{1e6 * answering / MORE:.0f} µs")
    console.print(table)


if __name__ == "__main__":
    main()
