"""Credible sets: what is at least as possible as one minus a level, and what follows for outcomes.

The credible set of a Gaussian at a level is the ellipsoid of squared radius -2 log(1 - level) in
units of its covariance; its necessity is the level. Where a Gaussian is itself only credible to a
degree c, the squared radius is 2 (log c - log(1 - level)), and below zero the set is empty.
"""

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, logsumexp, ndtri, softmax, wrightomega

from possibal.arrays import Array, Matrix, Places, Vector

_CHUNK = 200_000
"""Numbers worked on at once."""
_HALVINGS = 80
"""Steps by which any bracket shrinks to rounding, and half of them one of known size."""
_SMALLEST = 1e-200
"""A squared radius below this is none."""
_GOLDEN = (5.0**0.5 - 1.0) / 2.0
_SECTIONS = 40
"""Golden sections: an optimum is flat, so half the digits of its place give all of its value."""
_CLIMBS, _SETTLED = 1000, 1e-14
"""Steps of the climb to the least probability at most, and the gain at which it ends."""


def squared_radius(level: float, credibility: Vector) -> Vector:
    """Squared radius of the credible set of each hypothesis; negative where it is empty.

    Paper: Sec. 4.3, N(E) = 1 - P(E^c): what lies outside has a possibility of 1 - level.

    Args:
        level: necessity of the set, between 0 and 1.
        credibility: (H,), of the hypotheses; the largest is one.
    """
    with np.errstate(divide="ignore"):
        return 2.0 * (np.log(credibility) - np.log1p(-checked_level(level)))


def checked_level(level: object) -> float:
    """A level between zero and one, or one sentence on what else it is.

    Paper: Sec. 4.3, a necessity.
    """
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise ValueError(f"level must lie between 0 and 1; got {level}. Use 0.95 for one.")
    return float(level)


# ---------------------------------------------------------------- labels


