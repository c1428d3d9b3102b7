"""Possibility functions on finite sets: every supremum is a maximum."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from possibal.arrays import Array, frozen, places, positive, real, vector

Point: TypeAlias = Any
"""A point of a finite set: its name, or the tuple of its names on several axes."""
Subset: TypeAlias = Collection[Point] | Callable[[Point], bool]


@dataclass(frozen=True, eq=False)
class FinitePossibility:
    """A possibility function on a finite set, or on the product of several.

    Paper: Sec. 3.1, f into [0, 1] with supremum one.

    Attributes:
        values: possibilities, one axis per variable; the largest is one.
        names: the points of each axis; numbered from zero when left out.
    """

    values: Array
    names: tuple[tuple[Hashable, ...], ...] = ()

    def __post_init__(self) -> None:
        """Check once, and copy."""
        values = np.atleast_1d(real(self.values, "values"))
        if not values.size or values.min() < 0 or abs(values.max() - 1) > 1e-9:  # noqa: PLR2004 - rounding
            raise ValueError(
                "values must lie in [0, 1] and reach 1; "
                f"got {np.array2string(values, threshold=6)}. Divide them by their maximum."
            )
        names = tuple(map(tuple, self.names)) or tuple(tuple(range(k)) for k in values.shape)
        if tuple(len(set(axis)) for axis in names) != values.shape:
            raise ValueError(
                f"names must give distinct points for each axis of values, {values.shape}; "
                f"got {tuple(len(set(axis)) for axis in names)}."
            )
        # Rounding may have left the largest a little off one, and suprema would show it.
        object.__setattr__(self, "values", frozen(values / values.max()))
        object.__setattr__(self, "names", names)

    @classmethod
    def from_log(cls, log_values: ArrayLike, names: tuple[tuple[Hashable, ...], ...] = ()) -> Self:
        """The function proportional to the exponential of log_values.

        Paper: Sec. 3.3, the division by a supremum that makes a posterior.
        """
        log_values = np.asarray(log_values, dtype=float)
        peak = log_values.max(initial=-np.inf)
        if not np.isfinite(peak):
            raise ValueError(
                f"log_values must have a finite maximum; got {peak}. Some point must be possible."
            )
        return cls(np.exp(log_values - peak), names)

    @classmethod
    def on_grid(cls, axes: Sequence[ArrayLike], log_f: Callable[[Array], ArrayLike]) -> Self:
        """The function seen on a grid, scaled to reach one there.

        Paper: Sec. 3.1; the grid is ours.

        Args:
            axes: the numbers of each axis.
            log_f: takes all points of the grid at once, (..., n), or plain numbers for one axis.
        """
        grid = [vector(axis, "axes") for axis in axes]
        if not grid:
            raise ValueError("axes must hold at least one axis; got none. Write [axis].")
        points = grid[0] if len(grid) == 1 else np.stack(np.meshgrid(*grid, indexing="ij"), -1)
        log_values, shape = np.asarray(log_f(points)), tuple(axis.size for axis in grid)
        if log_values.shape != shape:
            raise ValueError(
                f"log_f must give one number per point of the grid, shape {shape}; "
                f"got shape {log_values.shape}. Let it take all points at once."
            )
        return cls.from_log(log_values, tuple(tuple(axis.tolist()) for axis in grid))

    @property
    def points(self) -> tuple[Point, ...]:
        """All points, in the order of values: names, or tuples of names on several axes.

        Paper: Sec. 3.1, Theta.
        """
        return self.names[0] if len(self.names) == 1 else tuple(product(*self.names))

    @property
    def mode(self) -> tuple[Point, ...]:
        """The points of possibility one: the paper's expected value, "which can be set-valued".

        Paper: Sec. 3.1, E*(theta) = argmax f(theta).
        """
        at = np.flatnonzero(self.values == self.values.max())
        return tuple(self.points[i] for i in at)

    def __call__(self, point: Point) -> float:
        """Possibility of one point; zero for a point that is not in the set.

        Paper: Sec. 3.1, "with the assumption that sup of the empty set is 0".
        """
        points = self.points
        return float(self.values.flat[points.index(point)]) if point in points else 0.0

    def possibility(self, subset: Subset) -> float:
        """Largest possibility of a point of the subset.

        Paper: Sec. 3.1, P(A) = sup over theta in A of f(theta).

        Args:
            subset: points, or a function that tells whether a point belongs.
        """
        return float(self.values[self.mask(subset)].max(initial=0.0))

    def necessity(self, subset: Subset) -> float:
        """One minus the possibility of all other points.

        Paper: Sec. 4.3, N(E) = 1 - P(E^c).
        """
        return 1.0 - float(self.values[~self.mask(subset)].max(initial=0.0))

    def mask(self, subset: Subset) -> NDArray[np.bool_]:
        """Which points belong to the subset, shaped like values.

        Paper: Sec. 3.1, A a subset of Theta.
        """
        belongs = subset if callable(subset) else _points(subset).__contains__
        return np.array([bool(belongs(p)) for p in self.points]).reshape(self.values.shape)

    def marginal(self, keep: int | Sequence[int]) -> Self:
        """What is known of some variables alone, in the order asked for.

        Paper: Sec. 3.1, f(theta) = sup over phi of f(theta, phi).
        """
        axes = places(keep, "keep", self.values.ndim)
        rest = tuple(i for i in range(self.values.ndim) if i not in axes)
        values = self.values.transpose(*axes, *rest)
        last = tuple(range(len(axes), self.values.ndim))
        return type(self)(values.max(axis=last), tuple(self.names[i] for i in axes))

    def condition(self, given: Mapping[int, Hashable]) -> Self:
        """What is known of the other variables once some are known.

        Paper: Sec. 3.1, f(theta | phi) = f(theta, phi) / f(phi).

        Args:
            given: the known point of each known axis, by the number of the axis.
        """
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - not all callers check types
            raise TypeError(
                f"given must map axes to points; got {type(given).__name__}. "
                "Write {0: point} for a point of axis 0."
            )
        known = places(list(given), "given", self.values.ndim)
        if len(known) == self.values.ndim:
            raise ValueError("given must leave at least one axis; got all of them.")
        index: list[int | slice] = [slice(None)] * self.values.ndim
        for axis in known:
            if given[axis] not in self.names[axis]:
                raise ValueError(
                    f"given must name points of the set; got {given[axis]!r} for axis {axis}."
                )
            index[axis] = self.names[axis].index(given[axis])
        values = self.values[tuple(index)]
        if not values.any():
            raise ValueError(
                f"given must be possible; got {dict(given)} of possibility 0. "
                "What is impossible is not known."
            )
        names = tuple(axis for i, axis in enumerate(self.names) if i not in known)
        return type(self)(values / values.max(), names)

    def map(self, T: Callable[[Point], Hashable]) -> Self:
        """What is known of T(theta), for any function T of a point.

        Paper: Sec. 3.1, f'(theta') = sup over T(theta) = theta' of f(theta).
        """
        best: dict[Hashable, float] = {}
        for point, value in zip(self.points, self.values.flat, strict=True):
            image = T(point)
            try:
                best[image] = max(best.get(image, 0.0), float(value))
            except TypeError:
                raise TypeError(
                    f"T must give points that can be hashed; got {image!r} at {point!r}. "
                    "Return a number, a name or a tuple of them."
                ) from None
        return type(self)(np.array(list(best.values())), (tuple(best),))

    def independent(self, other: Self) -> Self:
        """The joint possibility of two quantities that tell nothing of each other.

        Paper: Sec. 3.1, f(theta, phi) = f(theta) f(phi).
        """
        return type(self)(np.multiply.outer(self.values, other.values), self.names + other.names)

    def volume(self, cell: float = 1.0) -> float:
        """The epistemic uncertainty about theta, the sum of the function.

        A known point has the volume of its cell, not zero as on the line: A1 asks for a measure
        without atoms. Take one cell away where it is to count nothing.

        Paper: Sec. 4.1, U^Theta = integral of f over Theta.

        Args:
            cell: volume that one point stands for; one counts points.
        """
        size = positive(cell, "cell", "Pass the product of the grid's steps.")
        if size.ndim:
            raise ValueError(
                f"cell must be one number; got shape {size.shape}. "
                "Pass the product of the grid's steps."
            )
        return float(self.values.sum() * size)


def _points(subset: object) -> frozenset[Point]:
    """The points of a subset that is no function."""
    if isinstance(subset, str) or not isinstance(subset, Iterable):
        kind = "the text " if isinstance(subset, str) else ""
        raise TypeError(
            f"subset must be points or a function of a point; got {kind}{subset!r}. "
            f"Write [{subset!r}]."
        )
    try:
        return frozenset(subset)
    except TypeError:
        raise TypeError(
            f"subset must hold points that can be hashed; got {subset!r}. "
            "Write a point of several axes as a tuple."
        ) from None
