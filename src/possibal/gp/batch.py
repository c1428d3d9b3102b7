"""Batched inference: R problems with n labels each, fitted as members of one batch.

    ProblemBatch(pairs, y, ...) --envelope, evidence--> BatchPosterior --moments--> rows of each

The members of a batch are the settings of the hyperparameters of the first problem, then those of
the second, and so on; a member does not depend on its neighbours. The kernel is the default one, a
constant times the sum of an RBF, features and a level, so that rows enter by their squared
distances and the inner products of their features alone.
"""

import functools
from dataclasses import dataclass, replace

import numpy as np

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.gp.curvature import Observations, SoftmaxCurvature
from possibal.gp.feature_maps import NO_FEATURES, FeatureMap
from possibal.gp.hyperparameters import (
    FAR,
    FEWEST_SCREENED,
    LEAST_CREDIBLE,
    NEAR,
    Hyperprior,
    default_hyperprior,
)
from possibal.gp.label_regression import label_regression_evidence
from possibal.gp.laplace import find_mode, sensitivity
from possibal.gp.means import ZERO, ConstantMean
from possibal.gp.posterior import TEMPERING, AnyLink, Conditioned
from possibal.gp.rbf import NO_LEVEL, Level, RBFPrior, RowPairs
from possibal.numerics.batched import Batched
from possibal.numerics.batched_bfgs import maximize

_FLOOR = 1e-13
"""A variance below this share of the prior's is rounding."""


@dataclass(frozen=True, eq=False)
class ProblemBatch(Batched):
    """R inference problems.

    Paper: App. E.2, the runs of an experiment; each is Prop. 7 or 8.

    Attributes:
        pairs: of the training rows of each, (R, n, n).
        y: (R, P, n), labels as the link reads them.
        distance: (R,), the usual distance of two rows of each, which length-scales follow.
        link: how latents make labels random.
        level: what all rows have in common.
        mean: prior mean of every row, one number for all processes or one for each.
        features: what is added to the RBF; those of the first problem, for all have one weight.
    """

    pairs: RowPairs
    y: Array
    distance: Vector
    link: AnyLink
    level: Level = NO_LEVEL
    mean: ConstantMean = ZERO
    features: FeatureMap = NO_FEATURES

    def __len__(self) -> int:
        """The number of problems."""
        return len(self.y)

    @property
    def n(self) -> int:
        """The number of labels of each problem."""
        return self.y.shape[2]

    @functools.cached_property
    def hyperprior(self) -> Hyperprior:
        """The hyperprior of each problem's amplitude and length-scale.

        Paper: none; a Gaussian possibility function of Sec. 3.2.
        """
        return default_hyperprior(self.distance)

    def under(
        self, thetas: Matrix, log_prior: Vector | None = None, start: Array | None = None
    ) -> "BatchPosterior":
        """The posterior under settings (S, 2), those of one problem next to each other.

        Paper: Props. 7 and 8.

        Args:
            thetas: logarithms of amplitude and length-scale.
            log_prior: (S,), their log possibilities; all alike if left out.
            start: (S, P, n), where Newton's method starts.
        """
        prior = RBFPrior.usual(thetas, self.level, self.mean, self.features)
        K, H = prior.covariances(self.pairs), len(thetas) // len(self)
        y = self.y if H == 1 else np.repeat(self.y, H, axis=0)
        fit = conditioned(K, y, self.link, prior.variance, start, mean=self.mean)
        known = fit.log_prior if log_prior is None else log_prior
        return replace(fit, log_prior=known, problems=len(self), prior=prior)


