"""Sparse rows, such as counts of words: what kernels of inner products read of them.

    rows = SparseRows(tfidf)        inner_products(rows, rows[:10])        squared_lengths(rows)

Nothing here makes them dense: time and memory follow the numbers that are not zero.
"""

from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array, issparse

from possibal.arrays import Matrix, Vector
from possibal.numerics.linalg import one_thread


class SparseRows(csr_array):
    """A sparse array of rows that has a length, so that it is cut into parts as a dense one is."""

    def __len__(self) -> int:
        """The number of rows."""
        return int(self.shape[0])


def as_matrix(rows: SparseRows) -> Matrix:
    """Sparse rows where a table is expected; only kernels of inner products take them.

    Paper: none.
    """
    return cast("Matrix", rows)


def is_sparse(X: object) -> bool:
    """Whether rows are sparse."""
    return issparse(X)


def inner_products(X: Matrix, Z: Matrix) -> Matrix:
    """Inner products of rows and others, dense, (m, k)."""
    with one_thread():
        found: Any = X @ Z.T
    return np.asarray(found.toarray() if is_sparse(found) else found)


def squared_lengths(X: Matrix) -> Vector:
    """The squared length of each row, (m,)."""
    if issparse(X):
        return np.asarray(cast("Any", X).multiply(X).sum(axis=1), dtype=float)
    return np.einsum("ij,ij->i", X, X)
