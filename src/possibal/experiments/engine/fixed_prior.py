"""The fixed kernel and mean of a recipe on a data set: length-scale, and mean by its rule."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import pdist, squareform

from possibal.arrays import Matrix
from possibal.experiments.datasets import Dataset, coded_one
from possibal.experiments.recipes import REGRESSION, FixedKernel
from possibal.experiments.splits import scaled
from possibal.gp.means import ZERO, ConstantMean

NOISE = 0.1
"""Variance of the noise of labels in that regression, as a share of the amplitude."""
MOST_ROWS = 2000
"""Rows that distances are taken between; of more, the first."""


@dataclass(frozen=True)
class FixedPrior:
    """Hyperparameters that stay as they are.

    Attributes:
        theta: logarithms of amplitude and length-scale.
        mean: of every row.
    """

    theta: tuple[float, float]
    mean: ConstantMean


def fixed_prior(kernel: FixedKernel, data: Dataset) -> FixedPrior:
    """The kernel with the length-scale and the mean that its rules give a set.

    Rows of a block do not count: nine in ten of its set, they lie closer than what is to be learnt.
    """
    rows = np.setdiff1d(np.arange(len(data.y)), data.block)[:MOST_ROWS]
    distances = pdist(scaled(data.X, data.X)[rows])
    length = kernel.share * float(np.median(distances))
    theta = float(np.log(kernel.amplitude)), float(np.log(length))
    if len(data.labels) > 2 or kernel.mean == 0:  # noqa: PLR2004 - a common mean tells no labels apart
        return FixedPrior(theta, ZERO)
    one = coded_one(data)
    level = kernel.mean
    if kernel.rule == REGRESSION:
        K = np.exp(-0.5 * squareform(distances / length) ** 2)
        level *= regression_mean(K, data.y[rows] == one)
    return FixedPrior(theta, ConstantMean((level if one == 1 else -level,)))


def regression_mean(correlations: Matrix, y: NDArray[np.bool_]) -> float:
    """The constant mean of largest likelihood in a regression on labels 0 and 1.

    Paper: none; generalised least squares, 1'(K + noise)^-1 y / 1'(K + noise)^-1 1.

    Args:
        correlations: (n, n), of the rows.
        y: (n,), whether each has the label coded 1.
    """
    factor = cho_factor(correlations + NOISE * np.eye(len(y)))
    weights = cho_solve(factor, np.ones(len(y)))
    return float(weights @ y / weights.sum())
