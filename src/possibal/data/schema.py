"""Schema inference: which columns are labels, names of rows, texts or paths of pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from possibal.data.encoders import (
    NUMBERS,
    TRUTHS,
    Cells,
    Table,
    cell_text,
    find_column,
    is_missing,
    mapped,
)

Labels: TypeAlias = tuple[str | None, ...]

LEAST_CLASSES, MOST_CLASSES = 2, 50
LONGEST_LABEL = 200
WORDY = 5
"""Words that half the cells of a column of prose have at least."""


# ---------------------------------------------------------------- text
def text_cells(cells: Cells) -> Labels:
    """Each cell as text without blanks around it; None where it is missing or blank."""
    return tuple(mapped(cells, _text))


def _text(cell: object) -> str | None:
    """A cell as text."""
    return None if is_missing(cell) else clean(cell_text(cell)).strip() or None


def clean(text: str) -> str:
    """Sanitised text: null characters and lone surrogates, which no database takes, replaced."""
    if text.isascii() and "\0" not in text:
        return text
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    )


# ---------------------------------------------------------------- roles
@dataclass(frozen=True)
class ColumnRoles:
    """Inferred schema: places of the columns that have a role, and notes on how it was found."""

    label: int | None
    id: int | None
    text: int | None
    image: int | None
    notes: tuple[str, ...]


def infer_roles(table: Table, wanted: Mapping[str, str | None]) -> ColumnRoles:
    """Schema inference: the roles that are asked for, and those that names and cells suggest.

    Args:
        table: the data.
        wanted: the columns for "label", "id", "text" and "image"; None to find one.
    """
    places = {
        role: None if name is None else find_column(role, name, table.names)
        for role, name in wanted.items()
    }
    _check_apart(places, table)
    label, id_, text, image = (places[role] for role in ("label", "id", "text", "image"))
    notes = list[str]()
    if label is None:
        label, said = _usual_label(table, taken={id_, text, image})
        notes += said
    if id_ is None:
        id_, said = usual_id(table, taken={label, text, image})
        notes += said
    if text is None and image is None:
        text, said = _prose(table, taken={label, id_})
        notes += said
    elif text is not None:
        _check_words(table, text)
    return ColumnRoles(label, id_, text, image, tuple(notes))


def _check_apart(places: Mapping[str, int | None], table: Table) -> None:
    """Refuse one column for two roles; a path may well name its row."""
    first = dict[int, str]()
    for role, place in places.items():
        if place is None:
            continue
        other = first.setdefault(place, role)
        if other != role and {other, role} != {"id", "image"}:
            raise ValueError(
                f"{role} must be another column than {other}; got {table.names[place]!r} for both. "
                "Leave one of them out."
            )
    if places["text"] is not None and places["image"] is not None:
        raise ValueError(
            f"text must be left out where rows are pictures; got {table.names[places['text']]!r}. "
            "It is shown beside the picture anyway."
        )


def _called(table: Table, name: str, taken: set[int | None]) -> int | None:
    """The place of the only free column of that name, in letters of any case."""
    found = [i for i, other in enumerate(table.names) if other.lower() == name and i not in taken]
    return found[0] if len(found) == 1 else None


def _usual_label(table: Table, taken: set[int | None]) -> tuple[int | None, list[str]]:
    """A column called label, unless it has too many of them, and what is to be said."""
    place = _called(table, "label", taken)
    if place is None:
        return None, []
    name, count = table.names[place], len(set(text_cells(table.columns[place])) - {None})
    if count > MOST_CLASSES:
        return None, [f"column {name} has {count} different labels and was not taken as the label."]
    return place, [f"column {name} was taken as the label."]


def usual_id(table: Table, taken: set[int | None]) -> tuple[int | None, list[str]]:
    """A column called id, if it names each row once, and what is to be said."""
    place = _called(table, "id", taken)
    if place is None:
        return None, []
    found = text_cells(table.columns[place])
    if None in found or len(set(found)) < len(found):
        return None, [
            f"column {table.names[place]} does not name each row once; rows are numbered."
        ]
    return place, [f"column {table.names[place]} was taken as the name of each row."]


def _prose(table: Table, taken: set[int | None]) -> tuple[int | None, list[str]]:
    """The only column that looks like prose, and what is to be said."""
    free = (i for i in range(len(table.names)) if i not in taken)
    found = [i for i in free if _is_prose(table.columns[i])]
    if len(found) != 1:
        return None, []
    name = table.names[found[0]]
    return found[0], [f"column {name} was taken as the text; --text COLUMN chooses another."]


def _is_prose(cells: Cells) -> bool:
    """Whether cells are texts of several words that seldom recur."""
    if set(map(type, cells)) - {type(None)} != {str}:
        return False
    if len(set(cells) - {None}) <= len(cells) / 2:
        return False
    return median(len(text.split()) for text in cells if text is not None) >= WORDY


def _check_words(table: Table, place: int) -> None:
    """Refuse a text column without words."""
    if not any(isinstance(cell, str) for cell in table.columns[place]):
        raise ValueError(
            f"text must be a column of words; got {table.names[place]!r}, which has none. "
            "Name another column."
        )


# ---------------------------------------------------------------- names of rows
def row_ids(table: Table, place: int | None) -> tuple[str, ...]:
    """A unique name for each row: those of a column, else its number, the first row's being 1."""
    if place is None:
        return tuple(str(row + 1) for row in range(len(table.columns[0])))
    first, name = dict[str, int](), table.names[place]
    for row, text in enumerate(text_cells(table.columns[place]), start=1):
        if text is None:
            raise ValueError(
                f"id must be a column without gaps; got none in row {row} of column {name!r}. "
                "Fill it in, or leave id out to number the rows."
            )
        if first.setdefault(text, row) != row:
            raise ValueError(
                f"id must be a column that names each row once; got {text!r} in rows "
                f"{first[text]} and {row} of column {name!r}. "
                "Change one, or leave id out to number the rows."
            )
    return tuple(first)


