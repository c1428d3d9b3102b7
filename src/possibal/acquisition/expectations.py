"""The probabilistic reading of a latent: averages of a label's probability over a Gaussian.

The baselines need it: predictive probabilities E p(l; theta), and the mutual information between
label and latent, H(E p) - E H(p), in nats. All of them are exact up to quadrature.

For a softmax over C independent latents the average is an integral over C dimensions. It becomes
one integral over a line, because softmax(theta) is the law of the largest of theta_j + g_j with
independent Gumbel noise g_j, and the largest of independent numbers has a product for its
distribution function: with F_j that of theta_j + g_j and f_j its density,

    E p(l) = integral of f_l prod_{j != l} F_j,    E log sum exp theta = E max - Euler's constant.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import entr, erfcx, log_ndtr, ndtr

from possibal.arrays import Array, Matrix, Vector

EULER = float(np.euler_gamma)
SQRT_2PI = float(np.sqrt(2.0 * np.pi))
HERMITE_X, _weights = np.polynomial.hermite_e.hermegauss(28)
HERMITE_W = _weights / SQRT_2PI


# ---------------------------------------------------------------- two labels, probit


def probit_information(mean: Vector, variance: Vector) -> Vector:
    """The mutual information between a binary label and its latent, to full precision.

    Paper: App. E.4, BALD(x) = H[y | x] - E H[y | x, theta].

    With H(Phi(t)) = exp(-t^2/2) f(t) both terms share the factor exp(-z^2/2), and what is left
    of the second is a Gauss-Hermite sum of the slowly growing f. Where variance is so small that
    the two terms agree in most digits, the mean Kullback-Leibler divergence of p(theta) from its
    average takes over: a sum of non-negative terms.
    """
    far = 40.0 * np.sqrt(1.0 + variance)  # beyond it the information is zero in doubles
    mu, sigma2 = np.clip(mean, -far, far), variance
    z = mu / np.sqrt(1.0 + sigma2)
    shrunk, width = mu / (1.0 + sigma2), np.sqrt(sigma2 / (1.0 + sigma2))
    noise = sum(
        w * _entropy_scaled(shrunk + width * x) for x, w in zip(HERMITE_X, HERMITE_W, strict=True)
    )
    information = np.exp(-0.5 * z * z) * (_entropy_scaled(z) - noise / np.sqrt(1.0 + sigma2))
    small = sigma2 < 1e-3  # noqa: PLR2004 - both forms are good to 1e-11 here
    if small.any():
        information[small] = _mean_divergence(mu[small], sigma2[small], z[small])
    return np.maximum(information, 0.0)


def _entropy_scaled(t: Array) -> Array:
    """exp(t^2/2) times the entropy of a label with probability Phi(t)."""
    t = np.abs(t)
    e = 0.5 * erfcx(np.sqrt(0.5) * t)
    q = np.maximum(e * np.exp(-0.5 * t * t), np.finfo(float).tiny)  # the rarer label's probability
    return e * (0.5 * t * t - np.log(e) - (1.0 - q) * np.log1p(-q) / q)


def _mean_divergence(mu: Vector, sigma2: Vector, z: Vector) -> Vector:
    """E KL(p(theta), p(z)) for two labels: each label's part is p(z) (a e^a - e^a + 1)."""
    total = np.zeros_like(mu)
    for x, w in zip(HERMITE_X, HERMITE_W, strict=True):
        theta = mu + np.sqrt(sigma2) * x
        for sign in (-1.0, 1.0):
            a = log_ndtr(sign * theta) - log_ndtr(sign * z)
            total += w * ndtr(sign * z) * (a * np.exp(a) - np.expm1(a))
    return total


# ---------------------------------------------------------------- any labels


def all_others(p: Array) -> Array:
    """One minus each probability, as the sum of all others: exact where it is close to one.

    Paper: none; 1 - p in App. E.4 would lose the digits of confident rows.

    Args:
        p: (..., C), probabilities that sum to one.
    """
    others, rest = 1.0 - p, p.copy()
    best = p.argmax(axis=-1)[..., None]
    np.put_along_axis(rest, best, 0.0, axis=-1)
    np.put_along_axis(others, best, rest.sum(axis=-1, keepdims=True), axis=-1)
    return others


