"""The registry of strategies, and utilities as any strategy gives them, checked."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from possibal.acquisition import coverage, lookahead, pointwise
from possibal.acquisition.scoring import as_strategy
from possibal.acquisition.strategy import Strategy, View
from possibal.arguments import choice
from possibal.arrays import Vector
from possibal.belief import Belief, HasBelief


def random(
    view: View | Belief | HasBelief | ArrayLike,
    variance: ArrayLike | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> Vector:
    """Asks at random: the baseline to beat.

    Paper: App. E.4, Random.
    """
    generator = rng if rng is not None else getattr(view, "rng", None)
    if not isinstance(generator, np.random.Generator):
        raise TypeError(
            f"rng must be a numpy Generator; got {type(generator).__name__}. "
            "Pass rng=np.random.default_rng(seed)."
        )
    m = len(view.candidates) if isinstance(view, View) else len(Belief.of(view, variance))
    return generator.random(m)


STRATEGIES: dict[str, Strategy] = {
    "herding": coverage.herding,
    "look_ahead": lookahead.look_ahead,
    "necessity": pointwise.doubt,
    "uncertainty": pointwise.uncertainty,
    "bald": pointwise.bald,
    "entropy": pointwise.entropy,
    "margin": pointwise.margin,
    "least_confidence": pointwise.least_confidence,
    "latent_entropy": pointwise.latent_entropy,
    "mocu": lookahead.mocu,
    "bemps": lookahead.bemps,
    "epig": lookahead.epig,
    "random": random,
}
"""Name to strategy; the command line, the documentation and the contract tests read it."""


OF_LATENTS: tuple[Strategy, ...] = (
    lookahead.look_ahead,
    lookahead.mocu,
    lookahead.bemps,
    lookahead.epig,
)
"""Joint strategies that read covariances of latents, as coverage of rows does not."""


def name_of(strategy: Strategy) -> str:
    """What a strategy is called."""
    name = next((n for n, known in STRATEGIES.items() if known is strategy), None)
    return name or getattr(strategy, "__name__", type(strategy).__name__)


def find_strategy(strategy: str | Callable[..., Any]) -> Strategy:
    """One of ours by its name, or a function of a view or of mean and variance."""
    if callable(strategy):
        return as_strategy(strategy)
    return choice("strategy", strategy, STRATEGIES)


def pick(view: View, strategy: Strategy) -> int:
    """The place of the candidate with the largest utility; the lowest of several."""
    return int(utilities(view, strategy).argmax())


def utilities(view: View, strategy: Strategy) -> Vector:
    """One number for each candidate, none of them missing."""
    name = name_of(strategy)
    given, m = np.asarray(strategy(view)), len(view.candidates)
    if given.shape != (m,) or given.dtype.kind not in "fiub":
        raise ValueError(
            f"strategy {name} must give one number per row, {m}; got shape {given.shape} of "
            f"{given.dtype}. Score view.candidates."
        )
    missing = np.isnan(given)
    if missing.any():
        raise ValueError(
            f"strategy {name} must give numbers; got NaN at row {int(missing.argmax())}. "
            "Give rows of no interest -inf."
        )
    return given.astype(float)
