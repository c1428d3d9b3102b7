"""The median heuristic for length-scales, with inverse-density weights; near-duplicates.

Many rows that are nearly copies of each other have most of the pairs and would shrink the median
distance. So each pair is weighted by the inverse of a kernel density estimate at both its ends.
"""

import numpy as np
from scipy.spatial.distance import pdist, squareform

from possibal.arrays import Matrix, Places, Vector
from possibal.numerics.linalg import one_thread

WIDTH = 0.2
"""Bandwidth of the density estimate, as a share of the usual distance of two rows."""
REACH = 0.9
"""Least width of coverage, as a share of the median distance to the nearest other row."""
RIGHT_ANGLE = float(np.sqrt(2.0))
"""Distance of two directions at right angles, as most are in many dimensions."""
_COPIES = 1e-13
"""Squared distances below this share of the squared lengths of both rows are rounding."""
_MOST_ROWS, _COMPARED = 20_000, 250
"""Rows that are read, and distinct ones that are compared; of more, evenly spaced ones."""


def similarity(distances: Matrix, width: float) -> Matrix:
    """Gaussian kernel of distances, from zero to one.

    Paper: none.
    """
    with np.errstate(over="ignore"):  # not at all, where the square is beyond all numbers
        return np.exp(-0.5 * (distances / width) ** 2)


def distances_between(X: Matrix, Z: Matrix) -> Matrix:
    """Euclidean distances between rows, (m, k), by one matrix product.

    In many columns that is several times as fast as the sum of squared differences. What is lost
    is below 3e-7 of the length of a row; distances as small are zero, so that copies stay copies.

    Paper: none.
    """
    with one_thread():
        squares = X @ Z.T
    sizes = np.add.outer(np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Z, Z))
    squares *= -2.0
    squares += sizes
    squares[squares < _COPIES * sizes] = 0.0
    return np.sqrt(squares, out=squares)


def near_duplicate_width(X: Matrix) -> float:
    """Bandwidth within which rows count as near-duplicates."""
    return WIDTH * usual_distance(X)


def coverage_width(distances: Matrix, width: float) -> float:
    """Kernel width of coverage: the width given, or more where no row has a neighbour within it.

    In many columns the nearest row is nearly as far as any other. So the width is at least a share
    of the median distance to the nearest other row.

    Paper: none.
    """
    apart = (distances > 0) & np.isfinite(distances)
    nearest = np.where(apart, distances, np.inf).min(axis=1, initial=np.inf)[apart.any(axis=1)]
    return max(width, REACH * float(np.median(nearest))) if len(nearest) else width


def usual_distance(X: Matrix) -> float:
    """Median distance of two distinct rows, each pair weighted by the inverse density at its ends.

    The density is a kernel estimate whose bandwidth is a share of the plain median distance. Where
    all rows are one, it is sqrt(2 d), about the distance of two rows whose columns have variance
    one.

    Paper: none; the median heuristic with inverse-density weights.
    """
    rows = _spread(np.unique(_spread(X, _MOST_ROWS), axis=0), _COMPARED)
    unit = float(np.abs(rows).max(initial=0.0))
    distances = pdist(rows / unit) if len(rows) > 1 else np.empty(0)
    if not (distances > 0).any():
        return float(np.sqrt(2 * X.shape[1]))
    counts, order = (distances > 0).astype(float), np.argsort(distances)
    median = _weighted_median(distances, counts, order)
    few = 1.0 / similarity(squareform(distances), WIDTH * median).sum(axis=1)
    weights = counts * squareform(np.outer(few, few), checks=False)
    usual = _weighted_median(distances, weights, order) * unit
    limits = np.finfo(float)
    return float(np.clip(usual, limits.tiny, limits.max / 4))


def directions(X: Matrix) -> Matrix:
    """Rows brought to length one, (m, d + 1); rows of zeros have the last column for themselves.

    Paper: none.
    """
    found = np.empty((len(X), X.shape[1] + 1), dtype=X.dtype if X.dtype.kind == "f" else float)
    size = np.abs(X).max(axis=1, initial=0.0, keepdims=True)  # so that no square overflows
    is_zero = size == 0
    unit = np.divide(X, np.where(is_zero, 1.0, size), out=found[:, :-1])
    unit /= np.where(is_zero, 1.0, np.sqrt(np.einsum("ij,ij->i", unit, unit))[:, None])
    found[:, -1:] = is_zero
    return found


def _weighted_median(values: Vector, counts: Vector, order: Places) -> float:
    """The least value that together with those below it has half of all counts."""
    running = np.cumsum(counts[order])
    return float(values[order[np.searchsorted(running, 0.5 * running[-1])]])


def _spread(X: Matrix, most: int) -> Matrix:
    """So many rows at most, evenly spaced."""
    return X if len(X) <= most else X[np.linspace(0, len(X) - 1, most).astype(int)]
