"""What a strategy may look at before it says which row to ask."""

import functools
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from possibal.arrays import Matrix, Vector
from possibal.belief import Belief

NOTHING: Matrix = np.empty((0, 0))
"""Where a view is given no reference."""


class Posterior(Protocol):
    """Anything that can tell its belief about rows."""

    def at(self, X: Matrix, /) -> Belief:
        """The belief about each row."""
        ...


@dataclass(frozen=True, eq=False)
class View:
    """What a strategy may look at. A local score touches only ``belief``.

    Attributes:
        posterior: what the labels so far have taught; a pool-wide strategy may ask it more.
        candidates: (m, d), the rows that may be asked.
        rng: for strategies that draw.
        reference: (r, d), rows that stand for the whole pool; the candidates if left out.
        known: the belief about the candidates, where it was worked out before.
    """

    posterior: Posterior
    candidates: Matrix
    rng: np.random.Generator | None = None
    reference: Matrix = field(default_factory=lambda: NOTHING)
    known: Belief | None = None

    def __post_init__(self) -> None:
        """Let the candidates stand for the pool where nothing else does."""
        if self.reference is NOTHING:
            object.__setattr__(self, "reference", self.candidates)

    @property
    def belief(self) -> Belief:
        """The posterior's belief about the candidates, worked out when first read."""
        return self._belief

    @functools.cached_property
    def _belief(self) -> Belief:
        return self.posterior.at(self.candidates) if self.known is None else self.known


class Strategy(Protocol):
    """A utility for each candidate of a view; the largest is asked, the lowest row of several."""

    __doc__: str | None

    def __call__(self, view: View, /) -> Vector:
        """The utilities, one per candidate."""
        ...
