"""Recall of a sought class: how many of its rows are found, how many likely left, when to stop.

    known = fit_class_calibration(checked, left_out)    known.unfound(chances) -> RowCount
    RecallEstimate(found, unfound, answers, fruitless).advice("spam")

Each row without a label has a chance of being of the class by the model. How far these chances can
be trusted is not known: their log-odds are shifted and stretched by amounts with a prior, of which
rows with a known label tell more. So the number of rows left unfound has a distribution, and
recall a range.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from possibal.arrays import Array, Matrix, Vector
from possibal.campaign.calibration import LEAST, TAIL, Outcomes, StatedChance
from possibal.campaign.stopping import FEWEST_ANSWERS, Advice, AdviceState

TARGET = 0.95
"""Share of the sought rows that is to be found."""
SHIFT, SHARPNESS = 1.5, 0.7
"""Standard deviations of the shift of log-odds, and of the logarithm of their sharpness, before any
label (docs/recall.md)."""
LEFT_OUT = 0.2
"""Weight of a left-out row beside a check row: rows were asked about because they are likely of the
class, and the model was fitted to their like (docs/recall.md)."""
MOST_LEFT_OUT = 1000
"""Rows learnt from that have a say, at most."""
STEPS, REACH = (29, 15), 3.5
"""Values of shift and sharpness on which their posterior is computed, and how many standard
deviations they reach out."""
NEGLIGIBLE = 1e-7
"""Where the posterior is below this share of its largest value, it is taken for zero."""
WIDTH = 0.03125
"""Log-odds are told apart in steps of this width."""
MANY = 60.0
"""A Poisson variable with a larger mean is taken for a normal one."""
COUNTS = np.arange(161.0)
"""Values of one with a smaller mean."""
LOG_FACTORIALS = np.array([lgamma(count + 1.0) for count in COUNTS.tolist()])
NORMAL = np.array([NormalDist().inv_cdf((place + 0.5) / 24) for place in range(24)])
"""Values of a standard normal variable, of equal probability."""


@dataclass(frozen=True)
class RowCount:
    """How many rows there are of which nobody knows: the mean and the range of 95 %."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ClassCalibration:
    """What to make of a model's chances that rows are of a class: a posterior on a grid.

    Attributes:
        shift: of log-odds, one value per point of the grid.
        sharpness: what they are multiplied by before.
        weight: the probability of each point; they sum to one.
    """

    shift: Vector
    sharpness: Vector
    weight: Vector

    def chances(self, given: ArrayLike) -> Vector:
        """The mean chances of rows of such chances by the model."""
        return self.weight @ self._each(_log_odds(given))

    def stated(self, given: ArrayLike) -> list[StatedChance]:
        """The chances that rows of such chances by the model are of the class, with their ranges.

        Rows whose log-odds are in one step of `WIDTH` have one range.
        """
        rows = _log_odds(given)
        values, places = np.unique(np.round(rows / WIDTH) * WIDTH, return_inverse=True)
        each = self._each(values)
        low, high = (
            np.array([_quantile(one, self.weight, at) for one in each.T])[places]
            for at in (TAIL, 1.0 - TAIL)
        )
        value = np.clip(self.chances(given), low, high)
        return list(map(StatedChance, value.tolist(), low.tolist(), high.tolist()))

    def unfound(self, given: ArrayLike, times: ArrayLike = 1.0) -> RowCount:
        """How many of some rows are of the class.

        At each point of the grid a sum of rare events, which is taken for a Poisson variable: its
        variance is not less.

        Paper: none; Le Cam (1960).

        Args:
            given: the model's chances of the rows.
            times: how many rows each of them stands for.
        """
        odds = _log_odds(given)
        of_rows = np.broadcast_to(np.asarray(times, dtype=float), odds.shape)
        values, places = np.unique(np.round(odds / WIDTH) * WIDTH, return_inverse=True)
        means = self._each(values) @ np.bincount(places, of_rows, len(values))
        count, weight = _mixture(means, self.weight)
        low, high = (_quantile(count, weight, at) for at in (TAIL, 1.0 - TAIL))
        most = float(of_rows.sum())
        return RowCount(float(self.weight @ means), min(low, most), min(high, most))

    def _each(self, log_odds: Vector) -> Matrix:
        """The chance of rows at each point of the grid, (points, rows)."""
        return _logistic(self.shift[:, None] + self.sharpness[:, None] * log_odds)


