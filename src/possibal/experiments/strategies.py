"""Strategies by name: ours, or a user's own as module:function."""

import sys
from importlib import import_module
from inspect import getsourcefile, unwrap
from pathlib import Path
from typing import Any, cast

from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.strategy import Strategy
from possibal.arguments import choice


def resolve_strategy(name: str) -> Strategy:
    """One of ours by its name, or the function that module:function names.

    Modules of the folder we are in are found too. A function gets a
    :class:`~possibal.acquisition.strategy.View` and gives one utility for each candidate.
    """
    if ":" not in name:
        return choice("strategy", name, STRATEGIES)
    module, _, function = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(import_module(module), function, None)
    except Exception as error:  # whatever the user's module does when it is imported
        raise ValueError(
            f"strategy must name a module that can be imported; got {name!r} "
            f"({type(error).__name__}: {error}). Check its spelling and its folder."
        ) from error
    if not callable(found):
        raise ValueError(  # noqa: TRY004 - the name is wrong, not its type
            f"strategy must name a function of its module; got {name!r}. "
            f"Define {function or 'one'} in {module}."
        )
    return cast("Strategy", found)


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
