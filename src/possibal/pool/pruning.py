"""Pruned scoring: a row is dropped once a bound on its score lies below the k-th best known.

    scorer = PrunedScorer.of(posterior, score)        scorer.offer(chunk, top_k, excluded)

Each score is bounded from interval bounds on the posterior moments: means with a rounding error of
single precision, and upper bounds on variances, of which the prior's is the first. That holds where
the score is monotone in them (:class:`~possibal.acquisition.scoring.Monotonicity`). What is left is
computed in double precision, and the best of all once more, each row by itself, so that neither
threads nor parts nor machines change the result.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from possibal.acquisition.scoring import Monotonicity, Score
from possibal.acquisition.strategy import MarginalPosterior
from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import Belief
from possibal.gp.posterior import Posterior
from possibal.gp.prediction import LazyMoments, Predictor
from possibal.numerics.linalg import one_thread
from possibal.pool.reader import Chunk, Part
from possibal.pool.top_k import SLACK, Done, ScoredRows, TopK
from possibal.pool.uncertainty_table import UncertaintyTable

_HALF = 0.5
"""Where more rows than this share are left, all are computed: selecting them costs as much."""
_SLACK = 1e-9
"""Relative error of the scores of one latent."""
_UNIT = 2.0**-24
"""Unit roundoff of single precision."""


def dot_error(n: int) -> float:
    """Rounding error of a dot product of length n in single precision, for products of up to one.

    At most n unit roundoffs; since roundings hardly ever have one sign, 8 sqrt(n) for a long one.
    """
    return _UNIT * min(n, 8.0 * float(np.sqrt(n)))


@dataclass(frozen=True, eq=False)
class MomentBound:
    """Upper bounds on a score by bounds on the moments of a predictor.

    Attributes:
        predictor: in single or double precision.
        score: that is bounded.
        monotonicity: of the score, for the latents of this predictor.
        labels: a table that bounds U, where the score is that.
        mean_size, root_size: (S, P) and (S,), norms by which errors of covariances are multiplied.
    """

    predictor: Predictor
    score: Score
    monotonicity: Monotonicity
    labels: UncertaintyTable | None
    mean_size: Array
    root_size: Vector

    @classmethod
    def through(cls, predictor: Predictor, score: Score) -> "MomentBound":
        """Bounds of a score by a predictor."""
        S, P, _ = predictor.a.shape
        order = score.monotonicity(S, P)
        largest = np.abs(predictor.a).sum(axis=2, dtype=float)
        sums = np.abs(predictor.root).sum(axis=1, dtype=float)
        labels, widest = None, predictor.cross_covariance.largest
        if order is Monotonicity.BY_LABELS and widest < np.inf:
            labels = UncertaintyTable.of(predictor.scale * float(np.sqrt(widest)))
        elif order is Monotonicity.BY_LABELS:
            order = Monotonicity.BY_VARIANCE  # no table is wide enough
        return cls(predictor, score, order, labels, largest, np.sqrt((sums * sums).sum(axis=1)))

    def prune(self, X: Matrix, bar: float) -> "Survivors":
        """Rows whose utility may reach the bar; in double precision, with their moments."""
        moments = self.predictor.lazy_moments(X)
        mean, error = moments.mean, self.error(moments)
        off = self.off(moments, error)
        live, is_known = (
            np.arange(len(X)),
            self.monotonicity is not Monotonicity.UNKNOWN and bar > -np.inf,
        )
        if is_known:
            live = np.flatnonzero(self.bound(mean, off, moments.prior) >= bar)
        some = live if len(live) < _HALF * len(X) else None
        if some is None:
            live = np.arange(len(X))
        mean, off, variance = mean[..., live], off[..., live], self._variance(moments, some, error)
        left = Survivors(live, self._belief(mean, variance), len(live))
        if not is_known:
            return left
        return left.part(np.flatnonzero(self.bound(mean, off, variance) >= bar))

    def bound(self, mean: Array, off: Array, variance: Array) -> Vector:
        """An upper bound on the score of each row, by moments (S, P, m).

        Args:
            mean: of the latents.
            off: bounds on the errors of the means.
            variance: upper bounds.
        """
        if self.labels is None:
            near = np.copysign(np.maximum(np.abs(mean) - off, 0.0), mean)
            return self.score(self._belief(near, variance))
        belief, error = self._belief(mean, variance), self.predictor.scale * off[:, 0]
        return self.labels.bound(belief.mean, error, belief.variance, belief.credibility)

    def off(self, moments: LazyMoments, error: Array | None) -> Array:
        """Bounds on the errors of means, (S, P, m), by those of covariances."""
        if error is None:
            return np.zeros_like(moments.mean)
        return self.mean_size[:, :, None] * error[:, None]

    def _belief(self, mean: Array, variance: Array) -> Belief:
        """Moments (S, P, m) as the scores read them; nothing is checked."""
        return Belief.trusted(*self.predictor.read(mean, variance), self.predictor.credibility)

    def error(self, moments: LazyMoments) -> Array | None:
        """Bounds on the errors of covariances, (S, m); None in double precision."""
        if self.predictor.a.dtype != np.float32:
            return None
        n = self.predictor.a.shape[2]
        error = np.empty((len(self.predictor.a), moments.mean.shape[2]))
        for one in moments.columns:
            error[one.member] = 0.0 if one.error is None else one.error
            error[one.member] += dot_error(n)
            error[one.member] *= one.variance  # the largest covariance
        return error

    def _variance(self, moments: LazyMoments, some: Places | None, error: Array | None) -> Array:
        """Upper bounds on variances: computed ones, raised by their error."""
        variance = moments.variance(some)
        if error is None:
            return variance
        rows = slice(None) if some is None else some
        prior, off = moments.prior[..., rows], self.root_size[:, None] * error[:, rows]
        explained = np.sqrt(np.maximum(prior - variance, 0.0))
        explained = np.maximum(explained - off[:, None], 0.0)
        return prior - explained * explained


@dataclass(frozen=True, eq=False)
class Survivors:
    """Rows that a bound could not prune.

    Attributes:
        rows: their places among those given.
        belief: about them.
        judged: how many variances had to be computed.
    """

    rows: Places
    belief: Belief
    judged: int

    def part(self, some: Places) -> "Survivors":
        """Some of them."""
        return Survivors(self.rows[some], self.belief.part(some), self.judged)


@dataclass(frozen=True, eq=False)
class PrunedScorer:
    """A score with its bounds, the cheapest first; what is sent to other machines.

    Attributes:
        bounds: the cheapest first, the last in double precision.
        by_place: whether the place of a row matters to it.
    """

    bounds: tuple[MomentBound, ...]
    by_place = False

    @classmethod
    def of(cls, posterior: Posterior, score: Score, *, single: bool = True) -> "PrunedScorer":
        """The scorer of a posterior.

        Args:
            posterior: whose moments the score reads.
            score: to be maximised.
            single: whether to bound in single precision first, where that can prune.
        """
        last = MomentBound.through(posterior.marginals, score)
        if (
            single
            and last.monotonicity >= Monotonicity.BY_BOTH
            and posterior.marginals.inner is None
        ):
            first = posterior.marginals.single()
            if first.cross_covariance is not posterior.marginals.cross_covariance:
                return cls((MomentBound.through(first, score), last))
        return cls((last,))

    @property
    def slack(self) -> float:
        """Relative error of utilities: those of a softmax rest on longer sums."""
        return _SLACK if self.bounds[-1].predictor.inner is None else SLACK

    @property
    def width(self) -> int:
        """Rows of one matrix product."""
        return self.bounds[0].predictor.rows

    def offer(self, chunk: Chunk, top_k: TopK, excluded: Places) -> int:
        """Offer the rows of a chunk that may be among the best; how many had to be computed.

        Args:
            chunk: of the pool.
            top_k: keeps the best.
            excluded: places in the pool, in order.
        """
        X, judged = chunk.X, 0
        rows = np.delete(np.arange(len(X)), excluded - chunk.start)
        with one_thread():
            waiting = np.empty(0, dtype=np.intp)
            for start in range(0, len(rows), self.width):
                found = rows[start : start + self.width]
                for bound in self.bounds[:-1]:
                    found = found[bound.prune(X[found], top_k.bar).rows]
                waiting = np.concatenate([waiting, found])
                is_last = start + self.width >= len(rows)
                if len(waiting) >= self.width or np.isneginf(top_k.bar) or is_last:
                    judged += self.offer_exact(chunk, waiting, top_k)
                    waiting = waiting[:0]
        return judged

    def utilities(self, X: Matrix) -> Vector:
        """The utility of each row, computed by itself, so that no other row changes its rounding.

        Paper: none; how a matrix product rounds depends on its shape.
        """
        last, utilities = self.bounds[-1], np.empty(len(X))
        for at in range(len(X)):
            utilities[at] = last.score(last.predictor.at(X[at : at + 1]))[0]
        return utilities

    def offer_exact(self, chunk: Chunk, rows: Places, top_k: TopK) -> int:
        """Compute rows in double precision and offer them; how many it took."""
        last, judged = self.bounds[-1], 0
        for start in range(0, len(rows), self.width):
            some = rows[start : start + self.width]
            left = last.prune(chunk.X[some], top_k.bar)
            kept, judged = some[left.rows], judged + left.judged
            names = None if chunk.names is None else [chunk.names[at] for at in kept.tolist()]
            utilities = last.score(left.belief)
            top_k.offer(ScoredRows(chunk.start + kept, utilities, chunk.X[kept], names))
        return judged


_TOGETHER = 20_000
"""Rows that a model without bounds is asked about together."""


@dataclass(frozen=True, eq=False)
class FullScorer:
    """A score of every row, where a posterior gives no bounds by which some could be pruned."""

    posterior: MarginalPosterior
    score: Score
    slack = SLACK
    by_place = False

    def offer(self, chunk: Chunk, top_k: TopK, excluded: Places) -> int:
        """Offer all rows of a chunk; how many those are."""
        rows = np.delete(np.arange(len(chunk.X)), excluded - chunk.start)
        for at in range(0, len(rows), _TOGETHER):
            some = rows[at : at + _TOGETHER]
            names = None if chunk.names is None else [chunk.names[row] for row in some.tolist()]
            X = np.asarray(chunk.X[some], dtype=float)
            top_k.offer(ScoredRows(chunk.start + some, self._scored(X), X, names))
        return len(rows)

    def utilities(self, X: Matrix) -> Vector:
        """The utility of each row.

        Paper: none.
        """
        parts = [self._scored(X[at : at + _TOGETHER]) for at in range(0, len(X), _TOGETHER)]
        return np.concatenate(parts) if parts else np.empty(0)

    def _scored(self, X: Matrix) -> Vector:
        """The utility of each of so many rows."""
        return self.score(self.posterior.at(np.asarray(X, dtype=float)))


# ---------------------------------------------------------------- queries
class RowFilter(Protocol):
    """Offers the rows of a chunk that may be wanted to a top-k."""

    @property
    def slack(self) -> float:
        """Relative error of utilities."""
        ...

    @property
    def by_place(self) -> bool:
        """Whether the place of a row matters to it."""
        ...

    def offer(self, chunk: Chunk, top_k: TopK, excluded: Places) -> int:
        """Offer rows; how many had to be computed."""
        ...


@dataclass(eq=False)
class TopKQuery:
    """A top-k query over a pool.

    Attributes:
        row_filter: offers the rows that may be wanted.
        top: how many are wanted.
        bar: a utility that k rows are known to reach; no row below it is wanted.
    """

    row_filter: RowFilter
    top: int
    bar: float = -np.inf

    def new_top_k(self) -> TopK:
        """An empty top-k for the query."""
        top_k = TopK(self.top, self.row_filter.slack)
        top_k.bar = self.bar
        return top_k

    def scan(self, part: Part, top_k: TopK, excluded: Places) -> Done:
        """Offer the rows of a part that may be wanted; how many were ranked, computed and read.

        Args:
            part: of the pool, which is read here.
            top_k: keeps them.
            excluded: places in the pool, in order.
        """
        chunk = part.read()
        ends = np.searchsorted(excluded, [chunk.start, chunk.start + len(chunk.X)])
        here = excluded[slice(*ends)]
        judged = self.row_filter.offer(chunk, top_k, here)
        return len(chunk.X) - len(here), judged, len(chunk.X)
