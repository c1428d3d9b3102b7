"""Which rows of a pool can be among the best, told without working out all of each.

    judge = Judge.of(posterior, score)        judge.sift(chunk, top_k)

A *look* at a row gives means that are off by no more than a known error, and variances that are
not exceeded. Where a score is in order (`acquisition.scoring.Order`), its value there is not
exceeded either; a row whose bound lies below the best rows known is excluded_here over. The first look is
in single precision and begins with the prior's variance, which no label raises; what it leaves is
looked at in double precision, and the best of all are worked out anew, each by itself, so that
neither threads nor parts nor machines change the answer.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from possibal.acquisition.scoring import Monotonicity, Score
from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import Belief
from possibal.gp.posterior import Posterior
from possibal.gp.prediction import LazyMoments, Predictor
from possibal.numerics.linalg import one_thread
from possibal.pool.reader import Chunk, Part
from possibal.pool.top_k import SLACK, Done, ScoredRows, TopK
from possibal.pool.uncertainty_table import UncertaintyTable

_HALF = 0.5
"""Where more rows than this share are left, all are worked out: picking them costs as much."""
_SLACK = 1e-9
"""By what share the scores of one latent may be off."""
_UNIT = 2.0**-24
"""A rounding in single precision."""


def dot_error(n: int) -> float:
    """How far off a sum of n products may be in single precision, for products of up to one.

    At most by n roundings; with the chance that roundings have to be of one sign, by far fewer.
    """
    return _UNIT * min(n, 8.0 * float(np.sqrt(n)))


@dataclass(frozen=True, eq=False)
class MomentBound:
    """One way to look at rows.

    Attributes:
        predictor: in single or double precision.
        score: what rows are worth.
        monotonicity: of the score, under this outlook.
        labels: a table of how credible labels are, where the score is made of that.
        mean_size, root_size: (S, P) and (S,), what errors of covariances are multiplied by.
    """

    predictor: Predictor
    score: Score
    monotonicity: Monotonicity
    labels: UncertaintyTable | None
    mean_size: Array
    root_size: Vector

    @classmethod
    def through(cls, outlook: Predictor, score: Score) -> "MomentBound":
        """A look through an outlook."""
        S, P, _ = outlook.a.shape
        order = score.monotonicity(S, P)
        largest = np.abs(outlook.a).sum(axis=2, dtype=float)
        sums = np.abs(outlook.root).sum(axis=1, dtype=float)
        labels, widest = None, outlook.cross_covariance.largest
        if order is Monotonicity.BY_LABELS and widest < np.inf:
            labels = UncertaintyTable.of(outlook.scale * float(np.sqrt(widest)))
        elif order is Monotonicity.BY_LABELS:
            order = Monotonicity.BY_VARIANCE  # no table is wide enough
        return cls(outlook, score, order, labels, largest, np.sqrt((sums * sums).sum(axis=1)))

    def prune(self, X: Matrix, bar: float) -> "Survivors":
        """Rows that may be worth at least so much; in double precision, with their moments."""
        glimpse = self.predictor.lazy_moments(X)
        mean, error = glimpse.mean, self.error(glimpse)
        off = self.off(glimpse, error)
        live, is_known = (
            np.arange(len(X)),
            self.monotonicity is not Monotonicity.UNKNOWN and bar > -np.inf,
        )
        if is_known:
            live = np.flatnonzero(self.bound(mean, off, glimpse.prior) >= bar)
        some = live if len(live) < _HALF * len(X) else None
        if some is None:
            live = np.arange(len(X))
        mean, off, variance = mean[..., live], off[..., live], self._variance(glimpse, some, error)
        left = Survivors(live, self._belief(mean, variance), len(live))
        if not is_known:
            return left
        return left.part(np.flatnonzero(self.bound(mean, off, variance) >= bar))

    def bound(self, mean: Array, off: Array, variance: Array) -> Vector:
        """What no row is worth more than, by moments (S, P, m).

        Args:
            mean: of the latents.
            off: how far off the means may be.
            variance: not exceeded.
        """
        if self.labels is None:
            near = np.copysign(np.maximum(np.abs(mean) - off, 0.0), mean)
            return self.score(self._belief(near, variance))
        belief, error = self._belief(mean, variance), self.predictor.scale * off[:, 0]
        return self.labels.bound(belief.mean, error, belief.variance, belief.credibility)

    def off(self, glimpse: LazyMoments, error: Array | None) -> Array:
        """How far off means may be, (S, P, m), by the errors of covariances."""
        if error is None:
            return np.zeros_like(glimpse.mean)
        return self.mean_size[:, :, None] * error[:, None]

    def _belief(self, mean: Array, variance: Array) -> Belief:
        """Moments (S, P, m) as the scores read them; nothing is checked."""
        return Belief.trusted(*self.predictor.read(mean, variance), self.predictor.credibility)

    def error(self, glimpse: LazyMoments) -> Array | None:
        """How far off covariances may be, (S, m); None in double precision."""
        if self.predictor.a.dtype != np.float32:
            return None
        n = self.predictor.a.shape[2]
        error = np.empty((len(self.predictor.a), glimpse.mean.shape[2]))
        for one in glimpse.columns:
            error[one.member] = 0.0 if one.error is None else one.error
            error[one.member] += dot_error(n)
            error[one.member] *= one.variance  # the largest covariance
        return error

    def _variance(self, glimpse: LazyMoments, some: Places | None, error: Array | None) -> Array:
        """Variances, raised by what they may be off."""
        variance = glimpse.variance(some)
        if error is None:
            return variance
        rows = slice(None) if some is None else some
        prior, off = glimpse.prior[..., rows], self.root_size[:, None] * error[:, rows]
        told = np.sqrt(np.maximum(prior - variance, 0.0))
        told = np.maximum(told - off[:, None], 0.0)
        return prior - told * told


@dataclass(frozen=True, eq=False)
class Survivors:
    """What a look leaves of rows.

    Attributes:
        rows: their places among those looked at.
        belief: about them.
        judged: how many variances had to be worked out.
    """

    rows: Places
    belief: Belief
    judged: int

    def part(self, some: Places) -> "Survivors":
        """Fewer of them."""
        return Survivors(self.rows[some], self.belief.part(some), self.judged)


@dataclass(frozen=True, eq=False)
class PrunedScorer:
    """All looks at a pool, the cheapest first; what is sent to other machines.

    Attributes:
        bounds: the cheapest first, the last in double precision.
        by_place: whether where a row stands matters to it.
    """

    bounds: tuple[MomentBound, ...]
    by_place = False

    @classmethod
    def of(cls, posterior: Posterior, score: Score, *, single: bool = True) -> "PrunedScorer":
        """A judge by a posterior.

        Args:
            posterior: what the labels taught.
            score: what rows are worth.
            single: whether to look in single precision first, where that may tell something.
        """
        last = MomentBound.through(posterior.predictor, score)
        if (
            single
            and last.monotonicity >= Monotonicity.BY_BOTH
            and posterior.predictor.inner is None
        ):
            first = posterior.predictor.single()
            if first.cross_covariance is not posterior.predictor.cross_covariance:
                return cls((MomentBound.through(first, score), last))
        return cls((last,))

    @property
    def slack(self) -> float:
        """By what share utilities may be off: those of a softmax rest on longer sums."""
        return _SLACK if self.bounds[-1].predictor.inner is None else SLACK

    @property
    def width(self) -> int:
        """Rows that are looked at together."""
        return self.bounds[0].predictor.rows

    def offer(self, chunk: Chunk, top_k: TopK, excluded: Places) -> int:
        """Offer the rows of a chunk that may be among the best; how many had to be worked out.

        Args:
            chunk: of the pool.
            top_k: takes the best.
            excluded: places in the pool that are excluded_here over, in order.
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
        """What each row is worth, worked out by itself, so that nothing else matters to it.

        Paper: none; how a matrix product rounds depends on its shape.
        """
        last, utilities = self.bounds[-1], np.empty(len(X))
        for at in range(len(X)):
            utilities[at] = last.score(last.predictor.at(X[at : at + 1]))[0]
        return utilities

    def offer_exact(self, chunk: Chunk, rows: Places, top_k: TopK) -> int:
        """Work out rows in double precision and offer them; how many it took."""
        last, judged = self.bounds[-1], 0
        for start in range(0, len(rows), self.width):
            some = rows[start : start + self.width]
            left = last.prune(chunk.X[some], top_k.bar)
            kept, judged = some[left.rows], judged + left.judged
            names = None if chunk.names is None else [chunk.names[at] for at in kept.tolist()]
            utilities = last.score(left.belief)
            top_k.offer(ScoredRows(chunk.start + kept, utilities, chunk.X[kept], names))
        return judged


