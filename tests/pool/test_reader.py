"""Whatever holds a pool gives the same rows, in parts of any size, or one sentence."""

import pickle
import re
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from possibal.errors import MissingPackageError
from possibal.pool.reader import CHUNK, RowFormat, row_source

X = np.arange(30.0).reshape(10, 3)
ABC = ("a", "b", "c")
KNOWN, UNKNOWN, NAMED = RowFormat(3, ABC), RowFormat(3, None), RowFormat(3, ABC, "name")
NAMES = [f"row {i}" for i in range(10)]


def chunks(source, expected=UNKNOWN, chunk=4):
    return [part.read() for part in row_source(source, expected, chunk=chunk).parts()]


def joined(source, expected=UNKNOWN, chunk=4):
    return np.concatenate([one.X for one in chunks(source, expected, chunk)])


def columns(array=X, **others):
    return dict(zip(ABC, array.T, strict=True)) | others


def parquet(path, **given):
    pl.DataFrame(given).write_parquet(path)
    return path


def says(sentence):
    return pytest.raises((ValueError, TypeError), match=f"^{re.escape(sentence)}$")


@pytest.fixture
def folder(tmp_path):
    """The pool in three files, columns in different orders, the middle one empty."""
    pool = tmp_path / "pool"
    pool.mkdir()
    first, last = columns(X[:6], name=NAMES[:6]), columns(X[6:], name=NAMES[6:])
    parquet(pool / "a.parquet", **first)
    pl.DataFrame(first).clear().write_parquet(pool / "b.parquet")
    parquet(pool / "c.parquet", **{name: last[name] for name in ("name", "c", "b", "a")})
    (pool / "notes.txt").write_text("no rows")
    return pool


# ---------------------------------------------------------------- all sources
class Lazy:
    """An array of another library, which must not be read whole."""

    shape = X.shape

    def __getitem__(self, piece):
        return X[piece]

    def __array__(self, dtype=None, copy=None):
        raise AssertionError


FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]
SOURCES = {
    "array": lambda _: X,
    "columns first": lambda _: np.asfortranarray(X),
    "whole numbers": lambda _: X.astype(int),
    "other library": lambda _: Lazy(),
    "pandas": lambda _: pd.DataFrame(columns()),
    "pandas, a float index": lambda _: pd.DataFrame(columns(), index=np.arange(10)[::-1] / 2),
    "pandas, nullable": lambda _: pd.DataFrame(columns()).convert_dtypes(),
    "polars": lambda _: pl.DataFrame(columns()),
    "pyarrow": lambda _: pa.table(columns()),
    "generator": lambda _: (X[i : i + 5] for i in (0, 5)),
    "list of frames": lambda _: [pd.DataFrame(columns(X[:7])), pl.DataFrame(columns(X[7:]))],
    "an empty chunk": lambda _: [X[:0], X[:9], X[9:9], X[9:]],
    "numpy file": lambda folder: saved(folder / "x.npy", X),
    "numpy file as text": lambda folder: str(saved(folder / "x.npy", X)),
    "numpy map": lambda folder: np.load(saved(folder / "x.npy", X), mmap_mode="r"),
    "Parquet file": lambda folder: parquet(folder / "x.parquet", **columns()),
    "files": lambda folder: [saved(folder / "x.npy", X[:3]), saved(folder / "y.npy", X[3:])],
}
each_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


def saved(path, array):
    np.save(path, array)
    return path


@each_source
@pytest.mark.parametrize("chunk", [1, 3, 10, CHUNK])
@pytest.mark.parametrize("expected", [KNOWN, UNKNOWN], ids=["known", "unknown"])
def test_every_source_gives_the_same_rows_in_parts_of_any_size(tmp_path, source, chunk, expected):
    found = row_source(source(tmp_path), expected, chunk=chunk)
    start = 0
    for part in found.parts():
        read = part.read()
        assert part.start == read.start == start
        assert len(read.X) == part.size <= chunk
        assert read.names is None
        assert read.X.dtype == np.float64
        assert read.X.flags.c_contiguous
        assert not read.X.flags.writeable
        np.testing.assert_array_equal(read.X, X[start : start + part.size])
        start += part.size
    assert start == 10
    assert found.size in (10, None)


