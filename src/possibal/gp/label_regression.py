"""Least-squares classification: the evidence of labels read as numbers, a cheap screen of kernels.

Gaussian-process regression on labels needs no Newton's method, and its Cholesky factor serves all
classes. It says which length-scales are worth a Laplace approximation, which has the last word.
"""

import numpy as np

from possibal.arrays import Array, Vector
from possibal.numerics.linalg import factor

NOISE_SHARE = 0.4
"""Noise variance of labels read as numbers, as a share of the prior variance."""


def label_regression_evidence(K: Array, y: Array, weight: Array) -> Vector:
    """Log evidence of labels under Gaussian noise, less a constant, (S,).

    The amplitude is the one of largest evidence, in closed form; the noise is a share of it. Labels
    are centred. C one-hot columns count as C - 1.

    Paper: none; GPML Sec. 6.5 and Eq. 5.8.

    Args:
        K: kernel matrices, (S, P, n, n) or (S, 1, n, n), where all processes share them.
        y: (1 or S, P, n), labels as the link reads them.
        weight: (1 or S, n), how many times each row counts.
    """
    S, processes, n, _ = K.shape
    P = y.shape[1]
    if not n:
        return np.zeros(S)
    total = np.broadcast_to(weight, (S, n)).sum(axis=1)
    level = (y * weight[:, None]).sum(axis=2, keepdims=True) / weight.sum(axis=1)[:, None, None]
    above = np.broadcast_to(np.swapaxes(y - level, 1, 2), (S, n, P))
    size = np.einsum("spii->sp", K).mean(axis=1) / n
    R = K / np.where(size > 0, size, 1.0)[:, None, None, None]
    square, half_log_determinant = np.zeros(S), np.zeros(S)
    for p in range(processes):
        A = R[:, p].copy()
        np.einsum("sii->si", A)[...] += NOISE_SHARE / weight
        L, own = factor(A, "kernel"), slice(None) if processes == 1 else slice(p, p + 1)
        square += (above[..., own] * L.solve(above[..., own])).sum(axis=(1, 2))
        half_log_determinant += L.half_log_determinant * (P // processes)
    with np.errstate(divide="ignore"):
        fit = -0.5 * total * P * np.log(square / (total * P)) - half_log_determinant
    return fit * (1.0 if P == 1 else (P - 1.0) / P)
