"""The decorator of scores: three ways to call one, chunks for large pools, and monotonicity."""

import functools
from collections.abc import Callable
from enum import IntEnum
from typing import Protocol, TypeGuard, overload

import numpy as np
from numpy.typing import ArrayLike

from possibal.arrays import Vector
from possibal.belief import Belief, HasBelief

CHUNK = 16_000
"""Numbers worked on at once. Arrays of under 128 kB stay in the cache, and are recycled by the
allocator instead of being mapped anew: measured up to twice as fast as larger ones."""


class Monotonicity(IntEnum):
    """How a score depends on the moments of a row, by which it is bounded.

    ``BY_VARIANCE``: larger variances never lower it. ``BY_BOTH``: nor do means closer to zero.
    ``BY_LABELS``: it is U of one probit latent, the sum less one of the credibilities of labels.
    """

    UNKNOWN = 0
    BY_VARIANCE = 1
    BY_BOTH = 2
    BY_LABELS = 3


class Score(Protocol):
    """A function of a belief, one value per row."""

    __name__: str
    __doc__: str | None
    monotonicity: Callable[[int, int], Monotonicity]
    """Of the number of hypotheses and of latents a row has."""
    size: Callable[[int], int]
    """Numbers that a row with that many latents needs at once."""

    @overload
    def __call__(self, mean: Belief | HasBelief, /) -> Vector: ...
    @overload
    def __call__(self, mean: ArrayLike, variance: ArrayLike) -> Vector: ...


def no_monotonicity(_hypotheses: int, _latents: int) -> Monotonicity:
    """A score that no bound is known of."""
    return Monotonicity.UNKNOWN


def score(
    size: Callable[[int], int], monotonicity: Callable[[int, int], Monotonicity] = no_monotonicity
) -> Callable[[Callable[[Belief], Vector]], Score]:
    """Let a function of a belief take plain moments too, and work through a pool in chunks.

    Args:
        size: numbers that a row with that many latents needs at once, for one hypothesis.
        monotonicity: of the score, for so many hypotheses and latents.
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

        scored.monotonicity, scored.size = monotonicity, size  # pyright: ignore[reportAttributeAccessIssue] - a function has any
        return scored  # pyright: ignore[reportReturnType] - the same

    return decorate


def is_local(strategy: object) -> TypeGuard[Score]:
    """Whether a strategy scores each row by its own belief alone; a joint one does not."""
    return hasattr(strategy, "monotonicity")


def one_per_latent(latents: int) -> int:
    """Numbers a row needs where a score reads its moments once."""
    return latents


def one_per_pair(latents: int) -> int:
    """Numbers a row needs to find suprema: one per pair of labels."""
    return latents**2


def by_variance(_hypotheses: int, _latents: int) -> Monotonicity:
    """A score that larger variances never lower."""
    return Monotonicity.BY_VARIANCE


def of_one_latent(hypotheses: int, latents: int) -> Monotonicity:
    """A score that is in order where a row has one latent under one hypothesis."""
    return Monotonicity.BY_BOTH if hypotheses == latents == 1 else Monotonicity.UNKNOWN