@each_source
def test_a_part_reads_the_same_after_a_journey(tmp_path, source):
    for part in row_source(source(tmp_path), UNKNOWN, chunk=4).parts():
        there, here = pickle.loads(pickle.dumps(part)).read(), part.read()  # noqa: S301 - our own
        assert (there.start, there.names) == (here.start, here.names)
        np.testing.assert_array_equal(there.X, here.X)


@pytest.mark.parametrize("size", [None, 10])
def test_the_size_is_told_where_it_is_known(size):
    assert row_source(X if size else iter([X]), UNKNOWN).size == size


def test_parts_are_given_as_often_as_they_are_asked_for_but_not_by_an_iterator():
    again, once = row_source([X], UNKNOWN), row_source(iter([X]), UNKNOWN)
    assert [len(list(again.parts())) for _ in range(2)] == [1, 1]
    assert len(list(once.parts())) == 1
    with pytest.raises(ValueError, match="only once"):
        list(once.parts())


@given(
    array=hnp.arrays(
        st.sampled_from([np.float32, np.float64, np.int16, np.uint8, np.bool_, ">f4", np.float16]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
        elements={"allow_nan": False, "allow_infinity": False},
    ),
    chunk=st.integers(1, 15),
    frame=st.sampled_from([np.asarray, pd.DataFrame, lambda X: [X], np.asfortranarray]),
)
def test_chunks_put_together_are_the_array(array, chunk, frame):
    native = array.astype(array.dtype.newbyteorder("="))
    found = joined(frame(native), RowFormat(array.shape[1], None), chunk)
    np.testing.assert_array_equal(found, array)
    assert found.dtype == (np.float32 if native.dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(joined(array, RowFormat(array.shape[1], None), chunk), found)


@pytest.mark.parametrize(
    "frame", [np.asarray, pd.DataFrame, pl.DataFrame, lambda x: pa.table(columns(x))]
)
def test_short_floats_stay_short(frame):
    assert joined(frame(X.astype(np.float32))).dtype == np.float32


def test_short_and_long_floats_together_are_long(tmp_path):
    mixed = columns() | {"a": X[:, 0].astype(np.float32)}
    for source in (pd.DataFrame(mixed), pl.DataFrame(mixed), parquet(tmp_path / "x", **mixed)):
        assert joined(source).dtype == np.float64
    short = parquet(tmp_path / "y", **columns(X.astype(np.float32)))
    assert joined(short).dtype == np.float32


def test_an_array_is_not_copied_where_it_is_as_wanted():
    assert all(np.shares_memory(one.X, X) for one in chunks(X))


# ---------------------------------------------------------------- maps
def mapped(path, order="C", mode="w+", size=20_000):
    array = np.memmap(path, np.float64, mode, shape=(size, 3), order=order, offset=0)
    if mode == "w+":
        array[:] = np.arange(3 * size).reshape(size, 3)
    return array


VIEWS = {
    "all": lambda m: m,
    "later rows": lambda m: m[5:],
    "an array over it": lambda m: np.asarray(m)[5:],
    "other numbers": lambda m: m.view(np.int64),
    "a slice of a slice": lambda m: m[5:][7:],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_part_of_a_map_is_small_to_send_and_reads_the_file(tmp_path, order, view):
    whole = mapped(tmp_path / "x.dat", order)
    array = view(whole)
    sent = [pickle.dumps(part) for part in row_source(array, UNKNOWN, chunk=8_000).parts()]
    assert len(sent) == 3
    is_in_file = array.flags.forc
    assert is_in_file or order == "F"
    assert all(len(one) < 1_500 for one in sent) == is_in_file
    read = [pickle.loads(one).read().X for one in sent]  # noqa: S301 - our own
    np.testing.assert_array_equal(np.concatenate(read), array)


def test_a_turned_map_is_read_from_its_file(tmp_path):
    turned = np.memmap(tmp_path / "x.dat", np.float32, "w+", shape=(3, 10))
    turned[:] = X.T
    np.testing.assert_array_equal(joined(turned.T), X)
    assert joined(turned.T).dtype == np.float32


def test_a_map_is_sent_as_numbers_where_its_file_does_not_hold_them(tmp_path):
    mapped(tmp_path / "x.dat", size=10).flush()
    changed = mapped(tmp_path / "x.dat", mode="c", size=10)
    changed[0, 0] = 7.0
    assert joined(changed)[0, 0] == 7.0
    assert joined(mapped(tmp_path / "x.dat", mode="r", size=10))[0, 0] == 0.0
    gone = mapped(tmp_path / "y.dat", size=10)
    (tmp_path / "y.dat").unlink()
    np.testing.assert_array_equal(joined(gone), X)
    np.testing.assert_array_equal(joined(gone.copy()), X)


def test_a_map_is_never_in_memory_as_a_whole(tmp_path):
    path = tmp_path / "x.npy"
    np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(4_000_000, 3)).flush()
    code = (
        "import resource, sys; from possibal.pool.reader import RowFormat, row_source\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "found, before = row_source(sys.argv[1], RowFormat(3, None)), peak()\n"
        "read = sum(len(part.read().X) for part in found.parts())\n"
        "print(read, peak() - before)"
    )
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    read, kilobytes = map(int, done.stdout.split())
    assert read == 4_000_000
    assert kilobytes < 30_000  # of 96 000


def test_parts_of_frames_hold_their_rows_alone():
    wide = columns(np.zeros((50_000, 3)))
    for frame in (pd.DataFrame(wide), pl.DataFrame(wide), pa.table(wide)):
        part = next(row_source(frame, UNKNOWN, chunk=10).parts())
        assert len(pickle.dumps(part)) < 5_000


# ---------------------------------------------------------------- columns and names
@pytest.mark.parametrize("frame", FRAMES)
def test_columns_are_found_by_name_whatever_their_order(frame):
    turned = frame({name: columns(other=NAMES)[name] for name in ("c", "other", "a", "b")})
    np.testing.assert_array_equal(joined(turned, KNOWN), X)
    np.testing.assert_array_equal(joined([X[:5], turned[5:]], KNOWN), X)


@pytest.mark.parametrize("source", [str, Path, lambda folder: f"{folder}/[a-c].parquet"])
@pytest.mark.parametrize("expected", [NAMED, RowFormat(3, None, "name")], ids=["known", "unknown"])
def test_files_are_one_pool_by_name(folder, source, expected):
    read = chunks(source(folder), expected)
    assert [one.start for one in read] == [0, 4, 6]
    assert [name for one in read for name in one.names] == NAMES
    np.testing.assert_array_equal(np.concatenate([one.X for one in read]), X)
    assert row_source(source(folder), expected).size == 10


def test_a_pattern_may_reach_into_folders(folder):
    np.testing.assert_array_equal(joined(f"{folder.parent}/**/*.parquet", KNOWN), X)


def test_parts_of_a_relative_path_are_read_from_anywhere(folder, monkeypatch):
    monkeypatch.chdir(folder)
    parts = list(row_source("a.parquet", KNOWN).parts())
    monkeypatch.chdir(folder.parent)
    np.testing.assert_array_equal(parts[0].read().X, X[:6])


def test_names_of_files_and_columns_have_no_other_meaning(tmp_path):
    place = tmp_path / "d=1" / "[ab]*.parquet"
    place.parent.mkdir()
    parquet(place, **{"*": X[:, 0], "^.*$": X[:, 1], "more": X[:, 2], "d": X[:, 0]})
    np.testing.assert_array_equal(joined(place, RowFormat(2, ("^.*$", "*"))), X[:, [1, 0]])


@pytest.mark.parametrize("frame", FRAMES)
def test_names_of_rows_are_values_of_python(frame):
    (one,) = chunks(frame(columns(name=np.arange(10))), NAMED, 10)
    assert one.names == list(range(10))
    assert {*map(type, one.names)} == {int}


def test_the_id_may_be_a_number_that_the_model_reads_too():
    (one,) = chunks(pl.DataFrame(columns()), RowFormat(3, ABC, "a"), 10)
    assert one.names == X[:, 0].tolist()
    np.testing.assert_array_equal(one.X, X)


def test_later_frames_are_read_in_the_order_of_the_first():
    turned = pd.DataFrame(columns(X[5:]))[["c", "a", "b"]]
    np.testing.assert_array_equal(joined([pd.DataFrame(columns(X[:5])), turned]), X)


# ---------------------------------------------------------------- what is a number
@pytest.mark.parametrize(
    "cells",
    [
        [True, False],
        np.array([1, Decimal("0.0")], dtype=object),
        np.array([np.True_, 0], dtype=object),
        pd.Categorical([1, 0]),
        pd.arrays.SparseArray([1.0, 0.0]),
        pd.array([True, False], dtype="boolean"),
    ],
    ids=["bool", "decimal", "objects", "categories", "sparse", "nullable"],
)
def test_pandas_numbers_of_any_type_are_taken(cells):
    assert joined(pd.DataFrame({"a": cells}), RowFormat(1, None)).tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize("cells", [[True, False], [Decimal(1), Decimal(0)]])
def test_polars_numbers_of_any_type_are_taken(tmp_path, cells):
    for source in (pl.DataFrame({"a": cells}), parquet(tmp_path / "x", a=cells)):
        assert joined(source, RowFormat(1, None)).tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([True, False]),
        pa.array([1, 0], pa.uint8()),
        pa.array([Decimal(1), Decimal(0)]),
        pa.array([1, 0]).dictionary_encode(),
    ],
    ids=["bool", "bytes", "decimal", "categories"],
)
def test_arrow_numbers_of_any_type_are_taken(cells):
    assert joined(pa.table({"a": cells}), RowFormat(1, None)).tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize("frame", FRAMES)
