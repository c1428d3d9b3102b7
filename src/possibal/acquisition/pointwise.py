"""Pointwise scores: the utility of a row by the moments of its own latents.

A score reads a :class:`~possibal.belief.Belief` and nothing else, so it serves any Gaussian
process. It is called with plain latent moments, with a Belief, or with anything that carries one:

    doubt(mean, variance)        # (m,) for two labels under a probit, (m, C) for a softmax
    doubt(belief)                # several hypotheses with their credibilities
    doubt(distribution)          # Gaussian, with a mean and a variance: of GPyTorch, BoTorch, ...
    doubt(view)                  # as a strategy, see registry.STRATEGIES

**A score is to be maximised**: the row with the largest is the one to ask. Where several
hypotheses are given, possibilistic scores take the largest credibility over them, and the
probabilistic baselines take the average, weighted by credibility. Entropies are in nats.
"""

import functools

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, ndtr, softmax, xlog1py

from possibal.acquisition import expectations, suprema
from possibal.acquisition.scoring import (
    Monotonicity,
    Score,
    by_variance,
    of_one_latent,
    one_per_latent,
    one_per_pair,
    score,
)
from possibal.arrays import Array, Mask, Matrix, Vector, per_row, positive
from possibal.belief import Belief, HasBelief
from possibal.distributions import HasMoments

# ---------------------------------------------------------------- the paper's scores


def _doubt_monotonicity(_hypotheses: int, latents: int) -> Monotonicity:
    """A rival becomes more possible as variances grow, or as the only latent nears zero."""
    return Monotonicity.BY_BOTH if latents == 1 else Monotonicity.BY_VARIANCE


@score(size=one_per_latent, monotonicity=_doubt_monotonicity)
def doubt(belief: Belief) -> Vector:
    """Asks where the leading label may yet be wrong: the possibility 1 - N of a likelier rival.

    Paper: Props. 2-4, 1 - N_bin = N(0; mu, sigma2) and 1 - N_multi = max over rivals l of
    N(mu_l; mu_l*, sigma2_l* + sigma2_l). Computed directly: 1 - N would tie all confident rows.
    Latents that are known leave no doubt, unless they tie; one that is unknown leaves all, 1.
    """
    return np.exp(_log_doubt(belief))


@score(size=one_per_latent)
def necessity(belief: Belief) -> Vector:
    """Necessity that the leading label is truly the likeliest: 1 means no rival is credible.

    Paper: Props. 2 and 3, N_bin and N_multi. To be *minimised* when asking; see :func:`doubt`.
    """
    return 0.0 - np.expm1(_log_doubt(belief))


def _uncertainty_monotonicity(_hypotheses: int, latents: int) -> Monotonicity:
    """A supremum grows with its possibility function, and that with the variance."""
    return Monotonicity.BY_LABELS if latents == 1 else Monotonicity.BY_VARIANCE


@score(size=one_per_pair, monotonicity=_uncertainty_monotonicity)
def uncertainty(belief: Belief) -> Vector:
    """Asks where labels are together most credible beyond one: the epistemic uncertainty U.

    Paper: Sec. 4.2, U^L_bin and U^L_multi = sum over labels of sup p(l; theta) N(theta) - 1.
    Over several hypotheses, the credibility of a label is the largest. Known latents leave 0, and
    unknown ones C - 1.
    """
    if belief.is_binary and len(belief.mean) == 1 and not belief.is_limit:
        rival, leader = suprema.probit_excess(belief.mean[0], belief.variance[0])
        return np.minimum(rival + leader, 1.0)
    gain, lead = _excess(belief), belief.leading
    if len(gain) > 1:
        # What exceeds the leading hypothesis' own probabilities, which sum to one. A probability
        # close to one is compared by what it lacks.
        p, c = _probability_at_mode(belief), belief.credibility.reshape(-1, 1, 1)
        q = expectations.all_others(p)
        beyond = c * (p + gain) - p[lead]
        lacking = (c - 1.0) + (q[lead] - c * q) + c * gain
        beyond = np.where(p[lead] > 0.5, lacking, beyond)  # noqa: PLR2004 - one half
        beyond[lead] = gain[lead]
        gain = beyond.max(axis=0, keepdims=True)
    most = gain.shape[2] - 1.0
    found = np.minimum(gain[0].sum(axis=1), most)
    if belief.is_limit:
        unknown = np.isinf(belief.variance[belief.credibility == 1.0])
        unknown = unknown if belief.is_binary else unknown.all(axis=2)
        found = np.where(unknown.any(axis=0), most, found)
    return found


