"""Crowds: trails that know equally many labels, and what all of them have learnt.

The kernel is ours, a constant times an RBF, with or without a level in common, so that everything
is a function of the squared distances between rows, which each run works out once.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import Belief
from possibal.experiments.datasets import Codes, Dataset
from possibal.experiments.splits import Split
from possibal.gp.curvature import Observations, SoftmaxCurvature
from possibal.gp.hyperparameters import LEAST_CREDIBLE
from possibal.gp.laplace import Mode, find_mode, sensitivity
from possibal.gp.likelihoods import PROBIT, SOFTMAX, Link, Softmax
from possibal.gp.posterior import TEMPERING, Posterior, TrainingData
from possibal.gp.rbf import RBFPrior
from possibal.numerics.distances import usual_distance

_FLOOR = 1e-13
"""A variance below this share of the prior's is rounding."""


@dataclass(frozen=True, eq=False)
class PoolGeometry:
    """What a run walks on.

    Attributes:
        share: its rows.
        lines: (pool, pool + test), squared distances of the pool's rows to those that matter; or
            their covariances, where the hyperparameters are fixed.
        pool: labels of the pool's rows.
        test: labels of the test rows.
    """

    share: Split
    lines: Matrix
    pool: Codes
    test: Codes

    @functools.cached_property
    def usual_distance(self) -> float:
        """Of two rows of the pool."""
        return usual_distance(self.share.X[self.share.pool])

    @classmethod
    def of(cls, share: Split, data: Dataset, theta: Vector | None) -> "PoolGeometry":
        """The ground of a run, under a setting of the hyperparameters if that is fixed."""
        pool = share.X[share.pool]
        others = np.concatenate([pool, share.X[share.test]])
        lines = cdist(pool, others, "sqeuclidean")
        if theta is not None:
            lines = covariances(lines[None], theta[None, None])[0, 0]
        return cls(share, lines, data.y[share.pool], data.y[share.test])


@dataclass(frozen=True, eq=False)
class RunBatch:
    """What S trails know.

    Attributes:
        grounds: of each trail.
        labels: how many labels there are.
        known: (S, n), places in the pool whose labels are known, in order of asking.
        left: (S, m), the other places in the pool.
        rows: (S, room, pool + test), lines of the ground at the places known; n are filled.
        theta: (2,), the setting under which the ground has covariances; None if distances.
        common: what all rows have in common, as a share of the amplitude.
    """

    grounds: Sequence[PoolGeometry]
    labels: int
    known: Places
    left: Places
    rows: Array
    theta: Vector | None = None
    common: float = 0.0

    @classmethod
    def at_start(
        cls,
        grounds: Sequence[PoolGeometry],
        labels: int,
        queries: int,
        theta: Vector | None = None,
        common: float = 0.0,
    ) -> "RunBatch":
        """Trails that know one row of each label."""
        shares = [ground.share for ground in grounds]
        known = np.array([np.searchsorted(share.pool, share.start) for share in shares])
        every = np.arange(len(shares[0].pool))
        left = np.array([np.setdiff1d(every, places) for places in known])
        room = known.shape[1] + queries
        rows = np.empty((len(grounds), room, grounds[0].lines.shape[1]))
        for s, ground in enumerate(grounds):
            rows[s, : known.shape[1]] = ground.lines[known[s]]
        return cls(grounds, labels, known, left, rows, theta, common)

    def __len__(self) -> int:
        """The number of trails."""
        return len(self.grounds)

    @property
    def n(self) -> int:
        """The number of labels each trail knows."""
        return self.known.shape[1]

    @property
    def link(self) -> Link | Softmax:
        """One latent for two labels, else one each."""
        return PROBIT if self.labels == 2 else SOFTMAX  # noqa: PLR2004 - two

    @property
    def lines(self) -> Array:
        """Squared distances or covariances between the rows known, (S, n, n)."""
        return np.take_along_axis(self.rows[:, : self.n], self.known[:, None], axis=2)

    def covariances(self, lines: Array, theta: Array) -> Array:
        """Covariances from part of the lines, (S, n, m), under settings (S, H, 2): (S, H, n, m)."""
        return lines[:, None] if self.theta is not None else covariances(lines, theta, self.common)

    @property
    def y(self) -> Array:
        """Labels as the link reads them, (S, P, n)."""
        codes = np.array([g.pool[k] for g, k in zip(self.grounds, self.known, strict=True)])
        if isinstance(self.link, Softmax):
            return (np.arange(self.labels)[:, None] == codes[:, None]).astype(float)
        return np.where(codes == 1, 1.0, -1.0)[:, None]

    def X(self, s: int) -> Matrix:
        """The rows one trail knows."""
        share = self.grounds[s].share
        return share.X[share.pool[self.known[s]]]

    def told(self, places: Places) -> "RunBatch":
        """The crowd once each trail was told about one more row, named by its place in left.

        The room is shared with this crowd, which is not to be asked again.
        """
        asked = np.take_along_axis(self.left, places[:, None], axis=1)
        for s, ground in enumerate(self.grounds):
            self.rows[s, self.n] = ground.lines[asked[s, 0]]
        others = np.arange(self.left.shape[1]) != places[:, None]
        left = self.left[others].reshape(len(self), -1)
        known = np.append(self.known, asked, axis=1)
        return replace(self, known=known, left=left)


