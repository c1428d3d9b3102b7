import datetime as dt
import gzip
import json
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import openpyxl
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import ARFF, BOOKS, PLAIN, bytes_of, ods, parquet, put, xlsx

from possibal.data import encoders, readers
from possibal.data.readers import READERS
from possibal.data.writers import SheetColumn, write_sheet

FEW = (".parquet", *BOOKS)
"""Endings of files that take long to write."""


def table_of(path, **more):
    """The table of a file, as a dict."""
    found = readers.read_table(Path(path), **more).table
    return dict(zip(found.names, found.columns, strict=True))


def refusal(path, **more):
    """The one line that is said of a file that is no table."""
    with pytest.raises(ValueError, match=r"^(file|encoding) must [^\n]*; got [^\n]*\.$") as e:
        readers.read_table(Path(path), **more)
    assert len(str(e.value)) < 400 + len(path)
    return str(e.value)


def test_a_table_has_numbers_where_all_cells_are_numbers_and_else_words(tmp_path):
    path = put(tmp_path, "a.csv", "a,b, c ,\n1,x,0.5,\nNA,2, ,7\n")
    expected = {"a": [1, None], "b": ["x", "2"], "c": [0.5, None], "unnamed 4": [None, 7]}
    assert table_of(path) == expected
    assert readers.read_table(Path(path)).notes == ()


@given(
    words=st.lists(
        st.floats().map(repr) | st.sampled_from(["", " ", "NA", ".", "1_2.0", "007", "1.5 ", "x"])
    ),
    decimal=st.sampled_from([".", ","]),
)
def test_the_short_way_to_numbers_gives_what_the_long_one_gives(words, decimal):
    assert repr(readers._typed(words, decimal)) == repr(encoders.infer_column(words, decimal))  # noqa: SLF001


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "a,b,a \n1,2,3\n"),
        ("a.tsv", "a\tb\ta\n1\t2\t3\n"),
        ("a.jsonl", '{"a": 1, "b": 2}\n{" a": 3}\n'),
        ("a.parquet", parquet(pl.DataFrame({"a": [1], "b": [2], "a ": [3]}))),
    ],
)
def test_a_name_that_comes_twice_is_refused_with_both_places(tmp_path, name, text):
    assert "file must name each column once; got 'a' for columns 1 and 3 in" in refusal(
        put(tmp_path, name, text)
    )


def test_blank_names_are_numbered_and_may_come_twice(tmp_path):
    assert list(table_of(put(tmp_path, "a.csv", "a,, \n1,2,3\n"))) == [
        "a",
        "unnamed 2",
        "unnamed 3",
    ]


