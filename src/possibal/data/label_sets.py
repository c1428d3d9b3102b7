"""Label sets: what a row has where it may have several of the classes, one of them, or none.

    LabelSyntax.SEVERAL.members("health|sport") -> ("health", "sport")
    LabelSyntax.SEVERAL.text(["sport", "health"]) -> "health|sport"

Whatever keeps, counts, exports or compares labels takes a set for one label, by its text; what asks
which classes there are reads the text. So votes, conflicts, undo and copies know nothing of sets.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import Enum
from typing import cast

import numpy as np

from possibal.arguments import suggest
from possibal.arrays import as_python

BAR = "|"
"""Stands between the classes of a set."""
NONE = "none"
"""The text of the empty set: none of the classes."""


class LabelSyntax(Enum):
    """How the labels of a campaign are read: as one class each, or as a set of classes."""

    ONE = "one"
    SEVERAL = "several"

    @classmethod
    def of(cls, *, multi: bool) -> "LabelSyntax":
        """That of a campaign whose rows have several labels, or one."""
        return cls.SEVERAL if multi else cls.ONE

    def members(self, label: str) -> tuple[str, ...]:
        """The classes that a label names, each once."""
        if self is LabelSyntax.ONE:
            return (label,)
        names = (name.strip() for name in label.split(BAR))
        return tuple(sorted({name for name in names if name} - {NONE}))

    def text(self, members: Iterable[str]) -> str:
        """The label that names these classes; the same for the same classes in any order."""
        return BAR.join(sorted(set(members))) or NONE

    def renamed(self, label: str, name_of: Callable[[str], str]) -> str:
        """The label after its classes were renamed; two that were merged are one of the set."""
        if self is LabelSyntax.ONE:
            return name_of(label)
        return self.text(map(name_of, self.members(label)))

    def words(self, label: str) -> str:
        """A label as a sentence has it."""
        if self is LabelSyntax.ONE:
            return label
        members = self.members(label)
        *first, last = members or ("none of the classes",)
        return f"{', '.join(first)} and {last}" if first else last

    def clean(self, label: str) -> str:
        """The one text of a label, however somebody wrote it."""
        return label if self is LabelSyntax.ONE else self.text(self.members(label))


def joined(cell: object) -> object:
    """A cell of a label column: the text of the set, where the cell lists its classes."""
    listed = cell.tolist() if isinstance(cell, np.ndarray) else cell
    if not isinstance(listed, list | tuple | set | frozenset):
        return cell
    return LabelSyntax.SEVERAL.text(label_set(cast("Iterable[object]", listed)))


def check_member_name(name: str) -> None:
    """Refuse the name of a class that could not be told from a set."""
    if BAR in name or name.casefold() == NONE:
        raise ValueError(
            f"class must not hold {BAR!r} and not be {NONE!r} where rows have several labels, for "
            f"these write sets; got {name!r}. Choose another name."
        )


def label_set(label: object) -> tuple[str, ...]:
    """The classes that somebody lists, each once and in order."""
    if isinstance(label, str | bytes) or not isinstance(label, Iterable):
        raise TypeError(
            f"label must list the classes of a row; got {label!r}. Write ['sport'] for one, "
            "and [] for none."
        )
    given = [as_python(one) for one in cast("Iterable[Hashable]", label)]
    check_texts("label", given)
    return tuple(sorted(set(cast("list[str]", given))))


def check_texts(argument: str, names: Iterable[object]) -> None:
    """Refuse classes that are no text: sets are written by joining their names."""
    for one in names:
        if not isinstance(one, str):
            raise TypeError(
                f"{argument} must be texts where rows have several labels; got {one!r}. "
                "Write classes as text."
            )
        check_member_name(one)


def check_members(label: Sequence[str], known: Sequence[Hashable]) -> None:
    """Refuse a set with a class that there is not."""
    for one in label:
        if one not in known:
            remedy = suggest(one, known, "Correct it, or add it with add_class.")
            raise ValueError(f"label must list classes of {list(known)}; got {one!r}. {remedy}")
