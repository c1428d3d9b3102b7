"""Encoding of columns: imputation by the median, one-hot words, parts of dates, class labels."""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from math import isnan
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from possibal.arguments import nearest
from possibal.arrays import Array, Matrix, Places
from possibal.data import dates
from possibal.data.dates import DateOrder
from possibal.data.numerals import MANY_DIGITS, Numerals, numeral_readings, read_numerals

Entry = TypeVar("Entry")
Cells: TypeAlias = Sequence[Any]
"""One cell per row: a number, a word, a date or anything else; None where it is missing."""

MOSTLY_EMPTY = "Most of its cells are empty: if these are labels, name it as the label."
"""Added to the note on a column of words: what is known of few rows only is mostly their label."""
MANY_WORDS = 20
"""Columns of more different words than these are left out, not one-hot encoded."""
MANY_NUMBERS, SHARE = 20, 0.1
"""More different numbers than these, and than this share of the rows, are no labels."""
LARGEST = 1e150
"""Numbers beyond count as infinite: their squares are none."""

MISSING = frozenset(["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null"])
"""Texts that stand for a missing cell. None is not among them: it is often a word of its own."""
MISSING_WORD = "missing"
CODE = 3
"""So many digits in every cell, a zero first in some, are codes: 007, or a postal code."""
MINUS = "\u2212"
"""The sign of typography, which Python does not read."""
TRUTH = {"false": 0.0, "true": 1.0}
ROW_NAMES = re.compile(r"(|id|index|row|row[ _]?(id|number)|unnamed:? ?\d+|__index_level_\d+__)")
"""Names of columns that number the rows, if their cells do."""
TRUTHS = (bool, np.bool_)
NUMBERS = (*TRUTHS, int, float, Decimal, np.integer, np.floating)
NAMING = frozenset(
    ["id", "ids", "nr", "no", "num", "number", "key", "index", "row", "serial", "uid"]
)
"""Words in the name of a column that numbers things, if all its numbers are different."""
CODING = frozenset(
    [
        "id",
        "ids",
        "uid",
        "code",
        "key",
        "zip",
        "zipcode",
        "postcode",
        "postal",
        "plz",
        "sku",
        "isbn",
    ]
)
"""Words in the name of a column whose whole numbers are codes: near ones have nothing in common."""
NAME_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
RUN = 20
"""So many whole numbers at least without a gap number the rows, whatever the column is called."""
MOST_WORDS = 200
"""Different words that a column may have where a user says that it is one of categories."""


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length, as a file holds them."""

    names: tuple[str, ...]
    columns: tuple[Cells, ...]


@dataclass(frozen=True, eq=False)
class Encoded:
    """An encoded column.

    Attributes:
        features: names of the columns it became; none if it was left out.
        X: (n, number of features).
        note: a sentence about what was done; empty if it stayed as it was.
    """

    features: tuple[str, ...]
    X: Matrix
    note: str


class TypedCells(NamedTuple):
    """The cells of a column, and how its numbers were written if not plainly."""

    cells: list[Any]
    numerals: Numerals | None = None


# ---------------------------------------------------------------- tables
def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each given once: one that is blank or taken is numbered."""
    found = dict[str, None]()  # a set that keeps its order
    for place, given in enumerate(names, start=1):
        name = given.strip() or f"unnamed {place}"
        again = 2
        while name in found:
            name, again = f"{given.strip()} ({again})", again + 1
        found[name] = None
    return tuple(found)


def infer_type(words: Iterable[str], decimal: str = ".") -> list[Any]:
    """Type inference: numbers if every cell that is there is one, else words.

    Args:
        words: the cells as written.
        decimal: what separates the whole part of a number from the rest; a point always may.
    """
    return infer_column(words, decimal).cells


def infer_column(words: Iterable[str], decimal: str = ".") -> TypedCells:
    """The same, and how the numbers were written."""
    stripped = list(map(str.strip, words))
    quick = _floats(stripped, decimal)
    if quick is not None and not isnan(sum(quick)):  # NaN is missing, and none of them is
        return TypedCells(quick)
    present = [word for word in stripped if word not in MISSING]
    numbers, numerals = _floats(present, decimal), None
    if numbers is None and MINUS in "".join(present):
        numbers = _floats([word.replace(MINUS, "-") for word in present], decimal)
    if numbers is None and (numerals := read_numerals(present, decimal)) is not None:
        numbers = numerals.values
    left = iter(present if numbers is None else numbers)
    return TypedCells([None if word in MISSING else next(left) for word in stripped], numerals)


