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
from scipy.special import erfcx, log_ndtr, ndtr

from possibal.arrays import Array, Matrix, Vector

EULER = float(np.euler_gamma)
SQRT_2PI = float(np.sqrt(2.0 * np.pi))
HERMITE_X, _weights = np.polynomial.hermite_e.hermegauss(28)
HERMITE_W = _weights / SQRT_2PI


# ---------------------------------------------------------------- two labels, probit


def probit_average(mean: Array, variance: Array) -> Array:
    """The average probability of label 1, E Phi(theta) = Phi(mu / sqrt(1 + sigma2)).

    Paper: App. E.4, p(y = 1 | x) of the standard Gaussian process; GPML Eq. 3.82.
    """
    return ndtr(mean / np.sqrt(1.0 + variance))


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


# ---------------------------------------------------------------- C labels, softmax


@dataclass(frozen=True)
class SoftmaxAverages:
    """What a softmax over independent Gaussian latents gives on average."""

    probability: Matrix
    """(m, C), E p(l; theta)."""
    noise: Vector
    """(m,), E H(p(theta)): the entropy that no knowledge of theta would remove."""


# Trapezoidal rules, good to 1e-7 on their side of NARROW. Gumbel: g = x + e^x spreads the slow
# right tail, so that equal steps in x follow it.
NARROW = 1.4
MOST_STEPS = 1000  # enough for variances up to 1e24
GAUSS_X = np.arange(-12, 13) * 0.45
GAUSS_W = 0.45 * np.exp(-0.5 * GAUSS_X**2) / SQRT_2PI
_x = np.arange(-13, 13) * 0.25
GUMBEL_G = _x + np.exp(_x)
GUMBEL_W = 0.25 * (1.0 + np.exp(_x)) * np.exp(-GUMBEL_G - np.exp(-GUMBEL_G))


def softmax_averages(mean: Matrix, variance: Matrix) -> SoftmaxAverages:
    """Average probabilities and average entropy of a softmax over independent Gaussian latents.

    Paper: App. E.4, p(y = l | x) and E H[y | x, theta] for more than two labels.

    The line is cut at the point below which the largest cannot be. Labels whose distribution
    rises later are as much wider, so steps that grow in proportion resolve every label, and
    their number grows only with the logarithm of the variance. The average entropy follows
    from E log sum exp and, by Stein's lemma, E p_l theta_l = mu_l E p_l + sigma2_l E p_l (1 - p_l).
    """
    mu = np.maximum(mean - mean.max(axis=1, keepdims=True), -1e300).T
    sigma2 = variance.T
    width = np.sqrt(sigma2)
    low = (mu - 5.5 * width).max(axis=0) - 3.0
    reach = np.log1p(((mu + 5.5 * width).max(axis=0) + 20.0 - low) / 8.0)
    step = np.maximum(reach / MOST_STEPS, 0.035)
    x = np.arange(np.ceil((reach / step).max()) + 1.0)[:, None] * step
    t = low + 8.0 * np.expm1(x)
    measure = 8.0 * step * np.exp(x)

    F, f, slope = _gauss_gumbel(t[:, None] - mu, width)
    F = np.maximum(F, np.finfo(float).tiny)
    others = F.prod(axis=1)[:, None] / F * measure[:, None]
    mass = f * others
    probability = mass.sum(axis=0)
    scale = 1.0 / probability.sum(axis=0)  # one up to the error of the rule
    probability *= scale
    log_sum = (t * mass.sum(axis=1)).sum(axis=0) * scale - EULER
    spread = -(slope * others).sum(axis=0) * scale
    noise = log_sum - (mu * probability + sigma2 * spread).sum(axis=0)
    return SoftmaxAverages(probability.T, np.clip(noise, 0.0, np.log(len(mu))))


def _gauss_gumbel(y: Array, width: Array) -> tuple[Array, Array, Array]:
    """Distribution function, density and its slope, of Gaussian plus Gumbel noise, at y.

    Args:
        y: (T, C, m), measured from the Gaussian's mean.
        width: (C, m), the Gaussian's standard deviation. The rule runs over the narrower noise.
    """
    F, f, slope = np.empty_like(y), np.empty_like(y), np.empty_like(y)
    narrow = width < NARROW
    for chosen, rule in ((narrow, _over_gauss), (~narrow, _over_gumbel)):
        F[:, chosen], f[:, chosen], slope[:, chosen] = rule(y[:, chosen], width[chosen])
    return F, f, slope


def _over_gauss(y: Array, width: Vector) -> tuple[Array, Array, Array]:
    F, f, slope = np.zeros_like(y), np.zeros_like(y), np.zeros_like(y)
    for x, w in zip(GAUSS_X, GAUSS_W, strict=True):
        e = np.exp(np.minimum(width * x - y, 6.5))  # exp(-exp(6.5)) is zero
        g = np.exp(-e)
        g *= w
        F += g
        g *= e
        f += g
        e -= 1.0
        e *= g
        slope += e
    return F, f, slope


def _over_gumbel(y: Array, width: Vector) -> tuple[Array, Array, Array]:
    F, f, slope = np.zeros_like(y), np.zeros_like(y), np.zeros_like(y)
    for g, w in zip(GUMBEL_G, GUMBEL_W, strict=True):
        z = y - g
        z /= width
        F += w * ndtr(z)
        d = np.exp(-0.5 * z * z)
        d *= w / SQRT_2PI
        f += d
        d *= z
        slope -= d
    return F, f / width, slope / (width * width)
