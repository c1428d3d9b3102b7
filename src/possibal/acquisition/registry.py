"""The registry of strategies, and utilities as any strategy gives them, checked."""

import functools
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
from possibal.distributions import HasMoments
from possibal.plugins import PluginGroup, find_plugin, installed_plugins


def random(
    view: View | Belief | HasBelief | HasMoments | ArrayLike,
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


def find_strategy(strategy: str | Callable[..., Any]) -> Strategy:
    """One of ours by its name, a plug-in's by its, or a function of a view or mean and variance."""
    if callable(strategy):
        return as_strategy(strategy)
    if not isinstance(strategy, str) or strategy in STRATEGIES:  # pyright: ignore[reportUnnecessaryIsInstance] - users
        return choice("strategy", strategy, STRATEGIES)
    return _plugin(strategy)


@functools.cache
def _plugin(name: str) -> Strategy:
    """The strategy that another distribution has under a name; one and the same each time."""
    found = find_plugin(PluginGroup.STRATEGIES, name)
    if found is None:
        others = (plugin.name for plugin in installed_plugins(PluginGroup.STRATEGIES))
        return choice("strategy", name, {**dict.fromkeys(others, random), **STRATEGIES})
    strategy = as_strategy(found.load())
    _PLUGGED[name] = strategy
    return strategy


_PLUGGED: dict[str, Strategy] = {}
"""Strategies of plug-ins that were asked for, by name."""


def strategy_name(strategy: object) -> str:
    """What a strategy is called: its name where it has one, else that of the function."""
    known = {**STRATEGIES, **_PLUGGED}.items()
    own = getattr(strategy, "__name__", type(strategy).__name__)
    return next((name for name, one in known if one is strategy), own)


def pick(view: View, strategy: Strategy) -> int:
    """The place of the candidate with the largest utility; the lowest of several."""
    return int(utilities(view, strategy).argmax())


def utilities(view: View, strategy: Strategy) -> Vector:
    """One number for each candidate, none of them missing."""
    name = strategy_name(strategy)
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
