"""Batched BFGS: many smooth functions of few variables, maximised together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.numerics.batched import Batched

Heights: TypeAlias = Callable[[Matrix, Places], tuple[Vector, Matrix]]
"""Values and gradients of some members at their points: (z, members) -> ((s,), (s, p))."""

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
class Maximum:
    """Where the searches ended.

    Attributes:
        z: (S, p), the maximisers.
        inverse: (S, p, p), the BFGS estimates of minus the inverse Hessians.
    """

    z: Matrix
    inverse: Array


def maximize(heights: Heights, start: Matrix, inverse: Array | None = None) -> Maximum:
    """The maximiser of each member by BFGS with backtracking.

    A member does not depend on its neighbours: it ends at the same point in any company.

    Args:
        heights: values and gradients.
        start: (S, p).
        inverse: of an earlier search nearby; the identity if left out.
    """
    p, everyone = start.shape[1], np.arange(len(start))
    H = np.tile(np.eye(p), (len(start), 1, 1)) if inverse is None else inverse.copy()
    place = BFGSState(start.copy(), *heights(start, everyone))
    climbing = np.abs(place.slope).max(axis=1, initial=0.0) > _LEVEL
    for _ in range(_STEPS):
        here = np.flatnonzero(climbing)
        if not len(here):
            break
        before = place.part(here)
        after = _line(heights, here, before, _uphill(H[here], before.slope))
        change = after.z - before.z
        H[here] = _learnt(H[here], change, before.slope - after.slope)
        place.move(here, after)
        climbing[here] = (change != 0).any(axis=1) & (np.abs(after.slope).max(axis=1) > _LEVEL)
    return Maximum(place.z, H)


@dataclass(frozen=True, eq=False)
class BFGSState(Batched):
    """Point, value and gradient of each member."""

    z: Matrix
    height: Vector
    slope: Matrix

    def move(self, members: Places, place: "BFGSState") -> None:
        """Put some members elsewhere."""
        self.z[members], self.height[members] = place.z, place.height
        self.slope[members] = place.slope


def _uphill(H: Array, slope: Matrix) -> Matrix:
    """Steps that are not too long."""
    step = (H @ slope[:, :, None])[:, :, 0]
    length = np.sqrt((step * step).sum(axis=1))
    return step * np.minimum(1.0, _FAR / np.maximum(length, 1e-300))[:, None]


def _line(heights: Heights, members: Places, place: BFGSState, step: Matrix) -> BFGSState:
    """Where steps lead once they are short enough to gain; a member that cannot gain stays."""
    promised = (step * place.slope).sum(axis=1)
    after = place.part(np.arange(len(members)))
    share, waiting = 1.0, np.arange(len(members))
    for _ in range(_CUTS):
        z = place.z[waiting] + share * step[waiting]
        trial = BFGSState(z, *heights(z, members[waiting]))
        gains = trial.height - place.height[waiting] >= _GAIN * share * promised[waiting]
        after.move(waiting[gains], trial.part(np.flatnonzero(gains)))
        waiting, share = waiting[~gains], 0.5 * share
        if not len(waiting):
            break
    return after


def _learnt(H: Array, s: Matrix, y: Matrix) -> Array:
    """The inverse Hessians after one more step s that changed the slope by -y."""
    curved = (s * y).sum(axis=1)
    good = curved > 1e-12  # noqa: PLR2004 - else the function is not curved there
    rho = np.where(good, 1.0 / np.where(good, curved, 1.0), 0.0)[:, None, None]
    keep = np.eye(s.shape[1]) - rho * s[:, :, None] * y[:, None, :]
    updated = keep @ H @ np.swapaxes(keep, 1, 2) + rho * s[:, :, None] * s[:, None, :]
    return np.where(good[:, None, None], updated, H)