def _floats(words: Sequence[str], decimal: str) -> list[float] | None:
    """The numbers that all words are; None if one is not, or if they are codes."""
    try:
        plain = words if decimal == "." else [word.replace(decimal, ".") for word in words]
        numbers = list(map(float, plain))
    except ValueError:
        return None
    # Python would read 1_2 as twelve.
    return None if _are_codes(words) or "_" in "".join(words) else numbers


def _are_codes(words: Sequence[str]) -> bool:
    """Whether digits name things and count nothing: as a number they would lose some of them."""
    widths = set(map(len, words))
    if widths and max(widths) >= MANY_DIGITS:
        return any(len(word) >= MANY_DIGITS and word.isdigit() for word in words)
    if len(widths) != 1 or min(widths) < CODE:
        return False
    return any(word[0] == "0" for word in words) and all(map(str.isdigit, words))


def is_number(word: str) -> bool:
    """Whether text is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word


def find_column(argument: str, wanted: str, names: Sequence[str]) -> int:
    """The place of the column that an argument names, or one sentence that offers others."""
    if wanted in names:
        return names.index(wanted)
    near = nearest(wanted, names)
    offered = ", ".join(repr(name) for name in near or names[-3:])
    raise ValueError(
        f"{argument} must be a column of the data; got {wanted!r}. "
        f"The {'nearest' if near else 'last'} columns are {offered}."
    )


# ---------------------------------------------------------------- inputs
@dataclass(frozen=True)
class Encoder:
    """A fitted column encoder: median imputation of numbers, one-hot encoding of words.

    Attributes:
        name: what the column is called.
        kind: "numbers" or "truths", one column; "words", one column for each; "dates", some for
            each part; or "nothing".
        features: names of the columns it becomes; none if it is left out.
        median: stands for a missing number, or date.
        words: the words that have a column, in its order.
        note: a sentence about what was done; empty if the column stayed as it was.
        parts: of dates that count, names of :data:`~possibal.data.dates.PARTS`.
        order: in which days and months of dates are written.
    """

    name: str
    kind: str
    features: tuple[str, ...] = ()
    median: float = 0.0
    words: tuple[str, ...] = ()
    note: str = ""
    parts: tuple[str, ...] = ()
    order: str = DateOrder.YEAR_FIRST

    def apply(self, cells: Cells) -> Matrix:
        """(rows, features): encoded cells.

        A cell that is no number, where numbers are meant, counts as missing. A word that was
        never seen is zero in every column, and so is a missing cell where none was missing.
        """
        if self.kind == "nothing":
            return np.empty((len(cells), 0))
        if self.kind == "words":
            return self._one_hot(cells)
        if self.kind == "dates":
            return self._parts(cells)
        values = number_values(cells)
        return np.where(np.isnan(values), self.median, values)[:, None]

    def document(self) -> dict[str, Any]:
        """The encoder as JSON can hold it."""
        return asdict(self)

    @classmethod
    def restored(cls, document: Mapping[str, Any]) -> "Encoder":
        """The encoder that a document was made of; names that are no text are refused."""
        lists = {name: tuple(document.get(name, ())) for name in ("features", "words", "parts")}
        if not all(isinstance(one, str) for names in lists.values() for one in names):
            raise ValueError("a column has a name or a word that is no text")
        given: dict[str, Any] = {**document, **lists}
        return cls(**given)

    def _parts(self, cells: Cells) -> Matrix:
        """The parts of dates side by side; a missing one has no place in year, week and day."""
        moment = dates.seconds(cells, DateOrder(self.order))
        lost = np.isnan(moment)
        filled = np.where(lost, self.median, moment)
        columns = {part: dates.PARTS[part](filled) for part in self.parts}
        for part, made in columns.items():
            if part != "time":
                made[lost] = 0.0
        return np.hstack(list(columns.values()))

    def _one_hot(self, cells: Cells) -> Matrix:
        """A one where a row has the column's word, else zeros."""
        places: dict[Any, int] = {word: place for place, word in enumerate(self.words)}
        # A file of new rows may have no word in the column but numbers only.
        sizes = {size: place for word, place in places.items() for size in _sizes(word)}

        def place(cell: object) -> int:
            size = sizes.get(cell, -1) if isinstance(cell, float) else -1
            return places.get(_word(cell), size)

        return np.vstack([np.eye(len(places)), np.zeros(len(places))])[mapped(cells, place)]


