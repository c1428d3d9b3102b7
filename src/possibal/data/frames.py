"""Tables in memory, of whatever library: by narwhals, else by Arrow's C stream, else by NumPy.

from_frame(source) -> Table              cells are Python's own values, None where one is missing
frame_index(source) -> names of the rows of a pandas frame, unless they are numbered from 0
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from possibal.arrays import as_python
from possibal.data.encoders import Cells, Table, unique_names
from possibal.errors import summary

Frame: TypeAlias = nw.DataFrame[Any]
Series: TypeAlias = nw.Series[Any]

KINDS = "a data frame, a list of dicts, a dict of columns or an array with rows and columns"
"""What a table in memory may be."""


WHOLE = (
    nw.Int64,
    nw.Int32,
    nw.Int16,
    nw.Int8,
    nw.UInt64,
    nw.UInt32,
    nw.UInt16,
    nw.UInt8,
    nw.Boolean,
)
"""Types that NumPy holds as they are, where none is missing."""


class NamedFrame(NamedTuple):
    """An eager data frame, to be read by the places of its columns, and their names as given."""

    names: list[Hashable]
    frame: Frame


# ---------------------------------------------------------------- the face
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


def from_frame(source: Any) -> Table:  # noqa: ANN401 - frames of any library
    """The table of a frame, eager or lazy, of dicts or columns, or of a two-dimensional array."""
    if isinstance(source, Mapping):
        return _from_columns(source)
    if (found := as_frame(source) or _collected(source) or _from_arrow(source)) is not None:
        return _table(found.names, map(_cells, found.frame.iter_columns()))
    if isinstance(source, Sequence) and not isinstance(source, str | bytes | memoryview):
        return _from_records(source)
    return _from_array(source)


def frame_index(source: Any) -> list[Hashable] | None:  # noqa: ANN401 - frames of any library
    """The index of a pandas frame or series; None if it only counts rows from 0, or is none.

    Values are Python's own, tuples for several levels; they may be missing or come twice.
    """
    native = nw.to_native(source, pass_through=True)
    known = nw.dependencies
    if not (known.is_pandas_like_dataframe(native) or known.is_pandas_like_series(native)):
        return None
    index = native.index
    values = [as_python(value) for value in index.tolist()]
    counts = index.dtype.kind in "iu" and values == list(range(len(values)))
    return None if counts else values


# ---------------------------------------------------------------- frames
def _collected(source: Any) -> NamedFrame | None:  # noqa: ANN401 - of any library
    """A lazy frame that narwhals knows, computed; None for anything else."""
    lazy = nw.from_native(source, pass_through=True)
    if not isinstance(lazy, nw.LazyFrame):
        return None
    try:
        frame = lazy.collect()
    except DuplicateError:  # Arrow takes names that come twice
        return None
    except Exception as error:  # noqa: BLE001 - queries fail in as many ways as there are engines
        raise _refused(f"a {type(source).__name__} that cannot be computed", error) from None
    return NamedFrame([*frame.columns], frame)


def _from_arrow(source: Any) -> NamedFrame | None:  # noqa: ANN401 - of any library
    """What gives itself as a stream of Arrow's, or in its format; None for anything else."""
    if hasattr(source, "with_format"):  # a data set of Hugging Face
        return _formatted(source)
    if not hasattr(source, "__arrow_c_stream__"):
        return None
    try:
        return as_frame(_arrow_reader()(source))
    except (TypeError, ValueError):  # a single column, for one
        raise _refused(type(source).__name__) from None


def _arrow_reader() -> Callable[[Any], Any]:
    """What makes a frame of a stream of Arrow's."""
    try:
        import pyarrow as pa
    except ImportError:
        import polars as pl

        return pl.DataFrame
    return pa.table


def _formatted(source: Any) -> NamedFrame | None:  # noqa: ANN401 - a data set
    """A data set whose rows are chosen and ordered by an index, its classes by their names."""
    try:
        found = as_frame(source.with_format("arrow")[:])
        features = source.features.items()
    except Exception as error:  # noqa: BLE001 - a stream has no end, for one
        raise _refused(type(source).__name__, error) from None
    classes = {name: one.names for name, one in features if hasattr(one, "names")}
    return found and NamedFrame(found.names, _with_words(found.frame, classes))


def _with_words(frame: Frame, classes: Mapping[str, Sequence[str]]) -> Frame:
    """A frame whose numbers of classes became their names; -1 is none."""
    for name, names in classes.items():
        words = dict(enumerate(names))
        cells = [words.get(number) for number in frame[name].to_list()]
        column = nw.new_series(name, cells, nw.String(), backend=frame.implementation)
        frame = frame.with_columns(column)
    return frame


