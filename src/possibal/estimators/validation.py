"""Input validation of the estimators: rows, labels, weights and kernels, checked once."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import CompoundKernel
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from possibal.arguments import choice, whole
from possibal.arrays import Matrix, Vector, check_unmasked, real
from possibal.gp.hyperparameters import COMMON, COMMON_DIRECTIONS
from possibal.gp.kernels import Kernel
from possibal.gp.means import CallableMean, ConstantMean, MeanCallable, MeanFunction
from possibal.gp.rbf import Level, is_spherical
from possibal.numerics.geometry import COSINE, EUCLIDEAN, RBF_ALONE
from possibal.numerics.sparse_rows import SparseRows, as_matrix

_NO_Y = (
    "y must be given; got None. Pass one label per row: "
    "fit requires y to be passed, but the target y is None."
)
_NO_DATES = (
    "X must hold numbers; got dates. "
    "Turn them into numbers that mean something, such as days since the first."
)
_DATES = ("date", "time", "period", "duration")
_TEXT = r"could not convert string to float: (?:np\.str_\()?('.*?'|\".*?\")"
MOST_DENSE = 50_000_000
"""Cells of a sparse matrix that is made dense: 400 MB."""
_UNIT = "Change its unit."
_RANGES = {
    "X": (1e-305, 1e305, _UNIT),  # beyond, sums of a few are no numbers, or have lost their digits
    "y": (1e-150, 1e153, _UNIT),  # beyond, squares are no numbers or vanish
    "sample_weight": (1e-290, 1e12, "A row of weight one counts once."),  # beyond, all is rounding
}
"""Between what the size of numbers must lie, and what to do where it does not."""
_LEAST_VARIANCE, _LEAST_DISTANCE = 1e-150, 1e-308
"""Below the distances of any pool, which are normal numbers."""
_MOST = float(np.finfo(float).max)
_BEYOND = "a number that no float holds"
_TABLE = 2
"""Dimensions of what has rows and columns."""


# ---------------------------------------------------------------- rows


def rows(estimator: BaseEstimator, X: ArrayLike, *, reset: bool, least: int = 1) -> Matrix:
    """The rows as finite floats; names and number of columns are kept or compared.

    Args:
        estimator: remembers the columns.
        X: an array or data frame, (n, d).
        reset: whether the columns are new, as in fit.
        least: rows there must be.
    """
    if _is_plain(estimator, X, reset=reset, least=least):
        return _in_range(real(X, "X"), is_learnt_from=reset)
    check_unmasked(X, "X")
    if issparse(X):
        X = dense(X)
    kinds = getattr(X, "dtypes", None)
    columns = list(kinds) if kinds is not None else [_type_of_entries(X)]
    if any(word in str(kind).lower() for kind in columns for word in _DATES):
        raise ValueError(_NO_DATES)
    try:
        array = validate_data(
            estimator,
            X,  # pyright: ignore[reportArgumentType] - scikit-learn has no types
            reset=reset,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=least,
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise _explained(error, X, least) from None
    return _in_range(real(array, "X"), is_learnt_from=reset)


def sparse_rows(estimator: BaseEstimator, X: Any, *, reset: bool, least: int = 1) -> Matrix:  # noqa: ANN401 - of any format
    """Sparse rows as finite floats that stay sparse, each number named once.

    Args:
        estimator: remembers the number of columns.
        X: a sparse matrix, (n, d).
        reset: whether the columns are new, as in fit.
        least: rows there must be.
    """
    kept = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=np.float64,
        ensure_all_finite=False,
        ensure_min_samples=least,
    )
    found = SparseRows(kept, copy=kept is X)
    found.sum_duplicates()
    found.eliminate_zeros()
    found.sort_indices()
    found.data[:] = _in_range(real(found.data, "X"), is_learnt_from=reset)
    return as_matrix(found)


def _in_range(X: Matrix, *, is_learnt_from: bool) -> Matrix:
    """The rows, if distances between those that are learnt from can be worked out."""
    largest = float(max(X.max(), -X.min())) if is_learnt_from and X.size else 1.0
    if _is_far("X", largest):
        raise _too_far("X", f"{largest:.6g}")
    return X


def _too_far(argument: str, got: str) -> ValueError:
    """The sentence on numbers that are too large or too small to work with."""
    least, most, remedy = _RANGES[argument]
    return ValueError(
        f"{argument} must lie between {least:.0e} and {most:.0e} in size; got {got}. {remedy}"
    )


def _is_far(argument: str, size: float) -> bool:
    """Whether a number that is not zero is too large or too small to work with."""
    least, most, _ = _RANGES[argument]
    return size > most or 0 < size < least


def merged(X: Matrix, y: Vector, weight: Vector) -> tuple[Matrix, Vector, Vector]:
    """The same rows in an order of their own, those alike in X and y as one of their joint weight.

    So neither the order of rows nor a row given twice instead of a weight of two makes a
    difference that an optimiser could blow up; and rows of weight zero are gone.
    """
    kept = weight > 0
    X, y, weight = X[kept], y[kept] + 0.0, weight[kept]
    if not len(X):
        return X, y, weight
    keys = _row_keys(X, y)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    chosen = order[first]
    X = X[chosen] if issparse(X) else np.ascontiguousarray(X[chosen] + 0.0)
    return X, y[chosen], np.add.reduceat(weight[order], first)


def _row_keys(X: Matrix, y: Vector) -> NDArray[Any]:
    """The bytes of each row with its label, by which rows that are alike stand together."""
    if issparse(X):
        lines = (X[row : row + 1] for row in range(len(X)))
        pairs = zip(lines, y.tolist(), strict=True)
        return np.array([_sparse_key(line, label) for line, label in pairs], dtype=object)
    table = np.ascontiguousarray(np.column_stack([X, y]) + 0.0)  # -0 is 0
    return table.view(f"V{table.dtype.itemsize * table.shape[1]}").ravel()


def _sparse_key(line: Any, label: float) -> bytes:  # noqa: ANN401 - one sparse row
    """The bytes of a sparse row with its label."""
    ends = np.array([label, len(line.indices)])
    return b"".join([ends.tobytes(), line.indices.astype(np.int64).tobytes(), line.data.tobytes()])


def dense(X: Any) -> NDArray[Any]:  # noqa: ANN401 - of any format
    """A sparse matrix as an array, if it is small enough to be one."""
    count = int(np.prod(X.shape))
    if count > MOST_DENSE:
        raise ValueError(
            f"X must be dense, or sparse with at most {MOST_DENSE} cells; got a sparse matrix of "
            f"{count}. Reduce it with TruncatedSVD."
        )
    return X.toarray()


def _is_plain(estimator: BaseEstimator, X: object, *, reset: bool, least: int) -> bool:
    """Whether X is an array that needs no conversion: scikit-learn's checks cost as much as a fit.

    Where columns are new, their number is kept; where they do not fit, the long way says so.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype != np.float64:  # noqa: PLR2004 - a table
        return False
    if hasattr(estimator, "feature_names_in_") or len(X) < least or not X.shape[1]:
        return False
    if reset:
        vars(estimator)["n_features_in_"] = X.shape[1]
    return X.shape[1] == getattr(estimator, "n_features_in_", None)


