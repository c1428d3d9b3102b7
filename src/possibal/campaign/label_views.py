"""Acquisition over several labels: the utilities of each label, put together.

A question about a row answers for all labels at once. So each label has a view of the same
candidates under its own posterior, and what a strategy says of each is combined.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from possibal.acquisition.coverage import REWEIGHED_BY_PENDING
from possibal.acquisition.pointwise import doubt
from possibal.acquisition.registry import STRATEGIES, utilities
from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Matrix, Places, Vector

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


def put_together(
    views: Sequence[View], strategy: Strategy, scored: Callable[[View], Vector]
) -> Vector:
    """What a strategy gives for the views of all labels; for that of one label, just that.

    Args:
        views: one for each label.
        strategy: that scores them; at random one draw does for all.
        scored: the utilities of a view.
    """
    if len(views) == 1 or strategy is STRATEGIES["random"]:
        return scored(views[0])
    return combination(strategy)(np.array([scored(view) for view in views]))


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
        return put_together(self.views, strategy, lambda view: utilities(view, strategy))


def sharing(views: Sequence[View]) -> tuple[View, ...]:
    """The views, sharing what depends on the rows alone and not on the posterior."""
    kept = views[0].kept
    return tuple(replace(view, kept=kept) for view in views)
