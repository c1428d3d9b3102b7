"""Families of laws: the probability of an outcome Y for each theta.

Labels have a table of probabilities, any density on the line is integrated by quadrature, and
Gaussian noise has closed forms.
"""

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.special import log_ndtr

from possibal.arrays import positive, vector
from possibal.theory.finite import FinitePossibility, Point
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.interval import Interval

Outcome: TypeAlias = Any
"""A name, a number or a vector, as the family has them."""
Outcomes: TypeAlias = Any
"""A collection of names, or an Interval of the line."""
Possibility: TypeAlias = GaussianPossibility | FinitePossibility

SUM_TOLERANCE = 1e-6
"""How far from one a sum of probabilities may be."""
SEARCH_TOLERANCE = 1e-9
"""How far, relatively, a supremum over a Gaussian theta may be missed by the search for it."""
_REACH = 10.0
"""Standard deviations beyond which a Gaussian possibility, below 2e-22, is not searched."""


@dataclass(frozen=True)
class Estimate:
    """A number and how far off it may be.

    Paper: Sec. 7 (i), "e.g., based on importance sampling".

    Attributes:
        value: the number.
        error: how far off: zero for a closed form and for finitely many thetas and outcomes, a
            standard error for sampling, otherwise a bound: what quadrature reports, plus
            SEARCH_TOLERANCE of the total where each term was itself searched for.
    """

    value: float
    error: float = 0.0


class Family(Protocol):
    """Probabilities of an outcome, one law for each theta.

    Paper: Sec. 3.3, p_Y(. | theta).
    """

    def log_density(self, y: Outcome, theta: Point) -> float:
        """Log probability, or log density, of one outcome.

        Paper: Sec. 3.3, log p_Y(y | theta).
        """
        ...

    def log_mass(self, outcomes: Outcomes, theta: Point) -> float:
        """Log probability of a set of outcomes.

        Paper: Eq. (1), log of the integral over B of p_theta.
        """
        ...

    def integrate(self, height: Callable[[Outcome], float], possibility: Possibility) -> Estimate:
        """Sum or integral over all outcomes; the possibility hints at where their mass lies.

        Paper: Sec. 4.1, the integral over Y.
        """
        ...


@dataclass(frozen=True, eq=False)
class DiscreteFamily:
    """Finitely many outcomes.

    Paper: Sec. 4.2, the labels L and p_Y(l; theta).

    Attributes:
        outcomes: their names.
        log_probability: log p(. | theta) for all outcomes in order, at one theta.
    """

    outcomes: tuple[Hashable, ...]
    log_probability: Callable[[Point], ArrayLike]

    def log_density(self, y: Hashable, theta: Point) -> float:
        """Log probability of one outcome.

        Paper: Sec. 4.2, log p_Y(l; theta).
        """
        return self.log_mass([y], theta)

    def log_mass(self, outcomes: Collection[Hashable], theta: Point) -> float:
        """Log probability of a set of outcomes.

        Paper: Sec. 4.2, log of the sum over l in B of p_Y(l; theta).
        """
        if isinstance(outcomes, str) or not isinstance(outcomes, Collection):  # pyright: ignore[reportUnnecessaryIsInstance] - not all callers check types
            got = "an Interval" if isinstance(outcomes, Interval) else repr(outcomes)
            raise TypeError(
                f"outcomes must be a collection of names; got {got}. "
                f"Write a list of some of {list(self.outcomes)}."
            )
        unknown = [y for y in outcomes if y not in self.outcomes]
        if unknown:
            raise ValueError(f"outcomes must be among {list(self.outcomes)}; got {unknown[0]!r}.")
        log_p = np.atleast_1d(np.asarray(self.log_probability(theta), dtype=float))
        total = float(np.exp(np.logaddexp.reduce(log_p)))
        if log_p.shape != (len(self.outcomes),) or abs(total - 1) > SUM_TOLERANCE:
            raise ValueError(
                f"log_probability must give {len(self.outcomes)} logarithms of probabilities "
                f"that sum to one; got shape {log_p.shape} and sum {total:.6g} at {theta}."
            )
        chosen = [log_p[i] for i, y in enumerate(self.outcomes) if y in outcomes]
        return min(float(np.logaddexp.reduce(chosen)), 0.0)

    def integrate(self, height: Callable[[Outcome], float], possibility: Possibility) -> Estimate:
        """Sum over the outcomes.

        Paper: Sec. 4.2, the sum over l in L.
        """
        del possibility  # a sum needs no hint of where the mass lies
        return Estimate(fsum(height(y) for y in self.outcomes))


