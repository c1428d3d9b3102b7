"""Ranking of a pool after some answers: which rows to ask about, and what is predicted of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from possibal.arrays import Places, Vector
from possibal.campaign.answer import Answer
from possibal.campaign.chance import CredibleChance
from possibal.campaign.stopping import Advice

OVERVIEW_SAMPLE = 2000
"""Size of the random sample that stands for a pool on the map."""
UNKNOWN = -1
"""The class of a row of which nothing can be said yet."""


@dataclass(frozen=True)
class RankingTask:
    """What to rank.

    Attributes:
        answers: labels of rows, by place.
        classes: all there may be; fewer than two are learnt from the answers.
        aside: rows that the model neither asks about nor learns from.
        check: rows whose labels only measure the model.
        first: how many rows must differ from each other.
        rows: how many the pool has: a ranking of fewer is one of another pool.
        most_labels: that the model learns from, where that is fewer than usual; zero as usual.
    """

    answers: tuple[Answer, ...] = ()
    classes: tuple[str, ...] = ()
    aside: frozenset[int] = frozenset()
    check: tuple[Answer, ...] = ()
    first: int = 4
    rows: int = 0
    most_labels: int = 0

    def __hash__(self) -> int:
        """By the last answer and how many there are: all would take long, and seldom tell more."""
        return hash((len(self.answers), self.answers[-1:], self.classes, self.rows))


@dataclass(frozen=True, eq=False)
class Ranking:
    """What the model makes of a pool.

    Attributes:
        answers: how many it has learnt from.
        classes: what the places in `predicted` stand for.
        order: places of the rows to ask about, the best first; of a large pool the first few.
        looked_at: places of rows, in order, of which the model was asked: all, or in a large pool
            those that people may come to see.
        necessity: of the likeliest label of each of these, (r,).
        predicted: the place of that label among the classes, (r,).
        relevance: largest absolute correlation of each column with a predicted class, (d,).
        usual_distance: between two rows of the pool; the unit in which rows are near or far.
        advice: whether to go on.
        is_cold: whether too little is known for a score.
        chances: range of the probability of the likeliest label, of the first rows to ask about.
    """

    answers: int
    classes: tuple[str, ...]
    order: Places
    looked_at: Places
    necessity: Vector
    predicted: NDArray[np.intp]
    relevance: Vector
    usual_distance: float
    advice: Advice
    is_cold: bool
    chances: Mapping[int, CredibleChance] = field(default_factory=dict)

    def predicted_label(self, row: int) -> str | None:
        """The likeliest label of a row; None where nothing can be said."""
        at = self._at(row)
        place = UNKNOWN if at is None else int(self.predicted[at])
        return None if place == UNKNOWN else self.classes[place]

    def necessity_of(self, row: int) -> float:
        """The necessity of that label; zero where nothing can be said."""
        at = self._at(row)
        return 0.0 if at is None else float(self.necessity[at])

    def necessities_of(self, rows: Iterable[int]) -> list[float]:
        """The necessity of the likeliest label of each row, as :meth:`necessity_of` has it."""
        known = dict(zip(self.looked_at.tolist(), self.necessity.tolist(), strict=True))
        return [known.get(row, 0.0) for row in rows]

    def _at(self, row: int) -> int | None:
        """Where a row stands among those looked at."""
        at = int(np.searchsorted(self.looked_at, row))
        return at if at < len(self.looked_at) and self.looked_at[at] == row else None


def overview_sample(rows: int, seed: int) -> Places:
    """Uniform random sample of rows that stands for a pool on the map."""
    return np.random.default_rng(seed).permutation(rows)[:OVERVIEW_SAMPLE]
