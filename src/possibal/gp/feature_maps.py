"""Feature maps: finitely many features of a row whose inner product is a kernel beside the RBF.

    ColumnCosines(centre, length, weight)      each column by itself: an additive kernel
    DiffusionColumns(count, length)            diffusion coordinates that the rows bring along

A sum of kernels is a sum of latent functions: one that is smooth in all columns together, and one
that is additive over columns, or that changes from cluster to cluster. The largest joint
credibility over all ways to split a latent into these parts is that of the sum of the kernels, so
that how much is of which kind need not be known (docs/similarity.md).

All features of a row have the same length, so that no row has a larger prior variance than another.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from possibal.arrays import Matrix

Kind: TypeAlias = type[np.floating[Any]]
"""Double or single precision."""
Features: TypeAlias = NDArray[Any]
"""(m, D), of a kind."""

HARMONICS = 4
"""Cosines of each column; an RBF of period 9 has no more."""
COARSE_HARMONICS, FINE_COLUMNS = 2, 30
"""Those of them that distances are measured by where there are more columns than this: they make
up nine tenths of the kernel, and take half the time."""
PERIOD = 9.0
"""Period of the cosines, in units of the column's length-scale."""
REACH = 3.0
"""Where columns saturate, in the same units: the farthest rows are two thirds of a period apart."""
MOST_ADDITIVE, COLUMNS_FOR_MOST = 2.0, 8
"""Weight of the additive part beside the RBF, and from how many columns on it has that."""
_ROUNDINGS = 64
"""Roundings of a feature in single precision: of an angle, its cosine and their multiples."""
_UNIT = 2.0**-24
"""Unit roundoff of single precision."""


class FeatureMap(Protocol):
    """Features of rows whose inner product is a kernel, to be added to an RBF.

    Paper: none; a sum of kernels (GPML Sec. 4.2.4), one of them of finite rank.
    """

    @property
    def weight(self) -> float:
        """The squared length of the features of any row: the part's variance, as a share.

        Paper: none.
        """
        ...

    @property
    def error(self) -> float:
        """How far off an inner product may be that was computed in single precision.

        Paper: none.
        """
        ...

    def leading(self, X: Matrix, /) -> Matrix:
        """The columns that the RBF reads."""
        ...

    def features(self, X: Matrix, /, kind: Kind = np.float64) -> Features:
        """(m, D), in double or single precision.

        Paper: none.
        """
        ...

    def coordinates(self, X: Matrix, /) -> Matrix:
        """Rows in the geometry of the sum: the columns in length-scales, and the features.

        For rows that are near each other the squared distance is the squared distance of their
        latents before any label, as a share of the amplitude: k(x, x) + k(z, z) - 2 k(x, z).

        Paper: none.
        """
        ...


