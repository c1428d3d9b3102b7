"""Losses are those of the scores for the same moments; variances leave out what classes share."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from possibal import PossibilisticGPClassifier, acquisition
from possibal.acquisition.latents import (
    LatentMoments,
    expected_brier,
    expected_entropy,
    expected_error,
    rival_possibility,
    squared_brier,
)
from possibal.belief import Belief


def rows(m, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 2))


def posterior(labels):
    X = rows(12)
    y = np.digitize(X[:, 0], [-0.4, 0.4] if labels > 2 else [0.0])
    return PossibilisticGPClassifier().fit(X, y).posterior_


class Softmax:
    """Three classes under one hypothesis, with covariances between the latents of a row."""

    def __init__(self, mean, covariance):
        self.mean, self.joint = np.asarray(mean, dtype=float), np.asarray(covariance, dtype=float)

    def at(self, X):
        variance = np.broadcast_to(np.diagonal(self.joint), (len(X), 3))
        return Belief.of(np.broadcast_to(self.mean, (len(X), 3)), variance)

    def covariance(self, X):
        return np.broadcast_to(self.joint, (1, len(X), 3, 3))


# ---------------------------------------------------------------- losses
@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
def test_losses_of_a_belief_are_those_of_the_scores(seed, hypotheses, latents):
    rng = np.random.default_rng(seed)
    shape = (hypotheses, 9) if latents == 1 else (hypotheses, 9, latents)
    credibility = rng.random(hypotheses)
    credibility[rng.integers(hypotheses)] = 1.0
    mean = 3 * rng.normal(size=shape)
    belief = Belief(mean, 10 ** rng.uniform(-2, 2, shape), credibility)
    more = (..., None) if latents == 1 else ...
    found = LatentMoments(belief.mean[more], belief.variance[more], belief.credibility)
    np.testing.assert_allclose(
        rival_possibility(found), acquisition.doubt(belief), rtol=1e-9, atol=1e-300
    )
    if latents == 1:
        np.testing.assert_allclose(
            expected_error(found), acquisition.least_confidence(belief), atol=1e-12
        )
        np.testing.assert_allclose(expected_entropy(found), acquisition.entropy(belief), atol=1e-9)
    p = found.probability
    np.testing.assert_allclose(p.sum(axis=-1), 1.0)
    np.testing.assert_allclose(expected_brier(found), 1 - (p**2).sum(axis=-1))


def test_the_squared_brier_score_is_its_square():
    latents = LatentMoments.of(posterior(3), rows(8, 1))
    np.testing.assert_array_equal(squared_brier(latents), expected_brier(latents) ** 2)


# ---------------------------------------------------------------- the possibility of a rival
def test_for_two_classes_the_possibility_of_a_rival_is_doubt():
    known, X = posterior(2), rows(60, 1)
    found = rival_possibility(LatentMoments.of(known, X))
    np.testing.assert_allclose(found, acquisition.doubt(known.at(X)), rtol=1e-12)


def test_for_three_classes_it_is_another_number_than_doubt():
    known, X = posterior(3), rows(60, 1)
    found, doubt = rival_possibility(LatentMoments.of(known, X)), acquisition.doubt(known.at(X))
    assert np.abs(found - doubt).max() > 0.1
    assert found.mean() < doubt.mean()


def test_for_classes_that_are_independent_and_vary_alike_it_is_doubt():
    known, X = Softmax([1.0, 0.2, -0.5], 2.0 * np.eye(3)), rows(1)
    found = rival_possibility(LatentMoments.of(known, X))
    np.testing.assert_allclose(found, acquisition.doubt(known.at(X)), rtol=1e-12)


def test_what_all_classes_share_counts_for_doubt_but_makes_no_rival_more_possible():
    apart, X = Softmax([1.0, 0.2, -0.5], 2.0 * np.eye(3)), rows(1)
    shared = Softmax([1.0, 0.2, -0.5], 2.0 * np.eye(3) + 5.0)
    assert acquisition.doubt(shared.at(X)) > acquisition.doubt(apart.at(X)) + 0.05
    np.testing.assert_allclose(
        rival_possibility(LatentMoments.of(shared, X)),
        rival_possibility(LatentMoments.of(apart, X)),
        rtol=1e-12,
    )
