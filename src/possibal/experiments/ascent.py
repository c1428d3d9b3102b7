"""Many smooth functions of few variables, climbed together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from possibal.arrays import Array, Matrix, Places, Vector

Heights: TypeAlias = Callable[[Matrix, Places], tuple[Vector, Matrix]]
"""Heights and slopes of some members at their places: (z, members) -> ((s,), (s, p))."""

_LEVEL = 1e-3
"""A slope below this is the top: the height is then within a millionth of it, or so."""
_STEPS = 60
_CUTS = 12
"""How often a step is halved; then the member rests."""
_GAIN = 1e-4
"""The share of the gain its slope promises that a step must keep."""
_FAR = 1.0
"""The longest step."""


@dataclass(frozen=True, eq=False)
class Summit:
    """Where climbs ended.

    Attributes:
        z: (S, p), the places.
        inverse: (S, p, p), what steps were worked out from: about minus the inverse Hessian.
    """

    z: Matrix
    inverse: Array


def ascend(heights: Heights, start: Matrix, inverse: Array | None = None) -> Summit:
    """The top that each member climbs to by the method of Broyden and others (BFGS).

    A step is halved until it gains. Members do not heed each other, so that each ends at the same
    place whoever climbs beside it.

    Args:
        heights: what to climb.
        start: (S, p), where.
        inverse: of an earlier summit nearby; the identity if left out.
    """
    z, p = start.copy(), start.shape[1]
    H = np.tile(np.eye(p), (len(z), 1, 1)) if inverse is None else inverse.copy()
    height, slope = heights(z, np.arange(len(z)))
    climbing = np.abs(slope).max(axis=1, initial=0.0) > _LEVEL
    for _ in range(_STEPS):
        here = np.flatnonzero(climbing)
        if not len(here):
            break
        step = _uphill(H[here], slope[here])
        moved, up, new = _line(heights, here, z[here], height[here], slope[here], step)
        change = moved - z[here]
        H[here] = _learnt(H[here], change, slope[here] - new)
        rests = (change == 0).all(axis=1) | (np.abs(new).max(axis=1) <= _LEVEL)
        z[here], height[here], slope[here] = moved, up, new
        climbing[here] = ~rests
    return Summit(z, H)


def _uphill(H: Array, slope: Matrix) -> Matrix:
    """Steps that are not too long."""
    step = (H @ slope[:, :, None])[:, :, 0]
    length = np.sqrt((step * step).sum(axis=1))
    return step * np.minimum(1.0, _FAR / np.maximum(length, 1e-300))[:, None]


def _line(
    heights: Heights, members: Places, z: Matrix, height: Vector, slope: Matrix, step: Matrix
) -> tuple[Matrix, Vector, Matrix]:
    """Where steps lead once they are short enough to gain; a member that cannot gain stays."""
    promised = (step * slope).sum(axis=1)
    moved, up, new = z.copy(), height.copy(), slope.copy()
    share, waiting = 1.0, np.arange(len(z))
    for _ in range(_CUTS):
        trial = z[waiting] + share * step[waiting]
        reached, inclined = heights(trial, members[waiting])
        gains = reached - height[waiting] >= _GAIN * share * promised[waiting]
        done = waiting[gains]
        moved[done], up[done], new[done] = trial[gains], reached[gains], inclined[gains]
        waiting, share = waiting[~gains], 0.5 * share
        if not len(waiting):
            break
    return moved, up, new


def _learnt(H: Array, s: Matrix, y: Matrix) -> Array:
    """The inverse Hessians after one more step s that changed the slope by -y."""
    curved = (s * y).sum(axis=1)
    good = curved > 1e-12  # noqa: PLR2004 - else the function is not curved there
    rho = np.where(good, 1.0 / np.where(good, curved, 1.0), 0.0)[:, None, None]
    keep = np.eye(s.shape[1]) - rho * s[:, :, None] * y[:, None, :]
    updated = keep @ H @ np.swapaxes(keep, 1, 2) + rho * s[:, :, None] * s[:, None, :]
    return np.where(good[:, None, None], updated, H)
