"""Possibility functions: what is known of a fixed but unknown quantity theta.

A possibility function is a function f into [0, 1] whose largest value is one. Events are measured
twice: their *possibility* is the supremum of f over them, their *necessity* one minus the
possibility of the opposite event. Marginals, images and conditionals follow from suprema alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import erf
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from possibal.arrays import Array, Matrix, Vector, frozen, places, real, square, vector
from possibal.numerics.linalg import image_root, inverse_root, least_squares_rest, semidefinite_root
from possibal.theory.interval import Interval

_SQRT_2 = float(np.sqrt(2))
_SQRT_2PI = float(np.sqrt(2 * np.pi))
_LARGEST, _SMALLEST = 1e305, 1e-305
"""Variances beyond these have no inverse, or no double, among numbers."""
_UNCOUPLED = 1e-12
"""Correlations below this are rounding."""


@dataclass(frozen=True, eq=False, init=False)
class GaussianPossibility:
    """The Gaussian possibility function, on the whole space or on a box that holds its mean.

    Paper: Sec. 3.2, N(theta; mu, Sigma) = exp(-(theta - mu)' Sigma^-1 (theta - mu) / 2).

    Args:
        mean: where the function is one, (n,); a single number means one dimension.
        covariance: positive definite, (n, n); give this or precision.
        precision: positive semi-definite, (n, n); zero says that nothing is known.
        lower: lower ends of the support, a number or (n,), possibly infinite.
        upper: upper ends of the support, likewise.
    """

    mean: Vector
    precision: Matrix
    lower: Vector
    upper: Vector
    _root: Matrix = field(repr=False)  # precision = root root', so the exponent is a sum of squares
    _covariance: Matrix | None = field(repr=False)  # as given, if it was

    def __init__(
        self,
        mean: ArrayLike,
        covariance: ArrayLike | None = None,
        *,
        precision: ArrayLike | None = None,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> None:
        """Check once, and copy: the value never changes with the caller's arrays."""
        mu = vector(mean, "mean")
        if not mu.size:
            raise ValueError("mean must have at least one entry; got none.")
        if covariance is not None and precision is None:
            sigma = square(covariance, "covariance", mu.size)
            _check_variances(np.diagonal(sigma))
            root = inverse_root(sigma, "covariance")
            gamma = root @ root.T
        elif precision is not None and covariance is None:
            gamma = square(precision, "precision", mu.size)
            root, sigma = semidefinite_root(gamma, "precision"), None
        else:
            given = "neither" if covariance is None else "both"
            raise TypeError(
                f"covariance or precision must be given, and not both; got {given}. "
                "For complete absence of information pass a precision of zeros."
            )
        low, high = _bound(lower, "lower", mu.size), _bound(upper, "upper", mu.size)
        outside = ~((low <= mu) & (mu <= high))
        if outside.any():
            at = int(outside.argmax())
            raise ValueError(
                f"mean must lie in the support; got {mu[at]:.6g} outside "
                f"[{low[at]:.6g}, {high[at]:.6g}] at coordinate {at}. Widen the support."
            )
        parts = {"mean": mu, "precision": gamma, "lower": low, "upper": high, "_root": root}
        for name, array in parts.items():
            object.__setattr__(self, name, frozen(array))
        object.__setattr__(self, "_covariance", None if sigma is None else frozen(sigma))

    @property
    def dimension(self) -> int:
        """The number of coordinates of theta.

        Paper: Sec. 3.2, n.
        """
        return self.mean.size

    @property
    def mode(self) -> Vector:
        """Where the function is one: the paper's expected value; one of many if singular.

        Paper: Sec. 3.1, E*(theta) = argmax f(theta).
        """
        return self.mean

    @property
    def is_singular(self) -> bool:
        """Whether some direction is not known at all.

        Paper: Sec. 3.2 (ii), Gamma positive semi-definite.
        """
        return self._root.shape[1] < self.dimension

    @property
    def is_bounded(self) -> bool:
        """Whether the support has an end anywhere.

        Paper: Sec. 3.2 (i), a subset S of R^d.
        """
        return bool(self._ends.any())

    @property
    def covariance(self) -> Matrix:
        """The inverse of the precision, or the covariance as it was given.

        Paper: Sec. 5.1, cov*(theta) = prec*(theta)^-1, "when it exists".
        """
        if self._covariance is not None:
            return self._covariance
        if self.is_singular:
            raise ValueError(
                f"precision must be non-singular to have a covariance; got rank "
                f"{self._root.shape[1]} of {self.dimension}. Use precision, or the marginal of "
                "the coordinates that are known."
            )
        inverse = np.linalg.inv(self._root)
        return frozen(inverse.T @ inverse)

    def log(self, theta: ArrayLike) -> Array:
        """Logarithm of the function; minus infinity off the support.

        Paper: Sec. 3.2, -(theta - mu)' Gamma (theta - mu) / 2.

        Args:
            theta: one point (n,) or any batch (..., n). In one dimension plain numbers of any
                shape, or a batch of points whose last axis is 1.
        """
        points = real(theta, "theta")
        if self.dimension == 1 and not (points.ndim > 1 and points.shape[-1] == 1):
            points = points[..., None]
        if points.shape[-1:] != (self.dimension,):
            raise ValueError(
                f"theta must have {self.dimension} entries on its last axis; "
                f"got shape {points.shape}."
            )
        inside = ((self.lower <= points) & (points <= self.upper)).all(axis=-1)
        with np.errstate(over="ignore"):  # minus infinity where it is below all numbers
            exponent = (((points - self.mean) @ self._root) ** 2).sum(axis=-1)
        return np.where(inside, -0.5 * exponent, -np.inf)

    def __call__(self, theta: ArrayLike) -> Array:
        """The possibility of each point; see :meth:`log` for shapes.

        Paper: Sec. 3.2, N(theta; mu, Sigma).
        """
        return np.exp(self.log(theta))

    def affine(self, F: ArrayLike, shift: ArrayLike = 0.0) -> Self:
        """What is known of F theta + shift.

        Paper: Sec. 3.1, f'(y) = sup over F theta + c = y of f(theta); Prop. 5, last line, which
        should read F cov F' (its proof does).

        Args:
            F: (k, n) of full row rank, a vector (n,) for one reading, or a number if n is 1.
            shift: a number or (k,).
        """
        matrix = np.atleast_2d(real(F, "F"))
        if matrix.ndim != 2 or matrix.shape[1] != self.dimension:  # noqa: PLR2004 - a matrix
            raise ValueError(
                f"F must have {self.dimension} columns, one per coordinate; "
                f"got shape {matrix.shape}."
            )
        rank = int(np.linalg.matrix_rank(matrix))
        if rank < len(matrix):
            raise ValueError(
                f"F must have full row rank, or F theta has no covariance; got rank {rank} for "
                f"{len(matrix)} rows. Drop the rows that the others determine."
            )
        c = real(shift, "shift")
        if c.shape not in ((), (len(matrix),)):
            raise ValueError(
                f"shift must be a number or have {len(matrix)} entries; got {c.shape}."
            )
        lower, upper = self._image_of_box(matrix)
        mean = matrix @ self.mean + c
        box = {"lower": lower + c, "upper": upper + c}
        if self._covariance is not None:
            sigma = matrix @ self._covariance @ matrix.T
            return type(self)(mean, (sigma + sigma.T) / 2, **box)
        root = image_root(self._root, matrix)
        return type(self)(mean, precision=root @ root.T, **box)

    def marginal(self, keep: int | Sequence[int]) -> Self:
        """What is known of some coordinates alone, in the order asked for.

        Paper: Sec. 3.1, f(theta) = sup over phi of f(theta, phi); Sec. 5.1, the consistency
        criterion: its covariance is the block of the whole covariance.
        """
        return self.affine(np.eye(self.dimension)[places(keep, "keep", self.dimension)])

    def condition(self, given: Mapping[int, float]) -> Self:
        """What is known of the other coordinates once some are known exactly.

        Paper: Sec. 3.2, mu_1 + S12 S22^-1 (theta_2 - mu_2), misprinted as S21 S11^-1, and
        S11 - S12 S22^-1 S21. Here by the precision, which is Gamma_11, so that it may be singular.

        Args:
            given: the known value of each known coordinate, by its index.
        """
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - not all callers check types
            raise TypeError(
                f"given must map indices to values; got {type(given).__name__}. "
                "Write {0: 1.5} for theta_0 = 1.5."
            )
        known = places(list(given), "given", self.dimension)
        rest = [i for i in range(self.dimension) if i not in known]
        if not rest:
            raise ValueError("given must leave at least one coordinate; got all of them.")
        value = vector(list(given.values()), "given")
        if not ((self.lower[known] <= value) & (value <= self.upper[known])).all():
            raise ValueError(
                f"given must lie in the support; got {value}. What is impossible is not known."
            )
        pull = self._root[known].T @ (value - self.mean[known])
        mode = self.mean[rest] + least_squares_rest(self._root[rest], pull)
        inside = np.clip(mode, self.lower[rest], self.upper[rest])
        if not np.allclose(mode, inside, rtol=1e-12, atol=1e-12):
            raise ValueError(
                f"given must leave the mode of the rest in the support; got mode {mode}. "
                "Use FinitePossibility.on_grid, which may have its mode on the edge."
            )
        return type(self)(
            inside,
            precision=self.precision[np.ix_(rest, rest)],
            lower=self.lower[rest],
            upper=self.upper[rest],
        )

    def independent(self, other: Self) -> Self:
        """The joint possibility of two quantities that tell nothing of each other.

        Paper: Sec. 3.1, f(theta, phi) = f(theta) f(phi).
        """
        mean = np.concatenate([self.mean, other.mean])
        box = {
            "lower": np.concatenate([self.lower, other.lower]),
            "upper": np.concatenate([self.upper, other.upper]),
        }
        if self._covariance is not None and other._covariance is not None:
            return type(self)(mean, block_diag(self._covariance, other._covariance), **box)
        return type(self)(mean, precision=block_diag(self.precision, other.precision), **box)

    def possibility(self, event: Interval) -> float:
        """Largest possibility of a point of the event.

        Paper: Sec. 3.1, P(A) = sup over theta in A of f(theta).
        """
        reading = self._reading(event)
        nearest = np.clip(reading.mean, event.low, event.high)
        inside = reading.lower <= nearest <= reading.upper
        return float(reading(nearest)[0]) if inside else 0.0

    def necessity(self, event: Interval) -> float:
        """One minus the possibility of the opposite event, without the cancellation.

        Paper: Sec. 4.3, N(E) = 1 - P(E^c).
        """
        reading = self._reading(event)
        rivals = [-np.inf]
        if reading.lower < event.low:
            rivals.append(float(reading.log(np.minimum(reading.mean, event.low))[0]))
        if event.high < reading.upper:
            rivals.append(float(reading.log(np.maximum(reading.mean, event.high))[0]))
        return float(-np.expm1(max(rivals)))

    def volume(self) -> float:
        """The epistemic uncertainty about theta, the integral of the function.

        Paper: Sec. 4.1, U^Theta = integral of f over Theta.
        """
        ends, free = np.flatnonzero(self._ends), np.flatnonzero(~self._ends)
        if any(self._is_coupled(i) for i in ends.tolist()):
            raise ValueError(
                "support must be unbounded where coordinates are coupled; got a bounded one. "
                "Use FinitePossibility.on_grid and its volume."
            )
        widths = [self._width(i) for i in ends.tolist()]
        if 0.0 in widths:  # known exactly somewhere, whatever is unknown elsewhere
            return 0.0
        rank = self._root.shape[1] - np.count_nonzero(np.diagonal(self.precision)[ends])
        if rank < free.size:
            return np.inf
        scales = np.linalg.svd(self._root[free], compute_uv=False)
        return float(np.prod(widths) * np.exp(np.log(_SQRT_2PI / scales).sum()))

    @property
    def _ends(self) -> NDArray[np.bool_]:
        """Which coordinates have an end of the support."""
        return np.isfinite(self.lower) | np.isfinite(self.upper)

    def _is_coupled(self, i: int) -> bool:
        """Whether a coordinate shares a term of the exponent with another."""
        bends = np.diagonal(self.precision)
        shared = np.abs(self.precision[i]) > _UNCOUPLED * np.sqrt(bends * bends[i])
        return bool(np.delete(shared, i).any())

    def _width(self, i: int) -> float:
        """Integral along one uncoupled coordinate; the mean splits it, so nothing cancels."""
        low, high = self.lower[i] - self.mean[i], self.upper[i] - self.mean[i]
        gamma = np.sqrt(self.precision[i, i])
        if gamma == 0:
            return float(high - low)
        halves = erf(gamma * high / _SQRT_2) - erf(gamma * low / _SQRT_2)
        return float(_SQRT_2PI / gamma * halves / 2)

    def _image_of_box(self, F: Matrix) -> tuple[Vector, Vector]:
        """The support of F theta, where that and the Gaussian shape are kept."""
        lower, upper = np.full(len(F), -np.inf), np.full(len(F), np.inf)
        for i in np.flatnonzero(self._ends).tolist():
            rows = np.flatnonzero(F[:, i])
            if rows.size == 1 and np.count_nonzero(F[rows[0]]) == 1:
                ends = F[rows[0], i] * np.array([self.lower[i], self.upper[i]])
                lower[rows[0]], upper[rows[0]] = ends.min(), ends.max()
            elif rows.size or self._is_coupled(i):
                raise ValueError(
                    f"support must be unbounded where coordinates mix; got coordinate {i} in "
                    f"[{self.lower[i]:.6g}, {self.upper[i]:.6g}]. Use FinitePossibility.on_grid, "
                    "since the result is no Gaussian."
                )
        return lower, upper

    def _reading(self, event: object) -> Self:
        """What is known of the number that the event is about."""
        if not isinstance(event, Interval):
            raise TypeError(
                f"event must be an Interval; got {type(event).__name__}. Write Interval(low, high)."
            )
        along = np.asarray(event.along)
        if along.size != self.dimension:
            raise ValueError(
                f"along must have {self.dimension} entries, one per coordinate; got {along.size}."
            )
        return self.affine(along)


def _check_variances(variances: Vector) -> None:
    """Refuse variances whose inverse is no number; those that are not positive are told later."""
    outside = (variances > _LARGEST) | ((variances > 0) & (variances < _SMALLEST))
    if outside.any():
        at = int(outside.argmax())
        raise ValueError(
            f"covariance must have variances between {_SMALLEST:.0e} and {_LARGEST:.0e}; "
            f"got {variances[at]:.6g} at coordinate {at}. Change its unit."
        )


def _bound(value: ArrayLike, name: str, size: int) -> Vector:
    """One end of the support per coordinate."""
    try:
        ends = np.asarray(value)
    except ValueError:  # lines of different lengths
        ends = np.array(None)
    if ends.dtype.kind not in "fiu" or ends.shape not in ((), (size,)) or np.isnan(ends).any():
        raise ValueError(
            f"{name} must be a number or {size} of them, none NaN; got {value!r}. "
            "Leave it out where there is no end."
        )
    return np.broadcast_to(ends.astype(float), (size,))
