"""Cache of correlations with labelled rows, so that a question costs one pass over the pool.

    cache = PoolCache(X, budget)        cache.scan(posterior, scorer, top_k, excluded, threads)

From one question to the next the labels gain a row, and their weights drift a little. So the
correlations of every row with the labels are kept in single precision: a new label adds a line, and
all means are one product with the cache. Variances are kept as upper bounds (variance_bounds.py).
The few rows that bounds cannot prune are computed in full: the result is that of a full scan.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from possibal.acquisition.scoring import Monotonicity, Score
from possibal.arrays import Matrix, Places, Vector
from possibal.gp.curvature import DiagonalCurvature
from possibal.gp.feature_maps import NO_FEATURES, FeatureMap
from possibal.gp.posterior import Posterior
from possibal.gp.rbf import RBFPrior
from possibal.numerics.linalg import one_thread
from possibal.pool.pruning import PrunedScorer, dot_error
from possibal.pool.reader import Chunk
from possibal.pool.top_k import TopK
from possibal.pool.variance_bounds import WeightAnchor

BLOCK = 131_072
"""Rows of a block at most."""
BUDGET = 1e9
"""Default size of the cache in bytes."""
SLAB = 64
"""Lines that are allocated at a time."""
STRIP, MOST = 65_536, 4_000_000
"""Rows whose products are held at once, and how many numbers they may be."""
SEEDS = 16
"""Rows of a block with the largest bounds, computed first to raise the bar for the others."""
SOME = 0.001
"""Where anchored variances leave a larger share of the rows, they are tightened."""
FEW = 0.02
"""Where the prior's variances leave a larger share of the rows, those after labels are kept."""
FEWEST = 16
"""Rows whose products are held at once at least."""
FEW_LINES = 3
"""So many lines are multiplied one by one."""
_ROUNDINGS = 16
"""Roundings of a correlation beside those of its distance."""
_FARTHEST = 1e12
"""Of pools that reach further, nothing is cached."""
_UNIT = 2.0**-24
"""Unit roundoff of single precision."""
_UNIT_LENGTH = 1e-12
"""How far the squared length of a row may be off one to count as one."""
_FLOOR = 1e-13
"""A variance below this share of the prior's is rounding."""

Single = NDArray[np.float32]


