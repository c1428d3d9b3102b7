"""Prior processes: what is believed of the latent before any label, as a stack of settings.

A prior is a kernel of scikit-learn with S settings of its hyperparameters. Where the kernel is a
constant times an RBF, all settings share the distances between rows, which are matrix products.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Product

from possibal.arrays import Array, Matrix, Vector

_LARGEST = 1e150
"""Coordinates are cut here, so that their squares stay finite."""
_SHARPEST = 1e300
"""The factor of squared distances is cut here: times zero it is zero, and not a number."""
_COARSE = 1e5
"""Squared distances by matrix products lose this many roundings at most; else they are summed."""


class Kernel(Protocol):
    """What we use of a scikit-learn kernel."""

    @property
    def theta(self) -> Vector:
        """Logarithms of the hyperparameters that are free."""
        ...

    @property
    def bounds(self) -> Matrix:
        """Bounds of theta."""
        ...

    def clone_with_theta(self, theta: Vector) -> Self:
        """The same kernel with other hyperparameters."""
        ...

    def __call__(
        self, X: Matrix, Y: Matrix | None = None, *, eval_gradient: bool = False
    ) -> Matrix:
        """The kernel matrix, or that and its derivatives by theta."""
        ...

    def diag(self, X: Matrix) -> Vector:
        """The diagonal of the kernel matrix."""
        ...


@dataclass(frozen=True, eq=False)
class Column:
    """Covariances of some rows with the rows seen, for one member of the stack.

    Attributes:
        member: place in the stack.
        processes: which processes have these covariances.
        variance: (m,), prior variances of the rows.
        scale: the covariances are scale times matrix.
        matrix: (m, n), to be read before the next column is asked for.
    """

    member: int
    processes: slice
    variance: Vector
    scale: float
    matrix: Matrix


class Prior(Protocol):
    """A stack of prior processes.

    Paper: Sec. 5.2, a PGP with mean zero and a kernel; Prop. 8, K_l for each label.
    """

    name: str
    """What to call the kernel in an error."""

    def __len__(self) -> int:
        """The number of settings."""
        ...

    def gram(self, X: Matrix, /) -> Array:
        """Covariances of the rows seen, (S, P, n, n) with P = 1 where all classes share them.

        Paper: Prop. 6, K.
        """
        ...

    def slopes(self, X: Matrix, sensitivity: Array, /) -> Matrix:
        """Derivatives by theta of a function of the covariances, given those by the entries.

        Paper: none; GPML Eq. 5.21.
        """
        ...

    def columns(self, X_t: Matrix, X: Matrix, /) -> Iterator[Column]:
        """Covariances of other rows with the rows seen, member by member.

        Paper: Prop. 6, K_t and the diagonal of K_tt.
        """
        ...

    def part(self, members: Sequence[int], /) -> "Prior":
        """Some of the settings."""
        ...


def prior(kernels: Sequence[Kernel], thetas: Matrix) -> Prior:
    """A stack of priors: one kernel that all classes share, or one for each class.

    Paper: Sec. 5.2 and Prop. 8.

    Args:
        kernels: one, or one per class.
        thetas: (S, p), the logarithms of all free hyperparameters, class after class.
    """
    if len(kernels) == 1:
        radial = Radial.of(kernels[0], thetas)
        if radial is not None:
            return radial
    return Kernels(tuple(kernels), thetas)


# ---------------------------------------------------------------- any kernel


@dataclass(frozen=True, eq=False)
class Kernels:
    """Settings of any kernels, evaluated one by one.

    Paper: Sec. 5.2; Prop. 8, K_l.
    """

    kernels: tuple[Kernel, ...]
    thetas: Matrix

    @property
    def name(self) -> str:
        """The kernels as scikit-learn writes them.

        Paper: none.
        """
        return ", ".join(f"kernel {kernel}" for kernel in self.kernels)

    def __len__(self) -> int:
        """The number of settings."""
        return len(self.thetas)

    def part(self, members: Sequence[int], /) -> "Kernels":
        """Some of the settings.

        Paper: none.
        """
        return Kernels(self.kernels, self.thetas[list(members)])

    def _set(self) -> list[list[Kernel]]:
        """The kernels of every member, class by class."""
        ends = np.cumsum([len(kernel.theta) for kernel in self.kernels])[:-1]
        return [
            [k.clone_with_theta(t) for k, t in zip(self.kernels, np.split(theta, ends), strict=True)]
            for theta in self.thetas
        ]

    def gram(self, X: Matrix, /) -> Array:
        """Covariances of the rows seen.

        Paper: Prop. 6, K.
        """
        if not len(X):
            return np.empty((len(self), len(self.kernels), 0, 0))
        return self._finite(np.array([[kernel(X) for kernel in member] for member in self._set()]))

    def slopes(self, X: Matrix, sensitivity: Array, /) -> Matrix:
        """Derivatives by theta of a function of the covariances.

        Paper: none; GPML Eq. 5.21.
        """
        shared = len(self.kernels) == 1
        G = sensitivity.sum(axis=1, keepdims=True) if shared else sensitivity
        slopes = np.empty_like(self.thetas)
        for s, member in enumerate(self._set()):
            by_class = [kernel(X, eval_gradient=True)[1] for kernel in member]
            pairs = zip(G[s], by_class, strict=True)
            slopes[s] = np.concatenate([np.einsum("ij,ijp->p", g, dK) for g, dK in pairs])
        return slopes

    def columns(self, X_t: Matrix, X: Matrix, /) -> Iterator[Column]:
        """Covariances of other rows with the rows seen.

        Paper: Prop. 6, K_t.
        """
        every = len(self.kernels) == 1
        for s, member in enumerate(self._set()):
            for p, kernel in enumerate(member):
                processes = slice(None) if every else slice(p, p + 1)
                matrix = self._finite(kernel(X_t, X)) if len(X) else np.empty((len(X_t), 0))
                yield Column(s, processes, kernel.diag(X_t), 1.0, matrix)

    def _finite(self, K: Array) -> Array:
        """The same covariances, if they are numbers."""
        if not np.isfinite(K).all():
            raise ValueError(
                f"{self.name} must give finite covariances; got {K[~np.isfinite(K)][0]}. "
                "Bring the columns of X to a common scale, with StandardScaler for one."
            )
        return K


# ---------------------------------------------------------------- a constant times an RBF


@dataclass(frozen=True, eq=False)
class Radial:
    """Settings of a constant times an RBF: variance * exp(-d^2 / (2 length_scale^2)).

    Paper: App. E, the RBF kernel of the experiments.

    Attributes:
        name: the kernel as scikit-learn writes it.
        amplitude: (S,), prior variances.
        length_scale: (S, 1) for all columns of X, or (S, d) for each.
        free: (S, p) which of (amplitude, length-scales) the columns of theta are.
    """

    name: str
    amplitude: Vector
    length_scale: Matrix
    free: tuple[int, ...]

    @classmethod
    def of(cls, kernel: Kernel, thetas: Matrix) -> "Radial | None":
        """The settings, if the kernel is an RBF or a constant times one; None if it is not.

        Paper: App. E.
        """
        constant, rbf = _constant_and_rbf(kernel)
        if rbf is None:
            return None
        lengths = np.atleast_1d(np.asarray(rbf.length_scale, dtype=float))
        values = np.array([1.0 if constant is None else constant.constant_value, *lengths])
        free = [] if constant is None or constant.hyperparameter_constant_value.fixed else [0]
        if not rbf.hyperparameter_length_scale.fixed:
            free += range(1, 1 + len(lengths))
        if isinstance(kernel, Product) and kernel.k1 is rbf:
            free = [*free[1:], 0] if free[:1] == [0] else free
        table = np.tile(values, (len(thetas), 1))
        table[:, free] = np.exp(thetas)
        return cls(f"kernel {kernel}", table[:, 0], table[:, 1:], tuple(free))

    def __len__(self) -> int:
        """The number of settings."""
        return len(self.amplitude)

    def part(self, members: Sequence[int], /) -> "Radial":
        """Some of the settings.

        Paper: none.
        """
        some = list(members)
        return Radial(self.name, self.amplitude[some], self.length_scale[some], self.free)

    def gram(self, X: Matrix, /) -> Array:
        """Covariances of the rows seen.

        Paper: Prop. 6, K.
        """
        K = np.empty((len(self), len(X), len(X)))
        for chart in self._charts(X):
            u = chart.place(X)
            squares = cdist(u, u, "sqeuclidean")
            for s, sharpness in zip(chart.members, chart.sharpness, strict=True):
                np.multiply(squares, -0.5 * sharpness, out=K[s])
        np.exp(K, out=K)
        K *= self.amplitude[:, None, None]
        return K[:, None]

    def slopes(self, X: Matrix, sensitivity: Array, /) -> Matrix:
        """Derivatives by theta of a function of the covariances.

        The derivative of K by the logarithm of a length-scale is K times its share of the squared
        distance; summed against a symmetric matrix T, that is 2 (sum_i T1_i x_i^2 - x' T x).

        Paper: none; GPML Eq. 5.21.
        """
        T = sensitivity.sum(axis=1) * self.gram(X)[:, 0]
        table = np.empty((len(self), 1 + self.length_scale.shape[1]))
        table[:, 0] = T.sum(axis=(1, 2))
        for chart in self._charts(X):
            u = chart.place(X)
            for s, sharpness in zip(chart.members, chart.sharpness, strict=True):
                by_column = 2.0 * (T[s].sum(axis=1) @ (u * u) - (u * (T[s] @ u)).sum(axis=0))
                iso = self.length_scale.shape[1] == 1
                table[s, 1:] = sharpness * (by_column.sum() if iso else by_column)
        return table[:, list(self.free)]

    def columns(self, X_t: Matrix, X: Matrix, /) -> Iterator[Column]:
        """Covariances of other rows with the rows seen; each length-scale costs one exponential.

        Paper: Prop. 6, K_t.
        """
        for chart in self._charts(X):
            squares = chart.squares(X_t, X)
            matrix, last = np.empty_like(squares), np.nan
            for s, sharpness in zip(chart.members, chart.sharpness, strict=True):
                if sharpness != last:
                    np.multiply(squares, -0.5 * sharpness, out=matrix)
                    np.exp(matrix, out=matrix)
                    last = sharpness
                scale = float(self.amplitude[s])
                yield Column(int(s), slice(None), np.full(len(X_t), scale), scale, matrix)

    def _charts(self, X: Matrix) -> list["Chart"]:
        """Charts for the settings, one for all that see the same directions, sharpest first."""
        shapes = self.length_scale / self.length_scale[:, :1]
        charts = list[Chart]()
        for shape in np.unique(shapes, axis=0):
            alike = np.flatnonzero((shapes == shape).all(axis=1))
            members = alike[np.argsort(self.length_scale[alike, 0], kind="stable")]
            charts.append(Chart.around(X, shape, members, self.length_scale[members, 0]))
        return charts


@dataclass(frozen=True, eq=False)
class Chart:
    """Coordinates in which distances between rows neither overflow nor vanish.

    Attributes:
        centre: the mean of the rows seen.
        unit: (d,) what a column is divided by.
        members: settings that read distances in this chart.
        sharpness: one over the squared length-scale of each, in units of the chart.
    """

    centre: Vector
    unit: Vector
    members: Array
    sharpness: Vector

    @classmethod
    def around(cls, X: Matrix, shape: Vector, members: Array, length_scale: Vector) -> "Chart":
        """The chart around the rows seen, none of which is further than one from the centre."""
        none = np.zeros(X.shape[1])
        centre = 0.5 * X.min(axis=0) + 0.5 * X.max(axis=0) if len(X) else none
        spread = float((np.abs(X - centre) / shape).max(initial=0.0)) or float(length_scale[0])
        spread = min(spread, np.finfo(float).max)
        sharpness = np.minimum((spread / length_scale) ** 2, _SHARPEST)
        return cls(centre, spread * shape, members, sharpness)

    def place(self, X: Matrix) -> Matrix:
        """The rows in this chart."""
        return np.clip((X - self.centre) / self.unit, -_LARGEST, _LARGEST)

    def squares(self, X_t: Matrix, X: Matrix) -> Matrix:
        """Squared distances in this chart, by one matrix product where that is exact enough."""
        u, v = self.place(X_t), self.place(X)
        norms = (v * v).sum(axis=1)
        if not len(X) or self.sharpness[0] * norms.max() > _COARSE:
            return cdist(u, v, "sqeuclidean")
        left = np.column_stack([u, (u * u).sum(axis=1), np.ones(len(u))])
        right = np.column_stack([-2.0 * v, np.ones(len(v)), norms])
        squares = left @ right.T
        return np.maximum(squares, 0.0, out=squares)


def _constant_and_rbf(kernel: object) -> tuple[ConstantKernel | None, RBF | None]:
    """The parts of a constant times an RBF in either order, or of an RBF alone; else nothing."""
    if type(kernel) is RBF:
        return None, kernel
    if type(kernel) is Product:
        parts = {type(kernel.k1): kernel.k1, type(kernel.k2): kernel.k2}
        if parts.keys() == {ConstantKernel, RBF}:
            return parts[ConstantKernel], parts[RBF]
    return None, None
