"""What makes a function of a belief a score: three ways to call it, and chunks for large pools."""

import functools
from collections.abc import Callable
from typing import Protocol, TypeGuard, overload

import numpy as np
from numpy.typing import ArrayLike

from possibal.arrays import Vector
from possibal.belief import Belief, HasBelief

CHUNK = 16_000
"""Numbers worked on at once. Arrays of under 128 kB stay in the cache, and are recycled by the
allocator instead of being mapped anew: measured up to twice as fast as larger ones."""


class Score(Protocol):
    """A function of a belief, one value per row."""

    __name__: str
    __doc__: str | None

    @overload
    def __call__(self, mean: Belief | HasBelief, /) -> Vector: ...
    @overload
    def __call__(self, mean: ArrayLike, variance: ArrayLike) -> Vector: ...


def score(size: Callable[[int], int]) -> Callable[[Callable[[Belief], Vector]], Score]:
    """Let a function of a belief take plain moments too, and work through a pool in chunks.

    Args:
        size: numbers that a row with that many latents needs at once, for one hypothesis.
    """

    def decorate(function: Callable[[Belief], Vector]) -> Score:
        @functools.wraps(function)
        def scored(
            mean: ArrayLike | Belief | HasBelief, variance: ArrayLike | None = None
        ) -> Vector:
            belief = (
                Belief.of(mean, variance)
                if variance is None or isinstance(mean, Belief | HasBelief)
                else Belief.borrowed(mean, variance)
            )
            rows = max(1, CHUNK // (len(belief.credibility) * size(belief.latents)))
            values = np.empty(len(belief))
            # Far out, intermediate results overflow or vanish; the formulas mean it.
            with np.errstate(all="ignore"):
                for start in range(0, len(belief), rows):
                    chunk = slice(start, start + rows)
                    values[chunk] = function(belief.part(chunk))
            return values

        scored.local = True  # pyright: ignore[reportAttributeAccessIssue] - see is_local
        return scored

    return decorate


def is_local(strategy: object) -> TypeGuard[Score]:
    """Whether a strategy reads a belief row by row, so that rows of many pools may be joined."""
    return getattr(strategy, "local", False) is True


def reading(latents: int) -> int:
    """Numbers a row needs where a score reads its moments once."""
    return latents


def climbing(latents: int) -> int:
    """Numbers a row needs to find suprema: one per pair of labels."""
    return latents**2
