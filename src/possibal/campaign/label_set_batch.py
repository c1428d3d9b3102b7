"""Acquisition over several labels: utilities of each label put together, and greedy batches.

A question about a row answers for all labels at once. So each label has a view of the same
candidates under its own posterior, and what a strategy says of each is combined.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.special import logsumexp

from possibal.acquisition.coverage import REWEIGHED_BY_PENDING
from possibal.acquisition.pointwise import doubt
from possibal.acquisition.registry import STRATEGIES, utilities
from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Mask, Matrix, Places, Vector
from possibal.campaign.batch import free_utilities, tracking
from possibal.gp.pending import PendingPosterior

Combination = Callable[[Matrix], Vector]
"""One number for each candidate of a number for each label and candidate, (L, m)."""


def sum_of_logs(each: Matrix) -> Vector:
    """The logarithm of the sum over labels, of utilities that are logarithms.

    Rounded, as :func:`~possibal.acquisition.coverage.herding` is, so that rows alike tie.
    """
    return np.round(np.asarray(logsumexp(each, axis=0)), 10)


def total(each: Matrix) -> Vector:
    """The sum over labels: of losses, and of information, which add up for independent labels."""
    return each.sum(axis=0)


def largest(each: Matrix) -> Vector:
    """The largest over labels: one minus the necessity of the whole set.

    Paper: Sec. 3.1, N(A and B) = min(N(A), N(B)).
    """
    return each.max(axis=0)


def combination(strategy: Strategy) -> Combination:
    """How the utilities that a strategy gives for each label are put together."""
    if any(strategy is one for one in REWEIGHED_BY_PENDING):
        return sum_of_logs
    if strategy is doubt:
        return largest
    return total


@dataclass(frozen=True, eq=False)
class LabelViews:
    """The same candidates as each label sees them.

    Attributes:
        places: where they stand in the pool.
        views: one for each label.
    """

    places: Places
    views: tuple[View, ...]

    def utilities(self, strategy: Strategy) -> Vector:
        """One number for each candidate; the largest is asked first."""
        if strategy is STRATEGIES["random"]:
            return utilities(self.views[0], strategy)
        each = np.array([utilities(view, strategy) for view in self.views])
        return combination(strategy)(each)


def greedy_batch_of_sets(
    n: int,
    candidates: LabelViews,
    first: Vector,
    strategy: Strategy,
    others: Callable[[list[int]], LabelViews],
) -> list[int]:
    """Where the n best rows stand, each chosen given that those before it are pending.

    As :func:`possibal.campaign.batch.greedy_batch`, for several labels.
    """
    at = int(first.argmax())
    picked, views = [int(candidates.places[at])], candidates.views
    if n == 1:
        return picked
    pending = _tracking([cast("PendingPosterior", v.posterior) for v in views], views, strategy)
    while len(picked) < n:
        pending = [one.with_pending(views[0].candidates[at]) for one in pending]
        if not (free := ~np.isin(candidates.places, picked)).any():
            candidates = others(picked)
            views, free = candidates.views, np.ones(len(candidates.places), dtype=bool)
            pending = _tracking(pending, views, strategy)
        at = _next(pending, views, free, strategy)
        picked.append(int(candidates.places[at]))
    return picked


def _tracking(
    pending: Sequence[PendingPosterior], views: Sequence[View], strategy: Strategy
) -> list[PendingPosterior]:
    """The posteriors, with what they say of the rows read after every pick kept up to date."""
    return [tracking(one, view, strategy) for one, view in zip(pending, views, strict=True)]


def _next(
    pending: Sequence[PendingPosterior], views: Sequence[View], free: Mask, strategy: Strategy
) -> int:
    """The candidate with the largest utility among those that pending labels explain little of."""
    X = views[0].candidates
    explained = np.zeros(len(X))
    if strategy is not STRATEGIES["random"]:
        is_copy = np.any([(x == X).all(axis=1) for x in pending[0].picked], axis=0)
        shares = np.mean([one.explained_share(X) for one in pending], axis=0)
        explained = np.where(is_copy, np.inf, shares)
        least = explained[free].min()
        free = free & (explained <= max(least, 0.5 + 0.5 * least))
    pairs = list(zip(views, pending, strict=True))
    pairs = pairs[:1] if strategy is STRATEGIES["random"] else pairs
    each = np.array([free_utilities(view.after(one), free, strategy) for view, one in pairs])
    utility, places = combination(strategy)(each), np.flatnonzero(free)
    best = places[utility == utility.max()]
    return int(best[explained[best].argmin()])


def sharing(views: Sequence[View]) -> tuple[View, ...]:
    """The views, sharing what depends on the rows alone and not on the posterior."""
    kept = views[0].kept
    return tuple(replace(view, kept=kept) for view in views)