@dataclass(frozen=True, eq=False)
class BatchPosterior(Conditioned):
    """Posteriors of R problems, each under H settings of its hyperparameters.

    Paper: Props. 7 and 8.

    Attributes:
        variance: (S,), prior variance of any row.
        link: how latents make labels random.
        problems: R.
        prior: the settings; None where covariances are given, not distances.
        inverse: (S, 2, 2), about minus the inverse Hessian of the log evidence by the
            hyperparameters in units of the hyperprior, where they were searched for.
        mean: prior mean of every row.
    """

    variance: Vector
    link: AnyLink
    problems: int
    prior: RBFPrior | None = None
    inverse: Array | None = None
    mean: ConstantMean = ZERO

    @property
    def credibility(self) -> Matrix:
        """Posterior possibility of each setting, (R, H); zero where it is no longer credible.

        Paper: none; as :meth:`possibal.gp.posterior.Conditioned.credibilities`.
        """
        credibility = self.credibilities(self.problems)
        return np.where(credibility >= LEAST_CREDIBLE, credibility, 0.0)

    def heights(self, tempering: float = 1.0) -> Array:
        """The same by problem and setting, (R, H).

        Paper: none; Sec. 3.3 with the hyperparameters as the unknown.
        """
        return super().heights(tempering).reshape(self.problems, -1)

    def covariances(self, lines: RowPairs) -> Array:
        """Prior covariances K_t of training rows with others, (S, n, m).

        Paper: Prop. 6, K_t transposed.

        Args:
            lines: (R, n, m), their pairs; or covariances in place of squared distances where no
                prior is kept.
        """
        return lines.squares if self.prior is None else self.prior.covariances(lines)

    def means(self, lines: RowPairs) -> Array:
        """Latent means of other rows, (R, H, P, m), from `lines` as for :meth:`covariances`.

        Paper: Props. 7 and 8, mu_t.
        """
        return self._by_problem(self._means(self.covariances(lines)))

    def moments(self, lines: RowPairs) -> tuple[Array, Array]:
        """Latent means and variances of other rows, (R, H, P, m) each.

        Paper: Props. 7 and 8, mu_t and the diagonal of Sigma_t; GPML Alg. 3.2 and 3.4.
        """
        K_t, prior = self.covariances(lines), self.variance[:, None, None]
        root = np.swapaxes(self.mode.curvature.root(), 1, 2)
        if isinstance(self.mode.curvature, SoftmaxCurvature):
            inner = self.mode.curvature.E @ K_t[:, None]
            half = root[:, None] @ inner
            explained = np.add.reduce(inner * K_t[:, None], axis=2)
            explained -= np.add.reduce(half * half, axis=2)
        else:
            half = root @ K_t
            explained = np.add.reduce(half * half, axis=1)[:, None]
        variance = np.maximum(prior - explained, _FLOOR * prior)
        return self._by_problem(self._means(K_t)), self._by_problem(variance)

    def probability(self, lines: RowPairs) -> Array:
        """The most credible probability of each label, averaged over settings, (R, P, m).

        Paper: App. B.3.
        """
        c, p = self.credibility, self.link.probability(self.means(lines))
        return (c[:, :, None, None] / c.sum(axis=1)[:, None, None, None] * p).sum(axis=1)

    def evidence_slopes(self, pairs: RowPairs) -> Matrix:
        """Derivatives of the log evidence by the logarithms of amplitude and length-scale, (S, 2).

        Paper: none; GPML Alg. 5.1.
        """
        assert self.prior is not None  # noqa: S101 - tells the type checker
        return self.prior.slopes_at(pairs, sensitivity(self.mode, self.K))

    def start(self, n: int) -> Array:
        """Where Newton's method starts once there are n labels: the mode, and zero for new ones.

        Paper: Sec. 6, hot start.
        """
        return np.pad(self.mode.a, [(0, 0), (0, 0), (0, n - self.mode.a.shape[2])])

    def _means(self, K_t: Array) -> Array:
        """Latent means m + K_t a of other rows, (S, P, m)."""
        above = self.mode.a @ K_t
        return above if self.mean.is_zero else above + np.array(self.mean.levels)[:, None]

    def _by_problem(self, values: Array) -> Array:
        """An array of members as one of problems and settings."""
        return values.reshape(self.problems, -1, *values.shape[1:])


def conditioned(  # noqa: PLR0913 - what a problem is made of
    K: Array,
    y: Array,
    link: AnyLink,
    variance: Vector,
    start: Array | None = None,
    *,
    mean: ConstantMean = ZERO,
) -> BatchPosterior:
    """The posterior of problems whose covariances are given, one setting each.

    Paper: Props. 7 and 8; App. E.3 where hyperparameters stay fixed.

    Args:
        K: (S, n, n), covariances of the training rows.
        y: (S, P, n), labels as the link reads them.
        link: how latents make labels random.
        variance: (S,), prior variance of any row.
        start: (S, P, n), where Newton's method starts; see :func:`possibal.gp.laplace.find_mode`.
        mean: prior mean of every row.
    """
    S, n, _ = K.shape
    level = None if mean.is_zero else np.array(mean.levels)[None, :, None]
    seen = Observations(y, np.ones((1, 1, n)), mean=level)
    mode = find_mode(link, K[:, None], seen, start)
    return BatchPosterior(np.zeros(S), K[:, None], mode, variance, link, S, mean=mean)


# ---------------------------------------------------------------- hyperparameters


def envelope(batch: ProblemBatch, last: BatchPosterior | None) -> BatchPosterior:
    """The posterior under every setting of each envelope; started from one label before.

    Paper: none; see :func:`possibal.gp.hyperparameters.envelope`.
    """
    belief, R = batch.hyperprior, len(batch)
    settings = belief.settings()
    H = len(settings) // R
    start = None
    if last is not None:
        a = last.start(batch.n)
        start = a.reshape(R, -1, *a.shape[1:])[:, :H].reshape(R * H, *a.shape[1:])
    star = batch.under(settings, belief.log(settings), start)
    far = _best_rungs(batch, TEMPERING)
    some = np.flatnonzero(far.height > -np.inf)
    if not len(some):
        return star
    part = batch.part(some)
    others = part.hyperprior.settings(far.theta[some])
    known = np.where(part.hyperprior.is_beyond(others), part.hyperprior.log(others), -np.inf)
    around = part.under(others, known)
    gain = around.heights(TEMPERING).max(axis=1) - star.heights(TEMPERING)[some].max(axis=1)
    won = np.flatnonzero(gain > 0)
    if not len(won):
        return star
    members = (H * won[:, None] + np.arange(H)).ravel()
    return _side_by_side(star, around.part(members), some[won])


