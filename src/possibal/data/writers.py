"""Columns of text and numbers as files for other programs, and text read back as it was written.

written(columns, ".csv") -> bytes        read(path) -> Sheet

Tables of data are read by the tables module, which takes digits for numbers. Here a cell says what
it says: 007 stays 007, and NA is a word.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, TypeAlias

from possibal.arguments import choice
from possibal.data import readers
from possibal.data.decoding import decode, no_progress, read_file
from possibal.data.encoders import cell_text as as_text
from possibal.data.encoders import is_missing
from possibal.errors import MissingPackageError

FORMULA = re.compile(r"['=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 - wide signs begin formulas too
"""What a spreadsheet may take for the beginning of a formula, and the mark that prevents it."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
SPECIAL = re.compile(r"[\",;\t\r\n]|^\s|\s$")
"""What a cell needs quotation marks for."""

Cell: TypeAlias = str | float | None
Row: TypeAlias = tuple[str, Sequence[str | None]]
"""Where a row stands in a file, and its cells."""


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class SheetColumn:
    """A column to write: all text, or all floats; None where a cell is empty."""

    name: str
    cells: Sequence[Cell]
    is_number: bool = False


@dataclass(frozen=True, eq=False)
class Sheet:
    """What a file holds: the names of its columns, and its rows."""

    names: tuple[str, ...]
    rows: list[Row]


# ---------------------------------------------------------------- out
def write_sheet(columns: Sequence[SheetColumn], ending: str) -> bytes:
    """Columns of equal length as a file of that ending, one of `WRITERS`."""
    return choice("ending", ending, WRITERS)(columns)


def ending_of(path: Path, argument: str) -> str:
    """What a file is written or read as, or one sentence that says what it may be."""
    found = next((one for one in WRITERS if path.name.lower().endswith(one)), None)
    if found is None:
        raise ValueError(
            f"{argument} must end in {', '.join(WRITERS)}; got {str(path)!r}. Choose one of these."
        )
    return found


def escape_formula(text: str) -> str:
    """The text, marked with an apostrophe if a spreadsheet might take it for a formula."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unescape_formula(text: str) -> str:
    """The text that :func:`safe` was given; an apostrophe that marks nothing stays."""
    return text[1:] if text.startswith("'") and FORMULA.match(text, 1) else text


def _as_csv(columns: Sequence[SheetColumn]) -> bytes:
    """Lines that end in a line feed, in UTF-8."""
    rows = zip(*([column.name, *column.cells] for column in columns), strict=True)
    lines = [",".join(_quoted(cell) for cell in row) for row in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def _quoted(cell: Cell) -> str:
    """A cell that no spreadsheet misreads, in quotation marks if it needs them."""
    said = repr(cell) if isinstance(cell, float) else escape_formula(str(cell or ""))
    doubled = said.replace('"', '""')
    return f'"{doubled}"' if SPECIAL.search(said) else said


def _as_json_lines(columns: Sequence[SheetColumn]) -> bytes:
    """One object in each line, in UTF-8."""
    names = [column.name for column in columns]
    rows = zip(*(column.cells for column in columns), strict=True)
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects).encode()


def _as_parquet(columns: Sequence[SheetColumn]) -> bytes:
    """Columns of text and of floats, by polars."""
    try:
        polars = import_module("polars")
    except ImportError:
        raise MissingPackageError(
            f"Writing Parquet needs polars, which is not installed: {readers.INSTALL}"
        ) from None
    kinds = {True: polars.Float64, False: polars.String}
    series = [polars.Series(c.name, c.cells, dtype=kinds[c.is_number]) for c in columns]
    buffer = BytesIO()
    polars.DataFrame(series).write_parquet(buffer)
    return buffer.getvalue()


WRITERS: dict[str, Callable[[Sequence[SheetColumn]], bytes]] = {
    ".csv": _as_csv,
    ".parquet": _as_parquet,
    ".jsonl": _as_json_lines,
}
"""By the ending of a file."""


# ---------------------------------------------------------------- in
def read_sheet(path: Path, encoding: str | None = None) -> Sheet:
    """What a file holds as text; of a CSV file, with no mark against formulas.

    Args:
        path: a file that ends as one of `WRITERS`.
        encoding: of its text; if left out, what its byte order mark says, else UTF-8.
    """
    if ending_of(path, "file") == ".csv":
        return _from_csv(path, encoding)
    table = readers.read_table(path, encoding).table
    rows = zip(*([_text(cell) for cell in cells] for cells in table.columns), strict=True)
    return Sheet(table.names, [(f"row {n}", row) for n, row in enumerate(rows, start=1)])


def _text(cell: object) -> str | None:
    """A cell as text; None where it is missing."""
    return None if is_missing(cell) else as_text(cell)


def _from_csv(path: Path, encoding: str | None) -> Sheet:
    """The names and the rows of a text, its separator guessed from the first line."""
    content = read_file(path, encoding, no_progress)
    text = decode(content)
    first = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]
    separator = max(readers.SEPARATORS, key=lambda s: len(next(csv.reader([first], delimiter=s))))
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = list[Row]()
    try:
        for row, began in _numbered(reader):
            rows.append((f"line {began}", [unescape_formula(cell) for cell in row]))
            if len(row) != len(rows[0][1]):
                rule = f"have as many cells in each line as in the first, {len(rows[0][1])}"
                raise content.refused(rule, f"{len(row)} at line {began}", "Complete the line.")
    except csv.Error as error:
        got = f"{error} at line {reader.line_num}"
        raise content.refused("be sound CSV", got, "Mend the line.") from None
    names = tuple((name or "").strip() for name in rows[0][1])
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise content.refused("name each column once", f"{twice!r} twice", "Rename one of them.")
    return Sheet(names, rows[1:])


def _numbered(reader: Any) -> Iterator[tuple[list[str], int]]:  # noqa: ANN401 - csv names no type
    """The rows that are not blank, each with the line where it begins."""
    began = 1
    for row in reader:
        if row:
            yield row, began
        began = reader.line_num + 1
