"""Exact possibility of each label being the likeliest, under independent latents."""

import numpy as np

from possibal.arrays import Array, Matrix
from possibal.belief import Belief, ProbabilityBelief

_LIGHTEST = 1e-290
"""A rival whose variance is larger than another's by more than this comes down at no cost."""


_FIXED, _FREE = 1e-140, 1e140
"""Variances that stand for zero and infinity."""


def possibility(belief: Belief) -> Matrix:
    """Possibility that each label is the likeliest one, (m, labels).

    The leading label has possibility one. Over several hypotheses it is the largest of their
    credibilities times what each of them says. A latent of variance zero cannot move, and one of
    infinite variance moves at no cost; labels whose latents are known to be equal are both
    possible.

    Paper: Sec. 4.3; Props. 2 and 3 are one minus the largest of the others.
    """
    if isinstance(belief, ProbabilityBelief):
        raise TypeError(
            "belief must tell what is not known; got the probabilities of "
            f"{belief.model} alone. Use a PossibilisticGPClassifier."
        )
    with np.errstate(all="ignore"):
        if belief.is_limit:
            belief = Belief.trusted(
                belief.mean, np.clip(belief.variance, _FIXED, _FREE), belief.credibility
            )
        if belief.is_binary:
            z = belief.mean / np.sqrt(belief.variance)
            log_each = -0.5 * np.stack([np.maximum(z, 0.0), np.maximum(-z, 0.0)], axis=-1) ** 2
        else:
            log_each = _log_possibility(belief.mean, belief.variance)
        log_credibility = np.log(belief.credibility).reshape(-1, 1, 1)
        return np.exp((log_credibility + log_each).max(axis=0))


def _log_possibility(mu: Array, sigma2: Array) -> Array:
    """Log possibility that each label has the largest latent, for one hypothesis, (..., C).

    Label l leads from height t if every rival above t comes down to it. The cost, half of
    (t - mu_l)^2 / sigma2_l plus the same over rivals with mu above t, is convex in t; its
    minimum is the weighted mean of l and of its k highest rivals, for the k at which the next
    rival is not above it.
    """
    order = np.argsort(-mu, axis=-1, kind="stable")
    m = np.take_along_axis(mu, order, axis=-1)
    w = 1.0 / np.take_along_axis(sigma2, order, axis=-1)
    w = np.maximum(w / w.max(axis=-1, keepdims=True), _LIGHTEST)  # so that sums are numbers
    worst = np.take_along_axis(sigma2, order, axis=-1).min(axis=-1)
    C = mu.shape[-1]
    sorted_cost = np.zeros_like(m)
    for place in range(1, C):  # the label at this place of the order; place 0 leads at no cost
        top, weight = m[..., place], w[..., place]
        t, total = top, weight
        for rival in range(place):
            joins = m[..., rival] > t
            grown = total + w[..., rival]
            t = np.where(joins, t + (m[..., rival] - t) * (w[..., rival] / grown), t)
            total = np.where(joins, grown, total)
        above = np.maximum(m[..., :place] - t[..., None], 0.0)
        cost = weight * (t - top) ** 2 + (w[..., :place] * above * above).sum(axis=-1)
        sorted_cost[..., place] = cost / worst
    cost = np.empty_like(sorted_cost)
    np.put_along_axis(cost, order, sorted_cost, axis=-1)
    return -0.5 * cost
