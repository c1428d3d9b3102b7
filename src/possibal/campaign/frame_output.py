"""Data frames for users, in the library that they use: pandas, polars or pyarrow, by narwhals."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

import narwhals as nw
import numpy as np

from possibal.arguments import choice
from possibal.arrays import Places
from possibal.data.encoders import unique_names
from possibal.data.frames import as_frame, from_frame
from possibal.errors import MissingPackageError

LIBRARIES = ("pandas", "polars", "pyarrow")
Columns = Mapping[str, Sequence[Any]]


def build_frame(columns: Columns, library: str | None = None) -> Any:  # noqa: ANN401 - of any library
    """A data frame of columns.

    Args:
        columns: by name, all of one length.
        library: one of `LIBRARIES`; if left out, the first of them that is installed.
    """
    backend = cast("Any", _backend(library))
    series = [_series(name, values, backend) for name, values in columns.items()]
    return nw.DataFrame.from_dict({one.name: one for one in series}, backend=backend).to_native()


def extend_frame(source: Any, columns: Columns, dropped: Sequence[str] = ()) -> Any:  # noqa: ANN401 - as above
    """A user's frame, which stays as it is, with more columns, in the same library.

    Args:
        source: the frame.
        columns: that come behind its own; a name that is taken is numbered.
        dropped: columns of the frame that are left out.
    """
    frame = nw.from_native(source, eager_only=True).drop(*dropped, strict=False)
    taken = [str(name) for name in frame.columns]
    names = unique_names([*taken, *columns])[len(taken) :]
    backend = frame.implementation
    new = [_series(name, one, backend) for name, one in zip(names, columns.values(), strict=True)]
    if frame.implementation.is_pandas():
        native = frame.to_native()
        return native.assign(**{one.name: one.to_native().to_numpy() for one in new})
    return frame.with_columns(*new).to_native()


def frame_cells(source: Any, places: Places) -> dict[str, list[Any]]:  # noqa: ANN401 - as above
    """The columns of some rows of a user's frame, by their places, as Python's values."""
    frame = as_frame(source)
    if frame is not None:
        source, places = frame.frame[places.tolist()].to_native(), np.arange(len(places))
    table = from_frame(source)
    columns = zip(frame.names if frame else table.names, table.columns, strict=True)
    return {str(name): [cells[place] for place in places] for name, cells in columns}


def _series(name: str, values: Sequence[Any], backend: Any) -> nw.Series[Any]:  # noqa: ANN401 - a name, or one of narwhals'
    """A column; in pandas, where a gap would turn whole numbers into others, as objects."""
    has_gaps = any(value is None for value in values)
    is_pandas = str(getattr(backend, "value", backend)) == "pandas"
    dtype = nw.Object() if is_pandas and has_gaps else None
    return nw.new_series(name, list(values), dtype, backend=backend)


def _backend(library: str | None) -> str:
    """The library that is asked for, or that there is."""
    wanted = LIBRARIES if library is None else (choice("library", library, _by_name()),)
    found = next((name for name in wanted if find_spec(name) is not None), None)
    if found is None:
        names = " or ".join(wanted[:2])
        raise MissingPackageError(
            f"A data frame needs {names}, which is not installed: run pip install {wanted[0]}."
        )
    return found


def _by_name() -> dict[str, str]:
    """The libraries by their names."""
    return {name: name for name in LIBRARIES}