def _side_by_side(star: BatchPosterior, around: BatchPosterior, won: Places) -> BatchPosterior:
    """Two stars for each problem; the second of one that has none is not credible."""
    R = star.problems
    H = len(star.log_prior) // R
    first = np.arange(R * H).reshape(R, H)
    second = first.copy()
    second[won] = R * H + np.arange(len(won) * H).reshape(-1, H)
    members = np.concatenate([first, second], axis=1).ravel()
    both = BatchPosterior.joined([star, around]).part(members)
    unused = np.zeros((R, 2, H), dtype=bool)
    unused[:, 1] = second == first
    return replace(both, log_prior=np.where(unused.ravel(), -np.inf, both.log_prior))


@dataclass(frozen=True, eq=False)
class Rungs:
    """The best rung of each problem's ladder of length-scales that seems worth its while.

    Paper: none.

    Attributes:
        theta: (R, 2), its setting; the centre where there is none.
        height: (R,), tempered log evidence plus log hyperprior; minus infinity where there is none.
        a: (R, P, n), its mode.
    """

    theta: Matrix
    height: Vector
    a: Array


def _best_rungs(batch: ProblemBatch, tempering: float) -> Rungs:
    """The best setting of each problem beyond its star that seems to explain labels better.

    Labels are first read as numbers; see :func:`possibal.gp.hyperparameters.promising`.
    """
    belief, R, near, F = batch.hyperprior, len(batch), len(NEAR), len(FAR)
    found = Rungs(belief.centre.copy(), np.full(R, -np.inf), np.zeros_like(batch.y))
    if batch.n < FEWEST_SCREENED:
        return found
    ladder = belief.ladder(np.append(NEAR, FAR))
    K = RBFPrior.usual(ladder, batch.level).covariances(batch.pairs)[:, None]
    y = np.repeat(batch.y, near + F, axis=0)
    heights = label_regression_evidence(K, y, np.ones((1, batch.n)))
    score = (tempering * heights + belief.log(ladder)).reshape(R, near + F)
    is_promising = score[:, near:] > score[:, :near].max(axis=1, keepdims=True)
    some = np.flatnonzero(is_promising.any(axis=1))
    if len(some):
        part = batch.part(some)
        thetas = part.hyperprior.ladder(FAR)
        fit = part.under(thetas, part.hyperprior.log(thetas))
        height = np.where(is_promising[some], fit.heights(tempering), -np.inf)
        best = height.argmax(axis=1)
        members = F * np.arange(len(some)) + best
        found.theta[some], found.a[some] = thetas[members], fit.mode.a[members]
        found.height[some] = height.max(axis=1)
    return found


def evidence(batch: ProblemBatch, last: BatchPosterior | None) -> BatchPosterior:
    """The posterior under the setting of largest evidence times hyperprior of each problem.

    The search starts from the setting of one label before, the first from the best of the star; or
    from a rung of the ladder of length-scales, where that explains the labels better.

    Paper: App. E.3 for many labels; see :func:`possibal.gp.hyperparameters.evidence`.
    """
    centre, sd, R = batch.hyperprior.centre, batch.hyperprior.sd, len(batch)
    if last is None or last.prior is None:
        settings = batch.hyperprior.settings()
        star = batch.under(settings, batch.hyperprior.log(settings))
        heights = star.heights()
        best = heights.argmax(axis=1) + heights.shape[1] * np.arange(R)
        theta, near, inverse = settings[best], star.mode.a[best], None
        height = heights.max(axis=1)
    else:
        theta, near, inverse = last.prior.thetas, last.start(batch.n), last.inverse
        here = batch.under(theta, batch.hyperprior.log(theta), near)
        near, height = here.mode.a, here.log_evidence + here.log_prior
    far = _best_rungs(batch, 1.0)
    leaps = far.height > height
    theta = np.where(leaps[:, None], far.theta, theta)
    near = np.where(leaps[:, None, None], far.a, near)
    if inverse is not None:
        inverse = np.where(leaps[:, None, None], np.eye(theta.shape[1]), inverse)
    search = _EvidenceSearch(batch, near)
    found = maximize(search.heights, (theta - centre) / sd, inverse)
    fit = batch.under(centre + sd * found.z, start=search.near)
    return fit.with_arrays({"inverse": found.inverse})


class _EvidenceSearch:
    """Log evidence plus log hyperprior of each problem, in units of the hyperprior."""

    def __init__(self, batch: ProblemBatch, near: Array) -> None:
        self.batch, self.near = batch, near.copy()

    def heights(self, z: Matrix, members: Places) -> tuple[Vector, Matrix]:
        """Heights and slopes; each Newton search starts where the last of its problem ended."""
        batch, sd = self.batch.part(members), self.batch.hyperprior.sd
        fit = batch.under(self.batch.hyperprior.centre[members] + sd * z, start=self.near[members])
        self.near[members] = fit.mode.a
        belief = self.batch.hyperprior
        height = fit.log_evidence + belief.log_at(z)
        return height, sd * fit.evidence_slopes(batch.pairs) + belief.slopes_at(z)
