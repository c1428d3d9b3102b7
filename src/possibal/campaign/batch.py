"""Greedy batches: each row after the first is chosen as if those before it had been answered."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np

from possibal.acquisition.coverage import REWEIGHED_BY_PENDING
from possibal.acquisition.registry import STRATEGIES, utilities
from possibal.acquisition.scoring import is_local
from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Mask, Places, Vector
from possibal.campaign.label_views import put_together
from possibal.gp.pending import PendingPosterior


class BatchCandidates(Protocol):
    """Rows to choose a batch from, as each label sees them; where rows have one label, one view."""

    @property
    def places(self) -> Places:
        """Where they stand in the pool."""
        ...

    @property
    def views(self) -> Sequence[View]:
        """What a strategy sees of them, before any is picked."""
        ...


@dataclass(frozen=True, eq=False)
class Pick:
    """A row of a batch, and what it was picked from.

    Attributes:
        place: where it stands in the pool.
        places: of the rows that competed, in the pool's order.
        utilities: theirs, given the picks before; that of the row is the largest.
    """

    place: int
    places: Places
    utilities: Vector


def greedy_batch(
    n: int,
    candidates: BatchCandidates,
    first: Vector,
    strategy: Strategy,
    others: Callable[[list[int]], BatchCandidates],
) -> Iterator[Pick]:
    """The n best rows, each picked given that those before it are pending.

    Args:
        n: how many are wanted.
        candidates: to choose from.
        first: their utilities before any is picked.
        strategy: that gives them.
        others: candidates beside those picked, where all of the first are picked.
    """
    at = int(first.argmax())
    picked, views = [int(candidates.places[at])], candidates.views
    yield Pick(picked[0], candidates.places, first)
    if n == 1:
        return
    pending = [tracking(cast("PendingPosterior", v.posterior), v, strategy) for v in views]
    while len(picked) < n:
        pending = [one.with_pending(views[0].candidates[at]) for one in pending]
        if not (free := ~np.isin(candidates.places, picked)).any():
            candidates = others(picked)
            views, free = candidates.views, np.ones(len(candidates.places), dtype=bool)
            pairs = zip(pending, views, strict=True)
            pending = [tracking(one, view, strategy) for one, view in pairs]
        pairs = zip(pending, views, strict=True)
        best = next_in_batch([view.after(one) for one, view in pairs], free, strategy)
        at, place = best.place, int(candidates.places[best.place])
        picked.append(place)
        yield Pick(place, candidates.places[best.places], best.utilities)


def next_in_batch(views: Sequence[View], free: Mask, strategy: Strategy) -> Pick:
    """The candidate with the largest utility among those that are free, by its place in the views.

    Only rows compete that the pending labels explain little of: at most half-way from the least
    explained row to one that they explain as much of as its own label would. At random, any will
    do.

    Args:
        views: of each label, given the pending rows.
        free: which candidates are not picked yet.
        strategy: that scores them.
    """
    X, explained = views[0].candidates, np.zeros(len(views[0].candidates))
    if strategy is not STRATEGIES["random"]:
        pending = [cast("PendingPosterior", view.posterior) for view in views]
        is_copy = np.any([(x == X).all(axis=1) for x in pending[0].picked], axis=0)
        shares = np.mean([one.explained_share(X) for one in pending], axis=0)
        explained = np.where(is_copy, np.inf, shares)
        least = explained[free].min()
        free = free & (explained <= max(least, 0.5 + 0.5 * least))
    utility = put_together(views, strategy, lambda view: free_utilities(view, free, strategy))
    places = np.flatnonzero(free)
    best = places[utility == utility.max()]
    return Pick(int(best[explained[best].argmin()]), places, utility)


def free_utilities(view: View, free: Mask, strategy: Strategy) -> Vector:
    """The utilities of the candidates that are free."""
    if _scores_all(strategy) or free.all():
        return utilities(view, strategy)[free]
    known = view.belief.part(np.flatnonzero(free)) if is_local(strategy) else None
    part = replace(view, candidates=view.candidates[free], known=known, kept={})
    return utilities(part, strategy)


def tracking(pending: PendingPosterior, view: View, strategy: Strategy) -> PendingPosterior:
    """The same posterior, with what it says of the rows read after every pick kept up to date."""
    if strategy is STRATEGIES["random"]:
        return pending
    covered = [view.reference] if _scores_all(strategy) else []
    return pending.tracking(view.candidates, *covered)


def representativeness(view: View) -> Vector:
    """Integrated variance reduction over the reference rows, while no score can tell rows apart.

    ALC (Cohn 1996; Cohn, Ghahramani & Jordan 1996), which needs no label.
    """
    return cast("PendingPosterior", view.posterior).variance_reduction(
        view.candidates, view.reference
    )


def _scores_all(strategy: Strategy) -> bool:
    """Whether all candidates of a batch are scored after every pick."""
    return any(strategy is one for one in REWEIGHED_BY_PENDING)
