"""What users hand to an estimator, checked once: rows, labels and weights."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel as SklearnKernel
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,  # pyright: ignore[reportPrivateUsage]
    column_or_1d,
    validate_data,
)

from possibal.arrays import Matrix, Vector, real
from possibal.kernels import Kernel

Entry = TypeVar("Entry")
_NO_Y = "y must be given: fit requires y to be passed, but the target y is None. Pass labels."


def rows(estimator: BaseEstimator, X: ArrayLike, *, reset: bool, least: int = 1) -> Matrix:
    """The rows as finite floats; names and number of columns are kept or compared.

    Args:
        estimator: remembers the columns.
        X: an array or data frame, (n, d).
        reset: whether the columns are new, as in fit.
        least: rows there must be.
    """
    _refuse_sparse(X)
    _refuse_dates(X)
    try:
        array = validate_data(
            estimator,
            X,  # pyright: ignore[reportArgumentType] - scikit-learn has no types
            reset=reset,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=least,
        )
    except ValueError as error:
        if "could not convert" in str(error):
            raise ValueError(
                f"X must hold numbers; got text ({str(error).rsplit(': ', 1)[-1]}). "
                "Encode such columns first, with OneHotEncoder for one."
            ) from None
        raise
    return real(array, "X")


def labels(
    values: NDArray[Any], classes: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes in order, and the place of each label among them."""
    if classes is None:
        if values.dtype.kind == "f":
            check_classification_targets(values)  # refuses numbers that are no labels
        known = np.unique(values)
        if len(known) < 2:  # noqa: PLR2004 - a choice needs two
            raise ValueError(
                f"y must hold at least 2 classes; got {len(known)} class. "
                "Name all classes with classes=[...] to start from fewer."
            )
    else:
        known = np.unique(column(classes, "classes"))
        if len(known) < 2:  # noqa: PLR2004 - a choice needs two
            raise ValueError(
                f"classes must name at least 2 labels; got {known.tolist()}. Name all there may be."
            )
    if not len(values):
        return known, np.empty(0, dtype=np.intp)
    if classes is not None and not np.isin(values, known).all():
        first = int((~np.isin(values, known)).argmax())
        raise ValueError(
            f"y must hold labels named in classes, {known.tolist()}; "
            f"got {values[first]!r} at row {first}. Add it to classes or correct it."
        )
    return known, np.searchsorted(known, values)


def numbers(y: ArrayLike | None) -> Vector:
    """Outcomes of a regression: finite floats, one per row."""
    if y is None:
        raise ValueError(_NO_Y)
    column = column_or_1d(y, warn=True)
    if column.dtype.kind in "OUS":
        try:
            column = column.astype(float)
        except (TypeError, ValueError):
            raise ValueError(
                f"y must hold numbers; got {column[0]!r}. For labels use PossibilisticGPClassifier."
            ) from None
    return real(column, "y")


def weights(sample_weight: ArrayLike | None, X: Matrix) -> Vector:
    """How many times each row counts; not negative."""
    if sample_weight is None:
        return np.ones(len(X))
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if len(weight) and weight.min() < 0:
        first = int((weight < 0).argmax())
        raise ValueError(
            f"sample_weight must not be negative; got {weight[first]:.6g} at row {first}. "
            "A weight of zero leaves a row out."
        )
    return weight


def same_length(X: Matrix, y: Sequence[object] | NDArray[Any]) -> None:
    """Refuse labels that do not match the rows in number."""
    if len(X) != len(y):
        raise ValueError(
            f"y must have one entry per row of X, {len(X)}; got {len(y)}. "
            "Found input variables with inconsistent numbers of samples."
        )


def column(y: ArrayLike | None, name: str = "y") -> NDArray[Any]:
    """Labels as a vector of one type, none of them missing."""
    if y is None:
        raise ValueError(_NO_Y)
    given = column_or_1d(y, warn=True)
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        first = int((~np.isfinite(given)).argmax())
        value = "NaN" if np.isnan(given[first]) else given[first]
        raise ValueError(
            f"{name} must not hold missing or infinite labels; got {value} at row {first}. "
            "Leave rows without a label out."
        )
    one_by_one = list(y) if isinstance(y, list | tuple) else given.tolist()
    kinds = {_kind(value) for value in one_by_one} if given.dtype.kind in "OUS" else {"number"}
    if len(kinds) > 1:
        raise ValueError(
            f"{name} must hold labels of one type; got {' and '.join(sorted(kinds))}. "
            "Convert them with astype(str)."
        )
    if kinds == {"missing"}:
        raise ValueError(f"{name} must hold labels; got None. Leave rows without a label out.")
    return given


def choice(argument: str, name: object, registry: Mapping[str, Entry]) -> Entry:
    """The entry of a registry, or one sentence that offers the others."""
    if not isinstance(name, str) or name not in registry:
        near = get_close_matches(str(name), registry, n=1)
        remedy = f"Did you mean {near[0]!r}?" if near else "Choose one of these."
        offered = ", ".join(repr(known) for known in registry)
        raise ValueError(f"{argument} must be one of {offered}; got {name!r}. {remedy}")
    return registry[name]


def kernels(kernel: object, processes: int) -> tuple[Kernel, ...] | None:
    """The kernels as a tuple: one, or one per class; None where ours is to be used."""
    if kernel is None:
        return None
    several = tuple(kernel) if isinstance(kernel, list | tuple) else (kernel,)
    for one in several:
        if not isinstance(one, SklearnKernel):
            raise TypeError(
                f"kernel must be a scikit-learn kernel, or a list of one per class; got {one!r}. "
                "Import one from sklearn.gaussian_process.kernels."
            )
    if len(several) not in (1, processes):
        raise ValueError(
            f"kernel must be one kernel, or one per latent function, {processes}; "
            f"got {len(several)}. Pass a single kernel to share it."
        )
    return cast("tuple[Kernel, ...]", several)


def _kind(value: object) -> str:
    """What a label is, roughly: text, a number, missing, or the name of its type."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return "number"
    return "missing" if value is None else type(value).__name__


def _refuse_sparse(X: object) -> None:
    """Refuse sparse matrices in one sentence."""
    if issparse(X):
        raise TypeError(
            "X must be dense; got a sparse matrix. Sparse data was passed: reduce it with "
            "TruncatedSVD, or use X.toarray() if it is small."
        )


def _refuse_dates(X: object) -> None:
    """Refuse columns of dates, which NumPy would turn into numbers without a word."""
    columns = getattr(X, "dtypes", None)
    kinds = list(columns) if columns is not None else [getattr(X, "dtype", None)]
    if any("date" in str(kind).lower() or "timedelta" in str(kind).lower() for kind in kinds):
        raise ValueError(
            "X must hold numbers; got dates. Turn them into numbers that mean something, such as "
            "days since the first."
        )