def encode(name: str, cells: Cells) -> Encoded:
    """Fit an encoder to a column and apply it.

    Args:
        name: what the column is called.
        cells: one per row.
    """
    encoder = fit_encoder(name, cells)
    return Encoded(encoder.features, encoder.apply(cells), encoder.note)


def fit_encoder(name: str, cells: Cells, kind: str | None = None) -> Encoder:
    """Fit an encoder: median imputation of numbers, one-hot encoding of few words, parts of dates.

    Args:
        name: what the column is called.
        cells: one per row.
        kind: "number", "category" or "date" where a user says so; None to infer it, and to leave
            out what numbers the rows, is a code, or says nothing.
    """
    if kind is not None:
        return _as_told(name, cells, kind)
    kinds = set(map(type, cells)) - {type(None)}
    if not kinds <= {str, float, int, bool}:  # NaN among dates is a gap, and no number
        kinds = {type(cell) for cell in cells if not is_missing(cell)}
    if all(issubclass(kind, (*NUMBERS, dt.timedelta)) for kind in kinds):
        return _numbers(name, "truths" if kinds and kinds <= set(TRUTHS) else "numbers", cells)
    if all(issubclass(kind, (str, *NUMBERS)) for kind in kinds):
        return _text(name, cells)
    if all(issubclass(kind, dates.TIMES) for kind in kinds):
        return _dates(name, cells, DateOrder.YEAR_FIRST)
    return _left_out(f"column {name} holds neither numbers nor words and was left out.", name)


def _as_told(name: str, cells: Cells, kind: str) -> Encoder:
    """An encoder of the kind that a user names, or one sentence on why it cannot be."""
    made = _AS_TOLD[kind](name, cells)
    if not made.features:
        why = (
            made.note.removeprefix(f"column {name} ").removesuffix("and was left out.").strip(" ,")
        )
        raise ValueError(
            f"columns must tell rows apart; got {name!r} as a {kind}, but it {why.strip(' ,')}. "
            "Leave it out, or say another kind."
        )
    return made


def _told_numbers(name: str, cells: Cells) -> Encoder:
    """Numbers, whatever they are called."""
    if not np.isfinite(number_values(cells)).any():
        return _left_out(f"column {name} holds no numbers and was left out.", name)
    return _imputed(name, "numbers", cells)


def _told_words(name: str, cells: Cells) -> Encoder:
    """Words, also such as are many."""
    return _words(name, sorted(set(mapped(cells, _word))), MOST_WORDS)


def _told_dates(name: str, cells: Cells) -> Encoder:
    """Dates, if they are some."""
    words = {cell.strip() for cell in cells if isinstance(cell, str)}
    order = dates.date_order(words)
    if order is None:
        return _left_out(f"column {name} holds no dates and was left out.", name)
    return _dates(name, cells, order)


_AS_TOLD: dict[str, Callable[[str, Cells], Encoder]] = {
    "number": _told_numbers,
    "category": _told_words,
    "date": _told_dates,
}


def mapped(cells: Cells, function: Callable[[Any], Entry]) -> list[Entry]:
    """Map with memoisation: a function applied to each cell, once to a word that recurs."""
    if not set(map(type, cells)) <= {str, type(None)}:
        return [function(cell) for cell in cells]
    made = {cell: function(cell) for cell in set(cells)}
    return [made[cell] for cell in cells]


def is_missing(cell: object) -> bool:
    """Whether a cell says nothing; an infinite number says nothing either."""
    if isinstance(cell, int):  # it may be too long for a float
        return not abs(cell) < LARGEST
    if isinstance(cell, float | np.floating):
        return not abs(float(cell)) < LARGEST
    if isinstance(cell, Decimal):
        return not cell.is_finite() or is_missing(float(cell))
    return cell is None