def fit_class_calibration(checked: Outcomes, left_out: Outcomes) -> ClassCalibration:
    """The calibration that check rows tell, and left-out ones with a fraction of their weight.

    The log-odds z of the model are those of the truth up to a + b z, with a ~ N(0, SHIFT^2) and
    log b ~ N(0, SHARPNESS^2).

    Paper: none; Platt (1999), with priors.

    Args:
        checked: the chances that check rows are of the class, and whether they are.
        left_out: the same of rows that the model learnt from, each without its own label.
    """
    steps = [np.linspace(-REACH, REACH, count) for count in STEPS]
    a, b = (grid.ravel() for grid in np.meshgrid(*steps, indexing="ij"))
    shift, sharpness = SHIFT * a, np.exp(SHARPNESS * b)
    log_density = -0.5 * (a**2 + b**2)
    for told, counts in ((checked, 1.0), (left_out, LEFT_OUT)):
        sign = np.where(np.asarray(told.is_right, dtype=bool), 1.0, -1.0)
        odds = _log_odds(told.chances)
        z = shift[:, None] + sharpness[:, None] * odds
        log_density -= counts * np.logaddexp(0.0, -sign * z).sum(axis=1)
    weight = np.exp(log_density - log_density.max())
    kept = weight > NEGLIGIBLE
    return ClassCalibration(shift[kept], sharpness[kept], weight[kept] / weight[kept].sum())


@dataclass(frozen=True)
class RecallEstimate:
    """How much of a sought class was found.

    Attributes:
        found: how many rows have it as their label.
        unfound: how many others are of it.
        answers: how many rows have a label.
        fruitless: how many were asked about since the last one that was of it.
    """

    found: int
    unfound: RowCount
    answers: int
    fruitless: int

    @classmethod
    def of(cls, is_found: Sequence[bool], unfound: RowCount) -> Self:
        """How much was found.

        Args:
            is_found: whether each labelled row is of the class, in the order of the answers.
            unfound: how many others are of it.
        """
        fruitless = next((n for n, one in enumerate(reversed(is_found)) if one), len(is_found))
        return cls(sum(is_found), unfound, len(is_found), fruitless)

    @property
    def value(self) -> float:
        """Recall, the share that was found; zero where there may be none."""
        return self._share(min(max(self.unfound.mean, self.unfound.low), self.unfound.high))

    @property
    def low(self) -> float:
        """The lower end of its range of 95 %."""
        return self._share(self.unfound.high)

    @property
    def high(self) -> float:
        """The upper end."""
        return self._share(self.unfound.low)

    def _share(self, unfound: float) -> float:
        """Recall where so many are left."""
        return self.found / (self.found + unfound) if self.found else 0.0

    @property
    def state(self) -> AdviceState:
        """Stop where the whole range is at the target, and may stop where its middle is."""
        if self.answers < FEWEST_ANSWERS or self.value < TARGET:
            return AdviceState.GO_ON
        return AdviceState.DONE if self.low >= TARGET else AdviceState.SETTLED

    def sentence(self, label: object) -> str:
        """How much was found, in words."""
        if not self.found:
            return f"No {label} was found so far."
        if self.low == 1.0:
            return f"All of {label} found, as far as can be told."
        low, value, high = (_percent(one) for one in (self.low, self.value, self.high))
        return f"About {value} % of {label} found ({low} to {high})."

    def report(self, label: object) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "label": label,
            "found": self.found,
            "left": self.unfound.mean,
            "most_left": self.unfound.high,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "fruitless": self.fruitless,
            "sentence": self.sentence(label),
        }

    def reason(self, label: object) -> str:
        """Why to go on, or not, in words."""
        left, high = round(self.unfound.mean), round(self.unfound.high)
        if not high:
            return f"None of the rows without a label is likely to be {label}."
        some = f"about {left:,}" if left else "hardly any"
        reason = f"Of the rows without a label, {some} may be {label}, and at most {high:,}."
        if self.state is AdviceState.SETTLED:
            return f"{reason} That is not sure enough to rely on yet."
        return reason

    def advice(self, label: object) -> Advice:
        """Whether to go on, with how much was found."""
        said = f"{self.sentence(label)} {self.reason(label)}"
        return Advice(self.state, said, 0.0, round(self.unfound.high), None)


def _percent(share: float) -> int:
    """A share in percent, rounded; all or none of it only where that is so."""
    return round(100 * share) if share in {0.0, 1.0} else min(99, max(1, round(100 * share)))


def _log_odds(chances: ArrayLike) -> Vector:
    """Logarithms of odds, finite."""
    p = np.clip(np.asarray(chances, dtype=float), LEAST, 1.0 - LEAST)
    return np.log(p) - np.log1p(-p)


def _logistic(log_odds: Array) -> Array:
    """The chances of log-odds."""
    return np.exp(-np.logaddexp(0.0, -log_odds))


def _mixture(means: Vector, weight: Vector) -> tuple[Vector, Vector]:
    """Values of a mixture of Poisson variables, and their probabilities."""
    few = means <= MANY
    log_mean = np.log(np.maximum(means[few], LEAST))
    log_mass = np.outer(log_mean, COUNTS) - means[few, None] - LOG_FACTORIALS
    spread = means[~few, None] + np.sqrt(means[~few, None]) * NORMAL
    others = np.repeat(weight[~few] / len(NORMAL), len(NORMAL))
    values = np.concatenate([COUNTS, spread.ravel()])
    return values, np.concatenate([weight[few] @ np.exp(log_mass), others])


def _quantile(values: Vector, weight: Vector, at: float) -> float:
    """The least value up to which there is that share of the weight."""
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weight[order]) / weight.sum()
    return float(values[order][np.searchsorted(shares, at).clip(max=len(values) - 1)])
