"""Data frames of pandas, polars and pyarrow, and arrays, as tables: one interface by narwhals."""

from collections.abc import Hashable
from typing import Any, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from possibal.data.encoders import Cells, Table, unique_names

Frame: TypeAlias = nw.DataFrame[Any]
Series: TypeAlias = nw.Series[Any]


class NamedFrame(NamedTuple):
    """An eager data frame, to be read by the places of its columns, and their names as given."""

    names: list[Hashable]
    frame: Frame


def as_frame(source: Any) -> NamedFrame | None:  # noqa: ANN401 - of any library
    """A frame of any library that narwhals knows; None for what is no frame in memory."""
    try:
        frame = nw.from_native(source, eager_only=True, pass_through=True)
    except DuplicateError:  # names are only read here, so that one may come twice
        if nw.dependencies.is_pyarrow_table(source):
            names = source.column_names
            numbered = source.rename_columns([str(place) for place in range(len(names))])
        else:
            names = list(source.columns)
            numbered = source.set_axis(range(len(names)), axis=1)
        return NamedFrame(names, nw.from_native(numbered, eager_only=True))
    return NamedFrame([*frame.columns], frame) if isinstance(frame, nw.DataFrame) else None


def frame_index(source: Any) -> list[Hashable] | None:  # noqa: ANN401 - of any library
    """The index of a pandas frame as Python's values; None where it is 0 to m - 1, or not there."""
    native = nw.to_native(source, pass_through=True)
    if not nw.dependencies.is_pandas_dataframe(native):
        return None
    values = native.index.tolist()
    is_plain = native.index.dtype.kind in "iu" and values == list(range(len(values)))
    return None if is_plain else values


def from_frame(source: Any) -> Table:  # noqa: ANN401 - frames of several libraries
    """The table of a data frame, or of a two-dimensional array."""
    if (found := as_frame(source)) is not None:
        columns = tuple(_cells(series) for series in found.frame.iter_columns())
        return Table(unique_names(str(name) for name in found.names), columns)
    array = np.asarray(source)
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise ValueError(
            "pool must be a frame or have two dimensions, rows and columns; "
            f"got {array.ndim}. Pass one line per row."
        )
    return Table(tuple(f"x{j}" for j in range(1, array.shape[1] + 1)), tuple(array.T.tolist()))


def _cells(series: Series) -> Cells:
    """The cells of a column as Python's own values, None where one is missing."""
    cells = zip(series.to_list(), series.is_null().to_list(), strict=True)
    return [None if missing else cell for cell, missing in cells]