def label_entropy(p: Array) -> Array:
    """Entropy of a label, exact also where one label is almost certain.

    Paper: App. E.4, -sum_l p(y = l | x) log p(y = l | x).

    Args:
        p: (..., C), probabilities that sum to one.
    """
    sure = p > 0.5  # noqa: PLR2004 - log p is had from what p lacks
    log_p = np.log1p(-np.where(sure, all_others(p), 0.0))
    return np.where(sure, -p * log_p, entr(p)).sum(axis=-1)


# ---------------------------------------------------------------- C labels, softmax


@dataclass(frozen=True)
class SoftmaxAverages:
    """What a softmax over independent Gaussian latents gives on average."""

    probability: Matrix
    """(m, C), E p(l; theta)."""
    information: Vector
    """(m,), H(E p) - E H(p): what the label would tell about the latents."""


@dataclass(frozen=True)
class Rule:
    """Trapezoidal rule over Gaussian noise, for standard deviations up to the widest.

    The distribution function of Gumbel noise is smooth on the scale of one, so that a wider
    Gaussian needs finer steps. The right side reaches further: tails weigh it by exp(theta).
    """

    widest: float
    step: float

    @property
    def nodes(self) -> list[tuple[float, float]]:
        """Places in standard deviations, and their weights."""
        x = self.step * np.arange(-np.ceil(6.0 / self.step), np.ceil(7.5 / self.step) + 1)
        weights = np.exp(-0.5 * x * x)
        return list(zip(x, weights / weights.sum(), strict=True))


RULES = tuple(
    Rule(widest, min(0.95, 0.56 / widest)) for widest in (0.35, 0.7, 1.0, 1.3, 1.6, 2.0, 2.5, 3.2)
)
# Wider Gaussians are averaged over the Gumbel noise: g = x + e^x spreads its slow right tail.
_x = np.arange(-14, 15) * 0.24
_g = _x + np.exp(_x)
_w = (1.0 + np.exp(_x)) * np.exp(-_g - np.exp(-_g))
GUMBEL = tuple(zip(_g, _w / _w.sum(), strict=True))
STEP, MOST_STEPS = 0.045, 1000
ROOM = 16_000
"""Numbers worked on at once."""


