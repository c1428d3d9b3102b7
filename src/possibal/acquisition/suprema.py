"""The possibilistic reading of a latent: suprema of a label's probability times a possibility.

What probability theory integrates, possibility theory maximises. The credibility of a label is
P(l) = sup_theta p(l; theta) N(theta; mu, sigma2), and it is never below p(l; mu), which theta = mu
attains. The functions of labels return that *excess*, P(l) - p(l; mu): it is made of things that
cannot cancel, so it keeps its digits where P(l) and p(l; mu) agree in all of theirs. For
regression, :func:`envelope_volume` integrates the supremum of several possibilities.
"""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, ndtr, wrightomega

from possibal.arrays import Array, Matrix, Vector

TINY = float(np.finfo(float).tiny)
SQRT_2_OVER_PI = float(np.sqrt(2.0 / np.pi))
LOG_SQRT_2_OVER_PI = float(np.log(SQRT_2_OVER_PI))
# exp(-37.5**2 / 2) is as small as doubles go: a latent further out says nothing more.
FAR = 37.5
# Below this logarithm a probability is as good as zero, and dividing by it is not.
LOST = -575.0
BRACKET_STEPS = 200
# Gauss-Legendre on [0, 1], for integrands that vary by a few per cent.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
UNIT_RULE = tuple(zip(0.5 + 0.5 * _NODES, 0.5 * _WEIGHTS, strict=True))


