"""Prediction: latent means and variances at other rows, as fast as matrix products allow.

    predictor.at(X) -> Belief       predictor.lazy_moments(X).mean, .variance(rows)

A predictor is a posterior once all that concerns the training rows alone has been worked out: alpha
and the factor R with R R' = (K + W^-1)^-1. It can be pickled, and is the same for every kernel and
likelihood.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import Belief
from possibal.gp.kernels import KernelColumn
from possibal.gp.means import ZERO, MeanFunction
from possibal.gp.prior import CrossCovariance
from possibal.numerics.linalg import one_thread, square_norms

CHUNK = 100_000
"""Covariances held at once when rows are predicted: small enough for the cache."""
WIDER = 4
"""In single precision so many times as many: it is so fast that Python's own time counts."""
FEWEST = 64
"""Rows predicted together at least."""
_FLOOR = 1e-13
"""A variance below this share of the prior's is rounding."""
_TINY = 1e-300
"""Where the prior's variance is zero, so that a belief has one."""


@dataclass(frozen=True, eq=False)
class Predictor:
    """Predictor of S settings and P processes: mean and variance at other rows, one GEMM each.

    Paper: Props. 6 to 8, mu_t and the diagonal of Sigma_t.

    Attributes:
        cross_covariance: of the prior with the n training rows.
        a: (S, P, n): the posterior mean is m + K_t a.
        root: upper triangular, (S, n, n): R R' is P, or the inverse of the sum of E.
        inner: (S, P, n, n), blocks of P under a softmax; None where each row has one latent.
        scale: what turns latents into those of a probit.
        credibility: (S,), of each setting.
        mean: prior mean m of every setting.
    """

    cross_covariance: CrossCovariance
    a: Array
    root: Array
    inner: Array | None
    scale: float
    credibility: Vector
    mean: MeanFunction = ZERO

    @property
    def rows(self) -> int:
        """Rows predicted together, so that their covariances stay in the cache."""
        numbers = CHUNK if self.a.dtype == np.float64 else WIDER * CHUNK
        return max(FEWEST, numbers // max(self.a.shape[2], 1))

    def single(self) -> "Predictor":
        """The same in single precision, where the kernel has it; twice as fast, or more."""
        return replace(
            self,
            cross_covariance=self.cross_covariance.single(),
            a=self.a.astype(np.float32),
            root=self.root.astype(np.float32),
        )

    def blocks(self, m: int) -> Iterator[slice]:
        """Slices of m rows, as many at a time as are predicted together."""
        return (slice(start, start + self.rows) for start in range(0, m, self.rows))

    def columns(self, X: Matrix) -> Iterator[tuple[slice, KernelColumn]]:
        """Covariances with the training rows, chunk by chunk."""
        with one_thread():
            for part in self.blocks(len(X)):
                for column in self.cross_covariance.columns(X[part]):
                    yield part, column

    def lazy_moments(self, X: Matrix) -> "LazyMoments":
        """The means of rows, and what their variances take; BLAS keeps its threads."""
        columns = list(self.cross_covariance.columns(X))
        mean, prior = np.empty((2, *self.a.shape[:2], len(X)))
        for one in columns:
            place = one.member, one.processes
            mean[place] = one.scale * (one.matrix @ self.a[place].T).T
            prior[place] = one.variance
        if not self.mean.is_zero:
            mean += self.mean.at(X)
        return LazyMoments(self, columns, mean, prior)

    def moments(self, X: Matrix) -> tuple[Array, Array]:
        """Latent means and variances of rows, (S, P, m) each.

        Rows are taken in chunks, so that memory does not grow with m^2 or with m n.

        Paper: Props. 6 to 8, mu_t and the diagonal of Sigma_t.
        """
        shape = (*self.a.shape[:2], len(X))
        mean, variance = np.empty(shape), np.empty(shape)
        with one_thread():
            for part in self.blocks(len(X)):
                some = self.lazy_moments(X[part])
                mean[..., part], variance[..., part] = some.mean, some.variance()
        return mean, variance

    def at(self, X: Matrix) -> Belief:
        """The belief about rows: one hypothesis for each setting.

        A logistic latent is put on the probit's scale, which the scores read.

        Paper: Props. 6 to 8, N(g_t; mu_t, Sigma_t) at each row by itself.
        """
        return Belief(*self.read(*self.moments(X)), self.credibility)

    def read(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Latent moments, (S, P, m) each, as a belief has them.

        Paper: Sec. 4.2.
        """
        if self.inner is None:
            mean, variance = mean[:, 0], variance[:, 0]
        else:
            mean, variance = np.swapaxes(mean, 1, 2), np.swapaxes(variance, 1, 2)
        if self.scale == 1.0:
            return mean, variance
        return self.scale * mean, self.scale * self.scale * variance

    def explained(self, s: int, p: int, matrix: Matrix) -> Vector:
        """Explained variance k' P k of rows, with k a line of matrix."""
        if self.inner is None:
            return square_norms(matrix, self.root[s])
        return np.einsum("ij,ij->i", matrix @ self.inner[s, p], matrix)


@dataclass(frozen=True, eq=False)
class LazyMoments:
    """Means of rows, with variances that are worked out when asked for.

    Attributes:
        predictor: whose moments they are.
        columns: covariances with the training rows.
        mean: (S, P, m).
        prior: (S, P, m), the variances before any label, which no label raises.
    """

    predictor: Predictor
    columns: list[KernelColumn]
    mean: Array
    prior: Array

    def variance(self, rows: Places | None = None) -> Array:
        """The variances of some rows or of all, (S, P, number of them).

        Paper: Props. 6 to 8, the diagonal of Sigma_t.
        """
        some = slice(None) if rows is None else rows
        prior = self.prior[..., some]
        left = prior.copy()
        for one in self.columns:
            matrix, square = one.matrix[some], one.scale * one.scale
            for p in range(prior.shape[1])[one.processes]:
                left[one.member, p] -= square * self.predictor.explained(one.member, p, matrix)
        return np.maximum(left, _FLOOR * prior + _TINY, out=left)