def test_whole_numbers_and_decimals_that_floats_round_are_rounded_to_the_nearest(frame):
    whole, decimal = [2**60 + 1, -(2**62) - 3], [Decimal("0.1"), Decimal("1234567.7654321")]
    found = joined(frame({"a": whole, "b": decimal}), RowFormat(2, None))
    assert found.T.tolist() == [[float(cell) for cell in whole], [float(cell) for cell in decimal]]


TURN = "Turn it into numbers first, as for the model."
FILL = "Fill or drop it."


@pytest.mark.parametrize(
    ("cells", "got"),
    [
        ([1.0, 2.0, "x"], "numbers; got 'x' at row 7, column 'b'. " + TURN),
        ([1.0, 2.0, "3"], "numbers; got '3' at row 7, column 'b'. " + TURN),
        (["u", "v", "u"], "numbers; got 'u' at row 5, column 'b'. " + TURN),
        (pd.Categorical(["u", "v", "u"]), "numbers; got 'u' at row 5, column 'b'. " + TURN),
        ([1j, 2, 3], "numbers; got 1j at row 5, column 'b'. " + TURN),
        ([1.0, np.nan, np.inf], "finite numbers; got nan at row 6, column 'b'. " + FILL),
        ([1, None, "x"], "finite numbers; got nan at row 6, column 'b'. " + FILL),
        (pd.array([1, 2, None], "Int64"), "finite numbers; got nan at row 7, column 'b'. " + FILL),
        ([-np.inf, 1, 2], "finite numbers; got -inf at row 5, column 'b'. " + FILL),
        ([pd.NaT] * 3, "finite numbers; got nan at row 5, column 'b'. " + FILL),
    ],
)
def test_what_is_no_number_in_pandas_is_named_with_its_place(cells, got):
    frame = pd.DataFrame({"a": [0.0] * 3, "b": cells})
    before = pd.DataFrame({"a": [0.0] * 5, "b": [0.0] * 5})
    with says(f"X must hold {got}"):
        chunks([before, frame], RowFormat(2, None), 2)


