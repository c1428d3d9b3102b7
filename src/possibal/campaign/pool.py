"""The pool of a campaign: checked rows in memory, each with the user's own name."""

import functools
import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from possibal.arrays import Matrix, Places, frozen
from possibal.data.row_ids import Ids, row_ids
from possibal.estimators import validation
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.gp.latent_posterior import LatentPosterior
from possibal.gp.posterior import Posterior
from possibal.numerics.distances import usual_distance
from possibal.pool.cache import BUDGET, PoolCache
from possibal.pool.pruning import PrunedScorer, TopKQuery
from possibal.pool.reader import Chunk
from possibal.pool.top_k import ScanCounts

LARGE_POOL = 20_000
"""From so many rows on, a pool is scanned for its best rows, without a belief about each."""
COLD_START_SAMPLE = 500
"""Rows that stand for the pool at the cold start, while no score can tell rows apart."""

TABLE = 2
"""Dimensions of what has rows and columns."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows of a campaign, checked.

    Attributes:
        X: (m, d).
        ids: what the user calls each row.
        representatives: places of a random subsample that stands for the pool at the cold start.
        columns: what the user calls each column; None where X was an array.
        budget: bytes that may be cached from one question to the next.
    """

    X: Matrix
    ids: tuple[Hashable, ...]
    representatives: Places
    columns: NDArray[Any] | None = None
    budget: float = BUDGET

    @functools.cached_property
    def reference(self) -> Matrix:
        """The representatives as numbers, (r, d)."""
        return self.X[self.representatives]

    @functools.cached_property
    def usual_distance(self) -> float:
        """The weighted median distance of two rows; see :mod:`possibal.numerics.distances`."""
        return usual_distance(self.X)

    @property
    def is_large(self) -> bool:
        """Whether the best rows are found by a pruned scan, rather than by scoring them all."""
        return len(self.X) >= LARGE_POOL

    @functools.cached_property
    def cache(self) -> PoolCache:
        """Covariances with labelled rows, kept from one question to the next."""
        return PoolCache(self.X, self.budget)

    @functools.cached_property
    def places(self) -> dict[Hashable, int]:
        """Where the row of each id stands."""
        return {row: place for place, row in enumerate(self.ids)}

    def block(self, first: int, last: int) -> "Pool":
        """The same rows by some of their columns, from the first to before the last."""
        if (first, last) not in self._of_blocks:
            X = frozen(np.ascontiguousarray(self.X[:, first:last]))
            self._of_blocks[first, last] = replace(self, X=X, columns=None)
        return self._of_blocks[first, last]

    @functools.cached_property
    def _of_blocks(self) -> "dict[tuple[int, int], Pool]":
        """Blocks of columns that were asked for, kept with their caches."""
        return {}

    def available(self, excluded: Places) -> Places:
        """Where the rows stand that are not excluded, in order."""
        is_available = np.ones(len(self.X), dtype=bool)
        is_available[excluded] = False
        return np.flatnonzero(is_available)


@dataclass(frozen=True, eq=False)
class InMemoryScan:
    """A scan of a campaign's pool, as :class:`possibal.pool.scan.PoolScan` is one of files.

    Attributes:
        pool: the rows.
        posterior: that rows are scored by.
        excluded: places that may not be asked about, in order.
    """

    pool: Pool
    posterior: Posterior | LatentPosterior
    excluded: Places

    def run(self, query: TopKQuery) -> ScanCounts:
        """All available rows offered to a top-k; a pruned score reads the pool's cache."""
        X, scorer, counts = self.pool.X, query.row_filter, ScanCounts(query.new_top_k())
        if isinstance(scorer, PrunedScorer):
            cores = os.cpu_count() or 1
            judged = self.pool.cache.scan(
                cast("Posterior", self.posterior), scorer, counts.top_k, self.excluded, cores
            )
        else:
            judged = scorer.offer(Chunk(0, X, None), counts.top_k, self.excluded)
        counts.add((len(X) - len(self.excluded), judged, len(X)))
        return counts


def checked_pool(X: ArrayLike, ids: Ids, seed: int, budget: float = BUDGET) -> Pool:
    """The pool, or one sentence about what is wrong with it."""
    _check_shape(X)
    checker = PossibilisticGPClassifier()
    rows = frozen(validation.rows(checker, X, reset=True, least=0))
    if not len(rows):
        raise ValueError("X must have at least one row; got none. Pass the rows to label.")
    names = row_ids(X, ids, len(rows))
    columns = getattr(checker, "feature_names_in_", None)
    return Pool(rows, names, _representatives(rows, seed), columns, budget)


def _check_shape(X: object) -> None:
    """Refuse an array or list that is no table."""
    if not isinstance(X, np.ndarray | list | tuple):
        return
    try:
        shape = np.shape(cast("ArrayLike", X))
    except ValueError:
        got = "rows of different lengths"
    else:
        if len(shape) == TABLE and (shape[1] or not shape[0]):
            return
        got = f"shape {shape}"
    raise ValueError(f"X must have rows and columns; got {got}. Pass one line per row.")


def _representatives(X: Matrix, seed: int) -> Places:
    """Places of a random subsample that stands for a pool, or of all its rows.

    It is drawn from the rows in lexicographic order, so that the order of the pool does not
    matter; only in a large pool, which would take seconds to sort, it does.
    """
    if len(X) <= COLD_START_SAMPLE:
        return np.arange(len(X))
    drawn = np.random.default_rng(seed).permutation(len(X))[:COLD_START_SAMPLE]
    return drawn if len(X) >= LARGE_POOL else np.lexsort(X.T)[drawn]