def probit_excess(mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
    """By how much the credibility of each of two labels exceeds its probability at the mode.

    Paper: Sec. 4.2, sup_theta N(theta; mu, sigma2) Phi(theta) - Phi(mu), and the same for the
    other label with 1 - Phi.

    With d the distance climbed towards a label, the supremum is Phi(mu + d) exp(-d^2/(2 sigma2)).
    Ordinary rows read log d from a table; the others search for it.

    Returns:
        For the rival and for the leading label, which has probability at least one half.
    """
    mu, sigma2 = np.abs(mean), variance
    ordinary = (mu < TABLE_MEAN) & (sigma2 > TABLE_LOW) & (sigma2 < TABLE_HIGH)
    ordinary &= sigma2 * (1.0 + mu * mu) > SMALL
    rows = np.flatnonzero(~ordinary)
    if len(rows) == len(mu):
        return _searched_excess(mean, variance)
    with np.errstate(all="ignore"):  # rows that are not ordinary
        rival, leader = _tabulated_excess(mu, sigma2)
    if rows.size:
        rival[rows], leader[rows] = _searched_excess(mean[rows], variance[rows])
    return rival, leader


def _tabulated_excess(mu: Vector, sigma2: Vector) -> tuple[Vector, Vector]:
    """The excess of rival and leader, from distances that a table gives to a thousandth.

    The supremum is stationary: what the distance lacks is made good by the third-order Taylor
    series of the logarithm of the objective, as good as a search to the last digits.
    """
    up, down = _tabulated_offsets(mu, sigma2)
    precision, tail = 1.0 / sigma2, ndtr(-mu)
    t = up - mu
    p = ndtr(t)
    rival = p * np.exp(_log_supremum(up, t, p, precision)) - tail
    t = mu + down
    end = ndtr(-t)
    p = 1.0 - end
    leader = p * np.expm1(_log_supremum(down, t, p, precision)) + (tail - end)
    return np.maximum(rival, 0.0), np.maximum(leader, 0.0)


def _log_supremum(d: Vector, t: Vector, p: Vector, precision: Vector) -> Vector:
    """Logarithm of the supremum over p = Phi(t), from a distance d close to that of the supremum.

    By log d the log objective has the slope d r - d^2 / sigma2, r = phi(t) / Phi(t), and r has the
    slope -r (t + r). A Newton step s gains s slope / 2 + s^3 third derivative / 6, up to s^4.
    """
    r = np.exp(-0.5 * t * t)
    r *= SQRT_2_OVER_PI * 0.5
    r /= p
    cost, linear, pull = d * d, d * r, t + r
    bend = r * pull  # minus the slope of r
    third = d * (bend * (pull + r) - r)
    third -= 3.0 * bend
    third *= cost
    bend *= cost
    cost *= precision
    third += linear
    third -= 4.0 * cost
    linear -= cost  # the slope
    step = linear / (linear - bend - cost)
    third *= step
    third *= step
    third /= -6.0
    linear *= -0.5
    third += linear
    third *= step
    cost *= -0.5
    third += cost
    return third


TABLE_MEAN, TABLE_LOG = 10.0, 6.0
"""Means up to the first, and logarithms of the variance up to the second, are in the table."""
TABLE_LOW, TABLE_HIGH = float(np.exp(-TABLE_LOG)), float(np.exp(TABLE_LOG))
CELLS = 160
"""Cells of the table in each direction: log d is linear in a cell to a thousandth."""
SMALL = 0.02
"""Below it, variance times 1 + mu^2 is so small that differences cancel; five nodes give 1e-14."""


def _tabulated_offsets(mu: Vector, sigma2: Vector) -> tuple[Vector, Vector]:
    """Distances climbed by rival and leader, by bilinear interpolation of their logarithms."""
    x, y = mu * (CELLS / TABLE_MEAN), np.log(sigma2)
    y += TABLE_LOG
    y *= 0.5 * CELLS / TABLE_LOG
    np.minimum(x, CELLS - 0.001, out=x)
    np.clip(y, 0.0, CELLS - 0.001, out=y)
    column, place = x.astype(np.int32), y.astype(np.int32)
    x -= column
    y -= place
    place *= CELLS + 1
    place += column
    right, below, across = place + 1, place + (CELLS + 1), place + (CELLS + 2)

    def distance(table: NDArray[np.float32]) -> Vector:
        start, first = table.take(place), table.take(below)
        log_d = x * (table.take(right) - start)
        log_d += start
        beyond = x * (table.take(across) - first)
        beyond += first
        beyond -= log_d
        beyond *= y
        log_d += beyond
        return np.exp(log_d, out=log_d)

    rival, leader = _offset_table()
    return distance(rival), distance(leader)


@functools.cache
def _offset_table() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Log distances of rival and leader, by log variance and mean; made at first use."""
    means = np.linspace(0.0, TABLE_MEAN, CELLS + 1)
    variances = np.exp(np.linspace(-TABLE_LOG, TABLE_LOG, CELLS + 1))
    mu, sigma2 = np.tile(means, CELLS + 1), np.repeat(variances, CELLS + 1)
    up, down = _offsets(mu, sigma2, ndtr(-mu))
    return np.log(up).astype(np.float32), np.log(down).astype(np.float32)


def _searched_excess(mean: Vector, variance: Vector) -> tuple[Vector, Vector]:
    """The excess of rival and leader for any mean and variance.

    The difference of two Phi is taken in the thin tail. Where variance is so small that even
    this cancels, log Phi(mu + d) - log Phi(mu) is an integral over [0, d] instead.
    """
    sigma2 = np.minimum(variance, 1e150)
    mu = np.abs(mean)
    tail = ndtr(-mu)
    mu = np.minimum(mu * np.sqrt(sigma2 / variance), FAR * np.sqrt(1.0 + sigma2))
    up, down = _offsets(mu, sigma2, tail)
    rival = ndtr(up - mu) * np.exp(-0.5 * up * (up / sigma2)) - tail
    end = ndtr(-np.minimum(mu, FAR) - down)
    leader = tail - end + (1.0 - end) * np.expm1(-0.5 * down * (down / sigma2))
    small = sigma2 * (1.0 + mu * mu) < SMALL
    if small.any():
        mu, sigma2 = mu[small], sigma2[small]
        rival[small] = _small_excess(-mu, sigma2, up[small])
        leader[small] = _small_excess(mu, sigma2, down[small])
    return np.maximum(rival, 0.0), np.maximum(leader, 0.0)


def _offsets(mu: Vector, sigma2: Vector, tail: Vector) -> tuple[Vector, Vector]:
    """Distances climbed by rival and leader, by search; tail is Phi(-mu)."""
    log_sigma2, more = np.log(sigma2), 1.0 + sigma2
    reach = np.sqrt(2.0 * np.maximum(log_sigma2 + LOG_SQRT_2_OVER_PI, 0.0))
    # The rival climbs d = sigma2 r(d - mu), r = phi / Phi. Birnbaum's upper and Sampford's lower
    # bound on r each make this quadratic; a quarter of one and the rest of the other are close.
    upper = (mu + np.sqrt(mu * mu + 4.0 * more)) / more
    lower = ((more + 0.5) * mu + np.sqrt(0.25 * mu * mu + more * (more + 1.0))) / (
        more * (more + 1.0)
    )
    guess = np.minimum(sigma2 * (0.125 * upper + 0.75 * lower), np.maximum(reach + mu, 1.0))
    up = probit_argmax_offset(-mu, log_sigma2, guess)
    # The leader climbs d = sigma2 r(mu + d), which falls fast: one Newton step from d = 0.
    near = np.minimum(mu, FAR)
    r = SQRT_2_OVER_PI * np.exp(-0.5 * near * near) / (2.0 - 2.0 * tail)
    guess = np.minimum(sigma2 * r / (1.0 + sigma2 * r * (near + r)), np.maximum(reach - mu, 1.0))
    return up, probit_argmax_offset(near, log_sigma2, guess)


def hazard(t: Array) -> Array:
    """The slope of log Phi, phi(t) / Phi(t), exact in both tails.

    Paper: App. C.1, the gradient of the log likelihood.
    """
    return SQRT_2_OVER_PI / erfcx(-np.sqrt(0.5) * t)


def _small_excess(mu: Vector, sigma2: Vector, d: Vector) -> Vector:
    """The excess after a short climb: log Phi(mu + d) - log Phi(mu) by integration."""
    area = sum(w * np.exp(-d * x * (mu + 0.5 * d * x)) for x, w in UNIT_RULE)
    return ndtr(mu) * np.expm1(np.log1p(hazard(mu) * d * area) - 0.5 * d * (d / sigma2))


def probit_argmax_offset(mu: Vector, log_sigma2: Vector, guess: Vector) -> Vector:
    """How far above mu the maximiser of Phi(theta) N(theta; mu, sigma2) lies.

    Paper: Sec. 4.2, where the supremum of U is attained.

    The distance d solves d = sigma2 r(mu + d) with r = phi / Phi. As a function of log d,
    log d - log sigma2 - log r(mu + d) is increasing and convex: Newton's and Halley's steps need
    no safeguard. What a step leaves is cubic in its size and counts squared: one or two will do.
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
    r = np.maximum(hazard(t), TINY)
    pull = t + r
    step = (log_d - log_sigma2 - np.log(r)) / (1.0 + d * pull)
    bend = (pull + d * (1.0 - r * pull)) / (1.0 / d + pull)
    step /= np.maximum(1.0 - 0.5 * step * bend, 0.5)
    return log_d - step, np.abs(step) * (1.0 + d)


def softmax_excess(mean: Matrix, variance: Matrix) -> Matrix:
    """By how much the credibility of each label exceeds its softmax probability at the mode.

    Paper: Sec. 4.2, sup_theta p(l; theta) prod_j N(theta_j; mu_j, sigma2_j) - p(l; mu).

    At the maximiser theta_j = mu_j + sigma2_j ([j = l] - pi_j) with pi = softmax(theta): label l
    rises by sigma2_l (1 - pi_l) and each rival drops by w_j = sigma2_j pi_j. Most logarithms of
    the supremum come with the search for it; those that lie so close to log p(l; mu) that their
    difference would lose digits, and those not found, are taken up again one by one.
    """
    mu = np.maximum(mean - mean.max(axis=1, keepdims=True), -1e300).T.copy()
    log_p = mu - np.log(np.exp(mu).sum(axis=0))
    p = np.exp(log_p)
    span = np.minimum(-mu.min(axis=0), 1e140)
    # Beyond these bounds a latent is as good as fixed or free, and numbers would overflow.
    sigma2 = np.clip(variance.T, 1e-30, 1e20 * (1.0 + span * span))
    found = _softmax_climb(log_p, sigma2)
    gain = found.log_supremum - log_p
    excess = p * np.expm1(gain)
    plain = found.settled & (gain > 1e-3) & (sigma2 < 100.0) & (log_p > LOST)  # noqa: PLR2004
    label, row = np.nonzero(~plain)
    if row.size:
        excess[label, row] = _softmax_direct(label, row, log_p, sigma2, found)
    return np.maximum(excess, 0.0).T


@dataclass(frozen=True)
class _Climb:
    """Where the suprema are, by label and row: a = log sum exp theta - log sum exp mu, and w."""

    a: Array
    """(C, m)."""
    w: Array
    """(C, C, m), by latent, label and row."""
    step: Array
    """(C, m), how far a is still to go."""
    log_supremum: Array
    """(C, m)."""
    settled: NDArray[np.bool_]
    """(C, m), whether all this is to be trusted."""


def _softmax_climb(log_p: Array, sigma2: Array) -> _Climb:
    """The suprema of all labels at once.

    One number decides where each is: w_j is the Wright omega function of
    z_j = log p_j + log sigma2_j + sigma2_j [j = l] - a, and a solves
    F(a) = sum_j w_j / sigma2_j = 1. Halley's method on log F starts at a = 0. There the omegas of
    rivals are the same for every label, so the first step costs O(C) a row; a sweep over all
    pairs of labels makes the second, and another the last. With pi_j = w_j / sigma2_j,

        V(a) = log pi_l + 1 - F - (sigma2_l (1 - pi_l)^2 + sum_{j != l} w_j pi_j) / 2

    has the slope F - 1, so its stationary value, the logarithm of the supremum, is read off by
    its Taylor series.

    Args:
        log_p: (C, m), log softmax of the means.
        sigma2: (C, m).
    """
    precision = 1.0 / sigma2
    z = np.maximum(log_p + np.log(sigma2), -690.0)
    rival = _omega_step(z, _rough_omega(z))
    own = _omega_step(z + sigma2, _rough_omega(z + sigma2))
    moments = zip(_moments(rival, precision), _moments(own, precision), strict=True)
    _, *totals = (r.sum(axis=0) - r + o for r, o in moments)
    a = _halley_step(*totals)
    settled = np.abs(a) < 4.0  # noqa: PLR2004 - so far the extrapolation of w is safe

    z = np.repeat(z[:, None], len(z), axis=1)
    _diagonal(z)[:] += sigma2
    w = _extrapolated(rival, own, a)
    label, row = np.nonzero(np.abs(a) > 0.5)  # noqa: PLR2004 - 3e-4 remains below it
    w[:, label, row] = _omega_step(z[:, label, row] - a[label, row], w[:, label, row])
    step = _sweep(w, precision)
    settled &= np.abs(step) < 0.2  # noqa: PLR2004 - NaN is not
    a += step
    z -= a
    w = _omega_step(z, w)
    del z  # room in the cache
    value, step = _stationary(w, sigma2, precision)
    settled &= np.abs(step) < 0.003  # noqa: PLR2004 - what remains is of fourth order
    return _Climb(a, w, step, value, settled)


def _sweep(w: Array, precision: Array) -> Array:
    """Halley's step for every label; w is moved along, to second order."""
    flat, share, slope, bend = _moments(w, precision[:, None])
    step = _halley_step(share.sum(axis=0), slope.sum(axis=0), bend.sum(axis=0))
    flat *= -step
    np.multiply(flat, flat, out=bend)
    bend *= 0.5
    flat += bend
    flat += 1.0
    w *= flat
    return step


def _extrapolated(rival: Array, own: Array, a: Array) -> Array:
    """The w of all pairs at a, from those at zero: log w is followed to third order."""
    flat, second, third = _slopes(rival)
    w = third[:, None] * -a
    w += second[:, None]
    w *= a
    w += flat[:, None]
    flat, second, third = _slopes(own)
    _diagonal(w)[:] = flat + a * (second - a * third)
    w *= -a
    np.exp(w, out=w)
    w *= rival[:, None]
    _diagonal(w)[:] *= own / rival
    return w


def _slopes(w: Array) -> tuple[Array, Array, Array]:
    """The first, second and third derivative of log w by a, over -1, -2 and 6."""
    flat = 1.0 / (1.0 + w)
    bend = w * flat * flat * flat
    return flat, 0.5 * bend, bend * flat * (1.0 - 3.0 * w * flat) / 6.0


def _stationary(w: Array, sigma2: Array, precision: Array) -> tuple[Array, Array]:
    """The stationary value of V near a, and the step to where it is taken."""
    pi, slope, bend = _moments(w, precision[:, None])[1:]
    slope, bend = slope.sum(axis=0), bend.sum(axis=0)
    pi_l = _diagonal(pi).copy()
    _diagonal(pi)[:] = 0.0
    rest = pi.sum(axis=0)
    over = rest + pi_l - 1.0
    step = over / slope
    step *= 1.0 + 0.5 * bend * step / slope
    pi *= w
    cost = 0.5 * (sigma2 * (rest - over) ** 2 + pi.sum(axis=0))
    value = np.log(pi_l) - over - cost
    value += step * (over - step * (0.5 * slope - bend * step / 6.0))
    return value, step


def _softmax_direct(
    label: NDArray[np.intp], row: NDArray[np.intp], log_p: Array, sigma2: Array, found: _Climb
) -> Vector:
    """The excess of some labels: the objective at the point found, less its value at the mode.

    The objective is flat there, so an error of the point counts squared; and no difference of
    nearly equal numbers is taken.

    Args:
        label: (k,), which labels.
        row: (k,), of which rows.
        log_p: (C, m), log softmax of the means.
        sigma2: (C, m).
        found: where the search has come to.
    """
    each = np.arange(len(label))
    log_p, sigma2 = log_p[:, row], sigma2[:, row]
    step, drop = found.step[label, row], found.w[:, label, row]
    a, drop = found.a[label, row] + step, drop * (1.0 - step / (1.0 + drop))
    lost = ~found.settled[label, row]
    if lost.any():
        z = np.maximum(log_p + np.log(sigma2), -690.0)
        z[label, each] += sigma2[label, each]
        a[lost], drop[:, lost] = _bracketed(a[lost], z[:, lost], sigma2[:, lost])
    own, log_p_l = sigma2[label, each], log_p[label, each]
    stretched = a + np.log(drop[label, each]) - np.log(own) - log_p_l
    drop[label, each] = 0.0  # the label is not its own rival
    pi = drop / sigma2
    # Of two forms of the rise, one keeps its digits for small variances, one for large.
    rise = np.where(own < 1.0, own * pi.sum(axis=0), np.maximum(stretched, 0.0))
    cost = 0.5 * (rise * (rise / own) + (drop * pi).sum(axis=0))
    gap = -drop - rise
    gap[label, each] = 0.0
    p = np.exp(log_p)
    kept, left = (p * np.exp(gap)).sum(axis=0), -(p * np.expm1(gap)).sum(axis=0)
    excess = p[label, each] * np.where(
        left < 0.5,  # noqa: PLR2004 - kept + left = 1, and each form is good at one end only
        np.expm1(-np.log1p(-left) - cost),
        np.exp(-cost) / kept - 1.0,
    )
    odds = np.exp(log_p - log_p_l + gap).sum(axis=0)
    return np.where(log_p_l > LOST, excess, np.exp(-cost) / odds)


def _diagonal(pairs: Array) -> Array:
    """A view of the entries where rival and label are the same, (C, m) out of (C, C, m)."""
    return np.einsum("llm->lm", pairs)


def _moments(w: Array, precision: Array) -> tuple[Array, Array, Array, Array]:
    """The slope 1 / (1 + w) of log w, and each latent's part of F, -F' and F''."""
    flat = 1.0 / (1.0 + w)
    share = w * precision
    slope = share * flat
    bend = slope * flat
    bend *= flat
    return flat, share, slope, bend


def _halley_step(total: Array, slope: Array, bend: Array) -> Array:
    """Halley's step towards the root of log F, from F, -F' and F''."""
    newton = np.log(total) * total / slope
    return newton / np.maximum(1.0 + 0.5 * newton * (slope / total - bend / slope), 0.25)


def _rough_omega(z: Array) -> Array:
    """The Wright omega function to two per cent, after Winitzki's bound on Lambert's W."""
    u = np.log1p(np.exp(np.minimum(z, 40.0))) + np.maximum(z - 40.0, 0.0)
    return u * (1.0 - np.log1p(u) / (2.0 + u))


def _omega_step(z: Array, w: Array) -> Array:
    """Chebyshev's step, of third order, towards the Wright omega function: w + log w = z."""
    flat = 1.0 / (1.0 + w)
    t = z - w
    t -= np.log(w)
    t *= flat
    flat *= 0.5 * t
    flat += 1.0
    t *= flat
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
    settled = np.zeros(a.shape, dtype=bool)  # those rest, so that none depends on its neighbours
    for _ in range(BRACKET_STEPS):
        w = wrightomega(z - a)
        total, slope = (w / sigma2).sum(axis=0), (w / (1.0 + w) / sigma2).sum(axis=0)
        right = total < 1.0
        low, high = np.where(right, low, a), np.where(right, a, high)
        newton = a + np.where(right, np.log(total) * total, total - 1.0) / slope
        step = np.where((newton >= low) & (newton <= high), newton, 0.5 * (low + high)) - a
        a = np.where(settled, a, a + step)
        settled |= np.abs(step) <= 1e-7 + 1e-15 * np.abs(a)
        if settled.all():
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
    # Which is the largest is asked close to the middle of things: far out all are too small.
    margin = np.minimum(0.5 * (high - low), 0.1 * np.sqrt(sigma2.min(axis=0)))
    inside = np.clip(mu[log_c.argmax()], low + margin, high - margin)
    top = (log_c[:, None] - 0.5 * (inside - mu[:, None]) ** 2 / sigma2[:, None]).argmax(axis=0)
    mu, sd = np.take_along_axis(mu, top, axis=0), np.sqrt(np.take_along_axis(sigma2, top, axis=0))
    pieces = np.exp(log_c[top, 0]) * sd * (ndtr((high - mu) / sd) - ndtr((low - mu) / sd))
    return np.sqrt(2.0 * np.pi) * np.where(high > low, pieces, 0.0).sum(axis=0)
