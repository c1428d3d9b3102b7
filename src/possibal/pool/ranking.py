"""Pools of rows that nobody has labelled.

rank(model, X, "uncertainty", top=100) -> Shortlist        best(model, X) -> row

`rank` reads pools of any size, part by part. `Pool` holds the rows of a campaign: checked once,
each with the user's own name.
"""

import functools
import os
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from possibal.acquisition.pointwise import STRATEGIES
from possibal.acquisition.registry import utilities
from possibal.acquisition.scoring import is_local
from possibal.acquisition.strategy import Strategy, View
from possibal.arguments import DEFAULT_STRATEGY, as_python, at_least, choice, is_hashable, whole
from possibal.arrays import Matrix, Places, Vector, frozen
from possibal.estimators import validation
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.gp.pending import PendingPosterior
from possibal.gp.posterior import Posterior
from possibal.numerics.distances import usual_distance
from possibal.pool.cache import BUDGET, PoolCache
from possibal.pool.pruning import PrunedScorer, TopKQuery
from possibal.pool.reader import RowFormat
from possibal.pool.sampling import HashedSampler, QuestionSample, RandomQuestion, sample_size
from possibal.pool.scan import PoolScan
from possibal.pool.top_k import Candidates, ScanCounts, TopK

LARGE_POOL = 20_000
"""Rows of a pool that is read in a pass of its own, without what is believed of each row."""
COLD_START_SAMPLE = 500
"""Rows that stand for the pool while no score can tell rows apart."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows of a campaign, checked.

    Attributes:
        X: (m, d).
        ids: what the user calls each row.
        deputies: places of rows that stand for the pool while no score can tell rows apart.
        columns: what the user calls each column; None where X was an array.
        budget: bytes that may be kept from one question to the next.
    """

    X: Matrix
    ids: tuple[Hashable, ...]
    representatives: Places
    columns: NDArray[Any] | None = None
    budget: float = BUDGET

    @functools.cached_property
    def reference(self) -> Matrix:
        """The deputies as numbers, (r, d)."""
        return self.X[self.representatives]

    @functools.cached_property
    def usual_distance(self) -> float:
        """Of two rows."""
        return usual_distance(self.X)

    @property
    def is_large(self) -> bool:
        """Whether most rows are to be passed over, rather than to be believed something of."""
        return len(self.X) >= LARGE_POOL

    @functools.cached_property
    def cache(self) -> PoolCache:
        """What is kept of the rows from one question to the next."""
        return PoolCache(self.X, self.budget)

    @functools.cached_property
    def places(self) -> dict[Hashable, int]:
        """Where the row of each id stands."""
        return {row: place for place, row in enumerate(self.ids)}


def checked_pool(
    X: ArrayLike, ids: Iterable[Hashable] | None, seed: int, budget: float = BUDGET
) -> Pool:
    """The pool, or one sentence about what is wrong with it."""
    checker = PossibilisticGPClassifier()
    rows = frozen(validation.rows(checker, X, reset=True, least=0))
    if not len(rows):
        raise ValueError("X must have at least one row; got none. Pass the rows to label.")
    listed = range(len(rows)) if ids is None else ids
    names = tuple(as_python(row) for row in listed)
    if len(names) != len(rows):
        raise ValueError(
            f"ids must have one entry per row of X, {len(rows)}; got {len(names)}. "
            "Leave them out to number the rows."
        )
    first = dict[Hashable, int]()
    for place, row in enumerate(names):
        if not is_hashable(row) or row != row:  # noqa: PLR0124 - only NaN differs from itself
            raise ValueError(
                f"ids must hold text or numbers; got {row!r} at row {place}. Give each row a name."
            )
        if first.setdefault(row, place) != place:
            raise ValueError(
                f"ids must be unique; got {row!r} at rows {first[row]} and {place}. "
                "Give each row a name of its own."
            )
    columns = getattr(checker, "feature_names_in_", None)
    return Pool(rows, names, _representatives(rows, seed), columns, budget)