@dataclass
class CachedCorrelations:
    """Correlations of the rows with labels under one length-scale, a line for each label.

    Attributes:
        sharpness: (d,), one over the square of the length-scale of each column; zero for those that
            the RBF does not read.
        places: the line of each label.
        slabs: of each block, some lines together.
        error: of each block, how far off a correlation of each row may be.
        halves: of each block, half the squared norm of each row in length-scales.
    """

    sharpness: Vector
    places: dict[bytes, int] = field(default_factory=dict[bytes, int])
    slabs: dict[int, list[Single]] = field(default_factory=dict[int, list[Single]])
    error: dict[int, Vector] = field(default_factory=dict[int, Vector])
    halves: dict[int, Vector] = field(default_factory=dict[int, Vector])

    def add(self, block: int, rows: Single, labels: Matrix, inner: "InnerProducts") -> None:
        """Keep the lines of more labels, (k, d), whose places are known already.

        A sum of k products is off by at most k roundings of the sum of their sizes.

        Args:
            block: where its rows begin.
            rows: of the block, about the middle of the pool.
            labels: about the middle of the pool.
            inner: of the features of the labels and the rows.
        """
        slabs = self.slabs.setdefault(block, [])
        if block not in self.halves:
            self.halves[block] = 0.5 * (rows.astype(float) ** 2 @ self.sharpness)
        halves, half = self.halves[block], 0.5 * (labels**2 @ self.sharpness)
        lines = (labels * self.sharpness).astype(np.float32) @ rows.T
        lines -= halves.astype(np.float32)
        lines -= half.astype(np.float32)[:, None]
        np.exp(np.minimum(lines, 0.0, out=lines), out=lines)
        relative = _UNIT * (_ROUNDINGS + rows.shape[1]) * (1.0 + 2.0 * (halves + half.max()))
        error = lines.max(axis=0) * relative + _UNIT + inner.error
        if inner.error:
            lines += inner.of(labels)
        self.error[block] = np.maximum(self.error.get(block, 0.0), error)
        for at, line in enumerate(lines, start=len(self.places) - len(lines)):
            if at % SLAB == 0:
                slabs.append(np.empty((SLAB, len(rows)), dtype=np.float32))
            slabs[at // SLAB][at % SLAB] = line

    def times(self, block: int, left: Single, rows: slice) -> Matrix:
        """The product of lines (k, n) with what is kept of some rows of a block, (k, rows)."""
        found = np.zeros((len(left), rows.stop - rows.start), dtype=np.float32)
        for at, slab in enumerate(self.slabs[block]):
            some, part = left[:, at * SLAB : (at + 1) * SLAB], slab[:, rows]
            if len(left) > FEW_LINES:
                found += some @ part[: some.shape[1]]
                continue
            for at_line, one in enumerate(some):  # the cache makes up for it
                found[at_line] += one @ part[: len(one)]
        return found.astype(float)


@dataclass(frozen=True, eq=False)
class InnerProducts:
    """Inner products of the features of labels with those of the rows of a block.

    Attributes:
        feature_map: what is added to the RBF.
        rows: (m, D), features of the rows of the block.
        centre: of the pool, from where labels are given.
    """

    feature_map: FeatureMap
    rows: Single
    centre: Vector

    @property
    def error(self) -> float:
        """How far off one may be; zero where there are none."""
        return self.feature_map.error

    def of(self, labels: Matrix) -> Single:
        """Those of some labels, (k, m)."""
        found = self.feature_map.features(labels + self.centre, np.float32) @ self.rows.T
        return found.astype(np.float32, copy=False)


@dataclass(frozen=True, eq=False)
class HypothesisState:
    """How one setting of the hyperparameters reads the cache at one question.

    Attributes:
        amplitude: its covariances are this times the correlations and what is in common.
        common: what all rows have in common.
        weight: of what is added to the RBF.
        scale: its length-scale.
        left: (1 + c, n), what the correlations are multiplied by: for the mean, and the change.
        shares: (c,), of the change of variances.
        variance: of each block, what the variances were; None where the prior's will do.
    """

    amplitude: float
    common: float
    weight: float
    scale: bytes
    left: Matrix
    shares: Vector
    variance: dict[int, Vector] | None

    @property
    def prior(self) -> float:
        """The variance of a row before any label."""
        return self.amplitude * (1.0 + self.weight + self.common)

    def moments(self, products: Matrix, error: Vector, was: Vector) -> tuple[Vector, ...]:
        """Means, bounds on their errors, and upper bounds on variances.

        Args:
            products: (1 + c, rows), of correlations; they are used up.
            error: (rows,), how far off a correlation may be.
            was: (rows,), the variances so far.
        """
        off = self.amplitude * np.abs(self.left).sum(axis=1)[:, None] * error
        products *= self.amplitude
        if self.common:
            products += (self.amplitude * self.common * self.left.sum(axis=1))[:, None]
        mean, change = products[0], products[1:]
        if not len(self.shares):
            return mean, off[0], was
        np.abs(change, out=change)
        change -= np.copysign(off[1:], self.shares[:, None])
        np.maximum(change, 0.0, out=change)
        now = was - np.einsum("c,cr,cr->r", self.shares, change, change)
        return mean, off[0], np.clip(now, _FLOOR * self.prior, self.prior)


@dataclass(frozen=True, eq=False)
class CacheQuery:
    """One scan of the cached pool.

    Attributes:
        settings: of the hyperparameters; none where nothing is known of earlier questions.
        fresh: for each length-scale, the labels that are new, (k, d).
        feature_map: what is added to the RBF.
        scorer: computes rows in full.
        top_k: keeps the best.
        excluded: places, in order.
    """

    settings: Sequence[HypothesisState]
    fresh: Mapping[bytes, Matrix]
    feature_map: FeatureMap
    scorer: PrunedScorer
    top_k: TopK
    excluded: Places


class PoolCache:
    """The pool of a campaign, and correlations of its rows kept from earlier questions."""

    def __init__(self, X: Matrix, budget: float = BUDGET) -> None:
        """An empty cache.

        Args:
            X: (m, d), the pool.
            budget: bytes that may be kept; rows that do not fit are computed anew each time.
        """
        self._X, self._budget, self._turn = X, budget, Lock()
        self._size = min(BLOCK, max(1024, -(-len(X) // 8)))  # all cores have some of a small pool
        low, high = X.min(axis=0), X.max(axis=0)
        self._centre = 0.5 * low + 0.5 * high
        self._reach: Vector = high - self._centre
        self._unit_rows = dict[int, bool]()
        self._feature_map: FeatureMap = NO_FEATURES
        self.forget()

    def __reduce__(self) -> tuple[type["PoolCache"], tuple[Matrix, float]]:
        """A copy elsewhere begins anew."""
        return PoolCache, (self._X, self._budget)

    def forget(self) -> None:
        """Begin anew."""
        self._kept, self._asked = dict[bytes, CachedCorrelations](), set[bytes]()
        self._cut = dict[int, Single]()
        self._anchors = dict[tuple[float, float, bytes], tuple[WeightAnchor, dict[int, Vector]]]()
        self._room, self._many, self._is_loose = len(self._X), set[Score](), True

    @property
    def nbytes(self) -> int:
        """Bytes that are kept."""
        held: list[NDArray[Any]] = [*self._cut.values()]
        held += [line for _, variance in self._anchors.values() for line in variance.values()]
        for kept in self._kept.values():
            held += [*kept.error.values(), *kept.halves.values()]
            held += [slab for some in kept.slabs.values() for slab in some]
        return sum(one.nbytes for one in held)

    def scan(
        self,
        posterior: Posterior,
        scorer: PrunedScorer,
        top_k: TopK,
        excluded: Places,
        threads: int,
    ) -> int:
        """Offer the rows of the pool that may be among the best; how many were computed.

        Args:
            posterior: given the labels.
            scorer: by the same posterior.
            top_k: keeps the best.
            excluded: places, in order.
            threads: at most so many blocks at a time.
        """
        with self._turn, one_thread():
            try:
                question = CacheQuery(*self._asks(posterior, scorer), scorer, top_k, excluded)
                work = partial(self._work, question)
                with ThreadPoolExecutor(threads) as workers:
                    done = list(workers.map(work, range(0, len(self._X), self._size)))
                left = sum(left for left, _ in done) / len(self._X)
                self._is_loose = left > SOME
                if left > FEW:
                    self._many.add(scorer.bounds[-1].score)
                return sum(judged for _, judged in done)
            except BaseException:
                self.forget()  # some rows may know more than others
                raise

    # ------------------------------------------------------------ labels

    def _asks(
        self, posterior: Posterior, scorer: PrunedScorer
    ) -> tuple[list[HypothesisState], dict[bytes, Matrix], FeatureMap]:
        """How each setting reads the cache, the labels that are new, and features; or nothing.

        Nothing is kept of a length-scale before it was asked for twice in a row.
        """
        prior, X, nothing = posterior.prior, posterior.data.X, ([], {}, NO_FEATURES)
        if not isinstance(prior, RBFPrior) or not self._serves(prior, scorer):
            return nothing
        if prior.feature_map != self._feature_map:
            self.forget()
            self._feature_map = prior.feature_map
        scales = [length.tobytes() for length in prior.length_scale]
        before, self._asked = self._asked, set(scales)
        sharpness, leading = np.zeros((len(scales), X.shape[1])), prior.leading(X.shape[1])
        sharpness[:, :leading] = prior.length_scale**-2.0
        is_wild = (
            self._reach**2 @ sharpness.max(axis=0) > _FARTHEST or self._reach.max() > _FARTHEST
        )
        if not self._asked <= before or not len(X) or is_wild:
            return nothing
        fresh = dict[bytes, Matrix]()
        for scale, each in zip(scales, sharpness, strict=True):
            kept = self._kept.setdefault(scale, CachedCorrelations(each))
            new = {x.tobytes(): x for x in X if x.tobytes() not in kept.places}
            if new:
                kept.places.update({x: len(kept.places) + at for at, x in enumerate(new)})
                fresh[scale] = np.array(list(new.values())) - self._centre
        settings = list[HypothesisState]()
        for s in range(len(scales)):
            one = self._setting(posterior, prior.part(np.array([s])), s)
            is_hard = scorer.bounds[-1].score in self._many
            settings.append(self._anchored(one, posterior, s) if is_hard else one)
        self._make_room(set(scales), len(settings))
        return settings, fresh, prior.feature_map

    def _serves(self, prior: RBFPrior, scorer: PrunedScorer) -> bool:
        """Whether what is kept of rows tells a score by a prior.

        Distances are those of directions only where all rows have length one.
        """
        if not prior.mean.is_zero or scorer.bounds[-1].monotonicity < Monotonicity.BY_BOTH:
            return False
        columns = prior.leading(self._X.shape[1])
        return not prior.level.is_spherical or self._has_unit_rows(columns)

    def _has_unit_rows(self, columns: int) -> bool:
        """Whether all rows of the pool have length one in their first columns."""
        if columns not in self._unit_rows:
            X = self._X[:, :columns]
            with np.errstate(over="ignore"):  # such a pool has other rows
                off = np.abs(np.einsum("ij,ij->i", X, X) - 1.0)
            self._unit_rows[columns] = bool(off.max(initial=0.0) < _UNIT_LENGTH)
        return self._unit_rows[columns]

    def _setting(self, posterior: Posterior, prior: RBFPrior, s: int) -> HypothesisState:
        """How one setting reads the cache, with the prior's variances."""
        scale, a = prior.length_scale[0].tobytes(), posterior.mode.a[s]
        rows = [x.tobytes() for x in posterior.data.X]
        left, amplitude = self._left(scale, rows, a), float(prior.amplitude[0])
        common, weight = float(prior.common[0]), prior.feature_map.weight
        return HypothesisState(amplitude, common, weight, scale, left, np.empty(0), None)

    def _anchored(self, setting: HypothesisState, posterior: Posterior, s: int) -> HypothesisState:
        """The same with anchored variances."""
        data, scale = posterior.data, setting.scale
        key = setting.amplitude, setting.common, scale
        anchor, variance = self._anchors.setdefault(key, (WeightAnchor(), {}))
        labels = [x.tobytes() + y.tobytes() for x, y in zip(data.X, data.y[0], strict=True)]
        gone = [label for label in anchor.weights if label not in set(labels)]
        width, K = len(labels[0]) - data.y.itemsize, posterior.K[s, 0]
        if gone:
            others = np.array([np.frombuffer(label[:width]) for label in gone])
            prior = posterior.prior.part(np.array([s]))
            K = prior.gram(np.concatenate([data.X, others]))[0, 0]
        labels += gone
        W = np.pad(_weights(posterior)[s], (0, len(gone)))
        change = anchor.moved(K, labels, W, tighten=self._is_loose)
        left = self._left(scale, [label[:width] for label in labels], change.lines)
        return replace(
            setting,
            left=np.concatenate([setting.left, left]),
            shares=change.shares,
            variance=variance,
        )

    def _left(self, scale: bytes, rows: Sequence[bytes], lines: Matrix) -> Matrix:
        """Lines over labels, (k, n), as they meet what is kept of a length-scale."""
        places = self._kept[scale].places
        left = np.zeros((len(lines), len(places)))
        np.add.at(left.T, [places[row] for row in rows], lines.T)
        return left

    def _make_room(self, scales: set[bytes], settings: int) -> None:
        """Keep to the budget: what is no longer asked for goes first, then rows from the end."""
        lines = sum(-(-len(self._kept[scale].places) // SLAB) * SLAB for scale in scales)
        numbers = lines + self._X.shape[1] + 2 * (2 * len(scales) + settings)
        each = 4 * numbers  # bytes that a row takes
        if self.nbytes + each * self._room > self._budget:
            self._kept = {scale: kept for scale, kept in self._kept.items() if scale in scales}
            self._anchors = {k: v for k, v in self._anchors.items() if k[-1] in scales}
        self._room = min(self._room, int(self._budget / each) // self._size * self._size)
        for kept in self._kept.values():
            for block in [block for block in kept.slabs if block >= self._room]:
                del kept.slabs[block], kept.error[block], kept.halves[block]
        self._cut = {block: rows for block, rows in self._cut.items() if block < self._room}
        for _, variance in self._anchors.values():
            for block in [block for block in variance if block >= self._room]:
                del variance[block]

    # ------------------------------------------------------------ rows

    def _work(self, question: CacheQuery, block: int) -> tuple[int, int]:
        """Offer the best rows of a block; how many bounds left, and how many were computed."""
        chunk = Chunk(block, self._X[block : block + self._size], None)
        ends = np.searchsorted(question.excluded, [block, block + len(chunk.X)])
        excluded = question.excluded[slice(*ends)]
        scorer, top_k = question.scorer, question.top_k
        if not question.settings or block >= self._room:
            return 0, scorer.offer(chunk, top_k, excluded)
        if question.fresh:
            features = question.feature_map.features(chunk.X, np.float32)
            inner = InnerProducts(question.feature_map, features, self._centre)
            for scale, labels in question.fresh.items():
                self._kept[scale].add(block, self._rows(block), labels, inner)
        bound = self._bound(question, block)
        bound[excluded - block] = -np.inf
        first = np.argpartition(-bound, min(SEEDS, len(bound)) - 1)[:SEEDS]
        first = first[bound[first] > -np.inf]
        judged = scorer.offer_exact(chunk, first, top_k)
        bound[first] = -np.inf
        live = np.flatnonzero(bound >= top_k.bar)
        if len(live) > FEW * len(bound):
            return len(live), scorer.offer(chunk, top_k, np.union1d(excluded, block + first))
        return len(live), judged + scorer.offer_exact(chunk, live, top_k)

    def _rows(self, block: int) -> Single:
        """The rows of a block in single precision, about the middle of the pool."""
        if block not in self._cut:
            self._cut[block] = (self._X[block : block + self._size] - self._centre).astype(
                np.float32
            )
        return self._cut[block]

    def _bound(self, question: CacheQuery, block: int) -> Vector:
        """An upper bound on the score of each row of a block."""
        size, last = len(self._X[block : block + self._size]), question.scorer.bounds[-1]
        bound = np.empty(size)
        kept = [self._kept[one.scale] for one in question.settings]
        lefts = [one.left.astype(np.float32) for one in question.settings]
        now = [np.full(size, one.prior) for one in question.settings]
        for one, variance in zip(question.settings, now, strict=True):
            if one.variance is not None:
                variance[:] = one.variance.get(block, variance)
        step = max(FEWEST, min(STRIP, MOST // max(len(left) for left in lefts)))
        for start in range(0, size, step):
            rows, found = slice(start, min(start + step, size)), list[tuple[Vector, ...]]()
            for one, known, left, variance in zip(question.settings, kept, lefts, now, strict=True):
                products = known.times(block, left, rows)
                largest = 1.0 + one.weight
                error = known.error[block][rows] + largest * dot_error(len(known.places))
                found.append(one.moments(products, error, variance[rows]))
                variance[rows] = found[-1][-1]
            moments = (np.array(each)[:, None] for each in zip(*found, strict=True))
            bound[rows] = last.bound(*moments)
        for one, variance in zip(question.settings, now, strict=True):
            if one.variance is not None:
                one.variance[block] = variance
        return bound


def _weights(posterior: Posterior) -> Matrix:
    """The curvature of each label, (S, n).

    Paper: App. C.1, W.
    """
    information = posterior.mode.curvature
    assert isinstance(information, DiagonalCurvature)  # noqa: S101 - tells the type checker
    return information.sqrt_w[:, 0] ** 2