def cell_text(cell: object) -> str:
    """A cell that is there as text: whole numbers without a point."""
    if isinstance(cell, NUMBERS) and not isinstance(cell, TRUTHS):
        return str(cell) if isinstance(cell, int) else _written(float(cell) + 0.0)  # -0 is 0
    return str(cell)


def number_values(cells: Cells) -> Array:
    """The cells as numbers, NaN where there is none."""
    try:
        # The quick way, for what tables of numbers hold.
        quick = set(map(type, cells)) <= {float, int, bool, type(None)}
        values = np.array(cells if quick else [_value(cell) for cell in cells], dtype=float)
    except OverflowError:
        values = np.array([_value(cell) for cell in cells], dtype=float)
    values[~(np.abs(values) < LARGEST)] = np.nan
    return values


def _value(cell: object) -> float:
    """The number that a cell is or says."""
    if isinstance(cell, str):
        return _said(cell.strip())
    if isinstance(cell, dt.timedelta):
        return cell.total_seconds() / dates.DAY
    return float(cell) if isinstance(cell, NUMBERS) and not is_missing(cell) else np.nan


def _said(word: str) -> float:
    """The number that a word says; NaN if it says none, or if there are two ways to read it."""
    sizes = _sizes(word)
    return TRUTH.get(word.lower(), sizes.pop() if len(sizes) == 1 else np.nan)


def _sizes(word: str) -> set[float]:
    """The numbers that a word may say: more than one where it may be written in several ways."""
    return {float(word)} if is_number(word) else numeral_readings(word)


def _numbers(name: str, kind: str, cells: Cells) -> Encoder:
    """The numbers, unless they are names or codes, missing ones set to the median of the others."""
    values = number_values(cells)
    if numbers_rows(name, values):
        return _left_out(f"column {name} numbers the rows and was left out.", name)
    present = np.unique(values[~np.isnan(values)])
    if kind == "numbers" and len(present) > 1 and _are_named_codes(name, present):
        if len(present) > MANY_WORDS:
            return _left_out(f"column {name} holds codes and was left out.", name)
        return _words(name, sorted(set(mapped(cells, _word))))
    return _imputed(name, kind, cells)


def _imputed(name: str, kind: str, cells: Cells) -> Encoder:
    """Numbers, missing ones set to the median of the others."""
    values = number_values(cells)
    lost = np.isnan(values)
    if lost.all():
        return _left_out(f"column {name} was empty and was left out.", name)
    present = values[~lost]
    if present.min() == present.max():
        return _left_out(f"column {name} was constant and was left out.", name)
    count = int(lost.sum())
    note = (
        f"{count} of {len(cells)} cells of column {name} {_was(count)} missing "
        f"and {_was(count)} set to the column's median."
    )
    median = float(np.median(present))
    return Encoder(name, kind, (name,), median, note=note if count else "")


def numbers_rows(name: str, values: Array) -> bool:
    """Whether numbers name the rows: whole, all different, and called so or without a gap."""
    if not (values == np.round(values)).all() or len(np.unique(values)) < len(values):
        return False
    is_run = len(values) >= RUN and values.max() - values.min() == len(values) - 1
    return is_run or bool(ROW_NAMES.fullmatch(name.lower())) or is_called(name, NAMING)


def _are_named_codes(name: str, values: Array) -> bool:
    """Whether numbers are codes: whole, and called so."""
    return bool((values == np.round(values)).all()) and is_called(name, CODING)


def is_called(name: str, words: frozenset[str]) -> bool:
    """Whether a word is part of a name, as id is of PassengerId and passenger_id."""
    return any(part.lower() in words for part in NAME_PART.findall(name))