def _representatives(X: Matrix, seed: int) -> Places:
    """Places of rows that stand for a pool: all, or some that the seed draws.

    They are drawn from the rows in an order of their own, so that theirs does not matter; only
    in a large pool, where that would take seconds, it does.
    """
    if len(X) <= COLD_START_SAMPLE:
        return np.arange(len(X))
    drawn = np.random.default_rng(seed).permutation(len(X))[:COLD_START_SAMPLE]
    return drawn if len(X) >= LARGE_POOL else np.lexsort(X.T)[drawn]


# ---------------------------------------------------------------- ranking
@dataclass(frozen=True, eq=False)
class Shortlist:
    """The best rows of a pool, the best first; of several alike the first in the pool.

    Attributes:
        places: where they stand in the pool, counted from zero.
        ids: what the user calls them; their places where they have no names.
        utilities: what they are worth to the strategy.
        X: their numbers.
        rows: how many the pool has, without those left aside.
        judged: how many of them were worked out in full; the others could not have won, or were
            not drawn.
    """

    places: Places
    ids: tuple[Hashable, ...]
    utilities: Vector
    X: Matrix
    rows: int
    judged: int

    def __len__(self) -> int:
        """How many rows it lists."""
        return len(self.places)

    def part(self, some: Places) -> "Shortlist":
        """Some of the rows listed."""
        ids = tuple(self.ids[at] for at in some.tolist())
        return replace(
            self, places=self.places[some], ids=ids, utilities=self.utilities[some], X=self.X[some]
        )

    @property
    def pruned(self) -> float:
        """The share of rows that could be passed over."""
        return 1.0 - self.judged / self.rows


def rank(  # noqa: PLR0913 - all but three are named
    model: PossibilisticGPClassifier,
    X: object,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    *,
    top: int = 10,
    id: str | None = None,  # noqa: A002 - what users call it
    aside: Collection[int] = (),
    jobs: int | None = None,
    precision: str = "mixed",
    progress: Callable[[int, int | None], None] | None = None,
    client: Any = None,  # noqa: ANN401 - Dask need not be there
    seed: int = 0,
) -> Shortlist:
    """The rows of a pool of any size that are most worth a label.

    The pool is read part by part, so that memory does not grow with it, and on all cores. Rows
    that cannot be among the best are passed over as soon as a bound proves it; the answer is that
    of working out every row.

    A strategy that looks at rows together is shown up to a thousand rows, or thrice as many as
    wanted: all that there are, or of 5000 that are drawn, or of so many, half by lot and half for
    being most in doubt. The first row is the one that a campaign of the same seed asks about, if
    `aside` is what it has answers for. At random, any rows will do.

    Args:
        model: a fitted classifier.
        X: an array, a memory map, a data frame, the path of a .npy file or of Parquet files (one,
            a folder, or a pattern such as ``pool/*.parquet``), a Dask array or data frame, or
            anything that gives chunks of rows one after the other.
        strategy: a name in :data:`~possibal.acquisition.STRATEGIES`, or a score of your own.
        top: how many rows are wanted.
        id: the column that names rows, in files and data frames.
        aside: places of rows that are passed over, such as those that have a label.
        jobs: threads; one per core if left out.
        precision: "mixed" looks in single precision first and works out in double what is left,
            "double" keeps to that; both give the same rows.
        progress: told how many rows were read, and how many there are if that is known.
        client: a Dask client, or the address of a scheduler; X is then ranked on its workers, who
            read files themselves. Dask's own arrays and data frames are ranked on the workers of
            the client that Dask uses, if there is one.
        seed: of what is drawn, as that of a campaign.
    """
    chosen = strategy if callable(strategy) else choice("strategy", strategy, STRATEGIES)
    wanted, posterior = at_least("top", top, 1), fitted(model)
    choice("precision", precision, {"mixed": True, "double": False})
    passed, threads = np.unique(np.fromiter(aside, dtype=np.intp)), os.cpu_count() or 1
    threads = at_least("jobs", jobs, 1) if jobs is not None else threads
    reading = PoolScan(X, expected(model, id), passed, threads, progress, client)
    lot = HashedSampler(whole("seed", seed, 0), answers(model))
    if chosen is STRATEGIES["random"]:
        return blindly(reading, RandomQuestion(lot.seed, lot.answers, passed[passed >= 0]), wanted)
    if is_local(chosen):
        judge = PrunedScorer.of(posterior, chosen, single=precision == "mixed")
        return listed(judge, reading.run(TopKQuery(judge, wanted)))
    return together(chosen, wanted, reading, lot, posterior)


