"""One answer ahead: what would be believed of other rows once a row has its label.

    gain(posterior, candidates, reference, loss) -> (m,)

For every candidate and label, one step of Laplace's method (steps.py) moves the candidate's own
latent; the reference rows follow by their covariances with it, all in closed form and one matrix
product. The answer also tells the settings of the hyperparameters apart. What is gained is the loss
over the reference rows now, less that after the answer, averaged over the answers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import entr, ndtr, softmax

from possibal.acquisition.label_update import LabelUpdate, probit_update, softmax_update
from possibal.acquisition.strategy import JointPosterior
from possibal.arrays import Array, Matrix, Places, Vector

CHUNK = 400_000
"""Numbers that are held at once for each of a few arrays."""
_FLOOR = 1e-13
"""A variance below this share of the one before is rounding."""


@dataclass(frozen=True, eq=False)
class LatentMoments:
    """What is believed of rows, with an axis for the latents of each even where it has but one.

    Attributes:
        mean, variance: (H, ..., P), by setting, rows and latents. Variances under a softmax are
            those of latents that have nothing to do with each other and differ as much: what all
            classes of a row share makes no label more likely.
        credibility: (H,) or (H, m), of each setting, or of each after an answer about each row.
    """

    mean: Array
    variance: Array
    credibility: Array

    @classmethod
    def of(cls, source: JointPosterior, X: Matrix) -> "LatentMoments":
        """Those of rows."""
        belief = source.at(X)
        if belief.is_binary:
            return cls(belief.mean[..., None], belief.variance[..., None], belief.credibility)
        own = np.maximum(_own(source.covariance(X)), _FLOOR * belief.variance)
        return cls(belief.mean, own, belief.credibility)

    @property
    def probability(self) -> Array:
        """Of each label, averaged over latents and settings, (..., L).

        Paper: App. E.4; exact for a probit, and for a softmax by MacKay's scaling of means.
        """
        each = average_probabilities(self.mean, self.variance)
        weight = self.credibility / self.credibility.sum(axis=0)
        weight = weight.reshape(weight.shape + (1,) * (each.ndim - weight.ndim))
        return (weight * each).sum(axis=0)


def average_probabilities(mean: Array, variance: Array) -> Array:
    """The probability of each label, averaged over Gaussian latents, (..., L)."""
    if mean.shape[-1] == 1:
        p = ndtr(mean[..., 0] / np.sqrt(1.0 + variance[..., 0]))
        return np.stack([1.0 - p, p], axis=-1)
    return softmax(mean / np.sqrt(1.0 + (np.pi / 4.0) * variance), axis=-1)


def _apart(blocks: Array) -> Array:
    """Covariances (..., P, P) less what all latents of the first row share."""
    return blocks - blocks.mean(axis=-2, keepdims=True)


def _own(joint: Array) -> Array:
    """Variances, as if the latents of a row had nothing to do with each other."""
    apart, P = _apart(np.swapaxes(_apart(joint), -1, -2)), joint.shape[-1]
    return np.einsum("...pp->...p", apart) * (P / (P - 1.0))


Loss = Callable[[LatentMoments], Array]
"""How bad it is to know no more than this, for each row."""


def expected_error(latents: LatentMoments) -> Array:
    """The probability that the likeliest label is wrong: MOCU for the share of errors."""
    return 1.0 - latents.probability.max(axis=-1)


def expected_brier(latents: LatentMoments) -> Array:
    """Brier's expected score of the probabilities: BEMPS, CoreMSE."""
    p = latents.probability
    return 1.0 - (p * p).sum(axis=-1)


def expected_entropy(latents: LatentMoments) -> Array:
    """The entropy of the label: BEMPS, CoreLog."""
    return entr(latents.probability).sum(axis=-1)


def doubted(latents: LatentMoments) -> Array:
    """The possibility that a rival is likelier than the leading label, 1 - N.

    Paper: Props. 2 to 4, here for settings whose credibility each answer changes.
    """
    mean, variance, c = latents.mean, latents.variance, latents.credibility
    c = c / c.max(axis=0)
    lead = c.argmax(axis=0)
    c = c.reshape(c.shape + (1,) * (mean.ndim - 1 - c.ndim))
    if mean.shape[-1] == 1:
        mu = mean[..., 0]
        side = np.sign(_of_leading(mu, lead))
        ahead = np.maximum(side * mu, 0.0)
        return (c * np.exp(-0.5 * ahead * ahead / variance[..., 0])).max(axis=0)
    label = _of_leading(mean, lead).argmax(axis=-1)[None, ..., None]
    label = np.broadcast_to(label, (*mean.shape[:-1], 1))
    ahead = np.maximum(np.take_along_axis(mean, label, axis=-1) - mean, 0.0)
    spread = np.take_along_axis(variance, label, axis=-1) + variance
    rival = c[..., None] * np.exp(-0.5 * ahead * ahead / spread)
    np.put_along_axis(rival, label, 0.0, axis=-1)
    return rival.max(axis=(0, -1))


def _of_leading(values: Array, lead: Places) -> Array:
    """Values under the most credible setting."""
    place = np.asarray(lead).reshape(
        (1, *np.shape(lead)) + (1,) * (values.ndim - 1 - np.ndim(lead))
    )
    return np.take_along_axis(values, place, axis=0)[0]


