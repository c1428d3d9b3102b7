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