def _log_doubt(belief: Belief) -> Vector:
    """Logarithm of the possibility that a rival is at least as likely as the leading label."""
    mu, sigma2, log_c = belief.mean, belief.variance, np.log(belief.credibility)
    if belief.is_binary:
        lead = np.sign(mu[belief.leading]) * mu / np.sqrt(sigma2)
        return (log_c[:, None] - 0.5 * _ahead(lead, belief) ** 2).max(axis=0)
    label = mu[belief.leading].argmax(axis=1)[None, :, None]
    half, quarter = 0.5 * mu, 0.25 * sigma2  # scaled alike, so that no sum overflows
    lead = np.take_along_axis(half, label, axis=2) - half
    lead /= np.sqrt(np.take_along_axis(quarter, label, axis=2) + quarter)
    log_rival = log_c[:, None, None] - 0.5 * _ahead(lead, belief) ** 2
    np.put_along_axis(log_rival, label, -np.inf, axis=2)
    return log_rival.max(axis=(0, 2))


def _ahead(lead: Array, belief: Belief) -> Array:
    """Leads in standard deviations, zero where there is none; known latents that tie have none."""
    if belief.is_limit:
        lead = np.where(np.isnan(lead), 0.0, lead)
    return np.maximum(lead, 0.0)


def _excess(belief: Belief) -> Array:
    """By how much the credibility of each label exceeds its probability at the mode, (H, m, C)."""
    if not belief.is_limit:
        return _finite_excess(belief.mean, belief.variance, is_binary=belief.is_binary)
    known = belief.variance == 0
    known = known[..., None] if belief.is_binary else known.all(axis=2, keepdims=True)
    sigma2 = np.where(belief.variance == 0, np.finfo(float).tiny, belief.variance)
    return np.where(known, 0.0, _finite_excess(belief.mean, sigma2, is_binary=belief.is_binary))


def _finite_excess(mu: Array, sigma2: Array, *, is_binary: bool) -> Array:
    """The same for variances above zero."""
    if is_binary:
        rival, leader = (
            e.reshape(mu.shape) for e in suprema.probit_excess(mu.ravel(), sigma2.ravel())
        )
        ahead = mu > 0
        return np.stack([np.where(ahead, rival, leader), np.where(ahead, leader, rival)], axis=-1)
    flat = (-1, mu.shape[2])
    return suprema.softmax_excess(mu.reshape(flat), sigma2.reshape(flat)).reshape(mu.shape)


def _probability_at_mode(belief: Belief) -> Array:
    """The most credible probability of each label, (H, m, C)."""
    if belief.is_binary:
        return np.stack([ndtr(-belief.mean), ndtr(belief.mean)], axis=-1)
    return softmax(belief.mean, axis=2)


# ---------------------------------------------------------------- baselines


