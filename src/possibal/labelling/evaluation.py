"""Hold-out evaluation: accuracy, confusion matrix, and what asking at random would have reached.

confusion(pairs, classes) -> ConfusionMatrix
random_curve(X, labels) -> RandomCurve          saving_sentence(own, random, checked) -> str
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from possibal.arrays import Matrix
from possibal.belief import leading_labels
from possibal.campaign.learning_curve import Z95, CurvePoint, wilson_interval
from possibal.numerics.geometry import PLAIN, RowGeometry

FEWEST = 20
"""With fewer check rows nothing can be said about what was saved."""
DRAWS = 12
"""How often check rows are drawn to learn from, at each size."""
SIZES = (5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240)
"""How many are drawn."""
SHARE = 0.75
"""At most this share of them, so that some are left to test on."""


@dataclass(frozen=True)
class RandomCurve:
    """What asking at random reaches.

    Attributes:
        reached: by models of so many random rows, in pairs of size and mean accuracy.
    """

    reached: tuple[tuple[int, float], ...]

    @property
    def most(self) -> int:
        """The largest size that was tried."""
        return self.reached[-1][0]

    def at(self, size: int) -> float:
        """The accuracy of so many random rows, between those that were tried."""
        sizes, means = zip(*self.reached, strict=True)
        return float(np.interp(size, sizes, means))

    def equal(self, accuracy: float) -> int | None:
        """The fewest random rows that do as well; None if none did."""
        return next((size for size, mean in self.reached if mean >= accuracy), None)


@dataclass(frozen=True)
class Share:
    """A share of some rows, with its 95 % interval; there are none where it is not known."""

    right: int
    rows: int

    @property
    def value(self) -> float | None:
        """The share itself."""
        return self.right / self.rows if self.rows else None

    @property
    def interval(self) -> tuple[float, float]:
        """Where it is likely to lie; anywhere if there are no rows."""
        return wilson_interval(self.right, self.rows) if self.rows else (0.0, 1.0)


@dataclass(frozen=True)
class ConfusionMatrix:
    """Which classes are taken for which, on the check rows.

    Attributes:
        classes: all there are.
        counts: of rows by the place of their label, then by that of the predicted one.
    """

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def accuracy(self) -> Share:
        """Rows whose label is predicted."""
        right = sum(row[place] for place, row in enumerate(self.counts))
        return Share(right, sum(map(sum, self.counts)))

    def recall(self, place: int) -> Share:
        """Rows of a class that are predicted to be of it."""
        return Share(self.counts[place][place], sum(self.counts[place]))

    def precision(self, place: int) -> Share:
        """Rows predicted to be of a class that are of it."""
        return Share(self.counts[place][place], sum(row[place] for row in self.counts))


@dataclass(frozen=True)
class MemberScores:
    """How well one class is told of rows that may have several.

    Attributes:
        label: the class.
        both: rows that have it and for which it is predicted.
        missed: rows that have it and for which it is not.
        wrong: rows that do not have it and for which it is.
        rows: in all.
    """

    label: str
    both: int
    missed: int
    wrong: int
    rows: int

    @property
    def recall(self) -> Share:
        """Rows with the class for which it is predicted."""
        return Share(self.both, self.both + self.missed)

    @property
    def precision(self) -> Share:
        """Rows for which the class is predicted that have it."""
        return Share(self.both, self.both + self.wrong)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None where no row has the class or is taken for it."""
        either = 2 * self.both + self.missed + self.wrong
        return 2 * self.both / either if either else None


@dataclass(frozen=True)
class LabelSetScores:
    """How well rows that may have several classes are told.

    Attributes:
        whole: rows of which the whole set is predicted (subset accuracy).
        decisions: of rows and classes, those that are told rightly: one minus the Hamming loss.
        members: each class by itself.
    """

    whole: Share
    decisions: Share
    members: tuple[MemberScores, ...]


