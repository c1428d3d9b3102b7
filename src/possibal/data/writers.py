"""Serialisation of columns as CSV, Parquet or JSON lines, with escapes against CSV injection.

write_sheet(columns, ".csv") -> bytes, which readers.read_sheet reads back as the same text.
"""

import csv
import json
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

from possibal.arguments import choice
from possibal.data.encoders import Cells, Table, cell_text
from possibal.data.name_types import written
from possibal.errors import INSTALL, MissingPackageError
from possibal.files import is_there

FORMULA = re.compile(r"['=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 - wide signs begin formulas too
"""What a spreadsheet may take for the beginning of a formula, and the mark that prevents it."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
SPECIAL = re.compile(r"[\",;\t\r\n]|^\s|\s$")
"""What a cell needs quotation marks for."""

LONGEST_LINE = 10_000_000
"""Characters of the first line of a file that are read to see what it is."""
PREFIX = "row "
"""Put before the name of a user's column that another column has."""

Cell: TypeAlias = Hashable


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class SheetColumn:
    """A column to write: all text, all floats, or names of one type; None where a cell is empty."""

    name: str
    cells: Sequence[Cell]
    is_number: bool = False


def write_sheet(columns: Sequence[SheetColumn], ending: str) -> bytes:
    """Columns of equal length as a file of that ending, one of `WRITERS`."""
    return choice("ending", ending, WRITERS)(columns)


def user_columns(table: Table, taken: Sequence[str]) -> list[SheetColumn]:
    """The columns of a table to write beside others; one whose name is taken gets another.

    Whole numbers are written without a point, dates as ISO 8601 has them.
    """
    columns, names = list[SheetColumn](), set(taken)
    for given, cells in zip(table.names, table.columns, strict=True):
        name = given
        while name in names:
            name = f"{PREFIX}{name}"
        names.add(name)
        columns.append(SheetColumn(name, _plain_numbers(cells)))
    return columns


def _plain_numbers(cells: Cells) -> list[Cell]:
    """Cells, whole numbers as such where all are; what is no text, number or date as text."""
    present = [cell for cell in cells if cell is not None]
    if present and all(isinstance(cell, float) and cell.is_integer() for cell in present):
        return [None if cell is None else int(cell) for cell in cells]
    if {type(cell) for cell in present} <= {str, int, bool} or all(
        isinstance(cell, float) for cell in present
    ):
        return list(cells)
    return [None if cell is None else cell_text(cell) for cell in cells]


def ending_of(path: Path, argument: str) -> str:
    """The format by the ending of a file, or one sentence that lists those there are."""
    found = next((one for one in WRITERS if path.name.lower().endswith(one)), None)
    if found is None:
        raise ValueError(
            f"{argument} must end in {', '.join(WRITERS)}; got {str(path)!r}. Choose one of these."
        )
    return found


def check_overwritten(path: Path, argument: str, heads: Sequence[str], *, force: bool) -> None:
    """Refuse to write over a file, unless it was written by us or the user insists.

    Args:
        path: where to write.
        argument: its name.
        heads: what the first columns of such a file are called.
        force: whether the user insists.
    """
    if force or not is_there(path) or not path.stat().st_size:
        return
    if _first_names(path, ending_of(path, argument))[: len(heads)] != list(heads):
        raise ValueError(
            f"{argument} must be a new file, or one that this command wrote; got {str(path)!r}, "
            "which exists and is another. Choose another, or write over it with --force."
        )


def _first_names(path: Path, ending: str) -> list[str]:
    """What the columns of a file are called; none where it is no table of that ending."""
    try:
        if ending == ".parquet":
            import polars as pl

            return list(pl.read_parquet_schema(path))
        with path.open(encoding="utf-8") as file:
            line = file.readline(LONGEST_LINE)
        return list(json.loads(line) if ending == ".jsonl" else next(csv.reader([line])))
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it is none of ours
        return []


def escape_formula(text: str) -> str:
    """CSV injection guard: an apostrophe before what a spreadsheet may take for a formula."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unescape_formula(text: str) -> str:
    """Inverse of :func:`escape_formula`; an apostrophe that marks nothing stays."""
    return text[1:] if text.startswith("'") and FORMULA.match(text, 1) else text


def _as_csv(columns: Sequence[SheetColumn]) -> bytes:
    """Lines that end in a line feed, in UTF-8."""
    rows = zip(*([column.name, *column.cells] for column in columns), strict=True)
    lines = [",".join(_quoted(cell) for cell in row) for row in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def _quoted(cell: Cell) -> str:
    """A cell that no spreadsheet misreads, in quotation marks if it needs them."""
    said = repr(cell) if isinstance(cell, float) else escape_formula(_plain(cell))
    doubled = said.replace('"', '""')
    return f'"{doubled}"' if SPECIAL.search(said) else said


def _plain(cell: Cell) -> str:
    """A cell as text, empty where there is none."""
    return "" if cell is None else written(cell)


def _as_json_lines(columns: Sequence[SheetColumn]) -> bytes:
    """One object in each line, in UTF-8."""
    names = [column.name for column in columns]
    rows = zip(*(column.cells for column in columns), strict=True)
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    lines = [json.dumps(one, ensure_ascii=False, default=written) for one in objects]
    return "".join(f"{line}\n" for line in lines).encode()


def _as_parquet(columns: Sequence[SheetColumn]) -> bytes:
    """Columns of text, of floats, and of names that keep their type, by polars."""
    try:
        import polars as pl
    except ImportError:
        raise MissingPackageError(
            f"Writing Parquet needs polars, which is not installed: {INSTALL}"
        ) from None
    kinds: dict[type, Any] = {int: pl.Int64, bool: pl.Boolean, float: pl.Float64}

    def series(column: SheetColumn) -> Any:  # noqa: ANN401 - of polars
        """A column in a type of its own."""
        types = {type(cell) for cell in column.cells if cell is not None}
        (only,) = types if len(types) == 1 else (str,)
        if column.is_number or only in kinds:
            return pl.Series(column.name, column.cells, dtype=kinds.get(only, pl.Float64))
        return pl.Series(column.name, [cell and written(cell) for cell in column.cells], pl.String)

    buffer = BytesIO()
    pl.DataFrame([series(column) for column in columns]).write_parquet(buffer)
    return buffer.getvalue()


WRITERS: dict[str, Callable[[Sequence[SheetColumn]], bytes]] = {
    ".csv": _as_csv,
    ".parquet": _as_parquet,
    ".jsonl": _as_json_lines,
}
"""By the ending of a file."""
