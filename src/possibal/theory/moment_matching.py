"""The Gaussian that stands for a smooth possibility function: same mode, same covariance there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.differentiate import hessian as numerical_hessian
from scipy.differentiate import jacobian as numerical_jacobian
from scipy.optimize import minimize

from possibal.arrays import Array, Matrix, Vector, vector
from possibal.errors import ConvergenceError
from possibal.theory.gaussian import GaussianPossibility

_NEWTON_STEPS = 50
_WIDEST = 2.0**100
"""The scale of a function is sought between this and its inverse."""
_DECREMENT = 1e-18
"""Squared length of a Newton step, in standard deviations, that counts as none."""
_FLATTEST = 1e-6
"""Least curvature where the logarithm falls by about one over a distance of one; a Gaussian has
between 1/2 and 2."""
_STEP, _OTHER_STEP = 0.5, 0.2
"""First steps of two numerical Hessians, in units of the function's scale."""
_AGREEMENT = 0.1
"""How far apart, relatively, the two may be."""


def moment_match(
    log_f: Callable[[Any], ArrayLike],
    start: ArrayLike,
    *,
    gradient: Callable[[Any], ArrayLike] | None = None,
    hessian: Callable[[Any], ArrayLike] | None = None,
) -> GaussianPossibility:
    """The Gaussian with the mode and the covariance of a smooth possibility function.

    Paper: Sec. 5.1, prec* = E*(-d2 log f) at the mode: "the Laplace approximation becomes a
    moment matching method".

    Args:
        log_f: logarithm of the function up to a constant, at a point (n,), or at a number if
            start is a number.
        start: where the search for the mode begins.
        gradient: first derivatives of log_f, (n,); numerical when left out.
        hessian: second derivatives of log_f, (n, n); numerical when left out.

    Raises:
        ConvergenceError: no mode was found inside the support, or the function is flat there, as
            -theta^4 is, or has a kink there, as -abs(theta) has; the kink is seen only if hessian
            is left out.
    """
    x = vector(start, "start")
    if not x.size:
        raise ValueError("start must have at least one entry; got none. Name a point.")
    smooth = _Smooth(log_f, gradient, hessian, np.ndim(start) == 0)
    with np.errstate(all="ignore"):  # a search may leave the support; what it finds is checked
        x = smooth.climb(x)
        for _ in range(_NEWTON_STEPS):
            slope, precision = smooth.slope(x), smooth.precision(x)
            if not (np.isfinite(precision).all() and np.linalg.eigvalsh(precision)[0] > 0):
                break
            step = np.linalg.solve(precision, slope)
            x = x + step
            if abs(slope @ step) <= _DECREMENT:
                smooth.check_bend(x, precision)
                return GaussianPossibility(x, precision=precision)
    raise ConvergenceError(
        f"log_f must have a mode inside its support, with a negative definite Hessian; got none "
        f"from start {start}. Start nearer to the mode, or give gradient and hessian."
    )


@dataclass(frozen=True)
class _Smooth:
    """A log possibility function and its derivatives, each given or numerical."""

    log_f: Callable[[Any], ArrayLike]
    gradient: Callable[[Any], ArrayLike] | None
    hessian: Callable[[Any], ArrayLike] | None
    on_the_line: bool  # the caller's functions take plain numbers

    def point(self, x: Vector) -> Any:  # noqa: ANN401 - what the caller's functions take
        return float(x[0]) if self.on_the_line else x

    def height(self, x: Vector) -> float:
        if not np.isfinite(x).all():  # a line search that ran away
            return -np.inf
        return np.asarray(self.log_f(self.point(x)), dtype=float).item()

    def climb(self, x: Vector) -> Vector:
        """A point near the mode, found in steps that suit the function's scale."""
        scale = self.scale(x)

        def downhill(z: Vector) -> Vector:
            return -scale * self.slope(x + scale * z)

        found = minimize(
            lambda z: -self.height(x + scale * z),
            np.zeros(x.size),
            jac=None if self.gradient is None else downhill,
        )
        return x + scale * np.asarray(found.x)

    def slope(self, x: Vector) -> Vector:
        if self.gradient is not None:
            return np.asarray(self.gradient(self.point(x)), dtype=float).reshape(x.shape)
        scale = self.scale(x)
        df = numerical_jacobian(self.around(x, scale), np.zeros(x.size)).df
        return np.asarray(df) / scale

    def precision(self, x: Vector, step: float = _STEP) -> Matrix:
        if self.hessian is not None:
            bend = np.asarray(self.hessian(self.point(x)), dtype=float).reshape(x.size, x.size)
        else:
            scale = self.scale(x)
            at = np.zeros(x.size)
            ddf = numerical_hessian(self.around(x, scale), at, initial_step=step).ddf
            bend = np.asarray(ddf) / np.outer(scale, scale)
        return -(bend + bend.T) / 2

    def check_bend(self, x: Vector, precision: Matrix) -> None:
        """Refuse a mode without a proper second derivative, along any principal direction."""
        scale = self.scale(x)
        again = precision if self.hessian is not None else self.precision(x, _OTHER_STEP)
        for axis in np.linalg.eigh(np.outer(scale, scale) * precision)[1].T:
            along = scale * axis
            bend, other = float(along @ precision @ along), float(along @ again @ along)
            # One side is enough: the other may end soon, with the support.
            width = max(self.reach(x, along, sides=(side,)) for side in (-1, 1))
            if width**2 * bend < _FLATTEST or not abs(other - bend) <= _AGREEMENT * bend:
                raise ConvergenceError(
                    "log_f must have a second derivative at its mode, neither zero nor changing "
                    f"with the step; got {-bend:.3g} and {-other:.3g} along {along} at {x}. "
                    "Use FinitePossibility.on_grid, since no Gaussian has this shape."
                )

    def around(self, x: Vector, scale: Vector) -> Callable[[Array], Array]:
        """The function of z = (at - x) / scale, coordinates first, as scipy.differentiate asks."""
        return lambda z: np.apply_along_axis(lambda one: self.height(x + scale * one), 0, z)

    def scale(self, x: Vector) -> Vector:
        """How far each coordinate can move until the logarithm changes by one, within twofold."""
        return np.array([self.reach(x, axis) for axis in np.eye(x.size)])

    def reach(self, x: Vector, axis: Vector, sides: tuple[int, ...] = (-1, 1)) -> float:
        here, step = self.height(x), 1.0

        def is_near(step: float) -> bool:
            ends = (self.height(x + side * step * axis) for side in sides)
            return all(abs(end - here) <= 1 for end in ends)

        while step < _WIDEST and is_near(2 * step):
            step *= 2
        while step > 1 / _WIDEST and not is_near(step):
            step /= 2
        return step
