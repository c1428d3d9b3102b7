"""Small campaigns on real files, and people who answer."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numpy as np

from possibal.data.copies import CopyGroups
from possibal.labelling.create import CHECK, COPIES, first_check_rows
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import Ranker, RankingScheduler
from possibal.labelling.service import LabellingService, Question, StoredEvent
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Contents, Item, Setup, Store

CLASSES = ("no", "yes")
CLOCK = count(1)
FIELDS = ("place", "words")


def rows(n: int = 30, d: int = 2, seed: int = 0) -> np.ndarray:
    """Rows of which only the first column matters."""
    return np.random.default_rng(seed).normal(size=(n, d))


def truth(X: np.ndarray) -> list[str]:
    """The class of each row."""
    return [CLASSES[int(value > 0)] for value in X[:, 0]]


def campaign(
    X: np.ndarray, copies: list[int] | None = None, **chosen: object
) -> tuple[Setup, Contents]:
    """A campaign of these rows; of copies, the row that is asked in the stead of each is given."""
    given = {"classes": CLASSES, "fields": FIELDS, **chosen}
    arrays = {"X": X}
    if copies is not None:
        check = first_check_rows(CopyGroups(np.array(copies)), 0, given.get("check", 0))
        arrays |= {COPIES: np.array(copies), CHECK: check}
    items = [Item(row, f"id-{row}", (str(row), f"words of {row}")) for row in range(len(X))]
    return Setup("small", "table", len(X), **given), Contents(items, arrays)


def created(folder: Path, X: np.ndarray, **chosen: object) -> Store:
    """A campaign of these rows in a new file of a folder."""
    return Store.create(str(folder / "a.db"), *campaign(X, **chosen))


def in_process_ranker(store: Store) -> InProcessRanker:
    """What ranks a campaign, in this process."""
    setup = store.setup()
    return InProcessRanker(store.array("X"), setup.strategy, setup.seed)


@contextmanager
def serving(
    store: Store, ranker: Ranker | None = None, *, background: bool = False
) -> Iterator[LabellingService]:
    """The service of a campaign; it ranks when it is asked, unless in the background."""
    read_model = ReadModel(store)
    made = RankingScheduler(read_model, ranker or in_process_ranker(store), background=background)
    try:
        yield LabellingService(read_model, made)
    finally:
        made.close()
        until(lambda: not made._thread.is_alive())  # noqa: SLF001 - nothing may outlive a test


@contextmanager
def new_service(folder: Path, X: np.ndarray, **chosen: object) -> Iterator[LabellingService]:
    """The service of a new campaign."""
    with created(folder, X, **chosen) as store, serving(store) as at:
        yield at


@contextmanager
def reopened(folder: Path) -> Iterator[LabellingService]:
    """The service of the campaign in a folder, opened by another process later."""
    with Store.open(str(folder / "a.db")) as store, serving(store) as at:
        yield at


def event(
    who: str, row: int | None, label: str | None = None, kind: Kind = Kind.LABEL, **more: object
) -> Event:
    """What somebody did just now."""
    made = next(CLOCK)
    return Event(f"{made:032x}", kind, who, made, row, label, **more)


def undo(who: str, target: str | None = None) -> Event:
    """That somebody takes something back."""
    return event(who, None, kind=Kind.UNDO, target=target)


def row_of(question: Question | None) -> int:
    """The row of a question that there is."""
    assert question is not None
    return question.item.row


def answer(at: LabellingService, who: str, row: int, label: str | None = None) -> StoredEvent:
    """A row answered, truthfully unless a label is given."""
    return at.answer(event(who, row, label or truth(at.read_model.X)[row]))


def walk(at: LabellingService, who: str, steps: int) -> list[int]:
    """The rows that a person was asked about and answered truthfully."""
    asked = []
    for _ in range(steps):
        asked.append(row_of(at.ask(who)))
        answer(at, who, asked[-1])
    return asked


def until(holds: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)