@score(size=one_per_latent)
def bald(belief: Belief) -> Vector:
    """Asks where label and latent share most information (BALD).

    Bayesian active learning by disagreement (Houlsby et al. 2011). The information about the
    hypothesis is included: it is the divergence of each one's probabilities from their average.
    A label tells nothing about known latents, and log C nats about C unknown ones.

    Paper: App. E.4, BALD.
    """
    weight = belief.weight
    if belief.is_binary:
        mu, sigma2 = belief.mean, belief.variance
        if belief.is_limit:
            sigma2 = np.minimum(sigma2, np.finfo(float).max)
        z = mu / np.sqrt(1.0 + sigma2)
        p = np.stack([ndtr(-z), ndtr(z)], axis=-1)
        inner = expectations.probit_information(mu.ravel(), sigma2.ravel()).reshape(mu.shape)
    else:
        p, inner = _softmax_information(belief)
    return np.maximum(weight @ (inner + _divergence(p, np.tensordot(weight, p, axes=1))), 0.0)


def _divergence(p: Array, average: Matrix) -> Array:
    """Kullback-Leibler divergence of each hypothesis' probabilities from their average, (H, m).

    Each label adds average * ((1 + r) log(1 + r) - r) with r = p / average - 1, which is never
    negative; where p is close to one, r is had from what it lacks.
    """
    lacking = expectations.all_others(average) - expectations.all_others(p)
    change = np.where(p > 0.5, lacking, p - average)  # noqa: PLR2004 - one half
    r = change / np.maximum(average, np.finfo(float).tiny)
    return (average * np.maximum(xlog1py(1.0 + r, r) - r, 0.0)).sum(axis=2)


@score(size=one_per_latent)
def bald_houlsby(belief: Belief) -> Vector:
    """Asks where BALD is largest, by the closed approximation of Houlsby et al. (two labels).

    The entropy of Phi(theta) is replaced by log 2 exp(-theta^2 / (pi log 2)), as in Houlsby et al.
    (2011). The error is up to 0.002 nats, and small values vanish.

    Paper: App. E.4, BALD.
    """
    _refuse_softmax(belief, "bald_houlsby", "Use bald.")
    mu, scale = belief.mean, belief.variance + 0.5 * np.pi * np.log(2.0)
    noise = (
        np.log(2.0) * np.sqrt(0.5 * np.pi * np.log(2.0) / scale) * np.exp(-0.5 * mu * mu / scale)
    )
    return np.maximum(_binary_entropy(_rarer_label(belief)) - belief.weight @ noise, 0.0)


@score(size=one_per_latent, monotonicity=of_one_latent, of_probabilities=True)
def entropy(belief: Belief) -> Vector:
    """Asks where the predicted label is most random (entropy).

    Shannon entropy of the predictive probabilities (Settles 2009, Sec. 3.1).

    Paper: App. E.4, Entropy of the predicted labels.
    """
    if belief.is_binary:
        return _binary_entropy(_rarer_label(belief))
    average = expectations.label_entropy(_average_probability(belief))
    return np.minimum(average, np.log(belief.labels))


@score(size=one_per_latent, monotonicity=of_one_latent, of_probabilities=True)
def margin(belief: Belief) -> Vector:
    """Asks where the two leading labels are closest: one minus the gap between them.

    Margin sampling (Scheffer, Decomain & Wrobel 2001).

    Paper: App. E.4, Margin, turned round so that the largest is asked.
    """
    if belief.is_binary:
        return 2.0 * _rarer_label(belief)
    p = _average_probability(belief)
    second = np.partition(p, -2, axis=1)[:, -2]
    return np.minimum(expectations.all_others(p).min(axis=1) + second, 1.0)


@score(size=one_per_latent, monotonicity=of_one_latent, of_probabilities=True)
def least_confidence(belief: Belief) -> Vector:
    """Asks where the leading label is least probable (least confidence).

    Uncertainty sampling (Lewis & Gale 1994).

    Paper: App. E.4, Least Confidence, 1 - max p; "Standard" for two labels.
    """
    if belief.is_binary:
        return _rarer_label(belief)
    return expectations.all_others(_average_probability(belief)).min(axis=1)


