"""The possibilistic reading of a latent: suprema of a label's probability times a possibility.

What probability theory integrates, possibility theory maximises. The credibility of a label is
P(l) = sup_theta p(l; theta) N(theta; mu, sigma2), and it is never below p(l; mu), which theta = mu
attains. Every function here returns that *excess*, P(l) - p(l; mu): it is made of things that
cannot cancel, so it keeps its digits where P(l) and p(l; mu) agree in all of theirs.
"""

import numpy as np
from scipy.special import erfcx, ndtr, wrightomega

from possibal.arrays import Array, Matrix, Vector

TINY = float(np.finfo(float).tiny)
SQRT_2_OVER_PI = float(np.sqrt(2.0 / np.pi))
LOG_SQRT_2_OVER_PI = float(np.log(SQRT_2_OVER_PI))
# exp(-37.5**2 / 2) is as small as doubles go: a latent further out says nothing more.
FAR = 37.5
# Gauss-Legendre on [0, 1], for integrands that vary by a few per cent.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
UNIT_RULE = tuple(zip(0.5 + 0.5 * _NODES, 0.5 * _WEIGHTS, strict=True))


def probit_excess(mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
    """By how much the credibility of each of two labels exceeds its probability at the mode.

    Paper: Sec. 4.2, sup_theta N(theta; mu, sigma2) Phi(theta) - Phi(mu), and the same for the
    other label with 1 - Phi.

    With d the distance climbed towards a label, the supremum is Phi(mu + d) exp(-d^2/(2 sigma2)).
    The difference of two Phi is taken in the thin tail. Where variance is so small that even
    this cancels, log Phi(mu + d) - log Phi(mu) is an integral over [0, d] instead.

    Returns:
        For the rival and for the leading label, which has probability at least one half.
    """
    sigma2 = np.minimum(variance, 1e150)
    mu = np.abs(mean)
    tail = ndtr(-mu)
    mu = np.minimum(mu * np.sqrt(sigma2 / variance), FAR * np.sqrt(1.0 + sigma2))
    log_sigma2, more = np.log(sigma2), 1.0 + sigma2
    reach = np.sqrt(2.0 * np.maximum(log_sigma2 + LOG_SQRT_2_OVER_PI, 0.0))

    # The rival climbs d = sigma2 r(d - mu), r = phi / Phi. Birnbaum's upper and Sampford's lower
    # bound on r each make this quadratic; a quarter of one and the rest of the other are close.
    upper = (mu + np.sqrt(mu * mu + 4.0 * more)) / more
    lower = ((more + 0.5) * mu + np.sqrt(0.25 * mu * mu + more * (more + 1.0))) / (
        more * (more + 1.0)
    )
    guess = np.minimum(sigma2 * (0.125 * upper + 0.75 * lower), np.maximum(reach + mu, 1.0))
    up = _climb(-mu, log_sigma2, guess)
    rival = ndtr(up - mu) * np.exp(-0.5 * up * (up / sigma2)) - tail

    # The leader climbs d = sigma2 r(mu + d), which falls fast: one Newton step from d = 0.
    mu_l = np.minimum(mu, FAR)
    r = SQRT_2_OVER_PI * np.exp(-0.5 * mu_l * mu_l) / (2.0 - 2.0 * tail)
    guess = np.minimum(sigma2 * r / (1.0 + sigma2 * r * (mu_l + r)), np.maximum(reach - mu, 1.0))
    down = _climb(mu_l, log_sigma2, guess)
    end = ndtr(-mu_l - down)
    leader = tail - end + (1.0 - end) * np.expm1(-0.5 * down * (down / sigma2))

    small = sigma2 * (1.0 + mu * mu) < 0.02  # noqa: PLR2004 - five nodes give 1e-14 below it
    if small.any():
        mu, sigma2 = mu[small], sigma2[small]
        rival[small] = _small_excess(-mu, sigma2, up[small])
        leader[small] = _small_excess(mu, sigma2, down[small])
    return np.maximum(rival, 0.0), np.maximum(leader, 0.0)


def _hazard(t: Array) -> Array:
    """The slope of log Phi, phi(t) / Phi(t), exact in both tails."""
    return SQRT_2_OVER_PI / erfcx(-np.sqrt(0.5) * t)


def _small_excess(mu: Vector, sigma2: Vector, d: Vector) -> Vector:
    """The excess after a short climb: log Phi(mu + d) - log Phi(mu) by integration."""
    area = sum(w * np.exp(-d * x * (mu + 0.5 * d * x)) for x, w in UNIT_RULE)
    return ndtr(mu) * np.expm1(np.log1p(_hazard(mu) * d * area) - 0.5 * d * (d / sigma2))


def _climb(mu: Vector, log_sigma2: Vector, guess: Vector) -> Vector:
    """How far above mu the maximiser of Phi(theta) N(theta; mu, sigma2) lies.

    The distance d solves d = sigma2 r(mu + d) with r = phi / Phi. As a function of log d,
    log d - log sigma2 - log r(mu + d) is increasing and convex, so Newton's and Halley's steps
    need no safeguard. What a step leaves is cubic in its size and counts squared, since the
    supremum is flat in d: most rows need one step or two.
    """
    log_d = np.log(np.maximum(guess, TINY))
    log_d, unrest = _climb_step(mu, log_sigma2, log_d)
    for _ in range(5):
        rest = np.flatnonzero(unrest > 0.01)  # noqa: PLR2004 - leaves 1e-11 of the supremum
        if not rest.size:
            break
        log_d[rest], unrest[rest] = _climb_step(mu[rest], log_sigma2[rest], log_d[rest])
    return np.exp(log_d)


def _climb_step(mu: Vector, log_sigma2: Vector, log_d: Vector) -> tuple[Vector, Vector]:
    """Halley's next logarithm of the distance, and how much the distance changed."""
    d = np.exp(log_d)
    t = mu + d
    r = np.maximum(_hazard(t), TINY)
    pull = t + r
    step = (log_d - log_sigma2 - np.log(r)) / (1.0 + d * pull)
    bend = (pull + d * (1.0 - r * pull)) / (1.0 / d + pull)
    step /= np.maximum(1.0 - 0.5 * step * bend, 0.5)
    return log_d - step, np.abs(step) * (1.0 + d)


def softmax_excess(mean: Matrix, variance: Matrix) -> Matrix:
    """By how much the credibility of each label exceeds its softmax probability at the mode.

    Paper: Sec. 4.2, sup_theta p(l; theta) prod_j N(theta_j; mu_j, sigma2_j) - p(l; mu).

    At the maximiser theta_j = mu_j + sigma2_j ([j = l] - pi_j) with pi = softmax(theta): label l
    rises by sigma2_l (1 - pi_l) and each rival drops by w_j = sigma2_j pi_j. The objective is
    taken at the point found, where it is flat, so an error of the search counts squared.
    """
    mu = np.maximum(mean - mean.max(axis=1, keepdims=True), -1e300).T.copy()
    log_p = mu - np.log(np.exp(mu).sum(axis=0))
    p = np.exp(log_p)
    span = np.minimum(-mu.min(axis=0), 1e140)
    # Beyond these bounds a latent is as good as fixed or free, and numbers would overflow.
    sigma2 = np.clip(variance.T, 1e-30, 1e20 * (1.0 + span * span))
    a, drop = _softmax_climb(log_p, sigma2)
    stretched = a + np.log(_diagonal(drop)) - np.log(sigma2) - log_p
    _diagonal(drop)[:] = 0.0  # the label is not its own rival
    share = drop / sigma2[:, None]
    # Of two forms of the rise, one keeps its digits for small variances, one for large.
    rise = np.where(sigma2 < 1.0, sigma2 * share.sum(axis=0), np.maximum(stretched, 0.0))
    cost = 0.5 * (rise * (rise / sigma2) + (drop * share).sum(axis=0))
    return np.maximum(_softmax_gain(mu, p, -drop - rise, cost), 0.0).T


def _softmax_gain(mu: Array, p: Array, gap: Array, cost: Array) -> Array:
    """The objective less p, where each rival has moved by gap against the label, at that cost."""
    kept = np.exp(gap)
    left = 1.0 - kept
    near = gap > -0.1  # noqa: PLR2004 - where the difference from one loses digits
    left[near] = -np.expm1(gap[near])
    kept *= p[:, None]
    left *= p[:, None]
    _diagonal(kept)[:] = p
    _diagonal(left)[:] = 0.0
    kept, left = kept.sum(axis=0), left.sum(axis=0)  # of the probability, kept + left = 1
    gain = p * np.where(
        left < 0.5,  # noqa: PLR2004 - either form is good here, each at one end only
        np.expm1(-np.log1p(-left) - cost),
        np.exp(-cost) / kept - 1.0,
    )
    lost = p < 1e-250  # noqa: PLR2004 - 0 / 0 would follow
    if lost.any():
        label, row = np.nonzero(lost)
        odds = np.exp(mu[:, row] - mu[label, row] + gap[:, label, row])
        odds[label, np.arange(len(label))] = 1.0
        gain[lost] = np.exp(-cost[lost]) / odds.sum(axis=0)
    return gain


def _diagonal(pairs: Array) -> Array:
    """A view of the entries where rival and label are the same, (C, m) out of (C, C, m)."""
    return np.einsum("llm->lm", pairs)


def _softmax_climb(log_p: Array, sigma2: Array) -> tuple[Array, Array]:
    """Where the supremum of each label is: a = log sum exp theta - log sum exp mu, and the w_j.

    One number decides them all: w_j is the Wright omega function of
    z_j = log p_j + log sigma2_j + sigma2_j [j = l] - a, and a solves
    F(a) = sum_j w_j / sigma2_j = 1. Halley's method on log F starts at a = 0. There the omegas of
    rivals are the same for every label, so the first step costs O(C) a row; two sweeps over all
    pairs of labels follow, and what has not settled by then goes to a bracketed search.

    Args:
        log_p: (C, m), log softmax of the means.
        sigma2: (C, m).

    Returns:
        a: (C, m), by label and row.
        w: (C, C, m), by latent, label and row.
    """
    precision = 1.0 / sigma2
    z = np.maximum(log_p + np.log(sigma2), -690.0)
    rival = _omega_step(z, _rough_omega(z))
    own = _omega_step(z + sigma2, _rough_omega(z + sigma2))
    others = (moment.sum(axis=0) - moment for moment in _moments(rival, precision))
    a = _halley_step(*map(np.add, others, _moments(own, precision)))
    settled = np.abs(a) < 4.0  # noqa: PLR2004 - so far the extrapolation of w is safe
    z = np.repeat(z[:, None], len(z), axis=1)
    _diagonal(z)[:] += sigma2
    w = np.repeat(rival[:, None], len(z), axis=1)
    _diagonal(w)[:] = own
    w *= np.exp(-a / (1.0 + w))
    for tolerance in (0.5, 0.003):  # the last error is cubic in the last step
        w = _omega_step(z - a, w)
        moments = _moments(w, precision[:, None])
        step = _halley_step(*(moment.sum(axis=0) for moment in moments))
        shift = step / (1.0 + w)
        shift *= 1.0 - 0.5 * shift
        w -= w * shift
        a = a + step
        settled &= np.abs(step) < tolerance  # NaN is not
    if not settled.all():
        label, row = np.nonzero(~settled)
        a[label, row], w[:, label, row] = _bracketed(
            a[label, row], z[:, label, row], sigma2[:, row]
        )
    return a, w


def _moments(w: Array, precision: Array) -> tuple[Array, Array, Array]:
    """Each latent's part of F, -F' and F'' where F(a) = sum of omega(z - a) / sigma2."""
    share = w * precision
    flat = 1.0 / (1.0 + w)
    slope = share * flat
    flat *= flat
    flat *= slope
    return share, slope, flat


def _halley_step(total: Array, slope: Array, bend: Array) -> Array:
    """Halley's step towards the root of log F, from F, -F' and F''."""
    newton = np.log(total) * total / slope
    return newton / np.maximum(1.0 + 0.5 * newton * (slope / total - bend / slope), 0.25)


def _rough_omega(z: Array) -> Array:
    """The Wright omega function to two per cent, after Winitzki's bound on Lambert's W."""
    u = np.logaddexp(0.0, z)
    return u * (1.0 - np.log1p(u) / (2.0 + u))


def _omega_step(z: Array, w: Array) -> Array:
    """Halley's step towards the Wright omega function, the root of w + log w = z."""
    flat = 1.0 / (1.0 + w)
    t = z - w
    t -= np.log(w)
    t *= flat
    flat *= t
    flat *= -0.5
    flat += 1.0
    t /= flat
    t += 1.0
    t *= w
    return np.maximum(t, TINY, out=t)


def _bracketed(a: Vector, z: Array, sigma2: Array) -> tuple[Vector, Array]:
    """The root of F from any start, and the omegas there: Newton's method inside a bracket.

    F is at least one where a single latent takes all, and at most one where each takes no more
    than its equal part. Newton's step goes to log F on the right of the root, where F is flat.
    """
    log_sigma2, slack = np.log(sigma2), 1e-12 * np.abs(z).max(axis=0)
    low = (z - log_sigma2 - sigma2).max(axis=0) - slack
    high = (z - log_sigma2 - sigma2 / len(z)).max(axis=0) + np.log(len(z)) + slack
    a = np.where((a > low) & (a < high), a, 0.5 * (low + high))
    for _ in range(200):
        w = wrightomega(z - a)
        total, slope, _ = (moment.sum(axis=0) for moment in _moments(w, 1.0 / sigma2))
        right = total < 1.0
        low, high = np.where(right, low, a), np.where(right, a, high)
        newton = a + np.where(right, np.log(total) * total, total - 1.0) / slope
        step = np.where((newton >= low) & (newton <= high), newton, 0.5 * (low + high)) - a
        a = a + step
        if np.all(np.abs(step) <= 1e-7 + 1e-15 * np.abs(a)):
            break
    return a, wrightomega(z - a)


def envelope_volume(mean: Matrix, variance: Matrix, credibility: Vector) -> Vector:
    """The integral of the largest of H Gaussian possibilities, each times its credibility.

    Paper: Sec. 4.1, U^Theta = integral of f(theta); here f = max_h c_h N(theta; mu_h, sigma2_h).

    Two of them cross where a quadratic vanishes. Between neighbouring crossings one is the
    largest all along, and its integral is a difference of normal distribution functions.

    Args:
        mean: (H, m).
        variance: (H, m).
        credibility: (H,).
    """
    possible = credibility > 0
    mu, sigma2, log_c = mean[possible], variance[possible], np.log(credibility[possible])[:, None]
    g, h = np.triu_indices(len(mu), k=1)
    a = 0.5 / sigma2[h] - 0.5 / sigma2[g]  # a x^2 + b x + c = 0 with x = theta - mu_g
    b = (mu[g] - mu[h]) / sigma2[h]
    c = 0.5 * (mu[g] - mu[h]) * b + log_c[g] - log_c[h]
    q = -0.5 * (b + np.copysign(np.sqrt(b * b - 4.0 * a * c), b))
    roots = np.concatenate([mu[g] + q / a, mu[g] + c / q])
    roots = np.sort(np.where(np.isnan(roots), np.inf, roots), axis=0)
    ends = np.full((1, mu.shape[1]), np.inf)
    low, high = np.concatenate([-ends, roots]), np.concatenate([roots, ends])
    inside = np.where(np.isinf(high), low + 1.0 + np.abs(low), 0.5 * (low + high))
    inside = np.where(np.isinf(low), np.minimum(high - 1.0 - np.abs(high), 0.0), inside)
    top = (log_c[:, None] - 0.5 * (inside - mu[:, None]) ** 2 / sigma2[:, None]).argmax(axis=0)
    mu, sd = np.take_along_axis(mu, top, axis=0), np.sqrt(np.take_along_axis(sigma2, top, axis=0))
    pieces = np.exp(log_c[top, 0]) * sd * (ndtr((high - mu) / sd) - ndtr((low - mu) / sd))
    return np.sqrt(2.0 * np.pi) * np.where(high > low, pieces, 0.0).sum(axis=0)
