"""Chunked, out-of-core reader of a pool: parts that are read and validated independently."""

import glob
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from numbers import Real
from os import PathLike
from pathlib import Path
from reprlib import repr as brief
from typing import Any, TypeAlias, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from possibal.arguments import at_least, suggest
from possibal.arrays import Matrix
from possibal.data.frames import Frame, NamedFrame, Series, as_frame
from possibal.errors import INSTALL, MissingPackageError, summary

CHUNK = 32_768
"""Rows of a part."""
NUMBERS = "fiub"
"""Kinds of dtypes that are numbers: floats, integers with and without sign, yes or no."""
Block: TypeAlias = tuple[NDArray[Any], list[Hashable] | None]
"""Numbers that may be missing or infinite, (r, d), and the names of their rows."""
Load: TypeAlias = Callable[["Part"], Block]


# ---------------------------------------------------------------- values
@dataclass(frozen=True)
class RowFormat:
    """The schema of rows that a model expects.

    Attributes:
        width: number of columns.
        columns: their names, where the model knows them.
        id: the column with the names of rows, if there is one.
    """

    width: int
    columns: tuple[Hashable, ...] | None
    id: str | None = None


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows that were read and validated.

    Attributes:
        start: place of the first row in the pool.
        X: (r, d), finite, read-only; 32-bit where the source was, else 64-bit.
        names: what the user calls each row, or None.
    """

    start: int
    X: Matrix
    names: list[Hashable] | None


@dataclass(frozen=True, eq=False)
class Part:
    """Lazy slice of consecutive rows; small to pickle where a file holds them.

    Attributes:
        start: place of the first row in the pool.
        size: number of rows.
        row: number of the first row in its file, or else in the pool.
        expected: what they hold.
        within: the file, for sentences.
        load: gives their numbers, not yet checked.
    """

    start: int
    size: int
    row: int
    expected: RowFormat
    within: str
    load: Load

    def read(self) -> Chunk:
        """The rows, or one sentence about what is wrong with them."""
        X, names = self.load(self)
        # Two passes that allocate nothing; NaN fails both comparisons.
        if not (X.min() > -np.inf and X.max() < np.inf):
            row, column = map(int, np.unravel_index((~np.isfinite(X)).argmax(), X.shape))
            got = f"{X[row, column]} at {self.place(row, column)}"
            raise _refused("hold finite numbers", got, "Fill or drop it.")
        X = X.view()
        X.flags.writeable = False
        return Chunk(self.start, X, names)

    def place(self, row: int, column: int) -> str:
        """Where a number stands, in words."""
        names = self.expected.columns
        name = column if names is None else repr(names[column])
        return f"row {self.row + row}, column {name}{self.within}"


@dataclass(frozen=True, eq=False)
class RowSource:
    """A pool as lazy parts in order, and its number of rows, None where only the end tells."""

    size: int | None
    parts: Callable[[], Iterator[Part]]


# ---------------------------------------------------------------- the face
def row_source(source: object, expected: RowFormat, *, chunk: int = CHUNK) -> RowSource:
    """Lazy parts of a source, whose schema is checked and whose rows are not read yet.

    Args:
        source: an array or memory map; a data frame of pandas, polars or pyarrow; the path of a
            .npy file, of a Parquet file or of a folder of these, or a pattern such as
            pool/*.parquet; or an iterable of arrays, data frames or Paths of files; or a
            RowSource, as it is.
        expected: what the model expects.
        chunk: rows of a part at most.
    """
    at_least("chunk", chunk, 1)
    if isinstance(source, RowSource):
        return source
    if isinstance(source, str | PathLike):
        files = _files(Path(cast("str | PathLike[str]", source)))
        tables = list(_tables(files, expected))
    elif (table := _table(source, expected, "")) is not None:
        tables = [table]
    elif isinstance(source, Iterable) and not isinstance(source, Mapping | bytes):
        return RowSource(None, lambda: _parts(_tables(source, expected), chunk))
    else:
        rule = "be an array, a data frame, a path or an iterable of arrays or data frames"
        raise _refused(rule, type(source).__name__, "Use np.asarray(X).", TypeError)
    return RowSource(_some(sum(one.size for one in tables)), partial(_parts, tables, chunk))


def _tables(source: Iterable[object], expected: RowFormat) -> Iterator["_SlicedTable"]:
    """Tables that come one after the other, columns in the order of the first."""
    for number, one in enumerate(source):
        table = _table(one, expected, f" in chunk {number}")
        if table is None:
            got = f"{type(one).__name__} in chunk {number}"
            raise _refused("give arrays or data frames", got, "Use np.asarray(X).", TypeError)
        expected = table.expected
        yield table


def _parts(tables: Iterable["_SlicedTable"], chunk: int) -> Iterator[Part]:
    """The parts of tables, places counted over all of them."""
    start = 0
    for table in tables:
        yield from table.parts(chunk, start)
        start += table.size
    _some(start)


def _some(size: int) -> int:
    """The number of rows, if there are any."""
    if not size:
        remedy = "Pass the rows to score; an iterator gives them only once."
        raise _refused("have at least one row", "none", remedy)
    return size


def _refused(rule: str, got: str, remedy: str, kind: type[Exception] = ValueError) -> Exception:
    """The sentence on rows that break a rule."""
    return kind(f"X must {rule}; got {got}. {remedy}")


# ---------------------------------------------------------------- tables
@dataclass(frozen=True, eq=False)
class _SlicedTable:
    """A table that can be sliced: its rows, its schema, what loads a slice, and the file."""

    size: int
    expected: RowFormat
    cut: Callable[[slice], Load]
    within: str = ""

    def parts(self, chunk: int, start: int) -> Iterator[Part]:
        """Parts of so many rows, the first of which has this place in the pool."""
        for begin in range(0, self.size, chunk):
            end = min(begin + chunk, self.size)
            # In a file rows are counted from its start, elsewhere from that of the pool.
            row, load = begin if self.within else start + begin, self.cut(slice(begin, end))
            yield Part(start + begin, end - begin, row, self.expected, self.within, load)


def _table(source: Any, expected: RowFormat, within: str) -> _SlicedTable | None:  # noqa: ANN401 - anything
    """The table of an array, a frame or a file; None for what is none of them."""
    if isinstance(source, Path):
        read = _of_saved if source.suffix.lower() == ".npy" else _of_parquet
        return read(source, expected, f" in {str(source)!r}")
    if (frame := as_frame(source)) is not None:
        return _of_frame(frame, expected, within)
    if hasattr(source, "toarray") or isinstance(source, np.ma.MaskedArray):
        got, remedy = f"{type(source).__name__}{within}", "Use X.toarray() or X.filled()."
        raise _refused("be dense and without a mask", got, remedy, TypeError)
    if hasattr(source, "__array__") and hasattr(source, "shape"):
        return _of_array(source, expected, within)
    return None


def _found(present: Iterable[Hashable], expected: RowFormat, within: str) -> RowFormat:
    """What is expected, with the names of all columns to read; each is there once."""
    counts, named = Counter([*present]), [] if expected.id is None else [expected.id]
    wanted = expected.columns
    if wanted is None:
        wanted = tuple(name for name in counts.elements() if name not in named)
    for name in (*named, *wanted):
        if counts[name] != 1:
            known = counts if name not in counts else ()
            remedy = suggest(name, known, "Add it, or rename the others.")
            raise _refused(f"have one column {name!r}", f"{counts[name] or 'none'}{within}", remedy)
    _check_width(len(wanted), expected, within)
    return replace(expected, columns=wanted)


def _check_width(width: int, expected: RowFormat, within: str) -> None:
    """Refuse another number of columns than the model's."""
    if width != expected.width:
        rule = f"have as many columns as the model was fitted to, {expected.width}"
        raise _refused(rule, f"{width}{within}", "Pass the same columns.")


# ---------------------------------------------------------------- frames
def _of_frame(given: NamedFrame, expected: RowFormat, within: str) -> _SlicedTable:
    """The table of a data frame."""
    found = _found(given.names, expected, within)
    places = {name: place for place, name in enumerate(given.names)}

    # A slice of an Arrow table would be pickled with all its rows.
    is_arrow = given.frame.implementation.is_pyarrow()

    def cut(piece: slice) -> Load:
        """What loads a slice."""
        rows = np.arange(piece.start, piece.stop) if is_arrow else piece
        return partial(_from_frame, given.frame[rows], places)

    return _SlicedTable(len(given.frame), found, cut)


def _from_frame(frame: Frame, places: Mapping[Hashable, int], part: Part) -> Block:
    """The numbers of the expected columns."""
    columns, named = part.expected.columns or (), part.expected.id
    vectors = [_vector(frame[:, places[name]], at, part) for at, name in enumerate(columns)]
    X = np.ascontiguousarray(np.stack(vectors, axis=1))
    return X, None if named is None else frame[:, places[named]].to_list()


def _vector(series: Series, column: int, part: Part) -> NDArray[Any]:
    """The numbers of a column; what is missing is NaN."""
    kind, is_polars = series.dtype, series.implementation.is_polars()
    # Arrow refuses to cast whole numbers that a float rounds, and casts decimals inexactly.
    if kind.is_float() or kind == nw.Boolean or (kind.is_numeric() and is_polars):
        return series.cast(nw.Float32() if kind == nw.Float32 else nw.Float64()).to_numpy()
    if kind.is_integer():
        return series.to_numpy().astype(float)
    return _by_cell(series, column, part)


def _by_cell(series: Series, column: int, part: Part) -> NDArray[Any]:
    """The numbers of a column that may hold anything."""
    vector = np.empty(len(series))
    lost = series.is_null().to_list()
    for row, (cell, missing) in enumerate(zip(series.to_list(), lost, strict=True)):
        if not (missing or isinstance(cell, Real | np.bool_ | Decimal)):
            got = f"{brief(cell)} at {part.place(row, column)}"
            raise _refused("hold numbers", got, "Turn it into numbers first, as for the model.")
        vector[row] = np.nan if missing else float(cell)
    return vector


# ---------------------------------------------------------------- arrays
def _of_array(array: Any, expected: RowFormat, within: str) -> _SlicedTable:  # noqa: ANN401 - of any library
    """The table of what can be sliced as an array."""
    if expected.id is not None:
        got, remedy = f"{expected.id!r}{within}", "Pass a data frame or Parquet file that has it."
        raise ValueError(f"id must be left out where X is an array; got {got}. {remedy}")
    if (dimensions := len(array.shape)) != 2:  # noqa: PLR2004 - rows and columns
        rule, remedy = "have two dimensions, rows and columns", "Use np.atleast_2d(X) for one row."
        raise _refused(rule, f"{dimensions}{within}", remedy)
    _check_width(array.shape[1], expected, within)
    kind = np.asarray(array[:0]).dtype
    if kind.kind not in NUMBERS:
        raise _refused("hold numbers", f"dtype {kind}{within}", "Convert it with astype(float).")
    again = _reopening(array)

    def cut(piece: slice) -> Load:
        """What loads a slice, from the file where there is one."""
        return partial(_from_map, again, piece) if again else partial(_from_array, array[piece])

    return _SlicedTable(array.shape[0], expected, cut)


def _reopening(array: Any) -> "partial[NDArray[Any]] | None":  # noqa: ANN401 - of any library
    """What maps the array anew, if it lies in a file as it is."""
    root = array
    while isinstance(getattr(root, "base", None), np.ndarray):
        root = root.base
    if not isinstance(root, np.memmap) or not array.flags.forc:
        return None
    # Changes to a map of mode c stay in memory; a temporary file may be gone.
    if root.mode == "c" or not Path(root.filename or "").is_file():
        return None
    root.flush()
    # The offset of a slice is that of the whole, as NumPy keeps it.
    offset = root.offset + array.ctypes.data - root.ctypes.data
    how = (array.dtype, "r", offset, array.shape, "C" if array.flags.c_contiguous else "F")
    return partial(cast("Any", np.memmap), root.filename, *how)


def _from_array(block: Any, part: Part) -> Block:  # noqa: ARG001, ANN401 - as all that load; of any library
    """The numbers of an array, not copied where they are as wanted."""
    array = np.asarray(block)
    kind = np.float32 if (array.dtype.kind, array.dtype.itemsize) == ("f", 4) else np.float64
    with np.errstate(over="ignore"):  # what is too large is refused as infinite
        return np.ascontiguousarray(array, dtype=kind), None


def _from_map(again: "partial[NDArray[Any]]", piece: slice, part: Part) -> Block:
    """The numbers of a file that is mapped for as long as it takes to copy them."""
    try:
        return _from_array(np.array(again()[piece]), part)
    except (OSError, ValueError) as error:
        raise _unsound(summary(error), part.within or f" in {str(again.args[0])!r}") from None


def _of_saved(path: Path, expected: RowFormat, within: str) -> _SlicedTable:
    """The table of a .npy file."""
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError) as error:
        raise _unsound(summary(error), within) from None
    return replace(_of_array(array, expected, within), within=within)


def _unsound(why: str, within: str) -> Exception:
    """The sentence on a file that cannot be read, or not any more."""
    rule = "be sound and must not change while it is read"
    return _refused(rule, f"{why}{within}", "Save it anew.")


# ---------------------------------------------------------------- Parquet
def _files(path: Path) -> list[Path]:
    """The files of a path, a folder or a pattern, by name."""
    if path.is_file():
        return [path]
    pattern = f"{glob.escape(str(path))}/*.parquet" if path.is_dir() else str(path)
    found = [Path(one) for one in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - the pattern may be absolute
    if not found:
        rule = "name a file, a folder of .parquet files, or a pattern that fits files"
        raise _refused(rule, f"{str(path)!r}, where there is none", "Check its name and folder.")
    return found


def _of_parquet(path: Path, expected: RowFormat, within: str) -> _SlicedTable:
    """The table of a Parquet file."""
    with _scan(path, within) as scan:
        kinds, size = scan.collect_schema(), scan.select(_polars().len()).collect().item()
    found, load = _found(kinds, expected, within), partial(_from_parquet, path.absolute())
    table = _SlicedTable(size, found, lambda _: load, within)
    if size and not all(_is_number(kinds[name]) for name in found.columns or ()):
        next(table.parts(CHUNK, 0)).read()  # refuses its text, or what is missing
    return table


def _from_parquet(path: Path, part: Part) -> Block:
    """The numbers of some rows and columns of a Parquet file."""
    names = {*(part.expected.columns or ()), part.expected.id}
    # By selector: as plain text, a name such as * stands for others.
    only = _polars().selectors.by_name(*names - {None})
    with _scan(path, part.within) as scan:
        frame = scan.select(only).slice(part.row, part.size).collect()
    if len(frame) < part.size:
        raise _unsound("fewer rows than before", part.within)
    places = {name: place for place, name in enumerate(frame.columns)}
    return _from_frame(nw.from_native(frame, eager_only=True), places, part)


@contextmanager
def _scan(path: Path, within: str) -> Generator[Any]:
    """A Parquet file to be asked; what polars has against it becomes a sentence."""
    polars = _polars()
    try:
        yield polars.scan_parquet(path, glob=False, hive_partitioning=False)
    except (OSError, polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise _unsound(summary(error), within) from None


def _is_number(kind: Any) -> bool:  # noqa: ANN401 - polars is not always there
    """Whether a type of polars is one of numbers."""
    return kind.is_numeric() or kind == _polars().Boolean


def _polars() -> Any:  # noqa: ANN401 - it is not always there
    """The package that reads Parquet."""
    try:
        import polars as pl
    except ImportError:
        raise MissingPackageError(
            f"Reading Parquet needs polars, which is not installed: {INSTALL}"
        ) from None
    return pl
