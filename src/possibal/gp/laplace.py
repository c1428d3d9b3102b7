"""Laplace's approximation: the mode of the latent posterior by Newton's method, batched.

The axes of all arrays are those of curvature.py: members of a batch, processes, rows.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from possibal.arrays import Array, Places, Vector
from possibal.gp.curvature import Curvature, Observations, curvature
from possibal.gp.likelihoods import Identity, Link, Softmax
from possibal.numerics.batched import Batched
from possibal.numerics.linalg import product

Bools: TypeAlias = NDArray[np.bool_]

MAX_STEPS = 200
"""More Newton steps than any posterior was seen to need; past them the best point is kept."""
_CLOSE = 1e-6
"""A step of this size, relative to the largest latent, is the last: its square is the error."""
_FLAT = 1e-14
"""Steps that promise less than this and no longer shrink are rounding, and end the search too."""
_LEFT = 1e-2
"""A search that ends where a step is still larger than this, relative to the latents, failed."""
_REFINED = 3
"""Steps to the top of a quadratic: the first gets there, and the others mend its rounding."""
_GAIN = 1e-4
"""The share of the linear gain a step must keep."""
_CUTS = 60
"""How often a step may be shortened; then it is rounding."""


@dataclass(frozen=True, eq=False)
class Mode(Batched):
    """Laplace approximation of the latent posterior: its mode and curvature.

    Paper: App. C.1, g-hat and (K^-1 + W)^-1.

    Attributes:
        g: (S, P, n), the mode.
        a: (S, P, n), K^-1 (g - m), which equals the gradient of log p there; the mean is m + K_t a.
        curvature: P = (K + W^-1)^-1, as its factors.
        log_peak: (S,), log sup p(y | g) f(g), the possibilistic evidence.
        steps: (S,), Newton steps.
        settled: (S,), whether Newton's method converged.
    """

    g: Array
    a: Array
    curvature: Curvature
    log_peak: Vector
    steps: Places
    settled: Bools

    @property
    def log_evidence(self) -> Vector:
        """Log marginal likelihood by Laplace's method, (S,).

        Paper: none; GPML Eq. 3.32 and 3.44.
        """
        return self.log_peak - self.curvature.half_log_determinant


def find_mode(
    link: Link | Softmax, K: Array, seen: Observations, start: Array | None = None
) -> Mode:
    """The mode of the latent posterior of every member, by Newton's method with backtracking.

    The log posterior is concave and a Newton step is an ascent direction; a step that overshoots is
    cut until it satisfies Armijo's condition, so that the iteration cannot diverge. A member that
    has converged is left alone, so that it does not depend on its neighbours.

    Paper: App. C.1 and C.2; GPML Alg. 3.1 and 3.3.

    Args:
        link: how latents make labels random.
        K: kernel matrices, (S, P, n, n) or (S, 1, n, n).
        seen: the labels.
        start: (S, P, n), K^-1 (g - m) to start from; zero if left out.
    """
    S, P, n = len(K), seen.y.shape[1], K.shape[-1]
    a = np.zeros((S, P, n)) if start is None else start.copy()
    place = _place(link, seen, a, seen.with_mean(product(K, a)))
    size, rested = np.full(S, np.inf), np.zeros(S, dtype=bool)
    steps = np.zeros(S, dtype=np.intp)
    for taken in range(1, MAX_STEPS + 1):
        here = (~rested).nonzero()[0]
        if not len(here):
            break
        steps[here] = taken
        part, K_s, seen_s = place, K, seen
        if len(here) < S:
            part, K_s, seen_s = place.part(here), K[here], seen.part(here)
        step = _newton(curvature(link, seen_s, part.g, K_s), K_s, part)
        reached, moved = _ascend(link, seen_s, part, step)
        was, size[here] = size[here], step.size
        rest = (step.size <= _CLOSE) | ((step.slope <= _FLAT) & (step.size >= 0.5 * was))
        rested[here] = rest | ~moved | (isinstance(link, Identity) and taken >= _REFINED)
        place = reached if len(here) == S else place.with_part(here, reached)
    there = curvature(link, seen, place.g, K)
    settled = size <= _CLOSE
    if not settled.all():  # some rest for another reason, or do not rest
        settled = rested & (_newton(there, K, place).size <= _LEFT)
    return Mode(place.g, place.a, there, place.psi, steps, settled)


def sensitivity(mode: Mode, K: Array) -> Array:
    """Derivative of the log evidence by every entry of the kernel matrices, (S, P, n, n).

    The part through the mode is v a', with v = (I - P K) drift. What a hyperparameter does to
    the evidence is the sum of its derivative of K times this, for every link and kernel.

    Paper: none; GPML Alg. 5.1 and Eq. 5.21 to 5.24.
    """
    there, a = mode.curvature, mode.a
    drift = there.drift(K)
    v = drift - there.times(product(K, drift))
    outer = (0.5 * a + v)[..., :, None] * a[..., None, :]
    return 0.5 * (outer + np.swapaxes(outer, 2, 3) - there.blocks())


# ---------------------------------------------------------------- Newton's method


@dataclass(frozen=True, eq=False)
class NewtonState(Batched):
    """An iterate of Newton's method: K^-1 (g - m), g, and the log posterior up to a constant."""

    a: Array
    g: Array
    psi: Vector

    def with_part(self, members: Places, part: "NewtonState") -> "NewtonState":
        """This iterate, with some members replaced."""
        a, g, psi = self.a.copy(), self.g.copy(), self.psi.copy()
        a[members], g[members], psi[members] = part.a, part.g, part.psi
        return NewtonState(a, g, psi)


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """A Newton step, its directional derivative, and its size relative to the latents."""

    a: Array
    g: Array
    slope: Vector
    size: Vector


