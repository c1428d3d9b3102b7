"""Slow, plain versions of the formulas, written from their definitions."""

import numpy as np
from mpmath import mp, mpf
from scipy.integrate import trapezoid
from scipy.optimize import minimize_scalar
from scipy.special import entr, ndtr

mp.dps = 50


# ---------------------------------------------------------------- suprema


def probit_credibility_by_brent(mu: float, sigma2: float, sign: int) -> float:
    """The paper's way: Brent's method on the product itself, from the mode."""
    found = minimize_scalar(
        lambda theta: -np.exp(-((theta - mu) ** 2) / (2 * sigma2)) * ndtr(sign * theta),
        bracket=(mu, mu + sign * 0.1),
        tol=1e-12,
    )
    return -float(found.fun)


def probit_excess(mu: float, sigma2: float) -> mpf:
    """sup N(theta; mu, sigma2) Phi(theta) - Phi(mu) with fifty digits: Newton on log distance."""
    mu, sigma2 = mpf(mu), mpf(sigma2)
    log_d = mp.log(sigma2 * mp.npdf(mu) / mp.ncdf(mu))
    for _ in range(500):
        d = mp.exp(log_d)
        r = mp.npdf(mu + d) / mp.ncdf(mu + d)
        step = (log_d - mp.log(sigma2 * r)) / (1 + d * (mu + d + r))
        log_d -= step
        if abs(step) < mpf(10) ** -40:
            break
    d = mp.exp(log_d)
    cost = d * d / (2 * sigma2)
    if mu > 0:  # in the thin tail
        return mp.ncdf(-mu) - mp.ncdf(-mu - d) + mp.ncdf(mu + d) * mp.expm1(-cost)
    return mp.ncdf(mu + d) * mp.exp(-cost) - mp.ncdf(mu)


def softmax_excess(mu, sigma2) -> list[mpf]:
    """sup p(l; theta) N(theta) - p(l; mu) for each label, fifty digits, bisection on one number."""
    mu, sigma2 = [mpf(float(v)) for v in mu], [mpf(float(v)) for v in sigma2]
    log_z = _log_sum_exp(mu)
    log_p = [v - log_z for v in mu]
    return [_one_softmax_excess(label, log_p, sigma2) for label in range(len(mu))]


def _one_softmax_excess(label: int, log_p: list, sigma2: list) -> mpf:
    own = [s if j == label else mpf(0) for j, s in enumerate(sigma2)]

    def drops(a):
        return [_omega(lp + b + mp.log(s) - a) for lp, b, s in zip(log_p, own, sigma2, strict=True)]

    low = max(lp + b - s for lp, b, s in zip(log_p, own, sigma2, strict=True))
    high = max(lp + b - s / len(sigma2) for lp, b, s in zip(log_p, own, sigma2, strict=True))
    high += mp.log(len(sigma2))
    while high - low > mpf(10) ** -22 * (1 + abs(low)):
        middle = (low + high) / 2
        total = sum(w / s for w, s in zip(drops(middle), sigma2, strict=True))
        low, high = (middle, high) if total > 1 else (low, middle)
    theta = [lp + b - w for lp, b, w in zip(log_p, own, drops(low), strict=True)]
    cost = sum((t - lp) ** 2 / (2 * s) for t, lp, s in zip(theta, log_p, sigma2, strict=True))
    return mp.exp(theta[label] - _log_sum_exp(theta) - cost) - mp.exp(log_p[label])


def _log_sum_exp(values: list) -> mpf:
    top = max(values)
    return top + mp.log(sum(mp.exp(v - top) for v in values))


def _omega(z: mpf) -> mpf:
    """The root of w + log w = z, by Newton on log w."""
    log_w = z if z < 1 else mp.log(z)
    for _ in range(100):
        w = mp.exp(log_w)
        step = (z - w - log_w) / (1 + w)
        log_w += step
        if abs(step) < mpf(10) ** -45:
            break
    return mp.exp(log_w)


def envelope_volume(mean, variance, credibility) -> float:
    """The integral of the largest of several Gaussian possibilities, on a fine grid."""
    reach = 12 * np.sqrt(variance.max())
    theta = np.linspace(mean.min() - reach, mean.max() + reach, 400_001)
    exponent = -((theta - mean[:, None]) ** 2) / (2 * variance[:, None])
    return float(trapezoid((credibility[:, None] * np.exp(exponent)).max(axis=0), theta))


# ---------------------------------------------------------------- averages