@dataclass(frozen=True)
class ColumnCosines:
    """An additive kernel: the mean over columns of one that reads that column alone.

    Each column is taken from its centre, saturates at three of its length-scales (3 tanh(x/3)),
    and is compared by the cosines of an RBF on a circle of nine length-scales:
    sum_k c_k cos(2 pi k (u - v) / 9), c_k proportional to exp(-(2 pi k / 9)^2 / 2). The constant
    is left to the level. A column's length-scale is that of all divided by the square root of
    their number, at which as much of the usual distance of two rows lies in one column.

    Paper: none; additive Gaussian processes (Duvenaud, Nickisch & Rasmussen 2011), of first order.

    Attributes:
        centre: of each column.
        length: length-scale of all columns together.
        weight: of the part.
    """

    centre: tuple[float, ...]
    length: float
    weight: float

    def __repr__(self) -> str:
        """What it is, without the centre of every column."""
        return f"ColumnCosines({len(self.centre)} columns, weight={self.weight:.3g})"

    @property
    def error(self) -> float:
        """How far off an inner product in single precision may be.

        Paper: none.
        """
        return self.weight * _UNIT * (_ROUNDINGS + 2 * HARMONICS * len(self.centre))

    def leading(self, X: Matrix) -> Matrix:
        """All columns."""
        return X

    def features(self, X: Matrix, kind: Kind = np.float64) -> Features:
        """Cosines and sines of each column, (m, 8 d).

        Paper: none.
        """
        return self._cosines(X, kind, HARMONICS)

    def _cosines(self, X: Matrix, kind: Kind, harmonics: int) -> Features:
        """The first harmonics; those of multiples of an angle follow by Chebyshev's recurrence."""
        m, d = X.shape
        share = np.exp(-0.5 * (2.0 * np.pi / PERIOD * np.arange(1, harmonics + 1)) ** 2)
        root = np.sqrt(self.weight * share / (share.sum() * max(d, 1)))
        unit = self.length / np.sqrt(max(d, 1))
        with np.errstate(over="ignore"):  # the far end saturates
            off = ((X - np.array(self.centre)) / (REACH * unit)).astype(kind, copy=False)
        angle = np.tanh(off, out=off)
        angle *= kind(2.0 * np.pi / PERIOD * REACH)
        found = np.empty((m, 2 * harmonics, d), dtype=kind)
        cosine, sine = np.cos(angle), np.sin(angle)
        found[:, 0], found[:, 1] = cosine, sine
        for k in range(1, harmonics):
            found[:, 2 * k] = cosine * found[:, 2 * k - 2] - sine * found[:, 2 * k - 1]
            found[:, 2 * k + 1] = sine * found[:, 2 * k - 2] + cosine * found[:, 2 * k - 1]
        found *= np.repeat(root, 2).astype(kind)[:, None]
        return found.reshape(m, 2 * harmonics * d)

    def coordinates(self, X: Matrix) -> Matrix:
        """The columns in length-scales, and their cosines, of many columns the leading ones.

        Paper: none.
        """
        harmonics = HARMONICS if X.shape[1] <= FINE_COLUMNS else COARSE_HARMONICS
        return np.hstack([X / self.length, self._cosines(X, np.float64, harmonics)])


@dataclass(frozen=True)
class DiffusionColumns:
    """Diffusion coordinates that stand in the last columns of a row; the RBF reads the others.

    Paper: none; a kernel on the pool's graph (Kondor & Lafferty 2002), here of a walk's few steps,
    see :mod:`possibal.numerics.diffusion`.

    Attributes:
        count: how many columns there are of them, each row of length one.
        length: length-scale of the other columns.
        weight: of the part.
    """

    count: int
    length: float
    weight: float = 1.0

    def __repr__(self) -> str:
        """What it is."""
        return f"DiffusionColumns({self.count} columns, weight={self.weight:.3g})"

    @property
    def error(self) -> float:
        """How far off an inner product in single precision may be.

        Paper: none.
        """
        return self.weight * _UNIT * (_ROUNDINGS + self.count)

    def leading(self, X: Matrix) -> Matrix:
        """All columns but the coordinates."""
        return X[:, : X.shape[1] - self.count]

    def features(self, X: Matrix, kind: Kind = np.float64) -> Features:
        """The coordinates.

        Paper: none.
        """
        coordinates = X[:, X.shape[1] - self.count :].astype(kind, copy=False)
        return coordinates * kind(np.sqrt(self.weight))

    def coordinates(self, X: Matrix) -> Matrix:
        """The other columns in length-scales, and the coordinates.

        Paper: none.
        """
        return np.hstack([self.leading(X) / self.length, self.features(X)])


@dataclass(frozen=True)
class NoFeatures:
    """No features: the RBF stands alone.

    Paper: App. E, the RBF kernel of the experiments.
    """

    weight: float = 0.0
    error: float = 0.0

    def leading(self, X: Matrix) -> Matrix:
        """All columns."""
        return X

    def features(self, X: Matrix, kind: Kind = np.float64) -> Features:
        """None.

        Paper: none.
        """
        return np.empty((len(X), 0), dtype=kind)

    def coordinates(self, X: Matrix) -> Matrix:
        """The rows as they are.

        Paper: none.
        """
        return X


NO_FEATURES = NoFeatures()


def without_features(feature_map: FeatureMap) -> FeatureMap:
    """The map that leaves all to the RBF, which still does not read diffusion coordinates.

    Paper: none.
    """
    if isinstance(feature_map, DiffusionColumns):
        return replace(feature_map, weight=0.0)
    return NO_FEATURES


def additive_weight(columns: int) -> float:
    """Weight of the additive part: an RBF of one or two columns sees as much by itself.

    Paper: none; chosen in docs/similarity.md.
    """
    return MOST_ADDITIVE * min(1.0, columns / COLUMNS_FOR_MOST)
