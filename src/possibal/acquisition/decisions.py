"""Necessity of a decision: how sure it is that the best decision at the mode is truly the best.

    threshold_necessity(mean, variance, 2.5)            # is g above or below?
    interval_necessity(mean, variance, 0.1)             # is g within 0.1 of what is predicted?
    cost_necessity(mean, variance, [[0, 5], [1, 0]])    # which of several actions, by their costs?
    top_necessity(mean, covariance, 3)                  # are these the three largest?

The decision is the best one at the most credible latents. Its doubt, one minus the necessity, is
the possibility that another is at least as good: the supremum of the possibility function over the
latents for which it is. A union of events is as possible as the most possible of them, so that
every rival is a problem by itself. With two labels and costs of 0 and 1 this is Prop. 2.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from possibal.arguments import whole
from possibal.arrays import Array, Matrix, Places, Vector, per_row, positive, real, vector
from possibal.belief import Belief, HasBelief
from possibal.distributions import HasMoments

_SIDES = 2


def threshold_necessity(
    mean: ArrayLike | Belief | HasBelief | HasMoments,
    variance: ArrayLike | None = None,
    threshold: ArrayLike = 0.0,
) -> Vector:
    """Necessity that the latent lies on the side of a threshold where it is thought, (m,).

    Paper: Sec. 7 (ii); Prop. 2 for a threshold of zero, 1 - N(threshold; mu, sigma2).

    Args:
        mean: (m,), or a belief.
        variance: (m,), where that is not a belief.
        threshold: one for all rows, or one for each.
    """
    belief = _one_latent(mean, variance, "threshold_necessity")
    off = belief.mean - per_row(threshold, "threshold", len(belief))
    ahead = np.where(off[belief.leading] >= 0, off, -off)
    return -np.expm1(_log_doubt(belief, ahead))


def interval_necessity(
    mean: ArrayLike | Belief | HasBelief | HasMoments,
    variance: ArrayLike | None = None,
    width: ArrayLike = 1.0,
) -> Vector:
    """Necessity that the latent is within a width of its most credible value, (m,).

    A reason to stop measuring: where it is 0.95, nothing further off than the width has a
    possibility above 0.05.

    Paper: Sec. 7 (ii); Sec. 4.3, 1 - sup N(g; mu, sigma2) over |g - mu| > width.

    Args:
        mean: (m,), or a belief.
        variance: (m,), where that is not a belief.
        width: one for all rows, or one for each.
    """
    belief = _one_latent(mean, variance, "interval_necessity")
    positive(width, "width", "Use half of the accuracy that is wanted.")
    half = per_row(width, "width", len(belief))
    ahead = half - np.abs(belief.mean - belief.mean[belief.leading])
    return -np.expm1(_log_doubt(belief, ahead))


def cost_necessity(
    mean: ArrayLike | Belief | HasBelief | HasMoments, variance: ArrayLike | None, costs: ArrayLike
) -> Vector:
    """Necessity that the cheapest of several actions truly is the cheapest, for two labels, (m,).

    An action's cost is expected over the label, whose probability is Phi of the latent. Refusing
    to decide is one more action, with the same cost for either label.

    Paper: Sec. 7 (ii); Prop. 2 for costs of 0 and 1, where a rival is cheaper beyond zero.

    Args:
        mean: (m,), or a belief.
        variance: (m,), or None beside a belief.
        costs: (actions, 2), of each action if the label is the first or the second.
    """
    belief, table = _one_latent(mean, variance, "cost_necessity"), real(costs, "costs")
    if table.ndim != _SIDES or table.shape[1] != _SIDES or len(table) < _SIDES:
        raise ValueError(
            f"costs must have shape (actions, 2) with at least two actions; got {table.shape}. "
            "Give each action its cost for the first and for the second label."
        )
    action = cheapest_action(belief, None, table)
    log_doubt = np.full(len(belief), -np.inf)
    for place in range(len(table)):
        own = np.flatnonzero(action == place)
        for rival in np.delete(table, place, axis=0):
            ahead = _to_rival(belief.mean[:, own], rival - table[place])
            log_doubt[own] = np.maximum(log_doubt[own], _log_doubt(belief.part(own), ahead))
    return -np.expm1(log_doubt)


def cheapest_action(
    mean: ArrayLike | Belief | HasBelief | HasMoments, variance: ArrayLike | None, costs: ArrayLike
) -> Places:
    """The action of least expected cost at the most credible latents, by its place, (m,).

    Paper: none; what :func:`cost_necessity` is about.
    """
    belief, table = _one_latent(mean, variance, "cheapest_action"), real(costs, "costs")
    at_mode = belief.mean[belief.leading]
    expected = np.outer(ndtr(-at_mode), table[:, 0]) + np.outer(ndtr(at_mode), table[:, 1])
    return expected.argmin(axis=1)


def top_necessity(mean: ArrayLike, covariance: ArrayLike, count: int = 1) -> float:
    """Necessity that the rows of largest mean are those of largest latent.

    The set is wrong if any row outside is at least as large as one inside; how possible that is,
    the difference of their latents says.

    Paper: Sec. 7 (ii); Prop. 3 where latents are independent and one is wanted.

    Args:
        mean: (m,), of the latents.
        covariance: (m, m), between them.
        count: how many are wanted; less than m.
    """
    mu, sigma = vector(mean, "mean"), real(covariance, "covariance")
    if sigma.shape != (len(mu), len(mu)):
        raise ValueError(
            f"covariance must have shape {(len(mu), len(mu))}, as the mean says; "
            f"got {sigma.shape}. Use predict(X, return_cov=True)."
        )
    wanted = whole("count", count, 1)
    if wanted >= len(mu):
        raise ValueError(
            f"count must be less than the number of rows, {len(mu)}; got {wanted}. "
            "All rows are the largest of all rows."
        )
    order = np.argsort(-mu, kind="stable")
    top, rest = order[:wanted, None], order[None, wanted:]
    own = np.diagonal(sigma)
    spread = np.maximum(own[top] + own[rest] - 2.0 * sigma[top, rest], 0.0)
    return float(-np.expm1(_log_possibility(mu[top] - mu[rest], spread).max()))


# ---------------------------------------------------------------- nearest rivals


def _to_rival(mean: Array, extra: Vector) -> Matrix:
    """How far latents are from where a rival is as cheap; zero and less where it is.

    Args:
        mean: (H, m).
        extra: what the rival costs more, for the first label and for the second.
    """
    first, second = extra
    if first <= 0 and second <= 0:  # never dearer
        return np.zeros_like(mean)
    if first >= 0 and second >= 0:  # never cheaper
        return np.full_like(mean, np.inf)
    bend = ndtri(first / (first - second))  # as cheap where Phi(g) = first / (first - second)
    return bend - mean if first > 0 else mean - bend


def _log_doubt(belief: Belief, ahead: Array) -> Vector:
    """Log possibility that a lead is gone, where each hypothesis says how long it is, (H, m)."""
    log_c = np.log(belief.credibility)[:, None]
    return (log_c + _log_possibility(ahead, belief.variance)).max(axis=0)


def _log_possibility(ahead: Array, variance: Array) -> Array:
    """Log possibility that a Gaussian lead is gone; of a known one it is zero or minus infinity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.maximum(ahead, 0.0) / np.sqrt(variance)
    z = np.where(np.isinf(ahead), ahead, np.where(np.isnan(z), 0.0, z))  # 0 / 0 is no lead
    return -0.5 * z * z


def _one_latent(
    mean: ArrayLike | Belief | HasBelief | HasMoments, variance: ArrayLike | None, name: str
) -> Belief:
    """A belief about one latent a row."""
    belief = Belief.of(mean, variance)
    if not belief.is_binary:
        raise ValueError(
            f"{name} must be given one latent a row; got {belief.latents}. "
            "For several labels use acquisition.necessity."
        )
    return belief
