"""Ranking of a pool after some answers: which rows to ask about, and what is predicted of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from possibal.arrays import Matrix, Places, Vector
from possibal.campaign.answer import Answer
from possibal.campaign.calibration import Outcomes, StatedChance
from possibal.campaign.chance import CredibleChance
from possibal.campaign.stopping import Advice

OVERVIEW_SAMPLE = 2000
"""Size of the random sample that stands for a pool on the map."""
UNKNOWN = -1
"""The class of a row of which nothing can be said yet."""


@dataclass(frozen=True)
class Prediction:
    """What is predicted of a row.

    Attributes:
        label: the likeliest, by its present name.
        chance: that it is right.
        necessity: of that label.
    """

    label: str
    chance: StatedChance
    necessity: float


@dataclass(frozen=True)
class MemberPrediction:
    """What the model makes of one class of a row that may have several.

    Attributes:
        label: the class.
        chance: that the row has it.
        necessity: that it has it or has it not, as is likelier.
    """

    label: str
    chance: float
    necessity: float


@dataclass(frozen=True)
class OtherLabel:
    """A label that all other rows speak for, where a row has another."""

    label: str
    chance: StatedChance


@dataclass(frozen=True)
class ExpectedMistakes:
    """How many rows the model would label wrongly by itself, with the range of 95 %."""

    rows: int
    count: float
    low: float
    high: float


@dataclass(frozen=True)
class Contradiction:
    """What all other labels say of a row that has another.

    Attributes:
        predicted: the place of that label among the classes.
        chance: its probability without the row's own label.
    """

    predicted: int
    chance: float


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
        find: the class whose rows are sought, by its present name; None for none.
        multi: whether the labels are sets of classes, by their texts.
    """

    answers: tuple[Answer, ...] = ()
    classes: tuple[str, ...] = ()
    aside: frozenset[int] = frozenset()
    check: tuple[Answer, ...] = ()
    first: int = 4
    rows: int = 0
    most_labels: int = 0
    find: str | None = None
    multi: bool = False

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
        chance: the model's probability of that label, (r,), before check rows have a say.
        predicted: the place of that label among the classes, (r,).
        relevance: largest absolute correlation of each column with a predicted class, (d,).
        usual_distance: between two rows of the pool; the unit in which rows are near or far.
        advice: whether to go on.
        is_cold: whether too little is known for a score.
        chances: range of the probability of the likeliest label, of the first rows to ask about.
        left_out: what the model would have said of rows that it learnt from, without their labels.
        contradicted: rows that it learnt from and that all other labels say are of another class.
        sought: the model's probability that each row that was looked at is of the sought class,
            (r,); none where no class is sought, or too little is known.
        sought_left_out: the same of rows that it learnt from, without their labels.
        members: classes that a row may have several of; none where it has one label. Each of
            `classes` is then a set of these, by its text.
        member_chance: the model's probability that each row that was looked at has each, (r, L).
        member_necessity: that it has it or has it not, as is likelier, (r, L).
    """

    answers: int
    classes: tuple[str, ...]
    order: Places
    looked_at: Places
    necessity: Vector
    chance: Vector
    predicted: NDArray[np.intp]
    relevance: Vector
    usual_distance: float
    advice: Advice
    is_cold: bool
    chances: Mapping[int, CredibleChance] = field(default_factory=dict)
    left_out: Outcomes = field(default_factory=Outcomes)
    contradicted: Mapping[int, Contradiction] = field(default_factory=dict)
    sought: Vector = field(default_factory=lambda: np.empty(0))
    sought_left_out: Outcomes = field(default_factory=Outcomes)
    members: tuple[str, ...] = ()
    member_chance: Matrix = field(default_factory=lambda: np.empty((0, 0)))
    member_necessity: Matrix = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def possible_labels(self) -> int:
        """How many labels a row might have."""
        return 2 ** len(self.members) if self.members else len(self.classes)

    def members_of(self, row: int) -> list[MemberPrediction]:
        """What the model makes of each class of a row; none where it has one label, or nothing."""
        at = int(np.searchsorted(self.looked_at, row))
        is_there = at < len(self.looked_at) and self.looked_at[at] == row
        if not is_there or not len(self.member_chance):
            return []
        each = self.member_chance[at].tolist(), self.member_necessity[at].tolist()
        return list(map(MemberPrediction, self.members, *each))

    def sought_chances_of(self, rows: Iterable[int]) -> list[float | None]:
        """The model's probability that each row is of the sought class; None where it has none."""
        known = self.sought if len(self.sought) else np.full(len(self.looked_at), np.nan)
        found = self._values(known, rows, np.nan)
        return [None if np.isnan(one) else one for one in found]

    def predicted_label(self, row: int) -> str | None:
        """The likeliest label of a row; None where nothing can be said."""
        return self.predicted_labels_of([row])[0]

    def necessity_of(self, row: int) -> float:
        """The necessity of that label; zero where nothing can be said."""
        return self.necessities_of([row])[0]

    def predicted_labels_of(self, rows: Iterable[int]) -> list[str | None]:
        """The likeliest label of each row, as :meth:`predicted_label` has it."""
        names = (*self.classes, None)  # the last is that of `UNKNOWN`
        return [names[place] for place in self._values(self.predicted, rows, UNKNOWN)]

    def necessities_of(self, rows: Iterable[int]) -> list[float]:
        """The necessity of the likeliest label of each row, as :meth:`necessity_of` has it."""
        return self._values(self.necessity, rows, 0.0)

    def chances_of(self, rows: Iterable[int]) -> list[float | None]:
        """The model's probability of the likeliest label of each row; None where there is none."""
        found = self._values(np.where(self.predicted == UNKNOWN, np.nan, self.chance), rows, np.nan)
        return [None if np.isnan(one) else one for one in found]

    def _values(self, values: NDArray[Any], rows: Iterable[int], missing: float) -> list[Any]:
        """What is known of each row, by an array that follows `looked_at`."""
        wanted = np.fromiter(rows, dtype=np.intp)
        at = np.searchsorted(self.looked_at, wanted).clip(max=max(len(self.looked_at) - 1, 0))
        if not len(self.looked_at):
            return [missing] * len(wanted)
        is_there = self.looked_at[at] == wanted
        return np.where(is_there, values[at], missing).tolist()


def overview_sample(rows: int, seed: int) -> Places:
    """Uniform random sample of rows that stands for a pool on the map."""
    return np.random.default_rng(seed).permutation(rows)[:OVERVIEW_SAMPLE]
