"""Leave-one-out predictions of training rows: cavity distributions of a Laplace approximation.

left_out_latents(posterior, rows) -> (S, P, k)
left_out_probability(posterior, rows) -> (k, C)
self_check(posterior, most) -> chances and whether they were right
contradicted(posterior, most) -> ContradictedLabels
class_self_check(posterior, place, most) -> chances of one label and whether it is theirs

A posterior at a training row knows its label. What it would have predicted without follows from
the posterior itself, with no other fit: the label's own part is divided out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from possibal.arrays import Array, Matrix, Places, Vector
from possibal.gp.likelihoods import Softmax
from possibal.gp.posterior import Posterior
from possibal.numerics.linalg import one_thread


def left_out_latents(posterior: Posterior, rows: Places) -> Array:
    """Most credible latents of training rows, each without its own label, (S, P, k).

    With S the posterior covariance of a row's latents, W its curvature and a its gradient at the
    mode, the cavity has the covariance (S^-1 - W)^-1 = S (I - W S)^-1 and the mean g less that
    times a. For numbers with Gaussian errors this is exact; otherwise the other labels' part of
    the approximation stays as it is.

    Paper: none; Opper and Winther (2000); GPML Eq. 5.12 for numbers.

    Args:
        posterior: of the training rows.
        rows: some of them, by their places.
    """
    mode = posterior.mode
    with one_thread():
        covariance = mode.curvature.row_covariance(posterior.K, rows)
        weight = mode.curvature.row_weight(rows)
        g, a = (np.swapaxes(one[..., rows], 1, 2) for one in (mode.g, mode.a))
        rest = np.eye(g.shape[2]) - weight @ covariance
        step = covariance @ np.linalg.solve(rest, a[..., None])
    return np.swapaxes(g - step[..., 0], 1, 2)


def left_out_probability(posterior: Posterior, rows: Places) -> Matrix:
    """Probability of each label of training rows, each predicted without its own label, (k, C).

    Paper: App. B.3 at the latents of :func:`left_out_latents`.
    """
    return posterior.averaged_probability(left_out_latents(posterior, rows))


def self_check(posterior: Posterior, most: int) -> tuple[Vector, NDArray[np.bool_]]:
    """The chance of the likeliest label of training rows, left out, and whether it is theirs.

    Paper: none; leave-one-out cross-validation.

    Args:
        posterior: of labels.
        most: training rows that are looked at; of more, every few.
    """
    probability, labels = _left_out_labels(posterior, most)
    return probability.max(axis=1), probability.argmax(axis=1) == labels


def class_self_check(
    posterior: Posterior, place: int, most: int
) -> tuple[Vector, NDArray[np.bool_]]:
    """The chance of one label at training rows, left out, and whether it is theirs.

    Paper: none; leave-one-out cross-validation.

    Args:
        posterior: of labels.
        place: of the label.
        most: training rows that are looked at; of more, every few.
    """
    probability, labels = _left_out_labels(posterior, most)
    return probability[:, place], labels == place


def _left_out_labels(posterior: Posterior, most: int) -> tuple[Matrix, NDArray[np.intp]]:
    """Probabilities of labels at training rows, each left out, and the codes of their labels."""
    n = len(posterior.data)
    rows = np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))
    return left_out_probability(posterior, rows), _codes(posterior)[rows]


@dataclass(frozen=True, eq=False)
class ContradictedLabels:
    """Training rows, and what is predicted of each without its own label.

    Paper: none.

    Attributes:
        rows: their places among the training rows, (k,).
        own: the code of the label that each has, (k,).
        predicted: that of the likeliest label, (k,).
        chance: its probability, (k,).
    """

    rows: Places
    own: NDArray[np.intp]
    predicted: NDArray[np.intp]
    chance: Vector


def contradicted(posterior: Posterior, most: int) -> ContradictedLabels:
    """Training rows whose label is not what all the others predict: it may be mistaken.

    Those are looked at whose label fits worst although the model has learnt it.

    Paper: none; Northcutt, Jiang and Chuang (2021), confident learning, by leave-one-out.

    Args:
        posterior: of labels.
        most: training rows that are looked at.
    """
    codes = _codes(posterior)
    fitted = posterior.averaged_probability(posterior.mode.g)[np.arange(len(codes)), codes]
    rows = np.sort(np.argsort(fitted, kind="stable")[:most])
    probability = left_out_probability(posterior, rows)
    predicted = probability.argmax(axis=1)
    is_against = predicted != codes[rows]
    found = rows[is_against]
    return ContradictedLabels(
        found, codes[found], predicted[is_against], probability[is_against].max(axis=1)
    )


def _codes(posterior: Posterior) -> NDArray[np.intp]:
    """The code of each training row's label."""
    y = posterior.data.y
    is_several = isinstance(posterior.data.link, Softmax)
    return y.argmax(axis=0) if is_several else (y[0] > 0).astype(np.intp)
