"""Prior of linear functions with an unknown intercept: rows may be sparse, and are many cheaply.

    LinearPrior.of(ConstantKernel(2.0) * DotProduct(1.0, "fixed"), thetas) -> LinearPrior

A linear function whose weights have independent Gaussian possibility functions is a Gaussian
process whose covariances are inner products. So Laplace's method, predictions and covariances are
those of any other kernel; what differs is that rows need not be dense, and that with more labels
than columns predictions are cheaper by weights (weight_space.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Product

from possibal.arrays import Array, Matrix, Vector
from possibal.gp.kernels import Kernel, KernelColumn, finite_covariances
from possibal.gp.means import ZERO, MeanFunction
from possibal.numerics.batched import Batched
from possibal.numerics.sparse_rows import inner_products, squared_lengths


@dataclass(frozen=True, eq=False)
class LinearPrior(Batched):
    """Prior with kernel amplitude * (<x, z> + intercept), S times.

    Paper: Sec. 5.2, with k(x, z) = x' A z for weights described by N(0, A).

    Attributes:
        kernel: the kernel as it was given.
        amplitude: (S,), prior variance of each weight, one over its precision.
        intercept: prior variance of the intercept as a multiple of that.
        thetas: (S, p), logarithms of the free hyperparameters.
        mean: prior mean of every setting.
    """

    kernel: Kernel
    amplitude: Vector
    intercept: float
    thetas: Matrix
    mean: MeanFunction = ZERO

    @classmethod
    def of(cls, kernel: Kernel, thetas: Matrix, mean: MeanFunction = ZERO) -> "LinearPrior | None":
        """The settings, if the kernel is a constant times a DotProduct of fixed sigma_0.

        Paper: Sec. 5.2.
        """
        parts = _parts(kernel)
        if parts is None:
            return None
        constant, product = parts
        amplitude = np.full(len(thetas), float(constant.constant_value))
        if thetas.shape[1]:
            amplitude = np.exp(thetas[:, 0])
        return cls(kernel, amplitude, float(product.sigma_0) ** 2, thetas, mean)

    @property
    def name(self) -> str:
        """The kernel as scikit-learn writes it."""
        return f"kernel {self.kernel}"

    def __len__(self) -> int:
        """The number of settings."""
        return len(self.amplitude)

    def settings(self) -> list[list[Kernel]]:
        """The kernel of every setting."""
        return [[self.kernel.clone_with_theta(row)] for row in self.thetas]

    def gram(self, X: Matrix, /) -> Array:
        """Gram matrices of the training rows.

        Paper: Prop. 6, K.
        """
        K = inner_products(X, X) + self.intercept
        return finite_covariances(self.name, self.amplitude[:, None, None] * (0.5 * (K + K.T)))[
            :, None
        ]

    def slopes(self, X: Matrix, sensitivity: Array, /) -> Matrix:
        """Derivatives by theta of a function of the covariances: K itself, summed against theirs.

        Paper: none; GPML Eq. 5.21.
        """
        if not self.thetas.shape[1]:
            return np.empty_like(self.thetas)
        return np.einsum("spij,sij->s", sensitivity, self.gram(X)[:, 0])[:, None]

    def cross_covariance(self, X: Matrix, /) -> "LinearCrossCovariance":
        """The cross-covariances with training rows, ready for any other rows.

        Paper: Prop. 6, K_t.
        """
        return LinearCrossCovariance(self, X)

    def coordinates(self, X: Matrix, /) -> Matrix:
        """The rows as they are: they are near if they are alike.

        Paper: none.
        """
        return X


@dataclass(frozen=True, eq=False)
class LinearCrossCovariance:
    """Inner products of rows with training rows, which all settings share.

    Paper: Prop. 6, K_t.

    Attributes:
        prior: whose covariances they are.
        X: (n, d), the training rows; or None, where rows stand for themselves as features: then a
            line has the columns of a row, and one for the intercept.
    """

    prior: LinearPrior
    X: Matrix | None

    def columns(self, X_t: Matrix, /) -> Iterator[KernelColumn]:
        """Covariances of other rows with the training rows, or their features.

        Paper: Prop. 6, K_t and the diagonal of K_tt.
        """
        prior = self.prior
        matrix = self.features(X_t) if self.X is None else inner_products(X_t, self.X)
        if self.X is not None:
            matrix = finite_covariances(prior.name, matrix + prior.intercept)
        alone = squared_lengths(X_t) + prior.intercept
        for s, amplitude in enumerate(prior.amplitude.tolist()):
            yield KernelColumn(s, slice(None), amplitude * alone, amplitude, matrix)

    def features(self, X: Matrix) -> Matrix:
        """Rows with the square root of the intercept's share as one more column, (m, d + 1).

        Paper: none.
        """
        last = np.full((len(X), 1), np.sqrt(self.prior.intercept))
        return np.hstack([X, last])

    def single(self) -> "LinearCrossCovariance":
        """The same: inner products keep to double precision."""
        return self

    @property
    def largest(self) -> float:
        """The largest prior variance of a row, which grows with its length."""
        return np.inf


def _parts(kernel: object) -> tuple[Any, Any] | None:
    """The constant and the DotProduct of a kernel that is their product; None if it is not."""
    if not isinstance(kernel, Product):
        return None
    pair = (kernel.k1, kernel.k2)
    if not isinstance(pair[0], ConstantKernel):
        pair = pair[::-1]
    constant, product = pair
    if not isinstance(constant, ConstantKernel) or type(product) is not DotProduct:
        return None
    return (constant, product) if product.hyperparameter_sigma_0.fixed else None