def _dates(name: str, cells: Cells, order: DateOrder) -> Encoder:
    """The parts of dates that tell rows apart."""
    moment = dates.seconds(cells, order)
    present = moment[~np.isnan(moment)]
    if not len(present):
        return _left_out(f"column {name} was empty and was left out.", name)
    parts = dates.parts_that_vary(present)
    if not parts:
        return _left_out(f"column {name} was constant and was left out.", name)
    ends = {part: ("",) if part == "time" else (", cos", ", sin") for part in parts}
    features = tuple(f"{name} ({part}{end})" for part in parts for end in ends[part])
    lost = len(moment) - len(present)
    gaps = f"; {lost} of {len(cells)} {_was(lost)} missing" if lost else ""
    written = "" if order is DateOrder.YEAR_FIRST else f", {order},"
    note = f"column {name} holds dates{written} and became {', '.join(parts)}{gaps}."
    return Encoder(
        name, "dates", features, float(np.median(present)), note=note, parts=parts, order=order
    )


def _text(name: str, cells: Cells) -> Encoder:
    """A column of words, unless they are truths or dates."""
    lost = sum(mapped(cells, is_missing))
    different = set(mapped(cells, _word)) - ({MISSING_WORD} if lost else set())
    if all(word.lower() in TRUTH for word in different):
        return _numbers(name, "truths", cells)
    if (order := dates.date_order(different)) is not None:
        return _dates(name, cells, order)
    if len(different) == len(cells) - lost > len(cells) / 2:
        return _left_out(f"column {name} has another word in every row and was left out.", name)
    made = _words(name, sorted(different | ({MISSING_WORD} if lost else set())))
    if made.features and lost > len(cells) / 2:
        return replace(made, note=f"{made.note} {MOSTLY_EMPTY}")
    return made


def _words(name: str, values: Sequence[str], most: int = MANY_WORDS) -> Encoder:
    """One column of zeros and ones for each word, if they are few."""
    if len(values) == 1:
        return _left_out(f"column {name} was constant and was left out.", name)
    count = f"column {name} has {len(values)} different words"
    if len(values) > most:
        return _left_out(f"{count}, more than {most}, and was left out.", name)
    counted = ", missing cells counted as one," if MISSING_WORD in values else ""
    note = f"{count}{counted} and became {len(values)} columns."
    features = tuple(f"{name} = {value}" for value in values)
    return Encoder(name, "words", features, words=tuple(values), note=note)


def _word(cell: object) -> str:
    """A cell among words as one: whole numbers without a point."""
    return MISSING_WORD if is_missing(cell) else cell_text(cell)


def _left_out(note: str, name: str) -> Encoder:
    """No column at all, and why."""
    return Encoder(name, "nothing", note=note)


def _was(count: int) -> str:
    """The verb that fits the count."""
    return "was" if count == 1 else "were"


# ---------------------------------------------------------------- labels
def encode_classes(name: str, cells: Cells) -> tuple[tuple[str, ...], Places]:
    """Ordinal encoding of labels: the sorted classes, and the place of each row's class.

    Args:
        name: what the label column is called.
        cells: the label of each row, none missing.
    """
    numeric = all(isinstance(cell, NUMBERS) and not isinstance(cell, TRUTHS) for cell in cells)
    given = [float(cell) + 0.0 if numeric else str(cell) for cell in cells]  # -0 is 0
    found = sorted(set(given))
    _check_classes(name, len(found), len(given), "numbers" if numeric else "words")
    places = {value: place for place, value in enumerate(found)}
    codes = np.array([places[value] for value in given], dtype=np.intp)
    return tuple(_written(value) for value in found), codes


def _check_classes(name: str, count: int, rows: int, kind: str) -> None:
    """Refuse labels that make no classes."""
    if count < 2:  # noqa: PLR2004 - a choice needs two
        raise ValueError(
            f"label must name a column with at least 2 different labels; got {name!r} "
            f"with {count}. Name another column."
        )
    if kind == "numbers" and count > MANY_NUMBERS and count > SHARE * rows:
        raise ValueError(
            f"label must name a column of classes; got {name!r} with {count} different numbers, "
            "which looks like a number to be predicted. Name another column."
        )
    if count == rows:
        raise ValueError(
            f"label must name a column in which labels recur; got {name!r} with other {kind} in "
            f"each of {rows} rows. Name another column."
        )


def _written(value: float | str) -> str:
    """A label as text: whole numbers without a point."""
    return value if isinstance(value, str) else repr(float(value)).removesuffix(".0")
