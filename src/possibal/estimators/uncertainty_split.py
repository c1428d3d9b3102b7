"""What is not known and what is random, told apart: credible ranges and what they leave."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.gp.likelihoods import Link, Softmax
from possibal.gp.posterior import Posterior
from possibal.theory.credible_set import softmax_range, squared_radius


@dataclass(frozen=True, eq=False)
class LabelSplit:
    """Epistemic and random uncertainty about the label of each row.

    Attributes:
        label: (m,), the leading label.
        lower: (m,), its least probability over what is credible.
        upper: (m,), its largest.
        random: (m,), entropy of the label in nats at the most credible probabilities: what would
            stay if the latent were known to be where it is thought.
        level: necessity of the range.
    """

    label: NDArray[Any]
    lower: Vector
    upper: Vector
    random: Vector
    level: float

    @property
    def epistemic(self) -> Vector:
        """Width of the credible range: what is not known and labels may yet tell, in [0, 1]."""
        return self.upper - self.lower

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.lower)


@dataclass(frozen=True, eq=False)
class OutcomeSplit:
    """Epistemic and random uncertainty about the outcome of each row, in units of y.

    Attributes:
        lower: (m,), the least credible value of what is not random.
        upper: (m,), the largest.
        epistemic: (m,), standard deviation of what is not known: the latent, and the error where
            that is systematic.
        random: (m,), standard deviation of what is drawn anew with each measurement.
        level: necessity of the interval.
    """

    lower: Vector
    upper: Vector
    epistemic: Vector
    random: Vector
    level: float

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.lower)


def split_labels(
    posterior: Posterior, X: Matrix, classes: NDArray[Any], level: float
) -> LabelSplit:
    """What is not known and what is random about the labels of rows.

    Paper: Sec. 4.3, the credible set at a level; App. B.3, the most credible probability.
    """
    mean, variance = posterior.moments(X)
    at_mode = _probabilities(posterior, mean[[posterior.credibility.argmax()]])[0]
    leading = at_mode.argmax(axis=1)
    lower, upper = _range(posterior, (mean, variance), level, leading)
    return LabelSplit(classes[leading], lower, upper, entr(at_mode).sum(axis=1), level)


def probability_range(posterior: Posterior, X: Matrix, level: float) -> Array:
    """Least and largest probability of each label over what is credible, (m, C, 2).

    Paper: Sec. 4.3, the credible set at a level, through the link.
    """
    moments = posterior.moments(X)
    several = isinstance(posterior.data.link, Softmax)
    labels = range(moments[0].shape[1] if several else 2)
    found = np.empty((len(X), len(labels), 2))
    for label in labels:
        place = np.full(len(X), label, dtype=np.intp)
        found[:, label] = np.column_stack(_range(posterior, moments, level, place))
    return found


def _range(
    posterior: Posterior, moments: tuple[Array, Array], level: float, label: Places
) -> tuple[Vector, Vector]:
    """Range of the probability of one label of each row, over all settings still credible."""
    radius2 = squared_radius(level, posterior.credibility)
    kept = np.flatnonzero(radius2 >= 0)
    mean, variance = (part[kept] for part in moments)
    S, P, m = mean.shape
    link = posterior.data.link
    if isinstance(link, Softmax):
        flat = [np.swapaxes(part, 1, 2).reshape(S * m, P) for part in (mean, variance)]
        ends = softmax_range(flat[0], flat[1], np.repeat(radius2[kept], m), np.tile(label, S))
        low, high = (end.reshape(S, m) for end in ends)
    else:
        low, high = _link_range(link, (mean[:, 0], variance[:, 0]), radius2[kept, None], label)
    return low.min(axis=0), high.max(axis=0)


def _link_range(
    link: Link, moments: tuple[Array, Array], radius2: Array, label: Places
) -> tuple[Array, Array]:
    """Range of the probability of one of two labels, for each setting."""
    mean, half = moments[0], np.sqrt(radius2 * moments[1])
    side = np.where(label == 1, 1.0, -1.0)
    return link.probability(side * mean - half), link.probability(side * mean + half)


def _probabilities(posterior: Posterior, mean: Array) -> Array:
    """Probabilities of all labels at latents, (S, m, C)."""
    p = posterior.data.link.probability(mean)
    if not isinstance(posterior.data.link, Softmax):
        p = np.concatenate([posterior.data.link.probability(-mean), p], axis=1)
    return np.swapaxes(p, 1, 2)