@pytest.mark.parametrize(
    ("cells", "got", "remedy"),
    [
        (["x", "y", None], "numbers; got 'x' at row 0", TURN),
        ([1, 2, None], "finite numbers; got nan at row 2", FILL),
        ([True, None, None], "finite numbers; got nan at row 1", FILL),
        (pa.nulls(3), "finite numbers; got nan at row 0", FILL),
        ([date(2026, 1, 2)] * 3, "numbers; got datetime.date(2026, 1, 2) at row 0", TURN),
    ],
)
def test_what_is_no_number_in_arrow_is_named_with_its_place(cells, got, remedy):
    with says(f"X must hold {got}, column 'b'. {remedy}"):
        chunks(pa.table({"a": [0.0] * 3, "b": cells}), RowFormat(2, None), 2)


@pytest.mark.parametrize(
    ("cells", "got", "remedy"),
    [
        (["x", "y", None], "numbers; got 'x' at row 0", TURN),
        ([None, "y", None], "numbers; got 'y' at row 1", TURN),
        (pl.Series(["x"] * 3, dtype=pl.Categorical), "numbers; got 'x' at row 0", TURN),
        ([date(2026, 1, 2)] * 3, "numbers; got datetime.date(2026, 1, 2) at row 0", TURN),
        ([None] * 3, "finite numbers; got nan at row 0", FILL),
        (pl.Series([None] * 3, dtype=pl.String), "finite numbers; got nan at row 0", FILL),
        ([1, 2, None], "finite numbers; got nan at row 2", FILL),
        ([True, None, None], "finite numbers; got nan at row 1", FILL),
        ([1.0, np.inf, np.nan], "finite numbers; got inf at row 1", FILL),
    ],
)
def test_what_is_no_number_in_polars_is_named_with_its_place(tmp_path, cells, got, remedy):
    bad = tmp_path / "b.parquet"
    parquet(tmp_path / "a.parquet", a=[0.0] * 5, b=[0.0] * 5)
    frame = pl.DataFrame({"a": [0.0] * 3, "b": cells})
    frame.write_parquet(bad)
    with says(f"X must hold {got}, column 'b'. {remedy}"):
        chunks(frame, RowFormat(2, None), 2)
    # In a file, rows are counted from its start.
    with says(f"X must hold {got}, column 'b' in {str(bad)!r}. {remedy}"):
        chunks(tmp_path, RowFormat(2, None), 2)


