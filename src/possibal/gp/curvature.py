"""Curvature of the log likelihood for Laplace's method: W, and P = (K + W^-1)^-1 as GPML has it.

Every array has the same three axes: S members of a batch (settings of the hyperparameters, or
runs), P processes (one for a link with one latent a row, C for a softmax), n rows. Kernel matrices
are (S, P, n, n); a single process axis there is shared by all classes.
"""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from possibal.arrays import Array, Places, Vector
from possibal.gp.likelihoods import SOFTMAX, Link, Softmax
from possibal.numerics.batched import Batched
from possibal.numerics.linalg import Factor, each_times, factor, product

_WRONG = 0.1
"""A step that leaves more than this share of what is lacking is wrong."""


@dataclass(frozen=True, eq=False)
class Observations:
    """Labels and weights of the training rows, as Newton's method reads them.

    Attributes:
        y: labels -1 and 1, or numbers, (1 or S, 1, n); one-hot under a softmax, (1 or S, C, n).
        weight: how many times a row counts, (1 or S, 1, n).
        kernel: what the kernel is called, for errors.
        mean: prior means of the latents, (1 or S, 1 or P, n); None means zero.
    """

    y: Array
    weight: Array
    kernel: str = "kernel"
    mean: Array | None = None

    def part(self, members: Places) -> "Observations":
        """The same for some members of the batch."""
        y = self.y if len(self.y) == 1 else self.y[members]
        weight = self.weight if len(self.weight) == 1 else self.weight[members]
        mean = self.mean if self.mean is None or len(self.mean) == 1 else self.mean[members]
        return Observations(y, weight, self.kernel, mean)

    def above_mean(self, g: Array) -> Array:
        """Latents g less their prior means.

        Paper: Sec. 5.2, g - m.
        """
        return g if self.mean is None else g - self.mean

    def with_mean(self, g: Array) -> Array:
        """What :meth:`above_mean` takes off, added again.

        Paper: Sec. 5.2.
        """
        return g if self.mean is None else g + self.mean


class Curvature(Protocol):
    """P = (K + W^-1)^-1, never formed as such, with what Newton's method and prediction need of it.

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
        """The largest share of the diagonal that was added to a matrix of each member, (S,)."""
        ...

    @property
    def half_log_determinant(self) -> Vector:
        """Half the log determinant of I + K W, (S,).

        Paper: none; GPML Eq. 3.32.
        """
        ...

    def part(self, members: Places, /) -> Self:
        """The same for some members of the batch."""
        ...

    def times(self, v: Array) -> Array:
        """The product P v.

        Paper: Prop. 7, [K + W^-1]^-1.
        """
        ...

    def step(self, K: Array, lack: Array) -> Array:
        """The Newton step (I + W K)^-1 lack = lack - P K lack.

        Paper: none; GPML Alg. 3.1, line 7, and Alg. 3.3, lines 10 and 11.
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

    def row_weight(self, rows: Places) -> Array:
        """W at some rows, (S, k, P, P): labels of different rows are independent given the latents.

        Paper: App. C.1 and C.2, W.
        """
        ...

    def row_covariance(self, K: Array, rows: Places) -> Array:
        """Posterior covariance of the latents of each of some rows, (S, k, P, P).

        Paper: Props. 7 and 8, Sigma_t at a training row.
        """
        ...

    def drift(self, K: Array) -> Array:
        """Derivative by g of minus half the log determinant of I + K W.

        Paper: none; GPML Eq. 5.23, whose sign is wrong in print.
        """
        ...


