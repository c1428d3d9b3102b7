"""How far rows usually are from each other, and which are alike.

A crowd, many rows that are nearly copies of each other, has most of the pairs of rows and says
nothing about the others. So distances are weighed by how few are like the rows they lie between.
"""

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform

from possibal.arrays import Matrix, Vector

WIDTH = 0.2
"""Of the kernel that tells which rows are alike, as a share of the usual distance of two rows."""
_MOST_ROWS, _COMPARED = 20_000, 250
"""Rows that are looked at, and distinct ones that are compared; of more, evenly spread ones."""


def alike(X: Matrix, Z: Matrix, usual: float) -> Matrix:
    """How much rows are like others, from zero to one.

    Paper: none; a Gaussian kernel.
    """
    return _fallen(cdist(X, Z), usual)


def _fallen(distances: Matrix, usual: float) -> Matrix:
    """How much rows at these distances are alike; not at all where one is beyond all numbers."""
    with np.errstate(over="ignore"):
        return np.exp(-0.5 * (distances / (WIDTH * usual)) ** 2)


def usual_distance(X: Matrix) -> float:
    """The usual distance between two distinct rows, a crowd counting no more than a few of them.

    It is the median of all distances, each counted by one over the number of rows that are like
    either row; which rows are alike is told by the plain median. Where all rows are one, it is
    sqrt(2 d), about the distance of two rows whose columns have variance one.

    Paper: none; the median rule, for places in place of rows.
    """
    rows = _spread(np.unique(_spread(X, _MOST_ROWS), axis=0), _COMPARED)
    unit = float(np.abs(rows).max(initial=0.0))
    distances = pdist(rows / unit) if len(rows) > 1 else np.empty(0)
    if not (distances > 0).any():
        return float(np.sqrt(2 * X.shape[1]))
    counts = (distances > 0).astype(float)
    median = _weighted_median(distances, counts)
    few = 1.0 / _fallen(squareform(distances), median).sum(axis=1)
    weights = counts * squareform(np.outer(few, few), checks=False)
    return min(_weighted_median(distances, weights) * unit, float(np.finfo(float).max) / 4)


def _weighted_median(values: Vector, counts: Vector) -> float:
    """The least value that together with those below it has half of all counts."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(counts[order])
    return float(values[order[np.searchsorted(running, 0.5 * running[-1])]])


def _spread(X: Matrix, most: int) -> Matrix:
    """So many rows at most, evenly spread over all."""
    return X if len(X) <= most else X[np.linspace(0, len(X) - 1, most).astype(int)]
