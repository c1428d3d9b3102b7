"""Array types, and the only checks of arrays: everything further in trusts its input."""

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = Array
"""One number per row: shape (m,)."""
Matrix: TypeAlias = Array
"""One line of numbers per row: shape (m, d) or (m, C)."""
Places: TypeAlias = NDArray[np.intp]
"""Indices of rows, or of members of a batch."""
Mask: TypeAlias = NDArray[np.bool_]
"""Whether each row is one of some: shape (m,)."""


def real(value: ArrayLike, name: str) -> Array:
    """The value as a read-only array of finite 64-bit floats; the caller's array is untouched."""
    array = floats(value, name)
    # Two passes that allocate nothing; NaN fails both comparisons.
    if array.size and not (array.min() > -np.inf and array.max() < np.inf):
        offender = _first(~np.isfinite(array))
        value = "NaN" if np.isnan(array[offender]) else array[offender]
        raise ValueError(
            f"{name} must be finite; got {value} at {_place(offender)}. Drop or impute that row."
        )
    return array


def floats(value: ArrayLike, name: str) -> Array:
    """The value as a read-only array of 64-bit floats, which may be no numbers.

    A tensor of torch is detached from its gradients and copied from its device first.
    """
    check_unmasked(value, name)
    try:
        given = np.asarray(_detached(value))
    except ValueError:
        raise ValueError(
            f"{name} must be a rectangular array of numbers; got lines of different lengths."
        ) from None
    if given.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold real numbers; got dtype {given.dtype}. "
            "Convert it with astype(float)."
        )
    array = given.astype(np.float64, copy=False).view()
    array.flags.writeable = False
    return array


def _detached(value: Any) -> ArrayLike:  # noqa: ANN401 - torch need not be there
    """A tensor without gradients, on the CPU, in a precision that NumPy has; all else as it is."""
    if not callable(getattr(value, "detach", None)):
        return value
    tensor = value.detach().cpu()
    return tensor.double() if tensor.is_floating_point() else tensor


def check_unmasked(value: object, name: str) -> None:
    """Refuse masked entries, for NumPy would take what is behind the mask for numbers.

    Args:
        value: anything; of a list, its entries are looked at.
        name: of the argument.
    """
    for one in value if isinstance(value, list | tuple) else (value,):
        if isinstance(one, np.ma.MaskedArray) and np.ma.getmaskarray(one).tobytes().strip(b"\0"):
            raise ValueError(
                f"{name} must have no masked entries; got a masked array. "
                f"Drop or impute these rows, or use {name}.filled(...)."
            )


def variances(value: ArrayLike) -> Array:
    """Variances as a read-only array: from zero, a known point, to infinity, ignorance."""
    array = floats(value, "variance")
    if array.size and not array.min() >= 0:  # NaN is not
        offender = _first(~(array >= 0))
        raise ValueError(
            f"variance must be zero or more; got {array[offender]:.6g} at {_place(offender)}. "
            "Zero is a known point, and infinity complete ignorance."
        )
    return array


def positive(value: ArrayLike, name: str, cure: str) -> Array:
    """The value as :func:`real` gives it, every entry above zero."""
    array = real(value, name)
    if array.size and not array.min() > 0:
        offender = _first(array <= 0)
        raise ValueError(
            f"{name} must be positive; got {array[offender]:.6g} at {_place(offender)}. {cure}"
        )
    return array


def per_row(value: ArrayLike, name: str, rows: int) -> Array:
    """One number for all rows, or one for each."""
    array = real(value, name)
    if array.shape not in ((), (rows,)):
        raise ValueError(
            f"{name} must be one number or one per row, {rows}; got shape {array.shape}. "
            "Pass a single number to share it."
        )
    return array


def vector(value: ArrayLike, name: str) -> Vector:
    """The value as a read-only vector of finite floats; a single number counts as one entry."""
    array = np.atleast_1d(real(value, name))
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector; got shape {array.shape}. Use ravel().")
    return array


def square(value: ArrayLike, name: str, size: int) -> Matrix:
    """The value as a read-only symmetric matrix; a single number counts as 1 x 1."""
    array = np.atleast_2d(real(value, name))
    if array.shape != (size, size):
        raise ValueError(f"{name} must have shape {(size, size)}; got {array.shape}.")
    if not np.allclose(array, array.T, rtol=1e-10, atol=1e-12 * float(np.abs(array).max())):
        raise ValueError(
            f"{name} must be symmetric; got entries that differ across the diagonal. "
            f"Use ({name} + {name}.T) / 2."
        )
    return array


def latent_moments(mean: ArrayLike, variance: ArrayLike) -> tuple[Array, Array]:
    """Latent means and variances of one pool: (m,) for a binary probit, (m, C) for a softmax."""
    mu, sigma2 = real(mean, "mean"), variances(variance)
    if mu.shape != sigma2.shape:
        raise ValueError(
            f"variance must have the shape of mean, {mu.shape}; got {sigma2.shape}. "
            "Pass the diagonal of the covariance, one entry per latent."
        )
    if mu.ndim not in (1, 2):
        raise ValueError(
            f"mean must have shape (m,) or (m, C); got {mu.shape}. "
            "For several hypotheses pass a Belief."
        )
    if mu.ndim == 2 and mu.shape[1] < 2:  # noqa: PLR2004 - a choice needs two labels
        raise ValueError(
            f"mean must have at least 2 columns, one per label; got {mu.shape[1]}. "
            "For binary labels pass shape (m,)."
        )
    return mu, sigma2


def _first(offending: NDArray[np.bool_]) -> tuple[int, ...]:
    """The place of the first True, in reading order."""
    return tuple(int(i) for i in np.unravel_index(int(offending.argmax()), offending.shape))


def _place(index: tuple[int, ...]) -> str:
    """The index in words; the first axis is the row."""
    if not index:
        return "the only entry"
    return f"row {index[0]}" + "".join(f", column {i}" for i in index[1:])


def frozen(array: Array) -> Array:
    """A read-only copy."""
    copy = np.array(array, dtype=float)
    copy.flags.writeable = False
    return copy


def places(index: int | Sequence[int], name: str, size: int) -> list[int]:
    """Distinct indices of coordinates or axes, at least one, as a list."""
    listed = [int(i) for i in np.atleast_1d(np.asarray(index))]
    if not listed or len(set(listed)) < len(listed) or not set(listed) <= set(range(size)):
        raise ValueError(
            f"{name} must hold distinct indices from 0 to {size - 1}, at least one; got {index}."
        )
    return listed


def as_python(value: Hashable) -> Hashable:
    """A value of Python's own, where it is one of NumPy's."""
    return cast("Hashable", value.item()) if isinstance(value, np.generic) else value
