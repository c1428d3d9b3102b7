import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from possibal.data.row_ids import checked_ids, listed_ids, row_ids

FRAME = pd.DataFrame({"doc": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("source", [FRAME, np.ones((3, 2)), pl.DataFrame({"x": [1, 2, 3]})])
def test_rows_without_names_are_numbered_from_zero(source):
    assert row_ids(source, None, 3) == (0, 1, 2)


@pytest.mark.parametrize(
    "index",
    [
        [7, 5, 9],
        ["p", "q", "r"],
        [2, 1, 0],
        [dt.date(2020, 1, day) for day in (1, 2, 3)],
        [0, 1, 3],
    ],
)
def test_the_index_of_a_pandas_frame_names_its_rows(index):
    assert row_ids(FRAME.set_index(pd.Index(index)), None, 3) == tuple(index)
    assert row_ids(nw.from_native(FRAME.set_index(pd.Index(index))), None, 3) == tuple(index)


def test_numbers_stay_whole_and_of_python():
    names = row_ids(FRAME.set_index(pd.Index([7, 5, 9])), None, 3)
    assert {type(name) for name in names} == {int}
    assert {type(name) for name in row_ids(FRAME, np.array([4, 5, 6]), 3)} == {int}


@pytest.mark.parametrize("index", [[True, False, True], [0.0, 1.0, 2.0]])
def test_only_whole_numbers_from_zero_are_no_names(index):
    source = FRAME.iloc[:2].set_index(pd.Index(index[:2]))
    assert row_ids(source, None, 2) == tuple(index[:2])


def test_several_levels_of_an_index_name_rows_together():
    frame = FRAME.set_index(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    assert row_ids(frame, None, 3) == (("a", 1), ("a", 2), ("b", 1))


@pytest.mark.parametrize("source", [FRAME, pl.DataFrame(FRAME.to_dict("list"))])
def test_a_column_names_rows_where_that_is_asked_for(source):
    assert row_ids(source, "doc", 3) == ("a", "b", "c")
    with pytest.raises(ValueError, match="ids must be a column of the data; got 'dox'"):
        row_ids(source, "dox", 3)


def test_a_column_called_id_is_a_column():
    assert row_ids(FRAME.rename(columns={"doc": "id"}), None, 3) == (0, 1, 2)


def test_the_columns_of_an_array_are_numbered():
    assert row_ids(np.array([[5.0, 6.0], [7.0, 8.0]]), "x2", 2) == (6.0, 8.0)


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        (["a", "b"], r"^ids must have one entry per row, 3; got 2\. Leave them out"),
        (["a", "b", "a"], r"^ids must be unique; got 'a' at rows 0 and 2\. Give each row"),
        (["a", "b", pd.NA], r"^ids must hold text or numbers; got <NA> at row 2\."),
        (["a", "b", pd.NaT], r"^ids must hold text or numbers; got NaT at row 2\."),
        (["a", "b", []], r"^ids must hold text or numbers; got \[\] at row 2\."),
    ],
)
def test_names_that_are_none_are_refused(ids, says):
    with pytest.raises(ValueError, match=says):
        checked_ids(ids, 3)


@pytest.mark.parametrize(
    ("index", "says"),
    [
        ([1, 2, 1], r"^index must be unique; got 1 at rows 0 and 2\."),
        (["a", None, "b"], r"^index must hold text or numbers; got (nan|None) at row 1\."),
    ],
)
def test_an_index_that_names_no_rows_is_refused_with_a_way_out(index, says):
    with pytest.raises(ValueError, match=says + r".*reset_index\(drop=True\).*ids="):
        row_ids(FRAME.set_index(pd.Index(index)), None, 3)


def test_names_of_rows_are_listed_once_for_all():
    assert listed_ids(None) is None
    assert listed_ids("doc") == "doc"
    assert listed_ids(name for name in "ab") == ("a", "b")
    with pytest.raises(TypeError, match=r"^ids must be a list; got 7"):
        listed_ids(7)