def test_a_parquet_file_that_spells_a_name_twice_is_refused(tmp_path):
    content = parquet(pl.DataFrame({"aa": [1], "ab": [2]})).replace(b"ab", b"aa")
    assert "'aa' has more than one occurrence" in refusal(put(tmp_path, "a.parquet", content))


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_2000_columns_are_read_and_one_more_is_refused(tmp_path, ending):
    def content(count):
        frame = pl.DataFrame({f"c{i}": [i] for i in range(count)})
        if ending == ".parquet":
            return parquet(frame)
        return (frame.write_csv() if ending == ".csv" else frame.write_ndjson()).encode()

    assert len(table_of(put(tmp_path, f"a{ending}", content(2000)))) == 2000
    said = refusal(put(tmp_path, f"b{ending}", content(2001)))
    assert "file must have at most 2000 columns; got 2001 in" in said
    assert said.endswith("or give the numbers as a .npy file with --features.")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,b,y\n\n1,2,3\n1,2\n", "as in the first, 3; got 2 at line 4, none for column 'y', in"),
        ("a,b\n1,2,3\n", "as in the first, 2; got 3 at line 2 in"),
        ('a,b\n"1\n2",3\n"4\n5"\n', "got 1 at line 4, none for column 'b', in"),
        (
            'a,b\n1,"2,yes\n3,4\n',
            "close each quotation mark; got one left open at line 2, column 2",
        ),
        ('a,b\n1,2\n"3\n4","5\n', "got one left open at line 4, column 2, in"),
        ('a,"b\n1,2\n', "got one left open at line 1, column 2, in"),
        ('a,b\n"1"2,3\n', "got other text at line 2, in a row that begins at line 2, in"),
        ('a,b\n1,"2\n3,"4"\n', "got other text at line 3, in a row that begins at line 2, in"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_csv_that_is_not_a_table_is_refused_with_line_and_column(tmp_path, text, why, end):
    assert why in refusal(put(tmp_path, "a.csv", text.replace("\n", end)))


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_cell_of_a_million_characters_is_read_and_one_more_is_refused(tmp_path, ending):
    def content(length):
        frame = pl.DataFrame({"a": [1, 2], "t": ["short", "x" * length]})
        if ending == ".parquet":
            return parquet(frame)
        if ending == ".jsonl":
            return b"\n" + frame.write_ndjson().encode()  # a blank line does not count as a row
        return b"\n" + frame.write_csv(separator="\t" if ending == ".tsv" else ",").encode()

    assert len(table_of(put(tmp_path, f"a{ending}", content(1_000_000)))["t"][1]) == 1_000_000
    said = refusal(put(tmp_path, f"b{ending}", content(1_000_001)))
    place = {".parquet": "row 2", ".jsonl": "line 3"}.get(ending, "line 4")
    assert f"1000000 characters in a cell; got 1000001 at {place}, column 't', in" in said


@pytest.mark.parametrize("content", ["a,b\n", "a,b", parquet(pl.DataFrame({"a": []}))])
def test_names_without_rows_are_no_table(tmp_path, content):
    path = put(tmp_path, "a.csv" if isinstance(content, str) else "a.parquet", content)
    assert "file must have rows; got none in" in refusal(path)


def test_an_ending_without_a_reader_is_refused_with_the_others(tmp_path):
    said = refusal(put(tmp_path, "a.docx", PLAIN))
    assert said.startswith("file must end in .csv, .csv.gz, .tsv, .tsv.gz, .xlsx, .xls, .ods, ")
    assert "file must be no folder" in refusal(str(tmp_path))


def test_a_named_encoding_reaches_the_reader(tmp_path):
    path = put(tmp_path, "a.csv", "größe\n1\n".encode("cp1252"))
    assert table_of(path, encoding="cp1252") == {"größe": [1]}
    assert "encoding must be one that Python knows; got 'cp0'" in refusal(path, encoding="cp0")


@pytest.mark.parametrize("ending", READERS)
def test_progress_grows_to_one_in_many_steps(tmp_path, ending):
    frame = pl.DataFrame({f"c{i}": range(200 if ending in FEW else 2000) for i in range(100)})
    content = {
        ".parquet": lambda: parquet(frame),
        ".json": lambda: frame.write_json().encode(),
        ".jsonl": lambda: frame.write_ndjson().encode(),
        ".ndjson": lambda: frame.write_ndjson().encode(),
        ".tsv": lambda: frame.write_csv(separator="\t").encode(),
        ".arff": lambda: arff(frame),
        **{end: lambda end=end: BOOKS[end]([frame.columns, *frame.rows()]) for end in BOOKS},
    }.get(ending.removesuffix(".gz"), lambda: frame.write_csv().encode())()
    packed = gzip.compress(content) if ending.endswith(".gz") else content
    told = []
    readers.read_table(Path(put(tmp_path, f"a{ending}", packed)), progress=told.append)
    assert 40 <= len(told) <= 101
    assert told == sorted(set(told))
    assert 0 < told[0] < 0.1
    assert told[-1] == 1


def arff(frame):
    """A frame of numbers as ARFF."""
    head = "".join(f"@attribute {name} real\n" for name in frame.columns)
    return f"@relation r\n{head}@data\n{frame.write_csv(include_header=False)}".encode()


# ---------------------------------------------------------------- JSON lines
def test_json_lines_have_the_keys_of_all_objects_in_the_order_of_their_coming(tmp_path):
    lines = [
        '{"b": 1, "a": "x"}',
        "",
        '{"c": {"d": [1, "é"], "e": null}, "b": null}',
        '{"a": true}',
    ]
    assert table_of(put(tmp_path, "a.ndjson", "\r\n".join(lines))) == {
        "b": [1, None, None],
        "a": ["x", None, True],
        "c": [None, '{"d":[1,"é"],"e":null}', None],
    }


def test_a_whole_number_beyond_all_floats_counts_as_infinite(tmp_path):
    path = put(tmp_path, "a.jsonl", f'{{"a": {10**400}, "b": {10**30}}}\n{{"a": -{10**400}}}')
    assert table_of(path) == {"a": [float("inf"), float("-inf")], "b": [10**30, None]}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[1, 2]", "got [1, 2] at line 3 in"),
        ("7", "got 7 at line 3 in"),
        ("[]", "got [] at line 3 in"),
        ("null", "got None at line 3 in"),
        ('{"a": }', "got no JSON (Expecting value, character 7) at line 3 in"),
        ('{"a": 1} {"a": 2}', "got no JSON (Extra data, character 10) at line 3 in"),
        ('{"a": NaN}', "got NaN, which JSON does not have, at line 3 in"),
        ('{"a": [-Infinity]}', "got -Infinity, which JSON does not have, at line 3 in"),
        ('{"a": 1, "b": 2, "a": 3}', "got 'a' for keys 1 and 3 at line 3 in"),
        (f'{{"a": {"[" * 100_000}', "at line 3 in"),
        (f'{{"a": {"1" * 5000}}}', "at line 3 in"),
    ],
)
def test_a_line_that_is_no_json_object_is_refused_with_its_number(tmp_path, line, why):
    said = refusal(put(tmp_path, "a.jsonl", f'{{"a": 1}}\n\n{line}\n'))
    assert said.startswith("file must hold a JSON object in each line; got ")
    assert why in said


