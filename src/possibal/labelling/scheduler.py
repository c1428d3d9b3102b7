"""Scheduler of rankings: a background thread that ranks, ranks speculatively, and measures.

    scheduler = RankingScheduler(read_model, ranker)
    scheduler.await_ranking()        scheduler.ranking

A ranking is made beside the answers, and again whenever events were applied to the read model.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from math import inf
from threading import Condition, Thread
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from possibal.arrays import Places
from possibal.campaign.answer import Answer
from possibal.errors import UnsavedError
from possibal.labelling import kept_ranking
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.ranking import Ranking, RankingTask
from possibal.labelling.read_model import MANY_PEOPLE, ReadModel
from possibal.labelling.storage.journal import Event, Kind

if TYPE_CHECKING:
    from possibal.labelling.evaluation import RandomCurve

PATIENCE = 0.06
"""Seconds that a question waits for a ranking that is almost there."""
FIRST = 3.0
"""Seconds that questions wait for the first ranking, from the first of them on."""
FIRST_LABELS = 1000
"""With more labels no question waits for the first ranking, which then learns from so many: one of
all takes minutes."""
KEPT_EVERY = 60.0
"""Seconds between two rankings that are kept for the next start, at least."""
PAUSE = 1.0
"""Seconds after a failure before it is tried again."""
SPECULATED_LABELS = 3
"""Labels of an anticipated row whose rankings are made before the answer comes."""
PREFETCHED = 100
"""Rows at the head of a ranking that are read before anybody asks."""
IDLE = 5.0
"""Seconds without an answer after which the model looks at all rows of a large pool."""
CURVE_POINTS = 10
"""Of the learning curve that are made again after a restart."""


class Ranker(Protocol):
    """What ranks: in this process, or in another."""

    def rank(self, task: RankingTask) -> Ranking:
        """What the model makes of the pool."""
        ...

    def rank_all(self, task: RankingTask) -> Ranking:
        """The same, with a look at every row of a pool however large."""
        ...

    def predict(self, task: RankingTask, rows: Places) -> list[str] | None:
        """The labels predicted for rows."""
        ...

    def measure(self, task: RankingTask) -> "RandomCurve | None":
        """What asking at random would have reached."""
        ...


class RankingScheduler:
    """Priority scheduler: first a ranking that is behind, then speculative ones, then measuring."""

    def __init__(  # noqa: PLR0915 - it is mostly attributes
        self, read_model: ReadModel, ranker: Ranker, *, background: bool = True
    ) -> None:
        """Rank once, and again after every change.

        Args:
            read_model: what is ranked, and who tells of changes.
            ranker: what ranks.
            background: whether to rank beside the answers; otherwise when a question is asked.
        """
        self.ranking: Ranking | None = None
        self.random_curve: RandomCurve | None = None
        self.trouble: str | None = None
        self.order = dict[int, None]()
        """Rows of the ranking that still want answers, the best first."""
        self.check_predictions = dict[int, list[str]]()
        """Labels predicted for the check rows, in their order, after so many answers."""
        self._read_model, self._ranker = read_model, ranker
        self._changed = Condition(read_model.lock)  # a ranking is adopted as of one state
        self._ranked = -1  # after how many changes it was ranked; none for one of an earlier time
        self._first_until = inf  # when questions cease to wait for the first ranking
        self._is_partial_tried = False
        self._kept, self._kept_at = cast("Ranking | None", None), time.monotonic()
        self._is_measured, self._is_closed = False, False
        self._predictions: tuple[int, RankingPredictions] | None = None  # after so many changes
        self._whole: RankingPredictions | None = None  # of all rows of a large pool
        self._looked_after, self._idle_since = -1, time.monotonic()  # changes, and since the last
        self._anticipated = dict[int, None]()
        self._speculative = dict[RankingTask, Ranking]()
        self._thread = Thread(target=self._loop, name="possibal-ranking", daemon=True)
        self._in_background = background
        read_model.subscribe(self._on_events)
        if background:
            self._adopt_kept()
            self._thread.start()

    def close(self) -> None:
        """Stop ranking, and keep the last one; the store is closed by whoever opened it."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._in_background:
            self._keep()

    # ------------------------------------------------------------ changes

    @property
    def is_behind(self) -> bool:
        """Whether the last answers are not in the ranking yet."""
        return self._ranked < self._read_model.changes

    def _on_events(self, new: Sequence[Event]) -> None:
        """Take answered rows out of the order, and adopt a speculative ranking that came true."""
        self._idle_since = time.monotonic()
        for event in new:
            for row in event.rows:
                if not self._read_model.wants(row):
                    self.order.pop(row, None)
            if self._spoils_predictions(event):
                self.check_predictions.clear()
        if new and not self._read_model.has_many_people:
            speculative = self._speculative.get(_key(self._read_model.task()))
            if speculative is not None:
                self._adopt(speculative, self._read_model.changes)
        self._changed.notify_all()

    def _spoils_predictions(self, event: Event) -> bool:
        """Whether an event changes check rows or names of classes, or undoes that."""
        about = self._read_model.state.events.get(event.target or "", event)
        return about.kind in {Kind.CHECK, Kind.RENAME}

    @property
    def predictions(self) -> RankingPredictions | None:
        """What the last ranking predicts, as people are told it; None before the first."""
        ranking, changes, known = self.ranking, self._read_model.changes, self._predictions
        if ranking is None:
            return None
        if known is None or known[0] != changes or known[1].ranking is not ranking:
            known = self._predictions = changes, RankingPredictions(ranking, self._read_model)
        return known[1]

    @property
    def whole_predictions(self) -> RankingPredictions | None:
        """What is predicted of all rows, by the last ranking that looked at all of them.

        In a large pool that may be an earlier one; until there is one, what the last one predicts.
        """
        known = self._whole
        if known is None or (self.ranking and self._has_looked_at_all(self.ranking)):
            return self.predictions
        self._whole = known.renewed()
        return self._whole

    def _has_looked_at_all(self, ranking: Ranking) -> bool:
        """Whether a ranking looked at every row there is."""
        return len(ranking.looked_at) >= self._read_model.setup.rows

    def anticipate(self, row: int) -> None:
        """Expect an answer about a row: what follows from it is ranked before it comes."""
        with self._changed:
            self._anticipated = dict.fromkeys([row, *self._anticipated][:MANY_PEOPLE])
            self._changed.notify_all()

    def await_ranking(self) -> None:
        """Wait for the ranking, if it is nearly there or there is none yet."""
        if not self._in_background:
            if self.is_behind:
                self.rank()
            return
        with self._changed:
            known = self.ranking
            if self._lacks_first:
                self._first_until = min(self._first_until, time.monotonic() + FIRST)
                patience = max(0.0, self._first_until - time.monotonic())
                self._changed.wait_for(lambda: not self._lacks_first or self.trouble, patience)
            elif self.is_behind and not self._read_model.has_many_people:
                self._changed.wait_for(lambda: self.ranking is not known or self.trouble, PATIENCE)

    @property
    def _lacks_first(self) -> bool:
        """Whether the first ranking is still to come that questions wait for."""
        return self._ranked < 0 and not self._has_many_labels

    @property
    def _has_many_labels(self) -> bool:
        """Whether a ranking of all labels takes longer than people wait."""
        return len(self._read_model.task().answers) > FIRST_LABELS

    # ------------------------------------------------------------ ranking

    def rank(self) -> Ranking:
        """The ranking after all answers, made now."""
        with self._changed:
            changes, task = self._read_model.changes, self._read_model.task()
            speculative = self._speculative.get(_key(task))
        ranking = speculative or self._ranker.rank(task)
        with self._changed:
            self._adopt(ranking, changes)
            self._speculative = {_key(task): ranking}
            self._changed.notify_all()
            first = list(islice(self.order, PREFETCHED))
        self._read_model.items(first)
        return ranking

    def _adopt(self, ranking: Ranking, changes: int) -> None:
        """Let a ranking count that knows of so many changes, unless another was faster."""
        if changes >= self._ranked:
            self._ranked, self._is_measured = changes, False
            for undone in [count for count in self.check_predictions if count > ranking.answers]:
                del self.check_predictions[undone]
            self._serve(ranking)
        if self._read_model.check_rows and not ranking.is_cold:
            self.check_predictions[ranking.answers] = [
                ranking.predicted_label(row) or "" for row in self._read_model.check_rows
            ]

    def _serve(self, ranking: Ranking) -> None:
        """Serve questions from a ranking, also from one that is behind."""
        self.ranking = ranking
        self.order = dict.fromkeys(r for r in ranking.order.tolist() if self._read_model.wants(r))

    # ------------------------------------------------------------ the first one, and the last

    def _adopt_kept(self) -> None:
        """Serve questions from the ranking of an earlier time, until there is one of now."""
        rows, columns = self._read_model.X.shape
        self._kept = kept_ranking.kept(self._read_model.store, rows, columns)
        if self._kept is not None:
            self._serve(self._kept)

    def _keep(self) -> None:
        """Keep the last ranking for the next start, if it can be written."""
        ranking, rows = self.ranking, self._read_model.setup.rows
        if ranking is not None and ranking is not self._kept:
            self._kept, self._kept_at = ranking, time.monotonic()
            with suppress(UnsavedError, RuntimeError):  # the store may be closed by now
                kept_ranking.keep(self._read_model.store, ranking, rows)

    @property
    def _is_partial_due(self) -> bool:
        """Whether what there is to serve from knows of fewer than half of the labels."""
        if self._ranked >= 0 or self._is_partial_tried or not self._has_many_labels:
            return False
        known = 0 if self.ranking is None else self.ranking.answers
        return 2 * known < len(self._read_model.task().answers)

    def _rank_partially(self) -> None:
        """Rank after some of the labels, to serve from until all were learnt from."""
        with self._changed:
            self._is_partial_tried = True
            task = replace(self._read_model.task(), most_labels=FIRST_LABELS)
        ranking = self._ranker.rank(task)
        with self._changed:
            if self._ranked < 0:
                self._serve(ranking)
            self._changed.notify_all()

    # ------------------------------------------------------------ speculation

    def _speculation(self) -> RankingTask | None:
        """The next task that a likely answer would bring; None if all such are ranked."""
        if self.is_behind or self.ranking is None or self._read_model.has_many_people:
            return None
        if self._has_many_labels:  # answers come faster, and the ranking after them would wait
            return None
        now, predicted = self._read_model.task(), self.ranking.predicted_label
        for row in self._anticipated:
            labels = dict.fromkeys([predicted(row), *now.classes][: SPECULATED_LABELS + 1])
            for label in [one for one in labels if one is not None][:SPECULATED_LABELS]:
                task = _key(replace(now, answers=(*now.answers, Answer(row, label))))
                is_open = row not in self._read_model.state.labels and row not in now.aside
                if is_open and task not in self._speculative:
                    return task
        return None

    def _rank_speculatively(self) -> None:
        """Rank what follows from an answer that may come, for as long as nothing else is known."""
        with self._changed:
            task, changes = self._speculation(), self._read_model.changes
        if task is not None:
            ranking = self._ranker.rank(task)
            with self._changed:
                if changes == self._read_model.changes:
                    self._speculative[task] = ranking
                elif task == _key(self._read_model.task()):
                    self._adopt(ranking, self._read_model.changes)

    # ------------------------------------------------------------ a look at all rows

    @property
    def is_look_due(self) -> bool:
        """Whether the last ranking looked at some rows only, and the others have not been since."""
        ranking = self.ranking
        if ranking is None or ranking.is_cold or self.is_behind:
            return False
        return self._looked_after < self._ranked and not self._has_looked_at_all(ranking)

    @property
    def _idle_left(self) -> float | None:
        """Seconds until a look that is due; None where none is."""
        if not self.is_look_due:
            return None
        return max(0.0, self._idle_since + IDLE - time.monotonic())

    def look_at_all(self) -> None:
        """Predict every row of a large pool."""
        with self._changed:
            changes, task = self._read_model.changes, self._read_model.task()
        ranking = self._ranker.rank_all(task)
        with self._changed:
            self._looked_after = changes
            self._whole = RankingPredictions(ranking, self._read_model)

    # ------------------------------------------------------------ measuring

    def measure(self) -> None:
        """Evaluate the model on the check rows."""
        task = self._read_model.task()
        if task.check:
            self._restore_curve(task)
            self.random_curve = self._ranker.measure(task)
        self._is_measured = True

    def _restore_curve(self, task: RankingTask) -> None:
        """Predict again what was predicted after fewer answers, where it was not kept."""
        n, rows = len(task.answers), np.array(self._read_model.check_rows, dtype=np.intp)
        if len(self.check_predictions) > 1:
            return
        for count in sorted({int(at) for at in np.linspace(2, n, CURVE_POINTS) if at <= n}):
            earlier = replace(task, answers=task.answers[:count])
            predicted = self._ranker.predict(earlier, rows)
            if predicted is not None:
                self.check_predictions[count] = predicted

    # ------------------------------------------------------------ the thread

    def _loop(self) -> None:
        """Rank whenever something changed, rank speculatively, and measure when there is time."""
        while True:
            with self._changed:
                while self._job() is None and not self._is_closed:
                    self._changed.wait(self._idle_left)
                job = self._job()
            if self._is_closed or job is None:
                return
            self._run(job)
            if time.monotonic() - self._kept_at > KEPT_EVERY:
                self._keep()

    def _job(self) -> Callable[[], object] | None:
        """What is most urgent; None if nothing is to be done."""
        if self._is_partial_due:
            return self._rank_partially
        if self.is_behind:
            return self.rank
        if self._speculation() is not None:
            return self._rank_speculatively
        if not self._is_measured:
            return self.measure
        return self.look_at_all if self._idle_left == 0.0 else None

    def _run(self, job: Callable[[], object]) -> None:
        """Run a job; where it fails, people go on answering and it is tried again."""
        try:
            job()
            self.trouble = None
        except Exception as error:  # noqa: BLE001 - as it says
            with self._changed:
                self.trouble = f"The model could not be fitted ({error})."
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._is_closed, PAUSE)


def _key(task: RankingTask) -> RankingTask:
    """What decides a ranking: all of a task but the rows that only measure."""
    return replace(task, check=())
