import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from possibal.data.frames import from_frame, from_pandas


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
    table = from_pandas(frame)
    assert table.names[-1] == "7"
    assert [cells[0] for cells in table.columns[:6]] == [1.5, 1, True, "x", "x", "x"]
    assert [cells[1] for cells in table.columns] == [None] * 7 + [2]
    assert isinstance(table.columns[6][0], dt.date)


def test_frames_of_both_libraries_give_the_same_table():
    given = {"name": ["a", None, "c"], "size": [1.5, 2.0, None]}
    one, other = from_frame(pd.DataFrame(given)), from_frame(pl.DataFrame(given))
    assert one.names == other.names == ("name", "size")
    assert [list(cells) for cells in one.columns] == [list(cells) for cells in other.columns]


def test_an_array_gets_names_for_its_columns():
    table = from_frame(np.arange(6.0).reshape(3, 2))
    assert table.names == ("x1", "x2")
    assert table.columns == ([0.0, 2.0, 4.0], [1.0, 3.0, 5.0])


def test_a_vector_is_no_table():
    with pytest.raises(ValueError, match="two dimensions, rows and columns; got 1"):
        from_frame([1, 2, 3])
