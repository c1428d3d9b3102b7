"""The mode of the latent posterior and its curvature, for stacks of Gaussian processes.

Every array has the same three axes: S members of a stack (settings of the hyperparameters, or
runs), P processes (one for a link with one latent a row, C for a softmax), n rows. Kernel matrices
are (S, P, n, n); a single process axis there is shared by all classes.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from possibal.arrays import Array, Vector
from possibal.linalg import Factor, factor
from possibal.links import IDENTITY, SOFTMAX, Link, Softmax

MAX_STEPS = 200
"""More Newton steps than any posterior was seen to need; past them the best point is kept."""
_CLOSE = 1e-6
"""A step of this size, relative to the largest latent, is the last: the error left is its square."""
_FLAT = 1e-14
"""Steps that promise less than this and no longer shrink are rounding, and end the climb too."""
_GAIN = 1e-4
"""The share of the linear gain a step must keep."""
_CUTS = 60
"""How often a step may be shortened; then it is rounding."""


class Information(Protocol):
    """What the labels tell about the latents: P = (K + W^-1)^-1, never formed as such.

    Paper: Props. 7 and 8, [K + W^-1]^-1; for the softmax that is notation only (erratum 7).
    """

    @property
    def gradient(self) -> Array:
        """Gradient of log p(y | g), (S, P, n).

        Paper: App. C.1, nabla log p(Y | g).
        """
        ...

    @property
    def jitter(self) -> Vector:
        """The largest share of the diagonal that was added to a matrix of each member, (S,).

        Paper: none.
        """
        ...

    @property
    def half_log_determinant(self) -> Vector:
        """Half the log determinant of I + K W, (S,).

        Paper: none; GPML Eq. 3.32.
        """
        ...

    def curved(self, v: Array) -> Array:
        """The product W v.

        Paper: App. C.1, W.
        """
        ...

    def times(self, v: Array) -> Array:
        """The product P v.

        Paper: Prop. 7, [K + W^-1]^-1.
        """
        ...

    def root(self) -> Array:
        """The triangular matrix that prediction needs, (S, n, n).

        Paper: none; GPML Alg. 3.2 and 3.4.
        """
        ...

    def blocks(self) -> Array:
        """The blocks of P within each process, (S, P, n, n).

        Paper: Prop. 8.
        """
        ...

    def drift(self, K: Array) -> Array:
        """Derivative by g of minus half the log determinant of I + K W.

        Paper: none; GPML Eq. 5.23, whose sign is wrong in print.
        """
        ...


@dataclass(frozen=True, eq=False)
class LatentInformation:
    """What labels tell where each row has one latent, so that W is diagonal.

    Paper: Prop. 7; GPML Eq. 3.26 and 3.27, P = W^1/2 B^-1 W^1/2 with B = I + W^1/2 K W^1/2.
    """

    gradient: Array
    third: Array
    sqrt_w: Array
    B: Factor

    @classmethod
    def at(cls, link: Link, seen: "Seen", g: Array, K: Array) -> "LatentInformation":
        """The information at one place of the climb.

        Paper: none; GPML Alg. 3.1, lines 4 and 5.
        """
        slopes = link.slopes(seen.y, g, seen.weight)
        sqrt_w = np.sqrt(slopes.weight)
        B = sqrt_w[:, 0, :, None] * K[:, 0] * sqrt_w[:, 0, None, :]
        _add_to_diagonal(B, 1.0)
        return cls(slopes.gradient, slopes.third, sqrt_w, factor(B, seen.kernel))

    @property
    def jitter(self) -> Vector:
        """The jitter of each member.

        Paper: none.
        """
        return self.B.jitter

    @property
    def half_log_determinant(self) -> Vector:
        """Half the log determinant of B.

        Paper: none; GPML Alg. 3.1, line 10.
        """
        return self.B.half_log_determinant

    def curved(self, v: Array) -> Array:
        """The product W v.

        Paper: none; GPML Alg. 3.1, line 6.
        """
        return self.sqrt_w * self.sqrt_w * v

    def times(self, v: Array) -> Array:
        """The product P v.

        Paper: none; GPML Alg. 3.1, line 7.
        """
        return self.sqrt_w * self.B.solve((self.sqrt_w * v)[:, 0])[:, None]

    def root(self) -> Array:
        """An upper triangular root R of P = R R', (S, n, n).

        Paper: none; GPML Alg. 3.2, line 5, v = L \\ (W^1/2 k) is R' k.
        """
        return self.sqrt_w[:, 0, :, None] * np.swapaxes(self.B.inverse_factor(), 1, 2)

    def blocks(self) -> Array:
        """P itself.

        Paper: none; GPML Alg. 5.1, line 5.
        """
        root = self.root()
        return (root @ np.swapaxes(root, 1, 2))[:, None]

    def drift(self, K: Array) -> Array:
        """Half the posterior variance of each row times the third derivative.

        Paper: none; GPML Alg. 5.1, lines 6 and 7, with the sign put right.
        """
        explained = np.swapaxes(self.root(), 1, 2)[:, None] @ K
        variance = np.diagonal(K, axis1=2, axis2=3) - (explained * explained).sum(axis=2)
        return 0.5 * variance * self.third


@dataclass(frozen=True, eq=False)
class SoftmaxInformation:
    """What labels tell under a softmax, where W couples the C latents of a row.

    P = E - E R (R' E R)^-1 R' E with E block diagonal and R a stack of C identities, so that no
    matrix is larger than n x n.

    Paper: Prop. 8; GPML Eq. 3.46 to 3.48.

    Attributes:
        gradient: y - pi, (S, C, n).
        weighted: pi times the weight of each row, (S, C, n): the diagonal D.
        pi: (S, C, n).
        E: (S, C, n, n).
        M: factors of the sum of E over classes.
        half_log_determinant: (S,).
        jitter: (S,).
    """

    gradient: Array
    weighted: Array
    pi: Array
    E: Array
    M: Factor
    half_log_determinant: Vector
    jitter: Vector

    @classmethod
    def at(cls, seen: "Seen", g: Array, K: Array) -> "SoftmaxInformation":
        """The information at one place of the climb.

        Paper: none; GPML Alg. 3.3, lines 3 to 8.
        """
        pi = SOFTMAX.probability(g)  # line 3
        D = seen.weight * pi
        S, C, n = g.shape
        sqrt_d = np.sqrt(D)  # line 5
        B = sqrt_d[..., :, None] * K * sqrt_d[..., None, :]
        flat = B.reshape(S * C, n, n)
        _add_to_diagonal(flat, 1.0)
        each = factor(flat, seen.kernel)
        E = sqrt_d[..., :, None] * each.inverse().reshape(S, C, n, n) * sqrt_d[..., None, :]  # 6
        M = factor(E.sum(axis=1), seen.kernel)  # line 8
        # The book's line 7 sums the determinants of B alone; that of M belongs to them.
        half = each.half_log_determinant.reshape(S, C).sum(axis=1) + M.half_log_determinant
        half -= 0.5 * np.log(seen.weight).sum(axis=(1, 2))  # nothing where each row counts once
        jitter = np.maximum(each.jitter.reshape(S, C).max(axis=1), M.jitter)
        return cls(seen.weight * (seen.y - pi), D, pi, E, M, half, jitter)

    def curved(self, v: Array) -> Array:
        """The product W v = D v - D (pi' v).

        Paper: App. C.2, W = diag(pi) - Pi Pi'.
        """
        return self.weighted * (v - (self.pi * v).sum(axis=1, keepdims=True))

    def times(self, v: Array) -> Array:
        """The product P v.

        Paper: none; GPML Alg. 3.3, lines 10 and 11.
        """
        inner = _each(self.E, v)
        shared = self.M.solve(inner.sum(axis=1))[:, None]
        return inner - _each(self.E, np.broadcast_to(shared, v.shape))

    def root(self) -> Array:
        """An upper triangular root R of the inverse of the sum of E, (S, n, n).

        Paper: none; GPML Alg. 3.4, line 8, M \\ (E k) is R' E k.
        """
        return np.swapaxes(self.M.inverse_factor(), 1, 2)

    def returned(self) -> Array:
        """Matrices Q with P_cc = E_c - Q_c' Q_c, (S, C, n, n).

        Paper: none; GPML Alg. 3.4, line 8.
        """
        return self.M.inverse_factor()[:, None] @ self.E

    def blocks(self) -> Array:
        """The blocks of P within each class.

        Paper: Prop. 8, the covariance of one class.
        """
        Q = self.returned()
        return self.E - np.swapaxes(Q, 2, 3) @ Q

    def drift(self, K: Array) -> Array:
        """Derivative by g of minus half the log determinant, from the C x C covariance of each row.

        Paper: none; GPML Eq. 5.23 for a softmax.
        """
        diagonal = np.broadcast_to(np.diagonal(K, axis1=2, axis2=3), self.pi.shape)
        own = diagonal - ((K @ self.E) * K).sum(axis=3)  # E is symmetric, and so is K
        T = self.returned() @ K
        # S[a, b] = own[a] [a = b] + sum_k T_a[k] T_b[k], at every row.
        mixed = (self.pi[:, :, None] * T).sum(axis=1)
        S_pi = own * self.pi + (T * mixed[:, None]).sum(axis=2)
        spread = own + (T * T).sum(axis=2)
        level = (self.pi * spread).sum(axis=1, keepdims=True)
        centre = (self.pi * S_pi).sum(axis=1, keepdims=True)
        return -0.5 * self.weighted * (spread - level - 2.0 * S_pi + 2.0 * centre)


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen, as the climb reads it.

    Attributes:
        y: labels -1 and 1, or numbers, (1 or S, 1, n); one-hot under a softmax, (1 or S, C, n).
        weight: how many times a row counts, (1 or S, 1, n).
        kernel: what the kernel is called, for errors.
    """

    y: Array
    weight: Array
    kernel: str = "kernel"

    def part(self, members: Array) -> "Seen":
        """The same for some members of the stack."""
        y = self.y if len(self.y) == 1 else self.y[members]
        weight = self.weight if len(self.weight) == 1 else self.weight[members]
        return Seen(y, weight, self.kernel)


@dataclass(frozen=True, eq=False)
class Mode:
    """Where the latent posterior is most credible, and how sharply it falls off.

    Paper: App. C.1, g-hat and (K^-1 + W)^-1.

    Attributes:
        g: (S, P, n), the mode.
        a: (S, P, n), K^-1 g, which equals the gradient of log p there; the mean is K_t a.
        information: what the labels tell, P = (K + W^-1)^-1.
        log_peak: (S,), log sup p(y | g) f(g), the possibilistic evidence.
        steps: Newton steps of the slowest member.
        settled: (S,), whether the climb came to rest.
    """

    g: Array
    a: Array
    information: Information
    log_peak: Vector
    steps: int
    settled: Array

    @property
    def log_evidence(self) -> Vector:
        """Log marginal likelihood by Laplace's method, (S,).

        Paper: none; GPML Eq. 3.32 and 3.44.
        """
        return self.log_peak - self.information.half_log_determinant


def climb(link: Link | Softmax, K: Array, seen: Seen, start: Array | None = None) -> Mode:
    """The mode of the latent posterior of every member, by Newton's method.

    The logarithm of the posterior is concave, and a Newton step points uphill; a step that
    overshoots is cut until it gains what its slope promises, so the climb cannot diverge. A member
    that has come to rest is left alone, so that it does not depend on its neighbours.

    Paper: App. C.1 and C.2; GPML Alg. 3.1 and 3.3.

    Args:
        link: how latents make labels random.
        K: kernel matrices, (S, P, n, n) or (S, 1, n, n).
        seen: the labels.
        start: (S, P, n), K^-1 g to start from; zero if left out.
    """
    S, P, n = len(K), seen.y.shape[1], K.shape[-1]
    a = np.zeros((S, P, n)) if start is None else start.copy()
    g = _product(K, a)
    psi = _psi(link, seen, a, g)
    size, settled = np.full(S, np.inf), np.zeros(S, dtype=bool)
    members, steps = np.arange(S), 0
    while len(members) and steps < MAX_STEPS:
        steps += 1
        some = members if len(members) < S else slice(None)  # a slice copies nothing
        part, K_s = seen.part(members), K[some]
        place = Place(a[some], g[some], psi[some])
        step = _newton(information(link, part, place.g, K_s), K_s, place)
        reached, moved = _ascend(link, part, place, step)
        a[some], g[some], psi[some] = reached.a, reached.g, reached.psi
        was, size[some] = size[some], step.size
        rest = (step.size <= _CLOSE) | ((step.slope <= _FLAT) & (step.size >= 0.5 * was))
        settled[some] = rest | ~moved | (link is IDENTITY)  # a quadratic is climbed in one step
        members = np.flatnonzero(~settled)
    return Mode(g, a, information(link, seen, g, K), psi, steps, settled)


def information(link: Link | Softmax, seen: Seen, g: Array, K: Array) -> Information:
    """What the labels tell about latents near g.

    Paper: App. C.1 and C.2, W and (K^-1 + W)^-1.
    """
    if isinstance(link, Softmax):
        return SoftmaxInformation.at(seen, g, K)
    return LatentInformation.at(link, seen, g, K)


def sensitivity(mode: Mode, K: Array) -> Array:
    """Derivative of the log evidence by every entry of the kernel matrices, (S, P, n, n).

    The part through the mode is v a', with v = (I - P K) drift. What a hyperparameter does to
    the evidence is the sum of its derivative of K times this, for every link and kernel.

    Paper: none; GPML Alg. 5.1 and Eq. 5.21 to 5.24.
    """
    there, a = mode.information, mode.a
    drift = there.drift(K)
    v = drift - there.times(_product(K, drift))
    outer = (0.5 * a + v)[..., :, None] * a[..., None, :]
    return 0.5 * (outer + np.swapaxes(outer, 2, 3) - there.blocks())


# ---------------------------------------------------------------- the climb


@dataclass(frozen=True, eq=False)
class Place:
    """A place of the climb: K^-1 g, g, and the log posterior there up to a constant."""

    a: Array
    g: Array
    psi: Vector


@dataclass(frozen=True, eq=False)
class Step:
    """A Newton step, the gain its slope promises, and its size relative to the latents."""

    a: Array
    g: Array
    slope: Vector
    size: Vector


def _newton(here: Information, K: Array, place: Place) -> Step:
    """The step to the top of the quadratic that fits the log posterior at this place."""
    b = here.curved(place.g) + here.gradient  # Alg. 3.1, line 6; Alg. 3.3, line 9
    da = b - here.times(_product(K, b)) - place.a  # line 7; lines 10 and 11
    dg = _product(K, da)
    slope = ((here.gradient - place.a) * dg).sum(axis=(1, 2))
    size = np.abs(dg).max(axis=(1, 2), initial=0.0)
    return Step(da, dg, slope, size / (1.0 + np.abs(place.g).max(axis=(1, 2), initial=0.0)))


def _ascend(link: Link | Softmax, seen: Seen, place: Place, step: Step) -> tuple[Place, Array]:
    """Where the step leads once it is short enough to gain, and whether each member moved."""
    share = np.ones(len(place.psi))
    slack = 1e-13 * (1.0 + np.abs(place.psi))
    for _ in range(_CUTS):
        s = share[:, None, None]
        a, g = place.a + s * step.a, place.g + s * step.g
        psi = _psi(link, seen, a, g)
        gain = psi - place.psi
        short = gain >= _GAIN * share * step.slope - slack
        if short.all():
            break
        # The parabola through this place, its slope and the trial has its top here.
        top = 0.5 * share * share * step.slope / (share * step.slope - gain)
        cut = np.clip(np.nan_to_num(top), 0.01 * share, 0.5 * share)
        share = np.where(short, share, cut)
    kept = short[:, None, None]
    reached = Place(
        np.where(kept, a, place.a), np.where(kept, g, place.g), np.where(short, psi, place.psi)
    )
    return reached, short


def _psi(link: Link | Softmax, seen: Seen, a: Array, g: Array) -> Vector:
    """Log posterior up to a constant, log p(y | g) - g' K^-1 g / 2 (App. C.1, Psi)."""
    log_p = link.log_probability(seen.y, g, seen.weight)
    return log_p.reshape(len(g), -1).sum(axis=1) - 0.5 * (a * g).sum(axis=(1, 2))


def _product(K: Array, v: Array) -> Array:
    """The product K v for every process, where one kernel matrix may serve all of them."""
    if K.shape[1] == 1:
        return v @ K[:, 0]  # K is symmetric
    return _each(K, v)


def _each(stack: Array, v: Array) -> Array:
    """The product of each symmetric matrix with its own vector."""
    return (v[:, :, None, :] @ stack)[:, :, 0]


def _add_to_diagonal(stack: Array, value: float) -> None:
    """Add a value to the diagonal of every matrix of a stack, in place."""
    n = stack.shape[-1]
    stack.reshape(len(stack), n * n)[:, :: n + 1] += value