def label_set_scores(
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]], classes: Sequence[str]
) -> LabelSetScores:
    """The scores of rows, given as pairs of their classes and those predicted."""
    told = [(set(true), set(said)) for true, said in pairs]
    members = tuple(
        MemberScores(
            name,
            sum(name in true and name in said for true, said in told),
            sum(name in true and name not in said for true, said in told),
            sum(name not in true and name in said for true, said in told),
            len(told),
        )
        for name in classes
    )
    faults, decisions = sum(one.missed + one.wrong for one in members), len(told) * len(classes)
    whole = Share(sum(true == said for true, said in told), len(told))
    return LabelSetScores(whole, Share(decisions - faults, decisions), members)


def confusion(pairs: Iterable[tuple[str, str]], classes: Sequence[str]) -> ConfusionMatrix:
    """The confusion matrix of rows, given as pairs of label and predicted label."""
    counted = Counter(pairs)
    counts = tuple(tuple(counted[true, said] for said in classes) for true in classes)
    return ConfusionMatrix(tuple(classes), counts)


def saving_sentence(own: Sequence[CurvePoint], random: RandomCurve, checked: int) -> str | None:
    """What asking saved against asking at random, at equal numbers of labels, in words.

    Random rows are taken from the check rows, so there are seldom as many as answers: then both
    are compared as they were after as many answers as there are random rows.

    Args:
        own: accuracies after so many answers, in their order.
        random: what random rows reach.
        checked: how many check rows both were tested on.
    """
    labels = min(random.most, own[-1].answers) if own else 0
    if not own or labels < max(own[0].answers, random.reached[0][0]):
        return None
    ours = float(np.interp(labels, [one.answers for one in own], [one.accuracy for one in own]))
    theirs = random.at(labels)
    mean = (ours + theirs) / 2
    if ours - theirs <= Z95 * sqrt(mean * (1 - mean) / checked):
        return (
            f"With {labels} labels, rows drawn at random do about as well as those that were asked "
            f"about, as far as {checked} check rows can tell."
        )
    equal = random.equal(ours) if labels == own[-1].answers else None
    more = f" It takes about {equal} of them to do as well." if equal else ""
    return (
        f"With {labels} labels the model was right on {ours:.0%} of the check rows; with {labels} "
        f"rows drawn at random it would be on about {theirs:.0%}.{more}"
    )


def random_curve(
    X: Matrix, labels: Sequence[str], geometry: RowGeometry = PLAIN
) -> RandomCurve | None:
    """What asking at random reaches, told by the check rows; None where they are too few.

    A model that learns from some of the check rows is one that asked at random; the others test
    it.

    Args:
        X: the check rows.
        labels: their labels.
        geometry: how the model compares rows.
    """
    n = len(labels)
    if n < FEWEST or len(set(labels)) < 2:  # noqa: PLR2004 - a choice needs two
        return None
    sizes = [size for size in SIZES if size <= SHARE * n]
    return RandomCurve(tuple((size, _random(X, labels, size, geometry)) for size in sizes))


def _random(X: Matrix, labels: Sequence[str], size: int, geometry: RowGeometry) -> float:
    """Repeated random sub-sampling: mean accuracy of models of so many rows, on the others."""
    y, means = np.array(labels), list[float]()
    # Late, for scikit-learn takes a second to import and intervals need none of it.
    from possibal.estimators.classifier import (
        PossibilisticGPClassifier,
        unfitted,
        with_geometry,
        with_pool_scale,
    )

    plain = PossibilisticGPClassifier(classes=np.unique(y))
    scaled = with_pool_scale(with_geometry(plain, geometry), X)
    for draw in range(DRAWS):
        rows = np.random.default_rng([size, draw]).permutation(len(y))
        learnt, tested = rows[:size], rows[size:]
        model = unfitted(scaled).fit(X[learnt], y[learnt])
        predicted = model.classes_[leading_labels(model.belief(X[tested]))]
        means.append(float(np.mean(predicted == y[tested])))
    return float(np.mean(means))
