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
