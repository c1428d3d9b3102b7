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
from possibal.arrays import Matrix, Vector, real
from possibal.gp.hyperparameters import COMMON, COMMON_DIRECTIONS
from possibal.gp.kernels import Kernel
from possibal.gp.means import CallableMean, ConstantMean, MeanCallable, MeanFunction
from possibal.gp.rbf import Level
from possibal.numerics.geometry import COSINE, EUCLIDEAN

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
_LARGEST, _SMALLEST = 1e153, 1e-150
"""Beyond these, squares are no numbers or vanish."""


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
        return real(X, "X")
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
    except (TypeError, ValueError) as error:
        _explain(error, X)
        raise
    return real(array, "X")


def merged(X: Matrix, y: Vector, weight: Vector) -> tuple[Matrix, Vector, Vector]:
    """The same rows in an order of their own, those alike in X and y as one of their joint weight.

    So neither the order of rows nor a row given twice instead of a weight of two makes a
    difference that an optimiser could blow up; and rows of weight zero are gone.
    """
    kept = weight > 0
    table = np.ascontiguousarray(np.column_stack([X[kept], y[kept]]) + 0.0)  # -0 is 0
    if not len(table):
        return X[:0], y[:0], weight[:0]
    keys = table.view(f"V{table.dtype.itemsize * table.shape[1]}").ravel()
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    chosen = order[first]
    return table[chosen, :-1], table[chosen, -1], np.add.reduceat(weight[kept][order], first)


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


def _explain(error: Exception, X: object) -> None:
    """Say in one sentence why rows are no numbers, where that is the matter."""
    text = re.search(_TEXT, str(error))
    if text:
        raise ValueError(
            f"X must hold numbers; got text ({text[1]}). "
            "Encode such columns first, with OneHotEncoder for one."
        ) from None
    if isinstance(error, TypeError) or "np.datetime64" in str(error):
        entries = np.asarray(X, dtype=object).ravel()
        if any(isinstance(e, dt.date | np.datetime64) or _is_period(e) for e in entries):
            raise ValueError(_NO_DATES) from None


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
    given: NDArray[Any] = y if _is_vector(y) else column_or_1d(y, warn=True)
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
    outcomes = column_or_1d(y, warn=True)
    if outcomes.dtype.kind in "OUS":
        try:
            outcomes = outcomes.astype(float)
        except (TypeError, ValueError):
            raise ValueError(
                f"y must hold numbers; got {_written(outcomes.tolist()[0])}. "
                "For labels use PossibilisticGPClassifier."
            ) from None
    found = real(outcomes, "y")
    largest = float(np.abs(found).max(initial=0.0))
    if largest > _LARGEST or 0 < largest < _SMALLEST:
        raise ValueError(
            f"y must lie between {_SMALLEST:.0e} and {_LARGEST:.0e} in size; got {largest:.6g}. "
            "Change its unit."
        )
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
    try:
        weight = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError):
        entry = np.asarray(sample_weight, dtype=object).ravel().tolist()[0]
        raise ValueError(
            f"sample_weight must hold numbers; got {_written(entry)}. Pass one number per row."
        ) from None
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
    return weight


def positive_number(value: object, argument: str, cure: str) -> float:
    """A finite number above zero."""
    if (
        isinstance(value, bool)
        or not isinstance(value, float | int | np.number)
        or not _SMALLEST < float(value) < np.inf
    ):
        raise ValueError(f"{argument} must be a positive number; got {value}. {cure}")
    return float(cast("float", value))


def distance(usual: object) -> float | None:
    """The usual distance of two rows, if it is given."""
    cure = "Leave it out for that of the rows seen."
    return None if usual is None else positive_number(usual, "usual_distance", cure)


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


def metric_level(metric: str, kernel: object, blocks: Sequence[int]) -> Level:
    """What rows have in common under the default kernel; or one sentence on what is wrong."""
    found = choice("metric", metric, {EUCLIDEAN: COMMON, COSINE: COMMON_DIRECTIONS})
    if metric != EUCLIDEAN and kernel is not None:
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
