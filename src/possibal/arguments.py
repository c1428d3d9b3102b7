"""Validation of scalar arguments: names of a registry, with suggestions, and whole numbers."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral
from typing import TypeVar

Entry = TypeVar("Entry")

DEFAULT_STRATEGY = "herding"
"""The strategy of those who choose none."""


def choice(argument: str, name: object, registry: Mapping[str, Entry]) -> Entry:
    """The entry of a registry, or one sentence that offers the others."""
    if not isinstance(name, str) or name not in registry:
        offered = ", ".join(repr(known) for known in registry)
        remedy = suggest(name, registry, "Choose one of these.")
        raise ValueError(f"{argument} must be one of {offered}; got {name!r}. {remedy}")
    return registry[name]


def suggest(name: object, known: Iterable[object], otherwise: str) -> str:
    """A question after the nearest known name, or else another remedy."""
    near = nearest(name, known)
    return f"Did you mean {near[0]!r}?" if near else otherwise


def nearest(name: object, known: Iterable[object]) -> list[str]:
    """Up to three known names that are spelt much like a name, in letters of any case."""
    spelt = {one.lower(): one for one in known if isinstance(one, str)}
    return [spelt[found] for found in get_close_matches(str(name).lower(), spelt)]


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


def check_listed(argument: str, given: object) -> None:
    """Refuse what is no list of several things, among them a single text."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(
            f"{argument} must be a list; got {given!r}. Write {argument}=[...], also for one."
        )


def is_hashable(value: object) -> bool:
    """Whether a value can be looked up."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
