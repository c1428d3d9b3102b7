import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from possibal.numerics.sparse_rows import (
    SparseRows,
    as_matrix,
    inner_products,
    is_sparse,
    squared_lengths,
)


def table(seed, n=7, d=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)


@given(st.integers(0, 50))
def test_sparse_rows_have_the_inner_products_of_dense_ones(seed):
    X, Z = table(seed), table(seed + 1, n=3)
    sparse, others = as_matrix(SparseRows(X)), as_matrix(SparseRows(Z))
    expected = X @ Z.T
    for one, other in [(sparse, others), (X, others), (sparse, Z), (X, Z)]:
        np.testing.assert_allclose(inner_products(one, other), expected, atol=1e-14)
    np.testing.assert_allclose(squared_lengths(sparse), squared_lengths(X), rtol=1e-14)


def test_sparse_rows_have_a_length_and_are_cut_into_parts():
    rows = SparseRows(table(0))
    assert len(rows) == 7
    assert len(rows[2:5]) == 3
    assert isinstance(rows[np.array([1, 3])], SparseRows)


@pytest.mark.parametrize("made", [csr_array, SparseRows])
def test_what_is_sparse_is_told_from_what_is_dense(made):
    assert is_sparse(made(table(0)))
    assert not is_sparse(table(0))
