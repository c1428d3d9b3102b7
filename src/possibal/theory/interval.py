"""Events: what may be said of theta, true or not."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from possibal.arrays import frozen, vector


@dataclass(frozen=True, eq=False)
class Interval:
    """The event that a linear reading of theta lies between two numbers, ends included.

    ``Interval(0, 1)`` is an interval of the line, ``Interval(low=b, along=a)`` the half-space
    a . theta >= b, and ``Interval(high=0, along=[1, -1])`` says that theta_0 <= theta_1.

    Paper: Prop. 2, the event theta <= 0; Prop. 3, the event theta_l >= theta_l*.

    Attributes:
        low: least value; minus infinity for none.
        high: largest value; infinity for none.
        along: the reading's direction, one entry per coordinate of theta.
    """

    low: float = -np.inf
    high: float = np.inf
    along: ArrayLike = 1.0

    def __post_init__(self) -> None:
        """Refuse what is no number, and an event that holds none."""
        low, high = _end(self.low, "low"), _end(self.high, "high")
        if low > high:
            raise ValueError(f"low must be at most high, {high:g}; got {low:g}. Swap them.")
        if low == high and np.isinf(low):
            raise ValueError(
                f"low and high must have a number between them; got {low:g} for both. "
                "Leave out the end that there is none of."
            )
        along = vector(self.along, "along")
        if not along.any():
            raise ValueError(
                "along must not be zero; got zeros. Name a direction, such as [1, -1]."
            )
        for name, value in {"low": low, "high": high, "along": frozen(along)}.items():
            object.__setattr__(self, name, value)

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the event on the line, where the reading is theta times a number.

        Paper: Prop. 2, the event theta <= 0.
        """
        along = np.asarray(self.along)
        if along.size != 1:
            raise ValueError(
                f"along must be a number on the line; got {along.size} entries. "
                "Use the affine image of theta along it."
            )
        low, high = sorted((self.low / along[0], self.high / along[0]))
        return float(low), float(high)


def _end(value: object, name: str) -> float:
    """One end as a float."""
    number = value.item() if isinstance(value, np.ndarray) and not value.ndim else value
    if not isinstance(number, Real):
        raise TypeError(
            f"{name} must be one number; got {value!r}. "
            "Write Interval(low, high), and leave out an end that there is none of."
        )
    if np.isnan(float(number)):
        raise ValueError(f"{name} must be a number; got nan. Leave it out if there is no such end.")
    return float(number)