@pytest.mark.parametrize(
    ("escape", "code"), [("\\u0000", "0000"), ("\\b", "0008"), ("\\ud800", "D800")]
)
def test_a_control_character_that_json_spells_is_refused_with_its_place(tmp_path, escape, code):
    said = refusal(put(tmp_path, "a.jsonl", f'{{"a": 1}}\n\n{{"a": "x{escape}"}}\n'))
    assert f"got the control character U+{code} at line 3, column 'a', in" in said


def test_objects_without_keys_are_no_table(tmp_path):
    assert "file must have rows; got none in" in refusal(put(tmp_path, "a.jsonl", "{}\n{}\n"))


# ---------------------------------------------------------------- JSON
LISTED = '[\n {"b": 1, "a": "x"},\n\n {"c": {"d": [1, "é"]}, "b": null},{"a": true}\n]\n'


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_a_json_list_has_the_keys_of_all_objects_in_the_order_of_their_coming(tmp_path, ending):
    content = LISTED.encode()
    packed = gzip.compress(content) if ending.endswith(".gz") else content
    assert table_of(put(tmp_path, f"a{ending}", packed)) == {
        "b": [1, None, None],
        "a": ["x", None, True],
        "c": [None, '{"d":[1,"é"]}', None],
    }


def test_json_may_be_one_object_in_each_line_whatever_the_ending(tmp_path):
    path = put(tmp_path, "a.json", '\n{"a": 1}\n{"a": 2}\n')
    assert table_of(path) == {"a": [1, 2]}
    assert "got 7 at line 2 in" in refusal(put(tmp_path, "b.json", '{"a": 1}\n7\n'))


