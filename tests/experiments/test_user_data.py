import gzip
import hashlib
import json
import re
import socket
import sys
import time
from pathlib import Path
from urllib.request import install_opener

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.tables import ARFF, PLAIN, bytes_of, parquet, put

from possibal.data.encoders import Table
from possibal.data.readers import READERS
from possibal.errors import MissingPackageError
from possibal.experiments import user_data
from possibal.experiments.strategies import resolve_pipeline
from possibal.experiments.user_data import LoadedTable, loaded, read

TABLES = [ending for ending in READERS if not ending.startswith(".txt")]
"""Endings of files that have several columns."""
COLOURS = ["red", "blue", "", "red", "green", "blue", "red", "blue", "red", "green", "red", "red"]
AGES = ["31", "", "45", "52", "?", "28", "39", "41", "inf", "33", "60", "47"]
KINDS = ["pear", "apple"] * 5 + ["", "pear"]
FLOWERS = "age,site,colour,kind\n" + "".join(
    f"{age},north,{colour},{kind}\n" for age, colour, kind in zip(AGES, COLOURS, KINDS, strict=True)
)


def complaint(source, label=None):
    """The sentence that a bad source gets, after a check that it is one or two sentences."""
    with pytest.raises(ValueError, match=r"^(source|label|file) must [^\n]*; got [^\n]*\.$") as e:
        read(source, label)
    assert len(str(e.value)) < 400 + len(source)
    return str(e.value)


# ---------------------------------------------------------------- a file as it comes
def test_a_csv_with_words_gaps_and_a_constant_becomes_a_data_set_and_all_is_said(tmp_path):
    got = read(put(tmp_path, "flowers.csv", FLOWERS))
    data = got.dataset
    assert data.name == "flowers"
    assert data.labels == ("apple", "pear")
    assert data.y.tolist() == [1, 0] * 5 + [1]
    assert data.features == ("age", *(f"colour = {c}" for c in ("blue", "green", "missing", "red")))
    assert data.X[:, 0].tolist() == [31, 40, 45, 52, 40, 28, 39, 41, 40, 33, 47]
    assert data.X[2].tolist() == [45, 0, 0, 1, 0]
    assert data.source == user_data.Citation("the user's file flowers.csv", "unknown", None, None)
    assert got.notes == (
        "column kind, the last, was taken as the label.",
        "1 row without a label was left out.",
        "3 of 11 cells of column age were missing and were set to the column's median.",
        "column site was constant and was left out.",
        "column colour has 4 different words, missing cells counted as one, and became 4 columns.",
    )


def test_several_rows_without_a_label_are_said_in_the_plural(tmp_path):
    got = read(put(tmp_path, "a.csv", PLAIN + "1,2,\n1,2,NA\n"))
    assert "2 rows without a label were left out." in got.notes
    assert len(got.dataset.y) == 12


def test_a_label_that_is_given_needs_no_note(tmp_path):
    got = read(put(tmp_path, "a.csv", PLAIN), "y")
    assert got.notes == ()
    assert got.dataset.features == ("a", "b")


@pytest.mark.parametrize("name", ["label", "Class", "TARGET", "y"])
def test_a_column_with_a_usual_name_is_the_label(tmp_path, name):
    lines = [f"{'no' if i % 3 else 'yes'},{i}" for i in range(12)]
    got = read(put(tmp_path, "a.csv", "\n".join([f"{name},b", *lines])))
    assert got.dataset.labels == ("no", "yes")
    assert got.notes == (f"column {name} was taken as the label.",)


def test_with_two_usual_names_the_last_column_is_the_label(tmp_path):
    text = "class,y,kind\n" + "".join(f"{i % 5},{i % 4},k{i % 2}\n" for i in range(12))
    got = read(put(tmp_path, "a.csv", text))
    assert got.notes == ("column kind, the last, was taken as the label.",)
    assert got.dataset.features == ("class", "y")


def test_a_label_of_a_single_row_is_kept(tmp_path):
    got = read(put(tmp_path, "a.csv", PLAIN + "1,2,maybe\n"))
    assert got.dataset.labels == ("maybe", "no", "yes")


