"""Hold-out evaluation: Wilson intervals of an accuracy, and labels saved against random sampling.

wilson_interval(right, n) -> (low, high)        saving(X, labels, right, answers) -> MeasuredSaving
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from possibal.arrays import Matrix
from possibal.belief import leading_labels
from possibal.numerics.geometry import PLAIN, RowGeometry

FEWEST = 20
"""With fewer check rows nothing can be said about what was saved."""
DRAWS = 12
"""How often check rows are drawn to learn from, at each size."""
SIZES = (5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240)
"""How many are drawn."""
SHARE = 0.75
"""At most this share of them, so that some are left to test on."""
Z95 = 1.959963984540054
"""Standard deviations that hold 95 % of a normal distribution."""


@dataclass(frozen=True)
class MeasuredSaving:
    """What asking saved against asking at random.

    Attributes:
        answers: that the model learnt from.
        accuracy: of the model on the check rows.
        reached: by models of so many random rows, in pairs of size and mean accuracy.
    """

    answers: int
    accuracy: float
    reached: tuple[tuple[int, float], ...]

    @property
    def equal(self) -> int | None:
        """The fewest random answers that did as well; None if none did."""
        return next((size for size, mean in self.reached if mean >= self.accuracy), None)

    @property
    def sentence(self) -> str:
        """What was saved, in words, or why it cannot be told."""
        most, best = self.reached[-1]
        ours = f"These {self.answers} answers reach {self.accuracy:.0%}"
        if self.equal is not None and self.equal <= self.answers:
            return f"{ours}; {self.equal} random ones do as well. No saving can be seen."
        if self.equal is not None:
            return f"{ours}; about {self.equal} random ones would be needed."
        if most >= self.answers:
            return f"{ours}; {most} random ones only {best:.0%}."
        return f"{ours}, and {most} random ones {best:.0%}. More check rows would tell more."


def wilson_interval(right: int, n: int) -> tuple[float, float]:
    """Wilson score interval of a share at 95 % confidence, after so many of n were right.

    Paper: none; Wilson (1927).
    """
    share, z2 = right / n, Z95 * Z95
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def saving(
    X: Matrix,
    labels: Sequence[str],
    right: int,
    answers: int,
    geometry: RowGeometry = PLAIN,
) -> MeasuredSaving | None:
    """What asking saved, judged by rows drawn at random; None where they are too few.

    A model that learns from some of the check rows is one that asked at random; the others test
    it. The model in use is tested on all of them.

    Args:
        X: the check rows.
        labels: their labels.
        right: how many of them the model in use predicts.
        answers: that it learnt from.
        geometry: how the model compares rows.
    """
    n = len(labels)
    if n < FEWEST or len(set(labels)) < 2:  # noqa: PLR2004 - a choice needs two
        return None
    sizes = [size for size in SIZES if size <= SHARE * n]
    reached = tuple((size, _random(X, labels, size, geometry)) for size in sizes)
    return MeasuredSaving(answers, right / n, reached)


def _random(X: Matrix, labels: Sequence[str], size: int, geometry: RowGeometry) -> float:
    """Repeated random sub-sampling: mean accuracy of models of so many rows, on the others."""
    y, means = np.array(labels), list[float]()
    # Late, for scikit-learn takes a second to import and intervals need none of it.
    from possibal.estimators.classifier import PossibilisticGPClassifier, with_geometry
    from possibal.numerics.distances import usual_distance

    classes, usual = np.unique(y), usual_distance(X)
    for draw in range(DRAWS):
        rows = np.random.default_rng([size, draw]).permutation(len(y))
        learnt, tested = rows[:size], rows[size:]
        plain = PossibilisticGPClassifier(classes=classes, usual_distance=usual)
        model = with_geometry(plain, geometry)
        model.fit(X[learnt], y[learnt])
        predicted = model.classes_[leading_labels(model.belief(X[tested]))]
        means.append(float(np.mean(predicted == y[tested])))
    return float(np.mean(means))
