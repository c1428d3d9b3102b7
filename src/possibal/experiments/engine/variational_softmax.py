"""Variational inference for a softmax: Gaussians of the largest evidence bound, in batches.

    ProblemBatch --variational_evidence--> VariationalPosterior --moments--> rows of each

Each latent process of each problem gets a Gaussian of its own, N(m, V). Where the bound is largest,
V is (K^-1 + diag(w))^-1 with w the expected p (1 - p), and m is K times the expected y - p (Opper
and Archambeau 2009), so that two numbers for each label and latent are all there is to find.
Expectations are averages over quasi-random draws that stay the same.
"""

import functools
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtri, softmax
from scipy.stats import qmc

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.gp.batch import ProblemBatch
from possibal.gp.means import ZERO, ConstantMean
from possibal.gp.posterior import AnyLink
from possibal.gp.rbf import RBFPrior, RowPairs
from possibal.numerics.batched import Batched
from possibal.numerics.batched_bfgs import maximize

DRAWS = 128
"""Quasi-random draws of the latents of a row; half of them mirror the others."""
STEP, PATIENCE = 0.6, 40
"""Share of the way to the next fixed-point estimate, which the whole way might swing about; and
after how many steps it is lessened."""
CLOSE, LEVEL, MOST_STEPS = 1e-4, 1e-3, 300
"""The change of latents, relative to the largest, and the slope that end the iteration; and steps
that end it anyway."""
_FLOOR = 1e-13
"""A variance below this share of the prior's is rounding."""