# ---------------------------------------------------------------- every kind of file
@pytest.mark.parametrize("ending", TABLES)
def test_every_kind_of_file_gives_the_same_data(tmp_path, ending):
    data = read(put(tmp_path, f"Plain{ending.upper()}", bytes_of(ending))).dataset
    assert data.name == "Plain"
    assert data.features == ("a", "b")
    assert data.labels == ("no", "yes")
    assert data.y.tolist() == [i % 3 == 0 for i in range(12)]
    np.testing.assert_array_equal(data.X, [[i % 7, i * 0.5] for i in range(12)])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends_are_guessed(tmp_path, separator, end):
    text = PLAIN.replace(",", separator).replace("\n", end)
    assert read(put(tmp_path, "a.csv", text)).dataset.X.shape == (12, 2)


def test_a_semicolon_lets_a_comma_separate_decimals(tmp_path):
    text = PLAIN.replace(",", ";").replace(".", ",")
    got = read(put(tmp_path, "a.csv", text)).dataset
    assert got.X[:, 1].tolist() == [i * 0.5 for i in range(12)]


def test_cells_may_be_quoted_and_hold_separators_and_lines_may_be_blank(tmp_path):
    text = PLAIN.replace("a,b,y", '"a, cm", "b\nc",y\n').replace("yes", '"yes, ""sir"""')
    data = read(put(tmp_path, "a.csv", text)).dataset
    assert data.features == ("a, cm", "b\nc")
    assert data.labels == ("no", 'yes, "sir"')


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    data = read(put(tmp_path, "a.csv", "\ufeff" + PLAIN.replace("yes", "öfter"))).dataset
    assert data.features == ("a", "b")
    assert data.labels == ("no", "öfter")


def test_another_encoding_is_read_if_it_is_named_and_else_refused(tmp_path):
    path = put(tmp_path, "a.csv", PLAIN.replace("yes", "öfter").encode("latin-1"))
    assert read(path, encoding="latin-1").dataset.labels == ("no", "öfter")
    assert "got the byte 0xF6 at line 2, character 7, in" in complaint(path)


def test_a_first_line_of_numbers_is_taken_for_names_and_that_is_said(tmp_path):
    got = read(put(tmp_path, "a.csv", PLAIN.partition("\n")[2]))
    assert "the first line was taken as the names of the columns" in got.notes[0]
    assert len(got.dataset.y) == 11


def test_a_second_column_with_the_name_of_the_label_is_refused(tmp_path):
    path = put(tmp_path, "a.csv", PLAIN.replace("a,b,y", "y,b,y"))
    assert "file must name each column once; got 'y' for columns 1 and 3 in" in complaint(path, "y")


def test_an_index_that_pandas_wrote_is_left_out(tmp_path):
    lines = PLAIN.splitlines()
    text = "\n".join(f"{i - 1 if i else ''},{line}" for i, line in enumerate(lines))
    got = read(put(tmp_path, "a.csv", text))
    assert got.notes[-1] == "column unnamed 1 numbers the rows and was left out."


def test_a_file_that_is_all_ending_is_called_by_it(tmp_path):
    assert read(put(tmp_path, ".csv", PLAIN)).dataset.name == ".csv"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    X=arrays(float, (12, 3), elements=st.floats(-1e100, 1e100)),
    separator=st.sampled_from([",", ";", "\t"]),
)
def test_numbers_come_back_from_csv_to_the_last_bit(tmp_path, X, separator):
    lines = [[*map(repr, row.tolist()), "ab"[i % 2]] for i, row in enumerate(X)]
    text = "\n".join(separator.join(line) for line in [["p", "q", "r", "kind"], *lines])
    varied = np.ptp(X, axis=0) > 0
    path = put(tmp_path, "x.csv", text)
    if varied.any():
        np.testing.assert_array_equal(read(path).dataset.X, X[:, varied])
    else:
        assert "got none" in complaint(path)


