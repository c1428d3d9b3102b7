"""Lookup-table bound of the epistemic uncertainty U, which is slow to compute.

    table = UncertaintyTable.of(largest)        table.bound(mean, off, variance, credibility) >= U

The credibility of a label grows with the variance of the latent, and as its mean moves the label's
way. So its value at one corner of a cell of means and deviations is not exceeded anywhere in the
cell. U is the sum of both labels' credibilities, each the largest over the hypotheses, less one.
"""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from possibal.acquisition.suprema import probit_excess
from possibal.arrays import Matrix, Vector

MEANS, DEVIATIONS = 512, 512
"""Cells of a table: of equal width in the mean, and in the standard deviation."""
FARTHEST = 3.0
"""Means of a table reach so many largest standard deviations to either side."""
_ROUNDING = 1e-6
"""By how much values are raised, since they are kept in single precision."""


@dataclass(frozen=True, eq=False)
class UncertaintyTable:
    """The largest credibility in each cell of the label that a positive latent favours.

    Attributes:
        values: means first, then deviations, in one line.
        per_mean, per_deviation: cells in a unit of each.
    """

    values: NDArray[np.float32]
    per_mean: float
    per_deviation: float

    @classmethod
    def of(cls, largest: float) -> "UncertaintyTable":
        """The table for standard deviations up to the largest; kept for later."""
        return _made(largest)

    def bound(self, mean: Matrix, off: Matrix, variance: Matrix, credibility: Vector) -> Vector:
        """An upper bound on the U of each row, for one probit latent.

        Paper: Sec. 4.2, U^L_bin.

        Args:
            mean: (H, m).
            off: (H, m), bounds on the errors of the means.
            variance: (H, m), upper bounds.
            credibility: (H,), of each hypothesis.
        """
        most = np.zeros((2, mean.shape[1]), dtype=np.float32)
        for mu, error, sigma2, c in zip(mean, off, variance, credibility, strict=True):
            deviation = np.sqrt(sigma2)
            deviation *= self.per_deviation
            cell = np.minimum(deviation, DEVIATIONS - 1.0, out=deviation).astype(np.int32)
            for label, sign in enumerate((1.0, -1.0)):
                towards = sign * mu
                towards += error
                towards *= self.per_mean
                towards += 0.5 * MEANS
                line = np.clip(towards, 0.0, MEANS - 1.0, out=towards).astype(np.int32)
                line *= DEVIATIONS
                line += cell
                np.maximum(most[label], np.float32(c) * self.values.take(line), out=most[label])
        return most[0].astype(float) + most[1] - 1.0


@functools.lru_cache(maxsize=8)
def _made(largest: float) -> UncertaintyTable:
    """A table, from the largest mean and the largest deviation of each cell."""
    per_mean = MEANS / (2.0 * FARTHEST * largest)
    means = np.arange(1 - MEANS // 2, MEANS // 2 + 1, dtype=float) / per_mean
    deviations = np.arange(1, DEVIATIONS + 1) * (largest / DEVIATIONS)
    mean, deviation = np.repeat(means, DEVIATIONS), np.tile(deviations, MEANS)
    rival, leader = probit_excess(mean, deviation * deviation * (1.0 + _ROUNDING))
    credible = np.minimum(ndtr(mean) + np.where(mean > 0, leader, rival), 1.0)
    credible[-DEVIATIONS:] = 1.0  # the last line holds all means beyond it
    values = (credible + _ROUNDING).astype(np.float32)
    return UncertaintyTable(values, per_mean, DEVIATIONS / largest)
