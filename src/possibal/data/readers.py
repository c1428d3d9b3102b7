"""Strict parsers of tabular files: CSV, TSV, Parquet, JSON, spreadsheets, lines of text and ARFF.

read_table(path) -> ParsedFile infers types: digits are numbers, and NA is a missing cell.
read_sheet(path) -> Sheet is all text, as it was written: 007 stays 007, and NA is a word.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from reprlib import repr as brief
from typing import Any, TypeAlias

from possibal.data import encoders, platform_files
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
)
from possibal.data.encoders import (
    MISSING,
    Cells,
    Table,
    TypedCells,
    cell_text,
    is_missing,
    unique_names,
)
from possibal.data.spreadsheets import first_sheet
from possibal.data.writers import ending_of, unescape_formula
from possibal.errors import INSTALL, MissingPackageError, PluginError, summary
from possibal.plugins import PluginGroup, find_plugin, installed_plugins

OFTEN = 10
"""Rows between two reports of progress."""
MOST_COLUMNS = 2000
"""More are no table for people."""
MOST_ROWS, MOST_CELLS = 10_000_000, 100_000_000
"""Of a Parquet file, whose rows may be packed a thousandfold."""
LONGEST_CELL = 1_000_000
"""Characters; more are a file in a cell."""
SEPARATORS = ",;\t"
INDEX = "__index_level_0__"
"""What Parquet calls the index of a pandas frame that has no name."""
TEXT = "text"
"""The only column of lines of text."""
FIRST = re.compile(r"[^\r\n]*\S[^\r\n]*")
"""The first line that is not blank."""
LIST = re.compile(r"[ \t\r\n]*\[[ \t\r\n]*(\][ \t\r\n]*\Z)?")
NEXT = re.compile(r"[ \t\r\n]*(?:,|(\])[ \t\r\n]*\Z)[ \t\r\n]*")
"""What begins a list in JSON, and what follows an entry; the last part if it ends there."""
OBJECTS = "hold a list of JSON objects"
NUMBERS_AS_NAMES = "the first line was taken as the names of the columns, though most are numbers."

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
Row: TypeAlias = tuple[str, Sequence[str | None]]
"""Where a row stands in a file, and its cells as text."""
JsonRow: TypeAlias = tuple[str, dict[str, Any]]
"""Where an object stands in a file, and the object."""
OBJECT_FILES = (".json", ".jsonl", ".ndjson")
"""Endings of files that hold JSON objects."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """The untyped content of a file: the names of its columns, and its rows as text."""

    names: tuple[str, ...]
    rows: list[Row]


# ---------------------------------------------------------------- the face
def read_table(
    path: Path, encoding: str | None = None, progress: Progress = no_progress
) -> ParsedFile:
    """The table of a file that ends as one of `endings`, types of columns inferred.

    Args:
        path: the file.
        encoding: of its text; if left out, what its byte order mark says, else UTF-8.
        progress: given the share done, up to a hundred times, the last time 1.0.
    """
    check_folder(path)
    known = ending(path)
    if known is None:
        raise ValueError(
            f"file must end in {', '.join(endings())}; got {str(path)!r}. Save it as one of these."
        )
    content = read_file(path, encoding, progress)
    found = READERS[known](content) if known in READERS else _by_plugin(content, known)
    content.progress(1.0)
    return found


def read_sheet(path: Path, encoding: str | None = None) -> Sheet:
    """The text of a file that `write_sheet` may have written, escapes of formulas undone.

    Args:
        path: a file that ends as one of `WRITERS`.
        encoding: of its text; if left out, what its byte order mark says, else UTF-8.
    """
    if ending_of(path, "file") == ".csv":
        return _csv_sheet(read_file(path, encoding, no_progress))
    table = read_table(path, encoding).table
    rows = zip(*([_text(cell) for cell in cells] for cells in table.columns), strict=True)
    return Sheet(table.names, [(f"row {n}", row) for n, row in enumerate(rows, start=1)])


def _text(cell: object) -> str | None:
    """A cell as text; None where it is missing."""
    return None if is_missing(cell) else cell_text(cell)


def ending(path: Path) -> str | None:
    """The ending by which the file is read, of ours or of a plug-in; None if it has none."""
    name = path.name.lower()
    ours = next((one for one in READERS if name.endswith(one)), None)
    if ours is not None or name.endswith(OTHERS):
        return ours
    found = (plugin.name for plugin in installed_plugins(PluginGroup.READERS))
    return max((one for one in found if name.endswith(one)), key=len, default=None)


def endings() -> tuple[str, ...]:
    """The endings of files that can be read: ours, and those of plug-ins."""
    others = (plugin.name for plugin in installed_plugins(PluginGroup.READERS))
    return tuple(dict.fromkeys([*READERS, *others]))


# ---------------------------------------------------------------- tables
def _names(content: RawFile, given: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns of a table, which are not too many."""
    if len(given) > MOST_COLUMNS:
        raise content.refused(
            f"have at most {MOST_COLUMNS} columns",
            str(len(given)),
            "Keep fewer, or give the numbers as a .npy file with --features.",
        )
    return _each_once(content, given)


