"""Settings in which the axioms A0-A4 are searched: what may be known of theta, and the law of Y.

A setting turns a few numbers in [0, 1] into a possibility function, and that into the others that
the axioms compare it with, so that a premise holds by construction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Protocol, TypeAlias

import numpy as np

from possibal.arrays import Array, Vector
from possibal.theory.families import DiscreteFamily, Estimate
from possibal.theory.finite import FinitePossibility
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.outer_measure import OuterMeasure

Measure: TypeAlias = Callable[..., Any]
"""A measure of uncertainty: takes what the setting gives it, and returns a number."""
Known: TypeAlias = Any
"""What is known of theta, with the law of Y: what a measure of the setting reads."""

_TIE = 1e-9
"""Probabilities closer than this are alike."""
_POINT, _NOTHING = 1e-18, 1e12
"""Variances that stand for a known latent and for one of which nothing is known."""


class AxiomSetting(Protocol):
    """Possibility functions of theta, and those that an axiom compares each with.

    Paper: Sec. 4, A0 to A4. None stands for what the setting does not have.
    """

    @property
    def size(self) -> int:
        """How many numbers in [0, 1] make a possibility function.

        Paper: none; the search is ours.
        """
        ...

    def value(self, measure: Measure, known: Known) -> float:
        """What the measure says of it.

        Paper: Sec. 4, EU(f).
        """
        ...

    def some(self, u: Vector) -> Known | None:
        """A possibility function made of numbers.

        Paper: Sec. 3.1, f.
        """
        ...

    def point(self, u: Vector) -> Known | None:
        """The indicator of a point.

        Paper: Sec. 4, A1.
        """
        ...

    def nothing(self) -> Known:
        """The function that is one everywhere.

        Paper: Sec. 4, A2.
        """
        ...

    def mixed(self, u: Vector, alpha: float, v: Vector) -> Known | None:
        """What is known of T(theta), where p(y | T(theta)) = alpha p(y | theta) + (1 - alpha) p(y).

        Paper: Sec. 4, A3, with T a bijection onto its image; v makes p.
        """
        ...

    def shifted(self, u: Vector, v: Vector) -> Known | None:
        """The same function at theta + c; v makes c.

        Paper: App. D, A3'.
        """
        ...

    def vaguer(self, u: Vector, v: Vector) -> Known | None:
        """A strictly less informative function: nowhere smaller, and larger somewhere.

        Paper: Sec. 4, A4 with its footnote, which must ask that f' >= f everywhere.
        """
        ...


@dataclass(frozen=True)
class FiniteThetas:
    """Finitely many thetas, each the probabilities of the labels; any possibility function.

    A measure is called with an :class:`OuterMeasure`.

    Paper: Sec. 4, the multinomial setting, p_Y(y | theta) = theta_y.

    Attributes:
        labels: how many.
        steps: the probabilities are multiples of one over this.
        ties: whether two labels may be as likely as each other at a mode.
    """

    labels: int = 2
    steps: int = 4
    ties: bool = False

    @cached_property
    def thetas(self) -> tuple[tuple[float, ...], ...]:
        """The points of the simplex whose coordinates are multiples of a step.

        Paper: Sec. 4, Theta a simplex.
        """
        counts = product(range(self.steps + 1), repeat=self.labels)
        return tuple(
            tuple(k / self.steps for k in point) for point in counts if sum(point) == self.steps
        )

    @property
    def size(self) -> int:
        """One number for each theta.

        Paper: none; the search is ours.
        """
        return len(self.thetas)

    def value(self, measure: Measure, known: OuterMeasure) -> float:
        """What the measure says of it.

        Paper: Sec. 4, EU(f).
        """
        return _number(measure(known))

    def some(self, u: Vector) -> OuterMeasure | None:
        """A possibility function of any shape.

        Paper: Sec. 3.1, f.
        """
        return self._known(u) if self._is_allowed(u) else None

    def point(self, u: Vector) -> OuterMeasure | None:
        """The indicator of the theta whose number is largest.

        Paper: Sec. 4, A1.
        """
        return self.some(np.arange(self.size) == u.argmax())

    def nothing(self) -> OuterMeasure:
        """One everywhere.

        Paper: Sec. 4, A2.
        """
        return self._known(np.ones(self.size))

    def mixed(self, u: Vector, alpha: float, v: Vector) -> OuterMeasure | None:
        """The image under T(theta) = alpha theta + (1 - alpha) c, with c one of the thetas.

        Paper: Sec. 4, A3; App. D, "T(theta) = alpha theta + (1 - alpha) c".
        """
        centre = np.asarray(self.thetas[int(v.argmax())])
        return self._moved(u, lambda theta: alpha * theta + (1.0 - alpha) * centre)

    def shifted(self, u: Vector, v: Vector) -> OuterMeasure | None:
        """The function moved from the second label to the first, within the simplex.

        Paper: App. D, A3'.
        """
        support = np.asarray(self.thetas)[u > 0]
        step = (
            v[0]
            * support[:, 1].min(initial=1.0)
            * (np.eye(self.labels)[0] - np.eye(self.labels)[1])
        )
        return self._moved(u, lambda theta: theta + step) if step.any() else None

    def vaguer(self, u: Vector, v: Vector) -> OuterMeasure | None:
        """The larger of two functions.

        Paper: Sec. 4, A4.
        """
        if not self._is_allowed(u):
            return None
        f = u / u.max()
        larger = np.maximum(f, v)
        return self._known(larger) if (larger > f + _TIE).any() else None

    def _is_allowed(self, u: Vector) -> bool:
        """Whether the numbers make a function, and its modes agree on the leading label."""
        if not u.max() > 0:
            return False
        top = np.sort(np.asarray(self.thetas)[u == u.max()], axis=1)
        leaders = {int(np.argmax(self.thetas[i])) for i in np.flatnonzero(u == u.max())}
        return self.ties or (len(leaders) == 1 and bool((top[:, -1] > top[:, -2] + _TIE).all()))

    def _known(self, values: Array) -> OuterMeasure:
        f = FinitePossibility(values / values.max(), (self.thetas,))
        return OuterMeasure(f, _multinomial(self.labels))

    def _moved(self, u: Vector, T: Callable[[Vector], Vector]) -> OuterMeasure | None:
        """What is known of T(theta)."""
        if not self._is_allowed(u):
            return None
        f = FinitePossibility(u / u.max(), (self.thetas,))
        moved = f.map(lambda theta: tuple(T(np.asarray(theta)).tolist()))
        return OuterMeasure(moved, _multinomial(self.labels))


@dataclass(frozen=True)
class Stretches:
    """Theta is the probability of one of two labels; a Gaussian, or one, on a stretch of [0, 1].

    A measure is called with an :class:`OuterMeasure`.

    Paper: Sec. 4, the multinomial setting for two labels; Sec. 3.2 (i), bounded support.
    """

    size = 4

    def value(self, measure: Measure, known: OuterMeasure) -> float:
        """What the measure says of it.

        Paper: Sec. 4, EU(f).
        """
        return _number(measure(known))

    def some(self, u: Vector) -> OuterMeasure:
        """A stretch from u[0] to u[1] with its mode at a share u[2] of it, the sharper for u[3].

        Paper: Sec. 3.2 (i).
        """
        low, high = float(u[:2].min()), float(u[:2].max())
        return self._known(low, high, low + float(u[2]) * (high - low), 100.0 * float(u[3]))

    def point(self, u: Vector) -> OuterMeasure:
        """The indicator of a point.

        Paper: Sec. 4, A1.
        """
        return self._known(float(u[0]), float(u[0]), float(u[0]), 0.0)

    def nothing(self) -> OuterMeasure:
        """One on all of [0, 1].

        Paper: Sec. 4, A2.
        """
        return self._known(0.0, 1.0, 0.5, 0.0)

    def mixed(self, u: Vector, alpha: float, v: Vector) -> OuterMeasure:
        """The image under T(theta) = alpha theta + (1 - alpha) c.

        Paper: Sec. 4, A3.
        """
        return self._moved(u, alpha, (1.0 - alpha) * float(v[0]))

    def shifted(self, u: Vector, v: Vector) -> OuterMeasure | None:
        """The function moved upwards, within [0, 1].

        Paper: App. D, A3'.
        """
        step = float(v[0]) * (1.0 - float(u[:2].max()))
        return self._moved(u, 1.0, step) if step else None

    def vaguer(self, u: Vector, v: Vector) -> OuterMeasure | None:
        """The same mode, a longer stretch and a smaller precision.

        Paper: Sec. 4, A4.
        """
        low, high = float(u[:2].min()), float(u[:2].max())
        wider = float(v[0]) * low, high + float(v[1]) * (1.0 - high)
        precision = 100.0 * float(u[3])
        if wider == (low, high) and (low == high or not precision * (1.0 - v[2])):
            return None
        return self._known(*wider, low + float(u[2]) * (high - low), precision * float(v[2]))

    def _known(self, low: float, high: float, mode: float, precision: float) -> OuterMeasure:
        f = GaussianPossibility(
            min(max(mode, low), high), precision=precision, lower=low, upper=high
        )
        return OuterMeasure(f, _COIN)

    def _moved(self, u: Vector, slope: float, shift: float) -> OuterMeasure:
        """What is known of slope * theta + shift."""
        f = self.some(u).possibility
        assert isinstance(f, GaussianPossibility)  # noqa: S101 - tells the type checker
        return OuterMeasure(f.affine(slope, shift), _COIN)


@dataclass(frozen=True)
class Latents:
    """Gaussian latents, one for two labels under a probit, else one per label under a softmax.

    A measure is called as a score is: measure(mean, variance) for one row, (1,) or (1, C).

    Paper: Sec. 4.2, N(theta_x; mu_x, sigma2_x).

    Attributes:
        labels: how many.
        ties: whether two labels may be as likely as each other at the mode.
    """

    labels: int = 2
    ties: bool = False

    @property
    def size(self) -> int:
        """A mean and a variance for each latent.

        Paper: none; the search is ours.
        """
        return 2 * self._latents

    def value(self, measure: Measure, known: tuple[Array, Array]) -> float:
        """What the score says of it.

        Paper: Sec. 4, EU(f).
        """
        return _number(measure(*known))

    def some(self, u: Vector) -> tuple[Array, Array] | None:
        """Means between -2 and 2, and variances between 0.01 and 100.

        Paper: Sec. 4.2.
        """
        mean, variance = self._means(u), 10.0 ** (4.0 * u[self._latents :] - 2.0)
        return self._row(mean, variance) if self._is_allowed(mean) else None

    def point(self, u: Vector) -> tuple[Array, Array] | None:
        """Latents that are as good as known.

        Paper: Sec. 4, A1; Prop. 4, sigma to 0.
        """
        mean = self._means(u)
        return self._row(mean, np.full(mean.size, _POINT)) if self._is_allowed(mean) else None

    def nothing(self) -> tuple[Array, Array]:
        """Latents of which as good as nothing is known.

        Paper: Sec. 4, A2; Prop. 4, sigma to infinity.
        """
        mean = self._means(np.linspace(0.6, 0.9, self.size))
        return self._row(mean, np.full(mean.size, _NOTHING))

    def mixed(self, u: Vector, alpha: float, v: Vector) -> None:
        """Nothing: a mixture with another law makes no Gaussian latent.

        Paper: Sec. 4, A3, whose premise no map of these latents meets.
        """
        del u, alpha, v

    def shifted(self, u: Vector, v: Vector) -> tuple[Array, Array] | None:
        """The same variances around other means.

        Paper: App. D, A3'.
        """
        known, mean = self.some(u), self._means(v)
        if known is None or not self._is_allowed(mean):
            return None
        return self._row(mean, known[1].ravel())

    def vaguer(self, u: Vector, v: Vector) -> tuple[Array, Array] | None:
        """The same means with larger variances, of all latents or some.

        Paper: Sec. 4, A4; Prop. 4, "strictly less informative".
        """
        known, more = self.some(u), v[: self._latents]
        if known is None or not more.max() > _TIE:
            return None
        return self._row(self._means(u), known[1].ravel() * 10.0**more)

    @property
    def _latents(self) -> int:
        return 1 if self.labels == 2 else self.labels  # noqa: PLR2004 - two labels need one latent

    def _means(self, u: Vector) -> Vector:
        return 4.0 * u[: self._latents] - 2.0

    def _row(self, mean: Vector, variance: Vector) -> tuple[Array, Array]:
        return (mean, variance) if self.labels == 2 else (mean[None], variance[None])  # noqa: PLR2004 - as above

    def _is_allowed(self, mean: Vector) -> bool:
        """Whether one label leads at the mode."""
        top = np.sort(mean if mean.size > 1 else np.append(mean, 0.0))
        return self.ties or bool(top[-1] - top[-2] > _TIE)


def _number(value: Any) -> float:  # noqa: ANN401 - what is no number fails here
    """A number, an estimate of one, or an array that holds one."""
    return float(np.ravel(value.value if isinstance(value, Estimate) else value)[0])


def _log(theta: object) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(theta, dtype=float))


def _multinomial(labels: int) -> DiscreteFamily:
    """Theta is the vector of probabilities."""
    return DiscreteFamily(tuple(range(labels)), _log)


def _coin(theta: float) -> Array:
    return _log([1.0 - float(theta), float(theta)])


_COIN = DiscreteFamily((0, 1), _coin)
"""Theta is the probability of outcome 1."""
