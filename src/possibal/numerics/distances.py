"""How far rows usually are from each other, and which are alike.

A crowd, many rows that are nearly copies of each other, has most of the pairs of rows and says
nothing about the others. So distances are weighed by how few are like the rows they lie between.
"""

import numpy as np
from scipy.spatial.distance import pdist, squareform

from possibal.arrays import Matrix, Vector

WIDTH = 0.2
"""Of the kernel that tells which rows are alike, as a share of the usual distance of two rows."""
REACH = 0.6
"""How far a row's likeness reaches at least, as a share of the usual distance to the nearest."""
_MOST_ROWS, _COMPARED = 20_000, 250
"""Rows that are looked at, and distinct ones that are compared; of more, evenly spread ones."""


def similarity(distances: Matrix, width: float) -> Matrix:
    """How much rows at these distances are alike, from zero to one.

    Paper: none; a Gaussian kernel.
    """
    with np.errstate(over="ignore"):  # not at all, where the square is beyond all numbers
        return np.exp(-0.5 * (distances / width) ** 2)


def near_duplicate_width(X: Matrix) -> float:
    """How near rows of a crowd are to each other."""
    return WIDTH * usual_distance(X)


def coverage_width(distances: Matrix, width: float) -> float:
    """How far the likeness of rows must reach for one to stand for others: this width, or more.

    In many columns the nearest row is nearly as far as any other, and within a share of the usual
    distance there is nobody. So it is at least a share of the median distance to the nearest row
    that is another.

    Paper: none.
    """
    apart = (distances > 0) & np.isfinite(distances)
    nearest = np.where(apart, distances, np.inf).min(axis=1, initial=np.inf)[apart.any(axis=1)]
    return max(width, REACH * float(np.median(nearest))) if len(nearest) else width


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
    few = 1.0 / similarity(squareform(distances), WIDTH * median).sum(axis=1)
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