def _each_once(content: RawFile, given: Sequence[str]) -> tuple[str, ...]:
    """The names of columns, blank ones numbered; none may come twice."""
    places = dict[str, int]()
    for place, name in enumerate(map(str.strip, given), start=1):
        if name in places:
            got = f"{brief(name)} for columns {places[name]} and {place}"
            raise content.refused("name each column once", got, "Rename one of them.")
        places |= {name: place} if name else {}
    return unique_names(given)


def _checked(
    content: RawFile,
    table: Table,
    lines: Sequence[int] = (),
    notes: tuple[str, ...] = (),
    counted: str = "line",
) -> ParsedFile:
    """The table, if it has rows and none of its cells is huge or binary.

    Args:
        content: where it comes from.
        table: as read.
        lines: in which line each row begins, if it is a matter of lines.
        notes: what was done.
        counted: what they are lines of, if not of text.
    """
    if not table.columns or not len(table.columns[0]):
        raise content.refused("have rows", "none", "Add rows below the names of the columns.")
    for name, cells in zip(table.names, table.columns, strict=True):
        # All at once, since a test of each cell would take longer than to read it.
        if str in set(map(type, cells)) and _is_any_bad(cells):
            row = next(i for i, cell in enumerate(cells) if isinstance(cell, str) and _is_bad(cell))
            place = f"{counted} {lines[row]}" if lines else f"row {row + 1}"
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
    """A table of delimited text, its separator guessed."""
    text = decode(content)
    return _separated(content, text, _separator(text))


def _tsv(content: RawFile) -> ParsedFile:
    """A table of text separated by tabs."""
    return _separated(content, decode(content), "\t")


def _csv_sheet(content: RawFile) -> Sheet:
    """Delimited text, its separator guessed, without a type for any cell."""
    text = decode(content)
    lines = _csv_rows(content, text, _separator(text), exact=True)
    names = _each_once(content, next(lines)[1])
    return Sheet(names, [(f"line {began}", cells) for began, cells in lines])


def _separator(text: str) -> str:
    """The separator of which the first line that is not blank has most."""
    first = next(FIRST.finditer(text)).group()
    return max(SEPARATORS, key=lambda s: max(map(len, csv.reader([first], delimiter=s))))


