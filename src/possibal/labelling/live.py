"""Where a campaign stands: what holds after all events, and what the model makes of it.

standing.state        standing.ranking        standing.take_in(events)

The ranking is made beside the answers, and again whenever something changed.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from threading import Condition, RLock, Thread
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

import numpy as np

from possibal.arrays import Matrix, Places, Vector
from possibal.campaign.answer import Answer
from possibal.campaign.stopping import CERTAIN
from possibal.labelling.explanation import NEAR
from possibal.labelling.ranking import Ranking, RankingTask
from possibal.labelling.storage.journal import Event, JournalState, Kind, replay
from possibal.labelling.storage.store import Item, Store

if TYPE_CHECKING:
    from possibal.labelling.evaluation import MeasuredSaving

PATIENCE = 0.06
"""Seconds that a question waits for a ranking that is almost there."""
FIRST = 3.0
"""Seconds that the first question waits for the first ranking."""
PAUSE = 1.0
"""Seconds after a failure before it is tried again."""
MANY_PEOPLE = 5
"""With so many people nobody waits for a ranking: there are always other answers on their way."""
GUESSES = 3
"""Labels of the row on somebody's desk whose rankings are made before the answer comes."""
EVERY = 5
"""Of so many questions one is about a check row, until all are answered."""
AHEAD = 100
"""Rows at the head of a ranking that are read before anybody asks."""
KEPT = 20_000
"""Rows that are kept in memory at most, before those asked for now."""
POINTS = 10
"""Of the learning curve that are made again after a restart."""
PAIRS = 500
"""Rows whose distances say what is usual."""


class Ranker(Protocol):
    """What ranks: a bench here, or a worker in another process."""

    def rank(self, task: RankingTask) -> Ranking:
        """What the model makes of the pool."""
        ...

    def predicted(self, task: RankingTask, rows: Places) -> list[str] | None:
        """The labels predicted for rows."""
        ...

    def measure(self, task: RankingTask) -> "MeasuredSaving | None":
        """What asking saved."""
        ...


