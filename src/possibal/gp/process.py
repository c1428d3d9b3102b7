"""Possibilistic Gaussian process as a value: a mean and a kernel, before and after data.

process = PossibilisticGP(0.0, 1.0 * RBF(0.5))
process.band(X)                 process.given(X, y, GaussianNoise(0.1)).band(X)
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from possibal.arguments import choice, whole
from possibal.arrays import Array, Matrix, Vector, positive, real, vector
from possibal.gp.kernels import Kernel
from possibal.gp.likelihoods import IDENTITY, LINKS, SOFTMAX, Link
from possibal.gp.means import CallableMean, ConstantMean, MeanCallable, MeanFunction
from possibal.gp.posterior import Posterior, TrainingData, condition
from possibal.gp.prior import Prior, prior
from possibal.numerics.linalg import factor
from possibal.theory.credible_set import outcome_half_width, squared_radius
from possibal.theory.families import GaussianNoise
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.outer_measure import OuterMeasure

ANCHORS = 3
"""Rows whose covariances a credible curve is made of."""


@dataclass(frozen=True)
class SystematicError:
    """An error that is unknown but fixed: described by a Gaussian possibility, drawn from nothing.

    Paper: Prop. 6, y = g(X) + epsilon with epsilon described by N(0, sigma^2 I).
    """

    variance: float

    def __post_init__(self) -> None:
        """Refuse an error that is none."""
        if positive(self.variance, "variance", "Use a small one such as 1e-6.").ndim:
            raise ValueError(
                f"variance must be one number for all rows; got {self.variance!r}. "
                "Give rows of another error in a step of their own."
            )


NumberError: TypeAlias = GaussianNoise | SystematicError
"""How a number that is seen differs from the function."""
ObservationError: TypeAlias = NumberError | Literal["probit", "logistic"]
"""The same, or the link by which the function makes a label random."""


@dataclass(frozen=True, eq=False, init=False)
class PossibilisticGP:
    """A fixed but unknown function, of which any finite number of values is a joint Gaussian.

    It never changes: data make another one of the same kind, and no data at all the same one.

    Paper: Sec. 5.2, GP(m(.), k(., .)); Props. 6 to 8 for what is left after data.

    Args:
        mean: the most credible value before data: a number, or a function of rows (m, d) -> (m,).
        kernel: a scikit-learn kernel, with its hyperparameters as they are.
    """

    mean: float | MeanCallable
    kernel: Kernel
    data: TrainingData | None = field(repr=False)
    _place: int = field(repr=False)

    def __init__(self, mean: float | MeanCallable, kernel: Kernel) -> None:
        """Keep a copy of the kernel, which scikit-learn would let change."""
        if not callable(mean) and real(mean, "mean").ndim:
            raise ValueError(
                f"mean must be a number or a function of rows; got {mean!r}. "
                "Write lambda X: ... for one that differs between rows."
            )
        if not hasattr(kernel, "clone_with_theta"):
            raise TypeError(
                f"kernel must be a scikit-learn kernel; got {kernel!r}. "
                "Import one from sklearn.gaussian_process.kernels."
            )
        self._keep(mean, kernel.clone_with_theta(kernel.theta), None, 0)

    def given(self, X: ArrayLike, y: ArrayLike, error: ObservationError) -> Self:
        """What is known of the function once it was seen at some rows.

        A random and a systematic error of the same variance leave the same process; they differ in
        what is said of measurements, see :meth:`outcome`. Labels make the posterior Gaussian by
        Laplace's method. To condition twice is to condition once on all.

        Paper: Prop. 6 for numbers; Prop. 7 for labels.

        Args:
            X: (n, d), or (n,) for one column; n may be 0.
            y: (n,): numbers, or labels -1 and 1.
            error: GaussianNoise(variance), SystematicError(variance), "probit" or "logistic".
        """
        rows, seen = _rows(X), vector(y, "y")
        _same_length(rows, seen)
        link, weight = _likelihood(error, seen)
        new = TrainingData(rows, seen[None], np.full((1, len(rows)), weight), link)
        return self._after(self._with(new), self._place)

    def given_labels(
        self, X: ArrayLike, y: Sequence[Hashable], labels: Sequence[Hashable]
    ) -> dict[Hashable, Self]:
        """One process for each of several labels, once the labels of some rows were seen.

        Before, each label has a process like this one, independent of the others; the label is
        random given their softmax, and Laplace's method makes the posterior Gaussian.

        Paper: Prop. 8, N(g_l,t; mu_l,t, Sigma_l,t), with one kernel for all labels.

        Args:
            X: (n, d), or (n,) for one column; n may be 0.
            y: n labels.
            labels: all that there may be.
        """
        rows, names = _rows(X), list(dict.fromkeys(labels))
        _same_length(rows, y)
        strange = [label for label in y if label not in names]
        if len(names) < 2 or strange:  # noqa: PLR2004 - a choice needs two
            got = f"y with {strange[0]!r}" if strange else f"{len(names)}"
            raise ValueError(
                f"labels must name all labels, at least 2; got {got}. "
                "Pass every label that there may be."
            )
        if self.data is not None and len(self.data):
            raise ValueError(
                "given_labels must be asked of a process before data; got one after. "
                "Pass all labelled rows at once."
            )
        hot = np.array([[one == label for one in y] for label in names], dtype=float)
        hot = hot.reshape(len(names), len(rows))
        data = TrainingData(rows, hot, np.ones((1, len(rows))), SOFTMAX)
        seen = len(rows) > 0
        return {name: self._after(data, place * seen) for place, name in enumerate(names)}

    def at(self, X: ArrayLike) -> GaussianPossibility:
        """The joint possibility function of the values at rows.

        Rows that are alike, or so close that rounding makes their covariance singular, get the
        jitter of the house on its diagonal: 1e-10 of its mean, or the least that will do.

        Paper: Sec. 5.2; Props. 6 and 7, N(g_t; mu_t, Sigma_t).
        """
        mean, covariance = self._moments(X)
        added = factor(covariance[None], f"kernel {self.kernel}").jitter[0]
        lift = added * float(np.diagonal(covariance).mean())
        return GaussianPossibility(mean, covariance + lift * np.eye(len(mean)))

    def band(
        self, X: ArrayLike, level: float = 0.95, *, error: NumberError | None = None
    ) -> Matrix:
        """The smallest interval whose necessity is the level, row by row, (m, 2).

        A whole curve within the band need not be credible, see :meth:`possibility`.

        Paper: Sec. 4.3, N(E) = 1 - P(E^c), of the marginals of Sec. 5.2; Prop. 6 (i) and (ii) and
        Eq. (1) for measurements.

        Args:
            X: (m, d), or (m,) for one column.
            level: between 0 and 1.
            error: of a measurement that the band is about; None means the function itself.
        """
        rows = _rows(X)
        mean, variance = (part[0, self._place] for part in self._posterior(rows).moments(rows))
        radius2 = squared_radius(level, np.ones(1))
        if isinstance(error, GaussianNoise):
            sds = np.sqrt(variance), np.full(len(mean), error.variance**0.5)
            half = outcome_half_width(*sds, np.exp(-0.5 * radius2))
        else:
            half = np.sqrt(radius2 * (variance + (0.0 if error is None else error.variance)))
        return np.column_stack([mean - half, mean + half])

    def possibility(self, X: ArrayLike, g: ArrayLike) -> Array:
        """The possibility that the function has the values g at rows, all of them together.

        It falls as rows are added, and never below that of the curve as a whole.

        Paper: Sec. 5.2, the joint Gaussian possibility function.

        Args:
            X: (m, d), or (m,) for one column.
            g: (m,), or any batch of curves (..., m).
        """
        values, curves = self.at(X), real(g, "g")
        if curves.shape[-1:] != (values.dimension,):
            raise ValueError(
                f"g must have {values.dimension} entries on its last axis, one per row of X; "
                f"got shape {curves.shape}. Pass one value for each row."
            )
        return values(curves.reshape(-1, values.dimension)).reshape(curves.shape[:-1])

    def credible_curves(
        self,
        X: ArrayLike,
        level: float = 0.95,
        n: int = 10,
        random_state: int | np.random.Generator | None = None,
    ) -> Matrix:
        """Curves whose possibility, as a whole, is one minus the level, (n, m).

        They lie on the surface of the credible set: the mean plus a random combination of the
        covariances with a few of the rows, scaled to its radius. A uniform draw from the surface
        would depend on how many rows there are, and hug the mean where they are many.

        Paper: Sec. 5.2, "the PGP models the possible values of a true and fixed function"; the
        choice of curves is ours.
        """
        mean, covariance = self._moments(X)
        count, rng = whole("n", n, 1), np.random.default_rng(random_state)
        radius = np.sqrt(squared_radius(level, np.ones(1))[0])
        curves = np.empty((count, len(mean)))
        for curve in curves:
            at = rng.choice(len(mean), size=min(ANCHORS, len(mean)), replace=False)
            weight = rng.standard_normal(len(at)) / np.sqrt(np.diagonal(covariance)[at])
            length2 = weight @ covariance[np.ix_(at, at)] @ weight
            curve[:] = mean + radius / np.sqrt(length2) * (covariance[:, at] @ weight)
        return curves

    def outcome(self, X: ArrayLike, error: NumberError) -> OuterMeasure | GaussianPossibility:
        """What is said of measurements at rows that have such an error.

        A random error gives an outer measure: normal probabilities whose means are possibilistic.
        A systematic error gives a possibility function: nothing is random.

        Paper: Prop. 6 (i) and (ii); Eq. (1).
        """
        values = self.at(X)
        if isinstance(error, GaussianNoise):
            return OuterMeasure(values, error)
        wider = values.covariance + error.variance * np.eye(values.dimension)
        return GaussianPossibility(values.mean, wider)

    def _keep(
        self, mean: float | MeanCallable, kernel: Kernel, data: TrainingData | None, place: int
    ) -> None:
        """Set what a frozen value is made of."""
        parts = {"mean": mean, "kernel": kernel, "data": data, "_place": place}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def _after(self, data: TrainingData, place: int) -> Self:
        """The same process with data, or the one of a label among several."""
        more = object.__new__(type(self))
        more._keep(self.mean, self.kernel, data, place)
        return more

    def _with(self, new: TrainingData) -> TrainingData:
        """The data with more of them."""
        old = self.data
        if old is None or not len(old):
            return new
        if not len(new):
            return old
        if old.link is not new.link:
            raise ValueError(
                "error must be of one kind, for numbers or for labels under one link; got "
                f"{type(new.link).__name__} after {type(old.link).__name__}. "
                "Condition a process of its own."
            )
        if old.X.shape[1] != new.X.shape[1]:
            raise ValueError(
                f"X must have {old.X.shape[1]} columns as before; got {new.X.shape[1]}. "
                "Pass the same columns."
            )
        return old.followed_by(new)

    @cached_property
    def _prior(self) -> Prior:
        """The prior process, one setting of one kernel."""
        mean: MeanFunction = (
            CallableMean(self.mean) if callable(self.mean) else ConstantMean((float(self.mean),))
        )
        return prior((self.kernel,), self.kernel.theta[None], mean)

    @cached_property
    def _conditioned(self) -> Posterior | None:
        """The posterior, where there are data."""
        return (
            condition(self._prior, self.data) if self.data is not None and len(self.data) else None
        )

    def _posterior(self, rows: Matrix) -> Posterior:
        """The posterior for rows of so many columns; the prior, where nothing was seen."""
        if self._conditioned is not None:
            return self._conditioned
        none = TrainingData(rows[:0], np.empty((1, 0)), np.empty((1, 0)), IDENTITY)
        return condition(self._prior, none)

    def _moments(self, X: ArrayLike) -> tuple[Vector, Matrix]:
        """Means and covariances of the values at rows."""
        rows = _rows(X)
        posterior = self._posterior(rows)
        half = 0.5 * posterior.cross(rows, rows)[0, self._place]
        return posterior.moments(rows)[0][0, self._place], half + half.T


def _rows(X: ArrayLike) -> Matrix:
    """Rows of numbers; a vector is one column."""
    rows = real(X, "X")
    if rows.ndim == 1:
        return rows[:, None]
    if rows.ndim != 2 or not rows.shape[1]:  # noqa: PLR2004 - a table
        raise ValueError(f"X must have shape (m, d) or (m,); got {rows.shape}. Use X[:, None].")
    return rows


def _same_length(X: Matrix, y: Sequence[object] | Vector) -> None:
    """Refuse outcomes that do not match the rows in number."""
    if len(X) != len(y):
        raise ValueError(
            f"y must have one entry per row of X, {len(X)}; got {len(y)}. "
            "Pass as many as there are rows."
        )


def _likelihood(error: ObservationError, y: Vector) -> tuple[Link, float]:
    """The likelihood of what was seen, and the weight of a row."""
    if isinstance(error, GaussianNoise | SystematicError):
        return IDENTITY, 1.0 / error.variance
    if not isinstance(error, str):  # pyright: ignore[reportUnnecessaryIsInstance] - not all callers check types
        raise TypeError(
            f"error must be a GaussianNoise, a SystematicError, 'probit' or 'logistic'; got "
            f"{error!r}. Write GaussianNoise(0.1) for a random error of variance 0.1."
        )
    link = choice("error", error, LINKS)
    other = y[~np.isin(y, (-1.0, 1.0))]
    if other.size:
        raise ValueError(
            f"y must hold labels -1 and 1 under a {error}; got {other[0]:g}. "
            "Use given_labels for labels of other names, or more than two."
        )
    return link, 1.0