# ---------------------------------------------------------------- after an answer
@dataclass(frozen=True, eq=False)
class OneStepPosterior:
    """What would be believed of reference rows after one answer about each candidate.

    Attributes:
        chance: (m,), how probable that answer is.
        latents: of the reference rows, (H, m, r, P).
    """

    chance: Vector
    latents: LatentMoments


def one_step_posteriors(
    source: JointPosterior, candidates: Matrix, reference: Matrix
) -> Iterator[list[OneStepPosterior]]:
    """What each answer would teach about reference rows, some candidates at a time.

    Paper: none; Props. 7 and 8 for one more label, from the mode of the others.
    """
    there, here = LatentMoments.of(source, reference), LatentMoments.of(source, candidates)
    H, m, P = here.mean.shape
    square = source.scale * source.scale
    joint = square * source.covariance(candidates)
    rows = max(1, CHUNK // max(1, H * len(reference) * max(P * P, 2)))
    for start in range(0, m, rows):
        part = slice(start, start + rows)
        some = LatentMoments(here.mean[:, part], here.variance[:, part], here.credibility)
        between = square * source.between(candidates[part], reference)
        step = _step(some.mean, joint[:, part])
        yield _each_answer(some, there, between, step, source.tempering)


def _each_answer(
    here: LatentMoments, there: LatentMoments, between: Array, step: LabelUpdate, trust: float
) -> list[OneStepPosterior]:
    """The same for each label of some candidates.

    Args:
        here: of the candidates, (H, m, P).
        there: of the reference rows, (H, r, P).
        between: (H, m, r, P, P), their covariances.
        step: what each label does to candidates, (L, H, m, ...).
        trust: the power with which an answer counts for a setting.
    """
    each, chance, found = (
        average_probabilities(here.mean, here.variance),
        here.probability,
        list[OneStepPosterior](),
    )
    apart = _apart(between) if between.shape[-1] > 1 else between
    for label in range(each.shape[2]):
        credibility = here.credibility[:, None] * each[:, :, label] ** trust
        credibility = credibility / credibility.max(axis=0)
        moved, fall = _followed(between, apart, step.pull[label], step.bend[label])
        before = there.variance[:, None]
        variance = np.maximum(before - fall, _FLOOR * before)
        after = LatentMoments(there.mean[:, None] + moved, variance, credibility)
        found.append(OneStepPosterior(chance[:, label], after))
    return found


def _followed(between: Array, apart: Array, pull: Array, bend: Array) -> tuple[Array, Array]:
    """By how much means of reference rows move and their variances fall, (H, m, r, P) each."""
    if between.shape[-1] == 1:
        shared = between[..., 0]
        return shared * pull[:, :, None], shared * shared * bend[:, :, None, :, 0]
    moved = np.einsum("hmrpq,hmq->hmrp", between, pull, optimize=True)
    told = np.einsum("hmrpq,hmqs->hmrps", apart, bend, optimize=True)
    P = between.shape[-1]
    return moved, (told * apart).sum(axis=-1) * (P / (P - 1.0))


def _step(mean: Array, joint: Array) -> LabelUpdate:
    """What each label does to the latents of candidates under every setting, (L, H, m, ...)."""
    H, m, P = mean.shape
    flat = mean.reshape(-1, P), joint.reshape(-1, P, P)
    step = probit_update(flat[0][:, 0], flat[1][:, 0, 0]) if P == 1 else softmax_update(*flat)
    shape = (len(step.pull), H, m, P)
    return LabelUpdate(step.pull.reshape(shape), step.bend.reshape(*shape, P))


# ---------------------------------------------------------------- gains
def expected_loss_reduction(
    source: JointPosterior,
    candidates: Matrix,
    reference: Matrix,
    loss: Loss,
    weight: Vector | None = None,
) -> Vector:
    """How much less is lost over reference rows once each candidate has its label.

    Paper: none; expected reduction of a loss, one answer ahead.

    Args:
        source: what is known.
        candidates: (m, d), rows that may be asked.
        reference: (r, d), rows that stand for the pool.
        loss: of each of these.
        weight: (r,), how much each counts; all alike, summing to one, if left out.
    """
    counts = np.full(len(reference), 1.0 / max(1, len(reference))) if weight is None else weight
    before = loss(LatentMoments.of(source, reference)) @ counts
    after = [
        sum(one.chance * (loss(one.latents) @ counts) for one in some)
        for some in one_step_posteriors(source, candidates, reference)
    ]
    return before - np.concatenate(after) if after else np.empty(0)


def expected_information_gain(
    source: JointPosterior, candidates: Matrix, reference: Matrix
) -> Vector:
    """What the label of each candidate tells about those of reference rows, in nats: EPIG.

    Paper: none; mutual information of two labels, summed over reference rows.
    """
    found = list[Vector]()
    for some in one_step_posteriors(source, candidates, reference):
        p = [one.latents.probability for one in some]
        average = sum(one.chance[:, None, None] * q for one, q in zip(some, p, strict=True))
        told = entr(average).sum(axis=(1, 2))
        for one, q in zip(some, p, strict=True):
            told = told - one.chance * entr(q).sum(axis=(1, 2))
        found.append(np.maximum(told, 0.0))
    return np.concatenate(found) if found else np.empty(0)
