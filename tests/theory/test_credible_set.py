import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from scipy.stats import norm
from support.reference_possibility import share

from possibal.theory.credible_set import (
    checked_level,
    outcome_half_width,
    softmax_range,
    squared_radius,
)
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.interval import Interval


def ranges(mean, variance, radius2):
    """The range of every label of one row."""
    C = len(mean)
    each = np.tile(mean, (C, 1)), np.tile(variance, (C, 1))
    return softmax_range(*each, radius2, np.arange(C))


def slow_extreme(mean, variance, radius2, label, sign):
    """The extreme probability of a label on the ellipsoid, by climbs from many directions."""
    rng = np.random.default_rng(0)
    reach = np.sqrt(radius2 * variance)

    def log_odds(direction):
        theta = mean + reach * direction / np.linalg.norm(direction)
        return sign * (logsumexp(np.delete(theta, label)) - theta[label])

    starts = rng.normal(size=(12, len(mean)))
    best = min(minimize(log_odds, start, method="BFGS").fun for start in starts)
    return np.exp(-np.logaddexp(0.0, sign * best))


@pytest.mark.parametrize("seed", range(25))
def test_the_range_of_a_softmax_agrees_with_climbs_from_many_directions(seed):
    rng = np.random.default_rng(seed)
    C = int(rng.integers(2, 6))
    mean, variance = 3 * rng.normal(size=C), np.exp(1.5 * rng.normal(size=C))
    radius2 = float(rng.choice([0.1, 1.4, 6.0, 14.0]))
    low, high = ranges(mean, variance, radius2)
    for label in range(C):
        assert low[label] == pytest.approx(slow_extreme(mean, variance, radius2, label, -1))
        assert high[label] == pytest.approx(slow_extreme(mean, variance, radius2, label, 1))


@share(0.5)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 7]), st.floats(0.0, 30.0))
def test_no_point_of_the_ellipsoid_leaves_the_range(seed, C, radius2):
    rng = np.random.default_rng(seed)
    mean, variance = 4 * rng.normal(size=C), 10 ** rng.uniform(-3, 3, size=C)
    low, high = ranges(mean, variance, radius2)
    z = rng.normal(size=(200, C))
    z *= np.sqrt(radius2) * rng.random((200, 1)) ** 0.3 / np.linalg.norm(z, axis=1, keepdims=True)
    p = softmax(mean + np.sqrt(variance) * z, axis=1)
    assert (p >= low * (1 - 1e-9) - 1e-300).all()
    assert (p <= high * (1 + 1e-9)).all()


@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(0.01, 100), st.floats(0.01, 100))
def test_two_labels_depend_on_the_difference_of_their_latents(a, b, s, t):
    low, high = ranges(np.array([a, b]), np.array([s, t]), 6.0)
    half = np.sqrt(6.0 * (s + t))
    ends = 1 / (1 + np.exp(-(a - b) + np.array([half, -half])))
    np.testing.assert_allclose([low[0], high[0]], ends, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose([low[1], high[1]], 1 - ends[::-1], rtol=1e-6, atol=1e-15)


def test_an_ellipsoid_of_no_size_is_its_centre():
    mean = np.array([1.0, 0.0, -2.0])
    low, high = ranges(mean, np.ones(3), 0.0)
    np.testing.assert_allclose(low, softmax(mean))
    np.testing.assert_allclose(high, softmax(mean))


def test_rows_are_worked_through_in_chunks():
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(size=(30_000, 3)), np.ones((30_000, 3))
    label = rng.integers(0, 3, 30_000)
    low, high = softmax_range(mean, variance, 2.0, label)
    for row in (0, 22_221, 22_222, 29_999):
        one = softmax_range(mean[[row]], variance[[row]], 2.0, label[[row]])
        np.testing.assert_allclose([low[row], high[row]], np.ravel(one), rtol=1e-12)


@given(st.floats(-3, 3), st.floats(0.1, 10), st.floats(0.05, 0.99))
def test_the_necessity_of_a_credible_set_is_its_level(mean, variance, level):
    half = float(np.sqrt(squared_radius(level, np.ones(1))[0] * variance))
    f = GaussianPossibility(mean, variance)
    assert f.necessity(Interval(mean - half, mean + half)) == pytest.approx(level)


def test_what_is_hardly_credible_has_no_credible_set():
    radius2 = squared_radius(0.9, np.array([1.0, 0.5, 0.05, 0.0]))
    assert (radius2 >= 0).tolist() == [True, True, False, False]


@pytest.mark.parametrize("level", [0, 1, -0.1, 2.0, "half", True, None])
def test_a_level_lies_between_zero_and_one(level):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        checked_level(level)


@share(0.5)
@given(st.floats(0.001, 100), st.floats(0.01, 10), st.floats(1e-6, 0.95))
def test_an_outcome_leaves_its_interval_as_credibly_as_is_asked(latent, noise, tail):
    half = float(outcome_half_width(np.array(latent), np.array(noise), np.array(tail)))
    z = np.linspace(0, np.sqrt(-2 * np.log(tail)), 20_001)
    outside = norm.sf((half - latent * z) / noise) + norm.cdf((-half - latent * z) / noise)
    assert (np.exp(-0.5 * z * z) * outside).max() == pytest.approx(tail, rel=2e-3)


def test_an_interval_of_outcomes_has_both_limits():
    known = float(outcome_half_width(np.array(1e-9), np.array(2.0), np.array(0.05)))
    assert known == pytest.approx(2.0 * norm.ppf(0.975))
    exact = float(outcome_half_width(np.array(3.0), np.array(1e-6), np.array(0.05)))
    assert exact == pytest.approx(3.0 * np.sqrt(-2 * np.log(0.05)), rel=1e-5)
