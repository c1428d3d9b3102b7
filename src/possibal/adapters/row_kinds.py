"""Rows of any kind: arrays, sparse matrices, frames of any library, and lists.

rows_at(X, [3, 1])        joined_rows(X, Z)        count_rows(X)
"""

from typing import Any, cast

import narwhals as nw
import numpy as np
from scipy.sparse import issparse, vstack

from possibal.data.frames import as_frame

Rows = Any
"""An array, a sparse matrix, a frame of any library, or a list with one entry per row."""


def count_rows(X: Rows) -> int:
    """How many rows there are."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def rows_at(X: Rows, places: Any) -> Rows:  # noqa: ANN401 - one place, or several
    """Some of the rows, of the same kind; one of them where one place is given."""
    if issparse(X):
        return cast("Any", X).tocsr()[places]
    if hasattr(X, "iloc"):
        return X.iloc[places]
    if (frame := as_frame(X)) is not None:
        return frame.frame[np.atleast_1d(places).tolist()].to_native()
    if isinstance(X, list) and np.ndim(places):
        return [X[place] for place in places]
    return X[places]


def joined_rows(known: Rows, new: Rows) -> Rows:
    """Rows, and more rows of the same kind."""
    is_sparse = [issparse(X) for X in (known, new)]
    if all(is_sparse):
        return vstack([known, new], format="csr")
    if type(known) is not type(new):
        raise TypeError(
            f"X must be of the same kind as the rows known so far, {type(known).__name__}; "
            f"got {type(new).__name__}. Convert it."
        )
    if as_frame(known) is not None:
        return nw.concat([nw.from_native(known), nw.from_native(new)]).to_native()
    return [*known, *new] if isinstance(known, list) else _joined_arrays(known, new)


def _joined_arrays(known: Any, new: Any) -> Rows:  # noqa: ANN401 - arrays
    """Rows of two arrays, if they have the same columns."""
    if known.shape[1:] != new.shape[1:] or new.ndim != known.ndim:
        raise ValueError(
            f"X must have rows of shape {known.shape[1:]}, as those known so far; "
            f"got shape {new.shape}. Pass one line per row, with X.reshape(1, -1) for one."
        )
    return np.concatenate([known, new])