def test_a_column_of_text_is_refused_before_anything_is_read(tmp_path):
    path = parquet(tmp_path / "x.parquet", **columns(c=NAMES))
    with says(f"X must hold numbers; got 'row 0' at row 0, column 'c' in {str(path)!r}. {TURN}"):
        row_source(tmp_path, KNOWN)


def test_a_column_of_text_is_let_be_where_there_are_no_rows_or_no_one_reads_it(tmp_path):
    pl.DataFrame(columns(c=NAMES)).clear().write_parquet(tmp_path / "a.parquet")
    parquet(tmp_path / "b.parquet", **columns(text=NAMES))
    np.testing.assert_array_equal(joined(tmp_path, KNOWN), X)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_number_that_is_not_finite_is_named(tmp_path, value):
    array = X.copy()
    array[9, 0] = array[7, 2] = value
    npy = saved(tmp_path / "x.npy", array)
    for source, expected, place in (
        (array, UNKNOWN, "column 2"),
        (array.astype(np.float32), KNOWN, "column 'c'"),
        ([array[:3], array[3:]], UNKNOWN, "column 2"),
        (np.load(npy, mmap_mode="r"), UNKNOWN, "column 2"),
        (npy, UNKNOWN, f"column 2 in {str(npy)!r}"),
    ):
        with says(f"X must hold finite numbers; got {value} at row 7, {place}. {FILL}"):
            chunks(source, expected)


def test_a_number_too_large_for_floats_is_infinite():
    with says(f"X must hold finite numbers; got inf at row 0, column 0. {FILL}"):
        chunks(np.full((2, 1), np.longdouble("1e4000")), RowFormat(1, None))


# ---------------------------------------------------------------- what is refused
CONVERT = "Convert it with astype(float)."
SHAPE = "have two dimensions, rows and columns; got {}. Use np.atleast_2d(X) for one row."
FITTED = "have as many columns as the model was fitted to, 3; got {}. Pass the same columns."
DENSE = "be dense and without a mask; got {}. Use X.toarray() or X.filled()."
NONE = "have at least one row; got none. Pass the rows to score; an iterator gives them only once."


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (X[:, 0], SHAPE.format(1)),
        (pd.Series([1.0]), SHAPE.format(1)),
        (pl.Series([1.0]), SHAPE.format(1)),
        (np.float64(1), SHAPE.format(0)),
        (X[None], SHAPE.format(3)),
        (X[:, :2], FITTED.format(2)),
        (X.astype(object), f"hold numbers; got dtype object. {CONVERT}"),
        (X.astype(str), f"hold numbers; got dtype <U32. {CONVERT}"),
        (X.astype(complex), f"hold numbers; got dtype complex128. {CONVERT}"),
        (csr_array(X), DENSE.format("csr_array")),
        (np.ma.array(X), DENSE.format("MaskedArray")),
        (X[:0], NONE),
        (pd.DataFrame(columns(X[:0])), NONE),
    ],
)
def test_arrays_that_are_no_rows_are_refused_at_once(source, sentence):
    with says(f"X must {sentence}"):
        row_source(source, UNKNOWN)