@dataclass(frozen=True, eq=False)
class BatchedFit:
    """What a crowd has learnt, under H settings of the hyperparameters for each trail.

    Attributes:
        crowd: who.
        theta: (S, H, 2), logarithms of amplitude and length-scale.
        log_prior: (S, H), how credible they were before any label.
        mode: of S * H members, the settings of one trail next to each other.
        inverse: of the climb to the settings, where there was one; see ascent.py.
    """

    crowd: RunBatch
    theta: Array
    log_prior: Matrix
    mode: Mode
    inverse: Array | None = None

    @property
    def credibility(self) -> Matrix:
        """How credible each setting is, (S, H), zero where it is no longer.

        Paper: none; see :attr:`possibal.gp.Posterior.credibility`.
        """
        score = TEMPERING * self.mode.log_evidence.reshape(self.log_prior.shape) + self.log_prior
        credibility = np.exp(score - score.max(axis=1, keepdims=True))
        return np.where(credibility >= LEAST_CREDIBLE, credibility, 0.0)

    def accuracy(self) -> Vector:
        """The share of test rows whose label is guessed by the average of all settings, (S,)."""
        crowd, c = self.crowd, self.credibility
        pool = crowd.grounds[0].lines.shape[0]
        mean, _ = self._moments(crowd.rows[:, : crowd.n, pool:], variances=False)
        p = crowd.link.probability(mean)  # (S, H, P, t)
        average = (c[:, :, None, None] / c.sum(axis=1)[:, None, None, None] * p).sum(axis=1)
        binary = average.shape[1] == 1
        guess = (average[:, 0] > 0.5).astype(int) if binary else average.argmax(axis=1)  # noqa: PLR2004 - one half
        return (guess == np.array([ground.test for ground in crowd.grounds])).mean(axis=1)

    def moments(self) -> tuple[Array, Array]:
        """Latent means and variances of the rows left, (S, H, P, m) each."""
        crowd = self.crowd
        return self._moments(
            np.take_along_axis(crowd.rows[:, : crowd.n], crowd.left[:, None], axis=2)
        )

    def _moments(self, lines: Array, *, variances: bool = True) -> tuple[Array, Array]:
        """Moments of rows from their part of the lines, (S, n, m).

        Paper: Props. 7 and 8, mu_t and the diagonal of Sigma_t.
        """
        K_t = self.crowd.covariances(lines, self.theta)
        a = self.mode.a.reshape(*self.theta.shape[:2], *self.mode.a.shape[1:])
        mean = a @ K_t
        if not variances:
            return mean, mean
        flat = K_t.reshape(-1, *K_t.shape[2:])
        prior = (1.0 + self.crowd.common) * np.exp(self.theta[:, :, 0])[:, :, None, None]
        variance = prior - _explained(self.mode, flat).reshape(mean.shape)
        return mean, np.maximum(variance, _FLOOR * prior)

    def belief(self, s: int, mean: Array, variance: Array) -> Belief:
        """What one trail believes, given the moments of its rows under each setting, (H, P, m)."""
        c = self.credibility[s]
        order = np.argsort(-c, kind="stable")[: np.count_nonzero(c)]
        if mean.shape[1] == 1:
            return Belief(mean[order, 0], variance[order, 0], c[order])
        return Belief(np.swapaxes(mean[order], 1, 2), np.swapaxes(variance[order], 1, 2), c[order])

    def posterior(self, s: int) -> Posterior:
        """What one trail has learnt, as a posterior of its own."""
        H, X = self.theta.shape[1], self.crowd.X(s)
        kept = np.flatnonzero(self.credibility[s])
        members = s * H + kept
        data = TrainingData(X, self.crowd.y[s], np.ones((1, len(X))), self.crowd.link)
        prior = RBFPrior.usual(self.theta[s, kept], self.crowd.common)
        K = prior.gram(X)
        return Posterior(prior, self.log_prior[s, kept], data, K, self.mode.part(members))