def _explained(error: Exception, X: object, least: int) -> Exception:
    """One sentence of ours on why rows are no numbers; scikit-learn's where it is about columns."""
    text = re.search(_TEXT, str(error))
    if text:
        return ValueError(
            f"X must hold numbers; got text ({text[1]}). "
            "Encode such columns first, with OneHotEncoder for one."
        )
    if "unique column names" in str(error):
        return ValueError("X must name each column once; got a name twice. Rename one of them.")
    entries = _entries(X)
    is_type = isinstance(error, TypeError) or "np.datetime64" in str(error)
    if is_type and any(
        isinstance(e, dt.date | np.datetime64) or _is_period(e) for e in entries.flat
    ):
        return ValueError(_NO_DATES)
    return _unfit(error, entries, least) or error


def _entries(X: object) -> NDArray[Any]:
    """What rows hold; the rows themselves where they differ in length."""
    try:
        return np.asarray(X, dtype=object)
    except ValueError:  # arrays of different shapes
        entries = np.empty(len(cast("Sequence[object]", X)), dtype=object)
        entries[:] = [[]]
        return entries


def _unfit(error: Exception, entries: NDArray[Any], least: int) -> ValueError | None:
    """The sentence on entries that are no table of real numbers; None where they are one."""
    if isinstance(error, OverflowError):
        return _too_far("X", _BEYOND)
    if _is_complex(entries):
        return ValueError(
            "X must hold real numbers; got complex ones. Complex data not supported: "
            "pass the real and the imaginary part as columns of their own."
        )
    if entries.ndim != _TABLE:
        return ValueError(
            f"X must have rows and columns; got {_shape(entries)}. Reshape your data, with "
            "X.reshape(-1, 1) where it is one column, or X.reshape(1, -1) where it is one row."
        )
    if len(entries) < least:
        return ValueError(f"X must have at least {least} row; got none. Pass the rows.")
    if not entries.shape[1]:
        return ValueError(
            f"X must have columns; got 0 feature(s) (shape={entries.shape}) while a minimum of 1 "
            "is required. Pass at least one number per row."
        )
    return None


