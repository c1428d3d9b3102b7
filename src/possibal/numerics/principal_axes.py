"""The two principal axes of a pool, without SciPy: a map is drawn before that is loaded."""

import numpy as np

from possibal.arrays import Matrix


def principal_plane(X: Matrix, pool: Matrix) -> Matrix:
    """Scores of rows on the first two principal axes of a pool, (m, 2); no second where d is one.

    The largest entry of an axis is positive, so that the plane is not turned over when rows join.

    Paper: none; principal components.
    """
    mean = pool.mean(axis=0)
    centred = pool - mean
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :2]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    found = np.zeros((len(X), 2))
    found[:, : axes.shape[1]] = (X - mean) @ axes
    return found


def unit_plane(X: Matrix) -> Matrix:
    """Scores of a pool's rows on its first two principal axes, each scaled to 0 to 1, (m, 2).

    Paper: none; principal components.
    """
    plane = principal_plane(X, X)
    low, high = plane.min(axis=0), plane.max(axis=0)
    return (plane - low) / np.where(high > low, high - low, 1.0)