# ---------------------------------------------------------------- what is looked for
class RowFilter(Protocol):
    """What offers the rows of a chunk that may be wanted to a top_k."""

    @property
    def slack(self) -> float:
        """By what share utilities may be off."""
        ...

    @property
    def by_place(self) -> bool:
        """Whether where a row stands matters to it."""
        ...

    def offer(self, chunk: Chunk, top_k: TopK, excluded: Places) -> int:
        """Offer rows; how many had to be worked out."""
        ...


@dataclass(eq=False)
class TopKQuery:
    """Rows that are wanted of a pool.

    Attributes:
        row_filter: offers the rows that may be wanted.
        top: how many are wanted.
        bar: what so many rows are worth at least that a row below it cannot be wanted.
    """

    row_filter: RowFilter
    top: int
    bar: float = -np.inf

    def new_top_k(self) -> TopK:
        """A top_k for them."""
        top_k = TopK(self.top, self.row_filter.slack)
        top_k.bar = self.bar
        return top_k

    def scan(self, part: Part, top_k: TopK, excluded: Places) -> Done:
        """Offer the rows of a part that may be wanted; how many were ranked, worked out and read.

        Args:
            part: of the pool, which is read here.
            top_k: takes them.
            excluded: places in the pool that are excluded_here over, in order.
        """
        chunk = part.read()
        ends = np.searchsorted(excluded, [chunk.start, chunk.start + len(chunk.X)])
        excluded_here = excluded[slice(*ends)]
        judged = self.row_filter.offer(chunk, top_k, excluded_here)
        return len(chunk.X) - len(excluded_here), judged, len(chunk.X)