class LiveCampaign:
    """An open campaign, kept up to date."""

    def __init__(self, store: Store, ranker: Ranker, *, background: bool = True) -> None:
        """Replay the journal.

        Args:
            store: of the campaign.
            ranker: what ranks.
            background: whether to rank beside the answers; otherwise when a question is asked.
        """
        self.store, self.setup = store, store.setup()
        self.X: Matrix = store.array("X")
        self.state: JournalState = replay(store.events())
        self.ranking: Ranking | None = None
        self.saving: MeasuredSaving | None = None
        self.trouble: str | None = None
        self.order = dict[int, None]()
        """Rows of the ranking that still want answers, the best first."""
        self.seen = dict[int, list[str]]()
        """Labels predicted for the check rows, in their order, after so many answers."""
        self.lock, self._items = RLock(), dict[int, Item]()
        self._given = sum(event.kind is Kind.IMPORT for event in self.state.events.values())
        self._number = max((event.number for event in self.state.events.values()), default=0)
        self._ranker, self._changed = ranker, Condition(self.lock)
        self._changes, self._ranked = 0, -1  # how many there were, and after how many it was ranked
        self._is_measured, self._is_closed = False, False
        self._expected, self._guessed = dict[int, None](), dict[RankingTask, Ranking]()
        self._thread = Thread(target=self._rank_on, name="possibal-ranking", daemon=True)
        self._in_background = background
        if background:
            self._thread.start()

    def close(self) -> None:
        """Stop ranking; the store is closed by whoever opened it."""
        with self.lock:
            self._is_closed = True
            self._changed.notify_all()

    # ------------------------------------------------------------ events

    def catch_up(self) -> None:
        """Read what other processes wrote, where there may be others."""
        if self.store.is_shared:
            events = self.store.events(self._number)
            self.apply(events)
            self._number = max([self._number, *(event.number for event in events)])

    def apply(self, events: Sequence[Event]) -> None:
        """Let events hold, and have the pool ranked again."""
        with self.lock:
            new = [event for event in events if event.key not in self.state.events]
            for event in new:
                self.state.apply(event)
                if event.row is not None and not self._wants(event.row):
                    self.order.pop(event.row, None)
            self._changes += len(new)
            guessed = (
                self._guessed.get(_key(self.task())) if new and not self._has_many_people else None
            )
            if guessed is not None:
                self._adopt(guessed, self._changes)
            self._changed.notify_all()

    def expect(self, row: int) -> None:
        """Let somebody be at a row: what follows from their answer is ranked before it comes."""
        with self.lock:
            self._expected = dict.fromkeys([row, *self._expected][:MANY_PEOPLE])
            self._changed.notify_all()

    def _wants(self, row: int) -> bool:
        """Whether a row wants answers, of whomever."""
        return self.state.verdict(row).wants(self.setup.people)

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes there are."""
        with self.lock:
            return self.state.classes(self.setup.classes)

    # ------------------------------------------------------------ check rows

    @functools.cached_property
    def check_rows(self) -> tuple[int, ...]:
        """The rows drawn to measure the model, which never learns from them."""
        rng = np.random.default_rng([self.setup.seed, crc32(b"check")])
        drawn = rng.permutation(self.setup.rows)[: self.setup.check]
        return tuple(sorted(int(row) for row in drawn))

    @property
    def is_check_turn(self) -> bool:
        """Whether a check row is next."""
        with self.lock:
            labels = self.state.labels
            checked = sum(row in labels for row in self.check_rows)
            return checked < (len(labels) - checked - self._given) // (EVERY - 1)

    # ------------------------------------------------------------ ranking

    @property
    def is_behind(self) -> bool:
        """Whether the last answers are not in the ranking yet."""
        return self._ranked < self._changes

    @property
    def _has_many_people(self) -> bool:
        """Whether so many people answer that none of them is waited for."""
        return len(self.state.people) >= MANY_PEOPLE

    def task(self) -> RankingTask:
        """What is to be ranked now."""
        with self.lock:
            check, labels = frozenset(self.check_rows), self.state.labels
            dropped = {row for row, verdict in self.state.verdicts.items() if verdict.is_bad}
            undecided = {row for row in self.state.conflicts() if row not in labels}
            return RankingTask(
                self.state.answers(check),
                self.classes,
                frozenset(dropped | undecided | check),
                tuple(answer for answer in self.state.answers() if answer.row in check),
                1 + min(max(len(self.state.people), 1), MANY_PEOPLE),
            )

    def rank(self) -> Ranking:
        """The ranking after all answers, made now."""
        with self.lock:
            changes, task = self._changes, self.task()
            guessed = self._guessed.get(_key(task))
        ranking = guessed or self._ranker.rank(task)
        with self.lock:
            self._adopt(ranking, changes)
            self._guessed = {_key(task): ranking}
            self._changed.notify_all()
            first = list(islice(self.order, AHEAD))
        self.items(first)
        return ranking

    def _adopt(self, ranking: Ranking, changes: int) -> None:
        """Let a ranking count that knows of so many changes, unless another was faster."""
        if changes >= self._ranked:
            self.ranking, self._ranked, self._is_measured = ranking, changes, False
            self.order = dict.fromkeys(r for r in ranking.order.tolist() if self._wants(r))
        if self.check_rows and not ranking.is_cold:
            self.seen[ranking.answers] = [
                ranking.predicted_label(row) or "" for row in self.check_rows
            ]

    def _guess(self) -> RankingTask | None:
        """What will have to be ranked if somebody's answer is a likely one; None if all is done."""
        if self.is_behind or self.ranking is None or self._has_many_people:
            return None
        now, thought = self.task(), self.ranking.predicted_label
        for row in self._expected:
            labels = dict.fromkeys([thought(row), *now.classes][: GUESSES + 1])
            for label in [one for one in labels if one is not None][:GUESSES]:
                task = _key(replace(now, answers=(*now.answers, Answer(row, label))))
                is_open = row not in self.state.labels and row not in now.aside
                if is_open and task not in self._guessed:
                    return task
        return None

    def _rank_ahead(self) -> None:
        """Rank what follows from an answer that may come, for as long as nothing else is known."""
        with self.lock:
            task, changes = self._guess(), self._changes
        if task is not None:
            ranking = self._ranker.rank(task)
            with self.lock:
                if changes == self._changes:
                    self._guessed[task] = ranking
                elif task == _key(self.task()):
                    self._adopt(ranking, self._changes)

    def measure(self) -> None:
        """See what the check rows tell."""
        task = self.task()
        if task.check:
            self._remember(task)
            self.saving = self._ranker.measure(task)
        self._is_measured = True

    def _remember(self, task: RankingTask) -> None:
        """Predict again what was predicted after fewer answers, where it was not kept."""
        n, rows = len(task.answers), np.array(self.check_rows, dtype=np.intp)
        if len(self.seen) > 1:
            return
        for count in sorted({int(at) for at in np.linspace(2, n, POINTS) if at <= n}):
            earlier = replace(task, answers=task.answers[:count])
            predicted = self._ranker.predicted(earlier, rows)
            if predicted is not None:
                self.seen[count] = predicted

    def await_ranking(self) -> None:
        """Wait for the ranking, if it is nearly there or there is none yet."""
        if not self._in_background:
            if self.is_behind:
                self.rank()
            return
        with self.lock:
            known = self.ranking
            is_crowd = known is not None and self._has_many_people
            if self.is_behind and not is_crowd:
                patience = FIRST if known is None else PATIENCE
                self._changed.wait_for(lambda: self.ranking is not known or self.trouble, patience)

    def _rank_on(self) -> None:
        """Rank whenever something changed, rank ahead, and measure when there is time."""
        while True:
            with self.lock:
                self._changed.wait_for(lambda: self._job() is not None or self._is_closed)
                job = self._job()
            if self._is_closed or job is None:
                return
            self._work(job)

    def _job(self) -> Callable[[], object] | None:
        """What is most urgent; None if nothing is to be done."""
        if self.is_behind:
            return self.rank
        if self._guess() is not None:
            return self._rank_ahead
        return None if self._is_measured else self.measure

    def _work(self, job: Callable[[], object]) -> None:
        """Do a piece of work; where it fails, people go on answering and it is tried again."""
        try:
            job()
            self.trouble = None
        except Exception as error:  # noqa: BLE001 - as it says
            with self.lock:
                self.trouble = f"The model could not be fitted ({error})."
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._is_closed, PAUSE)

    # ------------------------------------------------------------ rows

    def items(self, rows: Iterable[int]) -> dict[int, Item]:
        """Rows as their source has them; those seen lately are not read again.

        While somebody's answer is being written, a SQLite file cannot be read: a question would
        wait for it.
        """
        wanted, known = list(rows), self._items
        missing = [row for row in wanted if row not in known]
        found = self.store.items(missing) if missing else {}
        if len(known) >= KEPT:
            self._items = {}
        self._items.update(found)
        return {row: found[row] if row in found else known[row] for row in wanted}

    def nearest(self, row: int, most: int) -> list[tuple[int, str, float]]:
        """The labelled rows most like a row: place, label, and distance in usual ones."""
        with self.lock:
            known = dict(self.state.labels)
        known.pop(row, None)
        rows = np.array(list(known), dtype=np.intp)
        away = self._away(rows, row)
        first = rows[np.argsort(away, kind="stable")[:most]]
        return [
            (int(other), known[int(other)], float(distance))
            for other, distance in zip(first, np.sort(away, kind="stable")[:most], strict=True)
        ]

    def uncertain_neighbours(self, row: int) -> int:
        """How many other rows without a label are like a row, and the model is not sure of them.

        Of a large pool only those are counted that the ranking looked at.
        """
        ranking = self.ranking
        if ranking is None or ranking.is_cold:
            return 0
        with self.lock:
            known = [row, *self.state.labels]
        unsure = np.setdiff1d(ranking.looked_at[ranking.necessity < CERTAIN], known)
        return int(np.count_nonzero(self._away(unsure, row) < NEAR))

    def _away(self, rows: Places, row: int) -> Vector:
        """How far rows are from one of them, in usual distances."""
        return np.sqrt(((self.X[rows] - self.X[row]) ** 2).sum(axis=1)) / self._usual

    @functools.cached_property
    def _usual(self) -> float:
        """The usual distance between two rows: the median."""
        rng = np.random.default_rng([self.setup.seed, crc32(b"pairs")])
        one, other = (rng.integers(self.setup.rows, size=PAIRS) for _ in range(2))
        away: Vector = np.sqrt(((self.X[one] - self.X[other]) ** 2).sum(axis=1))
        return float(np.median(away)) or 1.0


def _key(task: RankingTask) -> RankingTask:
    """What decides a ranking: all of a task but the rows that only measure."""
    return replace(task, check=())