@score(size=one_per_latent, monotonicity=by_variance)
def latent_entropy(belief: Belief) -> Vector:
    """Asks where the latent varies most, whatever it means for the label (maximum entropy).

    Paper: App. E.4, Maximum Entropy of the Latent Distribution. Several hypotheses make a
    mixture; its entropy is bounded by that of the Gaussian with the same variance, used here.
    It is infinite where a latent is unknown, and minus infinity where one is known, even if
    another is unknown: no volume is left.
    """
    if belief.is_limit:
        return _limit_entropy(belief.credible())
    weight = belief.weight.reshape(-1, *(1,) * (belief.mean.ndim - 1))
    centre = (weight * belief.mean).sum(axis=0)
    spread = (weight * (belief.variance + (belief.mean - centre) ** 2)).sum(axis=0)
    entropies = 0.5 * np.log(np.minimum(spread, np.finfo(float).max)) + 0.5 * np.log(
        2 * np.pi * np.e
    )
    return entropies if belief.is_binary else entropies.sum(axis=1)


def _limit_entropy(belief: Belief) -> Vector:
    """Entropy of latents some of which are known or unknown."""
    weight = belief.weight.reshape(-1, *(1,) * (belief.mean.ndim - 1))
    centre = (weight * belief.mean).sum(axis=0)
    spread = (weight * (belief.variance + (belief.mean - centre) ** 2)).sum(axis=0)
    spread = spread[:, None] if belief.is_binary else spread
    entropies = (0.5 * np.log(2 * np.pi * np.e * spread)).sum(axis=1)
    return np.where((spread == 0).any(axis=1), -np.inf, entropies)


def _rarer_label(belief: Belief) -> Vector:
    """Average probability of the less probable of two labels, exact however small.

    It is averaged on the side that the leading hypothesis finds rarer; where the average
    disagrees, the other side is at least 1/(2 H), so that subtracting from one costs nothing.
    """
    z = belief.mean / np.sqrt(1.0 + belief.variance)
    against = belief.weight @ ndtr(-np.copysign(1.0, z[belief.leading]) * z)
    return np.minimum(against, 1.0 - against)


def _binary_entropy(q: Vector) -> Vector:
    """Entropy of two labels, from the probability of the rarer one."""
    return entr(q) - (1.0 - q) * np.log1p(-q)


def _average_probability(belief: Belief) -> Matrix:
    """Probabilities averaged over the latents and the hypotheses, (m, C)."""
    flat = (-1, belief.labels)
    p = expectations.softmax_probabilities(
        belief.mean.reshape(flat), belief.variance.reshape(flat)
    ).reshape(belief.mean.shape)
    return np.tensordot(belief.weight, p, axes=1)


def _softmax_information(belief: Belief) -> tuple[Array, Array]:
    """Average probabilities (H, m, C) and the information about the latent (H, m)."""
    flat = (-1, belief.labels)
    found = expectations.softmax_averages(belief.mean.reshape(flat), belief.variance.reshape(flat))
    shape = belief.mean.shape
    return found.probability.reshape(shape), found.information.reshape(shape[:2])


# ---------------------------------------------------------------- a sought class


@functools.cache
def class_chance(place: int) -> Score:
    """The score by which rows of one class are found first.

    Args:
        place: of the class among the labels.
    """

    @score(size=one_per_latent, of_probabilities=True)
    def chance(belief: Belief) -> Vector:
        """Asks where a class is likeliest, by the most credible probability: relevance feedback.

        Continuous active learning (Cormack & Grossman 2014).
        """
        return np.tensordot(belief.weight, _probability_at_mode(belief)[..., place], axes=1)

    return chance


# ---------------------------------------------------------------- regression


@score(size=one_per_latent)
def uncertainty_parameter(belief: Belief) -> Vector:
    """Asks where the latent itself is least known: the volume U of its possibility function.

    Paper: Sec. 4.1, U^Theta = integral of N(theta; mu, sigma2) = sqrt(2 pi sigma2). A known
    latent has 0, and an unknown one infinity.
    """
    _refuse_softmax(belief, "uncertainty_parameter", "Use uncertainty.")
    if belief.is_limit:
        return _limit_volume(belief.credible())
    return suprema.envelope_volume(belief.mean, belief.variance, belief.credibility)


