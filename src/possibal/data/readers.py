"""Any file as a table: CSV, TSV, Parquet, JSON lines or ARFF, read strictly or refused."""

import csv
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from reprlib import repr as brief
from typing import Any, TypeAlias

from possibal.data import encoders
from possibal.data.decoding import (
    CONTROL,
    LINE_END,
    PARSED,
    Lines,
    Progress,
    RawFile,
    character,
    check_folder,
    decode,
    no_progress,
    read_file,
    reason,
)
from possibal.data.encoders import Cells, Table, unique_names
from possibal.data.frames import from_pandas
from possibal.errors import MissingPackageError

OFTEN = 10
"""Rows between two looks at the progress."""
MOST_COLUMNS = 2000
"""More are no table for people."""
LONGEST_CELL = 1_000_000
"""Characters; more are a file in a cell."""
SEPARATORS = ",;\t"
FIRST = re.compile(r"[^\r\n]*\S[^\r\n]*")
"""The first line that is not blank."""
INSTALL = "run pip install 'possibal[experiments]'."

# The csv module has one limit for the whole process, 131072 characters. It is raised once, and so
# high that a quotation mark left open is found as such; the length of cells is checked here.
csv.field_size_limit(2**31 - 1)


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class ParsedFile:
    """A table, and what was done to read it.

    Attributes:
        table: columns of equal length, at least one row.
        notes: plain sentences.
    """

    table: Table
    notes: tuple[str, ...]


Reader: TypeAlias = Callable[[RawFile], ParsedFile]


# ---------------------------------------------------------------- the face
def read_table(
    path: Path, encoding: str | None = None, progress: Progress = no_progress
) -> ParsedFile:
    """The table of a file that ends as one of `READERS`.

    Args:
        path: the file.
        encoding: of its text; if left out, what its byte order mark says, else UTF-8.
        progress: is told the share done, up to a hundred times, the last time 1.0.
    """
    check_folder(path)
    known = ending(path)
    if known is None:
        raise ValueError(
            f"file must end in {', '.join(READERS)}; got {str(path)!r}. Save it as one of these."
        )
    content = read_file(path, encoding, progress)
    found = READERS[known](content)
    content.progress(1.0)
    return found


def ending(path: Path) -> str | None:
    """The ending by which the file is read; None if it has none of `READERS`."""
    return next((one for one in READERS if path.name.lower().endswith(one)), None)


# ---------------------------------------------------------------- tables
def _names(content: RawFile, given: Sequence[str]) -> tuple[str, ...]:
    """The names of columns, blank ones numbered; none may come twice."""
    if len(given) > MOST_COLUMNS:
        raise content.refused(
            f"have at most {MOST_COLUMNS} columns",
            str(len(given)),
            "Keep fewer, or give the numbers as a .npy file with --features.",
        )
    places = dict[str, int]()
    for place, name in enumerate(map(str.strip, given), start=1):
        if name in places:
            got = f"{brief(name)} for columns {places[name]} and {place}"
            raise content.refused("name each column once", got, "Rename one of them.")
        places |= {name: place} if name else {}
    return unique_names(given)


def _checked(
    content: RawFile, table: Table, lines: Sequence[int] = (), notes: tuple[str, ...] = ()
) -> ParsedFile:
    """The table, if it has rows and none of its cells is huge or binary.

    Args:
        content: where it comes from.
        table: as read.
        lines: in which line each row begins, if it is a matter of lines.
        notes: what was done.
    """
    if not table.columns or not len(table.columns[0]):
        raise content.refused("have rows", "none", "Add rows below the names of the columns.")
    for name, cells in zip(table.names, table.columns, strict=True):
        # All at once, since a look at each cell would take longer than to read it.
        if str in set(map(type, cells)) and _is_any_bad(cells):
            row = next(i for i, cell in enumerate(cells) if isinstance(cell, str) and _is_bad(cell))
            place = f"line {lines[row]}" if lines else f"row {row + 1}"
            raise _bad_cell(content, cells[row], f"{place}, column {brief(name)},")
    return ParsedFile(table, notes)


def _is_any_bad(cells: Cells) -> bool:
    """Whether there is text that is too long, or none."""
    words = [cell for cell in cells if isinstance(cell, str)]
    return max(map(len, words)) > LONGEST_CELL or CONTROL.search("".join(words)) is not None


def _is_bad(cell: str) -> bool:
    """Whether text is too long, or none."""
    return len(cell) > LONGEST_CELL or CONTROL.search(cell) is not None