@dataclass(frozen=True, eq=False)
class Density:
    """Any density on the real line, or on a stretch of it.

    Paper: Sec. 3.3, p_Y(. | theta).

    Attributes:
        log_p: log p(y | theta), called as log_p(y, theta).
        low: lower end of the outcomes.
        high: upper end of the outcomes.
        breaks: outcomes between which to integrate piece by piece; name peaks and kinks.
    """

    log_p: Callable[[Outcome, Point], float]
    low: float = -np.inf
    high: float = np.inf
    breaks: tuple[float, ...] = ()

    def log_density(self, y: Outcome, theta: Point) -> float:
        """Log density of one outcome.

        Paper: Sec. 3.3, log p_Y(y | theta).
        """
        return float(self.log_p(y, theta))

    def log_mass(self, outcomes: Interval, theta: Point) -> float:
        """Log probability of an interval, by quadrature.

        Paper: Eq. (1), the integral over B of p_theta.
        """
        start, end = _ends(outcomes)
        low, high = max(start, self.low), min(end, self.high)
        if low >= high:
            return -np.inf
        mass = _quadrature(lambda y: np.exp(self.log_p(y, theta)), low, high, self.breaks).value
        return float(np.log(mass)) if mass > 0 else -np.inf

    def integrate(self, height: Callable[[Outcome], float], possibility: Possibility) -> Estimate:
        """Quadrature over the outcomes.

        Paper: Sec. 4.1, the integral over Y.
        """
        del possibility  # the caller's breaks say where the mass lies
        return _quadrature(height, self.low, self.high, self.breaks)


@dataclass(frozen=True)
class GaussianNoise:
    """The outcome is theta plus independent Gaussian noise on every coordinate.

    Paper: Prop. 6, y = g(X) + epsilon with epsilon characterised by N(0, sigma^2 I).
    """

    variance: float

    def __post_init__(self) -> None:
        """Refuse noise that is none, and noise that differs between coordinates."""
        variance = positive(self.variance, "variance", "Without noise, condition theta itself.")
        if variance.ndim:
            raise ValueError(
                f"variance must be one number for all coordinates; got shape {variance.shape}. "
                "Rescale theta first."
            )

    def log_density(self, y: ArrayLike, theta: Point) -> float:
        """Log density of one outcome, a number or a vector like theta.

        Paper: Prop. 6, log N(y; theta, sigma^2 I).
        """
        off = np.atleast_1d(np.asarray(y, dtype=float) - np.asarray(theta, dtype=float))
        log_peak = -0.5 * off.size * np.log(2 * np.pi * self.variance)
        return float(log_peak - 0.5 * (off @ off) / self.variance)

    def log_mass(self, outcomes: Interval, theta: Point) -> float:
        """Log probability of an interval of the line.

        Paper: Eq. (1), the integral over B of p_theta.
        """
        at, scale = vector(theta, "theta"), self.variance**0.5
        if at.size != 1:
            raise ValueError(
                f"theta must be a number where outcomes are an Interval; got {at.size} entries. "
                "Use the marginal of one coordinate."
            )
        low, high = (float(end - at[0]) / scale for end in _ends(outcomes))
        return _log_normal_mass(low, high)

    def integrate(self, height: Callable[[Outcome], float], possibility: Possibility) -> Estimate:
        """Quadrature over the line, in pieces around what is possible.

        Paper: Sec. 4.1, the integral over Y.
        """
        if isinstance(possibility, FinitePossibility):
            believed = zip(possibility.points, possibility.values.flat, strict=True)
            centres = vector([p for p, value in believed if value > 0], "possibility").tolist()
        else:
            low, high = window(possibility, Interval())
            centres = [low, float(possibility.mean[0]), high]
        margin = _REACH * self.variance**0.5
        breaks = {c + shift for c in centres for shift in (-margin, 0.0, margin)}
        return _quadrature(height, -np.inf, np.inf, breaks)


def window(f: GaussianPossibility, within: Interval) -> tuple[float, float]:
    """The stretch of the line worth searching: near the mean, or near the set's nearest point.

    Paper: none; the search is ours.
    """
    start, end = within.ends
    low, high = max(float(f.lower[0]), start), min(float(f.upper[0]), end)
    nearest = min(max(float(f.mean[0]), low), high)
    gamma = float(f.precision[0, 0])
    reach = _REACH / gamma**0.5 if gamma > 0 else np.inf
    low, high = max(low, nearest - reach), min(high, nearest + reach)
    if not np.isfinite(high - low):
        raise ValueError(
            "possibility must fall off or have a bounded support to be searched; got precision 0 "
            "on an unbounded line. Pass lower and upper."
        )
    return low, high


def _ends(outcomes: object) -> tuple[float, float]:
    """Ends of a set of outcomes on the line."""
    if not isinstance(outcomes, Interval):
        raise TypeError(
            f"outcomes must be an Interval where they are numbers; got {outcomes!r}. "
            "Write Interval(low, high)."
        )
    return outcomes.ends


def _log_normal_mass(a: float, b: float) -> float:
    """Value of log(Phi(b) - Phi(a)) for a < b, on the side where neither is close to one."""
    if a > 0:
        a, b = -b, -a
    log_b, log_a = float(log_ndtr(b)), float(log_ndtr(a))
    return log_b + float(np.log1p(-np.exp(log_a - log_b))) if log_a < log_b else -np.inf


def _quadrature(
    height: Callable[[float], float], low: float, high: float, breaks: Iterable[float]
) -> Estimate:
    """The integral over an interval, piece by piece between the breaks."""
    ends = [low, *sorted(b for b in breaks if low < b < high), high]
    pieces = [quad(height, a, b, limit=200, epsabs=1e-11, epsrel=1e-9) for a, b in pairwise(ends)]
    return Estimate(fsum(p[0] for p in pieces), fsum(p[1] for p in pieces))