# ---------------------------------------------------------------- labels
def check_classes(classes: Sequence[str]) -> None:
    """Refuse labels that people could not choose among; none at all are fine."""
    count = len(classes)
    if count and not LEAST_CLASSES <= count <= MOST_CLASSES:
        raise ValueError(
            f"classes must be from {LEAST_CLASSES} to {MOST_CLASSES} labels; got {count}. "
            "Leave them out to take those of the label column."
        )
    for place, label in enumerate(classes):
        if label in classes[:place]:
            raise ValueError(f"classes must be different; got {label!r} twice. Take one out.")
        if (clean(label).strip() or None) != label or len(label) > LONGEST_LABEL:
            raise ValueError(
                f"classes must be of 1 to {LONGEST_LABEL} characters, with no blanks around them; "
                f"got {label[:LONGEST_LABEL]!r}. Shorten or mend it."
            )


def row_labels(
    table: Table, place: int | None, classes: Sequence[str]
) -> tuple[Labels, tuple[str, ...]]:
    """The label of each row, None where it is missing, and all that there are, in order.

    Args:
        table: the data.
        place: of the label column, if there is one.
        classes: the labels that are allowed; if there are none, those found.
    """
    if place is None:
        return (None,) * len(table.columns[0]), tuple(classes)
    name, found = table.names[place], text_cells(table.columns[place])
    for row, label in enumerate(found, start=1):
        if label is not None and len(label) > LONGEST_LABEL:
            raise ValueError(
                f"label must be a column of labels of at most {LONGEST_LABEL} characters; "
                f"got {len(label)} in row {row} of column {name!r}. Name another column."
            )
        if label is not None and classes and label not in classes:
            raise ValueError(
                f"classes must have every label of column {name!r}; got {label!r} in row {row}. "
                "Add it to the classes, or correct the row."
            )
    return found, tuple(classes) or _ordered(name, table.columns[place], found)


def _ordered(name: str, cells: Cells, found: Labels) -> tuple[str, ...]:
    """The different labels, numbers by size and words by spelling."""
    different = {label for label in found if label is not None}
    if len(different) > MOST_CLASSES:
        raise ValueError(
            f"label must be a column of at most {MOST_CLASSES} different labels; "
            f"got {name!r} with {len(different)}. Name another column."
        )
    present = [cell for cell in cells if not is_missing(cell)]
    numeric = all(isinstance(cell, NUMBERS) and not isinstance(cell, TRUTHS) for cell in present)
    return tuple(sorted(different, key=float if numeric else None))
