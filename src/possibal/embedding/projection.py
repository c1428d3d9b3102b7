"""Projection of embeddings: length one, centred by the pool, its principal axes, length one again.

fit_projection(vectors) -> Projection(centre, components)        projection.apply(vectors)
fit_directions(vectors) -> the same, which keeps directions alone where there are many axes

Nothing is whitened: axes of little variance are mostly noise, and stretching them to the length of
the others costs more than anything else that was tried.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from possibal.arrays import Array, Matrix, Vector

DIMENSIONS = 50
"""Principal axes that are kept at most."""
DENSE = 4
"""Matrices of up to so many times as many rows as axes are wanted are decomposed whole."""
MANY_AXES = 10
"""On so many axes rows are compared by direction; on few their lengths tell something, too."""
NOTHING = 1e-6
"""Less scatter than this along an axis is rounding."""


@dataclass(frozen=True, eq=False)
class Projection:
    """An affine map on the principal axes of a pool.

    Attributes:
        centre: (d,), the mean of the pool.
        components: (k, d), orthonormal axes, those of most variance first.
        is_spherical: whether coordinates are brought to length one.
    """

    centre: Vector
    components: Matrix
    is_spherical: bool = False

    def apply(self, vectors: Array) -> Matrix:
        """(n, k): coordinates along the axes."""
        found = (vectors - self.centre) @ self.components.T
        return unit_rows(found) if self.is_spherical else found


def fit_projection(vectors: Array, most: int = DIMENSIONS) -> Projection:
    """The mean and the principal axes of a pool (PCA); no axis where all rows are the same.

    Args:
        vectors: (n, d).
        most: axes that are kept.
    """
    centre = vectors.mean(axis=0)
    centred = vectors - centre
    if len(vectors) < vectors.shape[1]:
        scatter, found = _leading(centred @ centred.T, most)
        kept = found[:, scatter > NOTHING].T @ centred
        axes = kept / np.sqrt(scatter[scatter > NOTHING])[:, None]
    else:
        scatter, found = _leading(centred.T @ centred, most)
        axes = found[:, scatter > NOTHING].T
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)] if len(axes) else np.ones(0)
    return Projection(centre, axes * np.sign(largest)[:, None])  # the sign is free, and settled


def fit_directions(vectors: Array) -> Projection:
    """The projection of a pool's embeddings on the sphere; on few axes lengths are kept."""
    found = fit_projection(vectors)
    return replace(found, is_spherical=len(found.components) >= MANY_AXES)


def _leading(gram: Matrix, most: int) -> tuple[Vector, Matrix]:
    """The largest eigenvalues of a Gram matrix, descending, and their vectors in columns.

    Lanczos iterations where few of many are wanted: all of them take ten times as long.
    """
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackError, eigsh

    side = len(gram)
    if side > DENSE * most:
        with suppress(ArpackError):  # where many eigenvalues are zero it may not settle
            values, vectors = eigsh(gram, most, which="LA", v0=np.ones(side))
            return values[::-1], vectors[:, ::-1]
    values, vectors = eigh(gram, subset_by_index=[max(side - most, 0), side - 1])
    return values[::-1], vectors[:, ::-1]


def unit_rows(vectors: Array) -> Matrix:
    """Rows of length one; a row of zeros stays what it is."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)
