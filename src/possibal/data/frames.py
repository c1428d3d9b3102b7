"""Tables of data frames and arrays, whatever library they come from."""

from typing import Any

import numpy as np

from possibal.data.encoders import Cells, Table, unique_names


def from_pandas(frame: Any) -> Table:  # noqa: ANN401 - pandas is not always there
    """The table of a pandas frame, whatever its types of columns."""
    columns = list[Cells]()
    for place in range(frame.shape[1]):
        series = frame.iloc[:, place]
        cells = zip(series.astype(object).tolist(), series.isna().tolist(), strict=True)
        columns.append([None if lost else cell for cell, lost in cells])
    return Table(unique_names(str(name) for name in frame.columns), tuple(columns))


def from_frame(frame: Any) -> Table:  # noqa: ANN401 - frames of several libraries
    """The table of a pandas or polars frame, or of a two-dimensional array."""
    if hasattr(frame, "iloc"):
        return from_pandas(frame)
    if hasattr(frame, "get_columns"):
        columns = tuple(series.to_list() for series in frame.get_columns())
        return Table(unique_names(frame.columns), columns)
    array = np.asarray(frame)
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise ValueError(
            "pool must be a frame or have two dimensions, rows and columns; "
            f"got {array.ndim}. Pass one line per row."
        )
    return Table(tuple(f"x{j}" for j in range(1, array.shape[1] + 1)), tuple(array.T.tolist()))