@pytest.mark.parametrize("source", [None, 3, {"a": X}, b"x.npy", object()])
def test_what_holds_no_rows_is_refused(source):
    with says(
        "X must be an array, a data frame, a path or an iterable of arrays or data frames; "
        f"got {type(source).__name__}. Use np.asarray(X)."
    ):
        row_source(source, UNKNOWN)


@pytest.mark.parametrize(
    ("chunk", "sentence"),
    [
        ([1.0, 2.0, 3.0], "give arrays or data frames; got list in chunk 1. Use np.asarray(X)."),
        ("x.npy", "give arrays or data frames; got str in chunk 1. Use np.asarray(X)."),
        (X[0], SHAPE.format("1 in chunk 1")),
        (X[:, :2], FITTED.format("2 in chunk 1")),
        (X.astype(object), f"hold numbers; got dtype object in chunk 1. {CONVERT}"),
        (pd.DataFrame({"a": [1], "b": [1]}), FITTED.format("2 in chunk 1")),
    ],
)
def test_a_chunk_that_is_no_table_is_named(chunk, sentence):
    parts = row_source([X, chunk], UNKNOWN).parts()
    assert next(parts).size == 10
    with says(f"X must {sentence}"):
        next(parts)


@pytest.mark.parametrize("source", [[], [X[:0]], iter(())])
def test_an_iterable_without_rows_is_refused_at_its_end(source):
    found = row_source(source, UNKNOWN)
    with says(f"X must {NONE}"):
        list(found.parts())


def test_files_without_rows_are_refused(tmp_path):
    pl.DataFrame(columns()).clear().write_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "x.npy", X[:0])
    for source in (tmp_path, tmp_path / "x.npy"):
        with says(f"X must {NONE}"):
            row_source(source, UNKNOWN)


@pytest.mark.parametrize("chunk", [0, -1])
def test_a_part_has_rows(chunk):
    with says(f"chunk must be at least 1; got {chunk}. Use 1 or a larger number."):
        row_source(X, UNKNOWN, chunk=chunk)


ADD = "Add it, or rename the others."
WEIGHT = RowFormat(3, ("a", "b", "weight"))


@pytest.mark.parametrize(
    ("held", "expected", "sentence"),
    [
        ("a b", UNKNOWN, FITTED.format("2{0}")),
        ("a b c d", UNKNOWN, FITTED.format("4{0}")),
        ("a b x", WEIGHT, "have one column 'weight'; got none{0}. " + ADD),
        ("a b Weight", WEIGHT, "have one column 'weight'; got none{0}. Did you mean 'Weight'?"),
        ("a b c Name", NAMED, "have one column 'name'; got none{0}. Did you mean 'Name'?"),
        ("a b c", NAMED, "have one column 'name'; got none{0}. " + ADD),
    ],
)
def test_a_column_that_is_missing_is_named_with_its_file(tmp_path, held, expected, sentence):
    data = {name: [1.0] for name in held.split()}
    path = parquet(tmp_path / "x.parquet", **data)
    for source, where in (
        (pd.DataFrame(data), ""),
        (pl.DataFrame(data), ""),
        (path, f" in {str(path)!r}"),
    ):
        with says(f"X must {sentence.format(where)}"):
            row_source(source, expected)


def test_every_file_has_the_columns_of_the_first(tmp_path):
    parquet(tmp_path / "a.parquet", **columns())
    path = parquet(tmp_path / "b.parquet", a=[1.0], b=[1.0], d=[1.0])
    with says(f"X must have one column 'c'; got none in {str(path)!r}. {ADD}"):
        row_source(tmp_path, UNKNOWN)


@pytest.mark.parametrize("expected", [KNOWN, UNKNOWN])
def test_a_column_that_comes_twice_is_refused(expected):
    pandas = pd.DataFrame(np.zeros((2, 4)), columns=["a", "b", "c", "b"])
    arrow = pa.Table.from_arrays([[0.0, 0.0]] * 4, names=["a", "b", "c", "b"])
    for frame in (pandas, arrow):
        with says(f"X must have one column 'b'; got 2. {ADD}"):
            row_source(frame, expected)


