"""What a user may name or count: the only checks of words and whole numbers."""

from collections.abc import Hashable, Mapping
from difflib import get_close_matches
from numbers import Integral
from typing import TypeVar, cast

import numpy as np

Entry = TypeVar("Entry")

DEFAULT_STRATEGY = "herding"
"""The strategy of those who choose none."""


def choice(argument: str, name: object, registry: Mapping[str, Entry]) -> Entry:
    """The entry of a registry, or one sentence that offers the others."""
    if not isinstance(name, str) or name not in registry:
        near = get_close_matches(str(name), registry, n=1)
        remedy = f"Did you mean {near[0]!r}?" if near else "Choose one of these."
        offered = ", ".join(repr(known) for known in registry)
        raise ValueError(f"{argument} must be one of {offered}; got {name!r}. {remedy}")
    return registry[name]


def at_least(argument: str, value: int, least: int) -> int:
    """The whole number, if it is not below the least that makes sense."""
    if value < least:
        raise ValueError(
            f"{argument} must be at least {least}; got {value}. Use {least} or a larger number."
        )
    return value


def whole(argument: str, value: object, least: int) -> int:
    """A whole number that is not below the least."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument} must be a whole number; got {value!r}. Use {least}.")
    return at_least(argument, int(value), least)


def as_python(value: Hashable) -> Hashable:
    """A value of Python's own, where it is one of NumPy's."""
    return cast("Hashable", value.item()) if isinstance(value, np.generic) else value


def is_hashable(value: object) -> bool:
    """Whether a value can be looked up."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