def _bad_cell(content: RawFile, cell: str, place: str) -> ValueError:
    """The sentence on text that is too long, or none."""
    found = CONTROL.search(cell)
    if found:
        got = f"{character(found)} at {place}"
        return content.refused("hold text, no binary data", got, "Take it out.")
    got = f"{len(cell)} at {place}"
    rule = f"have at most {LONGEST_CELL} characters in a cell"
    return content.refused(rule, got, "Shorten the text.")


# ---------------------------------------------------------------- CSV
def _csv(content: RawFile) -> ParsedFile:
    """A table of text, its separator guessed: the one that its first line has most of."""
    text = decode(content)
    first = next(FIRST.finditer(text)).group()
    separator = max(SEPARATORS, key=lambda s: max(map(len, csv.reader([first], delimiter=s))))
    return _separated(content, text, separator)


def _tsv(content: RawFile) -> ParsedFile:
    """A table of text separated by tabs."""
    return _separated(content, decode(content), "\t")


def _separated(content: RawFile, text: str, separator: str) -> ParsedFile:
    """The table of a text whose first line has the names."""
    names, rows, lines = _rows(content, text, separator)
    # Where a semicolon separates cells, a comma may separate decimals.
    decimal = "," if separator == ";" else "."
    cells = list[Cells]()
    for words in zip(*rows, strict=True):
        cells.append(_typed(words, decimal))
        content.progress(PARSED + (1 - PARSED) * len(cells) / len(names))
    note = "the first line was taken as the names of the columns, though most are numbers."
    odd = sum(encoders.is_number(name) for name in names) > len(names) / 2
    return _checked(content, Table(names, tuple(cells)), lines, (note,) if odd else ())


def _rows(
    content: RawFile, text: str, separator: str
) -> tuple[tuple[str, ...], list[list[str]], list[int]]:
    """The names, the rows, all of one length, and where they begin; blank lines do not count."""
    # Strict, lest a quotation mark that is never closed swallow the rest of the file.
    lines = StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    names, rows, places, began = (), list[list[str]](), list[int](), 1
    try:
        for row in reader:
            if row and not names:
                names = _names(content, row)
            elif row:
                rows.append(row)
                places.append(began)
            if row and len(row) != len(names):
                raise _ragged(content, names, len(row), began)
            began = reader.line_num + 1
            if len(rows) % OFTEN == 0:
                content.progress(PARSED * lines.tell() / len(text))
    except csv.Error as error:
        if "end of data" in str(error):
            raise _unclosed(content, text, separator, began) from None
        raise content.refused(
            "have a separator after a closing quotation mark",
            f"other text at line {reader.line_num}, in a row that begins at line {began},",
            "Write a quotation mark twice where it is part of a cell.",
        ) from None
    return names, rows, places


def _ragged(content: RawFile, names: Sequence[str], count: int, line: int) -> ValueError:
    """The sentence on a line that is too short or too long."""
    lost = f", none for column {brief(names[count])}," if count < len(names) else ""
    return content.refused(
        f"have as many cells in each line as in the first, {len(names)}",
        f"{count} at line {line}{lost}",
        "Complete the line, or quote cells that hold a separator.",
    )


def _unclosed(content: RawFile, text: str, separator: str, began: int) -> ValueError:
    """The sentence on a quotation mark that is never closed, in the row that begins at a line."""
    rest = islice(StringIO(text, newline=""), began - 1, None)
    # Not strict, the last cell of the row is all from the mark to the end of the file.
    *before, _ = next(csv.reader(rest, delimiter=separator, skipinitialspace=True))
    line = began + sum(len(LINE_END.findall(cell)) for cell in before)
    got = f"one left open at line {line}, column {len(before) + 1},"
    return content.refused("close each quotation mark", got, "Close it, or take it out.")


def _typed(words: Sequence[str], decimal: str) -> Cells:
    """The same as `columns.typed`, sooner where each cell is blank or a number with a point."""
    together, present = "".join(words), len(words) - words.count("")
    # A number has one point at most: as many points as numbers, and none is a code or missing.
    if together.count(".") == present and "_" not in together:
        with suppress(ValueError):
            return [float(word) if word else None for word in words]
    return encoders.infer_type(words, decimal)


# ---------------------------------------------------------------- JSON lines
def _json_lines(content: RawFile) -> ParsedFile:
    """A table of JSON objects, one in each line; a key is a column."""
    rows, lines = list[dict[str, Any]](), list[int]()
    for number, line in enumerate(Lines(decode(content), content.progress), start=1):
        if not line.isspace():
            rows.append(_object(content, line, number))
            lines.append(number)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    names = _names(content, keys)
    cells = tuple(_plain_all([row.get(key) for row in rows]) for key in keys)
    return _checked(content, Table(names, cells), lines)


