"""Columns of any table as numbers and labels: what stays, what is filled in, what is left out."""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from possibal.arrays import Matrix, Places

Cells: TypeAlias = Sequence[Any]
"""One cell per row: a number, a word, a date or anything else; None where it is missing."""

MANY_WORDS = 20
"""More different words than these make no columns."""
MANY_NUMBERS, SHARE = 20, 0.1
"""More different numbers than these, and than this share of the rows, are no labels."""
LARGEST = 1e150
"""Numbers beyond count as infinite: their squares are none."""

MISSING = frozenset(["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null"])
"""Texts that stand for a missing cell. None is not among them: it is often a word of its own."""
MISSING_WORD = "missing"
TRUTH = {"false": 0.0, "true": 1.0}
ROW_NAMES = re.compile(r"(|id|index|row|row[ _]?(id|number)|unnamed:? ?\d+|__index_level_\d+__)")
"""Names of columns that number the rows, if their cells do."""
DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
TRUTHS = (bool, np.bool_)
NUMBERS = (*TRUTHS, int, float, Decimal, np.number)
TIMES = (dt.date, dt.time, dt.timedelta)


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length, as a file holds them."""

    names: tuple[str, ...]
    columns: tuple[Cells, ...]


@dataclass(frozen=True, eq=False)
class Encoded:
    """What a column became.

    Attributes:
        features: names of the columns it became; none if it was left out.
        X: (n, number of features).
        note: a sentence about what was done; empty if it stayed as it was.
    """

    features: tuple[str, ...]
    X: Matrix
    note: str


# ---------------------------------------------------------------- tables
def from_pandas(frame: Any) -> Table:  # noqa: ANN401 - pandas is not always there
    """The table of a pandas frame, whatever its types of columns."""
    columns = list[Cells]()
    for place in range(frame.shape[1]):
        series = frame.iloc[:, place]
        cells = zip(series.astype(object).tolist(), series.isna().tolist(), strict=True)
        columns.append([None if lost else cell for cell, lost in cells])
    return Table(distinct(str(name) for name in frame.columns), tuple(columns))


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each given once: one that is blank or taken is numbered."""
    found = dict[str, None]()  # a set that keeps its order
    for place, given in enumerate(names, start=1):
        name = given.strip() or f"unnamed {place}"
        again = 2
        while name in found:
            name, again = f"{given.strip()} ({again})", again + 1
        found[name] = None
    return tuple(found)


def typed(words: Iterable[str], decimal: str = ".") -> list[Any]:
    """Text as what it says: numbers if every cell that is there is one, else words.

    Args:
        words: the cells as written.
        decimal: what separates the whole part of a number from the rest; a point always may.
    """
    stripped = (word.strip() for word in words)
    cells = [None if word in MISSING else word for word in stripped]
    try:
        return [None if word is None else _number(word.replace(decimal, ".")) for word in cells]
    except ValueError:
        return cells


def is_number(word: str) -> bool:
    """Whether text is a number."""
    try:
        _number(word)
    except ValueError:
        return False
    return True


def _number(word: str) -> float:
    """The number a word is; Python would read 1_2 as twelve, but in a table it is a code."""
    if "_" in word:
        raise ValueError(word)
    return float(word)


# ---------------------------------------------------------------- inputs
def encode(name: str, cells: Cells) -> Encoded:
    """The column as numbers: numbers filled with their median, few words as one column each.

    Args:
        name: what the column is called.
        cells: one per row.
    """
    cells = [None if is_missing(cell) else cell for cell in cells]
    present = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, NUMBERS) for cell in present):
        return _numbers(name, [np.nan if cell is None else float(cell) for cell in cells])
    if all(isinstance(cell, TIMES) for cell in present):
        return _left_out(cells, f"column {name} holds dates and was left out.")
    if all(isinstance(cell, (str, *NUMBERS)) for cell in present):
        return _text(name, [None if cell is None else str(cell) for cell in cells])
    return _left_out(cells, f"column {name} holds neither numbers nor words and was left out.")


def is_missing(cell: object) -> bool:
    """Whether a cell says nothing; an infinite number says nothing either."""
    if isinstance(cell, float | np.floating | Decimal):
        return not abs(float(cell)) < LARGEST
    return cell is None


def _numbers(name: str, given: Sequence[float]) -> Encoded:
    """The numbers, missing ones set to the median of the others."""
    values = np.array(given, dtype=float)
    lost = np.isnan(values)
    if lost.all():
        return _left_out(given, f"column {name} was empty and was left out.")
    filled = np.where(lost, np.median(values[~lost]), values)
    if filled.min() == filled.max():
        return _left_out(given, f"column {name} was constant and was left out.")
    if ROW_NAMES.fullmatch(name.lower()) and _counts(values):
        return _left_out(given, f"column {name} numbers the rows and was left out.")
    count = int(lost.sum())
    note = (
        f"{count} of {len(given)} cells of column {name} {_was(count)} missing "
        f"and {_was(count)} set to the column's median."
    )
    return Encoded((name,), filled[:, None], note if count else "")


def _counts(values: Matrix) -> bool:
    """Whether all numbers are whole and different."""
    return bool((values == np.round(values)).all()) and len(np.unique(values)) == len(values)


def _text(name: str, words: Sequence[str | None]) -> Encoded:
    """A column of words, unless they are truths or dates."""
    present = [word for word in words if word is not None]
    if all(word.lower() in TRUTH for word in present):
        return _numbers(name, [np.nan if word is None else TRUTH[word.lower()] for word in words])
    if all(DATE.fullmatch(word) for word in present):
        return _left_out(words, f"column {name} holds dates and was left out.")
    if len(set(present)) == len(present) > len(words) / 2:
        return _left_out(words, f"column {name} has another word in every row and was left out.")
    return _one_hot(name, [MISSING_WORD if word is None else word for word in words])


def _one_hot(name: str, words: Sequence[str]) -> Encoded:
    """One column of zeros and ones for each word, if they are few."""
    values = sorted(set(words))
    if len(values) == 1:
        return _left_out(words, f"column {name} was constant and was left out.")
    count = f"column {name} has {len(values)} different words"
    if len(values) > MANY_WORDS:
        return _left_out(words, f"{count}, more than {MANY_WORDS}, and was left out.")
    places = {value: place for place, value in enumerate(values)}
    X = np.eye(len(values))[[places[word] for word in words]]
    counted = ", missing cells counted as one," if MISSING_WORD in places else ""
    note = f"{count}{counted} and became {len(values)} columns."
    return Encoded(tuple(f"{name} = {value}" for value in values), X, note)


def _left_out(cells: Cells, note: str) -> Encoded:
    """No column at all, and why."""
    return Encoded((), np.empty((len(cells), 0)), note)


def _was(count: int) -> str:
    """The verb that fits the count."""
    return "was" if count == 1 else "were"


# ---------------------------------------------------------------- labels
def classes(name: str, cells: Cells) -> tuple[tuple[str, ...], Places]:
    """The labels in order, numbers by size and words by spelling, and each row's place among them.

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