def test_json_of_another_encoding_is_read_if_it_is_named(tmp_path):
    path = put(tmp_path, "a.json", '[{"größe": "ß"}]'.encode("cp1252"))
    assert table_of(path, encoding="cp1252") == {"größe": ["ß"]}
    assert table_of(put(tmp_path, "b.json", '[{"a": "ß"}]'.encode("utf-16"))) == {"a": ["ß"]}


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("abc"),
            st.none() | st.booleans() | st.floats(-1e9, 1e9) | st.text("xyé "),
        ).filter(bool),
        min_size=1,
    ),
    st.sampled_from([None, 1]),
)
def test_a_json_list_is_read_as_it_was_written(rows, indent):
    with TemporaryDirectory() as folder:
        found = table_of(put(Path(folder), "a.json", json.dumps(rows, indent=indent)))
    names = dict.fromkeys(name for row in rows for name in row)
    assert found == {name: [row.get(name) for row in rows] for name in names}


# ---------------------------------------------------------------- spreadsheets
ROWS = [["name", "size", 2020], ["a", 1.5, 1], ["b", 2, ""], ["NA", "NA", 3]]


@pytest.mark.parametrize("ending", BOOKS)
def test_a_sheet_gives_a_table(tmp_path, ending):
    found = readers.read_table(Path(put(tmp_path, f"a{ending}", BOOKS[ending](ROWS))))
    assert found.table.names == ("name", "size", "2020")
    assert found.table.columns == (["a", "b", None], [1.5, 2, None], [1, None, 3])
    assert found.notes == ()


def test_the_first_sheet_is_read_and_that_is_said(tmp_path):
    path = put(tmp_path, "a.xlsx", xlsx(ROWS, [["other"], [1]]))
    assert readers.read_table(Path(path)).notes == ("the first of 2 sheets, 'Sheet', was read.",)
    assert list(table_of(path)) == ["name", "size", "2020"]


def test_rows_and_columns_of_a_sheet_without_cells_do_not_count(tmp_path):
    rows = [[None], [None, "a", None, "b"], [None, 1, None, None], [], [None, None, None, 2]]
    path = put(tmp_path, "a.xlsx", xlsx(rows))
    assert table_of(path) == {"a": [1, None], "b": [None, 2]}
    rows.append([None, "x\x7f"])
    said = refusal(put(tmp_path, "b.xlsx", xlsx(rows)))
    assert "got the control character U+007F at row 6, column 'a', in" in said


def test_dates_truths_and_errors_of_a_sheet_keep_their_types(tmp_path):
    rows = [["day", "truth", "fault"], [dt.date(2024, 2, 29), True, "#N/A"], [None, False, "x"]]
    assert table_of(put(tmp_path, "a.xlsx", xlsx(rows))) == {
        "day": [dt.date(2024, 2, 29), None],
        "truth": [True, False],
        "fault": [None, "x"],
    }


def test_text_in_a_sheet_is_typed_as_in_csv(tmp_path):
    rows = [["price", "code", "size"], ["€1,200", "007", "1.5"], ["€3", "012", "NA"]]
    found = readers.read_table(Path(put(tmp_path, "a.xlsx", xlsx(rows))))
    assert found.table.columns == ([1200, 3], ["007", "012"], [1.5, None])
    assert found.notes == (
        "the numbers of column price were read without currency signs and thousands separators.",
    )


# ---------------------------------------------------------------- lines of text
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_line_of_text_is_a_row(tmp_path, end):
    lines = ["Good, wasn't it?", "", "  7 ", "NA", " ", '"quoted"']
    found = readers.read_table(Path(put(tmp_path, "a.txt", end.join(lines))))
    assert found.table.names == ("text",)
    assert found.table.columns == (["Good, wasn't it?", "7", "NA", '"quoted"'],)
    assert found.notes == ("2 blank lines were left out.",)


def test_lines_of_text_with_tabs_in_all_of_them_are_said_to_look_like_a_table(tmp_path):
    packed = gzip.compress("a\tb\n\n1\t2\n".encode("utf-16"))
    found = readers.read_table(Path(put(tmp_path, "a.txt.gz", packed)))
    assert found.table.columns == (["a\tb", "1\t2"],)
    assert found.notes == (
        "1 blank line was left out.",
        "each line was taken as one text, though all have tabs as a .tsv file has.",
    )


