"""The rows of a campaign: checked once, each with the user's own name."""

import functools
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from possibal import inputs
from possibal.arrays import Matrix, Places, frozen
from possibal.estimators import PossibilisticGPClassifier

REFERENCE = 500
"""Rows that stand for the pool while no score can tell rows apart."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows of a campaign, checked.

    Attributes:
        X: (m, d).
        ids: what the user calls each row.
        deputies: places of rows that stand for the pool while no score can tell rows apart.
        columns: what the user calls each column; None where X was an array.
    """

    X: Matrix
    ids: tuple[Hashable, ...]
    deputies: Places
    columns: NDArray[Any] | None = None

    @functools.cached_property
    def reference(self) -> Matrix:
        """The deputies as numbers, (r, d)."""
        return self.X[self.deputies]

    @functools.cached_property
    def places(self) -> dict[Hashable, int]:
        """Where the row of each id stands."""
        return {row: place for place, row in enumerate(self.ids)}


def pool(X: ArrayLike, ids: Iterable[Hashable] | None, seed: int) -> Pool:
    """The pool, or one sentence about what is wrong with it."""
    checker = PossibilisticGPClassifier()
    rows = frozen(inputs.rows(checker, X, reset=True, least=0))
    if not len(rows):
        raise ValueError("X must have at least one row; got none. Pass the rows to label.")
    listed = range(len(rows)) if ids is None else ids
    names = tuple(plain(row) for row in listed)
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
    return Pool(rows, names, _deputies(rows, seed), getattr(checker, "feature_names_in_", None))


def _deputies(X: Matrix, seed: int) -> Places:
    """Places of rows that stand for a pool: all, or some that the seed draws.

    They are drawn from the rows in an order of their own, so that theirs does not matter.
    """
    if len(X) <= REFERENCE:
        return np.arange(len(X))
    drawn = np.random.default_rng(seed).permutation(len(X))[:REFERENCE]
    return np.lexsort(X.T)[drawn]


def plain(value: Hashable) -> Hashable:
    """A value of Python's own, where it is one of NumPy's."""
    return cast("Hashable", value.item()) if isinstance(value, np.generic) else value


def is_hashable(value: object) -> bool:
    """Whether a value can be looked up."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
