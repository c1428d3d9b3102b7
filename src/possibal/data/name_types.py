"""Types of names: row ids and labels are kept as text, and given back as what they were.

name_type("ids", [7, 8]) -> NameType.WHOLE        NameType.WHOLE.read("7") -> 7
"""

import datetime as dt
from collections.abc import Callable, Hashable, Iterable
from enum import StrEnum

from possibal.arrays import as_python


class NameType(StrEnum):
    """The type that all ids, or all labels, of a campaign have; the value is what is kept."""

    TEXT = "text"
    WHOLE = "whole number"
    REAL = "number"
    TRUTH = "true or false"
    DATE = "date"
    MOMENT = "date and time"

    def read(self, text: str) -> Hashable:
        """The name that was written so; text that is none of this type, such as a new class."""
        try:
            value = READ[self](text)
        except (KeyError, ValueError):
            return text
        is_same = value == value if self is NameType.REAL else written(value) == text  # noqa: PLR0124 - NaN
        return value if is_same else text


READ: dict[NameType, Callable[[str], Hashable]] = {
    NameType.TEXT: str,
    NameType.WHOLE: int,
    NameType.REAL: float,
    NameType.TRUTH: {"False": False, "True": True}.__getitem__,
    NameType.DATE: dt.date.fromisoformat,
    NameType.MOMENT: dt.datetime.fromisoformat,
}
TYPES = (  # the first that fits: a truth is a whole number too, and a moment a date
    (str, NameType.TEXT),
    (bool, NameType.TRUTH),
    (int, NameType.WHOLE),
    (float, NameType.REAL),
    (dt.datetime, NameType.MOMENT),
    (dt.date, NameType.DATE),
)


def written(name: Hashable) -> str:
    """A name as text, from which :meth:`NameType.read` makes it again."""
    value = as_python(name)
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def name_type(argument: str, names: Iterable[Hashable]) -> NameType:
    """The one type of all names; text where there are none.

    Args:
        argument: what the names are, for the sentence that refuses them.
        names: row ids, or labels.
    """
    found = dict[NameType, Hashable]()
    for name in names:
        value = as_python(name)
        kind = next((kind for type_, kind in TYPES if isinstance(value, type_)), None)
        if kind is None:
            raise ValueError(
                f"{argument} must be text, numbers or dates to be kept; got {name!r}. "
                "Write them as text."
            )
        found.setdefault(kind, name)
        if len(found) > 1:
            first, second = found.values()
            raise ValueError(
                f"{argument} must be of one type; got {first!r} and {second!r}. Write all as text."
            )
    return next(iter(found), NameType.TEXT)
