"""The decorator of scores: three ways to call one, chunks for large pools, and monotonicity."""

import functools
import inspect
from collections.abc import Callable
from enum import IntEnum
from typing import Any, Protocol, TypeGuard, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from possibal.acquisition.strategy import Strategy
from possibal.arrays import Array, Vector
from possibal.belief import Belief, HasBelief, ProbabilityBelief
from possibal.distributions import HasMoments

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
    of_probabilities: bool
    """Whether it reads predictive probabilities alone."""

    @overload
    def __call__(self, mean: Belief | HasBelief | HasMoments, /) -> Vector: ...
    @overload
    def __call__(self, mean: ArrayLike, variance: ArrayLike) -> Vector: ...


def no_monotonicity(_hypotheses: int, _latents: int) -> Monotonicity:
    """A score that no bound is known of."""
    return Monotonicity.UNKNOWN


PROBABILITY_STRATEGIES = ("herding", "margin", "entropy", "least_confidence", "random")
"""Strategies that serve a model which gives probabilities alone."""


def no_latents(name: str, model: str) -> TypeError:
    """The sentence on a score of what is not known, asked of a model that does not say it."""
    *some, last = PROBABILITY_STRATEGIES
    return TypeError(
        f"strategy must read probabilities alone where the model is {model}, which does not say "
        f"what it does not know; got {name}. Use {', '.join(some)} or {last}."
    )


def score(
    size: Callable[[int], int],
    monotonicity: Callable[[int, int], Monotonicity] = no_monotonicity,
    *,
    of_probabilities: bool = False,
) -> Callable[[Callable[[Belief], Vector]], Score]:
    """Let a function of a belief take plain moments too, and work through a pool in chunks.

    Args:
        size: numbers that a row with that many latents needs at once, for one hypothesis.
        monotonicity: of the score, for so many hypotheses and latents.
        of_probabilities: whether it reads predictive probabilities alone, so that any model serves.
    """

    def decorate(function: Callable[[Belief], Vector]) -> Score:
        @functools.wraps(function)
        def scored(
            mean: ArrayLike | Belief | HasBelief | HasMoments, variance: ArrayLike | None = None
        ) -> Vector:
            belief = (
                Belief.of(mean, variance)
                if variance is None or isinstance(mean, Belief | HasBelief)
                else Belief.borrowed(cast("ArrayLike", mean), variance)
            )
            if isinstance(belief, ProbabilityBelief) and not of_probabilities:
                raise no_latents(function.__name__, belief.model)
            rows = max(1, CHUNK // (len(belief.credibility) * size(belief.latents)))
            values = np.empty(len(belief))
            # Far out, intermediate results overflow or vanish; the formulas mean it.
            with np.errstate(all="ignore"):
                for start in range(0, len(belief), rows):
                    chunk = slice(start, start + rows)
                    values[chunk] = function(belief.part(chunk))
            return values

        vars(scored)["of_probabilities"] = of_probabilities
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


# ---------------------------------------------------------------- functions of users
def as_strategy(function: Callable[..., Any]) -> Strategy:
    """A strategy of a user's function, of a view or of latent mean and variance.

    Which of the two is told by how many arguments it needs; where nobody can tell, it gets a view.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return cast("Strategy", function)
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p.name for p in parameters if p.kind in places and p.default is p.empty]
    if len(needed) < 2:  # noqa: PLR2004 - a view is one argument
        return cast("Strategy", function)
    if len(needed) > 2:  # noqa: PLR2004 - mean and variance are two
        raise ValueError(
            "strategy must take a view, or a mean and a variance; "
            f"got {_called(function)}({', '.join(needed)}). Give the other arguments defaults."
        )
    return moment_score(function)


def moment_score(function: Callable[[Array, Array], ArrayLike]) -> Score:
    """A local score of a function that reads each row's latent mean and variance.

    They are those of the most credible hypothesis: (m,) for two classes, (m, C) for more, whatever
    m is: a pool is scored in parts, so that the utility of a row must be its own.
    """

    @score(one_per_latent)
    @functools.wraps(function)
    def scored(belief: Belief) -> Vector:
        at, m = belief.leading, len(belief)
        given = np.asarray(function(belief.mean[at], belief.variance[at]))
        if given.shape != (m,) or given.dtype.kind not in "fiub":
            raise ValueError(
                f"strategy {_called(function)} must give one number per row, {m}; got shape "
                f"{given.shape} of {given.dtype}. With more than two classes mean and variance "
                "have a column for each."
            )
        if np.isnan(given).any():
            raise ValueError(
                f"strategy {_called(function)} must give numbers; got NaN. "
                "Give rows of no interest -inf."
            )
        return given

    return scored


def _called(function: Callable[..., Any]) -> str:
    """What a function is called."""
    return getattr(function, "__name__", type(function).__name__)
