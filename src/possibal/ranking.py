"""What the model makes of a pool after some answers: which rows to ask about, and how surely."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from possibal.advice import Advice
from possibal.answers import Answer
from possibal.arrays import Places, Vector

UNKNOWN = -1
"""The class of a row of which nothing can be said yet."""


@dataclass(frozen=True)
class Task:
    """What to rank.

    Attributes:
        answers: labels of rows, by place.
        classes: all there may be; fewer than two are learnt from the answers.
        aside: rows that the model neither asks about nor learns from.
        check: rows whose labels only measure the model.
        first: how many rows must differ from each other.
    """

    answers: tuple[Answer, ...] = ()
    classes: tuple[str, ...] = ()
    aside: frozenset[int] = frozenset()
    check: tuple[Answer, ...] = ()
    first: int = 4


@dataclass(frozen=True, eq=False)
class Ranking:
    """What the model makes of a pool.

    Attributes:
        answers: how many it has learnt from.
        classes: what the places in `leading` stand for.
        order: places of the rows to ask about, the best first.
        necessity: of each row's likeliest label, (m,).
        leading: the place of that label among the classes, (m,).
        relevance: how closely each column goes with the labels, (d,).
        advice: whether to go on.
        is_cold: whether too little is known for a score.
    """

    answers: int
    classes: tuple[str, ...]
    order: Places
    necessity: Vector
    leading: NDArray[np.intp]
    relevance: Vector
    advice: Advice
    is_cold: bool

    def thought(self, row: int) -> str | None:
        """The likeliest label of a row; None while there is none."""
        place = int(self.leading[row])
        return None if place == UNKNOWN else self.classes[place]
