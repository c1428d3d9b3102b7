"""Strategies by name, ours or a user's own as module:function, and a user's own pipelines."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import getsourcefile, unwrap
from pathlib import Path
from typing import Any, cast

from possibal.acquisition.registry import STRATEGIES, find_strategy
from possibal.acquisition.scoring import PROBABILITY_STRATEGIES, as_strategy
from possibal.acquisition.strategy import Strategy
from possibal.estimators.pipeline import (
    CampaignPipeline,
    PossibilisticPipeline,
    as_possibilistic,
    for_campaign,
)
from possibal.estimators.probability_model import ProbabilityModel, check_choices
from possibal.experiments.spec import ENVELOPE

RANDOM = "random"
"""The strategy that all are compared with."""


def resolve_strategy(name: str) -> Strategy:
    """One of ours or of a plug-in by its name, or the function that module:function names.

    Modules of the folder we are in are found too. A function gets a
    :class:`~possibal.acquisition.strategy.View`, or latent mean and variance, and gives one utility
    for each candidate.
    """
    if ":" not in name:
        return find_strategy(name)
    found = own_code("strategy", name)
    if not callable(found):
        raise _no_such("strategy", name, "a function")
    return as_strategy(found)


def named_strategies(
    chosen: Sequence[str | Callable[..., Any]] | Mapping[str, str | Callable[..., Any]],
) -> dict[str, Strategy]:
    """Strategies by name, random the first of them.

    Args:
        chosen: names or functions, which have names of their own unless a mapping gives them.
    """
    by_name = isinstance(chosen, Mapping)
    pairs = chosen.items() if by_name else ((name_of(one), one) for one in chosen)
    found: dict[str, Strategy] = {RANDOM: STRATEGIES[RANDOM]}
    given: dict[str, object] = {RANDOM: RANDOM}
    for name, one in pairs:
        if given.setdefault(name, one) != one:
            raise ValueError(
                f"strategies must have different names; got {name!r} twice. Give them names in a "
                "dict."
            )
        found[name] = resolve_strategy(one) if isinstance(one, str) else as_strategy(one)
    return found


def name_of(strategy: str | Callable[..., Any]) -> str:
    """What a strategy is called in tables."""
    if isinstance(strategy, str):
        return strategy
    return getattr(strategy, "__name__", type(strategy).__name__)


def resolve_pipeline(name: str) -> PossibilisticPipeline:
    """The scikit-learn pipeline that module:name names, or that the function of that name makes."""
    if ":" not in name:
        raise ValueError(
            f"pipeline must be module:name; got {name!r}. Write for example mine:pipeline."
        )
    found = own_code("pipeline", name)
    made = found() if callable(found) and not hasattr(found, "fit") else found
    if not hasattr(made, "steps"):
        raise _no_such("pipeline", name, "a scikit-learn pipeline")
    model = as_possibilistic(made)
    return cast("PossibilisticPipeline", model)


def checked_model(
    model: object, strategies: Mapping[str, Strategy], hyperparameters: str
) -> object:
    """A classifier that can learn by strategies in place of the usual one; None if there is none.

    Args:
        model: of scikit-learn or ours.
        strategies: that are compared.
        hyperparameters: of the usual classifier, which have no meaning for another one.
    """
    if model is None:
        return None
    found = for_campaign(model)
    final = found.final if isinstance(found, CampaignPipeline) else found
    for one in strategies.values():
        check_choices(final, one)
    if hyperparameters != ENVELOPE:
        raise ValueError(
            f"hyperparameters must be left out where a classifier is given; got {hyperparameters}. "
            "Give the classifier the settings that it is to have."
        )
    return model


def usual_strategies(model: object) -> tuple[str, ...]:
    """Strategies to compare by a model where none is named; none means those of the usual one."""
    if model is None:
        return ()
    found = for_campaign(model)
    final = found.final if isinstance(found, CampaignPipeline) else found
    return PROBABILITY_STRATEGIES if isinstance(final, ProbabilityModel) else ()


def resolve_model(name: str) -> object:
    """The classifier that module:name names, or that the function of that name makes."""
    if ":" not in name:
        raise ValueError(
            f"classifier must be module:name; got {name!r}. Write for example mine:model."
        )
    found = own_code("classifier", name)
    made = found() if callable(found) and not hasattr(found, "get_params") else found
    if isinstance(made, type) or not hasattr(made, "fit"):
        raise _no_such("classifier", name, "a classifier")
    return made


def own_code(argument: str, name: str) -> object:
    """What module:name names in a module of the user's; modules of the folder we are in count."""
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return getattr(import_module(module), attribute, None)
    except Exception as error:  # whatever the user's module does when it is imported
        raise ValueError(
            f"{argument} must name a module that can be imported; got {name!r} "
            f"({type(error).__name__}: {error}). Check its spelling and its folder."
        ) from error


def _no_such(argument: str, name: str, what: str) -> ValueError:
    """The sentence on a name that is none of its module's."""
    module, _, attribute = name.partition(":")
    return ValueError(
        f"{argument} must name {what} of its module; got {name!r}. "
        f"Define {attribute or 'one'} in {module}."
    )


def strategy_source(function: Strategy) -> str:
    """The text of the file that a strategy comes from, as far as it has one."""
    inner: Any = unwrap(getattr(function, "func", function))  # what a decorator or partial calls
    for maker in (inner, type(inner)):
        try:
            file = getsourcefile(maker)
        except (TypeError, OSError):
            continue
        if file:
            return Path(file).read_text("utf-8", errors="replace")
    return repr(function)
