"""Slow, plain Gaussian processes: dense matrices of all latents at once, explicit inverses."""

from dataclasses import dataclass

import numpy as np
from mpmath import mp
from scipy.linalg import block_diag
from scipy.stats import norm

mp.dps = 50


# ---------------------------------------------------------------- links


def log_probability(link: str, y, g, weight):
    """Log probability of one label, with fifty digits."""
    y, g, weight = mp.mpf(y), mp.mpf(g), mp.mpf(weight)
    if link == "probit" and y * g < 0:
        return weight * mp.log(mp.erfc(-y * g / mp.sqrt(2)) / 2)
    if link == "probit":
        return weight * mp.log1p(-mp.erfc(y * g / mp.sqrt(2)) / 2)
    if link == "logistic":
        return -weight * mp.log1p(mp.exp(-y * g))
    return (mp.log(weight / (2 * mp.pi)) - weight * (y - g) ** 2) / 2


def slopes(link: str, y, g, weight) -> list[float]:
    """First derivative, minus the second, and the third, by differences with fifty digits."""
    first, second, third = (
        mp.diff(lambda t: log_probability(link, y, t, weight), g, k) for k in (1, 2, 3)
    )
    return [float(first), -float(second), float(third)]


# ---------------------------------------------------------------- Laplace's method


@dataclass
class Dense:
    """A posterior over all C n latents, class after class; one class for a link with one latent."""

    link: str
    K: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    g: np.ndarray
    m: np.ndarray | float = 0.0

    @classmethod
    def of(cls, link: str, K, y, weight, m=0.0) -> "Dense":
        """The posterior with its mode, found by Newton steps that are halved until they gain.

        Args:
            link: probit, logistic, identity or softmax.
            K: (C or 1, n, n), one for each class or one for all.
            y: (C, n).
            weight: (n,).
            m: prior means, (C, n), (1, n) or a number.
        """
        m = np.broadcast_to(m, y.shape).ravel()
        K = block_diag(*np.broadcast_to(K, (len(y), *K.shape[1:])))
        here = cls(link, K, y, weight, m.copy(), m)
        for _ in range(100):
            H = np.linalg.inv(np.eye(y.size) + here.K @ here.W)
            step = H @ (here.K @ (here.W @ here.g + here.gradient) + m) - here.g
            share = 1.0
            there = here.moved(step)
            while there.psi < here.psi - 1e-12 * (1 + abs(here.psi)):
                share /= 2
                there = here.moved(share * step)
            here = there
            if np.abs(step).max(initial=0.0) < 1e-12:
                break
        return here

    def moved(self, step) -> "Dense":
        return Dense(self.link, self.K, self.y, self.weight, self.g + step, self.m)

    @property
    def pi(self):
        """Probabilities of the labels, (C, n)."""
        e = np.exp(self.g.reshape(self.y.shape))
        return e / e.sum(axis=0)

    @property
    def log_likelihood(self) -> float:
        y, g, w = self.y, self.g.reshape(self.y.shape), self.weight
        if self.link == "probit":
            return float((w * norm.logcdf(y * g)).sum())
        if self.link == "logistic":
            return float(-(w * np.logaddexp(0, -y * g)).sum())
        if self.link == "identity":
            return float(norm.logpdf(y, g, np.sqrt(1 / w)).sum())
        return float((w * (y * np.log(self.pi)).sum(axis=0)).sum())

    @property
    def gradient(self):
        """Of the log likelihood, (C n,)."""
        y, g, w = self.y, self.g.reshape(self.y.shape), self.weight
        if self.link == "probit":
            slope = y * np.exp(norm.logpdf(g) - norm.logcdf(y * g))
        elif self.link == "logistic":
            slope = (y + 1) / 2 - 1 / (1 + np.exp(-g))
        elif self.link == "identity":
            slope = y - g
        else:
            slope = y - self.pi
        return (w * slope).ravel()

    @property
    def W(self):
        """Minus the second derivatives of the log likelihood, (C n, C n)."""
        g, w = self.g.reshape(self.y.shape), self.weight
        if self.link == "probit":
            t = self.y * g
            r = np.exp(norm.logpdf(t) - norm.logcdf(t))
            return np.diag((w * (r * r + t * r)).ravel())
        if self.link == "logistic":
            p = 1 / (1 + np.exp(-g))
            return np.diag((w * p * (1 - p)).ravel())
        if self.link == "identity":
            return np.diag(w)
        stacked = np.vstack([np.diag(p) for p in self.pi])  # the paper's Pi, (C n, n)
        D = np.diag((w * self.pi).ravel())
        return D - stacked @ np.diag(w) @ stacked.T

    @property
    def psi(self) -> float:
        """The log posterior up to a constant: log p(y | g) - (g - m)' K^-1 (g - m) / 2."""
        h = self.g - self.m
        return self.log_likelihood - 0.5 * float(h @ np.linalg.solve(self.K, h))

    @property
    def log_evidence(self) -> float:
        """Laplace's log marginal likelihood."""
        _, log_determinant = np.linalg.slogdet(np.eye(len(self.g)) + self.K @ self.W)
        return self.psi - 0.5 * float(log_determinant)

    @property
    def P(self):
        """What the paper writes (K + W^-1)^-1, where W need not have an inverse."""
        return np.linalg.inv(np.eye(len(self.g)) + self.W @ self.K) @ self.W

    def mean(self, K_t):
        """Means of the latents of other rows above the prior's, (C, m), from their covariances."""
        blocks = block_diag(*np.broadcast_to(K_t, (len(self.y), *K_t.shape[1:])))
        return (blocks @ np.linalg.inv(self.K) @ (self.g - self.m)).reshape(len(self.y), -1)

    def covariance(self, K_t, among):
        """Covariances of all latents of other rows, (C, m, C, m), from those among these rows."""
        C, m = len(self.y), K_t.shape[1]
        blocks = block_diag(*np.broadcast_to(K_t, (C, *K_t.shape[1:])))
        prior = block_diag(*np.broadcast_to(among, (C, *among.shape[1:])))
        return (prior - blocks @ self.P @ blocks.T).reshape(C, m, C, m)


def log_gaussian_evidence(K, y, weight) -> float:
    """Log density of numbers under N(0, K + noise), from the definition."""
    covariance = K + np.diag(1 / weight)
    _, log_determinant = np.linalg.slogdet(2 * np.pi * covariance)
    return float(-0.5 * (y @ np.linalg.inv(covariance) @ y + log_determinant))


# ---------------------------------------------------------------- problems


def random_kernels(rng, shape, n: int):
    """Well-conditioned kernel matrices of random rows, (*shape, n, n)."""
    count = int(np.prod(shape))
    X = rng.normal(size=(count, n, 2))
    squares = ((X[:, :, None] - X[:, None]) ** 2).sum(axis=-1)
    amplitude = np.exp(rng.normal(size=(count, 1, 1)))
    K = amplitude * (np.exp(-0.5 * squares) + 0.1 * np.eye(n))
    return K.reshape(*shape, n, n)


def random_labels(rng, link: str, classes: int, n: int):
    """What could have been seen: (1, n) for one latent a row, one-hot (C, n) for a softmax."""
    if link == "softmax":
        return np.eye(classes)[:, rng.integers(classes, size=n)]
    if link == "identity":
        return rng.normal(size=(1, n))
    return rng.choice([-1.0, 1.0], size=(1, n))
