"""Outer measures: what is not known (a possibility) joined with what is random (a probability).

A family gives the probability of an outcome Y for each theta; a possibility function says what is
known of theta. Everything here is one operation, the supremum over theta of f(theta) times a
probability: a maximum over a finite set, a closed form for Gaussian noise, a search otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, minimize, minimize_scalar

from possibal.arrays import Array, real, vector
from possibal.errors import ConvergenceError
from possibal.theory.families import (
    SEARCH_TOLERANCE,
    SUM_TOLERANCE,
    Estimate,
    Family,
    GaussianNoise,
    Outcome,
    Outcomes,
    Possibility,
    window,
)
from possibal.theory.finite import FinitePossibility, Point, Subset
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.interval import Interval
from possibal.theory.moment_matching import moment_match

LogFunction: TypeAlias = Callable[[Point], float]
"""A logarithm at one theta: a point of a finite set, a number on the line, or an array (n,)."""

_STEPS = 81
"""Points of the line tried before the search narrows."""


class Proposal(Protocol):
    """What importance sampling draws from; the frozen laws of scipy.stats are such.

    Paper: Sec. 7 (i), importance sampling.
    """

    def rvs(self, size: int, random_state: np.random.Generator) -> ArrayLike:
        """Outcomes drawn from the law.

        Paper: Sec. 7 (i), importance sampling.
        """
        ...

    def logpdf(self, x: ArrayLike) -> ArrayLike:
        """Log density of the law.

        Paper: Sec. 7 (i), importance sampling.
        """
        ...


@dataclass(frozen=True, eq=False)
class OuterMeasure:
    """An outer probability measure: theta is fixed but unknown, Y is random given theta.

    Paper: Eq. (1), P(A x B) = sup over theta in A of f(theta) P(Y in B | theta).

    Where theta is Gaussian and no closed form applies, the supremum is searched for. On the line
    81 evenly spaced points are tried, then the stretch around the best one. This finds the
    supremum if log f + log p has no peak narrower than about a fortieth of the searched stretch,
    which is the set asked for as far as it lies in the support and within ten standard deviations
    of the mean or, for a set that does not hold the mean, of its nearest point; of two peaks of
    almost the same height it may climb the lower one. Beyond one dimension the search climbs from
    the mean, which finds the supremum if log f + log p is concave. A narrower peak may be missed
    without a word: use FinitePossibility.on_grid for such a law.

    Attributes:
        possibility: what is known of theta.
        family: the law of Y for each theta.
    """

    possibility: Possibility
    family: Family

    def credibility(
        self, parameters: Interval | Subset | None = None, outcomes: Outcomes = None
    ) -> float:
        """Credibility that theta lies in one set and Y in another; left out, a set is everything.

        Paper: Eq. (1); Sec. 4.1, both marginals.

        For a Gaussian theta a search on the line, which needs log f + log P(Y in B | theta) to
        have no peak narrower than about a fortieth of the searched stretch; see the class.

        Args:
            parameters: an Interval of the line for a Gaussian; points or a function of a point
                for a finite set.
            outcomes: names of a discrete family's outcomes, or an Interval of the line.
        """
        f = self.possibility
        if outcomes is not None:
            peak = _supremum(f, lambda theta: self.family.log_mass(outcomes, theta), parameters)
            return float(np.exp(peak.log_value))
        if parameters is None:
            return 1.0
        if isinstance(f, FinitePossibility):
            return f.possibility(_as_subset(parameters))
        return f.possibility(_as_interval(parameters))

    def outcome(self, y: Outcome) -> float:
        """Credibility of one outcome: a probability, or a density for continuous outcomes.

        Paper: Sec. 4.1, sup over theta of f(theta) p_Y(y | theta).

        For a Gaussian theta in closed form under Gaussian noise, otherwise a search, which needs
        log f + log p to have no peak narrower than about a fortieth of the searched stretch, and
        to be concave beyond one dimension; see the class.
        """
        return float(np.exp(self._peak(y).log_value))

    def posterior(self, y: Outcome) -> Possibility:
        """What is known of theta once y is seen.

        Paper: Sec. 3.3, f(theta | y) proportional to p_Y(y | theta) f(theta), its supremum one.

        Returns:
            Exact for a finite set and for a Gaussian under Gaussian noise; otherwise the Gaussian
            with the posterior's mode and covariance (Sec. 5.1).
        """
        f, family = self.possibility, self.family
        if isinstance(f, FinitePossibility):
            heights = _log_products(f, self._log_likelihood(y))
            if heights.max() == -np.inf:
                raise ValueError(f"y must be possible; got {y!r}, which no possible theta gives.")
            return FinitePossibility.from_log(heights, f.names)
        if isinstance(family, GaussianNoise):
            mean, precision = _conjugate(f, family, y)
            return _on_support(f, mean, precision, y)
        likelihood = self._log_likelihood(y)
        matched = moment_match(
            lambda theta: float(f.log(theta)) + likelihood(theta), self._peak(y).theta
        )
        return _on_support(f, matched.mean, matched.precision, y)

    def uncertainty_parameter(self) -> float:
        """Epistemic uncertainty about theta.

        Paper: Sec. 4.1, U^Theta = integral of f over Theta.
        """
        return self.possibility.volume()

    def uncertainty_outcome(self) -> Estimate:
        """Epistemic uncertainty about theta as far as it shows in Y.

        Paper: Sec. 4.1, U^Y = integral over y of sup over theta of f(theta) p(y | theta), minus 1;
        in closed form sqrt(det(I + Sigma / sigma^2)) - 1 for a Gaussian under Gaussian noise.

        Returns:
            The value and a bound of its error: zero for the closed form and for finitely many
            thetas and outcomes. Otherwise the error of quadrature, none for a sum, plus, for a
            Gaussian theta, 1e-9 of the total, since each term is searched for; the bound holds
            where the search's condition does, see the class. A value below its error may be zero.
        """
        f, family = self.possibility, self.family
        if isinstance(f, GaussianPossibility) and isinstance(family, GaussianNoise):
            if not f.is_bounded:
                return Estimate(_excess(f, family))
            if f.dimension > 1:
                raise ValueError(
                    "possibility must be unbounded or one-dimensional here; got a box of "
                    f"{f.dimension} dimensions. Use uncertainty_outcome_by_sampling."
                )
        total = family.integrate(self.outcome, f)
        if total.value < 1 - max(SUM_TOLERANCE, total.error):
            raise ConvergenceError(
                "family must have its mass where the quadrature looks; got a total of "
                f"{total.value:.6g} where at least 1 is certain. Name the peaks in breaks."
            )
        missed = SEARCH_TOLERANCE * total.value if isinstance(f, GaussianPossibility) else 0.0
        return Estimate(max(total.value - 1, 0.0), total.error + missed)

    def uncertainty_outcome_by_sampling(
        self, proposal: Proposal, draws: int, rng: np.random.Generator
    ) -> Estimate:
        """Epistemic uncertainty about theta as far as it shows in Y, by importance sampling.

        Paper: Sec. 7 (i), U^Y where it is "analytically intractable, e.g., based on importance
        sampling".

        Args:
            proposal: a law of outcomes with tails at least as heavy as those of the credibility.
            draws: how many outcomes to draw.
            rng: where they come from.

        Returns:
            The estimate and its standard error.
        """
        if not isinstance(rng, np.random.Generator):  # pyright: ignore[reportUnnecessaryIsInstance] - not all callers check types
            raise TypeError(
                f"rng must be a NumPy Generator; got {rng!r}. Pass np.random.default_rng(0)."
            )
        if not isinstance(draws, Integral):
            raise TypeError(
                f"draws must be a whole number; got {draws!r}. A thousand, 1000, is a start."
            )
        if draws < 2:  # noqa: PLR2004 - a spread needs two
            raise ValueError(f"draws must be at least 2; got {draws}. A thousand is a start.")
        sample = real(proposal.rvs(size=draws, random_state=rng), "proposal")
        log_height = np.array([self._peak(y).log_value for y in sample])
        weight = np.exp(log_height - np.asarray(proposal.logpdf(sample)))
        return Estimate(float(weight.mean()) - 1, float(weight.std(ddof=1) / draws**0.5))

    def _log_likelihood(self, y: Outcome) -> LogFunction:
        return lambda theta: self.family.log_density(y, theta)

    def _peak(self, y: Outcome) -> "_Peak":
        """Where f(theta) p(y | theta) is largest, in closed form if that is inside the support."""
        f, family, likelihood = self.possibility, self.family, self._log_likelihood(y)
        if isinstance(f, GaussianPossibility) and isinstance(family, GaussianNoise):
            theta, _ = _conjugate(f, family, y)
            log_f = float(np.squeeze(f.log(theta)))
            if np.isfinite(log_f):
                return _Peak(theta, log_f + likelihood(theta))
        return _supremum(f, likelihood, None)


@dataclass(frozen=True)
class _Peak:
    """Where a supremum is reached, and its logarithm."""

    theta: Point
    log_value: float


def _as_subset(within: Interval | Subset) -> Subset:
    """A set of points of a finite set."""
    if isinstance(within, Interval):
        raise TypeError(
            "parameters must be points or a function of a point for a finite set; got an "
            "Interval. Write lambda theta: low <= theta <= high."
        )
    return within


def _as_interval(within: Interval | Subset) -> Interval:
    """A set of parameters of a Gaussian."""
    if not isinstance(within, Interval):
        raise TypeError(
            f"parameters must be an Interval for a Gaussian; got {type(within).__name__}."
        )
    return within


def _supremum(f: Possibility, log_g: LogFunction, within: Interval | Subset | None) -> _Peak:
    """The supremum of f(theta) g(theta) over a set, or over everything."""
    if isinstance(f, FinitePossibility):
        heights = _log_products(f, log_g)
        if within is not None:
            heights = np.where(f.mask(_as_subset(within)), heights, -np.inf)
        return _Peak(f.points[int(heights.argmax())], float(heights.max()))
    if f.dimension == 1:
        return _climb_line(f, log_g, Interval() if within is None else _as_interval(within))
    if within is not None:
        raise ValueError(
            f"parameters must be left out beyond one dimension; got {f.dimension} dimensions. "
            "Use FinitePossibility.on_grid."
        )
    return _climb(f, log_g)


def _log_products(f: FinitePossibility, log_g: LogFunction) -> Array:
    """Values of log f + log g, shaped like those of f; g is asked only where f is not zero."""
    log_g_values = [
        log_g(p) if v > 0 else 0.0 for p, v in zip(f.points, f.values.flat, strict=True)
    ]
    with np.errstate(divide="ignore"):
        return np.log(f.values) + np.reshape(log_g_values, f.values.shape)


def _climb_line(f: GaussianPossibility, log_g: LogFunction, within: Interval) -> _Peak:
    """A look along the line, then a search between the neighbours of the best point."""
    low, high = window(f, within)
    if low > high:  # the set lies off the support
        return _Peak(float(f.mean[0]), -np.inf)
    grid = np.linspace(low, high, _STEPS)
    heights = f.log(grid) + np.array([log_g(float(theta)) for theta in grid])
    best = int(heights.argmax())
    coarse = _Peak(float(grid[best]), float(heights[best]))
    if low == high:
        return coarse
    start, ends = grid[best], grid[[max(best - 1, 0), min(best + 1, _STEPS - 1)]]
    found = minimize_scalar(  # over the way from the best point: its tolerance grows with the value
        lambda way: -(float(f.log(start + way)) + log_g(float(start + way))),
        bounds=tuple(ends - start),
        method="bounded",
        options={"xatol": 1e-10 * (high - low)},
    )
    fine = _Peak(float(start + found.x), -float(found.fun))
    return max(coarse, fine, key=lambda peak: peak.log_value)


def _climb(f: GaussianPossibility, log_g: LogFunction) -> _Peak:
    """A climb from the mean; it reaches the supremum if log f + log g is concave."""
    if f.is_singular:
        raise ValueError(
            "possibility must have a non-singular precision to be searched; got a singular one. "
            "Pass the marginal of the coordinates that are known."
        )
    scale = 1 / np.sqrt(np.diagonal(f.precision))

    def theta(z: Array) -> Array:
        return np.clip(f.mean + scale * z, f.lower, f.upper)

    found = minimize(
        lambda z: -(float(f.log(theta(z))) + log_g(theta(z))),
        np.zeros(f.dimension),
        method="L-BFGS-B",
        bounds=Bounds((f.lower - f.mean) / scale, (f.upper - f.mean) / scale),
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    return _Peak(theta(np.asarray(found.x)), -float(found.fun))


def _on_support(
    f: GaussianPossibility, mode: Array, precision: Array, y: Outcome
) -> GaussianPossibility:
    """The posterior Gaussian on the support of f, if its mode lies there."""
    inside = np.clip(mode, f.lower, f.upper)
    if not np.allclose(mode, inside, rtol=1e-12, atol=1e-12):
        at = int((mode != inside).argmax())
        raise ValueError(
            f"y must leave the mode of theta in the support; got {y!r}, which moves it to "
            f"{mode[at]:.6g} outside [{f.lower[at]:.6g}, {f.upper[at]:.6g}] at coordinate {at}. "
            "Use FinitePossibility.on_grid, which may have its mode on the edge."
        )
    return GaussianPossibility(inside, precision=precision, lower=f.lower, upper=f.upper)


def _conjugate(f: GaussianPossibility, noise: GaussianNoise, y: ArrayLike) -> tuple[Array, Array]:
    """Mode and precision of f(theta) p(y | theta), for a Gaussian under Gaussian noise."""
    seen = vector(y, "y")
    if seen.size != f.dimension:
        raise ValueError(f"y must have {f.dimension} entries, like theta; got {seen.size}.")
    precision = f.precision + np.eye(f.dimension) / noise.variance
    return f.mean + np.linalg.solve(precision, (seen - f.mean) / noise.variance), precision


def _excess(f: GaussianPossibility, noise: GaussianNoise) -> float:
    """Value of sqrt(det(I + Sigma / sigma^2)) - 1, with no cancellation when it is small."""
    if f.is_singular:
        return np.inf
    spread = np.linalg.eigvalsh(f.covariance) / noise.variance
    return float(np.expm1(0.5 * np.log1p(spread).sum()))