def probit_information(mu: float, sigma2: float) -> mpf:
    """H(E p) - E H(p) with fifty digits."""
    mu, sigma2 = mpf(mu), mpf(sigma2)
    z, centre, width = mu / mp.sqrt(1 + sigma2), mu / (1 + sigma2), mp.sqrt(sigma2 / (1 + sigma2))

    def entropy(t):
        q = mp.ncdf(-abs(t))
        return -q * mp.log(q) - (1 - q) * mp.log1p(-q)

    def integrand(x):  # under the Gaussian tilted by exp(-theta^2 / 2)
        t = centre + width * x
        return entropy(t) * mp.exp((t * t - x * x) / 2)

    # The trapezoidal rule converges geometrically here: this step is good to 25 digits.
    step = mpf("0.2")
    noise = step * sum(integrand(step * k) for k in range(-60, 61))
    noise *= mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi * (1 + sigma2))
    return entropy(z) - noise


def logistic_averages(gap: float, variance: float) -> tuple[mpf, mpf]:
    """Average probability of the rarer label and the information; log odds N(gap, variance)."""
    gap, sd, step = mpf(gap), mp.sqrt(mpf(variance)), mpf("0.1")
    rare = common = noise = mpf(0)
    for k in range(-200, 201):
        t = gap + sd * step * k
        weight = step * mp.exp(-((step * k) ** 2) / 2) / mp.sqrt(2 * mp.pi)
        p, q = 1 / (1 + mp.exp(-t)), 1 / (1 + mp.exp(t))
        common, rare = common + weight * p, rare + weight * q
        noise -= (
            weight * (p * mp.log1p(-q) + q * mp.log(q))
            if q < p
            else weight * (p * mp.log(p) + q * mp.log1p(-p))
        )
    entropy = -rare * mp.log(rare) - common * mp.log1p(-rare)
    return min(rare, common), entropy - noise


def softmax_averages(mu, sigma2, points: int = 81) -> tuple[np.ndarray, float]:
    """E p and E H(p) by a tensor grid over all latents but one; the last only shifts the rest."""
    x = np.linspace(-8.5, 8.5, points)
    w = np.exp(-0.5 * x * x)
    grid = np.meshgrid(
        *[m + np.sqrt(s) * x for m, s in zip(mu, sigma2, strict=True)], indexing="ij"
    )
    weight = np.ones(())
    for _ in mu:
        weight = np.multiply.outer(weight, w / w.sum())
    theta = np.stack(grid, axis=-1)
    e = np.exp(theta - theta.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    over = tuple(range(len(mu)))
    return (p * weight[..., None]).sum(axis=over), float((entr(p).sum(axis=-1) * weight).sum())


def softmax_race(mu, sigma2, step: float = 0.05) -> tuple[np.ndarray, float]:
    """E p and E H(p) by one integral over the largest of theta + Gumbel noise, on fine grids.

    Each label's distribution is an average over its own grid; nothing is read from a table.
    """
    mu, sd = np.asarray(mu, dtype=float), np.sqrt(sigma2)
    t = np.arange((mu - 8.5 * sd).max() - 4.5, (mu + 8.5 * sd).max() + 35.0, step)
    F, f = np.empty((2, len(mu), len(t)))
    for label, (m, s) in enumerate(zip(mu, sd, strict=True)):
        x = np.arange(-9, 9.01, min(0.25, 0.2 / max(s, 1e-9)))
        w = np.exp(-0.5 * x * x)
        e = np.exp(np.minimum(m + s * x[:, None] - t, 6.5))
        F[label] = (w / w.sum()) @ np.exp(-e)
        f[label] = (w / w.sum()) @ (e * np.exp(-e))
    hazard, P = f / np.maximum(F, 1e-300), F.prod(axis=0) * step
    p = hazard @ P
    both = (hazard * (hazard.sum(axis=0) - hazard)) @ P
    log_sum = (t * hazard.sum(axis=0)) @ P - np.euler_gamma
    return p, float(log_sum - (mu * p + sigma2 * both).sum())


# ---------------------------------------------------------------- lengths of rows


def length_power(X: np.ndarray) -> float:
    """One less the variance of the squared length of a Gaussian of the rows' covariance.

    In units of its squared mean, from the eigenvalues: 2 sum l^2 / (sum l)^2.
    """
    spectrum = np.linalg.eigvalsh(np.atleast_2d(np.cov(X.T)))
    return max(0.0, 1 - 2 * (spectrum**2).sum() / spectrum.sum() ** 2)


def shrunk_lengths(rows: np.ndarray, X: np.ndarray, power: float) -> np.ndarray:
    """Rows from the mean of others, each divided by a power of its length, one by one."""
    return np.array([apart / np.linalg.norm(apart) ** power for apart in rows - X.mean(axis=0)])
