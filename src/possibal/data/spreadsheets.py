"""First sheet of a spreadsheet (.xlsx, .xls, .ods), read by calamine."""

import os
import pickle
import re
import subprocess
import sys
import zlib
from contextlib import suppress
from importlib.util import find_spec
from io import BytesIO
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from possibal.data.decoding import RawFile
from possibal.errors import MissingPackageError, summary

MOST_CELLS = 20_000_000
"""From the first to the last that is filled, blank ones between them too: all are in memory."""
MOST_BYTES = 2_000_000_000
"""Of a spreadsheet, which is a zip file, unpacked."""
SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
COLUMN = re.compile(rb"""\sr=["']([A-Z]{1,9})[0-9]""")
ROW = re.compile(rb"""\sr=["'][A-Z]*([0-9]{1,9})["']""")
"""Where a cell stands, as in B12."""
LOCKED = (b"\xd0\xcf\x11\xe0", "EncryptedPackage".encode("utf-16-le"))
"""How an Excel file begins, and what it holds, that a password protects."""
MANIFEST, ENCRYPTED = "META-INF/manifest.xml", b"encryption-data"
"""Where an OpenDocument file says so, and how."""
MOST_MEMORY = 8 * 2**30
"""Bytes that the process that reads a sheet may take, where the system can tell."""


class FirstSheet(NamedTuple):
    """All cells from the first row and column on, blank text where one is empty, and a note."""

    rows: list[list[Any]]
    note: str


class ReaderOutcome(NamedTuple):
    """Names of the sheets that are shown, the rows of the first, and why there are none."""

    shown: list[str]
    rows: list[list[Any]]
    fault: str


# ---------------------------------------------------------------- the face
def first_sheet(content: RawFile) -> FirstSheet:
    """The cells of the first sheet that is shown, and a note if there are several."""
    if find_spec("python_calamine") is None:
        raise MissingPackageError(
            "Reading spreadsheets needs python-calamine, which is not installed: "
            "run pip install 'possibal[excel]'."
        )
    _check(content)
    shown, rows, fault = _read_apart(content.raw)
    if fault:
        got, remedy = f"what cannot be read ({fault})", "Save it anew, without a password."
        raise content.refused("be a sound spreadsheet", got, remedy)
    note = f"the first of {len(shown)} sheets, {shown[0]!r}, was read." if len(shown) > 1 else ""
    return FirstSheet(rows, note)


# ---------------------------------------------------------------- checks
def _check(content: RawFile) -> None:
    """Refuse what a password protects or what would fill the memory; faults are for calamine."""
    begin, name = LOCKED
    if content.raw.startswith(begin) and name in content.raw:
        raise _locked(content)
    with (
        suppress(BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error),
        ZipFile(BytesIO(content.raw)) as pack,
    ):
        _check_parts(content, pack)


def _check_parts(content: RawFile, pack: ZipFile) -> None:
    """The same of a spreadsheet that is a zip file."""
    size = sum(entry.file_size for entry in pack.infolist())
    if size > MOST_BYTES:
        rule = f"unpack to at most {MOST_BYTES // 10**9} GB"
        raise content.refused(rule, f"{size} bytes", "Keep fewer rows.")
    for name in pack.namelist():
        if name == MANIFEST and ENCRYPTED in pack.read(name):
            raise _locked(content)
        if SHEET.fullmatch(name):
            _check_cells(content, pack.read(name))


def _locked(content: RawFile) -> ValueError:
    """The sentence on a file that a password protects."""
    return content.refused("be open to all", "a password", "Save it without one.")


def _check_cells(content: RawFile, sheet: bytes) -> None:
    """Refuse a sheet whose cells lie far apart."""
    height = max(map(int, set(ROW.findall(sheet))), default=0)
    width = max(map(_number, set(COLUMN.findall(sheet))), default=0)
    if height * width > MOST_CELLS:
        got = f"{height} rows and {width} columns"
        remedy = "Delete rows and columns beyond the table."
        raise content.refused(f"have at most {MOST_CELLS} cells in a sheet", got, remedy)


def _number(column: bytes) -> int:
    """The place of a column that letters name: A is 1, and AA is 27."""
    place = 0
    for letter in column:
        place = 26 * place + letter - ord("A") + 1
    return place


# ---------------------------------------------------------------- the process that reads
def _read_apart(raw: bytes) -> ReaderOutcome:
    """What a process of its own reads, since on some broken files calamine ends its process."""
    command = [sys.executable, "-P", "-m", "possibal.data.spreadsheets"]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, input=raw, capture_output=True, env=paths, check=False)  # noqa: S603 - our own module
    if done.returncode:
        return ReaderOutcome([], [], "its reader failed")
    return ReaderOutcome(*pickle.loads(done.stdout))  # noqa: S301 - of our own process


def read_sheet_cells(raw: bytes) -> ReaderOutcome:
    """The sheets of a spreadsheet, as calamine reads them here."""
    import python_calamine as calamine

    kind, visible = calamine.SheetTypeEnum.WorkSheet, calamine.SheetVisibleEnum.Visible
    try:
        book = calamine.CalamineWorkbook.from_filelike(BytesIO(raw))
        sheets = [
            one.name for one in book.sheets_metadata if (one.typ, one.visible) == (kind, visible)
        ]
        if not sheets:
            return ReaderOutcome([], [], "no sheet is shown")
        rows = book.get_sheet_by_name(sheets[0]).to_python(skip_empty_area=False)
    except Exception as error:  # noqa: BLE001 - its errors share no root of their own
        return ReaderOutcome([], [], summary(error))
    return ReaderOutcome(sheets, rows, "")


def _limit_memory() -> None:
    """Refuse this process more memory than a sheet needs, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, hard))


if __name__ == "__main__":
    _limit_memory()
    sys.stdout.buffer.write(pickle.dumps(tuple(read_sheet_cells(sys.stdin.buffer.read()))))
