"""The next row of a batch."""

from dataclasses import replace
from typing import cast

import numpy as np

from possibal.acquisition.coverage import REWEIGHED_BY_PENDING
from possibal.acquisition.pointwise import STRATEGIES
from possibal.acquisition.registry import utilities
from possibal.acquisition.scoring import is_local
from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Mask, Vector
from possibal.gp.pending import PendingPosterior


def next_in_batch(foreseen: PendingPosterior, view: View, free: Mask, strategy: Strategy) -> int:
    """The place of the best candidate that is free, given those that are picked already.

    It is one that the picks tell little about: at most half-way from the row they tell least
    about to one whose own label would tell no more. At random, any will do.
    """
    X, told = view.candidates, np.zeros(len(view.candidates))
    if strategy is not STRATEGIES["random"]:
        copy = np.any([(x == X).all(axis=1) for x in foreseen.picked], axis=0)
        told = np.where(copy, np.inf, foreseen.foretold_share(X))
        least = told[free].min()
        free = free & (told <= max(least, 0.5 + 0.5 * least))
    worth, places = candidate_utilities(view.after(foreseen), free, strategy), np.flatnonzero(free)
    best = places[worth == worth.max()]
    return int(best[told[best].argmin()])


def candidate_utilities(view: View, free: Mask, strategy: Strategy) -> Vector:
    """What the strategy says of the candidates that are free."""
    if _judges_whole(strategy) or free.all():
        return utilities(view, strategy)[free]
    known = view.belief.part(np.flatnonzero(free)) if is_local(strategy) else None
    shown = replace(view, candidates=view.candidates[free], known=known, kept={})
    return utilities(shown, strategy)


def tracking(foreseen: PendingPosterior, view: View, strategy: Strategy) -> PendingPosterior:
    """The same, with an eye on the rows that are read after every pick."""
    if strategy is STRATEGIES["random"]:
        return foreseen
    covered = [view.reference] if _judges_whole(strategy) else []
    return foreseen.tracking(view.candidates, *covered)


def representativeness(view: View) -> Vector:
    """Asks for the rows that speak for most others, while no score can tell rows apart."""
    return cast("PendingPosterior", view.posterior).variance_reduction(
        view.candidates, view.reference
    )


def _judges_whole(strategy: Strategy) -> bool:
    """Whether all candidates of a batch are judged after every pick."""
    return any(strategy is one for one in REWEIGHED_BY_PENDING)
