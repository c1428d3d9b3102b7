"""Bounds of a score that is slow to work out, from a table of its values.

    table = Table.of(score, largest)        table.bound(belief) >= score(belief)

Where a score never falls with the variance of the only latent, nor rises as its mean leaves zero,
its value at one corner of a cell is not exceeded anywhere in the cell.
"""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from possibal.arrays import Vector
from possibal.belief import Belief
from possibal.scoring import Score

MEANS, DEVIATIONS = 192, 512
"""Cells of a table: of equal width in the size of the mean, and in the standard deviation."""
FARTHEST = 3.0
"""The largest mean of a table, in largest standard deviations; beyond it, its last line holds."""
_ROUNDING = 1e-6
"""By how much values are raised, since they are kept in single precision."""


@dataclass(frozen=True, eq=False)
class Table:
    """Values of a score for one latent, at the corners of cells where they are largest.

    Attributes:
        values: means first, then deviations, in one line.
        per_mean, per_deviation: cells in a unit of each.
    """

    values: NDArray[np.float32]
    per_mean: float
    per_deviation: float

    @classmethod
    def of(cls, score: Score, largest: float) -> "Table":
        """The table of a score for standard deviations up to the largest; kept for later."""
        return _made(score, largest)

    def bound(self, belief: Belief) -> Vector:
        """What the score of no row exceeds; for one latent and one hypothesis."""
        mean = np.abs(belief.mean[0])
        mean *= self.per_mean
        line = np.minimum(mean, MEANS - 1.0, out=mean).astype(np.int32)
        deviation = np.sqrt(belief.variance[0])
        deviation *= self.per_deviation
        cell = np.minimum(deviation, DEVIATIONS - 1.0, out=deviation).astype(np.int32)
        line *= DEVIATIONS
        line += cell
        return self.values.take(line)


@functools.lru_cache(maxsize=8)
def _made(score: Score, largest: float) -> Table:
    """A table, from the score at the smallest mean and the largest deviation of each cell."""
    means = np.arange(MEANS) * (FARTHEST * largest / MEANS)
    deviations = np.arange(1, DEVIATIONS + 1) * (largest / DEVIATIONS)
    mean, deviation = (one.ravel() for one in np.meshgrid(means, deviations, indexing="ij"))
    exact = score(mean, deviation * deviation * (1.0 + _ROUNDING))
    values = (exact * (1.0 + _ROUNDING) + np.finfo(np.float32).tiny).astype(np.float32)
    return Table(values, MEANS / (FARTHEST * largest), DEVIATIONS / largest)