def best(
    model: PossibilisticGPClassifier,
    X: object,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    **options: Any,  # noqa: ANN401 - those of rank
) -> Hashable:
    """The one row of a pool that is most worth a label; see :func:`rank`."""
    return rank(model, X, strategy, top=1, **options).ids[0]


def listed(judge: PrunedScorer, seen: ScanCounts) -> Shortlist:
    """The shortlist of a sieve through which all rows went."""
    _enough(seen.rows, seen.sieve.top)
    (found,) = seen.sieve.best(judge.worth)
    return _short(found, seen.rows, seen.judged)


def blindly(reading: PoolScan, blind: RandomQuestion, top: int) -> Shortlist:
    """Rows at random."""
    seen = reading.run(TopKQuery(blind, top))
    _enough(seen.rows, top)
    return _short(_drawn(seen.sieve), seen.rows, seen.judged)


def together(
    strategy: Strategy, top: int, reading: PoolScan, lot: HashedSampler, posterior: Posterior
) -> Shortlist:
    """The shortlist of a strategy that looks at rows together.

    Args:
        strategy: what rows are worth.
        top: how many are wanted.
        reading: how the pool is read.
        lot: draws rows.
        posterior: what the labels taught.
    """
    seen = reading.run(TopKQuery(lot, sample_size(top)))
    _enough(seen.rows, top)
    found = _drawn(seen.sieve)
    drawn, X = QuestionSample(found.places, seen.rows), np.asarray(found.X, dtype=float)
    shown, rng = drawn.shown(posterior.at(X), top), np.random.default_rng([lot.seed, lot.answers])
    view = View(PendingPosterior(posterior), X[shown], rng, X[drawn.reference])
    worth = utilities(view, strategy)
    asked = replace(found.part(shown), utilities=worth)
    asked = asked.part(np.argsort(-worth, kind="stable")[:top])
    return _short(asked, seen.rows, judged=len(found))


def _drawn(sieve: TopK) -> Candidates:
    """The rows that were drawn, the largest number first."""
    all_of_them = Candidates.joined(sieve.candidates())
    return all_of_them.part(np.argsort(-all_of_them.utilities, kind="stable")[: sieve.top])


def _enough(rows: int, top: int) -> None:
    """Refuse to list more rows than there are."""
    if rows < top:
        raise ValueError(
            f"top must be at most {rows}, the rows there are; got {top}. Ask for fewer."
        )


def _short(found: Candidates, rows: int, judged: int) -> Shortlist:
    """Candidates as a shortlist, of so many rows of which so many were worked out."""
    ids = found.places.tolist() if found.names is None else found.names
    return Shortlist(found.places, tuple(ids), found.utilities, found.X, rows, judged)


def fitted(model: object) -> Posterior:
    """What a classifier has learnt."""
    if not isinstance(model, PossibilisticGPClassifier):
        raise TypeError(
            f"model must be a PossibilisticGPClassifier; got {type(model).__name__}. Fit one first."
        )
    check_is_fitted(model, "posterior_")
    return model.posterior_


def unfitted(model: object) -> PossibilisticGPClassifier:
    """The same classifier before any label."""
    if not isinstance(model, PossibilisticGPClassifier):
        raise TypeError(
            "classifier must be a PossibilisticGPClassifier; "
            f"got {type(model).__name__}. Leave it out for the usual one."
        )
    return cast("PossibilisticGPClassifier", clone(model))


def answers(model: PossibilisticGPClassifier) -> int:
    """How many labels a classifier was given; of rows alike, each counts."""
    return round(float(model.posterior_.data.weight[0].sum())) + model.left_out_


def expected(model: PossibilisticGPClassifier, id: str | None) -> RowFormat:  # noqa: A002 - as above
    """What a classifier expects of rows."""
    names = getattr(model, "feature_names_in_", None)
    width = model.posterior_.data.X.shape[1]
    return RowFormat(width, None if names is None else tuple(names.tolist()), id)