# ---------------------------------------------------------------- Parquet and ARFF
def test_parquet_keeps_its_types(tmp_path):
    frame = pl.DataFrame(
        {
            "whole": [None, *range(11)],
            "truth": [True, False] * 6,
            "word": pl.Series(["7", "8", None] * 4, dtype=pl.Categorical),
            "day": [None, *pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 11), eager=True)],
            "list": [[1, 2]] * 12,
            "y": [1, 2, 3] * 4,
        }
    )
    got = read(put(tmp_path, "a.parquet", parquet(frame)))
    assert got.dataset.labels == ("1", "2", "3")
    words = ("word = 7", "word = 8", "word = missing")
    assert got.dataset.features == ("whole", "truth", *words, "day (time)")
    assert got.dataset.X[0].tolist() == [5, 1, 1, 0, 0, 19728]
    assert "column day holds dates and became time; 1 of 12 was missing." in got.notes
    assert "column list holds neither numbers nor words and was left out." in got.notes


def test_parquet_without_any_reader_names_what_to_install(tmp_path, monkeypatch):
    path = put(tmp_path, "a.parquet", bytes_of(".parquet"))
    for package in ("polars", "pyarrow", "fastparquet"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=r"pyarrow.* pip install 'possibal\[experiments"):
        read(path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"pyarrow.* pip install 'possibal\[experiments"):
        read(path)


