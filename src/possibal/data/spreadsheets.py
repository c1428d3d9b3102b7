"""First sheet of a spreadsheet (.xlsx, .xls, .ods), read by calamine."""

import re
import zlib
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
COLUMN = re.compile(rb"""\sr=["']([A-Z]+)[0-9]""")
ROW = re.compile(rb"""\sr=["'][A-Z]*([0-9]+)["']""")
"""Where a cell stands, as in B12."""
LOCKED = (b"\xd0\xcf\x11\xe0", "EncryptedPackage".encode("utf-16-le"))
"""How a file begins, and what it holds, that a password protects."""
ANEW = "Save it anew as .xlsx or .csv."


class FirstSheet(NamedTuple):
    """All cells from the first row and column on, blank text where one is empty, and a note."""

    rows: list[list[Any]]
    note: str


def first_sheet(content: RawFile) -> FirstSheet:
    """The cells of the first sheet that is shown, and a note if there are several."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise MissingPackageError(
            "Reading spreadsheets needs python-calamine, which is not installed: "
            "run pip install 'possibal[excel]'."
        ) from None
    _check_locked(content)
    _check_size(content)
    try:
        book = calamine.CalamineWorkbook.from_filelike(BytesIO(content.raw))
        shown = [
            sheet.name
            for sheet in book.sheets_metadata
            if sheet.typ == calamine.SheetTypeEnum.WorkSheet
            and sheet.visible == calamine.SheetVisibleEnum.Visible
        ]
        rows = book.get_sheet_by_name(shown[0]).to_python(skip_empty_area=False) if shown else []
    except calamine.PasswordError:
        raise _locked(content) from None
    except Exception as error:  # noqa: BLE001 - its errors share no root of their own
        got = f"what cannot be read ({summary(error)})"
        raise content.refused("be a sound spreadsheet", got, ANEW) from None
    if not shown:
        raise content.refused("be a sound spreadsheet", "no sheet that is shown", ANEW)
    others = f"the first of {len(shown)} sheets, {shown[0]!r}, was read." if shown[1:] else ""
    return FirstSheet(rows, others)


def _check_locked(content: RawFile) -> None:
    """Refuse a file that a password protects."""
    begin, name = LOCKED
    if content.raw.startswith(begin) and name in content.raw:
        raise _locked(content)


def _locked(content: RawFile) -> ValueError:
    """The sentence on a file that a password protects."""
    return content.refused("be open to all", "a password", "Save it without one.")


def _check_size(content: RawFile) -> None:
    """Refuse what would fill the memory, as one cell in the last row and column does."""
    try:
        with ZipFile(BytesIO(content.raw)) as pack:
            size = sum(entry.file_size for entry in pack.infolist())
            if size > MOST_BYTES:
                rule = f"unpack to at most {MOST_BYTES // 10**9} GB"
                raise content.refused(rule, f"{size} bytes", "Keep fewer rows.")
            for name in filter(SHEET.fullmatch, pack.namelist()):
                _check_cells(content, pack.read(name))
    except (BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error):
        return  # calamine says what is wrong with it


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
