import csv
import json
import sys
from io import StringIO

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.data import readers, writers
from possibal.data.decoding import CONTROL
from possibal.data.writers import SheetColumn
from possibal.errors import MissingPackageError

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
FORMULAS = ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "\nx", "'x", "＝1", "＋1", "－1", "＠1"]  # noqa: RUF001 - wide signs
ENDINGS = list(writers.WRITERS)


def cells(path):
    """What is read of a file, row by row."""
    return [list(row) for _, row in readers.read_sheet(path).rows]


# ---------------------------------------------------------------- formulas
@pytest.mark.parametrize("text", FORMULAS)
def test_what_may_be_a_formula_is_marked(text):
    assert writers.escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "x", "1=2", "-1", "+1.5", "-.5", "-2.", "-1e-7", "-1E+7"])
def test_plain_numbers_and_words_are_not_marked(text):
    assert writers.escape_formula(text) == text


@pytest.mark.parametrize("text", ["-1 ", "-1\n", "-", "+-1", "-1e", "-\u0661"])
def test_what_is_almost_a_number_is_marked(text):
    assert writers.escape_formula(text) == f"'{text}"


@given(st.one_of(st.text(), st.text("'=+-@\t\r\n1.e"), st.text("'=", max_size=3)))
def test_any_text_survives_the_mark(text):
    assert writers.unescape_formula(writers.escape_formula(text)) == text


@given(st.text())
def test_no_marked_text_begins_like_a_formula(text):
    first = writers.escape_formula(text)[:1]
    assert first not in set("=+-@\t\r\n") or writers.NUMBER.fullmatch(text)


def test_an_apostrophe_that_somebody_else_wrote_stays():
    assert writers.unescape_formula("'tis") == "'tis"


# ---------------------------------------------------------------- CSV
@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_csv_is_what_others_read_too(pairs):
    columns = [SheetColumn("a", [a for a, _ in pairs]), SheetColumn("b", [b for _, b in pairs])]
    text = writers.write_sheet(columns, ".csv").decode()
    rows = list(csv.reader(StringIO(text, newline=""), strict=True))
    assert rows == [
        ["a", "b"],
        *([writers.escape_formula(a), writers.escape_formula(b)] for a, b in pairs),
    ]


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_text_comes_back_from_csv_as_it_was(tmp_path_factory, pairs):
    pairs = [(CONTROL.sub("?", a), CONTROL.sub("?", b)) for a, b in pairs]
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    columns = [SheetColumn("a", [a for a, _ in pairs]), SheetColumn("b", [b for _, b in pairs])]
    path.write_bytes(writers.write_sheet(columns, ".csv"))
    assert readers.read_sheet(path).names == ("a", "b")
    assert cells(path) == [list(pair) for pair in pairs]


def test_numbers_have_all_their_digits_and_what_is_missing_is_empty():
    columns = [SheetColumn("x", [0.1 + 0.2, None], is_number=True), SheetColumn("=y", [None, "z"])]
    assert writers.write_sheet(columns, ".csv") == b"x,'=y\n0.30000000000000004,\n,z\n"


# ---------------------------------------------------------------- the others
def test_json_lines_hold_numbers_and_nulls():
    columns = [SheetColumn("x", [0.5, None], is_number=True), SheetColumn("y", ["=ü\n", None])]
    lines = writers.write_sheet(columns, ".jsonl").decode().split("\n")
    assert lines[0] == '{"x": 0.5, "y": "=ü\\n"}'
    assert json.loads(lines[1]) == {"x": None, "y": None}
    assert lines[2:] == [""]


def test_parquet_has_its_types_even_where_all_is_missing(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(
        writers.write_sheet(
            [SheetColumn("x", [None], is_number=True), SheetColumn("y", [None])], ".parquet"
        )
    )
    assert pl.read_parquet(path).schema == {"x": pl.Float64, "y": pl.String}


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_rows_are_a_file_too(ending):
    written = writers.write_sheet([SheetColumn("x", [])], ending)
    assert written == {".csv": b"x\n", ".jsonl": b""}.get(ending, written)


def test_parquet_without_polars_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingPackageError, match=r"^Writing Parquet needs polars.*experiments"):
        writers.write_sheet([SheetColumn("x", [])], ".parquet")


def test_other_endings_are_refused(tmp_path):
    sentence = r"^to must end in \.csv, \.parquet, \.jsonl; got '.*a\.txt'\. Choose one of these\.$"
    with pytest.raises(ValueError, match=sentence):
        writers.ending_of(tmp_path / "a.txt", "to")
    with pytest.raises(ValueError, match=r"^ending must be one of"):
        writers.write_sheet([], ".txt")
    assert writers.ending_of(tmp_path / "A.CSV", "to") == ".csv"


# ---------------------------------------------------------------- what is written over
@pytest.mark.parametrize("ending", list(writers.WRITERS))
def test_a_file_is_written_over_if_its_first_columns_are_ours(tmp_path, ending):
    path, columns = (
        tmp_path / f"a{ending}",
        [SheetColumn(name, ["x"]) for name in ("id", "a,b", "c")],
    )
    writers.check_overwritten(path, "to", ["id"], force=False)  # there is none
    path.write_bytes(writers.write_sheet(columns, ending))
    writers.check_overwritten(path, "to", ["id", "a,b"], force=False)
    writers.check_overwritten(path, "to", ["b"], force=True)
    for heads in (["b"], ["id", "c"], ["id", "a,b", "c", "d"]):
        with pytest.raises(ValueError, match=r"^to must be a new file, or one that this command"):
            writers.check_overwritten(path, "to", heads, force=False)


@pytest.mark.parametrize("ending", list(writers.WRITERS))
@pytest.mark.parametrize("content", [b"\xff\xfe", b"\n", b"{", b"[1]", b"1", b"\0" * 100])
def test_what_is_no_table_is_not_written_over(tmp_path, ending, content):
    path = tmp_path / f"a{ending}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"^to must be a new file, or one that this command"):
        writers.check_overwritten(path, "to", ["id"], force=False)


def test_an_empty_file_holds_nothing_to_lose(tmp_path):
    (tmp_path / "a.csv").touch()
    writers.check_overwritten(tmp_path / "a.csv", "to", ["id"], force=False)
