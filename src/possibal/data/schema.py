"""Schema inference: what columns are, and which of them hold labels, names, texts or pictures."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import TypeAlias

import numpy as np

from possibal.arguments import choice
from possibal.data.encoders import (
    NAMING,
    NUMBERS,
    ROW_NAMES,
    TRUTHS,
    Cells,
    Table,
    cell_text,
    find_column,
    fit_encoder,
    is_called,
    is_missing,
    mapped,
    number_values,
    numbers_rows,
)
from possibal.data.label_sets import LabelSyntax, check_texts, joined
from possibal.data.name_types import NameType
from possibal.data.source import SourceSpec

Labels: TypeAlias = tuple[str | None, ...]

LEAST_CLASSES, MOST_CLASSES = 2, 50
LONGEST_LABEL = 200
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
WORDY = 5
"""Words that half the cells of a column of prose have at least."""
FEW_WORDS = 2
"""The same of a column that is called a text."""
TEXT_NAMES = frozenset(
    [
        "title",
        "headline",
        "subject",
        "summary",
        "heading",
        "caption",
        "text",
        "review",
        "message",
        "comment",
        "comments",
        "description",
        "abstract",
        "body",
        "question",
        "tweet",
        "post",
    ]
)
"""Words in the name of a column of texts, which may be short."""
FEW_TEXTS = 10
"""More different texts than these make a column of prose, even where most rows have none."""


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
class ColumnKind(StrEnum):
    """How a column is understood; the value is what people read."""

    NUMBER = "number"
    CATEGORY = "category"
    TEXT = "text"
    DATE = "date"
    PICTURE = "picture"
    ID = "id"
    LABEL = "label"
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class Column:
    """How a column was understood, and a few words on why or what was done."""

    name: str
    kind: ColumnKind
    note: str = ""


@dataclass(frozen=True)
class ColumnRoles:
    """Inferred schema: places of the columns that have a role, and notes on how it was found.

    Attributes:
        label: of the labels, if there are any.
        id: of the names of rows, if they have any.
        texts: of the texts, which are read as one.
        image: of the paths of pictures, if rows are pictures.
        table: of the other columns that may be learnt from.
        kinds: of these, what a user says that they are, by their names.
        notes: plain sentences.
    """

    label: int | None
    id: int | None
    texts: tuple[int, ...]
    image: int | None
    table: tuple[int, ...]
    kinds: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Wishes:
    """What a user says of columns, by their places."""

    roles: dict[str, int | None]
    texts: tuple[int, ...]
    use: frozenset[int]
    left_out: frozenset[int]
    kinds: dict[str, str]

    @property
    def taken(self) -> set[int | None]:
        """Columns whose role is settled."""
        return {*self.roles.values(), *self.texts, *self.left_out}


def infer_roles(table: Table, wanted: SourceSpec, *, has_index: bool = False) -> ColumnRoles:
    """Schema inference: the roles that are asked for, and those that names and cells suggest.

    Args:
        table: the data.
        wanted: what a user says of the columns.
        has_index: whether rows have names or places of their own, so that no column names them.
    """
    told = _wishes(table, wanted)
    label, id_, notes = told.roles["label"], told.roles["id"], list[str]()
    known = {i for i, name in enumerate(table.names) if name in {*told.kinds, *wanted.no_roles}}
    if label is None:
        label, said = _usual_label(table, told.taken | known, LabelSyntax.of(multi=wanted.multi))
        notes += said
    if id_ is None and not has_index:
        id_, said = usual_id(table, told.taken | told.use | known | {label})
        notes += said
    settled = told.taken | {label, id_}
    free = [i for i in range(len(table.names)) if i not in settled]
    texts = told.texts
    if not texts:
        texts = tuple(i for i in free if table.names[i] not in told.kinds and _is_prose(table, i))
        texts = tuple(i for i in texts if i in told.use or not told.use)
        notes += _said_texts(table, texts)
    rest = tuple(i for i in free if i not in texts and (i in told.use or not told.use))
    insisted = {table.names[i]: _insisted(table, i) for i in rest if i in told.use}
    kinds = {**insisted, **told.kinds}
    return ColumnRoles(
        label=label,
        id=id_,
        texts=texts,
        image=told.roles["image"],
        table=rest,
        kinds={name: kind for name, kind in kinds.items() if kind},
        notes=tuple(notes),
    )


def _wishes(table: Table, wanted: SourceSpec) -> _Wishes:
    """What a user says of columns, each of one thing; or one sentence on what cannot be."""
    by_kind = {kind: _of_kind(table, wanted, kind) for kind in ColumnKind}
    roles = {
        "label": _only("label", wanted.label, by_kind[ColumnKind.LABEL], table),
        "id": _only("id", wanted.id, by_kind[ColumnKind.ID], table),
        "image": _only("image", wanted.image, by_kind[ColumnKind.PICTURE], table),
    }
    texts = (*listed("text", wanted.text, table), *by_kind[ColumnKind.TEXT])
    out = (*listed("leave_out", wanted.leave_out, table), *by_kind[ColumnKind.LEFT_OUT])
    used = listed("use", wanted.use, table)
    one_each = [(role, place) for role, place in roles.items() if place is not None]
    one_each += [("text", place) for place in texts] + [("leave_out", place) for place in out]
    _check_apart(table, one_each)
    _check_apart(table, [*(("use", i) for i in used), *(("leave_out", i) for i in out)])
    _check_words(table, texts)
    plain = {ColumnKind.NUMBER, ColumnKind.CATEGORY, ColumnKind.DATE}
    kinds = {table.names[i]: str(kind) for kind in plain for i in by_kind[kind]}
    return _Wishes(roles, texts, frozenset(used), frozenset(out), kinds)


def listed(argument: str, given: Sequence[str], table: Table) -> tuple[int, ...]:
    """Places of columns that are named, one by one or with commas between them."""
    places = dict[int, None]()
    for name in given:
        parts = [name] if name in table.names else [part.strip() for part in name.split(",")]
        for part in [one for one in parts if one] or [name]:
            places[find_column(argument, part, table.names)] = None
    return tuple(places)


def _of_kind(table: Table, wanted: SourceSpec, kind: ColumnKind) -> tuple[int, ...]:
    """Places of the columns that a user says to be of a kind."""
    for name, told in wanted.kinds.items():
        choice("columns", told, {str(one): one for one in ColumnKind})
        find_column("columns", name, table.names)
    return tuple(table.names.index(name) for name, told in wanted.kinds.items() if told == kind)


def _only(argument: str, name: str | None, others: Sequence[int], table: Table) -> int | None:
    """The place of the one column that has a role, if any has."""
    places = {*others} | ({find_column(argument, name, table.names)} if name is not None else set())
    if len(places) > 1:
        shown = " and ".join(repr(table.names[place]) for place in sorted(places))
        raise ValueError(f"{argument} must be one column; got {shown}. Leave one of them out.")
    return next(iter(places), None)


def _check_apart(table: Table, roles: Iterable[tuple[str, int]]) -> None:
    """Refuse one column for two roles; a path may well name its row."""
    first = dict[int, str]()
    for role, place in roles:
        other = first.setdefault(place, role)
        if other != role and {other, role} != {"id", "image"}:
            raise ValueError(
                f"{role} must be another column than {other}; got {table.names[place]!r} for both. "
                "Leave one of them out."
            )


def _insisted(table: Table, place: int) -> str | None:
    """The kind of a column that a user wants to be used, where inference would leave it out."""
    cells = table.columns[place]
    if fit_encoder(table.names[place], cells).features:
        return None
    numbers = np.isfinite(number_values(cells)).any()
    return str(ColumnKind.NUMBER if numbers else ColumnKind.CATEGORY)


def _called(table: Table, name: str, taken: set[int | None]) -> int | None:
    """The place of the only free column of that name, in letters of any case."""
    found = [i for i, other in enumerate(table.names) if other.lower() == name and i not in taken]
    return found[0] if len(found) == 1 else None


def _usual_label(
    table: Table, taken: set[int | None], syntax: LabelSyntax
) -> tuple[int | None, list[str]]:
    """A column called label, unless it has too many of them, and what is to be said."""
    place = _called(table, "label", taken)
    if place is None:
        return None, []
    name, column = table.names[place], table.columns[place]
    cells = text_cells(list(map(joined, column)) if syntax is LabelSyntax.SEVERAL else column)
    count = len({one for cell in cells if cell is not None for one in syntax.members(cell)})
    if count > MOST_CLASSES:
        return None, [f"column {name} has {count} different labels and was not taken as the label."]
    return place, [f"column {name} was taken as the label."]


def usual_id(table: Table, taken: set[int | None]) -> tuple[int | None, list[str]]:
    """A column that names each row once, and what is to be said.

    One that is called id, else the first that numbers the rows, else the first of words that is
    called a number or a key of something.
    """
    place, notes = _called(table, "id", taken), list[str]()
    if place is not None and not _names_each(table, place):
        notes = [f"column {table.names[place]} does not name each row once; rows are numbered."]
        place = None
    if place is None and not notes:
        free = [i for i in range(len(table.names)) if i not in taken]
        rules = (_numbers_rows, _is_key)
        place = next((i for rule in rules for i in free if rule(table, i)), None)
    if place is None:
        return None, notes
    return place, [f"column {table.names[place]} was taken as the name of each row."]


def _names_each(table: Table, place: int) -> bool:
    """Whether the cells of a column are all there and all different."""
    found = text_cells(table.columns[place])
    return None not in found and len(set(found)) == len(found)


def _numbers_rows(table: Table, place: int) -> bool:
    """Whether a column of numbers numbers the rows."""
    cells = table.columns[place]
    if not all(issubclass(kind, NUMBERS) for kind in set(map(type, cells))):
        return False
    return numbers_rows(table.names[place], number_values(cells))


def _is_key(table: Table, place: int) -> bool:
    """Whether a column of words names each row once, and is called so or as an index is."""
    name, is_words = table.names[place], set(map(type, table.columns[place])) == {str}
    is_index = bool(ROW_NAMES.fullmatch(name.lower())) and not _is_prose(table, place)
    return is_words and (is_index or is_called(name, NAMING)) and _names_each(table, place)


def _is_prose(table: Table, place: int) -> bool:
    """Whether cells are texts of several words that seldom recur."""
    cells = table.columns[place]
    if set(map(type, cells)) - {type(None)} != {str}:
        return False
    present = [text for text in cells if text is not None]
    if len(set(present)) <= max(len(present) / 2, min(len(cells) / 2, FEW_TEXTS)):
        return False
    least = FEW_WORDS if is_called(table.names[place], TEXT_NAMES) else WORDY
    return median(len(text.split()) for text in present) >= least


def _said_texts(table: Table, texts: Sequence[int]) -> list[str]:
    """What is to be said of columns of prose."""
    if not texts:
        return []
    names = " and ".join(table.names[place] for place in texts)
    were = "column {} was" if len(texts) == 1 else "columns {} were"
    return [f"{were.format(names)} taken as the text; --text COLUMN,COLUMN chooses others."]


def _check_words(table: Table, texts: Sequence[int]) -> None:
    """Refuse a text column without words."""
    for place in texts:
        if not any(isinstance(cell, str) for cell in table.columns[place]):
            raise ValueError(
                f"text must be a column of words; got {table.names[place]!r}, which has none. "
                "Name another column."
            )


# ---------------------------------------------------------------- names of rows
def row_ids(table: Table, place: int | None, start: int = 0) -> tuple[Hashable, ...]:
    """A unique name for each row: those of a column, else its place, the first row's being start.

    Whole numbers are numbers, all else is text.
    """
    if place is None:
        return tuple(range(start, start + len(table.columns[0])))
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
    kind = cell_type(table.columns[place])
    return tuple(kind.read(text) for text in first)


def cell_type(cells: Cells) -> NameType:
    """The type that names in a column have: whole numbers, other numbers, truths, else text."""
    present = [cell for cell in cells if not is_missing(cell)]
    if present and all(isinstance(cell, TRUTHS) for cell in present):
        return NameType.TRUTH
    if not present or not all(
        isinstance(cell, NUMBERS) and not isinstance(cell, TRUTHS) for cell in present
    ):
        return NameType.TEXT
    return NameType.WHOLE if all(float(cell).is_integer() for cell in present) else NameType.REAL


# ---------------------------------------------------------------- labels
def check_classes(classes: Sequence[str], *, multi: bool = False) -> None:
    """Refuse labels that people could not choose among; none at all are fine."""
    count = len(classes)
    if multi:
        check_texts("classes", classes)
    if count and not LEAST_CLASSES <= count <= MOST_CLASSES:
        raise ValueError(
            f"classes must be from {LEAST_CLASSES} to {MOST_CLASSES} labels; got {count}. "
            "Leave them out to take those of the label column."
        )
    for place, label in enumerate(classes):
        if label in classes[:place]:
            raise ValueError(f"classes must be different; got {label!r} twice. Take one out.")
        alike = next((one for one in classes[:place] if same_class(one, label)), None)
        if alike is not None:
            raise ValueError(
                f"classes must differ by more than case and blanks; got {alike!r} and {label!r}. "
                "Take one out."
            )
        if not is_class_name(label):
            raise ValueError(
                f"classes must be of 1 to {LONGEST_LABEL} characters, with no blanks around them; "
                f"got {label[:LONGEST_LABEL]!r}. Shorten or mend it."
            )


def is_class_name(name: str) -> bool:
    """Whether people can read a name as one line, and find it again."""
    is_clean = name != "" and clean(name).strip() == name and not CONTROLS.search(name)
    return is_clean and len(name) <= LONGEST_LABEL


def same_class(one: str, other: str) -> bool:
    """Whether two names of classes differ only by case or blanks."""
    return "".join(one.split()).casefold() == "".join(other.split()).casefold()


def row_labels(
    table: Table,
    place: int | None,
    classes: Sequence[str],
    syntax: LabelSyntax = LabelSyntax.ONE,
) -> tuple[Labels, tuple[str, ...]]:
    """The label of each row, None where it is missing, and all that there are, in order.

    Args:
        table: the data.
        place: of the label column, if there is one.
        classes: the labels that are allowed; if there are none, those found.
        syntax: whether a cell is one class, or a set of them.
    """
    if place is None:
        return (None,) * len(table.columns[0]), tuple(classes)
    name = table.names[place]
    if syntax is LabelSyntax.SEVERAL:
        return _row_sets(name, text_cells(list(map(joined, table.columns[place]))), classes)
    found = text_cells(table.columns[place])
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


def _row_sets(name: str, found: Labels, classes: Sequence[str]) -> tuple[Labels, tuple[str, ...]]:
    """The set of classes of each row as its one text, and all classes that there are."""
    read, known = LabelSyntax.SEVERAL, set[str]()
    for row, label in enumerate(found, start=1):
        for one in () if label is None else read.members(label):
            if classes and one not in classes:
                raise ValueError(
                    f"classes must have every class of column {name!r}; got {one!r} in row {row}. "
                    "Add it to the classes, or correct the row."
                )
            if not is_class_name(one):
                raise ValueError(
                    f"label must be a column of classes of at most {LONGEST_LABEL} characters; "
                    f"got {one[:40]!r} in row {row} of column {name!r}. Name another column."
                )
            known.add(one)
    if len(known) > MOST_CLASSES:
        raise ValueError(
            f"label must be a column of at most {MOST_CLASSES} different classes; "
            f"got {name!r} with {len(known)}. Name another column."
        )
    labels = tuple(None if label is None else read.clean(label) for label in found)
    return labels, tuple(classes) or tuple(sorted(known))


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