def test_parquet_is_read_without_polars(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    path = put(tmp_path, "a.parquet", bytes_of(".parquet"))
    expected = read(path).dataset
    monkeypatch.setitem(sys.modules, "polars", None)
    np.testing.assert_array_equal(read(path).dataset.X, expected.X)


def test_parquet_and_csv_are_read_without_pandas(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for ending in TABLES:
        assert read(put(tmp_path, f"a{ending}", bytes_of(ending))).dataset.X.shape == (12, 2)


@pytest.mark.works_with("ARFF", "labelled tables for `possibal compare`")
def test_arff_may_have_gaps_and_spaces_in_names(tmp_path):
    lines = [f"{'?' if i == 3 else i},{'x?z'[i % 3]},{'pq'[i % 2]}" for i in range(12)]
    got = read(put(tmp_path, "a.arff", ARFF + "\n".join(lines)))
    assert got.dataset.features == ("a b", "w = missing", "w = x", "w = z")
    assert got.dataset.X[3].tolist() == [6, 0, 1, 0]
    assert got.dataset.labels == ("p", "q")


# ---------------------------------------------------------------- bad files
@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize("content", [b"", b"  \n", b"\xef\xbb\xbf", bytes(range(256)) * 9, b"PAR1"])
def test_empty_and_binary_files_get_one_sentence(tmp_path, ending, content):
    packed = gzip.compress(content) if ending.endswith("gz") else content
    words = content == b"PAR1" and ending not in TABLES  # one column, and sound
    rule = "source must have a column of labels" if words else "file must "
    assert complaint(put(tmp_path, f"a{ending}", packed)).startswith(rule)


def test_other_endings_are_refused_with_the_known_ones(tmp_path):
    said = complaint(put(tmp_path, "a.docx", PLAIN))
    assert "source must be openml:NUMBER or a file that ends in .csv, .csv.gz, .tsv," in said


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "a.csv").mkdir()
    assert "file must be no folder; got" in complaint(str(tmp_path / "a.csv"))


@pytest.mark.parametrize("name", ["none.csv", "none/none.csv"])
def test_a_file_that_is_not_there_is_refused(tmp_path, name):
    assert "file must exist; got" in complaint(str(tmp_path / name))


@pytest.mark.parametrize("name", ["a" * 5000 + ".csv", "a\0.csv"])
def test_a_name_that_no_file_can_have_is_refused(name):
    assert "file must be sound; got" in complaint(name)


# ---------------------------------------------------------------- bad tables
def test_an_unknown_label_is_refused_with_the_nearest_names(tmp_path):
    path = put(tmp_path, "flowers.csv", FLOWERS)
    assert complaint(path, "Color").endswith("got 'Color'. The nearest columns are 'colour'.")
    assert complaint(path, "zzz").endswith("The last columns are 'site', 'colour', 'kind'.")


def test_a_label_column_of_one_label_is_refused(tmp_path):
    assert "at least 2 different labels; got 'site' with 1" in complaint(
        put(tmp_path, "flowers.csv", FLOWERS), "site"
    )


def test_a_label_column_of_many_numbers_is_refused(tmp_path):
    text = "a,price\n" + "".join(f"{i % 5},{i * 1.5}\n" for i in range(30))
    assert "'price' with 30 different numbers, which looks like a number to be predicted" in (
        complaint(put(tmp_path, "a.csv", text))
    )


def test_nine_labelled_rows_are_too_few_and_ten_are_enough(tmp_path):
    lines = PLAIN.splitlines()
    nine = "\n".join([*lines[:10], "1,2,", "1,2,"])
    assert "at least 10 rows with a label in column 'y'; got 9." in complaint(
        put(tmp_path, "a.csv", nine)
    )
    assert len(read(put(tmp_path, "b.csv", "\n".join(lines[:11]))).dataset.y) == 10


def test_names_without_rows_are_no_data(tmp_path):
    assert "file must have rows; got none in" in complaint(put(tmp_path, "a.csv", "a,b,y\n"))


def test_a_single_column_is_no_data(tmp_path):
    text = "y\n" + "a\nb\n" * 6
    assert "a column of labels and at least one more; got 1" in complaint(
        put(tmp_path, "a.csv", text)
    )


def test_columns_that_all_say_nothing_are_refused_with_the_reason(tmp_path):
    text = "a,day,y\n" + "".join(f"1,2024-01-10,{'pq'[i % 2]}\n" for i in range(12))
    assert "got none, for column a was constant and was left out. column day was" in complaint(
        put(tmp_path, "a.csv", text)
    )


# ---------------------------------------------------------------- OpenML
@pytest.fixture(name="offline")
def _offline(tmp_path, monkeypatch):
    """An empty cache, and a way to the network that leads nowhere."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    install_opener(None)  # the next request looks for its way anew
    yield tmp_path
    install_opener(None)


FEATURES = {"a": "numeric", "w": ["x", "y"], "note": "string", "z": ["1", "2"], "kind": ["p", "q"]}
LINES = [f"{i},{'xy'[i % 2]},n{i},{1 + i % 2},{'pq'[i // 6]}" for i in range(12)]


def cache(home, *, targets=("kind",), lines=LINES, **facts):
    """Put a set with the number 7 where scikit-learn keeps what it has fetched."""
    kinds = {
        name: f"{{{','.join(k)}}}" if isinstance(k, list) else k for name, k in FEATURES.items()
    }
    head = "".join(f"@attribute {name} {kind}\n" for name, kind in kinds.items())
    arff = ("@relation r\n" + head + "@data\n" + "\n".join(lines) + "\n").encode()
    features = [
        {
            "index": str(place),
            "name": name,
            "data_type": "nominal" if isinstance(kind, list) else kind,
            "nominal_values": kind,
            "is_target": str(name in targets).lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": str(sum(line.endswith("?") for line in lines))
            if name == "kind"
            else "0",
        }
        for place, (name, kind) in enumerate(FEATURES.items())
    ]
    about = {
        "id": "7",
        "name": "toy",
        "version": "1",
        "description": "A toy.",
        "format": "ARFF",
        "status": "active",
        "url": "https://www.openml.org/data/v1/download/7/toy.arff",
        "md5_checksum": hashlib.md5(arff, usedforsecurity=False).hexdigest(),
        **facts,
    }
    rows = [{"name": "NumberOfInstances", "value": str(len(lines))}]
    contents = {
        "api/v1/json/data/7": {"data_set_description": about},
        "api/v1/json/data/features/7": {"data_features": {"feature": features}},
        "api/v1/json/data/qualities/7": {"data_qualities": {"quality": rows}},
        "data/v1/download/7/toy.arff": arff,
    }
    for place, content in contents.items():
        path = home / "openml" / "openml.org" / f"{place}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        path.write_bytes(gzip.compress(raw))


def test_a_set_of_openml_is_read_with_its_default_label(offline):
    cache(offline)
    got = read("openml:7")
    assert got.dataset.name == "openml-7"
    assert got.dataset.features == ("a", "w = x", "w = y", "z = 1", "z = 2")
    assert got.dataset.labels == ("p", "q")
    assert got.dataset.y.tolist() == [0] * 6 + [1] * 6
    assert got.dataset.source == user_data.Citation("OpenML 7", "unknown", 7, None)
    assert got.notes[0] == "column kind, the set's default, was taken as the label."
    assert "column note has another word in every row and was left out." in got.notes


def test_another_column_of_an_openml_set_may_be_the_label(offline):
    cache(offline)
    data = read("OpenML:07", "w").dataset
    assert data.labels == ("x", "y")
    assert data.features == ("a", "z = 1", "z = 2", "kind = p", "kind = q")
    assert "The nearest columns are 'kind'" in complaint("openml:7", "kin")


def test_rows_of_an_openml_set_without_a_label_are_left_out_if_the_label_is_named(offline):
    cache(offline, lines=[*LINES, "1,x,n,1,?"])
    assert "1 row without a label was left out." in read("openml:7", "kind").notes
    assert "Target column 'kind' has 1 missing values" in complaint("openml:7")


@pytest.mark.parametrize("targets", [(), ("w", "kind")])
def test_an_openml_set_without_one_default_label_needs_a_name(offline, targets):
    cache(offline, targets=targets)
    said = complaint("openml:7")
    assert f"label must be given for openml:7, which has {len(targets)} default labels" in said
    assert "'kind'." in said


def test_what_openml_says_against_a_set_is_passed_on(offline):
    cache(offline, status="deactivated")
    note = read("openml:7", "kind").notes[0]
    assert note.startswith("scikit-learn warns: Version 1 of dataset toy is inactive")


def test_a_sparse_set_of_openml_is_refused(offline):
    cache(offline, format="Sparse_ARFF")
    assert "(Sparse ARFF datasets cannot be loaded" in complaint("openml:7")


@pytest.mark.usefixtures("offline")
def test_without_a_network_one_sentence_comes_soon():
    began = time.monotonic()
    said = complaint("openml:61")
    assert "can be fetched; got openml:61 (Connection refused)" in said
    assert said.endswith("or give a file instead.")
    assert time.monotonic() - began < 5


@pytest.mark.usefixtures("offline")
def test_a_server_that_never_answers_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(user_data, "PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.delenv("HTTPS_PROXY")
        assert "openml:61 (timed out)" in complaint("openml:61")
    assert socket.getdefaulttimeout() is None


@pytest.mark.parametrize("number", ["abc", "-3", "0", "", "1.5", " 61", "٣", "1" * 5000])
def test_a_number_that_is_none_is_refused(number):
    assert "must be openml: and a whole number above 0; got" in complaint(f"openml:{number}")


def test_openml_without_pandas_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"pandas.* pip install 'possibal\[experiments\]"):
        read("openml:61")


def test_a_table_without_columns_is_no_data():
    found = LoadedTable("none", Table((), ()), user_data.Citation("nobody", "unknown", None, None))
    with pytest.raises(ValueError, match=r"^source must have a column of labels .* got 0 in all"):
        loaded(found, None)


# ---------------------------------------------------------------- pipelines
PIPELINE = """
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from possibal import PossibilisticGPClassifier

steps = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["town"]))
pipeline = make_pipeline(steps, PossibilisticGPClassifier())
alone = StandardScaler()

def made():
    return pipeline
"""


@pytest.mark.parametrize("name", ["pipeline", "made"])
def test_a_pipeline_of_ones_own_makes_the_numbers(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("own_steps.py").write_text(PIPELINE)
    lines = [f"{i},{'ab'[i % 2]},{'xyz'[i % 3]},{'no' if i < 6 else 'yes'}" for i in range(12)]
    Path("a.csv").write_text("\n".join(["size,town,unused,label", *lines]))
    found = user_data.read("a.csv", pipeline=f"own_steps:{name}")
    assert found.dataset.X.shape == (12, 3)
    assert found.dataset.X[:, 0].std() == pytest.approx(1.0)
    assert f"the steps of own_steps:{name} made 3 columns" in found.notes[-1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pipeline", "pipeline must be module:name; got 'pipeline'."),
        ("own_steps:none", "pipeline must name a scikit-learn pipeline of its module"),
        ("own_steps:alone", "pipeline must name a scikit-learn pipeline of its module"),
        ("no_such_module:x", "pipeline must name a module that can be imported"),
    ],
)
def test_what_is_no_pipeline_is_refused(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    Path("own_steps.py").write_text(PIPELINE)
    with pytest.raises(ValueError, match=re.escape(said)):
        resolve_pipeline(name)