def _cells(series: Series) -> Cells:
    """The cells of a column as Python's own values, None where one is missing."""
    kind, gaps = series.dtype, series.null_count() > 0
    # Arrow's own way to a list takes twenty times as long.
    plain = kind.is_float() or (not gaps and isinstance(kind, WHOLE))
    cells = series.to_numpy().tolist() if plain else series.to_list()
    if not gaps:
        return cells
    pairs = zip(cells, series.is_null().to_list(), strict=True)
    return [None if missing else cell for cell, missing in pairs]


# ---------------------------------------------------------------- Python's own
def _from_columns(source: Mapping[Any, Any]) -> Table:
    """The table of a dict of columns, all of one length."""
    columns = [_column(name, cells) for name, cells in source.items()]
    sizes = dict(zip(source, map(len, columns), strict=True))
    if len(set(sizes.values())) > 1:
        first, *others = sizes
        other = next(name for name in others if sizes[name] != sizes[first])
        raise ValueError(
            "pool must have columns of one length; "
            f"got {sizes[first]} cells for {first!r} and {sizes[other]} for {other!r}. "
            "Write None where a cell is missing."
        )
    return _table(source, columns)


def _column(name: Hashable, cells: Any) -> Cells:  # noqa: ANN401 - of any library
    """The cells of a dict's column."""
    series = nw.from_native(cells, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _cells(series)
    if isinstance(cells, Sequence) and not isinstance(cells, str | bytes):
        return [*map(as_python, cells)]
    if hasattr(cells, "__array__") and np.ndim(cells) == 1:
        return _unpacked(np.asanyarray(cells))
    raise _refused(f"{type(cells).__name__} as pool[{name!r}]")


def _from_records(source: Sequence[Any]) -> Table:
    """The table of a list of dicts, whose keys are columns, or of a list of rows."""
    odd = next((row for row, one in enumerate(source) if not isinstance(one, Mapping)), None)
    if odd is None and source:
        names = dict.fromkeys(key for row in source for key in row)
        columns = [[as_python(row.get(name)) for row in source] for name in names]
        return _table(names, columns)
    if any(isinstance(one, Mapping) for one in source):
        raise _refused(f"{type(source[odd or 0]).__name__} as pool[{odd}], among dicts")
    if not source or not all(isinstance(one, list | tuple) for one in source):
        return _from_array(source)
    if len(set(map(len, source))) > 1:
        raise _refused("a list of rows that differ in length")
    # By itself, since NumPy would make words of numbers that stand beside a word.
    return _table(
        _numbered(len(source[0])), [[*map(as_python, cells)] for cells in zip(*source, strict=True)]
    )


def _from_array(source: Any) -> Table:  # noqa: ANN401 - anything
    """The table of an array of two dimensions, or of one whose fields have names."""
    try:
        array = np.asanyarray(source)
    except Exception as error:  # noqa: BLE001 - anything may fail to be an array
        raise _refused(type(source).__name__, error) from None
    if array.dtype.names is not None and array.ndim == 1:
        return _table(array.dtype.names, [_unpacked(array[name]) for name in array.dtype.names])
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        said = {0: "", 1: " with 1 dimension"}.get(array.ndim, f" with {array.ndim} dimensions")
        raise _refused(f"{type(source).__name__}{said}")
    return _table(_numbered(array.shape[1]), _unpacked(array.T))


def _unpacked(array: Any) -> list[Any]:  # noqa: ANN401 - an array of anything
    """The values of an array as Python's own, dates too; None where one is masked, or no date."""
    # Of nanoseconds NumPy would make whole numbers.
    return (
        array.astype(f"{array.dtype.kind}8[us]") if array.dtype.kind in "mM" else array
    ).tolist()


def _numbered(count: int) -> list[str]:
    """Names for columns that have none."""
    return [f"x{number}" for number in range(1, count + 1)]


def _table(names: Iterable[Hashable], columns: Iterable[Cells]) -> Table:
    """A table whose names are text, each given once."""
    return Table(unique_names(map(str, names)), tuple(columns))


def _refused(got: str, error: Exception | None = None) -> ValueError:
    """The sentence on what is no table."""
    why = "" if error is None else f" ({summary(error)})"
    return ValueError(f"pool must be {KINDS}; got {got}{why}. Pass one line per row.")