def _is_complex(entries: NDArray[Any]) -> bool:
    """Whether some entries are complex numbers."""
    return any(isinstance(entry, complex | np.complexfloating) for entry in entries.flat)


def _shape(entries: NDArray[Any]) -> str:
    """What is no table, in words."""
    if not entries.ndim:
        return type(entries.item()).__name__
    is_ragged = isinstance(next(entries.flat, None), list | tuple | np.ndarray)
    return "rows of different lengths" if is_ragged else f"shape {entries.shape}"


def _type_of_entries(X: object) -> object:
    """What an array, or a list of lists, holds."""
    if isinstance(X, list | tuple):
        first = next(iter(X), None)
        return np.asarray(first).dtype if isinstance(first, list | tuple) else None
    return getattr(X, "dtype", None)


def _is_period(entry: object) -> bool:
    """Whether an entry is a date of pandas."""
    return type(entry).__name__ in {"Period", "Timestamp", "Timedelta"}


# ---------------------------------------------------------------- labels and outcomes


def column(y: ArrayLike | None, name: str = "y") -> NDArray[Any]:
    """Labels as a vector of one type, none of them missing."""
    if y is None:
        raise ValueError(_NO_Y)
    given: NDArray[Any] = y if _is_vector(y) else _vector(y, name)
    if given.dtype.kind in "biu":
        return given
    each = list(y) if isinstance(y, list | tuple) else given.tolist()
    missing = [_is_missing(value) for value in each]
    if any(missing):
        first = missing.index(True)
        raise ValueError(
            f"{name} must not hold missing or infinite labels; "
            f"got {_written(each[first])} at row {first}. Leave rows without a label out."
        )
    kinds = {_kind(value) for value in each}
    if len(kinds) > 1:
        raise ValueError(
            f"{name} must hold labels of one type; got {' and '.join(sorted(kinds))}. "
            "Convert them with astype(str)."
        )
    return given