@dataclass(frozen=True, eq=False)
class DiagonalCurvature(Batched):
    """Curvature where each row has one latent, so that W is diagonal.

    Paper: Prop. 7; GPML Eq. 3.26 and 3.27, P = W^1/2 B^-1 W^1/2 with B = I + W^1/2 K W^1/2.
    """

    gradient: Array
    third: Array
    sqrt_w: Array
    B: Factor

    @classmethod
    def at(cls, link: Link, seen: Observations, g: Array, K: Array) -> "DiagonalCurvature":
        """The curvature at latents g.

        Paper: none; GPML Alg. 3.1, lines 4 and 5.
        """
        slopes = link.slopes(seen.y, g, seen.weight)
        sqrt_w = np.sqrt(slopes.weight)
        B = np.multiply(K[:, 0], sqrt_w[:, 0, :, None], order="C")
        B *= sqrt_w[:, 0, None, :]
        _add_to_diagonal(B, 1.0)
        return cls(slopes.gradient, slopes.third, sqrt_w, factor(B, seen.kernel))

    @property
    def jitter(self) -> Vector:
        """The jitter of each member."""
        return self.B.jitter

    @property
    def half_log_determinant(self) -> Vector:
        """Half the log determinant of B.

        Paper: none; GPML Alg. 3.1, line 10.
        """
        return self.B.half_log_determinant

    def times(self, v: Array) -> Array:
        """The product P v.

        Paper: none; GPML Alg. 3.1, line 7.
        """
        return self.sqrt_w * self.B.solve((self.sqrt_w * v)[:, 0])[:, None]

    def step(self, K: Array, lack: Array) -> Array:
        """The Newton step.

        Paper: none; GPML Alg. 3.1, line 7.
        """
        return lack - self.times(product(K, lack))

    def root(self) -> Array:
        r"""An upper triangular root R of P = R R', (S, n, n).

        Paper: none; GPML Alg. 3.2, line 5, v = L \\ (W^1/2 k) is R' k.
        """
        return self.sqrt_w[:, 0, :, None] * np.swapaxes(self.B.inverse_factor(), 1, 2)

    def blocks(self) -> Array:
        """P itself.

        Paper: none; GPML Alg. 5.1, line 5.
        """
        root = self.root()
        return (root @ np.swapaxes(root, 1, 2))[:, None]

    def row_weight(self, rows: Places) -> Array:
        """W, a number for each row.

        Paper: App. C.1, W.
        """
        weight = self.sqrt_w[:, 0, rows]
        return (weight * weight)[:, :, None, None]

    def row_covariance(self, K: Array, rows: Places) -> Array:
        """The posterior variance of each row.

        Paper: Prop. 7, the diagonal of Sigma_t.
        """
        facing = K[:, 0][:, :, rows]
        explained = np.swapaxes(self.root(), 1, 2) @ facing
        own = np.diagonal(K[:, 0], axis1=1, axis2=2)[:, rows]
        return (own - (explained * explained).sum(axis=1))[:, :, None, None]

    def drift(self, K: Array) -> Array:
        """Half the posterior variance of each row times the third derivative.

        Paper: none; GPML Alg. 5.1, lines 6 and 7, with the sign put right.
        """
        explained = np.swapaxes(self.root(), 1, 2)[:, None] @ K
        variance = np.diagonal(K, axis1=2, axis2=3) - (explained * explained).sum(axis=2)
        return 0.5 * variance * self.third


