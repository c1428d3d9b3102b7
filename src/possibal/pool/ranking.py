"""Ranking of a pool of any size by the utility of a label: `rank`, and `best` for one row.

rank(model, X, "uncertainty", top=100) -> Shortlist        best(model, X) -> row

The pool is scanned part by part, in memory, from files or on a cluster.
"""

import os
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.pipeline import Pipeline

from possibal.acquisition.registry import STRATEGIES, find_strategy
from possibal.acquisition.strategy import Strategy
from possibal.arguments import DEFAULT_STRATEGY, choice, whole
from possibal.arrays import Matrix, Places, Vector, as_python
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.classifier import count_labels, fitted_posterior
from possibal.estimators.pipeline import CampaignPipeline, as_possibilistic
from possibal.estimators.probability_model import check_choices, fitted_model
from possibal.gp.latent_posterior import LatentPosterior
from possibal.gp.probabilities import geometry_of
from possibal.pool.candidates import check_available, choose_candidates, largest_keys
from possibal.pool.pruning import TopKQuery
from possibal.pool.reader import RowFormat
from possibal.pool.sampling import HashedSampler, RandomQuestion
from possibal.pool.scan import PoolScan
from possibal.pool.transformed import index_names, transformed_pool


@dataclass(frozen=True, eq=False)
class Shortlist:
    """The best rows of a pool, the best first; of several alike the first in the pool.

    Attributes:
        places: where they stand in the pool, counted from zero.
        ids: what the user calls them; their places where they have no names.
        utilities: by the strategy.
        X: their numbers.
        rows: how many the pool has, without those left aside.
        judged: how many of them were scored in full or sampled; the others were pruned.
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
        """The share of rows that were pruned."""
        return 1.0 - self.judged / self.rows


def rank(  # noqa: PLR0913 - all but three are named
    model: Any,  # noqa: ANN401 - of scikit-learn or ours
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
    """The rows with the largest utilities in a pool of any size.

    The pool is read part by part, so that memory does not grow with it, and on all cores. Rows
    that cannot be among the best are pruned as soon as a bound proves it; the result is that of
    scoring every row.

    A joint strategy, which reads covariances between rows, has up to a thousand candidates, or
    thrice as many as wanted: all rows, or of 5000 that are sampled, half at random and half by the
    largest doubt. The first row is the one that a campaign of the same seed asks about, if `aside`
    is what it has answers for. At random, any rows will do.

    Args:
        model: a fitted classifier, or a fitted pipeline that ends in one. Behind a pipeline, X is
            an array, a data frame or a list of texts, transformed at once, or chunks of these. A
            classifier that is not ours ranks by its probabilities: "margin", "entropy",
            "least_confidence" or "random". Or a
            :class:`~possibal.gp.LatentPosterior` of a model of your own: no row is then pruned,
            and one thread calls it.
        X: an array, a memory map, a data frame, the path of a .npy file or of Parquet files (one,
            a folder, or a pattern such as ``pool/*.parquet``), a Dask array or data frame, or
            anything that gives chunks of rows one after the other.
        strategy: a name in :data:`~possibal.acquisition.STRATEGIES`, or a function of your own:
            of a :class:`~possibal.acquisition.strategy.View`, or of latent mean and variance.
        top: how many rows are wanted.
        id: the column that names rows, in files and data frames; if left out, the index of a
            pandas frame that is not a plain 0 to m - 1.
        aside: places of rows that are excluded, such as those that have a label.
        jobs: threads; one per core if left out.
        precision: "mixed" bounds utilities in single precision first and computes in double what
            is left, "double" keeps to that; both give the same rows.
        progress: called with how many rows were read, and how many there are if that is known.
        client: a Dask client, or the address of a scheduler; X is then ranked on its workers, who
            read files themselves. Dask's own arrays and data frames are ranked on the workers of
            the client that Dask uses, if there is one.
        seed: of what is drawn, as that of a campaign.
    """
    if isinstance(model, Pipeline):
        piped = _fitted_pipeline(model)
        made = transformed_pool(piped, X, id)
        options = dict[str, Any](top=top, aside=aside, jobs=jobs, precision=precision)
        options |= {"progress": progress, "client": client, "seed": seed}
        return _renamed(rank(piped.final, made.X, strategy, **options), made.names)
    chosen = find_strategy(strategy)
    model = fitted_model(model)
    check_choices(model, chosen)
    names = index_names(X) if id is None else None
    wanted, posterior = whole("top", top, 1), fitted_posterior(model)
    single = choice("precision", precision, {"mixed": True, "double": False})
    excluded, threads = checked_places(aside), _threads(model, jobs, client)
    scan = PoolScan(X, row_format(model, id), excluded, threads, progress, client)
    sampler = HashedSampler(whole("seed", seed, 0), count_labels(model))
    if chosen is STRATEGIES["random"]:
        return _renamed(_at_random(scan, sampler, wanted), names)
    candidates = choose_candidates(chosen, posterior, scan, sampler, wanted, single=single)
    utilities = candidates.utilities(chosen)
    X, ids = candidates.view.candidates, candidates.names or candidates.places.tolist()
    listed = Shortlist(
        candidates.places, tuple(ids), utilities, X, candidates.available, candidates.judged
    )
    return _renamed(listed.part(np.argsort(-utilities, kind="stable")[:wanted]), names)


def best(
    model: Any,  # noqa: ANN401 - of scikit-learn or ours
    X: object,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    **options: Any,  # noqa: ANN401 - those of rank
) -> Hashable:
    """The row with the largest utility in a pool; see :func:`rank`."""
    return rank(model, X, strategy, top=1, **options).ids[0]


def _threads(
    model: CampaignModel | LatentPosterior,
    jobs: int | None,
    client: object,
) -> int:
    """How many threads read the pool; one where a model may keep a state."""
    wanted = None if jobs is None else whole("jobs", jobs, 1)
    if not isinstance(model, LatentPosterior):
        return wanted or os.cpu_count() or 1
    if client is not None or wanted not in (None, 1):
        name, got = ("jobs", wanted) if client is None else ("client", "one")
        raise ValueError(
            f"{name} must be left out for a model of your own; got {got}. "
            "It is called here, on one thread."
        )
    return 1


def row_format(
    model: CampaignModel | LatentPosterior,
    id: str | None,  # noqa: A002 - what users call it
) -> RowFormat:
    """The columns that a model expects of rows."""
    names = getattr(model, "feature_names_in_", None)
    width = geometry_of(fitted_posterior(model)).training_rows.shape[1]
    return RowFormat(width, None if names is None else tuple(names.tolist()), id)


def _fitted_pipeline(pipeline: Pipeline) -> CampaignPipeline:
    """A fitted pipeline whose last step is one that rows can be ranked by."""
    if isinstance(pipeline, CampaignPipeline):
        return pipeline
    name, last = pipeline.steps[-1]
    if isinstance(last, CampaignModel) or not hasattr(last, "predict_proba"):
        return cast("CampaignPipeline", as_possibilistic(pipeline))
    return CampaignPipeline([*pipeline.steps[:-1], (name, fitted_model(last))])


def checked_places(aside: Collection[int]) -> Places:
    """Distinct places of rows in order, or one sentence on what is none."""
    given = np.array(list(aside))
    if given.size and (given.ndim != 1 or given.dtype.kind not in "iu"):
        raise TypeError(
            f"aside must hold places of rows, which are whole numbers; got {given.dtype} in "
            f"shape {given.shape}. Pass their numbers, counted from zero."
        )
    return np.unique(given.astype(np.intp))


def _renamed(listed: Shortlist, names: Sequence[Hashable] | None) -> Shortlist:
    """The same rows by other names, in the order of the pool; as they are if there are none."""
    if names is None:
        return listed
    return replace(listed, ids=tuple(as_python(names[place]) for place in listed.places))


def _at_random(scan: PoolScan, sampler: HashedSampler, top: int) -> Shortlist:
    """Rows in the order of the numbers that a campaign draws for them."""
    excluded = scan.excluded[scan.excluded >= 0]
    counts = scan.run(TopKQuery(RandomQuestion(sampler.seed, sampler.answers, excluded), top))
    check_available(counts.rows, top)
    found = largest_keys(counts.top_k)
    ids = found.names or found.places.tolist()
    return Shortlist(found.places, tuple(ids), found.utilities, found.X, counts.rows, counts.judged)
