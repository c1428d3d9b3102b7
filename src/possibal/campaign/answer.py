"""An answer, a label for a row, and its checks: what campaigns, journals and experiments share."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

from possibal.arguments import is_hashable
from possibal.errors import AlreadyAnsweredError


@dataclass(frozen=True)
class Answer:
    """The label that somebody gave a row.

    Attributes:
        row: its id.
        label: its class.
    """

    row: Hashable
    label: Hashable


def check_row(
    row: Hashable, known: Collection[Hashable], labels: Mapping[Hashable, Hashable]
) -> None:
    """Refuse a row that is none, or that has its label."""
    if not is_hashable(row) or row not in known:
        raise ValueError(f"row must be an id of the pool; got {row!r}. Tell what was asked.")
    check_no_truth(row, known)
    if row in labels:
        raise AlreadyAnsweredError(
            f"row must not be answered yet; got {row!r}, whose label is "
            f"{labels[row]!r}. Undo it, or change it with edit."
        )


def check_no_truth(row: Hashable, known: Iterable[Hashable]) -> None:
    """Refuse True or False where rows are numbers: Python takes them for 1 and 0.

    Args:
        row: an id that was found.
        known: all ids.
    """
    if isinstance(row, bool) and not any(isinstance(one, bool) for one in known):
        raise ValueError(f"row must be an id of the pool; got {row!r}. Tell what was asked.")


def check_answer(answer: object) -> None:
    """Refuse what is no answer."""
    if not isinstance(answer, Answer):
        raise TypeError(
            f"answers must be of class Answer; got {type(answer).__name__}. "
            "Write possibal.Answer(row, label)."
        )


def check_label(label: Hashable, known: Sequence[Hashable] | None, first: Hashable | None) -> None:
    """Refuse a label that is none, or of another type than the first.

    Args:
        label: what was said.
        known: all that may be said; None while that is learnt from the answers.
        first: what was said first.
    """
    if known is not None:
        if not is_hashable(label) or label not in known:
            raise ValueError(
                f"label must be one of {known}; got {label!r}. "
                "Correct it, or add it with add_class."
            )
        return
    is_text = isinstance(label, str)
    if not is_text and not (isinstance(label, Real) and float(label).is_integer()):
        raise ValueError(
            f"label must be text or a whole number; got {label!r}. "
            "Name classes of another kind with classes=[...]."
        )
    if first is not None and isinstance(first, str) != is_text:
        raise ValueError(
            f"label must be of one type with the first, {first!r}; "
            f"got {label!r}. Write all as text."
        )
