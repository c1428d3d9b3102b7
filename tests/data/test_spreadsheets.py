import shutil
import sys
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pytest
from support.tables import BOOKS, xlsx

from possibal.data import spreadsheets
from possibal.data.decoding import RawFile, no_progress
from possibal.data.spreadsheets import first_sheet
from possibal.errors import MissingPackageError


def raw(content):
    """Bytes as if they came from a file."""
    return RawFile(Path("a.xlsx"), content, None, no_progress)


@pytest.mark.parametrize("ending", BOOKS)
def test_the_cells_of_the_first_sheet_come_with_blank_ones(ending):
    found = first_sheet(raw(BOOKS[ending]([["a", "b"], [1, ""], [2.5, "x"]])))
    assert found.rows == [["a", "b"], [1, ""], [2.5, "x"]]
    assert found.note == ""


def test_a_sheet_that_is_hidden_is_no_first_one():
    book = openpyxl.load_workbook(BytesIO(xlsx([["hidden"]], [["shown"]])))
    book.worksheets[0].sheet_state = "hidden"
    book.active = 1
    book.save(buffer := BytesIO())
    assert first_sheet(raw(buffer.getvalue())) == ([["shown"]], "")


def test_without_calamine_what_to_install_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingPackageError, match=r"needs python-calamine.* 'possibal\[excel\]'"):
        first_sheet(raw(xlsx([["a"]])))


def test_columns_are_counted_as_letters_name_them():
    named = spreadsheets._number  # noqa: SLF001 - the last is beyond what a test may fill
    assert [named(name) for name in (b"A", b"Z", b"AA", b"XFD")] == [1, 26, 27, 16384]


def test_a_spreadsheet_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(spreadsheets, "MOST_BYTES", 10**6)
    with ZipFile(buffer := BytesIO(), "w", ZIP_DEFLATED) as pack:
        pack.writestr("xl/worksheets/sheet1.xml", bytes(2 * 10**6))
    with pytest.raises(
        ValueError, match=r"^file must unpack to at most .* GB; got 2000000 bytes in"
    ):
        first_sheet(raw(buffer.getvalue()))


def test_as_many_cells_as_may_be_are_read(monkeypatch):
    content = xlsx([["a", "b"], [1, 2]])
    monkeypatch.setattr(spreadsheets, "MOST_CELLS", 4)
    assert len(first_sheet(raw(content)).rows) == 2
    monkeypatch.setattr(spreadsheets, "MOST_CELLS", 3)
    with pytest.raises(ValueError, match=r"at most 3 cells in a sheet; got 2 rows and 2 columns"):
        first_sheet(raw(content))


@pytest.mark.parametrize("ending", BOOKS)
def test_what_is_read_in_another_process_is_what_is_read_here(ending):
    content = BOOKS[ending]([["a", "b"], [1, ""]])
    shown, rows, fault = spreadsheets.read_sheet_cells(content)
    assert (rows, fault) == ([["a", "b"], [1, ""]], "")
    assert len(shown) == 1
    assert first_sheet(raw(content)).rows == rows


def test_a_fault_is_told_by_whoever_reads():
    assert spreadsheets.read_sheet_cells(b"words").fault == "Cannot detect file format"
    with ZipFile(BytesIO(xlsx([["a"]]))) as old, ZipFile(buffer := BytesIO(), "w") as new:
        for name in set(old.namelist()) - {"xl/workbook.xml"}:
            new.writestr(name, old.read(name))
    assert spreadsheets.read_sheet_cells(buffer.getvalue()).fault == "no sheet is shown"


def test_a_file_on_which_the_reader_fails_is_refused_and_nothing_else_ends():
    content = bytearray(BOOKS[".xls"]([["a"], [1]]))
    content[0x4C:0x50] = b"\xff\xff\xff\x7f"
    for end in range(600, len(content), 600):
        with pytest.raises(ValueError, match=r"^file must be a sound spreadsheet; got what cannot"):
            first_sheet(raw(bytes(content[:end])))


def test_a_file_whose_reader_ends_its_process_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(ValueError, match=r"got what cannot be read \(its reader failed\) in"):
        first_sheet(raw(xlsx([["a"]])))
