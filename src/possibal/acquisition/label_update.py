"""One Laplace step for one more label, at the maximiser in the supremum of U.

    probit_update(mean, variance)        softmax_update(mean, covariance)

The credibility of a label is the supremum of its probability times the possibility of the latents.
Where that is attained is the new mode of the latents: one step of Laplace's method. Other rows
follow by the gradient and the curvature of the log probability there.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

from possibal.acquisition.suprema import hazard, probit_argmax_offset
from possibal.arrays import Array, Matrix, Vector

MOST_STEPS = 40
"""Newton steps at most; where they are not enough, the last is good enough to rank by."""
_STILL = 1e-8
"""A step below this is the last."""


@dataclass(frozen=True, eq=False)
class LabelUpdate:
    """Gradient and curvature of the log probability of each label at the new mode.

    Attributes:
        pull: (L, m, P), the gradient: the latents of another row move by their covariances with
            these times it.
        bend: (L, m, P, P), (W^-1 + Sigma)^-1: covariances of another row fall by its product with
            their covariances from both sides.
    """

    pull: Array
    bend: Array


def probit_update(mean: Vector, variance: Vector) -> LabelUpdate:
    """The step of a single latent, for the negative label and for the positive one.

    Paper: Sec. 4.2, where sup_theta Phi(theta) N(theta; mu, sigma2) is attained; App. C.1, W.
    """
    signs = np.array([[-1.0], [1.0]])
    mu, sigma2 = (signs * mean).ravel(), np.tile(np.minimum(variance, 1e150), 2)
    with np.errstate(all="ignore"):
        r = hazard(mu)
        guess = sigma2 * r / (1.0 + sigma2 * r * (r + mu))  # Newton's step from the mean
        t = mu + probit_argmax_offset(mu, np.log(sigma2), guess)
        r = hazard(t)
        w = np.clip(r * (r + t), 0.0, 1.0)
    shape = (2, len(mean), 1)
    pull = (signs * r.reshape(2, -1)).reshape(shape)
    return LabelUpdate(pull, (w / (1.0 + w * sigma2)).reshape(*shape, 1))


def softmax_update(mean: Matrix, covariance: Array) -> LabelUpdate:
    """The step of the latents of all classes, for each label.

    Paper: Sec. 4.2, where sup_theta p(l; theta) N(theta; mu, Sigma) is attained; App. C.2, W.

    Args:
        mean: (m, C).
        covariance: (m, C, C), of the latents of each row.
    """
    m, C = mean.shape
    own = np.repeat(np.eye(C)[:, None], m, axis=1).reshape(-1, C)  # label by label
    mu, joint = np.tile(mean, (C, 1)), np.tile(covariance, (C, 1, 1))
    a = np.zeros_like(mu)  # the latents move by joint a
    objective, stride, live = _objective(mu, joint, own, a), np.ones(len(mu)), np.arange(len(mu))
    taken = 0
    while live.size and taken < MOST_STEPS:
        taken += 1
        at = mu[live], joint[live], own[live]
        further = a[live] + stride[live, None] * (_newton(*at, a[live]) - a[live])
        found = _objective(*at, further)
        is_higher = found >= objective[live]
        stride[live] = np.where(is_higher, np.minimum(1.0, 2.0 * stride[live]), 0.5 * stride[live])
        is_still = is_higher & (np.abs(further - a[live]).max(axis=1) < _STILL)
        rose = live[is_higher]
        a[rose], objective[rose] = further[is_higher], found[is_higher]
        live = live[~is_still]
    p = softmax(mu + _times(joint, a), axis=1)
    W = _curvature(p)
    bend = _solved(np.eye(C) + W @ joint, W)
    return LabelUpdate((own - p).reshape(C, m, C), bend.reshape(C, m, C, C))


def _newton(mu: Matrix, joint: Array, own: Matrix, a: Matrix) -> Matrix:
    """Newton's next a: (I + W joint)^-1 (W joint a + own - p)."""
    move = _times(joint, a)
    p = softmax(mu + move, axis=1)
    W = _curvature(p)
    b = _times(W, move) + own - p
    return _solved(np.eye(mu.shape[1]) + W @ joint, b[..., None])[..., 0]


def _objective(mu: Matrix, joint: Array, own: Matrix, a: Matrix) -> Vector:
    """The objective: the log of the label's probability times the possibility."""
    move = _times(joint, a)
    log_p = (own * log_softmax(mu + move, axis=1)).sum(axis=1)
    return log_p - 0.5 * (a * move).sum(axis=1)


def _solved(matrices: Array, right: Array) -> Array:
    """Each matrix' inverse times what is on its right."""
    return np.asarray(np.linalg.solve(matrices, right), dtype=float)


def _times(matrices: Array, vectors: Matrix) -> Matrix:
    """Each matrix times its vector."""
    return np.einsum("mij,mj->mi", matrices, vectors)


def _curvature(p: Matrix) -> Array:
    """W of a softmax, diag(p) - p p'.

    Paper: App. C.2, W.
    """
    return np.einsum("mi,ij->mij", p, np.eye(p.shape[1])) - p[:, :, None] * p[:, None]
