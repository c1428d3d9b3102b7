"""Prior covariances by a constant times an RBF, batched: all settings share the distances.

To the RBF a constant may be added, a level that all rows have in common, and a kernel of finite
rank, the inner product of features (feature_maps.py). Where rows are compared by direction, the
level of the RBF itself is taken away (:class:`SphericalRBF`).

Distances to many rows are one matrix product (GEMM); training rows are centred and scaled first, so
that neither tiny nor huge numbers lose their digits.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Hyperparameter, Product, Sum

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.gp.feature_maps import NO_FEATURES, FeatureMap
from possibal.gp.kernels import Kernel, KernelColumn
from possibal.gp.means import ZERO, MeanFunction
from possibal.numerics.batched import Batched
from possibal.numerics.distances import directions

_LARGEST = 1e150
"""Coordinates are cut here, so that their squares stay finite."""
_LARGEST_SINGLE = 1e15
"""The same in single precision."""
_SHARPEST = 1e300
"""The factor of squared distances is cut here: times zero it is zero, and not a number."""
_COARSE = 1e5
"""Squared distances by matrix products lose this many roundings at most; else they are summed."""
_COARSE_SINGLE = 1e3
"""The same in single precision; else they stay in double."""
BLOCK_WEIGHT = "weights"
"""What the weights of blocks are called among hyperparameters."""
_ROUNDINGS = 16
"""Roundings of a correlation beside those of its distance: what is added to d."""


@dataclass(frozen=True)
class Level:
    """What all rows have in common, as a share of the amplitude of an RBF.

    On the sphere an RBF has a level of its own, exp(-1 / length_scale^2), its value for rows at
    right angles, which are most of the pairs in many dimensions. It is taken away: what is
    left, exp(-1 / l^2) (exp(cos / l^2) - 1), is a power series in the cosine with positive
    coefficients and so a kernel (Schoenberg 1942), and close to linear where l is large.

    Paper: none; App. E has no level.

    Attributes:
        share: what is added.
        is_spherical: whether rows are compared by direction, and the RBF's own level is taken away.
    """

    share: float = 0.0
    is_spherical: bool = False

    def at(self, length_scale: Vector) -> Vector:
        """The level of each length-scale, (S,).

        Paper: none; Schoenberg (1942).
        """
        if not self.is_spherical:
            return np.full(len(length_scale), self.share)
        return self.share - np.exp(-(length_scale**-2.0))

    def slopes(self, length_scale: Vector) -> Vector:
        """Derivatives by the logarithm of each length-scale, (S,).

        Paper: none.
        """
        if not self.is_spherical:
            return np.zeros(len(length_scale))
        sharpness = length_scale**-2.0
        return -2.0 * sharpness * np.exp(-sharpness)

    def rows(self, X: Matrix) -> Matrix:
        """Rows as the RBF reads them: their directions on the sphere, else what they are.

        Paper: none.
        """
        return directions(X) if self.is_spherical else X


NO_LEVEL = Level()


@dataclass(frozen=True, eq=False)
class RowPairs(Batched):
    """What an RBF and features read of pairs of rows, (R, n, m) of R problems.

    Paper: none.

    Attributes:
        squares: squared distances.
        inner: inner products of features; None where there are none.
    """

    squares: Array
    inner: Array | None = None

    def first(self, n: int) -> "RowPairs":
        """Those of the first n rows of each problem with all others.

        Paper: none.
        """
        inner = None if self.inner is None else self.inner[:, :n]
        return RowPairs(self.squares[:, :n], inner)

    def with_others(self, places: Places | slice) -> "RowPairs":
        """Those with some of the other rows: the same of all problems, or (R, k), of each its own.

        Paper: none.

        Args:
            places: of the other rows.
        """
        inner = None if self.inner is None else _with_others(self.inner, places)
        return RowPairs(_with_others(self.squares, places), inner)


@dataclass(frozen=True, eq=False)
class RBFPrior(Batched):
    """Prior with kernel amplitude * (exp(-d^2 / (2 length_scale^2)) + features + common), S times.

    Paper: App. E, the RBF kernel of the experiments, which has nothing in common.

    Attributes:
        kernel: the kernel as it was given.
        amplitude: (S,), prior variances of what rows do not have in common.
        length_scale: (S, 1) for all columns of X, or (S, d) for each.
        thetas: (S, p), logarithms of the free hyperparameters.
        design: how the free hyperparameters make up amplitude and length-scales.
        level: what all rows have in common.
        mean: prior mean of every setting.
        feature_map: features whose inner product is added to the RBF.
    """

    kernel: Kernel
    amplitude: Vector
    length_scale: Matrix
    thetas: Matrix
    design: "LogLinearDesign"
    level: Level = NO_LEVEL
    mean: MeanFunction = ZERO
    feature_map: FeatureMap = NO_FEATURES

    @classmethod
    def of(cls, kernel: Kernel, thetas: Matrix, mean: MeanFunction = ZERO) -> "RBFPrior | None":
        """The settings, if the kernel is an RBF or a constant times one; None if it is not.

        The RBF may have a fixed constant and features added to it.

        Paper: App. E.
        """
        constant, rbf, level = _parts(kernel)
        if rbf is None:
            return None
        design = LogLinearDesign.of(kernel, constant, rbf)
        logs, added = design.logs(thetas), feature_map(rbf)
        amplitude, length = np.exp(logs[:, 0]), np.exp(logs[:, 1:])
        return cls(kernel, amplitude, length, thetas, design, level, mean, added)

    @classmethod
    def usual(
        cls,
        thetas: Matrix,
        level: Level,
        mean: MeanFunction = ZERO,
        features: FeatureMap = NO_FEATURES,
    ) -> "RBFPrior":
        """Settings of the default kernel: logarithms of amplitude and length-scale, (S, 2).

        Paper: App. E.
        """
        amplitude, length = np.exp(thetas).T
        kernel = default_kernel(float(amplitude[0]), float(length[0]), level, features=features)
        design = USUAL_DESIGN
        return cls(kernel, amplitude, length[:, None], thetas, design, level, mean, features)

    @property
    def name(self) -> str:
        """The kernel as scikit-learn writes it."""
        return f"kernel {self.kernel}"

    @functools.cached_property
    def common(self) -> Vector:
        """What all rows have in common in each setting, as a share of the amplitude, (S,).

        Paper: none.
        """
        return self.level.at(self.length_scale[:, 0])

    @property
    def variance(self) -> Vector:
        """Prior variance of any row in each setting, (S,).

        Paper: Sec. 5.2, the diagonal of K.
        """
        return self.amplitude * (1.0 + self.feature_map.weight + self.common)

    def coordinates(self, X: Matrix, /) -> Matrix:
        """Rows in the geometry of the kernel; as they are where it is an RBF alone.

        Paper: none.
        """
        return self.feature_map.coordinates(X)

    def leading(self, columns: int) -> int:
        """How many of the columns of rows the RBF reads: the first ones."""
        return self.feature_map.leading(np.empty((0, columns))).shape[1]

    def settings(self) -> list[list[Kernel]]:
        """The kernel of every setting."""
        return [[self.kernel.clone_with_theta(row)] for row in self.thetas]

    def __len__(self) -> int:
        """The number of settings."""
        return len(self.amplitude)

    def gram(self, X: Matrix, /) -> Array:
        """Gram matrices of the training rows.

        Paper: Prop. 6, K.
        """
        K = self._correlations(X)
        K += self.common[:, None, None]
        if self.feature_map.weight:
            K += self._inner(X)
        K *= self.amplitude[:, None, None]
        return K[:, None]

    def _inner(self, X: Matrix) -> Matrix:
        """Inner products of the features of rows."""
        features = self.feature_map.features(X)
        return features @ features.T

    def slopes(self, X: Matrix, sensitivity: Array, /) -> Matrix:
        """Derivatives by theta of a function of the covariances.

        The derivative of K by the logarithm of a length-scale is the RBF's part of K times its
        share of the squared distance; summed against a symmetric matrix T, that is
        2 (sum_i T1_i x_i^2 - x' T x). The level may depend on the length-scale, too.

        Paper: none; GPML Eq. 5.21.
        """
        by_entry = sensitivity.sum(axis=1) * self.amplitude[:, None, None]
        T = by_entry * self._correlations(X)
        table = np.empty((len(self), 1 + self.length_scale.shape[1]))
        total = by_entry.sum(axis=(1, 2))
        table[:, 0] = T.sum(axis=(1, 2)) + self.common * total
        if self.feature_map.weight:
            table[:, 0] += np.einsum("sij,ij->s", by_entry, self._inner(X))
        for inputs in self._scaled(X):
            u = inputs.seen
            for s, sharpness in zip(inputs.members, inputs.sharpness, strict=True):
                by_column = 2.0 * (T[s].sum(axis=1) @ (u * u) - (u * (T[s] @ u)).sum(axis=0))
                iso = self.length_scale.shape[1] == 1
                table[s, 1:] = sharpness * (by_column.sum() if iso else by_column)
        if self.level.is_spherical:
            table[:, 1] += self.level.slopes(self.length_scale[:, 0]) * total
        return table @ self.design.matrix.T

    def _correlations(self, X: Matrix) -> Array:
        """The RBF between the training rows, (S, n, n)."""
        K = np.empty((len(self), len(X), len(X)))
        for inputs in self._scaled(X):
            squares = cdist(inputs.seen, inputs.seen, "sqeuclidean")
            for s, sharpness in zip(inputs.members, inputs.sharpness, strict=True):
                np.multiply(squares, -0.5 * sharpness, out=K[s])
        return np.exp(K, out=K)

    def covariances(self, pairs: RowPairs) -> Array:
        """Covariances of pairs of rows, (S, n, m), with one length-scale a setting.

        Paper: App. E, the RBF kernel.

        Args:
            pairs: of R problems; the settings of one stand next to each other.
        """
        K = self._rbf(pairs.squares)
        K += self.common[:, None, None]
        if pairs.inner is not None:
            by_problem = K.reshape(len(pairs.inner), -1, *K.shape[1:])
            by_problem += pairs.inner[:, None]
        K *= self.amplitude[:, None, None]
        return K

    def slopes_at(self, pairs: RowPairs, sensitivity: Array) -> Matrix:
        """Derivatives by the logarithms of amplitude and length-scale, one setting a problem.

        Paper: none; GPML Eq. 5.21.

        Args:
            pairs: of training rows, (S, n, n).
            sensitivity: (S, P, n, n), derivatives by the covariances.
        """
        squares, inner = pairs.squares, pairs.inner
        G = np.add.reduce(sensitivity, axis=1)
        T = G * (self._rbf(squares) * self.amplitude[:, None, None])
        level = (self.common * self.amplitude)[:, None, None]
        other = level if inner is None else level + inner * self.amplitude[:, None, None]
        by_amplitude = np.add.reduce((T + G * other).reshape(len(self), -1), axis=1)
        by_length = np.add.reduce((T * squares).reshape(len(self), -1), axis=1)
        by_length /= self.length_scale[:, 0] ** 2
        if self.level.is_spherical:
            slope = self.level.slopes(self.length_scale[:, 0]) * self.amplitude
            by_length += slope * np.add.reduce(G.reshape(len(self), -1), axis=1)
        return np.column_stack([by_amplitude, by_length])

    def _rbf(self, squares: Array) -> Array:
        """The RBF at squared distances (R, n, m), (S, n, m)."""
        sharpness = -0.5 / self.length_scale.reshape(len(squares), -1, 1, 1) ** 2
        K = sharpness * squares[:, None]
        return np.exp(K, out=K).reshape(len(self), *squares.shape[1:])

    def block_weights(self, blocks: Sequence[int]) -> Matrix:
        """How much each block of columns weighs in each setting, (S, blocks); the largest is one.

        Paper: none.
        """
        firsts = (
            np.cumsum([0, *blocks[:-1]]) if self.length_scale.shape[1] > 1 else [0] * len(blocks)
        )
        weights = 1.0 / self.length_scale[:, firsts]
        return weights / weights.max(axis=1, keepdims=True)

    def cross_covariance(self, X: Matrix, /) -> "RBFCrossCovariance":
        """The cross-covariances with training rows, ready for any other rows.

        Paper: Prop. 6, K_t.
        """
        seen = self.feature_map.features(X)
        return RBFCrossCovariance(
            self.amplitude, self._scaled(X), self.common, self.level, self.feature_map, seen
        )

    def _scaled(self, X: Matrix) -> list["ScaledInputs"]:
        """Scaled inputs, one for settings of proportional length-scales, shortest first."""
        X = self.level.rows(self.feature_map.leading(X))
        shapes = self.length_scale / self.length_scale[:, :1]
        scaled = list[ScaledInputs]()
        for shape in shapes[:1] if shapes.shape[1] == 1 else np.unique(shapes, axis=0):
            alike = np.flatnonzero((shapes == shape).all(axis=1))
            members = alike[np.argsort(self.length_scale[alike, 0], kind="stable")]
            scaled.append(ScaledInputs.around(X, shape, members, self.length_scale[members, 0]))
        return scaled


def _with_others(pairs: Array, places: Places | slice) -> Array:
    """Numbers of pairs with some of the other rows, (R, n, k)."""
    if isinstance(places, slice):
        return pairs[:, :, places]
    return np.take_along_axis(pairs, places[:, None], axis=2)


@dataclass(frozen=True, eq=False)
class LogLinearDesign:
    """Logarithms of amplitude and length-scales as a linear function of free hyperparameters.

    Paper: none.

    Attributes:
        given: (1 + d,), the logarithms where all that is free is one.
        matrix: (p, 1 + d), what each free one adds to them.
    """

    given: Vector
    matrix: Matrix

    @classmethod
    def of(cls, kernel: Kernel, constant: ConstantKernel | None, rbf: RBF) -> "LogLinearDesign":
        """The design of a constant times an RBF, in the order of the kernel's theta.

        Paper: App. E.
        """
        lengths, of_lengths = _log_lengths(rbf)
        given = np.concatenate([[0.0], lengths])
        matrix = np.column_stack([np.zeros(len(of_lengths)), of_lengths])
        if constant is not None and not constant.hyperparameter_constant_value.fixed:
            amplitude = np.eye(1, len(given))
            is_last = isinstance(kernel, Product) and kernel.k2 is constant
            matrix = np.vstack([matrix, amplitude] if is_last else [amplitude, matrix])
        elif constant is not None:
            given[0] = np.log(constant.constant_value)
        return cls(given, matrix)

    def logs(self, thetas: Matrix) -> Matrix:
        """(S, 1 + d), logarithms of amplitude and length-scales of settings.

        Paper: none.
        """
        return self.given + thetas @ self.matrix


USUAL_DESIGN = LogLinearDesign(np.zeros(2), np.eye(2))
"""That of an amplitude and a length-scale, both free."""


class SphericalRBF(RBF):
    """An RBF of directions without its level: rows at right angles have nothing in common.

    k(x, z) = exp(-d^2 / (2 length_scale^2)) - exp(-1 / length_scale^2), where d is the distance of
    x / |x| and z / |z|. A row of zeros has a direction of its own. See :class:`Level`.

    Paper: none; a dot-product kernel on the sphere (Schoenberg 1942).
    """

    def __call__(
        self,
        X: Any,  # noqa: ANN401 - as scikit-learn says
        Y: Any = None,  # noqa: ANN401 - the same
        eval_gradient: bool = False,  # noqa: FBT001, FBT002 - the same
    ) -> Any:  # noqa: ANN401 - a matrix, or that and its derivatives
        """The kernel matrix, or that and its derivatives by theta.

        Paper: none; Schoenberg (1942).
        """
        units, others = directions(np.asarray(X)), None if Y is None else directions(np.asarray(Y))
        found: Any = super().__call__(units, others, eval_gradient=eval_gradient)
        level, length = Level(is_spherical=True), np.atleast_1d(self.length_scale)
        if not eval_gradient:
            return found + level.at(length)[0]
        K, slopes = found
        return K + level.at(length)[0], slopes + level.slopes(length)[0]

    def diag(self, X: Any) -> Vector:  # noqa: ANN401 - as scikit-learn says
        """The diagonal of the kernel matrix.

        Paper: none.
        """
        level = Level(is_spherical=True).at(np.atleast_1d(self.length_scale))[0]
        return np.full(len(X), 1.0 + level)


class FeatureRBF(RBF):
    """An RBF plus the inner product of features: a sum of two kernels, for two kinds of likeness.

    Paper: none; GPML Sec. 4.2.4.

    Args:
        length_scale: of the RBF.
        length_scale_bounds: of it, or "fixed".
        feature_map: the features, and which columns the RBF reads.
        is_spherical: whether the RBF compares those by direction, as :class:`SphericalRBF` does.
    """

    def __init__(
        self,
        length_scale: float = 1.0,
        length_scale_bounds: Any = (1e-5, 1e5),  # noqa: ANN401 - a pair or a word
        *,
        feature_map: FeatureMap = NO_FEATURES,
        is_spherical: bool = False,
    ) -> None:
        """Keep the choices."""
        super().__init__(length_scale, length_scale_bounds)
        self.feature_map = feature_map
        self.is_spherical = is_spherical

    def __call__(
        self,
        X: Any,  # noqa: ANN401 - as scikit-learn says
        Y: Any = None,  # noqa: ANN401 - the same
        eval_gradient: bool = False,  # noqa: FBT001, FBT002 - the same
    ) -> Any:  # noqa: ANN401 - a matrix, or that and its derivatives
        """The kernel matrix, or that and its derivatives by theta.

        Paper: none; GPML Sec. 4.2.4.
        """
        X = np.asarray(X, dtype=float)
        Y = None if Y is None else np.asarray(Y, dtype=float)
        leading, features = self.feature_map.leading, self.feature_map.features
        others = None if Y is None else leading(Y)
        own: Any = self._alone()(leading(X), others, eval_gradient=eval_gradient)
        inner = features(X) @ features(X if Y is None else Y).T
        return (own[0] + inner, own[1]) if eval_gradient else own + inner

    def diag(self, X: Any) -> Vector:  # noqa: ANN401 - as scikit-learn says
        """The diagonal of the kernel matrix.

        Paper: none.
        """
        return self._alone().diag(X) + self.feature_map.weight

    def _alone(self) -> RBF:
        """The RBF without the features."""
        kind = SphericalRBF if self.is_spherical else RBF
        return kind(self.length_scale, self.length_scale_bounds)

    def __repr__(self) -> str:
        """Its hyperparameter, and what kind of features it has."""
        return f"FeatureRBF(length_scale={self.length_scale:.3g}, {self.feature_map!r})"


class BlockRBF(RBF):
    """An RBF over blocks of columns, each with a weight: what is alike in which block counts more.

    The exponent is -sum_b weight_b^2 d_b^2 / (2 length_scale^2), d_b the distance in a block.

    Paper: none; automatic relevance determination (Neal 1996) with one relevance a block.

    Args:
        length_scale: one for all blocks.
        length_scale_bounds: of it, or "fixed".
        weights: one a block.
        weights_bounds: of each, or "fixed".
        blocks: how many columns each block has, one block after the other.
    """

    def __init__(
        self,
        length_scale: float = 1.0,
        length_scale_bounds: Any = (1e-5, 1e5),  # noqa: ANN401 - a pair or a word
        *,
        weights: Sequence[float] = (1.0, 1.0),
        weights_bounds: Any = (1e-2, 1e2),  # noqa: ANN401 - a pair or a word
        blocks: Sequence[int] = (1, 1),
    ) -> None:
        """Keep the choices."""
        super().__init__(length_scale, length_scale_bounds)
        self.weights = weights
        self.weights_bounds = weights_bounds
        self.blocks = blocks

    @property
    def hyperparameter_weights(self) -> Hyperparameter:
        """The weights, as scikit-learn knows hyperparameters.

        Paper: none.
        """
        return Hyperparameter(BLOCK_WEIGHT, "numeric", self.weights_bounds, len(self.weights))

    @property
    def owners(self) -> Places:
        """The block of each column.

        Paper: none.
        """
        return np.repeat(np.arange(len(self.blocks)), self.blocks)

    def __call__(
        self,
        X: Any,  # noqa: ANN401 - as scikit-learn says
        Y: Any = None,  # noqa: ANN401 - the same
        eval_gradient: bool = False,  # noqa: FBT001, FBT002 - the same
    ) -> Any:  # noqa: ANN401 - a matrix, or that and its derivatives
        """The kernel matrix, or that and its derivatives by theta.

        Paper: none; Neal (1996).
        """
        lengths = self.length_scale / np.asarray(self.weights, dtype=float)[self.owners]
        by_column: Any = RBF(cast("float", lengths))
        if not eval_gradient:
            return by_column(X, Y)
        K, slopes = by_column(X, eval_gradient=True)
        _, of_lengths = _log_lengths(self)
        return K, slopes.reshape(*K.shape, -1) @ of_lengths.T

    def __repr__(self) -> str:
        """Its hyperparameters, in one line."""
        weights = ", ".join(f"{weight:.3g}" for weight in self.weights)
        return f"BlockRBF(length_scale={self.length_scale:.3g}, weights=[{weights}])"


def _log_lengths(rbf: RBF) -> tuple[Vector, Matrix]:
    """Logarithms of the length-scales that are given, and what each free hyperparameter adds."""
    length_is_free = not rbf.hyperparameter_length_scale.fixed
    if not isinstance(rbf, BlockRBF):
        lengths = np.log(np.atleast_1d(np.asarray(rbf.length_scale, dtype=float)))
        free = np.eye(len(lengths)) if length_is_free else np.empty((0, len(lengths)))
        return (np.zeros_like(lengths) if length_is_free else lengths), free
    owners = rbf.owners
    weight_of = np.arange(len(rbf.blocks))[:, None] == owners
    given, free = np.zeros(len(owners)), np.empty((0, len(owners)))
    if length_is_free:
        free = np.ones((1, len(owners)))
    else:
        given = given + np.log(rbf.length_scale)
    if rbf.hyperparameter_weights.fixed:
        return given - np.log(np.asarray(rbf.weights, dtype=float))[owners], free
    return given, np.vstack([free, -1.0 * weight_of])


@dataclass(frozen=True, eq=False)
class RBFCrossCovariance:
    """Cross-covariances of a constant times an RBF with the training rows."""

    amplitude: Vector
    scaled: list["ScaledInputs"]
    common: Vector
    level: Level
    feature_map: FeatureMap
    seen: Matrix

    def columns(self, X_t: Matrix, /) -> Iterator[KernelColumn]:
        """Covariances of other rows with the training rows; one exponential a length-scale.

        Paper: Prop. 6, K_t.
        """
        inner = None
        if self.feature_map.weight:
            inner = self.feature_map.features(X_t, self.seen.dtype.type) @ self.seen.T
        X_t = self.level.rows(self.feature_map.leading(X_t))
        for inputs in self.scaled:
            exponents, error = inputs.exponents(X_t)
            matrix, last = exponents, np.nan
            for s, sharpness in zip(inputs.members, inputs.sharpness, strict=True):
                if sharpness != last:
                    # The last may overwrite the exponents.
                    out = exponents if sharpness == inputs.sharpness[-1] else None
                    matrix = exponents
                    if sharpness != inputs.sharpness[0]:
                        matrix = np.multiply(exponents, sharpness / inputs.sharpness[0], out=out)
                    matrix = np.exp(matrix, out=matrix if matrix is not exponents else out)
                    if self.common[s]:
                        matrix += self.common[s]
                    if inner is not None:
                        matrix += inner
                    last = sharpness
                scale, size = float(self.amplitude[s]), self._size(s)
                prior = np.full(len(X_t), scale * size)
                least = max(min(size, 1.0), np.finfo(float).tiny)
                off = None if error is None else (error + self.feature_map.error) / least
                yield KernelColumn(int(s), slice(None), prior, scale, matrix, off)

    def _size(self, s: int) -> float:
        """The prior variance of any row in a setting, as a share of the amplitude."""
        return 1.0 + self.feature_map.weight + float(self.common[s])

    def single(self) -> "RBFCrossCovariance":
        """The same in single precision, where that is exact enough.

        Paper: none.
        """
        scaled = [inputs.single() for inputs in self.scaled]
        is_same = all(one is other for one, other in zip(scaled, self.scaled, strict=True))
        if is_same:
            return self
        return replace(self, scaled=scaled, seen=self.seen.astype(np.float32))

    @property
    def largest(self) -> float:
        """The largest prior variance of a row."""
        return float(max(a * self._size(s) for s, a in enumerate(self.amplitude)))


@dataclass(frozen=True, eq=False)
class ScaledInputs:
    """Centred and scaled training rows, whose distances neither overflow nor vanish.

    Attributes:
        centre: the middle of the training rows.
        unit: (d,) what a column is divided by.
        members: settings that read these distances, the shortest length-scale first.
        sharpness: one over the squared length-scale of each, in scaled units.
        seen: (n, d), the training rows, scaled.
        right: (n, d + 2), what turns rows into exponents by one matrix product; None where that
            is not exact enough.
        largest: squared norm of a row seen.
    """

    centre: Vector
    unit: Vector
    members: Places
    sharpness: Vector
    seen: Matrix
    right: Matrix | None
    largest: float = 0.0

    @classmethod
    def around(
        cls, X: Matrix, shape: Vector, members: Places, length_scale: Vector
    ) -> "ScaledInputs":
        """The training rows scaled so that none is further than one from their centre."""
        if not len(X):
            none = np.zeros(X.shape[1])
            return cls(none, none + 1.0, members, np.ones(len(members)), X, None)
        centre = 0.5 * X.min(axis=0) + 0.5 * X.max(axis=0)
        off = X - centre
        spread = float((np.abs(off) / shape).max()) or float(length_scale[0])
        unit = min(spread, np.finfo(float).max) * shape
        sharpness = np.minimum((spread / length_scale) ** 2, _SHARPEST)
        seen = np.clip(off / unit, -_LARGEST, _LARGEST)
        norms = (seen * seen).sum(axis=1)
        right = None
        if sharpness[0] * norms.max() <= _COARSE:
            right = np.concatenate([-2.0 * seen, np.ones((len(X), 1)), norms[:, None]], axis=1)
            right *= -0.5 * sharpness[0]
        return cls(centre, unit, members, sharpness, seen, right, float(norms.max()))

    def exponents(self, X_t: Matrix) -> tuple[Matrix, Vector | None]:
        """Exponents -d^2 / (2 l^2) of the shortest length-scale with the training rows, (m, n).

        They are one matrix product where that is exact enough. In single precision they come
        with the largest error in each row: a sum of k products is off by at most k roundings of
        the sum of their sizes, here at most l^-2 times the squared norms of both rows.

        Paper: App. E.
        """
        m, d = X_t.shape
        left = np.empty((m, d + 2), dtype=self.seen.dtype)
        u = left[:, :d]
        np.subtract(X_t, self.centre, out=u, casting="same_kind")
        np.divide(u, self.unit, out=u, casting="same_kind")
        largest = _LARGEST if u.dtype == np.float64 else _LARGEST_SINGLE
        np.clip(u, -largest, largest, out=u)
        if self.right is None:
            squares = cdist(u, self.seen, "sqeuclidean")
            return np.multiply(squares, -0.5 * self.sharpness[0], out=squares), None
        np.einsum("ij,ij->i", u, u, out=left[:, d])
        left[:, d + 1] = 1.0
        exponents = left @ self.right.T
        error = None
        if left.dtype == np.float32:
            sizes = self.sharpness[0] * (left[:, d].astype(float) + self.largest)
            error = 2.0**-24 * (_ROUNDINGS + d) * (1.0 + sizes)
        return np.minimum(exponents, 0.0, out=exponents), error

    def single(self) -> "ScaledInputs":
        """The same in single precision, where distances are exact enough by matrix products."""
        if self.right is None or self.sharpness[0] * self.largest > _COARSE_SINGLE:
            return self
        cut = np.float32
        return replace(self, seen=self.seen.astype(cut), right=self.right.astype(cut))


def default_kernel(  # noqa: PLR0913 - what the parts are made of
    amplitude: float,
    length_scale: float,
    level: Level,
    amplitude_bounds: tuple[float, float] = (1e-5, 1e5),
    length_scale_bounds: tuple[float, float] = (1e-5, 1e5),
    *,
    blocks: Sequence[int] = (),
    features: FeatureMap = NO_FEATURES,
) -> Kernel:
    """The default kernel as a scikit-learn kernel; blocks of columns each have a weight.

    Paper: App. E, where nothing is in common, there is one block and no other part.
    """
    rbf = (SphericalRBF if level.is_spherical else RBF)(length_scale, length_scale_bounds)
    if features is not NO_FEATURES:
        rbf = FeatureRBF(
            length_scale,
            length_scale_bounds,
            feature_map=features,
            is_spherical=level.is_spherical,
        )
    if len(blocks) > 1:
        weights = (1.0,) * len(blocks)
        rbf = BlockRBF(length_scale, length_scale_bounds, weights=weights, blocks=tuple(blocks))
    shape = rbf + ConstantKernel(level.share, "fixed") if level.share else rbf
    return cast("Kernel", ConstantKernel(amplitude, amplitude_bounds) * shape)


def with_level(kernel: Kernel, share: float, columns: int) -> Kernel:
    """A kernel with a level that all rows share: a constant mean that is not known.

    A mean with a Gaussian possibility function is a constant added to the kernel.

    Paper: Sec. 5.2, the supremum over a constant m of N(m; 0, s2) N(g; m, K) is N(g; 0, K + s2).

    Args:
        kernel: without one.
        share: s2 as a share of the prior variance, at the origin where that differs.
        columns: of the rows.
    """
    constant, rbf, level = _parts(kernel)
    if constant is not None and rbf is not None and level == NO_LEVEL:
        return cast("Kernel", constant * (rbf + ConstantKernel(share, "fixed")))
    variance = float(kernel.diag(np.zeros((1, columns)))[0]) or 1.0
    return cast("Kernel", cast("Any", kernel) + ConstantKernel(share * variance, "fixed"))


def is_spherical(kernel: object) -> bool:
    """Whether a kernel is one of directions.

    Paper: none.
    """
    return _parts(kernel)[2].is_spherical


def feature_map(rbf: RBF) -> FeatureMap:
    """The features that are added to an RBF.

    Paper: none.
    """
    return rbf.feature_map if isinstance(rbf, FeatureRBF) else NO_FEATURES


def _parts(kernel: object) -> tuple[ConstantKernel | None, RBF | None, Level]:
    """Constant, RBF and level of a kernel; no RBF where it is made of other parts."""
    if type(kernel) is Product:
        for constant, shape in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
            if type(constant) is ConstantKernel:
                return constant, *_shape(shape)
    return None, *_shape(kernel)


def _shape(kernel: object) -> tuple[RBF | None, Level]:
    """An RBF and its level, with the fixed constant that is added; no RBF where it is another."""
    if type(kernel) in {RBF, BlockRBF}:
        return cast("RBF", kernel), NO_LEVEL
    if type(kernel) is SphericalRBF:
        return kernel, Level(is_spherical=True)
    if type(kernel) is FeatureRBF:
        return kernel, Level(is_spherical=kernel.is_spherical)
    if type(kernel) is Sum:
        (rbf, level), constant = _shape(kernel.k1), kernel.k2
        is_level = type(constant) is ConstantKernel and constant.hyperparameter_constant_value.fixed
        if rbf is not None and is_level and not level.share:
            return rbf, replace(level, share=float(constant.constant_value))
    return None, NO_LEVEL