# ---------------------------------------------------------------- numbers as people write them
def test_numbers_of_spreadsheets_in_csv_are_read_and_that_is_said(tmp_path):
    text = 'price,share,name\n"$1,200.50",12.5%,x\n"$3.00",7%,y\n'
    found = readers.read_table(Path(put(tmp_path, "a.csv", text)))
    assert found.table.columns == ([1200.5, 3], [12.5, 7], ["x", "y"])
    assert found.notes == (
        "the numbers of column price were read without currency signs and thousands separators.",
        "the numbers of column share were read without % signs.",
    )


def test_semicolons_let_points_separate_thousands(tmp_path):
    path = put(tmp_path, "a.csv", "a;b\n1.234,50;2,5\n−12;1\n")  # noqa: RUF001 - a minus sign
    assert table_of(path) == {"a": [1234.5, -12], "b": [2.5, 1]}


# ---------------------------------------------------------------- bad files
LOCKED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le")
SECRET = b"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>"
FAR = [["a"], [1]]
WIDE = [[f"c{i}" for i in range(2001)], [1] * 2001]


def far():
    """A sheet with a cell in the last row and column."""
    book = openpyxl.load_workbook(BytesIO(xlsx(FAR)))
    book.active["XFD1048576"] = 1
    book.save(buffer := BytesIO())
    return buffer.getvalue()


def hidden():
    """A spreadsheet whose only table is in a sheet that is not shown."""
    book = openpyxl.load_workbook(BytesIO(xlsx([], FAR)))
    book.worksheets[1].sheet_state = "hidden"
    book.save(buffer := BytesIO())
    return buffer.getvalue()


def locked_ods():
    """An OpenDocument file that says that a password protects it."""
    with ZipFile(BytesIO(bytes_of(".ods"))) as old, ZipFile(buffer := BytesIO(), "w") as new:
        for entry in old.namelist():
            new.writestr(entry, old.read(entry).replace(b"/></manifest:manifest>", SECRET))
    return buffer.getvalue()


def without(name, content):
    """A spreadsheet that lacks one of its parts."""
    with ZipFile(BytesIO(content)) as old, ZipFile(buffer := BytesIO(), "w") as new:
        for entry in old.namelist():
            if entry != name:
                new.writestr(entry, old.read(entry))
    return buffer.getvalue()