def labels(
    values: NDArray[Any], classes: ArrayLike | None, rows: NDArray[np.intp] | None = None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes in order, and the place of each label among them.

    Args:
        values: the labels.
        classes: all there may be, if the user named them.
        rows: where the labels stood, for errors; in order if left out.
    """
    if classes is None:
        if values.dtype.kind == "f":
            check_classification_targets(values)  # refuses numbers that are no labels
        known = np.unique(values)
        if len(known) < 2:  # noqa: PLR2004 - a choice needs two
            raise ValueError(
                f"y must hold at least 2 classes; got {len(known)} class. "
                "Name all classes with classes=[...] to start from fewer."
            )
        return known, np.searchsorted(known, values)
    known = _named(classes)
    places = {label: place for place, label in enumerate(known.tolist())}
    codes = [places.get(label, -1) for label in values.tolist()]
    if -1 in codes:
        first = codes.index(-1)
        row = first if rows is None else int(rows[first])
        raise ValueError(
            f"y must hold labels named in classes, {known.tolist()}; "
            f"got {_written(values.tolist()[first])} at row {row}. "
            "Add it to classes or correct it."
        )
    return known, np.array(codes, dtype=np.intp)


def numbers(y: ArrayLike | None) -> Vector:
    """Outcomes of a regression: finite floats, one per row."""
    if y is None:
        raise ValueError(_NO_Y)
    outcomes = _vector(y, "y")
    if outcomes.dtype.kind in "OUS":
        try:
            outcomes = outcomes.astype(float)
        except OverflowError:
            raise _too_far("y", _BEYOND) from None
        except (TypeError, ValueError):
            raise ValueError(
                f"y must hold numbers; got {_written(outcomes.tolist()[0])}. "
                "For labels use PossibilisticGPClassifier."
            ) from None
    found = real(outcomes, "y")
    largest = float(np.abs(found).max(initial=0.0))
    if _is_far("y", largest):
        raise _too_far("y", f"{largest:.6g}")
    return found


def same_length(X: Matrix, y: Sequence[object] | NDArray[Any]) -> None:
    """Refuse labels that do not match the rows in number."""
    if len(X) != len(y):
        raise ValueError(
            f"y must have one entry per row of X, {len(X)}; got {len(y)}. "
            "Pass as many labels as rows."
        )


def _named(classes: ArrayLike) -> NDArray[Any]:
    """The labels that classes= names, in order."""
    if isinstance(classes, str | set | dict) or np.ndim(classes) != 1:
        raise ValueError(
            f"classes must be a list of labels; got {classes!r}. Write classes=['no', 'yes']."
        )
    known = np.unique(column(classes, "classes"))
    if len(known) < 2:  # noqa: PLR2004 - a choice needs two
        raise ValueError(
            f"classes must name at least 2 labels; got {known.tolist()}. Name all there may be."
        )
    return known


def _vector(y: ArrayLike, name: str) -> NDArray[Any]:
    """Labels or outcomes as a vector; one column counts as such."""
    check_unmasked(y, name)
    try:
        return column_or_1d(y, warn=True)
    except ValueError:
        entries = _entries(y)
        got = "complex numbers" if _is_complex(entries) else _shape(entries)
        raise ValueError(
            f"{name} must have one real number or label per row; got {got}. "
            "Pass a list of them: y should be a 1d array."
        ) from None


def _is_vector(y: object) -> TypeGuard[NDArray[Any]]:
    """Whether y is a vector as it is."""
    return type(y) is np.ndarray and y.ndim == 1


def _is_missing(value: object) -> bool:
    """Whether a label says nothing: None, NaN, infinite, or missing in the manner of pandas."""
    if isinstance(value, float | np.floating):
        return not np.isfinite(value)
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


def _kind(value: object) -> str:
    """What a label is, roughly: text, a number, or the name of its type."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return "number"
    return type(value).__name__


def _written(value: object) -> str:
    """A value as the user wrote it."""
    if isinstance(value, float | np.floating):
        return "NaN" if np.isnan(value) else f"{value:g}"
    return repr(value.item() if isinstance(value, np.generic) else value)


# ---------------------------------------------------------------- weights


def weights(sample_weight: ArrayLike | None, X: Matrix) -> Vector:
    """How many times each row counts; not negative, and not all zero."""
    if sample_weight is None:
        return np.ones(len(X))
    weight = _weight_floats(sample_weight)
    weight = real(np.full(len(X), weight) if weight.ndim == 0 else weight, "sample_weight")
    if weight.shape != (len(X),):
        raise ValueError(
            f"sample_weight must have one entry per row of X, {len(X)}; got shape {weight.shape}. "
            "Pass one number per row."
        )
    if len(weight) and weight.min() < 0:
        first = int((weight < 0).argmax())
        raise ValueError(
            f"sample_weight must not be negative; got {weight[first]:.6g} at row {first}. "
            "A weight of zero leaves a row out."
        )
    if len(weight) and weight.max() == 0:
        raise ValueError(
            "sample_weight must be positive somewhere; got zeros. "
            "Give each row that is to count at least one non-zero number."
        )
    _check_sizes(weight)
    return weight


def _weight_floats(sample_weight: ArrayLike) -> NDArray[np.float64]:
    """Weights as floats, or one sentence on what is none."""
    check_unmasked(sample_weight, "sample_weight")
    try:
        given = np.asarray(sample_weight)
        # As objects, complex numbers are refused; else their imaginary part would be dropped.
        return (given.astype(object) if given.dtype.kind == "c" else given).astype(float)
    except OverflowError:
        raise _too_far("sample_weight", _BEYOND) from None
    except (TypeError, ValueError):
        entry = np.asarray(sample_weight, dtype=object).ravel().tolist()[0]
        raise ValueError(
            f"sample_weight must hold numbers; got {_written(entry)}. Pass one number per row."
        ) from None


def _check_sizes(weight: Vector) -> None:
    """Refuse weights beside which others, or which beside others, are rounding."""
    for size in (weight.max(initial=0.0), weight[weight > 0].min(initial=1.0)):
        if _is_far("sample_weight", size):
            raise _too_far("sample_weight", f"{size:.6g}")


def positive_number(
    value: object, argument: str, cure: str, ends: tuple[float, float] = (_LEAST_VARIANCE, _MOST)
) -> float:
    """A finite number above zero.

    Args:
        value: what was given.
        argument: its name.
        cure: what to do.
        ends: between which it must lie.
    """
    is_number = isinstance(value, float | int | np.integer | np.floating)
    is_number = is_number and not isinstance(value, bool)
    # Compared before it is converted: a whole number may be beyond all floats.
    if not is_number or not ends[0] < cast("float", value) < ends[1]:
        got = _BEYOND if isinstance(value, int) and abs(value) > _MOST else value
        raise ValueError(f"{argument} must be a positive number; got {got}. {cure}")
    return float(cast("float", value))


def distance(usual: object) -> float | None:
    """The usual distance of two rows, if it is given."""
    cure, ends = "Leave it out for that of the rows seen.", (_LEAST_DISTANCE, _MOST)
    return None if usual is None else positive_number(usual, "usual_distance", cure, ends)


def kernels(kernel: object, processes: int, columns: int) -> tuple[Kernel, ...] | None:
    """The kernels as a tuple: one, or one per class; None where ours is to be used.

    Args:
        kernel: what the user gave.
        processes: latent functions.
        columns: columns of X.
    """
    if kernel is None:
        return None
    several = tuple(kernel) if isinstance(kernel, list | tuple) else (kernel,)
    for one in several:
        if not isinstance(one, SklearnKernel) or isinstance(one, CompoundKernel):
            raise TypeError(
                f"kernel must be a scikit-learn kernel, or a list of one per class; got {one!r}. "
                "Import one from sklearn.gaussian_process.kernels."
            )
        for lengths in _length_scales(one):
            if is_spherical(one) and lengths > 1:
                raise ValueError(
                    f"kernel must have one length-scale where it is a SphericalRBF; got {lengths}. "
                    "Pass a single number."
                )
            if lengths not in (1, columns):
                raise ValueError(
                    f"kernel must have one length-scale, or one per column of X, {columns}; "
                    f"got {lengths}. Pass a single number to share it."
                )
    if len(several) not in (1, processes):
        raise ValueError(
            f"kernel must be one kernel, or one per latent function, {processes}; "
            f"got {len(several)}. Pass a single kernel to share it."
        )
    return cast("tuple[Kernel, ...]", several)


def is_default(kernel: object) -> bool:
    """Whether the kernel is ours: with all its parts, or "rbf" for the RBF and the level alone."""
    return kernel is None or isinstance(kernel, str)


def own_kernel(kernel: object) -> object:
    """The kernel that the user made, or None where it is ours."""
    if not isinstance(kernel, str):
        return kernel
    choice("kernel", kernel, {RBF_ALONE: True})
    return None


def diffusion(given: object, blocks: Sequence[int] | None, columns: int) -> int:
    """How many of the columns are diffusion coordinates; or one sentence on what is wrong."""
    if given is None:
        return 0
    count = whole("diffusion", given, 1)
    if blocks is not None:
        raise ValueError(
            f"diffusion must be left out where columns come in blocks; got {count} and "
            f"{list(blocks)}. Leave one of them out."
        )
    if count >= columns:
        raise ValueError(
            f"diffusion must leave other columns of X, which has {columns}; got {count}. "
            "Count the coordinates that stand last."
        )
    return count


def centre(given: ArrayLike | None, X: Matrix) -> tuple[float, ...]:
    """The centre of the columns: as given, or the mean of the rows."""
    if given is None:
        return tuple((X.mean(axis=0) if len(X) else np.zeros(X.shape[1])).tolist())
    try:
        found = np.asarray(given, dtype=float)
        got = f"shape {found.shape}"
    except (TypeError, ValueError):
        found, got = np.empty(0), repr(given)
    if found.shape != X.shape[1:]:
        raise ValueError(
            f"centre must have one number per column of X, {X.shape[1]}; got {got}. "
            "Leave it out for the mean of the rows."
        )
    return tuple(real(found, "centre").tolist())


def is_learned(mean: object) -> bool:
    """Whether the prior mean is to be a constant that is not known."""
    return isinstance(mean, str) and mean == "learned"


def prior_mean(given: object, processes: int) -> MeanFunction | None:
    """The prior mean that is given; None where it is to be learned, or nothing is said.

    Args:
        given: a number, one for each class, a callable, "learned" or None.
        processes: latent functions.
    """
    if given is None or is_learned(given):
        return None
    if callable(given):
        return CallableMean(cast("MeanCallable", given), processes)
    levels = np.asarray(given)
    is_number = levels.dtype.kind in "iuf" and bool(np.isfinite(levels).all())
    if is_number and (levels.shape == (processes,) or (not levels.ndim and not levels)):
        return ConstantMean(tuple(levels.ravel().astype(float).tolist()))
    if is_number and not levels.ndim and processes == 1:
        return ConstantMean((float(levels),))
    number = "a number" if processes == 1 else f"{processes} numbers, one for each class"
    raise ValueError(
        f"mean must be {number}, a function of rows, or 'learned'; got {_written(given)}. "
        "Use 0 for a mean of zero."
    )


def blocks(given: Sequence[int] | None, kernel: object, columns: int) -> tuple[int, ...]:
    """Sizes of the blocks of columns, none where there is one; or one sentence on what is wrong."""
    if given is None:
        return ()
    if kernel is not None:
        raise ValueError(
            "blocks must be left out where a kernel is given; got both. "
            "Leave the kernel out, or give it a BlockRBF."
        )
    sizes = tuple(whole("blocks", size, 1) for size in given)
    if sum(sizes) != columns:
        raise ValueError(
            f"blocks must have {columns} columns together, as X; got {sum(sizes)} "
            f"in {list(sizes)}. Count the columns of each block."
        )
    return sizes


def metric_level(metric: str | None, kernel: object, blocks: Sequence[int]) -> Level:
    """What rows have in common under the default kernel; or one sentence on what is wrong."""
    if metric is None:
        return COMMON
    found = choice("metric", metric, {EUCLIDEAN: COMMON, COSINE: COMMON_DIRECTIONS})
    if kernel is not None:
        raise ValueError(
            f"metric must be left out where a kernel is given; got {metric!r} and a kernel. "
            "Leave the kernel out, or give it a SphericalRBF."
        )
    if metric != EUCLIDEAN and len(blocks) > 1:
        raise ValueError(
            f"metric must be {EUCLIDEAN!r} where columns come in blocks; got {metric!r}. "
            "Leave the blocks out."
        )
    return found


def _length_scales(kernel: object) -> Iterator[int]:
    """How many length-scales each part of a kernel has, where it has any."""
    if hasattr(kernel, "length_scale"):
        yield int(np.size(getattr(kernel, "length_scale")))  # noqa: B009 - unknown to the checker
    for part in ("k1", "k2", "kernel"):
        if hasattr(kernel, part):
            yield from _length_scales(getattr(kernel, part))
