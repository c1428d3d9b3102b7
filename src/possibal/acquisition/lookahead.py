"""One-step look-ahead strategies: the expected value of one more label for the whole pool.

    look_ahead(view)        mocu(view)        bemps(view)        epig(view)

For every candidate and label, one step of Laplace's method (label_update.py) moves the candidate's
own latent; the reference rows follow by their covariances with it, in closed form and one matrix
product. The answer also reweights the settings of the hyperparameters. What is gained is the loss
over the reference rows now, less that after the answer, averaged over the answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import entr

from possibal.acquisition.coverage import density_weights, reference_sample
from possibal.acquisition.label_update import LabelUpdate, probit_update, softmax_update
from possibal.acquisition.latents import (
    LatentMoments,
    Loss,
    average_probabilities,
    centred,
    expected_brier,
    expected_error,
    squared_brier,
)
from possibal.acquisition.strategy import JointPosterior, View
from possibal.arrays import Array, Matrix, Vector
from possibal.numerics.distances import near_duplicate_width

REFERENCE = 200
"""Rows that stand for the pool where one answer is looked ahead."""
CHUNK = 400_000
"""Numbers that are held at once for each of a few arrays."""
_FLOOR = 1e-13
"""A variance below this share of the one before is rounding."""


# ---------------------------------------------------------------- strategies
def look_ahead(view: View) -> Vector:
    """Asks for the label that is expected to leave least doubt about all rows.

    Expected error reduction (Roy & McCallum 2001) of the squared expected Brier score, by which the
    least certain rows count most; near-duplicates are weighted by inverse density. An answer also
    reweights the settings of the hyperparameters.

    Paper: none; one step of Laplace's method for each label, where U's supremum is attained.
    """
    reference = reference_sample(view, REFERENCE)
    there = view.joint_posterior.coordinates(reference)
    weight = density_weights(cdist(there, there), near_duplicate_width(there))
    return expected_loss_reduction(
        view.joint_posterior, view.candidates, reference, squared_brier, weight / weight.sum()
    )


def mocu(view: View) -> Vector:
    """Asks for the label that is expected to leave the smallest expected error (MOCU).

    The mean objective cost of uncertainty (Yoon, Qian & Dougherty 2013) of classification, as Zhao
    et al. (2021) use it for active learning: expected reduction of the 0-1 loss of the Bayes
    classifier, every row counting alike.

    Paper: none.
    """
    return expected_loss_reduction(
        view.joint_posterior, view.candidates, reference_sample(view, REFERENCE), expected_error
    )


def bemps(view: View) -> Vector:
    """Asks for the label that is expected to leave the best Brier score (BEMPS, CoreMSE).

    Bayesian estimate of mean proper scores (Tan, Du & Buntine 2021) with the Brier score, every row
    counting alike.

    Paper: none.
    """
    return expected_loss_reduction(
        view.joint_posterior, view.candidates, reference_sample(view, REFERENCE), expected_brier
    )


def epig(view: View) -> Vector:
    """Asks for the label that tells most about the labels of others, in nats (EPIG).

    Expected predictive information gain (Bickford Smith et al. 2023): the mutual information of
    two labels, averaged over the reference rows.

    Paper: none.
    """
    reference = reference_sample(view, REFERENCE)
    return expected_information_gain(view.joint_posterior, view.candidates, reference) / len(
        reference
    )


# ---------------------------------------------------------------- after an answer
@dataclass(frozen=True, eq=False)
class OneStepPosterior:
    """Predictive moments of reference rows after one answer about each candidate.

    Attributes:
        chance: (m,), how probable that answer is.
        latents: of the reference rows, (H, m, r, P).
    """

    chance: Vector
    latents: LatentMoments


def one_step_posteriors(
    posterior: JointPosterior, candidates: Matrix, reference: Matrix
) -> Iterator[list[OneStepPosterior]]:
    """Predictive moments of reference rows after each answer, some candidates at a time.

    Paper: none; Props. 7 and 8 for one more label, from the mode of the others.
    """
    there, here = LatentMoments.of(posterior, reference), LatentMoments.of(posterior, candidates)
    H, m, P = here.mean.shape
    square = posterior.scale * posterior.scale
    joint = square * posterior.covariance(candidates)
    rows = max(1, CHUNK // max(1, H * len(reference) * max(P * P, 2)))
    for start in range(0, m, rows):
        part = slice(start, start + rows)
        some = LatentMoments(here.mean[:, part], here.variance[:, part], here.credibility)
        between = square * posterior.between(candidates[part], reference)
        step = _step(some.mean, joint[:, part])
        yield _each_answer(some, there, between, step, posterior.tempering)


def _each_answer(
    here: LatentMoments, there: LatentMoments, between: Array, step: LabelUpdate, tempering: float
) -> list[OneStepPosterior]:
    """The same for each label of some candidates.

    Args:
        here: of the candidates, (H, m, P).
        there: of the reference rows, (H, r, P).
        between: (H, m, r, P, P), their covariances.
        step: what each label does to candidates, (L, H, m, ...).
        tempering: exponent with which an answer counts for a setting.
    """
    each, chance, found = (
        average_probabilities(here.mean, here.variance),
        here.probability,
        list[OneStepPosterior](),
    )
    contrast = centred(between) if between.shape[-1] > 1 else between
    for label in range(each.shape[2]):
        credibility = here.credibility[:, None] * each[:, :, label] ** tempering
        credibility = credibility / credibility.max(axis=0)
        moved, fall = _followed(between, contrast, step.pull[label], step.bend[label])
        before = there.variance[:, None]
        variance = np.maximum(before - fall, _FLOOR * before)
        after = LatentMoments(there.mean[:, None] + moved, variance, credibility)
        found.append(OneStepPosterior(chance[:, label], after))
    return found


def _followed(between: Array, contrast: Array, pull: Array, bend: Array) -> tuple[Array, Array]:
    """By how much means of reference rows move and their variances fall, (H, m, r, P) each."""
    if between.shape[-1] == 1:
        shared = between[..., 0]
        return shared * pull[:, :, None], shared * shared * bend[:, :, None, :, 0]
    moved = np.einsum("hmrpq,hmq->hmrp", between, pull, optimize=True)
    reduction = np.einsum("hmrpq,hmqs->hmrps", contrast, bend, optimize=True)
    P = between.shape[-1]
    return moved, (reduction * contrast).sum(axis=-1) * (P / (P - 1.0))


def _step(mean: Array, joint: Array) -> LabelUpdate:
    """What each label does to the latents of candidates under every setting, (L, H, m, ...)."""
    H, m, P = mean.shape
    flat = mean.reshape(-1, P), joint.reshape(-1, P, P)
    step = probit_update(flat[0][:, 0], flat[1][:, 0, 0]) if P == 1 else softmax_update(*flat)
    shape = (len(step.pull), H, m, P)
    return LabelUpdate(step.pull.reshape(shape), step.bend.reshape(*shape, P))


# ---------------------------------------------------------------- expected gains
def expected_loss_reduction(
    posterior: JointPosterior,
    candidates: Matrix,
    reference: Matrix,
    loss: Loss,
    weight: Vector | None = None,
) -> Vector:
    """Expected reduction of a loss over reference rows by the label of each candidate.

    Paper: none; expected error reduction (Roy & McCallum 2001), by one Laplace step.

    Args:
        posterior: before the answer.
        candidates: (m, d), rows that may be asked.
        reference: (r, d), rows that stand for the pool.
        loss: of each of these.
        weight: (r,), how much each counts; all alike, summing to one, if left out.
    """
    counts = np.full(len(reference), 1.0 / max(1, len(reference))) if weight is None else weight
    before = loss(LatentMoments.of(posterior, reference)) @ counts
    after = [
        sum(one.chance * (loss(one.latents) @ counts) for one in some)
        for some in one_step_posteriors(posterior, candidates, reference)
    ]
    return before - np.concatenate(after) if after else np.empty(0)


def expected_information_gain(
    posterior: JointPosterior, candidates: Matrix, reference: Matrix
) -> Vector:
    """Mutual information of each candidate's label with those of reference rows, in nats.

    Paper: none; summed over reference rows.
    """
    found = list[Vector]()
    for some in one_step_posteriors(posterior, candidates, reference):
        p = [one.latents.probability for one in some]
        average = sum(one.chance[:, None, None] * q for one, q in zip(some, p, strict=True))
        information = entr(average).sum(axis=(1, 2))
        for one, q in zip(some, p, strict=True):
            information = information - one.chance * entr(q).sum(axis=(1, 2))
        found.append(np.maximum(information, 0.0))
    return np.concatenate(found) if found else np.empty(0)