BAD = {
    "empty.json": ("", "hold a table; got nothing"),
    "blank.json": (" \n ", "hold a table; got nothing"),
    "object.json": ('{"a": 1}', "hold a list of JSON objects; got {'a': 1} in"),
    "objects in object.json": ('{"data": [{"a": 1}]}', "objects; got {'data': [{'a': 1}]} in"),
    "pretty object.json": ('{\n"a": 1\n}', "hold a list of JSON objects; got {'a': 1} in"),
    "number.json": ("7", "hold a list of JSON objects; got 7 in"),
    "text.json": ('"a"', "hold a list of JSON objects; got 'a' in"),
    "null.json": ("null", "hold a list of JSON objects; got None in"),
    "nan.json": ("NaN", "objects; got NaN, which JSON does not have, in"),
    "lists.json": ("[[1, 2]]", "hold a list of JSON objects; got [1, 2] at line 1 in"),
    "numbers.json": ("[1, 2]", "hold a list of JSON objects; got 1 at line 1 in"),
    "mixed.json": ('[{"a": 1},\n null]', "hold a list of JSON objects; got None at line 2 in"),
    "no rows.json": ("[ ]", "have rows; got none in"),
    "no keys.json": ("[{}, {}]", "have rows; got none in"),
    "open.json": ('[{"a": 1}', "no JSON (Expecting ',' or ']', character 10) at line 1 in"),
    "opened.json": ("[", "no JSON (Expecting value, character 2) at line 1 in"),
    "comma.json": ('[{"a": 1},\n]', "no JSON (Expecting value, character 1) at line 2 in"),
    "no comma.json": ('[{"a": 1}\n{"a": 2}]', "no JSON (Expecting ',' or ']', character 10)"),
    "cut.json": ('[{"a": 1},\n{"a"', "no JSON (Expecting ':' delimiter, character 5) at line 2"),
    "rest.json": ('[{"a": 1}] 7', "no JSON (Expecting ',' or ']', character 10) at line 1 in"),
    "words.json": ("some words", "no JSON (Expecting value, character 1) at line 1 in"),
    "single quotes.json": ("[{'a': 1}]", "no JSON (Expecting property name enclosed in double"),
    "twice.json": ('[{"a": 1},\n{"a": 1, "a": 2}]', "got 'a' for keys 1 and 2 at line 2 in"),
    "column twice.json": ('[{"a": 1, " a": 2}]', "once; got 'a' for columns 1 and 2 in"),
    "infinite.json": ('[{"a": Infinity}]', "got Infinity, which JSON does not have, at line 1"),
    "deep.json": (f'[{{"a": {"[" * 100_000}', "at line 1 in"),
    "deep object.json": (f'{{"a":\n {"[" * 100_000}', "hold a list of JSON objects; got"),
    "long.json": (f'[{{"a": {"1" * 5000}}}]', "at line 1 in"),
    "control.json": ('[\n{"a": "\\u0000"}]', "the control character U+0000 at line 2, column 'a'"),
    "raw control.json": ('[{"a": "\x01"}]', "the control character U+0001 at line 1, character 9"),
    "latin.json": (
        '[{"a": "ß"}]'.encode("cp1252"),
        "be text in UTF-8; got the byte 0xDF at line 1",
    ),
    "wide.json": (json.dumps([dict.fromkeys(WIDE[0], 1)]), "have at most 2000 columns; got 2001"),
    "huge.json": (json.dumps([{"a": "x" * 1_000_001}]), "got 1000001 at line 1, column 'a', in"),
    "packed.json.gz": (b"[]", "be sound; got"),
    "empty.txt": ("", "hold a table; got nothing"),
    "blank.txt": ("\n \n\t\n", "hold a table; got nothing"),
    "binary.txt": (b"a\x00b", "hold text, no binary data; got the control character U+0000"),
    "picture.txt": (b"\x89PNG\r\n\x1a\n", "be text in UTF-8; got the byte 0x89 at line 1"),
    "latin.txt": ("a\nß".encode("cp1252"), "got the byte 0xDF at line 2, character 1, in"),
    "huge.txt": ("a\n\n" + "x" * 1_000_001, "got 1000001 at line 3, column 'text', in"),
    "packed.txt.gz": (gzip.compress(b"abc")[:-9], "be sound; got"),
    "ragged.tsv.gz": (gzip.compress(b"a\tb\n1\n"), "got 1 at line 2, none for column 'b', in"),
    "list.jsonl.gz": (gzip.compress(b"[]"), "hold a JSON object in each line; got [] at line 1"),
    "empty.xlsx": (b"", "hold a table; got nothing"),
    "words.xlsx": (b"a,b\n1,2\n", "be a sound spreadsheet; got what cannot be read ("),
    "page.xls": (b"<html><table></table></html>", "be a sound spreadsheet; got what cannot be"),
    "cut.xlsx": (bytes_of(".xlsx")[:900], "be a sound spreadsheet; got what cannot be read ("),
    "cut.xls": (bytes_of(".xls")[:900], "be a sound spreadsheet; got what cannot be read ("),
    "cut.ods": (bytes_of(".ods")[:900], "be a sound spreadsheet; got what cannot be read ("),
    "other zip.xlsx": (
        without("xl/workbook.xml", xlsx(FAR)),
        "be a sound spreadsheet; got what",
    ),
    "no content.ods": (without("content.xml", bytes_of(".ods")), "be a sound spreadsheet; got"),
    "locked.xlsx": (LOCKED, "be open to all; got a password in"),
    "locked.ods": (locked_ods(), "be open to all; got a password in"),
    "no cells.xlsx": (xlsx([]), "hold a table; got nothing in"),
    "no cells first.xlsx": (xlsx([], FAR), "hold a table; got nothing in"),
    "hidden.xlsx": (hidden(), "hold a table; got nothing in"),
    "names.xlsx": (xlsx([["a", "b"]]), "have rows; got none in"),
    "names.ods": (ods([["a", "b"]]), "have rows; got none in"),
    "twice.xlsx": (xlsx([["a", "a"], [1, 2]]), "once; got 'a' for columns 1 and 2 in"),
    "wide.xlsx": (xlsx(WIDE), "have at most 2000 columns; got 2001 in"),
    "far.xlsx": (far(), "20000000 cells in a sheet; got 1048576 rows and 16384 columns in"),
    "huge.ods": (ods([["a"], ["x" * 1_000_001]]), "got 1000001 at row 2, column 'a', in"),
}
"""Files by name, and what is said of each."""


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_sentence(tmp_path, name):
    content, why = BAD[name]
    said = refusal(put(tmp_path, name, content))
    assert said.startswith("file must ")
    assert why in said


