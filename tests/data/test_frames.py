import datetime as dt
import sys
import time

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from possibal.data.frames import as_frame, frame_index, from_frame

COLUMNS = {"name": ["a", None, "c"], "size": [1.5, 2.0, None], "count": [3, 1, 2]}
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
PARTS = pa.table(COLUMNS).to_batches(max_chunksize=2)


class ArrowStream:
    """Something of a library that only speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pl.DataFrame(COLUMNS).__arrow_c_stream__(requested_schema)


SOURCES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars, lazy": lambda: pl.LazyFrame(COLUMNS),
    "pyarrow": lambda: pa.table(COLUMNS),
    "pyarrow, a batch": lambda: pa.record_batch(COLUMNS),
    "pyarrow, batches": lambda: pa.RecordBatchReader.from_batches(PARTS[0].schema, PARTS),
    "narwhals": lambda: nw.from_native(pd.DataFrame(COLUMNS)),
    "narwhals, lazy": lambda: nw.from_native(pl.LazyFrame(COLUMNS)),
    "duckdb": lambda: duckdb.from_arrow(pa.table(COLUMNS)),
    "duckdb, through narwhals": lambda: nw.from_native(duckdb.from_arrow(pa.table(COLUMNS))),
    "dask": lambda: dd.from_pandas(pd.DataFrame(COLUMNS), npartitions=2),
    "a stream of Arrow's": ArrowStream,
    "a struct": lambda: pl.DataFrame(COLUMNS).to_struct(),
    "dicts": lambda: RECORDS,
    "dicts without missing cells": lambda: [
        {name: cell for name, cell in row.items() if cell is not None} for row in RECORDS
    ],
    "dicts in a tuple": lambda: tuple(RECORDS),
    "columns": lambda: COLUMNS,
    "columns of several libraries": lambda: {
        "name": pl.Series(COLUMNS["name"]),
        "size": pd.Series(COLUMNS["size"]),
        "count": np.array(COLUMNS["count"]),
    },
    "structured array": lambda: np.ma.array(
        [("a", 1.5, 3), ("", 2.0, 1), ("c", 0.0, 2)],
        mask=[(False, False, False), (True, False, False), (False, True, False)],
        dtype=[("name", "U3"), ("size", "f8"), ("count", "i4")],
    ),
}


def test_a_frame_of_every_type_gives_plain_cells():
    frame = pd.DataFrame(
        {
            "number": [1.5, np.nan],
            "whole": pd.array([1, None], dtype="Int64"),
            "truth": pd.array([True, None], dtype="boolean"),
            "object": pd.Series(["x", None], dtype=object),
            "string": pd.array(["x", None], dtype="string"),
            "category": pd.Categorical(["x", None], categories=["x", "y"]),
            "date": pd.to_datetime(["2024-02-29", None]),
            7: [1, 2],
        }
    )
    table = from_frame(frame)
    assert table.names[-1] == "7"
    assert [cells[0] for cells in table.columns[:6]] == [1.5, 1, True, "x", "x", "x"]
    assert [cells[1] for cells in table.columns] == [None] * 7 + [2]
    assert isinstance(table.columns[6][0], dt.date)


@pytest.mark.parametrize("source", SOURCES)
def test_tables_of_all_libraries_are_the_same(source):
    table = from_frame(SOURCES[source]())
    assert dict(zip(table.names, map(list, table.columns), strict=True)) == COLUMNS
    kinds = {type(cell) for cells in table.columns for cell in cells}
    assert kinds == {str, float, int, type(None)}


def test_a_stream_of_arrow_is_read_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert [list(cells) for cells in from_frame(ArrowStream()).columns] == [*COLUMNS.values()]


def test_a_data_set_of_hugging_face_keeps_the_choice_and_order_of_its_rows():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict(COLUMNS)
    chosen = from_frame(data.select([2, 0]))
    assert chosen.names == ("name", "size", "count")
    assert chosen.columns == (["c", "a"], [None, 1.5], [2, 3])
    assert from_frame(data.with_format("numpy")).columns == tuple(COLUMNS.values())
    with pytest.raises(ValueError, match=r"^pool must .*; got Dataset as pool\['train'\]\. Pass"):
        from_frame(datasets.DatasetDict(train=data))
    with pytest.raises(ValueError, match=r"^pool must be a data frame, .*; got IterableDataset"):
        from_frame(data.to_iterable_dataset())


def test_classes_of_a_data_set_of_hugging_face_are_their_names():
    datasets = pytest.importorskip("datasets")
    kinds = datasets.Features(
        {"a": datasets.Value("int64"), "side": datasets.ClassLabel(names=["left", "right"])}
    )
    data = datasets.Dataset.from_dict({"a": [1, 2, 3, 4], "side": [1, 0, -1, None]}, features=kinds)
    assert from_frame(data).columns == ([1, 2, 3, 4], ["right", "left", None, None])


def test_a_query_of_duckdb_gives_plain_cells():
    cells = "[1, 2] a, {'k': 1} b, date '2024-02-29' c, 1.5::decimal(5, 2) d, interval 1 day e"
    table = from_frame(duckdb.sql(f"select {cells}, map {{'k': 1}} f, null g"))
    assert [one[0] for one in table.columns[:4]] == [[1, 2], {"k": 1}, dt.date(2024, 2, 29), 1.5]
    assert table.columns[-1] == [None]


def test_an_arrow_table_of_every_type_gives_plain_cells():
    frame = pa.table(
        {
            "whole": [2**60 + 1, None],
            "truth": [True, None],
            "words": pa.array(["x", None]).dictionary_encode(),
            "date": [dt.date(2024, 2, 29), None],
            "nothing": pa.nulls(2),
        }
    )
    columns = from_frame(frame).columns
    assert [cells[0] for cells in columns] == [2**60 + 1, True, "x", dt.date(2024, 2, 29), None]
    assert [cells[1] for cells in columns] == [None] * 5


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.Table.from_arrays([[1], [2], [3]], names=["a", "b", "a"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_a_name_that_comes_twice_is_numbered(frame):
    table = from_frame(frame)
    assert table.names == ("a", "b", "a (2)")
    assert table.columns == ([1], [2], [3])
    assert as_frame(frame).names == ["a", "b", "a"]


@pytest.mark.parametrize(
    "other",
    [None, [1, 2], np.ones((2, 2)), pd.Series([1]), pl.LazyFrame({"a": [1]})],
    ids=lambda other: type(other).__name__,
)
def test_what_is_no_frame_in_memory_is_none(other):
    assert as_frame(other) is None


# ---------------------------------------------------------------- Python's own and arrays
def test_a_name_that_comes_twice_in_a_query_is_numbered():
    table = from_frame(duckdb.sql("select 1 as a, 2 as a"))
    assert table.names[0] == "a"
    assert table.columns == ([1], [2])


def test_keys_are_columns_in_the_order_of_their_coming():
    table = from_frame([{"b": 1}, {"a": np.int64(2), "b": None}, {"c": [3], 7: {}}])
    assert table.names == ("b", "a", "c", "7")
    assert table.columns == ([1, None, None], [None, 2, None], [None, None, [3]], [None, None, {}])
    assert type(table.columns[1][1]) is int


def test_rows_in_lists_keep_the_types_of_their_cells():
    table = from_frame([[1, "a"], (2, None)])
    assert table.names == ("x1", "x2")
    assert table.columns == ([1, 2], ["a", None])


def test_an_array_gets_names_for_its_columns():
    table = from_frame(np.arange(6.0).reshape(3, 2))
    assert table.names == ("x1", "x2")
    assert table.columns == ([0.0, 2.0, 4.0], [1.0, 3.0, 5.0])


def test_masked_cells_and_no_dates_are_missing():
    assert from_frame(np.ma.masked_less([[1.0, -1.0]], 0)).columns == ([1.0], [None])
    days = np.array([["2024-02-29", "NaT"]], dtype="datetime64[ns]")
    assert from_frame(days).columns == ([dt.datetime(2024, 2, 29)], [None])


@pytest.mark.parametrize("width", [2, 3])
def test_columns_that_hold_numbers_are_quick(width):
    X = np.random.default_rng(0).normal(size=(100_000, 10))
    X[:: 10 // width, 0] = np.nan
    frames = pd.DataFrame(X), pl.DataFrame(X), pa.Table.from_pandas(pd.DataFrame(X)), X
    for frame in frames:
        began = time.perf_counter()
        assert type(from_frame(frame).columns[1][0]) is float
        assert time.perf_counter() - began < 1


ODD = {
    "sparse": pd.DataFrame({"a": pd.arrays.SparseArray([0.0, np.nan])}),
    "period": pd.DataFrame({"a": pd.PeriodIndex(["2024-01", None], freq="M")}),
    "interval": pd.DataFrame({"a": pd.arrays.IntervalArray.from_tuples([(0, 1), None])}),
    "span": pd.DataFrame({"a": pd.to_timedelta([1, None], unit="s")}),
    "objects": pd.DataFrame({"a": [{"b": [1]}, pd.NA]}, dtype=object),
    "time zone": pd.DataFrame({"a": pd.to_datetime(["2024-01-01", None], utc=True)}),
    "arrow in pandas": pd.DataFrame({"a": pd.array([1, None], dtype="int64[pyarrow]")}),
    "objects in polars": pl.DataFrame({"a": pl.Series([object(), None], dtype=pl.Object)}),
    "nested in polars": pl.DataFrame({"a": [[{"b": 1}], None]}),
    "decimal": pl.DataFrame({"a": pl.Series(["1.5", None]).cast(pl.Decimal(10, 2))}),
    "128 bits": pl.DataFrame({"a": pl.Series([2**100, None], dtype=pl.Int128)}),
    "map": pa.table({"a": pa.array([[("k", 1)], None], type=pa.map_(pa.string(), pa.int64()))}),
    "half": pa.table({"a": pa.array([1.5, None], type=pa.float16())}),
    "view": pa.table({"a": pa.array(["x", None], type=pa.string_view())}),
    "run ends": pa.table({"a": pa.RunEndEncodedArray.from_arrays([1, 2], [1.0, None])}),
}


@pytest.mark.parametrize("kind", ODD)
def test_columns_of_odd_types_have_their_gaps_and_do_not_fail(kind):
    (cells,) = from_frame(ODD[kind]).columns
    assert cells[0] is not None
    assert cells[-1] is None


def test_whole_numbers_of_128_bits_are_kept():
    frame = pl.DataFrame({"a": pl.Series([2**100, 1], dtype=pl.Int128)})
    assert from_frame(frame).columns == ([2**100, 1],)


@pytest.mark.parametrize(
    ("source", "got"),
    [
        (None, "NoneType"),
        (3, "int"),
        ("a.csv", "str"),
        (b"abc", "bytes"),
        ({1, 2}, "set"),
        (memoryview(b"abc"), "memoryview with 1 dimension"),
        (iter([{"a": 1}]), "list_iterator"),
        ([], "list with 1 dimension"),
        ([1, 2, 3], "list with 1 dimension"),
        (["a", "b"], "list with 1 dimension"),
        ([{"a": 1}, 3], "int as pool[1], among dicts"),
        ([[1], {"a": 1}], "list as pool[0], among dicts"),
        ([[1, 2], [3]], "a list of rows that differ in length"),
        ([np.ones(1), np.ones(2)], "list (setting an array element with a sequence"),
        ({"a": "abc"}, "str as pool['a']"),
        ({"a": 1}, "int as pool['a']"),
        ({"a": {"b": 1}}, "dict as pool['a']"),
        ({"a": np.ones((2, 2))}, "ndarray as pool['a']"),
        ({"a": pl.DataFrame({"b": [1]})}, "DataFrame as pool['a']"),
        (np.ones(3), "ndarray with 1 dimension"),
        (np.ones((1, 2, 3)), "ndarray with 3 dimensions"),
        (sparse.csr_array(np.eye(2)), "csr_array"),
        (pd.Series([1]), "Series"),
        (pl.Series([1]), "Series"),
        (pa.chunked_array([[1]]), "ChunkedArray"),
        (pl.LazyFrame({"a": [1]}).select("b"), "a LazyFrame that cannot be computed (unable to"),
    ],
    ids=lambda source: source if isinstance(source, str) else type(source).__name__,
)
def test_what_is_no_table_is_refused_in_one_sentence(source, got):
    with pytest.raises(ValueError, match=r"^pool must be [^\n]*; got [^\n]*\.$") as refusal:
        from_frame(source)
    assert f"; got {got}" in str(refusal.value)


def test_columns_that_differ_in_length_are_refused_with_both():
    with pytest.raises(
        ValueError, match=r"^pool must .*; got 1 cells for 'a' and 2 for 'c'\. Write None"
    ):
        from_frame({"a": [1], "b": [1], "c": [1, 2]})


# ---------------------------------------------------------------- names of rows
@pytest.mark.parametrize(
    ("index", "values"),
    [
        (["x", "y"], ["x", "y"]),
        ([7, 8], [7, 8]),
        ([1, 0], [1, 0]),
        (np.array([0.0, 1.0]), [0.0, 1.0]),
        ([False, True], [False, True]),
        (["x", "x"], ["x", "x"]),
        ([("a", 1), ("a", 2)], [("a", 1), ("a", 2)]),
        (
            pd.to_datetime(["2024-02-29", "2024-03-01"]),
            [dt.datetime(2024, 2, 29), dt.datetime(2024, 3, 1)],
        ),
        (pd.RangeIndex(1, 3), [1, 2]),
    ],
    ids=str,
)
def test_an_index_gives_names_to_rows(index, values):
    keys = pd.MultiIndex.from_tuples(index) if isinstance(index[0], tuple) else index
    frame = pd.DataFrame({"a": [1, 2]}, index=keys)
    for source in (frame, frame["a"], nw.from_native(frame)):
        found = frame_index(source)
        assert found == values
        assert not any(isinstance(value, np.generic) for value in found)


def test_what_is_missing_in_an_index_stays_for_its_reader():
    days = pd.to_datetime(["2024-02-29", None])
    for index in (["x", None], [1.0, np.nan], pd.Index(["x", None], dtype=object), days):
        found = frame_index(pd.DataFrame({"a": [1, 2]}, index=index))
        assert [pd.isna(value) for value in found] == [False, True]


@pytest.mark.parametrize(
    "source",
    [
        pd.DataFrame({"a": [1, 2]}),
        pd.DataFrame({"a": [1, 2]}, index=[0, 1]),
        pd.DataFrame({"a": []}),
        nw.from_native(pd.DataFrame({"a": [1, 2]})),
        *(source() for source in SOURCES.values()),
        np.ones((2, 2)),
        None,
    ],
    ids=lambda source: type(source).__name__,
)
def test_rows_that_are_only_counted_have_no_index(source):
    assert frame_index(source) is None


def test_an_index_is_found_though_names_of_columns_come_twice():
    assert frame_index(pd.DataFrame([[1, 2]], columns=["a", "a"], index=["x"])) == ["x"]


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.none() | st.integers()), min_size=1))
def test_a_list_of_dicts_is_read_as_pandas_reads_it(records):
    table, frame = from_frame(records), pd.DataFrame(records, dtype=object)
    assert table.names == tuple(frame.columns)
    expected = [[None if pd.isna(cell) else cell for cell in frame[name]] for name in frame]
    assert [*table.columns] == expected
