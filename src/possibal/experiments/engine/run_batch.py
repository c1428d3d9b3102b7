"""Runs that know equally many labels, as one batch of inference problems.

PoolGeometry (distances of a run) -> RunBatch (what R runs know) -> fit -> RunFit
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import Belief
from possibal.experiments.datasets import Codes, Dataset
from possibal.experiments.engine.drawn_scores import label_probabilities, latent_draws
from possibal.experiments.engine.variational_softmax import VariationalPosterior
from possibal.experiments.splits import Split
from possibal.gp.batch import BatchPosterior, ProblemBatch, conditioned
from possibal.gp.feature_maps import (
    NO_FEATURES,
    ColumnCosines,
    DiffusionColumns,
    FeatureMap,
    additive_weight,
)
from possibal.gp.hyperparameters import LENGTH_SHARE
from possibal.gp.likelihoods import PROBIT, SOFTMAX, Softmax
from possibal.gp.means import ZERO, ConstantMean
from possibal.gp.posterior import AnyLink, Posterior, TrainingData
from possibal.gp.rbf import NO_LEVEL, Level, RBFPrior, RowPairs
from possibal.numerics.distances import RIGHT_ANGLE, directions, usual_distance
from possibal.numerics.geometry import COSINE, EUCLIDEAN

RunPosterior: TypeAlias = BatchPosterior | VariationalPosterior
Inference: TypeAlias = Callable[[ProblemBatch, Any], RunPosterior]
"""How hyperparameters are dealt with, given what was learnt one label before."""


@dataclass(frozen=True)
class Method:
    """How the posterior of runs is had.

    Attributes:
        fitted: where hyperparameters are to be dealt with.
        fixed: where covariances are given; as :func:`possibal.gp.batch.conditioned`.
    """

    fitted: Inference
    fixed: Callable[..., RunPosterior] = conditioned


@dataclass(frozen=True, eq=False)
class PoolGeometry:
    """Distances between the rows of a run, worked out once.

    Attributes:
        split: its rows.
        lines: pairs of the pool's rows with those of pool and test, (1, pool, pool + test); or
            their covariances as squares, where the hyperparameters are fixed.
        pool: labels of the pool's rows.
        test: labels of the test rows.
        metric: how rows are compared.
        features: what is added to the RBF.
    """

    split: Split
    lines: RowPairs
    pool: Codes
    test: Codes
    metric: str = EUCLIDEAN
    features: FeatureMap = NO_FEATURES

    @functools.cached_property
    def usual_distance(self) -> float:
        """Of two rows of the pool; of directions always the same."""
        if self.metric == COSINE:
            return RIGHT_ANGLE
        return usual_distance(self.split.X[self.split.pool])

    @classmethod
    def of(
        cls, split: Split, data: Dataset, theta: Vector | None, *, plain: bool = True
    ) -> "PoolGeometry":
        """The geometry of a run.

        Args:
            split: its rows.
            data: the set.
            theta: logarithms of amplitude and length-scale, if they are fixed.
            plain: whether the kernel is an RBF alone.
        """
        pool, test = split.X[split.pool], split.X[split.test]
        if data.metric == COSINE:
            pool, test = directions(pool), directions(test)
        others = np.concatenate([pool, test])
        lines = RowPairs(cdist(pool, others, "sqeuclidean")[None])
        if theta is not None:
            lines = RowPairs(RBFPrior.usual(theta[None], NO_LEVEL).covariances(lines))
        found = cls(split, lines, data.y[split.pool], data.y[split.test], data.metric)
        return found if plain else found._with_features()

    def _with_features(self) -> "PoolGeometry":
        """The same with what the default kernel adds to the RBF."""
        split, length = self.split, LENGTH_SHARE * self.usual_distance
        added: FeatureMap = NO_FEATURES
        if split.diffusion.shape[1]:
            added = DiffusionColumns(split.diffusion.shape[1], length)
        elif self.metric != COSINE:
            known = split.X[split.pool]
            centre = tuple(known.mean(axis=0).tolist())
            added = ColumnCosines(centre, length, additive_weight(known.shape[1]))
        if added is NO_FEATURES:
            return self
        rows = added.features(split.rows[np.concatenate([split.pool, split.test])])
        inner = rows[: len(split.pool)] @ rows.T
        return replace(self, lines=replace(self.lines, inner=inner[None]), features=added)


@dataclass(frozen=True, eq=False)
class RunBatch:
    """What R runs know, n labels each.

    Attributes:
        geometries: of each run.
        labels: how many labels there are.
        known: (R, n), places in the pool whose labels are known, in order of asking.
        left: (R, m), the other places in the pool.
        lines: (R, room, pool + test), lines of the geometry at the places known; n are filled.
        theta: (2,), the setting under which the lines are covariances; None if they are pairs.
        level: what all rows have in common.
        mean: prior mean of every row, one number for all latents or one for each.
    """

    geometries: Sequence[PoolGeometry]
    labels: int
    known: Places
    left: Places
    lines: RowPairs
    theta: Vector | None = None
    level: Level = NO_LEVEL
    mean: ConstantMean = ZERO

    @classmethod
    def at_start(  # noqa: PLR0913 - what runs start from
        cls,
        geometries: Sequence[PoolGeometry],
        labels: int,
        queries: int,
        theta: Vector | None = None,
        level: Level = NO_LEVEL,
        *,
        mean: ConstantMean = ZERO,
    ) -> "RunBatch":
        """Runs that know one row of each label."""
        splits = [geometry.split for geometry in geometries]
        known = np.array([np.searchsorted(split.pool, split.start) for split in splits])
        every = np.arange(len(splits[0].pool))
        left = np.array([np.setdiff1d(every, places) for places in known])
        room = known.shape[1] + queries
        shape = len(geometries), room, geometries[0].lines.squares.shape[2]
        inner = None if geometries[0].lines.inner is None else np.empty(shape)
        runs = cls(
            geometries, labels, known, left, RowPairs(np.empty(shape), inner), theta, level, mean
        )
        for r in range(len(geometries)):
            runs._fill(r, slice(known.shape[1]), known[r])
        return runs

    def _fill(self, r: int, at: slice, places: Places) -> None:
        """Write the lines of some places of a run where there is room for them."""
        known, line = self.geometries[r].lines, self.lines
        line.squares[r, at] = known.squares[0, places]
        if line.inner is not None and known.inner is not None:
            line.inner[r, at] = known.inner[0, places]

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.geometries)

    @property
    def n(self) -> int:
        """The number of labels each run knows."""
        return self.known.shape[1]

    @property
    def link(self) -> AnyLink:
        """One latent for two labels, else one each."""
        return PROBIT if self.labels == 2 else SOFTMAX  # noqa: PLR2004 - two

    def lines_to(self, places: Places | slice) -> RowPairs:
        """Pairs of the rows known with others, (R, n, m)."""
        return self.lines.first(self.n).with_others(places)

    @property
    def y(self) -> Array:
        """Labels as the link reads them, (R, P, n)."""
        codes = np.array([g.pool[k] for g, k in zip(self.geometries, self.known, strict=True)])
        if isinstance(self.link, Softmax):
            return (np.arange(self.labels)[:, None] == codes[:, None]).astype(float)
        return np.where(codes == 1, 1.0, -1.0)[:, None]

    def X(self, r: int) -> Matrix:
        """The rows one run knows."""
        split = self.geometries[r].split
        return split.rows[split.pool[self.known[r]]]

    def with_labels(self, places: Places) -> "RunBatch":
        """The batch once each run knows one more label, of a row named by its place in left.

        The room for lines is shared with this batch, which is not to be used again.
        """
        asked = np.take_along_axis(self.left, places[:, None], axis=1)
        for r in range(len(self)):
            self._fill(r, slice(self.n, self.n + 1), asked[r])
        others = np.arange(self.left.shape[1]) != places[:, None]
        left = self.left[others].reshape(len(self), -1)
        known = np.append(self.known, asked, axis=1)
        return replace(self, known=known, left=left)

    def fit(self, method: Method, last: "RunFit | None" = None) -> "RunFit":
        """What the runs have learnt, started from what they knew one label before.

        Paper: App. E.2, Algorithm 1, line 6.

        Args:
            method: how the posterior is had.
            last: one label before.
        """
        before, among = None if last is None else last.posterior, self.lines_to(self.known)
        if self.theta is not None:
            variance = np.full(len(self), np.exp(self.theta[0]))
            start = None if before is None else before.start(self.n)
            fit = method.fixed(among.squares, self.y, self.link, variance, start, mean=self.mean)
            return RunFit(self, fit)
        distance = np.array([geometry.usual_distance for geometry in self.geometries])
        features = self.geometries[0].features
        batch = ProblemBatch(among, self.y, distance, self.link, self.level, self.mean, features)
        return RunFit(self, method.fitted(batch, before))


@dataclass(frozen=True, eq=False)
class RunFit:
    """What the runs of a batch have learnt.

    Attributes:
        runs: which.
        posterior: one problem for each run.
    """

    runs: RunBatch
    posterior: RunPosterior

    def accuracy(self) -> Vector:
        """The share of test rows whose label is predicted, (R,)."""
        average = self.posterior.probability(self._test_lines)
        binary = average.shape[1] == 1
        return self._right((average[:, 0] > 0.5) if binary else average.argmax(axis=1))  # noqa: PLR2004 - one half

    def drawn_accuracy(self, draws: int, rngs: Sequence[np.random.Generator]) -> Vector:
        """The same by the average probabilities of draws of the latents under one setting, (R,).

        Args:
            draws: how many.
            rngs: where each run draws from.
        """
        mean, variance = self.posterior.moments(self._test_lines)
        guess = np.array(
            [
                label_probabilities(latent_draws(m[0], v[0], draws, rng))
                .mean(axis=0)
                .argmax(axis=1)
                for m, v, rng in zip(mean, variance, rngs, strict=True)
            ]
        )
        return self._right(guess)

    @property
    def _test_lines(self) -> RowPairs:
        """Lines of the test rows."""
        return self.runs.lines_to(slice(len(self.runs.geometries[0].pool), None))

    def _right(self, guess: Any) -> Vector:  # noqa: ANN401 - codes or truth values
        """The share of guesses that are right, (R,)."""
        truth = np.array([geometry.test for geometry in self.runs.geometries])
        return (guess == truth).mean(axis=1)

    def moments(self) -> tuple[Array, Array]:
        """Latent means and variances of the rows left, (R, H, P, m) each."""
        return self.posterior.moments(self.runs.lines_to(self.runs.left))

    def belief(self, r: int, mean: Array, variance: Array) -> Belief:
        """What one run believes, given the moments of its rows under each setting, (H, P, m)."""
        c = self.posterior.credibility[r]
        order = np.argsort(-c, kind="stable")[: np.count_nonzero(c)]
        if mean.shape[1] == 1:
            return Belief(mean[order, 0], variance[order, 0], c[order])
        return Belief(np.swapaxes(mean[order], 1, 2), np.swapaxes(variance[order], 1, 2), c[order])

    def posterior_of(self, r: int) -> Posterior:
        """What one run has learnt, as a posterior of its own that may be asked about any rows."""
        batch, runs, X = self.posterior, self.runs, self.runs.X(r)
        if isinstance(batch, VariationalPosterior):
            raise TypeError(
                "model must be laplace for a strategy that reads joint covariances; got "
                "variational. Ask by a score of each row alone."
            )
        kept = np.flatnonzero(batch.credibility[r])
        members = r * batch.credibility.shape[1] + kept
        if batch.prior is None:
            prior = self._fixed_prior
        else:
            own = runs.geometries[r].features
            prior = replace(batch.prior.part(members), feature_map=own)
        data = TrainingData(X, runs.y[r], np.ones((1, len(X))), runs.link)
        return Posterior(
            batch.log_prior[members], prior.gram(X), batch.mode.part(members), prior, data
        )

    @property
    def _fixed_prior(self) -> RBFPrior:
        """The one setting of all runs."""
        return RBFPrior.usual(np.asarray(self.runs.theta)[None], self.runs.level, self.runs.mean)
