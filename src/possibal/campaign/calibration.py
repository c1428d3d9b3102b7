"""Calibration of stated chances: temperature scaling with a prior, by rows whose label is known.

    known = fit_calibration(checked, left_out, labels)      known.stated(chance) -> StatedChance

The odds that the model gives the label that it predicts are taken to a power that is not known. A
prior says how far that is from one. Check rows say more, and so do rows that the model learnt from,
each predicted without its own label; what they all leave open is the range of the stated chance.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from possibal.arrays import Array, Vector

SPREAD = 0.7
"""Standard deviation of the logarithm of the sharpness before any label: how far models are
from their best temperature (docs/calibration.md)."""
GRID = np.linspace(-4 * SPREAD, 4 * SPREAD, 161)
"""Logarithms of the sharpness on which its posterior is computed."""
TAIL = 0.025
"""Share of the posterior beyond either end of the range."""
LEFT_OUT = 0.25
"""Weight of a left-out row beside a check row: it was asked about because it is hard to tell, and
is no fair sample (docs/calibration.md)."""
SELF_CHECKED = 200
"""Rows that a model learnt from and is asked about without their labels, at most."""
LEAST = 1e-12
"""A chance is kept this far from zero and one, so that its odds are finite."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Predictions that came true or not: the chances that the model gave them, and whether."""

    chances: ArrayLike = ()
    is_right: ArrayLike = ()

    def __len__(self) -> int:
        """How many there are."""
        return len(np.asarray(self.chances))


@dataclass(frozen=True)
class StatedChance:
    """The chance that a predicted label is right, and its range of 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Calibration:
    """What to make of a model's probabilities.

    Attributes:
        sharpness: one over the temperature; one leaves them as they are.
        low: the least that is credible.
        high: the largest.
        labels: how many there are.
        rows: how many check rows had a say.
    """

    sharpness: float = 1.0
    low: float = float(np.exp(-1.959964 * SPREAD))
    high: float = float(np.exp(1.959964 * SPREAD))
    labels: int = 2
    rows: int = 0

    def chances(self, given: ArrayLike) -> Vector:
        """The chances that labels of these probabilities are right."""
        return _tempered(given, self.sharpness, self.labels)

    def range(self, given: ArrayLike) -> tuple[Vector, Vector]:
        """The least and the largest of each that are credible."""
        low, high = (_tempered(given, one, self.labels) for one in (self.low, self.high))
        return low, high

    def stated(self, given: float) -> StatedChance:
        """The chance that a label of this probability is right."""
        low, high = self.range(given)
        return StatedChance(float(self.chances(given)), float(low), float(high))


def fit_calibration(checked: Outcomes, left_out: Outcomes, labels: int) -> Calibration:
    """The calibration that check rows tell, and left-out ones with a fraction of their weight.

    Odds of the predicted label against the mean of the others are raised to the power b, with
    log b ~ N(0, SPREAD^2); b is its posterior mean on a grid. With two labels that is temperature
    scaling of the latent.

    Paper: none; Guo and others (2017), temperature scaling; Platt (1999).

    Args:
        checked: check rows.
        left_out: rows that the model learnt from, each predicted without its own label.
        labels: how many there are.
    """
    labels = max(labels, 2)
    told = _log_likelihood(checked, labels) + LEFT_OUT * _log_likelihood(left_out, labels)
    log_density = told - 0.5 * (GRID / SPREAD) ** 2
    weight = np.exp(log_density - log_density.max())
    share = np.cumsum(weight) / weight.sum()
    mean = float(GRID @ weight / weight.sum())
    low, high = (float(np.interp(at, share, GRID)) for at in (TAIL, 1 - TAIL))
    sharpness, least, largest = np.exp([mean, low, high]).tolist()
    return Calibration(sharpness, least, largest, labels, len(checked))


def _log_likelihood(told: Outcomes, labels: int) -> Vector:
    """Log probability of what came true, for each power of `GRID`."""
    scaled = np.exp(GRID)[:, None] * _log_odds(np.asarray(told.chances, dtype=float), labels)
    others, is_so = np.log(labels - 1.0), np.asarray(told.is_right, dtype=bool)
    said = np.where(is_so, -np.logaddexp(0, others - scaled), -np.logaddexp(0, scaled - others))
    return said.sum(axis=1)


def _log_odds(chances: Array, labels: int) -> Array:
    """Logarithm of the odds of a label against the mean of the others; at least zero."""
    p = np.clip(chances, LEAST, 1 - LEAST)
    return np.maximum(np.log(p) - np.log1p(-p) + np.log(labels - 1.0), 0.0)


def _tempered(given: ArrayLike, sharpness: float, labels: int) -> Vector:
    """Probabilities whose odds are raised to a power; least that of a label drawn at random."""
    odds = sharpness * _log_odds(np.asarray(given, dtype=float), labels)
    return np.exp(-np.logaddexp(0, np.log(labels - 1.0) - odds))
