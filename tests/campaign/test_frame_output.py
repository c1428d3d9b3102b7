import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from possibal.campaign import frame_output
from possibal.campaign.frame_output import build_frame, extend_frame, frame_cells
from possibal.errors import MissingPackageError

COLUMNS = {"id": (7, 8), "label": [1, None], "necessity": [0.5, 0.25]}
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


@pytest.mark.parametrize("library", KINDS)
def test_a_frame_is_built_in_the_library_that_is_asked_for(library):
    frame = build_frame(COLUMNS, library)
    assert isinstance(frame, KINDS[library])
    assert frame["label"].to_pylist() == [1, None] if library == "pyarrow" else True
    assert list(frame.column_names if library == "pyarrow" else frame.columns) == list(COLUMNS)


def test_labels_with_gaps_keep_their_type():
    assert build_frame(COLUMNS, "pandas")["label"].tolist() == [1, None]
    assert type(build_frame(COLUMNS, "pandas")["label"][0]) is int
    assert build_frame(COLUMNS, "polars")["label"].to_list() == [1, None]


def test_the_first_library_that_is_there_is_taken(monkeypatch):
    assert isinstance(build_frame(COLUMNS), pd.DataFrame)
    monkeypatch.setattr(frame_output, "find_spec", lambda name: name == "polars" or None)
    assert isinstance(build_frame(COLUMNS), pl.DataFrame)
    monkeypatch.setattr(frame_output, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=r"needs pandas or polars, .* pip install pandas"):
        build_frame(COLUMNS)
    with pytest.raises(MissingPackageError, match="needs polars, which"):
        build_frame(COLUMNS, "polars")


def test_a_library_that_is_none_is_refused():
    with pytest.raises(ValueError, match="library must be one of 'pandas', 'polars', 'pyarrow'"):
        build_frame(COLUMNS, "numpy")


def test_a_frame_of_pandas_keeps_its_index_and_is_not_changed():
    source = pd.DataFrame({"a": [1, 2], "y": [0, 1], "label": ["p", "q"]}, index=["r", "s"])
    frame = extend_frame(source, COLUMNS, ["y"])
    assert frame.index.tolist() == ["r", "s"]
    assert frame.columns.tolist() == ["a", "label", "id", "label (2)", "necessity"]
    assert frame["label (2)"].tolist() == [1, None]
    assert source.columns.tolist() == ["a", "y", "label"]


def test_frames_of_other_libraries_stay_what_they_are():
    frame = extend_frame(pl.DataFrame({"a": [1, 2]}), COLUMNS)
    assert frame.columns == ["a", "id", "label", "necessity"]
    assert frame["label"].to_list() == [1, None]
    table = extend_frame(pa.table({"a": [1, 2]}), COLUMNS)
    assert table.column_names == ["a", "id", "label", "necessity"]


@pytest.mark.parametrize(
    "source",
    [
        pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]}),
        pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"]}),
    ],
)
def test_cells_are_those_of_the_rows_that_are_asked_for(source):
    assert frame_cells(source, np.array([2, 1])) == {"a": [3, 2], "b": ["z", None]}


def test_cells_of_what_narwhals_does_not_know_are_found_all_the_same():
    assert frame_cells(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1])) == {
        "x1": [3.0],
        "x2": [4.0],
    }