def _newton(here: Curvature, K: Array, place: NewtonState) -> NewtonStep:
    """The Newton step from an iterate."""
    # Alg. 3.1, lines 6 and 7; Alg. 3.3, lines 9 to 11. Their a = b - P K b with b = W g + gradient
    # is this place plus (I - P K) of what it lacks; so written, no digits cancel.
    lack = here.gradient - place.a
    da = here.step(K, lack)
    dg = product(K, da)
    size = _largest(dg) / (1.0 + _largest(place.g))
    return NewtonStep(da, dg, _dot(lack, dg), size)


def _ascend(
    link: Link | Softmax, seen: Observations, place: NewtonState, step: NewtonStep
) -> tuple[NewtonState, Bools]:
    """Backtracking line search: the next iterate, and whether each member moved."""
    share = np.ones(len(place.psi))
    slack = 1e-13 * (1.0 + np.abs(place.psi))
    trial = _place(link, seen, place.a + step.a, place.g + step.g)
    gain = trial.psi - place.psi
    short = gain >= _GAIN * step.slope - slack
    for _ in range(_CUTS):
        if short.all():
            return trial, short
        # The parabola through this place, its slope and the trial has its top here.
        missed = share * step.slope - gain
        top = np.zeros_like(share)
        np.divide(0.5 * share * share * step.slope, missed, out=top, where=missed != 0)
        cut = np.clip(np.nan_to_num(top), 0.01 * share, 0.5 * share)
        share = np.where(short, share, cut)
        s = share[:, None, None]
        trial = _place(link, seen, place.a + s * step.a, place.g + s * step.g)
        gain = trial.psi - place.psi
        short = gain >= _GAIN * share * step.slope - slack
    kept = short[:, None, None]
    a, g = np.where(kept, trial.a, place.a), np.where(kept, trial.g, place.g)
    return NewtonState(a, g, np.where(short, trial.psi, place.psi)), short


def _place(link: Link | Softmax, seen: Observations, a: Array, g: Array) -> NewtonState:
    """A place, with log p(y | g) - (g - m)' K^-1 (g - m) / 2 (App. C.1, Psi)."""
    log_p = link.log_probability(seen.y, g, seen.weight)
    cost = 0.5 * _dot(a, seen.above_mean(g))
    return NewtonState(a, g, np.add.reduce(log_p, axis=(1, 2)) - cost)


def _dot(u: Array, v: Array) -> Vector:
    """The scalar product of each member, (S,)."""
    return np.add.reduce(u * v, axis=(1, 2))


def _largest(v: Array) -> Vector:
    """The largest entry of each member, whatever its sign, (S,)."""
    return np.maximum.reduce(np.abs(v), axis=(1, 2), initial=0.0)