def uncertainty_outcome(
    mean: ArrayLike | Belief | HasBelief | HasMoments,
    variance: ArrayLike | None = None,
    *,
    noise_variance: ArrayLike,
) -> Vector:
    """Asks where the next measurement is least foreseeable for want of knowledge, not noise.

    Paper: Sec. 4.1, U^Y for y ~ N(theta, noise): sqrt(1 + sigma2 / noise) - 1. A known latent has
    0, and an unknown one infinity.
    """
    belief = Belief.of(mean, variance)
    _refuse_softmax(belief, "uncertainty_outcome", "Use uncertainty.")
    noise = _noise(belief, noise_variance)
    if belief.is_limit:
        belief, unknown = _without_unknown(belief)
        finite = uncertainty_outcome(belief, noise_variance=noise)
        return np.where(unknown, np.inf, finite)
    with np.errstate(all="ignore"):
        ratio = np.log(belief.variance[belief.leading]) - np.log(noise)
        leading = np.minimum(np.expm1(0.5 * np.logaddexp(0.0, ratio)), np.finfo(float).max)
        if len(belief.credibility) == 1:
            return leading
        volume = suprema.envelope_volume(belief.mean, belief.variance + noise, belief.credibility)
        return np.maximum(volume / np.sqrt(2.0 * np.pi * noise) - 1.0, leading)


def predictive_variance(
    mean: ArrayLike | Belief | HasBelief | HasMoments,
    variance: ArrayLike | None = None,
    *,
    noise_variance: ArrayLike,
) -> Vector:
    """Asks where the next measurement varies most, whether for noise or want of knowledge.

    Paper: none; the usual baseline of regression, the variance of y under the average belief. It
    is infinite where the latent is unknown.
    """
    belief = Belief.of(mean, variance)
    _refuse_softmax(belief, "predictive_variance", "Use entropy.")
    noise = _noise(belief, noise_variance)
    if belief.is_limit:
        belief, unknown = _without_unknown(belief)
        return np.where(unknown, np.inf, predictive_variance(belief, noise_variance=noise))
    centre = belief.weight @ belief.mean
    with np.errstate(all="ignore"):
        spread = belief.weight @ (belief.variance + (belief.mean - centre) ** 2) + noise
    return np.minimum(spread, np.finfo(float).max)


def _limit_volume(belief: Belief) -> Vector:
    """Volume of possibility functions some of which are those of points, or nowhere below one."""
    volume = np.where(np.isinf(belief.variance).any(axis=0), np.inf, 0.0)
    for row in np.flatnonzero((volume == 0) & (belief.variance > 0).any(axis=0)):
        wide = belief.variance[:, row] > 0  # the others are points, without volume
        some = belief.mean[wide, row, None], belief.variance[wide, row, None]
        volume[row] = suprema.envelope_volume(*some, belief.credibility[wide])[0]
    return volume


def _without_unknown(belief: Belief) -> tuple[Belief, Mask]:
    """A belief with any finite variances for infinite ones, and the rows that have such."""
    belief = belief.credible()
    infinite = np.isinf(belief.variance)
    finite = np.where(infinite, 1.0, belief.variance)
    return Belief.trusted(belief.mean, finite, belief.credibility), np.asarray(infinite.any(axis=0))


def _noise(belief: Belief, noise_variance: ArrayLike) -> Vector:
    noise = positive(noise_variance, "noise_variance", "Without noise, use uncertainty_parameter.")
    return per_row(noise, "noise_variance", len(belief))


def _refuse_softmax(belief: Belief, name: str, cure: str) -> None:
    if not belief.is_binary:
        raise ValueError(
            f"mean must have shape (m,) for {name}; got {belief.labels} columns. {cure}"
        )
