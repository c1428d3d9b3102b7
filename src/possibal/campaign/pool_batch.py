"""A diverse batch of a pool by a fitted model, without a campaign.

batch(model, X, 5, "herding") -> PoolBatch(places, ids, utilities)
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

import numpy as np
from sklearn.pipeline import Pipeline

from possibal.acquisition.registry import find_strategy
from possibal.acquisition.strategy import Strategy
from possibal.arguments import DEFAULT_STRATEGY, whole
from possibal.arrays import Matrix, Places, Vector
from possibal.campaign.batch import Pick
from possibal.campaign.pool import Pool, checked_pool
from possibal.campaign.selection import Selection
from possibal.estimators import validation
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.classifier import (
    PossibilisticGPClassifier,
    count_labels,
    fitted_posterior,
)
from possibal.estimators.pipeline import PossibilisticPipeline, as_possibilistic
from possibal.gp.latent_posterior import LatentPosterior
from possibal.gp.probabilities import RankedPosterior
from possibal.pool.ranking import checked_places
from possibal.pool.sampling import HashedSampler
from possibal.pool.transformed import TransformedChunks, index_names, transformed_pool


@dataclass(frozen=True, eq=False)
class PoolBatch:
    """Rows to label together, the best first.

    Attributes:
        places: where they stand in the pool, counted from zero.
        ids: what the user calls them; their places where they have no names.
        utilities: of each when it was picked, given those before it.
        X: their numbers.
        rows: how many the pool has.
        picks: what each was picked from.
        aside: places of the rows that were excluded.
    """

    places: Places
    ids: tuple[Hashable, ...]
    utilities: Vector
    X: Matrix
    rows: int
    picks: tuple[Pick, ...]
    aside: Places

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.places)

    def __repr__(self) -> str:
        """How many of how many, and which."""
        return f"PoolBatch({len(self)} of {self.rows} rows: {list(self.ids)})"

    @property
    def pool_utilities(self) -> Matrix:
        """The utility of every row of the pool at every pick, (n, m).

        NaN where a row is left aside or was picked before, and minus infinity where it did not
        compete: the picks before it explain much of it, or it was not among the candidates.
        """
        table = np.full((len(self), self.rows), -np.inf)
        table[:, self.aside] = np.nan
        for line, pick in enumerate(self.picks):
            table[line, pick.places] = pick.utilities
            table[line + 1 :, pick.place] = np.nan
        return table


def batch(  # noqa: PLR0913 - all but four are named
    model: CampaignModel | LatentPosterior | Pipeline,
    X: Any,  # noqa: ANN401 - whatever the model predicts for
    n: int = 1,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    *,
    aside: Collection[int] = (),
    seed: int = 0,
) -> PoolBatch:
    """A diverse batch: the rows to label together, by a fitted model.

    Each row after the first has the largest utility once those before it will have been answered,
    among rows that they explain little of: those that :meth:`possibal.Campaign.ask` gives, where
    pool, model, answers and seed are the same and `aside` is the rows that have an answer. So while
    the model knows fewer than two labels, rows are asked that represent others, whatever the
    strategy; and of a large pool a joint strategy scores a sample. Where columns come in blocks,
    all are read together, of which a campaign asks by one at a time.

    Args:
        model: a fitted classifier of ours, a fitted pipeline that ends in one, or a
            :class:`~possibal.gp.LatentPosterior` of a model of your own.
        X: the pool: an array or a data frame in memory, or whatever the pipeline takes.
        n: how many rows are wanted.
        strategy: a name in :data:`~possibal.acquisition.STRATEGIES`, or a function of your own:
            of a :class:`~possibal.acquisition.strategy.View`, or of latent mean and variance.
        aside: places of rows that are excluded, such as those that have a label.
        seed: of what is drawn, as that of a campaign.
    """
    chosen, start = find_strategy(strategy), whole("seed", seed, 0)
    classifier, pool = _classifier_and_pool(model, X, start)
    excluded = _excluded(aside, len(pool.X))
    left, posterior = len(pool.X) - len(excluded), fitted_posterior(classifier)
    if whole("n", n, 1) > left:
        raise ValueError(f"n must be at most {left}, the rows left; got {n}. Ask for fewer.")
    selection = Selection(
        pool,
        posterior,
        chosen,
        excluded,
        HashedSampler(start, count_labels(classifier)),
        knows_few_labels(posterior),
        lambda places: posterior.at(pool.X).part(places),
    )
    picks = tuple(selection.asked(n))
    places = np.array([pick.place for pick in picks], dtype=np.intp)
    ids = tuple(pool.ids[place] for place in places.tolist())
    utilities = np.array([pick.utilities.max() for pick in picks])
    return PoolBatch(places, ids, utilities, pool.X[places], len(pool.X), picks, excluded)


def knows_few_labels(posterior: RankedPosterior) -> bool:
    """Whether rows of fewer than two labels were learnt from, so that no score tells rows apart."""
    if isinstance(posterior, LatentPosterior):  # it does not tell which labels
        return posterior.n_labels < 2  # noqa: PLR2004 - a choice needs two
    return np.unique(posterior.data.y, axis=1).shape[1] < 2  # noqa: PLR2004 - a choice needs two


def _classifier_and_pool(
    model: object,
    X: Any,  # noqa: ANN401 - whatever the model predicts for
    seed: int,
) -> tuple[CampaignModel | LatentPosterior, Pool]:
    """The fitted classifier, and the rows as it sees them, by the names that the user gave them."""
    if isinstance(X, str | PathLike):
        raise TypeError(
            f"X must be rows in memory; got {X!r}. Read the file first, or use possibal.rank."
        )
    names = index_names(X)
    if isinstance(model, Pipeline):
        piped = cast("PossibilisticPipeline", as_possibilistic(model))
        model, X = piped.final, transformed_pool(piped, X, None).X
        if isinstance(X, TransformedChunks):
            raise TypeError(
                "X must be rows in memory; got chunks of them. Join them, or use possibal.rank."
            )
    posterior = fitted_posterior(model)
    if isinstance(posterior, LatentPosterior):
        rows, width = (
            validation.rows(PossibilisticGPClassifier(), X, reset=True),
            posterior.training_rows.shape[1],
        )
        if rows.shape[1] != width:
            raise ValueError(
                f"X must have the {width} columns of the labelled rows; got {rows.shape[1]}. Pass "
                "rows as the model takes them."
            )
        return posterior, checked_pool(rows, names, seed)
    classifier = cast("CampaignModel", model)
    return classifier, checked_pool(validation.rows(classifier, X, reset=False), names, seed)


def _excluded(aside: Collection[int], rows: int) -> Places:
    """Places of the rows that are left aside, in order, each of which must be in the pool."""
    places = checked_places(aside)
    outside = places[(places < 0) | (places >= rows)]
    if len(outside):
        raise ValueError(
            f"aside must hold places of rows, 0 to {rows - 1}; got {outside[0]}. "
            "Count them from zero."
        )
    return places