@pytest.mark.parametrize("ending", READERS)
def test_a_file_that_is_missing_or_a_folder_gets_one_sentence(tmp_path, ending):
    assert "file must exist; got" in refusal(str(tmp_path / f"a{ending}"))
    (tmp_path / f"b{ending}").mkdir()
    assert "file must be no folder; got" in refusal(str(tmp_path / f"b{ending}"))


# ---------------------------------------------------------------- ARFF and Parquet that fail
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            ARFF.replace("{x,y,z}", "string") + "1,x,p\n",
            "got text attributes, which SciPy does not",
        ),
        (ARFF + "{0 1, 2 p}\n", "got sparse lines, which SciPy does not read, in"),
        (ARFF + "1,q,p\n", "got what cannot be read (q value not in"),
        (ARFF + "1\n", "got no ARFF, or a line too short, in"),
        ("some words", "got no ARFF, or"),
        ("@relation r\n@attribute a nonsense\n@data\n1\n", "got what cannot be read ("),
        (ARFF.replace("kind", "w"), "got what cannot be read ("),
    ],
)
def test_an_arff_beyond_scipy_is_refused(tmp_path, text, why):
    said = refusal(put(tmp_path, "a.arff", text))
    assert said.startswith("file must be sound ARFF; got ")
    assert why in said
    assert said.endswith("Save it as CSV.")


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_parquet_file_of_very_many_rows_is_refused_before_it_is_read(
    tmp_path, monkeypatch, library
):
    rows = 20_000_000
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": pl.repeat(1, rows, dtype=pl.Int8, eager=True)}).write_parquet(path)
    assert path.stat().st_size < 2_000_000
    if library == "pandas":
        monkeypatch.setitem(sys.modules, "polars", None)
    said = refusal(str(path))
    assert "file must have at most 10,000,000 rows and 100,000,000 cells; got 20,000,000" in said
    assert "possibal rank" in said
    monkeypatch.setattr(readers, "MOST_ROWS", 5)
    monkeypatch.setattr(readers, "MOST_CELLS", 9)
    small = put(tmp_path, "b.parquet", parquet(pl.DataFrame({"a": [1] * 5})))
    assert len(readers.read_table(Path(small)).table.columns[0]) == 5
    wide = put(tmp_path, "c.parquet", parquet(pl.DataFrame({"a": [1] * 5, "b": [1] * 5})))
    assert "got 5 rows of 2 columns" in refusal(wide)


def test_a_broken_parquet_file_is_refused(tmp_path):
    content = bytes_of(".parquet")
    content = content[:40] + content[-8:]
    assert "file must be sound Parquet; got" in refusal(put(tmp_path, "a.parquet", content))


