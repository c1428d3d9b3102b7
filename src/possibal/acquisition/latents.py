"""Predictive moments of latents, and expected losses of the labels they predict.

    LatentMoments.of(posterior, X)        expected_brier(latents) -> (..., m)

What joint strategies read of reference rows, before an answer and after it.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import entr, ndtr, softmax

from possibal.acquisition.strategy import JointPosterior
from possibal.arrays import Array, Matrix, Places
from possibal.belief import ProbabilityBelief

_FLOOR = 1e-13
"""A variance below this share of the one before is rounding."""


@dataclass(frozen=True, eq=False)
class LatentMoments:
    """Latent means and variances of rows, with an axis of latents even where there is but one.

    Attributes:
        mean, variance: (H, ..., P), by setting, rows and latents. Under a softmax the variances are
            those of centred latents, P / (P - 1) times the diagonal of C Sigma C with
            C = I - 1 1'/P: what all classes of a row have in common moves no probability. Where the
            latents of a row are independent and vary alike, they are the variances themselves.
        credibility: (H,) or (H, m), of each setting, or of each after an answer about each row.
        has_variance: whether the variances tell what is not known; a model of probabilities alone
            does not say.

    Paper: none; of mu_t and Sigma_t of Props. 7 and 8.
    """

    mean: Array
    variance: Array
    credibility: Array
    has_variance: bool = True

    @classmethod
    def of(cls, posterior: JointPosterior, X: Matrix) -> "LatentMoments":
        """Those of rows under a posterior.

        Paper: Props. 7 and 8, mu_t and Sigma_t.
        """
        belief = posterior.at(X)
        if isinstance(belief, ProbabilityBelief):
            return cls(belief.mean, belief.variance, belief.credibility, has_variance=False)
        if belief.is_binary:
            return cls(belief.mean[..., None], belief.variance[..., None], belief.credibility)
        centred = np.maximum(_centred_variance(posterior.covariance(X)), _FLOOR * belief.variance)
        return cls(belief.mean, centred, belief.credibility)

    @functools.cached_property
    def probability(self) -> Array:
        """Of each label, averaged over latents and settings, (..., L).

        Paper: App. E.4; exact for a probit, and for a softmax by MacKay's scaling of means.
        """
        each = average_probabilities(self.mean, self.variance)
        weight = self.credibility / self.credibility.sum(axis=0)
        weight = weight.reshape(weight.shape + (1,) * (each.ndim - weight.ndim))
        return (weight * each).sum(axis=0)


def average_probabilities(mean: Array, variance: Array) -> Array:
    """The probability of each label, averaged over Gaussian latents, (..., L).

    Paper: App. E.4; exact for a probit, and for a softmax by MacKay's scaling of means.
    """
    if mean.shape[-1] == 1:
        p = ndtr(mean[..., 0] / np.sqrt(1.0 + variance[..., 0]))
        return np.stack([1.0 - p, p], axis=-1)
    return softmax(mean / np.sqrt(1.0 + (np.pi / 4.0) * variance), axis=-1)


def centred(blocks: Array) -> Array:
    """Covariances (..., P, P) of latents centred over classes with those of another row.

    Paper: none.
    """
    return blocks - blocks.mean(axis=-2, keepdims=True)


def _centred_variance(joint: Array) -> Array:
    """Variances of centred latents, scaled so that independent ones of equal variance keep it."""
    P = joint.shape[-1]
    line = joint.mean(axis=-1)
    own = np.einsum("...pp->...p", joint) - 2.0 * line + line.mean(axis=-1, keepdims=True)
    return own * (P / (P - 1.0))


Loss = Callable[[LatentMoments], Array]
"""Expected loss of a prediction by these moments, for each row."""


def expected_error(latents: LatentMoments) -> Array:
    """Expected 0-1 loss of the likeliest label, one minus its probability.

    Paper: App. E.4, Least Confidence.
    """
    return 1.0 - latents.probability.max(axis=-1)


def expected_brier(latents: LatentMoments) -> Array:
    """Expected Brier score of the probabilities, one minus the sum of their squares.

    Paper: none.
    """
    p = latents.probability
    return 1.0 - (p * p).sum(axis=-1)


def expected_entropy(latents: LatentMoments) -> Array:
    """Expected log loss of the probabilities, which is the entropy of the label.

    Paper: App. E.4, Entropy.
    """
    return entr(latents.probability).sum(axis=-1)


def squared_brier(latents: LatentMoments) -> Array:
    """The square of the expected Brier score: a loss by which the least certain rows count most.

    Paper: none.
    """
    return expected_brier(latents) ** 2


def rival_possibility(latents: LatentMoments) -> Array:
    """Possibility that a rival is likelier than the leading label, by variances of centred latents.

    For two labels this is :func:`possibal.acquisition.doubt`, 1 - N. For more it is not: Prop. 3
    takes the latents of a row to be independent, so that what all classes have in common, such as
    a level that the kernel adds to each, widens every gap between two of them. Here that part is
    left out of the variances first, as in :class:`LatentMoments`, so that mostly less is possible;
    the formula is that of Prop. 3. Credibilities may also differ from row to row. Of a model that
    does not say what it does not know, no rival is ruled out: it is one.

    Paper: none; the formulas of Props. 2 to 4 for other variances.
    """
    mean, variance, c = latents.mean, latents.variance, latents.credibility
    if not latents.has_variance:
        return np.ones(mean.shape[1:-1])
    c = c / c.max(axis=0)
    lead = c.argmax(axis=0)
    c = c.reshape(c.shape + (1,) * (mean.ndim - 1 - c.ndim))
    if mean.shape[-1] == 1:
        mu = mean[..., 0]
        side = np.sign(_under_leading(mu, lead))
        ahead = np.maximum(side * mu, 0.0)
        return (c * np.exp(-0.5 * ahead * ahead / variance[..., 0])).max(axis=0)
    label = _under_leading(mean, lead).argmax(axis=-1)[None, ..., None]
    label = np.broadcast_to(label, (*mean.shape[:-1], 1))
    ahead = np.maximum(np.take_along_axis(mean, label, axis=-1) - mean, 0.0)
    spread = np.take_along_axis(variance, label, axis=-1) + variance
    rival = c[..., None] * np.exp(-0.5 * ahead * ahead / spread)
    np.put_along_axis(rival, label, 0.0, axis=-1)
    return rival.max(axis=(0, -1))


def _under_leading(values: Array, lead: Places) -> Array:
    """Values under the most credible setting."""
    place = np.asarray(lead).reshape(
        (1, *np.shape(lead)) + (1,) * (values.ndim - 1 - np.ndim(lead))
    )
    return np.take_along_axis(values, place, axis=0)[0]