def test_a_column_that_comes_twice_may_be_one_that_is_not_read():
    pandas = pd.DataFrame([[0.0, 1.0, 2.0]], columns=["b", "a", "b"])
    arrow = pa.Table.from_arrays([[0.0], [1.0], [2.0]], names=["b", "a", "b"])
    assert [joined(frame, RowFormat(1, ("a",))).item() for frame in (pandas, arrow)] == [1.0, 1.0]


def test_columns_may_have_names_that_are_no_text():
    np.testing.assert_array_equal(joined([pd.DataFrame(X[:5]), pd.DataFrame(X[5:])]), X)
    with says(f"X must have one column 'a'; got none. {ADD}"):
        row_source(pd.DataFrame(X), KNOWN)


def test_an_array_has_no_column_of_names(tmp_path):
    path = saved(tmp_path / "x.npy", X)
    remedy = "Pass a data frame or Parquet file that has it."
    for source, where in ((X, ""), (path, f" in {str(path)!r}")):
        with says(f"id must be left out where X is an array; got 'name'{where}. {remedy}"):
            row_source(source, NAMED)
    with says(f"id must be left out where X is an array; got 'name' in chunk 0. {remedy}"):
        chunks([X], NAMED)


# ---------------------------------------------------------------- files
@pytest.mark.parametrize("name", ["none.parquet", "none.npy", "none/*.parquet", "", "[", "."])
def test_a_path_without_files_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with says(
        "X must name a file, a folder of .parquet files, or a pattern that fits files; "
        f"got {name or '.'!r}, where there is none. Check its name and folder."
    ):
        row_source(name, UNKNOWN)


UNSOUND = r"^X must be sound and must not change while it is read; got .+ in '{}'\. Save it anew\.$"


def unsound(path):
    return pytest.raises(ValueError, match=UNSOUND.format(re.escape(str(path))))


@pytest.mark.parametrize("ending", ["npy", "parquet"])
@pytest.mark.parametrize("content", [b"", b"no such thing", b"PAR1" + bytes(40) + b"PAR1"])
def test_a_file_that_is_not_what_it_says_is_refused(tmp_path, ending, content):
    path = tmp_path / f"x.{ending}"
    path.write_bytes(content)
    with unsound(path):
        row_source(path, UNKNOWN)


def test_a_numpy_file_of_objects_or_a_folder_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", X.astype(object), allow_pickle=True)
    (tmp_path / "y.npy").mkdir()
    with unsound(tmp_path / "x.npy"):
        row_source(tmp_path / "x.npy", UNKNOWN)
    with pytest.raises(ValueError, match="where there is none"):
        row_source(tmp_path / "y.npy", UNKNOWN)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: parquet(path, **columns(X[:5])),
        lambda path: parquet(path, a=X[:, 0], b=X[:, 1]),
        lambda path: path.write_bytes(path.read_bytes()[:-9]),
        Path.unlink,
    ],
    ids=["fewer rows", "fewer columns", "shorter", "gone"],
)
def test_a_parquet_file_that_changes_is_refused(tmp_path, change):
    path = parquet(tmp_path / "x.parquet", **columns())
    first, second = row_source(path, KNOWN, chunk=5).parts()
    np.testing.assert_array_equal(first.read().X, X[:5])
    change(path)
    with unsound(path):
        second.read()


@pytest.mark.parametrize("change", [lambda path: saved(path, X[:5]), Path.unlink])
def test_a_numpy_file_that_changes_is_refused(tmp_path, change):
    path = saved(tmp_path / "x.npy", X)
    by_path, by_map = (
        list(row_source(source, UNKNOWN, chunk=5).parts())
        for source in (path, np.load(path, mmap_mode="r"))
    )
    change(path)
    for parts in (by_path, by_map):
        with unsound(path):
            parts[1].read()


def test_parquet_needs_polars_and_arrays_do_not(tmp_path, monkeypatch):
    path = parquet(tmp_path / "x.parquet", **columns())
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingPackageError, match=r"possibal\[experiments\]"):
        row_source(path, UNKNOWN)
    np.testing.assert_array_equal(joined(pd.DataFrame(columns())), X)