def _separated(content: RawFile, text: str, separator: str) -> ParsedFile:
    """The table of a text whose first line has the names, types of columns inferred."""
    parsed = _csv_rows(content, text, separator, exact=False)
    names, rows, lines = _names(content, next(parsed)[1]), list[list[str]](), list[int]()
    for began, row in parsed:
        rows.append(row)
        lines.append(began)
    # Where a semicolon separates cells, a comma may separate decimals.
    decimal = "," if separator == ";" else "."
    cells, notes = list[Cells](), [NUMBERS_AS_NAMES] if _are_numbers(names) else []
    # Without rows there are no columns.
    for name, words in zip(names, zip(*rows, strict=True), strict=False):
        typed = _typed(words, decimal)
        cells.append(typed.cells)
        notes += _note(typed, name)
        content.progress(PARSED + (1 - PARSED) * len(cells) / len(names))
    return _checked(content, Table(names, tuple(cells)), lines, tuple(notes))


def _are_numbers(names: Sequence[str]) -> bool:
    """Whether most names are numbers, as in a file that has no names."""
    return sum(map(encoders.is_number, names)) > len(names) / 2


def _note(typed: TypedCells, name: str) -> list[str]:
    """The note on how the numbers of a column were written, if it needs one."""
    note = "" if typed.numerals is None else typed.numerals.note(name)
    return [note] if note else []


def _csv_rows(
    content: RawFile, text: str, separator: str, *, exact: bool
) -> Iterator[tuple[int, list[str]]]:
    """Strict CSV parser: the line where each row begins, and its cells, as many as in the first.

    Args:
        content: the file.
        text: its text; blank lines do not count.
        separator: between cells.
        exact: whether blanks that begin a cell are its own, and escapes of formulas are undone.
    """
    # Strict, lest a quotation mark that is never closed swallow the rest of the file.
    lines = StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=not exact, strict=True)
    head, began = list[str](), 1
    try:
        for count, cells in enumerate(reader):
            if cells:
                row = [unescape_formula(cell) for cell in cells] if exact else cells
                head = head or row
                if len(row) != len(head):
                    raise _ragged(content, head, len(row), began)
                yield began, row
            began = reader.line_num + 1
            if count % OFTEN == 0:
                content.progress(PARSED * lines.tell() / len(text))
    except csv.Error as error:
        if "end of data" in str(error):
            rest = islice(StringIO(text, newline=""), began - 1, None)
            # Not strict, the last cell of the row is all from the mark to the end of the file.
            row = next(csv.reader(rest, delimiter=separator, skipinitialspace=not exact))
            raise _unclosed(content, row[:-1], began) from None
        raise content.refused(
            "have a separator after a closing quotation mark",
            f"other text at line {reader.line_num}, in a row that begins at line {began},",
            "Write a quotation mark twice where it is part of a cell.",
        ) from None


def _ragged(content: RawFile, head: Sequence[str], count: int, line: int) -> ValueError:
    """The sentence on a line that is too short or too long."""
    names = unique_names(head)
    lost = f", none for column {brief(names[count])}," if count < len(names) else ""
    return content.refused(
        f"have as many cells in each line as in the first, {len(names)}",
        f"{count} at line {line}{lost}",
        "Complete the line, or quote cells that hold a separator.",
    )


def _unclosed(content: RawFile, before: Sequence[str], began: int) -> ValueError:
    """The sentence on a quotation mark that is never closed, after the cells before it."""
    line = began + sum(len(LINE_END.findall(cell)) for cell in before)
    got = f"one left open at line {line}, column {len(before) + 1},"
    return content.refused("close each quotation mark", got, "Close it, or take it out.")


def _typed(words: Sequence[str], decimal: str) -> TypedCells:
    """The same as `encoders.infer_column`, with a fast path for blanks and numbers with a point."""
    together, present = "".join(words), len(words) - words.count("")
    # A number has one point at most: as many points as numbers, and none is a code or missing.
    if together.count(".") == present and "_" not in together:
        with suppress(ValueError):
            return TypedCells([float(word) if word else None for word in words])
    return encoders.infer_column(words, decimal)


# ---------------------------------------------------------------- JSON lines
def _json_lines(content: RawFile) -> ParsedFile:
    """A table of JSON objects, one in each line; a key is a column."""
    return _from_objects(content, list(_line_objects(content, decode(content))))


