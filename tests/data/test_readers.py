import gzip
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import ARFF, PLAIN, bytes_of, parquet, put

from possibal.data import encoders, readers
from possibal.data.readers import READERS
from possibal.data.writers import SheetColumn, write_sheet


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
    assert repr(readers._typed(words, decimal)) == repr(encoders.infer_type(words, decimal))  # noqa: SLF001


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
    said = refusal(put(tmp_path, "a.xlsx", PLAIN))
    assert said.startswith(
        "file must end in .csv, .csv.gz, .tsv, .parquet, .jsonl, .ndjson, .arff;"
    )
    assert "file must be no folder" in refusal(str(tmp_path))


def test_a_named_encoding_reaches_the_reader(tmp_path):
    path = put(tmp_path, "a.csv", "größe\n1\n".encode("cp1252"))
    assert table_of(path, encoding="cp1252") == {"größe": [1]}
    assert "encoding must be one that Python knows; got 'cp0'" in refusal(path, encoding="cp0")


@pytest.mark.parametrize("ending", READERS)
def test_progress_grows_to_one_in_many_steps(tmp_path, ending):
    rows = 2000 if ending != ".parquet" else 200
    frame = pl.DataFrame({f"c{i}": range(rows) for i in range(100)})
    content = {
        ".parquet": lambda: parquet(frame),
        ".jsonl": lambda: frame.write_ndjson().encode(),
        ".ndjson": lambda: frame.write_ndjson().encode(),
        ".tsv": lambda: frame.write_csv(separator="\t").encode(),
        ".csv.gz": lambda: gzip.compress(frame.write_csv().encode()),
        ".arff": lambda: arff(frame),
    }.get(ending, lambda: frame.write_csv().encode())()
    told = []
    readers.read_table(Path(put(tmp_path, f"a{ending}", content)), progress=told.append)
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