@dataclass(frozen=True, eq=False)
class SoftmaxCurvature(Batched):
    """Curvature under a softmax, where W couples the C latents of a row.

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
    def at(cls, seen: Observations, g: Array, K: Array) -> "SoftmaxCurvature":
        """The curvature at latents g.

        Paper: none; GPML Alg. 3.3, lines 3 to 8.
        """
        pi = SOFTMAX.probability(g)  # line 3
        D = seen.weight * pi
        S, C, n = g.shape
        # Classes that are all alike, as where the search for the mode begins, are worked out once.
        alike = K.shape[1] == 1 and bool((pi == pi[:, :1]).all())
        distinct, times = (1, C) if alike else (C, 1)
        sqrt_d = np.sqrt(D[:, :distinct])  # line 5
        B = np.multiply(K, sqrt_d[..., :, None], order="C")
        B *= sqrt_d[..., None, :]
        flat = B.reshape(S * distinct, n, n)
        _add_to_diagonal(flat, 1.0)
        each = factor(flat, seen.kernel)
        E = each.inverse().reshape(S, distinct, n, n)  # line 6
        E *= sqrt_d[..., :, None]
        E *= sqrt_d[..., None, :]
        M = factor(times * E.sum(axis=1), seen.kernel)  # line 8
        # The book's line 7 sums the determinants of B alone; that of M belongs to them.
        half = times * each.half_log_determinant.reshape(S, distinct).sum(axis=1)
        half += M.half_log_determinant
        half -= 0.5 * np.log(seen.weight).sum(axis=(1, 2))  # nothing where each row counts once
        jitter = np.maximum(each.jitter.reshape(S, distinct).max(axis=1), M.jitter)
        E = np.broadcast_to(E, (S, C, n, n))
        return cls(seen.weight * (seen.y - pi), D, pi, E, M, half, jitter)

    def times(self, v: Array) -> Array:
        """The product P v.

        Paper: none; GPML Alg. 3.3, lines 10 and 11.
        """
        inner = each_times(self.E, v)
        shared = self.M.solve(inner.sum(axis=1))[:, None]
        return inner - each_times(self.E, np.broadcast_to(shared, v.shape))

    def step(self, K: Array, lack: Array) -> Array:
        """The Newton step, solved twice: the second time for what rounding left of the first.

        Where amplitudes are large, the sum of E is close to singular, and what is left may be as
        large as before. Then a step with D in place of W, its upper bound, still points uphill.

        Paper: none; GPML Alg. 3.3, lines 10 and 11.
        """
        step = lack - self.times(product(K, lack))
        left = self._left(K, lack, step)
        step += left - self.times(product(K, left))
        left = self._left(K, lack, step)
        large = np.abs(lack).max(axis=(1, 2), initial=0.0)
        wrong = np.abs(left).max(axis=(1, 2), initial=0.0) > _WRONG * large
        if wrong.any():
            step[wrong] = (lack - each_times(self.E, product(K, lack)))[wrong]
        return step

    def _left(self, K: Array, lack: Array, step: Array) -> Array:
        """What a step leaves of what is lacking, lack - (I + W K) step."""
        g = product(K, step)
        return lack - step - self.weighted * (g - (self.pi * g).sum(axis=1, keepdims=True))

    def root(self) -> Array:
        r"""An upper triangular root R of the inverse of the sum of E, (S, n, n).

        Paper: none; GPML Alg. 3.4, line 8, M \\ (E k) is R' E k.
        """
        return np.swapaxes(self.M.inverse_factor(), 1, 2)

    def coupling(self) -> Array:
        """Coupling of the classes: matrices Q with P_cc = E_c - Q_c' Q_c, (S, C, n, n).

        Paper: none; GPML Alg. 3.4, line 8.
        """
        return self.M.inverse_factor()[:, None] @ self.E

    def blocks(self) -> Array:
        """The blocks of P within each class.

        Paper: Prop. 8, the covariance of one class.
        """
        Q = self.coupling()
        return self.E - np.swapaxes(Q, 2, 3) @ Q

    def row_weight(self, rows: Places) -> Array:
        """W = D - Pi Pi', a matrix for each row.

        Paper: App. C.2, W.
        """
        pi, D = (np.swapaxes(one[:, :, rows], 1, 2) for one in (self.pi, self.weighted))
        weight = -D[..., :, None] * pi[..., None, :]
        each = np.arange(pi.shape[2])
        weight[..., each, each] += D
        return weight

    def row_covariance(self, K: Array, rows: Places) -> Array:
        """S[a, b] = own[a] [a = b] + sum_k T_a[k] T_b[k], at each row.

        Paper: Prop. 8, Sigma_t at a training row.
        """
        facing = K[..., rows]
        own = np.diagonal(K, axis1=2, axis2=3)[..., rows] - (facing * (self.E @ facing)).sum(axis=2)
        T = np.moveaxis(self.coupling() @ facing, 3, 1)  # (S, k, C, n)
        covariance = T @ np.swapaxes(T, 2, 3)
        each = np.arange(T.shape[2])
        covariance[..., each, each] += np.swapaxes(own, 1, 2)
        return covariance

    def drift(self, K: Array) -> Array:
        """Derivative by g of minus half the log determinant, from the C x C covariance of each row.

        Paper: none; GPML Eq. 5.23 for a softmax.
        """
        diagonal = np.broadcast_to(np.diagonal(K, axis1=2, axis2=3), self.pi.shape)
        own = diagonal - ((K @ self.E) * K).sum(axis=3)  # E is symmetric, and so is K
        T = self.coupling() @ K
        # S[a, b] = own[a] [a = b] + sum_k T_a[k] T_b[k], at every row.
        mixed = (self.pi[:, :, None] * T).sum(axis=1)
        S_pi = own * self.pi + (T * mixed[:, None]).sum(axis=2)
        spread = own + (T * T).sum(axis=2)
        level = (self.pi * spread).sum(axis=1, keepdims=True)
        centre = (self.pi * S_pi).sum(axis=1, keepdims=True)
        return -0.5 * self.weighted * (spread - level - 2.0 * S_pi + 2.0 * centre)


def curvature(link: Link | Softmax, seen: Observations, g: Array, K: Array) -> Curvature:
    """The curvature at latents g, for any likelihood.

    Paper: App. C.1 and C.2, W and (K^-1 + W)^-1.
    """
    if isinstance(link, Softmax):
        return SoftmaxCurvature.at(seen, g, K)
    return DiagonalCurvature.at(link, seen, g, K)


def _add_to_diagonal(stack: Array, value: float) -> None:
    """Add a value to the diagonal of every matrix of a contiguous stack, in place."""
    S, n, _ = stack.shape
    stack.reshape(S, n * n)[:, :: n + 1] += value