def _line_objects(content: RawFile, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The object in each line that is not blank, and the number of the line."""
    for number, line in enumerate(Lines(text, content.progress), start=1):
        if not line.isspace():
            yield number, _object(content, line, number)


def _from_objects(content: RawFile, numbered: Sequence[tuple[int, dict[str, Any]]]) -> ParsedFile:
    """The table of JSON objects; a key is a column. Of tasks of a platform, it is their data."""
    lines, rows = [line for line, _ in numbered], [row for _, row in numbered]
    found, notes = platform_files.plain_rows(rows, [_place(content, line) for line in lines])
    keys = list(dict.fromkeys(key for row in found for key in row))
    names = _names(content, keys)
    cells = tuple(_plain_all([row.get(key) for row in found]) for key in keys)
    return _checked(content, Table(names, cells), lines, notes)


def _place(content: RawFile, line: int) -> str:
    """Where something stands, in words."""
    return f"line {line} of {str(content.path)!r}"


def read_objects(path: Path, encoding: str | None = None) -> list[JsonRow]:
    """The objects of a JSON file as they are, each with where it stands: no two in one place.

    Lists are counted by their entries, for they are often written in one line.

    Args:
        path: a file that ends as one of `OBJECT_FILES`.
        encoding: of its text; if left out, what its byte order mark says, else UTF-8.
    """
    content = read_file(path, encoding, no_progress)
    text = decode(content)
    if ending(path) == ".json" and not _is_lines(text):
        listed = enumerate(_entries(content, text), start=1)
        return [(f"entry {number}", one) for number, (_, one) in listed]
    return [(f"line {number}", one) for number, one in _line_objects(content, text)]


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


# ---------------------------------------------------------------- JSON
def _json(content: RawFile) -> ParsedFile:
    """A table of JSON objects, in one list or one in each line."""
    text = decode(content)
    if _is_lines(text):
        return _json_lines(content)
    return _from_objects(content, list(_entries(content, text)))


def _is_lines(text: str) -> bool:
    """Whether text has an object in each line, by the first that is not blank and what follows."""
    first = next(FIRST.finditer(text))
    line = first.group().strip()
    return line.startswith("{") and line.endswith("}") and bool(text[first.end() :].strip())


def _entries(content: RawFile, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Incremental JSON parser: the line where each object of a list begins, and the object."""
    found, counted, line = LIST.match(text), 0, 1
    if found is None:
        raise _no_list(content, text)
    while not found[1]:
        began = found.end()
        line, counted = line + text.count("\n", counted, began), began
        value, end = _entry(content, text, began, line)
        yield line, value
        content.progress(PARSED * end / len(text))
        found = NEXT.match(text, end)
        if found is None:
            raise _no_json(content, json.JSONDecodeError("Expecting ',' or ']'", text, end))


def _entry(content: RawFile, text: str, began: int, line: int) -> tuple[dict[str, Any], int]:
    """The object of a list that begins at a place, and where it ends."""
    try:
        value, end = JSON.raw_decode(text, began)
        why = "" if isinstance(value, dict) else brief(value)
    except json.JSONDecodeError as error:
        raise _no_json(content, error) from None
    except (ValueError, RecursionError) as error:
        value, end, why = {}, began, str(error)
    if why:
        raise content.refused(OBJECTS, f"{why} at line {line}", "Mend it.")
    return value, end


def _no_list(content: RawFile, text: str) -> ValueError:
    """The sentence on JSON that is no list, or on what is no JSON."""
    try:
        got = brief(JSON.decode(text))
    except json.JSONDecodeError as error:
        return _no_json(content, error)
    except (ValueError, RecursionError) as error:
        got = str(error)
    return content.refused(OBJECTS, got, "Write a list of objects, one for each row.")


def _no_json(content: RawFile, error: json.JSONDecodeError) -> ValueError:
    """The sentence on text that is no JSON."""
    got = f"no JSON ({error.msg}, character {error.colno}) at line {error.lineno}"
    return content.refused(OBJECTS, got, "Mend the line.")


# ---------------------------------------------------------------- spreadsheets
def _spreadsheet(content: RawFile) -> ParsedFile:
    """The table of the first sheet; rows and columns without any cell do not count."""
    sheet = first_sheet(content)
    places, rows = list[int](), list[list[Any]]()
    for place, row in enumerate(sheet.rows, start=1):
        if any(cell != "" for cell in row):
            places.append(place)
            rows.append(row)
        content.progress(PARSED * place / len(sheet.rows))
    if not rows:
        raise content.empty()
    columns = [cells for cells in zip(*rows, strict=True) if any(cell != "" for cell in cells)]
    names = _names(content, [cell_text(head) for head, *_ in columns])
    cells, notes = list[Cells](), [sheet.note] if sheet.note else []
    notes += [NUMBERS_AS_NAMES] if _are_numbers(names) else []
    for name, (_, *given) in zip(names, columns, strict=True):
        typed = _sheet_cells(given)
        cells.append(typed.cells)
        notes += _note(typed, name)
        content.progress(PARSED + (1 - PARSED) * len(cells) / len(names))
    return _checked(content, Table(names, tuple(cells)), places[1:], tuple(notes), "row")


def _sheet_cells(given: Sequence[Any]) -> TypedCells:
    """The cells of a sheet's column; those that are all text are typed as in a CSV file."""
    cells = [None if isinstance(cell, str) and cell.strip() in MISSING else cell for cell in given]
    if set(map(type, cells)) - {type(None)} == {str}:
        return encoders.infer_column(cell or "" for cell in cells)
    return TypedCells(cells)


# ---------------------------------------------------------------- lines of text
def _text_lines(content: RawFile) -> ParsedFile:
    """A table of one column, in which each line that is not blank is a row."""
    rows, lines, count = list[str](), list[int](), 0
    for line in Lines(decode(content), content.progress):
        count += 1
        if text := line.strip():
            rows.append(text)
            lines.append(count)
    blank = count - len(rows)
    notes = [f"{blank} blank line{'s were' if blank > 1 else ' was'} left out."] if blank else []
    if all("\t" in row for row in rows):
        notes.append("each line was taken as one text, though all have tabs as a .tsv file has.")
    return _checked(content, Table((TEXT,), (rows,)), lines, tuple(notes))


# ---------------------------------------------------------------- ARFF
def _arff(content: RawFile) -> ParsedFile:
    """A table in Weka's format, as far as SciPy reads it."""
    from scipy.io.arff import loadarff

    text = decode(content)
    try:
        lines = Lines(text, content.progress)
        data, meta = loadarff(lines)
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
        import polars as pl
    except ImportError:
        return _parquet_by_pandas(content)
    broken = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
    try:
        names = _names(content, list(pl.read_parquet_schema(BytesIO(content.raw))))
        rows = pl.scan_parquet(BytesIO(content.raw)).select(pl.len()).collect().item()
        if not _is_small(rows, len(names)):
            raise _too_many(content, rows, len(names))
        frame = pl.read_parquet(content.raw)
    except broken as error:
        raise content.refused("be sound Parquet", _beyond(error), "Save it anew.") from None
    cells = list[Cells]()
    for column in frame:
        cells.append(column.to_list())
        content.progress(len(cells) / len(names))
    for name, index in _counted_index(pl.read_parquet_metadata(BytesIO(content.raw))).items():
        names, cells = (*names, name), [*cells, list(index)]
    return _checked(content, Table(names, tuple(cells)))


def _is_small(rows: int, columns: int) -> bool:
    """Whether a table has not too many rows or cells: few bytes of Parquet may hold very many."""
    return rows <= MOST_ROWS and rows * columns <= MOST_CELLS


def _too_many(content: RawFile, rows: int, columns: int) -> ValueError:
    """The sentence on a table that is too large."""
    return content.refused(
        f"have at most {MOST_ROWS:,} rows and {MOST_CELLS:,} cells",
        f"{rows:,} rows of {columns} columns",
        "Take a part of it, or rank it with possibal rank.",
    )


def _counted_index(metadata: Mapping[str, str]) -> dict[str, range]:
    """The index of a pandas frame that Parquet keeps as a range, unless it counts from 0."""
    kept = json.loads(metadata.get("pandas", "{}")).get("index_columns", [])
    ranges = (one for one in kept if isinstance(one, dict) and one.get("kind") == "range")
    found = {one["name"] or INDEX: range(one["start"], one["stop"], one["step"]) for one in ranges}
    return {name: rows for name, rows in found.items() if rows != range(len(rows))}


def _parquet_by_pandas(content: RawFile) -> ParsedFile:
    """The same where polars is missing."""
    try:
        import pandas as pd
        from pyarrow.parquet import read_metadata

        held = read_metadata(BytesIO(content.raw))
        is_small = _is_small(held.num_rows, held.num_columns)
        frame = pd.read_parquet(BytesIO(content.raw)) if is_small else None
    except ImportError:
        raise MissingPackageError(
            "Reading Parquet needs polars, or pandas with pyarrow, and neither is installed: "
            + INSTALL
        ) from None
    except (OSError, ValueError, NotImplementedError) as error:
        raise content.refused("be sound Parquet", _beyond(error), "Save it anew.") from None
    if frame is None:
        raise _too_many(content, held.num_rows, held.num_columns)
    return _from_any_frame(content, frame)


def _from_any_frame(content: RawFile, frame: Any) -> ParsedFile:  # noqa: ANN401 - of any library
    """A table of a frame; an index of pandas that names rows is a column of its own."""
    import narwhals as nw  # slow to load for a label server

    from possibal.data.frames import frame_index, from_frame

    if frame_index(frame) is not None:
        frame = frame.reset_index(names=[name or INDEX for name in frame.index.names])
    table = from_frame(frame)
    is_pandas = nw.dependencies.is_pandas_like_dataframe(frame)  # whose names may come twice
    names = [str(name) for name in frame.columns] if is_pandas else table.names
    return _checked(content, Table(_names(content, names), table.columns))


def _beyond(error: Exception) -> str:
    """What a library says of a file that it cannot read."""
    return f"what cannot be read ({summary(error)})"


# ---------------------------------------------------------------- plug-ins
def _by_plugin(content: RawFile, known: str) -> ParsedFile:
    """The table that a plug-in makes of a file."""
    plugin = find_plugin(PluginGroup.READERS, known)
    assert plugin is not None  # noqa: S101 - the ending is its own
    try:
        frame = plugin.load()(content.path)
    except PluginError:
        raise
    except Exception as error:
        raise content.refused(
            f"be what the plug-in {plugin.distribution} reads",
            f"what it cannot ({type(error).__name__}: {summary(error)})",
            "Save it anew, or update that distribution.",
        ) from error
    return _from_any_frame(content, frame)


OTHERS = (".npy", ".zip")
"""Endings that are ours and no table's."""
READERS: dict[str, Reader] = {
    ".csv": _csv,
    ".csv.gz": _csv,
    ".tsv": _tsv,
    ".tsv.gz": _tsv,
    ".xlsx": _spreadsheet,
    ".xls": _spreadsheet,
    ".ods": _spreadsheet,
    ".parquet": _parquet,
    ".json": _json,
    ".json.gz": _json,
    ".jsonl": _json_lines,
    ".jsonl.gz": _json_lines,
    ".ndjson": _json_lines,
    ".ndjson.gz": _json_lines,
    ".txt": _text_lines,
    ".txt.gz": _text_lines,
    ".arff": _arff,
}
