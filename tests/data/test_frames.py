import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from possibal.data.frames import as_frame, from_frame


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


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_all_libraries_give_the_same_table(library):
    table = from_frame(library({"name": ["a", None, "c"], "size": [1.5, 2.0, None]}))
    assert table.names == ("name", "size")
    assert [list(cells) for cells in table.columns] == [["a", None, "c"], [1.5, 2.0, None]]


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


def test_an_array_gets_names_for_its_columns():
    table = from_frame(np.arange(6.0).reshape(3, 2))
    assert table.names == ("x1", "x2")
    assert table.columns == ([0.0, 2.0, 4.0], [1.0, 3.0, 5.0])


def test_a_vector_is_no_table():
    with pytest.raises(ValueError, match="two dimensions, rows and columns; got 1"):
        from_frame([1, 2, 3])