def softmax_averages(mean: Matrix, variance: Matrix) -> SoftmaxAverages:
    """Average probabilities and mutual information of a softmax over independent latents.

    Paper: App. E.4, p(y = l | x) and BALD for more than two labels.

    The line is cut at the point below which the largest cannot be. Labels whose distribution
    rises later are as much wider, so steps that grow in proportion resolve every label, and
    their number grows only with the logarithm of the variance. Probabilities above 1e-12 are
    good to 2e-3 of their value and mostly to 1e-8, the information to 2 per cent of its own and
    mostly to 1e-4.
    """
    mu = np.maximum(mean - mean.max(axis=1, keepdims=True), -1e300).T
    sigma2 = variance.T
    width = np.sqrt(sigma2)
    low = (mu - 6.0 * width).max(axis=0) - 3.2
    reach = np.log1p(((mu + 6.0 * width).max(axis=0) + 23.0 - low) / 8.0)
    steps = np.minimum(np.ceil(reach / STEP), MOST_STEPS)
    order = np.argsort(-steps, kind="stable")  # rows that need as many steps go together
    probability, noise = np.empty(mean.shape), np.empty(len(mean))
    start = 0
    while start < len(mean):
        size = max(1, int(ROOM // (len(mu) * (steps[order[start]] + 1.0))))
        rows = order[start : start + size]
        line = _line(low[rows], reach[rows], steps[rows])
        probability[rows], noise[rows] = _race(mu[:, rows], width[:, rows], *line)
        start += size
    return SoftmaxAverages(probability, _information(mu.T, variance, probability, noise))


def _line(low: Vector, reach: Vector, steps: Vector) -> tuple[Matrix, Matrix]:
    """Points of the line for each row, and what each stands for: nothing past the row's reach."""
    number = np.arange(steps.max() + 1.0)[:, None]
    x = number * (reach / steps)
    return low + 8.0 * np.expm1(x), np.where(number <= steps, 8.0 * np.exp(x), 0.0) * reach / steps


def _race(mu: Array, width: Array, t: Matrix, measure: Matrix) -> tuple[Matrix, Vector]:
    """Average probabilities (m, C) and average entropy (m,) of some rows.

    With the hazard h_l = f_l / F_l and P = prod F, the average of p_l is the integral of h_l P,
    that of p_l p_j the integral of h_l h_j P, and that of p_l theta_l follows by Stein's lemma.
    """
    F, f = _gauss_gumbel(t[:, None] - mu, width)
    f = np.where(F > 0.0, f / F, 0.0)
    P = F.prod(axis=1) * measure
    mass = f * P[:, None]
    probability = mass.sum(axis=0)
    scale = 1.0 / probability.sum(axis=0)  # one up to the error of the rule
    total = f.sum(axis=1)
    both = (mass * (total[:, None] - f)).sum(axis=0)  # E p_l (1 - p_l)
    log_sum = (t * total * P).sum(axis=0) * scale - EULER
    # E log sum exp theta less the leading mean, zero, is also E max(0, rivals' largest - leader):
    # an integral of what cannot cancel, where the leader's distribution starts the line.
    lead = mu.argmax(axis=0), np.arange(mu.shape[1])
    ahead = F[:, *lead]
    F[:, *lead] = 1.0
    lost = (-np.expm1(np.log(F).sum(axis=1)) * ahead * measure).sum(axis=0)
    start = (mu - 6.0 * width).max(axis=0)
    log_sum = np.where((mu - 6.0 * width)[lead] == start, lost, log_sum)
    probability *= scale
    noise = log_sum - (mu * probability + width * (width * both) * scale).sum(axis=0)
    return probability.T, noise


def _information(mu: Matrix, sigma2: Matrix, p: Matrix, noise: Vector) -> Vector:
    """The mutual information, by whichever form keeps its digits.

    In general H(E p) - E H(p). Where little is unknown, its leading term in the variances,
    sum_l sigma2_l p_l (1 - p_l) / 2. Where one label leads by far, the odds of each rival are
    lognormal, and a rival's share is E p_l times half the variance of its log odds.
    """
    best = np.arange(len(p)), p.argmax(axis=1)
    others, entropy = all_others(p), label_entropy(p)
    leading = 0.5 * (sigma2 * p * others).sum(axis=1)
    spread = sigma2 + sigma2[best][:, None]
    far = mu[best][:, None] - mu > spread + 3.0 * np.sqrt(spread) + 5.0
    far[best] = True
    rivals = p.copy()
    rivals[best] = 0.0
    information = np.where(far.all(axis=1), 0.5 * (rivals * spread).sum(axis=1), entropy - noise)
    small = sigma2.max(axis=1) < 1e-3  # noqa: PLR2004 - a thousandth is lost on either side
    information = np.where(small, leading, information)
    return np.clip(np.where(np.isfinite(information), information, entropy), 0.0, entropy)


def _gauss_gumbel(y: Array, width: Array) -> tuple[Array, Array]:
    """Distribution function and density of Gaussian plus Gumbel noise, at y.

    Args:
        y: (T, C, m), measured from the Gaussian's mean.
        width: (C, m), the Gaussian's standard deviation.
    """
    F, f = np.zeros_like(y), np.zeros_like(y)
    least = -1.0
    for rule in RULES:
        chosen = (width > least) & (width <= rule.widest)
        F[:, chosen], f[:, chosen] = _over_gauss(y[:, chosen], width[chosen], rule)
        least = rule.widest
    chosen = width > least
    F[:, chosen], f[:, chosen] = _over_gumbel(y[:, chosen], width[chosen])
    return F, f


def _over_gauss(y: Matrix, width: Vector, rule: Rule) -> tuple[Matrix, Matrix]:
    # exp(width x - y) is a product, so that a node costs one exponential. It stays below 1e25, for
    # y begins 6 widths and a little to the left of zero.
    F, f, minus = np.zeros_like(y), np.zeros_like(y), -np.exp(-y)
    e, g = np.empty_like(y), np.empty_like(y)
    for x, w in rule.nodes:
        np.multiply(minus, np.exp(width * x), out=e)
        np.maximum(e, -600.0, out=e)  # an exponential that underflows takes three times as long
        np.exp(e, out=g)
        g *= w
        F += g
        g *= e
        f -= g
    return F, f


def _over_gumbel(y: Matrix, width: Vector) -> tuple[Matrix, Matrix]:
    F, f = np.zeros_like(y), np.zeros_like(y)
    for g, w in GUMBEL:
        z = y - g
        z /= width
        F += w * ndtr(z)
        z *= z
        z *= -0.5
        np.exp(z, out=z)
        z *= w
        f += z
    return F, f / (SQRT_2PI * width)