def test_without_polars_pandas_is_asked_and_held_to_the_same_rules(tmp_path, monkeypatch):
    path = put(tmp_path, "a.parquet", bytes_of(".parquet"))
    monkeypatch.setitem(sys.modules, "polars", None)
    frame = pd.DataFrame([[1, "x"], [None, "y"]], columns=["a", "b"])
    monkeypatch.setattr(pd, "read_parquet", lambda _: frame)  # its engine is not always there
    assert table_of(path) == {"a": [1, None], "b": ["x", "y"]}
    frame.columns = ["a", "a"]
    assert "got 'a' for columns 1 and 2 in" in refusal(path)
    monkeypatch.setattr(pd, "read_parquet", lambda _: int("none"))
    assert "file must be sound Parquet; got what cannot be read (invalid literal" in refusal(path)


@pytest.mark.parametrize("library", ["polars", "pandas"])
@pytest.mark.parametrize(
    ("index", "column"),
    [
        (pd.RangeIndex(3), {}),
        (pd.RangeIndex(100, 103), {"__index_level_0__": [100, 101, 102]}),
        (pd.RangeIndex(6, 0, -2, name="nr"), {"nr": [6, 4, 2]}),
        (["x", "y", "z"], {"__index_level_0__": ["x", "y", "z"]}),
    ],
)
def test_the_index_of_a_pandas_frame_is_a_column(tmp_path, monkeypatch, library, index, column):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"a": [1, 2, 3]}, index=index).to_parquet(path)
    if library == "pandas":
        monkeypatch.setitem(sys.modules, "polars", None)
    assert table_of(path) == {"a": [1, 2, 3], **column}


# ---------------------------------------------------------------- text as it was written
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_is_that_of_the_first_line(tmp_path, separator):
    path = tmp_path / "a.csv"
    lines = ["", "id,label", "", 'a,"x', 'y"', "", "b,z"]
    path.write_text("\r\n".join(lines).replace(",", separator), newline="")
    sheet = readers.read_sheet(path)
    assert sheet.names == ("id", "label")
    assert sheet.rows == [("line 4", ["a", "x\r\ny"]), ("line 7", ["b", "z"])]


def test_csv_may_be_of_another_encoding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("id\nß\n".encode("cp1252"))
    assert readers.read_sheet(path, "cp1252").rows == [("line 2", ["ß"])]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a,b\n1,2\n\n1\n",
            "have as many cells in .* the first, 2; got 1 at line 4, none for column 'b',",
        ),
        ('a,b\n1,"2', "close each quotation mark; got one left open at line 2, column 2,"),
        ('a,b\n1, "2\n"3', "close each quotation mark; got one left open at line 3, column 1,"),
        (
            'a,b\n"1"x,2',
            "have a separator after a closing quotation mark; got other text at line 2,",
        ),
        ("a,b, a \n", "name each column once; got 'a' for columns 1 and 3"),
        ("'=a,b,=a\n", "name each column once; got '=a' for columns 1 and 3"),
    ],
)
def test_csv_that_is_not_sound_is_refused(tmp_path, text, sentence):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^file must {sentence} in "):
        readers.read_sheet(path)


@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_numbers_and_words_of_other_forms_become_text(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    columns = [
        SheetColumn("x", [1.0, 0.1, None], is_number=True),
        SheetColumn("y", ["007", "NA", None]),
    ]
    path.write_bytes(write_sheet(columns, ending))
    assert readers.read_sheet(path).rows == [
        ("row 1", ("1", "007")),
        ("row 2", ("0.1", "NA")),
        ("row 3", (None, None)),
    ]


def test_a_sheet_keeps_blanks_codes_and_words_that_a_table_would_read_otherwise(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id, label \n007, NA\n'=1,'tis\n")
    sheet = readers.read_sheet(path)
    assert sheet.names == ("id", "label")
    assert sheet.rows == [("line 2", ["007", " NA"]), ("line 3", ["=1", "'tis"])]


def test_a_sheet_may_have_names_only(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,\n")
    assert readers.read_sheet(path).names == ("id", "unnamed 2")
    assert readers.read_sheet(path).rows == []