def _object(content: RawFile, line: str, number: int) -> dict[str, Any]:
    """The object that a line holds."""
    try:
        value = JSON.decode(line)
        why = "" if isinstance(value, dict) else brief(value)
    except json.JSONDecodeError as error:
        value, why = {}, f"no JSON ({error.msg}, character {error.colno})"
    except (ValueError, RecursionError) as error:
        value, why = {}, str(error)
    if why:
        rule = "hold a JSON object in each line"
        raise content.refused(rule, f"{why} at line {number}", "Mend the line.")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of keys and values, no key twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        again = next(place for place, key in enumerate(keys) if key in keys[:place])
        first = keys.index(keys[again])
        raise ValueError(f"{brief(keys[again])} for keys {first + 1} and {again + 1}")
    return found


def _no_number(word: str) -> None:
    """Refuse what JSON does not have and Python's reader takes."""
    raise ValueError(f"{word}, which JSON does not have,")


# One for all lines: to make it takes as long as to read a line.
JSON = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)


def _plain_all(values: list[Any]) -> Cells:
    """The cells of a column; most hold only what is plain."""
    return (
        [_plain(value) for value in values] if {*map(type, values)} & {dict, list, int} else values
    )


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON holds anything
    """A cell: nested values as compact JSON, a whole number beyond floats as infinite."""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return float(str(value)) if isinstance(value, int) and abs(value) > encoders.LARGEST else value


# ---------------------------------------------------------------- ARFF
def _arff(content: RawFile) -> ParsedFile:
    """A table in Weka's format, as far as SciPy reads it."""
    text = decode(content)
    try:
        lines = Lines(text, content.progress)
        data, meta = import_module("scipy.io.arff").loadarff(lines)
    except NotImplementedError:
        why = "text attributes, which SciPy does not read,"
    except (StopIteration, IndexError, re.error):
        why = "no ARFF, or a line too short,"
    except (ValueError, LookupError, OSError) as error:
        sparse = re.search(r"^\s*\{", text, re.MULTILINE)
        why = "sparse lines, which SciPy does not read," if sparse else _beyond(error)
    else:
        names = _names(content, meta.names())
        cells = tuple([_decoded(cell) for cell in data[name].tolist()] for name in meta.names())
        return _checked(content, Table(names, cells))
    raise content.refused("be sound ARFF", why, "Save it as CSV.")


def _decoded(cell: Any) -> Any:  # noqa: ANN401 - a cell is anything
    """A cell of an ARFF file, its words as text."""
    if isinstance(cell, bytes):
        return None if cell == b"?" else cell.decode()
    return cell


# ---------------------------------------------------------------- Parquet
def _parquet(content: RawFile) -> ParsedFile:
    """A table in Parquet, by polars or else by pandas with pyarrow."""
    try:
        polars = import_module("polars")
    except ImportError:
        return _parquet_by_pandas(content)
    broken = (polars.exceptions.PolarsError, polars.exceptions.PanicException)
    try:
        names = _names(content, list(polars.read_parquet_schema(BytesIO(content.raw))))
        frame = polars.read_parquet(content.raw)
    except broken as error:
        raise content.refused("be sound Parquet", _beyond(error), "Save it anew.") from None
    cells = list[Cells]()
    for column in frame:
        cells.append(column.to_list())
        content.progress(len(cells) / len(names))
    return _checked(content, Table(names, tuple(cells)))


def _parquet_by_pandas(content: RawFile) -> ParsedFile:
    """The same where polars is missing."""
    try:
        frame = import_module("pandas").read_parquet(BytesIO(content.raw))
    except ImportError:
        raise MissingPackageError(
            "Reading Parquet needs polars, or pandas with pyarrow, and neither is installed: "
            + INSTALL
        ) from None
    except (OSError, ValueError, NotImplementedError) as error:
        raise content.refused("be sound Parquet", _beyond(error), "Save it anew.") from None
    names = _names(content, [str(name) for name in frame.columns])
    return _checked(content, Table(names, from_pandas(frame).columns))


def _beyond(error: Exception) -> str:
    """What a library says of a file that it cannot read."""
    return f"what cannot be read ({reason(error)})"


READERS: dict[str, Reader] = {
    ".csv": _csv,
    ".csv.gz": _csv,
    ".tsv": _tsv,
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".arff": _arff,
}
