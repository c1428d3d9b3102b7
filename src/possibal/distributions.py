"""Gaussian latents as other libraries hold them: their distributions and posteriors, as arrays.

    moments(distribution) -> mean, variance            marginal(given, m), joint(given, m)

Nothing of these libraries is imported. Whatever has an array `mean` and an array `variance` is
read; what can also be sampled, or has a density, must be Gaussian by its class, since a mean and a
variance say nothing of a latent otherwise: those of a Bernoulli are of the label.
"""

from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from possibal.arrays import Array, real, variances

GAUSSIAN = {"Normal", "MultivariateNormal", "LowRankMultivariateNormal"}
"""Classes of torch, GPyTorch and NumPyro whose subclasses are Gaussian."""
_RANDOM = ("log_prob", "sample", "rsample", "pdf", "rvs")
"""Where there is one of these, an object is a distribution and no mere record of moments."""
_ROUNDING = 1e-6
"""A variance below zero by less than this share of the largest is rounding, in single precision."""
_FLOOR = 1e-13
"""What such a variance is set to, as a share of the largest."""


class HasMoments(Protocol):
    """A Gaussian over latents, by marginals: (m,) for two labels, or (m, C).

    Distributions of GPyTorch, torch and NumPyro are such, posteriors of BoTorch, and any record of
    the two.
    """

    @property
    def mean(self) -> ArrayLike:
        """The latent means."""
        ...

    @property
    def variance(self) -> ArrayLike:
        """The latent variances."""
        ...


Latents: TypeAlias = "HasMoments | tuple[ArrayLike, ArrayLike]"
"""What a model says of rows jointly: a distribution, or a pair of mean and covariance."""


def moments(given: object) -> tuple[ArrayLike, ArrayLike] | None:
    """Latent means and variances of a Gaussian, rows first; None if the object has none."""
    source, name = unwrapped(given), type(given).__name__
    mean, variance = getattr(source, "mean", None), getattr(source, "variance", None)
    if mean is None or variance is None:
        return None
    if callable(mean) or callable(variance):
        raise TypeError(
            f"mean and variance must be arrays; got methods of a {name}. "
            "Call them, and pass what they give."
        )
    check_gaussian(given)
    batch, rows = _shape(source, "batch_shape"), _shape(source, "event_shape")
    if batch and rows and not _is_named(source, {"Independent"}):
        raise ValueError(
            f"mean must have shape (m,) or (m, C), rows first; got a {name} with batches {batch} "
            f"of {rows}. Pass one batch, or if each is a label (mean.T, variance.T)."
        )
    return cast("tuple[ArrayLike, ArrayLike]", (mean, variance))


def check_gaussian(given: object) -> None:
    """Refuse a distribution that is not of Gaussian latents."""
    if not _is_gaussian(unwrapped(given)):
        raise TypeError(
            f"mean must be of Gaussian latents; got a {type(given).__name__}. "
            "Pass what the model gives before its likelihood, or (mean, variance) of latents."
        )


# ---------------------------------------------------------------- of so many rows
def marginal(given: Latents, m: int) -> tuple[Array, Array]:
    """Latent means and variances of m rows, (P, m) each."""
    source = unwrapped(given)
    if isinstance(source, tuple):
        mean, covariance = joint(given, m)
        own = covariance if covariance.ndim == 3 else _own_process(covariance)  # noqa: PLR2004
        return mean, _raised(np.diagonal(own, axis1=1, axis2=2))
    check_gaussian(given)
    mean = _processes_first(source, real(source.mean, "mean"), m)
    variance = _raised(_processes_first(source, real(source.variance, "variance"), m))
    return mean, variance


def joint(given: Latents, m: int) -> tuple[Array, Array]:
    """Latent means (P, m) of m rows, and their covariances.

    These are (P, m, m) where the latents of different labels are independent, else (P, m, P, m).
    """
    source = unwrapped(given)
    if isinstance(source, tuple):
        mean, covariance = real(source[0], "mean"), real(source[1], "covariance")
    else:
        matrix = getattr(source, "covariance_matrix", None)
        if matrix is None:
            raise TypeError(
                "latents must give covariances between rows for this strategy; got a "
                f"{type(source).__name__} without covariance_matrix. Give (mean, covariance)."
            )
        mean, covariance = real(source.mean, "mean"), real(matrix, "covariance")
    mean = _processes_first(source, mean, m)
    P = len(mean)
    if P > 1 and covariance.shape == (m, P, m, P):
        return mean, covariance.transpose(1, 0, 3, 2)
    if P > 1 and covariance.shape == (m * P, m * P):
        is_interleaved = getattr(source, "_interleaved", True)
        sizes = (m, P, m, P) if is_interleaved else (P, m, P, m)
        blocks = covariance.reshape(sizes)
        return mean, blocks.transpose(1, 0, 3, 2) if is_interleaved else blocks
    if covariance.shape in (((m, m),) if P == 1 else ((P, m, m),)):
        return mean, covariance.reshape(P, m, m)
    allowed = f"({m}, {m})" if P == 1 else f"({P}, {m}, {m}) or ({m}, {P}, {m}, {P})"
    raise ValueError(
        f"covariance must have shape {allowed} for {m} rows; got {covariance.shape}. "
        "Give the covariances between all rows that latents was called with."
    )


def _processes_first(source: Any, values: Array, m: int) -> Array:  # noqa: ANN401 - of any library
    """Moments of m rows as (P, m), whatever the order they come in."""
    if values.shape == (m,):
        return values[None]
    if _shape(source, "batch_shape") and _shape(source, "event_shape") == (m,):
        if values.ndim == 2:  # noqa: PLR2004 - a batch of labels
            return values
    elif values.ndim == 2 and len(values) == m and values.shape[1] > 0:  # noqa: PLR2004 - (m, C)
        return values.T
    raise ValueError(
        f"latents must give means of shape ({m},) or ({m}, C) for {m} rows; got {values.shape}. "
        "Give one line for each row that it is called with."
    )


def _own_process(covariance: Array) -> Array:
    """(P, m, m), of each process with itself."""
    return np.stack([covariance[p, :, p] for p in range(len(covariance))])


def _raised(variance: Array) -> Array:
    """Variances above zero where rounding alone made them less."""
    scale = float(np.abs(variance).max(initial=0.0))
    is_rounding = (variance < _FLOOR * scale) & (variance > -_ROUNDING * scale)
    return variances(np.where(is_rounding, _FLOOR * scale, variance))


# ---------------------------------------------------------------- classes of other libraries
def unwrapped(given: object) -> Any:  # noqa: ANN401 - of any library
    """The distribution that a posterior holds, or the object itself."""
    inner = getattr(given, "distribution", None)
    return given if inner is None or not hasattr(inner, "mean") else inner


def _is_gaussian(source: object) -> bool:
    """Whether it is Gaussian by its class, or a mere record of moments."""
    if _is_named(source, {"Independent"}):
        return _is_gaussian(getattr(source, "base_dist", None))
    return _is_named(source, GAUSSIAN) or not any(hasattr(source, name) for name in _RANDOM)


def _is_named(source: object, names: set[str]) -> bool:
    """Whether its class, or one that this comes from, has one of these names."""
    return any(one.__name__ in names for one in type(source).__mro__)


def _shape(source: object, name: str) -> tuple[int, ...]:
    """A shape that a distribution tells of itself; empty if it tells none."""
    return tuple(getattr(source, name, ()))
