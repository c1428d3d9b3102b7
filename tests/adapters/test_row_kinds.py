import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import bsr_matrix, csr_array, issparse

from possibal.adapters.row_kinds import count_rows, joined_rows, rows_at

TABLE = np.arange(12.0).reshape(4, 3)
KINDS = {
    "array": np.array,
    "list": lambda rows: [list(row) for row in rows],
    "pandas": lambda rows: pd.DataFrame(rows, index=range(10, 10 + len(rows)), columns=list("abc")),
    "polars": lambda rows: pl.DataFrame(np.asarray(rows), schema=list("abc")),
    "csr": csr_array,
    "bsr": bsr_matrix,
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def numbers(rows):
    """The rows as an array."""
    return rows.toarray() if issparse(rows) else np.asarray(rows)


@each_kind
def test_rows_are_counted_taken_and_joined_as_they_are(kind):
    rows = KINDS[kind](TABLE)
    assert count_rows(rows) == 4
    np.testing.assert_array_equal(numbers(rows_at(rows, [3, 1])), TABLE[[3, 1]])
    np.testing.assert_array_equal(numbers(rows_at(rows, np.array([2]))), TABLE[[2]])
    joined = joined_rows(rows, rows_at(rows, [0]))
    np.testing.assert_array_equal(numbers(joined), TABLE[[0, 1, 2, 3, 0]])
    assert issparse(joined) if issparse(rows) else type(joined) is type(rows)


@pytest.mark.parametrize("kind", ["array", "list", "pandas"])
def test_one_place_gives_one_row(kind):
    np.testing.assert_array_equal(numbers(rows_at(KINDS[kind](TABLE), 2)), TABLE[2])


def test_texts_are_rows():
    assert rows_at(["a", "b", "c"], [2, 0]) == ["c", "a"]
    assert joined_rows(["a"], ["b"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("new", "error", "words"),
    [
        (
            TABLE[0],
            ValueError,
            r"X must have rows of shape \(3,\), .*; got shape \(3,\)\. Pass one",
        ),
        (TABLE[:, :2], ValueError, r"got shape \(4, 2\)"),
        ([[1, 2, 3]], TypeError, "X must be of the same kind .*, ndarray; got list. Convert it"),
        (pd.DataFrame(TABLE), TypeError, "got DataFrame"),
        (csr_array(TABLE), TypeError, "got csr_array"),
    ],
)
def test_rows_of_another_kind_or_shape_are_refused(new, error, words):
    with pytest.raises(error, match=words):
        joined_rows(TABLE, new)