@functools.cache
def standard_draws(latents: int) -> Array:
    """Standard normal draws of the latents of a row, (D, 1, latents, 1).

    Sobol' points, mirrored, and turned so that their covariance is the identity.
    """
    half = ndtri(qmc.Sobol(latents, rng=np.random.default_rng(0)).random(DRAWS // 2))
    half = np.linalg.solve(np.linalg.cholesky(half.T @ half / len(half)), half.T).T
    return np.concatenate([half, -half]).astype(float)[:, None, :, None]


@dataclass(frozen=True, eq=False)
class Sites(Batched):
    """What the labels say of their latents: factors exp(b g - w g^2 / 2), one a label and latent.

    Attributes:
        b: (S, P, n), slopes at zero.
        w: (S, P, n), precisions.
    """

    b: Array
    w: Array

    @classmethod
    def none(cls, y: Array) -> "Sites":
        """Sites that say nothing yet, but for a precision to start with."""
        return cls(np.zeros(y.shape), np.full(y.shape, 1.0 / y.shape[1]))

    def padded(self, n: int) -> "Sites":
        """The same once there are n labels."""
        room = [(0, 0), (0, 0), (0, n - self.b.shape[2])]
        return Sites(
            np.pad(self.b, room), np.pad(self.w, room, constant_values=1.0 / self.b.shape[1])
        )


@dataclass(frozen=True, eq=False)
class Marginals(Batched):
    """The Gaussians that sites make of a prior.

    Attributes:
        mean: (S, P, n), above the prior's.
        variance: (S, P, n).
        a: (S, P, n), K^-1 mean.
        root: (S, P, n, n), R with R' R = (K + W^-1)^-1.
        divergence: (S,), Kullback-Leibler divergence from the prior, summed over latents.
    """

    mean: Array
    variance: Array
    a: Array
    root: Array
    divergence: Vector

    @classmethod
    def of(cls, K: Array, sites: Sites) -> "Marginals":
        """Gaussians of precision K^-1 + diag(w), for covariances (S, n, n)."""
        K, half = K[:, None], np.sqrt(sites.w)
        B = np.eye(K.shape[-1]) + half[..., :, None] * K * half[..., None, :]
        inverse = np.asarray(np.linalg.inv(np.linalg.cholesky(B)), dtype=float)
        root = inverse * half[..., None, :]
        explained = root @ K
        variance = np.diagonal(K, axis1=2, axis2=3) - (explained * explained).sum(axis=2)
        above = (K @ sites.b[..., None])[..., 0]
        mean = above - (np.swapaxes(explained, 2, 3) @ (root @ above[..., None]))[..., 0]
        a = sites.b - sites.w * mean
        trace = (inverse * inverse).sum(axis=(1, 2, 3)) - sites.w[0].size
        logs = -2.0 * np.log(np.diagonal(inverse, axis1=2, axis2=3)).sum(axis=(1, 2))
        divergence = 0.5 * (trace + (a * mean).sum(axis=(1, 2)) + logs)
        return cls(mean, np.maximum(variance, 0.0), a, root, divergence)

    def latents(self, level: Array) -> Array:
        """Draws of the latents of each label, (D, S, P, n)."""
        draws = standard_draws(self.mean.shape[1])
        return level + self.mean + np.sqrt(self.variance) * draws


def fixed_point(K: Array, y: Array, level: Array, sites: Sites) -> tuple[Sites, Marginals]:
    """Sites and Gaussians where the evidence bound is largest, each member by itself.

    Paper: none; Opper and Archambeau 2009, Eq. 11, damped as in Khan and Lin 2017.

    Args:
        K: (S, n, n), covariances of the training rows.
        y: (S, P, n), one-hot labels.
        level: (1, P or 1, 1), prior mean.
        sites: where to start.
    """
    b, w = sites.b.copy(), sites.w.copy()
    here = np.arange(len(y))
    last = Marginals.of(K, sites)
    for step in range(MOST_STEPS):
        share = STEP / (1 + step // PATIENCE)
        p = softmax(last.latents(level), axis=2)
        now = p.mean(axis=0)
        w_next, gradient = now - (p * p).mean(axis=0), y[here] - now
        centred = last.mean - last.mean.mean(axis=1, keepdims=True)
        b[here] += share * (w_next * centred + gradient - b[here])
        w[here] += share * (w_next - w[here])
        found = Marginals.of(K[here], Sites(b[here], w[here]))
        moved = np.abs(found.mean - last.mean).max(axis=(1, 2))
        residual = np.abs(last.a - gradient).max(axis=(1, 2))
        far = (moved > CLOSE * (1.0 + np.abs(found.mean).max(axis=(1, 2)))) | (residual > LEVEL)
        here, last = here[far], found.part(np.flatnonzero(far))
        if not len(here):
            break
    done = Sites(b, w)
    return done, Marginals.of(K, done)


@dataclass(frozen=True, eq=False)
class VariationalPosterior(Batched):
    """Variational posteriors of S problems, each under one setting of its hyperparameters.

    Attributes:
        sites: what the labels say.
        marginals: the Gaussians of the latents of the labels.
        bound: (S,), lower bounds of the log evidence.
        variance: (S,), prior variance of any row.
        mean: prior mean of every row.
        prior: the settings; None where covariances are given, not distances.
        inverse: (S, 2, 2), as of :class:`possibal.gp.batch.BatchPosterior`.
    """

    sites: Sites
    marginals: Marginals
    bound: Vector
    variance: Vector
    mean: ConstantMean = ZERO
    prior: RBFPrior | None = None
    inverse: Array | None = None

    @property
    def credibility(self) -> Matrix:
        """Of the one setting of each problem, (S, 1)."""
        return np.ones((len(self.bound), 1))

    def start(self, n: int) -> Sites:
        """Where the next search starts once there are n labels."""
        return self.sites.padded(n)

    def moments(self, lines: RowPairs) -> tuple[Array, Array]:
        """Latent means and variances of other rows, (S, 1, P, m) each.

        Args:
            lines: (S, n, m), squared distances or covariances, as of
                :class:`possibal.gp.batch.BatchPosterior`.
        """
        K_t = lines.squares if self.prior is None else self.prior.covariances(lines)
        half, prior = self.marginals.root @ K_t[:, None], self.variance[:, None, None]
        variance = np.maximum(prior - (half * half).sum(axis=2), _FLOOR * prior)
        mean = self.marginals.a @ K_t + np.array(self.mean.levels)[:, None]
        return mean[:, None], variance[:, None]

    def probability(self, lines: RowPairs) -> Array:
        """The probability of each label at the mean of its latents, (S, P, m)."""
        return softmax(self.moments(lines)[0][:, 0], axis=1)


def variational_conditioned(
    K: Array,
    y: Array,
    _link: AnyLink,
    variance: Vector,
    start: Sites | None = None,
    *,
    mean: ConstantMean = ZERO,
) -> VariationalPosterior:
    """The posterior of problems whose covariances are given, one setting each."""
    level = np.array(mean.levels)[None, :, None]
    sites, found = fixed_point(K, y, level, start or Sites.none(y))
    latents = found.latents(level)
    expected = (y * latents.mean(axis=0)).sum(axis=(1, 2))
    expected -= logsumexp(latents, axis=2).mean(axis=0).sum(axis=1)
    return VariationalPosterior(sites, found, expected - found.divergence, variance, mean)


def variational_evidence(
    batch: ProblemBatch, last: VariationalPosterior | None
) -> VariationalPosterior:
    """The posterior under the setting of the largest evidence bound times hyperprior.

    The search starts from the setting of one label before; the first from the hyperprior's centre.

    Paper: App. E.3, hyperparameters "optimised alongside" the variational posterior.
    """
    centre, sd = batch.hyperprior.centre, batch.hyperprior.sd
    known = None if last is None else last.prior
    theta = np.array(centre) if known is None else known.thetas
    near = Sites.none(batch.y) if last is None else last.start(batch.n)
    search = _BoundSearch(batch, near)
    found = maximize(search.heights, (theta - centre) / sd, None if last is None else last.inverse)
    fit = _under(batch, centre + sd * found.z, search.near)
    return fit.with_arrays({"inverse": found.inverse})


def _under(batch: ProblemBatch, thetas: Matrix, start: Sites) -> VariationalPosterior:
    """The posterior under given settings, (S, 2), one a problem."""
    prior = RBFPrior.usual(thetas, batch.level, batch.mean)
    K = prior.covariances(batch.pairs)
    fit = variational_conditioned(K, batch.y, batch.link, prior.variance, start, mean=batch.mean)
    return fit.with_arrays({"prior": prior})


class _BoundSearch:
    """Evidence bound plus log hyperprior of each problem, in units of the hyperprior."""

    def __init__(self, batch: ProblemBatch, near: Sites) -> None:
        self.batch, self.near = batch, Sites(near.b.copy(), near.w.copy())

    def heights(self, z: Matrix, members: Places) -> tuple[Vector, Matrix]:
        """Heights and slopes; each search for sites starts where the last of its problem ended."""
        batch, sd = self.batch.part(members), self.batch.hyperprior.sd
        thetas = self.batch.hyperprior.centre[members] + sd * z
        fit = _under(batch, thetas, self.near.part(members))
        self.near.b[members], self.near.w[members] = fit.sites.b, fit.sites.w
        a, root = fit.marginals.a, fit.marginals.root
        by_covariance = 0.5 * (a[..., :, None] * a[..., None, :] - np.swapaxes(root, 2, 3) @ root)
        assert fit.prior is not None  # noqa: S101 - tells the type checker
        slopes = fit.prior.slopes_at(batch.pairs, by_covariance)
        return fit.bound - 0.5 * (z * z).sum(axis=1), sd * slopes - z
