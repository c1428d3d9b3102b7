"""Pools behind a pipeline: rows go through its transformers before they are ranked.

transformed_pool(pipeline, X, id) -> TransformedPool(X, names)
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from typing import Any

from scipy.sparse import issparse

from possibal.data.encoders import find_column
from possibal.data.frames import as_frame, frame_index
from possibal.estimators import validation
from possibal.estimators.pipeline import CampaignPipeline


@dataclass(frozen=True, eq=False)
class TransformedPool:
    """Rows as a classifier takes them, and what the user calls them, if they have names."""

    X: object
    names: list[Hashable] | None = None


@dataclass(frozen=True, eq=False)
class TransformedChunks:
    """Chunks of rows, each transformed when it is read."""

    pipeline: CampaignPipeline
    chunks: Iterable[object]

    def __iter__(self) -> Iterator[object]:
        """One transformed chunk after the other."""
        return (_dense(self.pipeline.transformed(chunk)) for chunk in self.chunks)


def transformed_pool(pipeline: CampaignPipeline, X: object, id: str | None) -> TransformedPool:  # noqa: A002 - what users call it
    """A pool behind a pipeline: all at once where it is in memory, else chunk by chunk.

    Args:
        pipeline: fitted.
        X: an array, a data frame, a list of texts, or chunks of these.
        id: the column of a frame that names its rows, which the pipeline is not shown.
    """
    if isinstance(X, str | PathLike | Mapping) or hasattr(X, "__dask_graph__"):
        raise TypeError(
            "X must be an array, a data frame or chunks of them where model is a pipeline; "
            f"got {type(X).__name__}. Read it first, chunk by chunk if it is large."
        )
    rows, names = _named(X, id)
    if _is_chunks(rows):
        return TransformedPool(TransformedChunks(pipeline, rows))
    return TransformedPool(_dense(pipeline.transformed(rows)), names)


def index_names(X: object) -> list[Hashable] | None:
    """The names of rows in the index of a pandas frame, if it has some; each is there once."""
    names = frame_index(X)
    if names is not None and len(set(names)) < len(names):
        raise ValueError(
            "X must have an index that names each row once; got some names twice. "
            "Use X.reset_index(drop=True) to number the rows."
        )
    return names


def _named(X: Any, id: str | None) -> tuple[Any, list[Hashable] | None]:  # noqa: A002, ANN401 - what users call it; anything
    """Rows without the column that names them, and these names."""
    if id is None:
        return X, index_names(X)
    frame = as_frame(X)
    if frame is None:
        raise ValueError(
            f"id must be left out where X has no names of columns; got {id!r}. Pass a data frame."
        )
    column = frame.frame.columns[find_column("id", id, tuple(str(one) for one in frame.names))]
    return frame.frame.drop(column).to_native(), frame.frame[column].to_list()


def _is_chunks(X: Any) -> bool:  # noqa: ANN401 - anything
    """Whether rows come chunk by chunk, rather than as a frame, an array or a list of rows."""
    if as_frame(X) is not None or hasattr(X, "shape"):
        return False
    is_row = (str, Mapping, Real)
    return not (isinstance(X, list | tuple) and X and _holds(X[0], is_row))


def _holds(first: Any, kinds: tuple[type, ...]) -> bool:  # noqa: ANN401 - anything
    """Whether the first of a list is a row: a text, a dict, or a list of numbers and words."""
    if isinstance(first, list | tuple):
        return bool(first) and isinstance(first[0], kinds)
    return isinstance(first, kinds)


def _dense(X: Any) -> Any:  # noqa: ANN401 - whatever a transformer gives
    """What a transformer gave, without gaps between its numbers."""
    return validation.dense(X) if issparse(X) else X
