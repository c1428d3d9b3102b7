"""Vectors that a model gave: checked once, however the model came here.

checked_vectors(found, rows, "all-MiniLM-L6-v2") -> (rows, d)
"""

import numpy as np

from possibal.embedding.embedder import Vectors
from possibal.errors import summary

MOST_COLUMNS = 100_000
REMEDY = "Mend or export it anew, or name another."


def checked_vectors(found: object, rows: int, name: str) -> Vectors:
    """What a model gave as float32, if it is a vector of finite numbers for each row.

    Args:
        found: what the model gave, an array or what becomes one.
        rows: how many it was given.
        name: of the model, to be said in the sentence.
    """
    vectors = _numbers(found, name)
    if vectors.ndim != 2 or len(vectors) != rows or not 0 < vectors.shape[1] <= MOST_COLUMNS:  # noqa: PLR2004 - a matrix
        raise ValueError(
            f"encoder must return a vector of at most {MOST_COLUMNS} numbers for each of {rows} "
            f"rows; got shape {vectors.shape} from {name!r}. {REMEDY}"
        )
    if not np.isfinite(vectors).all():
        raise ValueError(
            f"encoder must return finite numbers; got NaN or infinity from {name!r}. {REMEDY}"
        )
    return vectors


def _numbers(found: object, name: str) -> Vectors:
    """What a model gave as an array of float32."""
    try:
        given = np.asarray(found)
        if given.dtype.kind in "cSU":
            raise TypeError(f"of the type {given.dtype}")  # noqa: TRY301 - one sentence for all
        with np.errstate(over="ignore"):  # what is infinite as float32 is refused as such
            return given.astype(np.float32, copy=False)
    except Exception as error:  # noqa: BLE001 - tensors of other libraries fail in their own ways
        raise ValueError(
            f"encoder must return an array of numbers; got {type(found).__name__} "
            f"({summary(error)}) from {name!r}. {REMEDY}"
        ) from None