def condition(link: Link | Softmax, K: Array, y: Array, start: Array | None) -> Mode:
    """The modes of members with covariances K (S, n, n) and labels y (S, P, n)."""
    n = K.shape[-1]
    return find_mode(
        link, K.reshape(-1, 1, n, n), Observations(y, np.ones((1, 1, n)), "kernel"), start
    )


def covariances(squares: Array, theta: Array, common: float = 0.0) -> Array:
    """Covariances at squared distances (S, n, m) under settings (S, H, 2): (S, H, n, m).

    Paper: App. E, the RBF kernel.
    """
    sharpness = -0.5 * np.exp(-2.0 * theta[:, :, 1])
    K = sharpness[:, :, None, None] * squares[:, None]
    np.exp(K, out=K)
    K += common
    K *= np.exp(theta[:, :, 0])[:, :, None, None]
    return K


def evidence_slopes(mode: Mode, squares: Array, theta: Matrix, common: float = 0.0) -> Matrix:
    """Derivatives of the log evidence by theta, (S, 2), under one setting each.

    Paper: none; GPML Alg. 5.1.
    """
    rbf = covariances(squares, theta[:, None])
    level = common * np.exp(theta[:, 0])[:, None, None]
    G = np.add.reduce(sensitivity(mode, rbf + level[:, None]), axis=1)
    T = G * rbf[:, 0]
    by_amplitude = np.add.reduce((T + G * level).reshape(len(T), -1), axis=1)
    by_length = np.add.reduce((T * squares).reshape(len(T), -1), axis=1)
    return np.column_stack([by_amplitude, np.exp(-2.0 * theta[:, 1]) * by_length])


def _explained(mode: Mode, K_t: Array) -> Array:
    """How much of the variance of rows the labels explain, (S, P, m), from K_t (S, n, m).

    Paper: Props. 7 and 8; GPML Alg. 3.2 and 3.4.
    """
    root = np.swapaxes(mode.information.root(), 1, 2)
    if isinstance(mode.information, SoftmaxCurvature):
        inner = mode.information.E @ K_t[:, None]
        half = root[:, None] @ inner
        own = np.add.reduce(inner * K_t[:, None], axis=2)
        return own - np.add.reduce(half * half, axis=2)
    half = root @ K_t
    return np.add.reduce(half * half, axis=1)[:, None]