def softmax_range(
    mean: Matrix, variance: Matrix, radius2: ArrayLike, label: Places
) -> tuple[Vector, Vector]:
    """Least and largest probability of one label over credible sets of independent latents.

    Paper: Sec. 4.2, the latents of a softmax; the range is ours.

    Args:
        mean: (m, C).
        variance: (m, C), positive.
        radius2: squared radius of each set, not negative; a number or (m,).
        label: (m,), the place of the label.

    Returns:
        (m,) each.
    """
    m, C = mean.shape
    low, high, radius = np.empty(m), np.empty(m), np.broadcast_to(radius2, (m,))
    rows = max(1, _CHUNK // (C * C))
    for start in range(0, m, rows):
        part = slice(start, start + rows)
        turned = (label[part, None] + np.arange(C)) % C  # the label first
        mu, sigma2 = (np.take_along_axis(x[part], turned, axis=1) for x in (mean, variance))
        high[part] = _largest(mu, sigma2, radius[part, None])
        low[part] = _least(mu, sigma2, radius[part, None])
    return low, high


def _largest(mu: Matrix, sigma2: Matrix, radius2: Matrix) -> Vector:
    """Largest probability of the first label over the ellipsoid, (m,).

    It is largest where the log of the sum of the rivals' odds is least, which is convex. There the
    label's latent is raised by sigma2_1 t and that of a rival k lowered by w_k, with w_k = W(a
    sigma2_k e^mu_k), W Lambert's function, and t = sum of w_k / sigma2_k. The a at which this lies
    on the ellipsoid is the one unknown; the distance grows with it.
    """
    lead, rivals, spread, s2 = mu[:, :1], mu[:, 1:], sigma2[:, :1], sigma2[:, 1:]
    flat = np.exp(rivals - rivals.max(axis=1, keepdims=True))
    log_scale = np.log(s2) + rivals - rivals.max(axis=1, keepdims=True)
    r = np.sqrt(np.maximum(radius2, _SMALLEST))
    slope2 = spread * _sums(flat) ** 2 + _sums(s2 * flat * flat)
    reach = r * np.sqrt(s2)  # W(x) <= x and w_k <= r sd_k give a bracket of log a
    low = np.log(r) - 0.5 * np.log(slope2)
    high = (np.log(reach) + reach - log_scale).min(axis=1, keepdims=True)
    log_a = 0.5 * (low + high)
    for _ in range(_HALVINGS):
        log_length, slope = _length(_omega(log_scale + log_a), spread, s2)
        off = log_length - np.log(r)
        if (np.abs(off) <= _SETTLED).all():
            break
        low, high = np.where(off < 0, log_a, low), np.where(off < 0, high, log_a)
        step = log_a - off / slope  # Newton's, unless it leaves the bracket
        log_a = np.where((low < step) & (step < high), step, 0.5 * (low + high))
    w = _omega(log_scale + log_a)
    raised = lead + spread * _sums(w / s2)
    return np.exp(-np.logaddexp(0.0, logsumexp(rivals - w, axis=1) - raised[:, 0]))


def _omega(log_x: Matrix) -> Matrix:
    """Lambert's W of the exponential of log_x."""
    return np.asarray(wrightomega(log_x), dtype=np.float64)


def _sums(x: Matrix) -> Matrix:
    """Sum of each line, (m, 1)."""
    return x.sum(axis=1, keepdims=True)


def _length(w: Matrix, spread: Matrix, s2: Matrix) -> tuple[Matrix, Matrix]:
    """Log distance of the latents that w makes from the centre, and its slope by log a."""
    steep = w / (1.0 + w)
    t, dt = _sums(w / s2), _sums(steep / s2)
    square = spread * t * t + _sums(w * w / s2)
    return 0.5 * np.log(square), (spread * t * dt + _sums(w * steep / s2)) / square


def _least(mu: Matrix, sigma2: Matrix, radius2: Matrix) -> Vector:
    """Least probability of the first label over the ellipsoid, (m,).

    The log of the sum of the rivals' odds is convex, so each step to where its tangent is largest
    raises it. It may have several peaks, each with at most one rival that is raised beyond all
    proportion: the climb begins at every rival and at all of them together, and the best counts.
    """
    m, C = mu.shape
    together = np.concatenate([np.zeros((m, 1)), softmax(mu[:, 1:], axis=1)], axis=1)
    starts = np.concatenate([np.repeat(np.eye(C)[1:], m, axis=0), together])
    each = [np.tile(x, (C, 1)) for x in (mu, sigma2, np.sqrt(radius2))]
    peaks = _climbed(each[0], each[1], each[2], starts)
    return np.exp(-np.logaddexp(0.0, peaks.reshape(C, m).max(axis=0)))


def _climbed(mu: Matrix, sigma2: Matrix, radius: Matrix, weight: Matrix) -> Vector:
    """Log odds against the first label where a climb from weights of rivals ends, (m,)."""
    height, going, climbs = np.full(len(mu), -np.inf), np.arange(len(mu)), 0
    while len(going) and climbs < _CLIMBS:
        climbs += 1
        slope = np.concatenate([np.full((len(going), 1), -1.0), weight[:, 1:]], axis=1)
        length = np.sqrt((sigma2 * slope * slope).sum(axis=1, keepdims=True))
        theta = mu + radius * sigma2 * slope / length
        top = theta[:, 1:].max(axis=1, keepdims=True)
        odds = np.exp(theta[:, 1:] - top)
        total = odds.sum(axis=1, keepdims=True)
        reached = (top + np.log(total))[:, 0] - theta[:, 0]
        gain, height[going] = reached - height[going], reached
        rising = gain > _SETTLED * np.maximum(1.0, np.abs(reached))
        going = going[rising]
        mu, sigma2, radius = mu[rising], sigma2[rising], radius[rising]
        weight = np.concatenate([total, odds / total], axis=1)[rising]
    return height


# ---------------------------------------------------------------- numbers


def outcome_half_width(latent_sd: Array, noise_sd: Array, tail: Array) -> Array:
    """Half the width of the interval around the mean that an outcome leaves with credibility tail.

    The outcome is random around a latent that is a Gaussian possibility, so that leaving has the
    credibility sup over z of exp(-z^2 / 2) P(|noise_sd e + latent_sd z| > h), e standard normal.
    For each z one h makes the product the tail; the largest of them is the half width. Without
    doubt about the latent it is the interval of a normal law, without noise that of a Gaussian
    possibility.

    Paper: Eq. (1) for the complement of an interval; Sec. 4.3.

    Args:
        latent_sd: of the latent.
        noise_sd: of the random error.
        tail: credibility of what lies outside, below one.
    """
    latent_sd, noise_sd, tail = np.broadcast_arrays(latent_sd, noise_sd, tail)
    ratio, log_tail = latent_sd / noise_sd, np.log(tail)
    low, high = np.zeros_like(ratio), np.sqrt(-2.0 * log_tail)

    def width(z: Array) -> Array:
        return _two_sided_quantile(ratio * z, np.minimum(log_tail + 0.5 * z * z, 0.0))

    for _ in range(_SECTIONS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        better = width(left) > width(right)
        low, high = np.where(better, low, left), np.where(better, right, high)
    return noise_sd * np.maximum(width(0.5 * (low + high)), width(np.zeros_like(ratio)))


def _two_sided_quantile(shift: Array, log_p: Array) -> Array:
    """The u with P(|e + shift| > u) = p, for a standard normal e and shift >= 0.

    The upper tail alone gives a u that is at most too small, half of p on each side one too large
    but for the shift; between them the u is found by halving.
    """
    p = np.exp(log_p)
    low = np.maximum(shift - ndtri(p), 0.0)
    high = np.maximum(shift - ndtri(0.5 * p), low)
    for _ in range(_HALVINGS // 2):
        middle = 0.5 * (low + high)
        beyond = np.logaddexp(log_ndtr(shift - middle), log_ndtr(-shift - middle)) > log_p
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return 0.5 * (low + high)
