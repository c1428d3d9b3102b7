"""Values in a table are never below the U they stand for, and not far above."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from possibal import Belief, acquisition
from possibal.pool.uncertainty_table import DEVIATIONS, FARTHEST, MEANS, UncertaintyTable

LARGEST = [0.3, 1.4142135623730951, 40.0]
each_largest = pytest.mark.parametrize("largest", LARGEST)


def over(largest, mean, deviation, *, off=0.0, credibility=(1.0,), true=None):  # noqa: PLR0913 - a test's own
    """By how much bounds exceed U, for means that are said to be off."""
    mean, deviation = np.atleast_2d(mean), np.atleast_2d(deviation)
    belief = Belief(mean if true is None else true, deviation**2, np.array(credibility))
    error = np.broadcast_to(off, mean.shape)
    bound = UncertaintyTable.of(largest).bound(mean, error, belief.variance, belief.credibility)
    return bound - acquisition.uncertainty(belief)


@each_largest
@settings(max_examples=50)
@given(data=st.data())
def test_a_bound_is_nowhere_below_uncertainty(largest, data):
    rows = st.tuples(st.floats(-2.0 * FARTHEST, 2.0 * FARTHEST), st.floats(1e-3, 1.0))
    mean, deviation = largest * np.array(data.draw(st.lists(rows, min_size=1, max_size=20))).T
    assert over(largest, mean, deviation).min() >= 0.0


@each_largest
@settings(max_examples=50)
@given(seed=st.integers(0, 10_000), hypotheses=st.integers(1, 5), log_off=st.floats(-9, 1))
def test_a_bound_holds_for_several_hypotheses_and_means_that_are_off(
    largest, seed, hypotheses, log_off
):
    rng = np.random.default_rng(seed)
    mean = largest * rng.uniform(-4.0, 4.0, (hypotheses, 60))
    deviation = largest * rng.uniform(1e-3, 1.0, mean.shape)
    credibility = rng.uniform(0.0, 1.0, hypotheses) ** 3
    credibility[rng.integers(hypotheses)] = 1.0
    off = largest * 10**log_off * rng.random(mean.shape)
    true = mean + off * rng.uniform(-1.0, 1.0, mean.shape)
    assert over(largest, mean, deviation, off=off, credibility=credibility, true=true).min() >= 0.0


@each_largest
def test_a_bound_holds_at_corners_edges_and_beside_them(largest):
    means = np.arange(0, MEANS + 3, 7) * (2.0 * FARTHEST * largest / MEANS) - FARTHEST * largest
    deviations = np.append(np.arange(1, DEVIATIONS, 17), DEVIATIONS) * (largest / DEVIATIONS)
    mean, deviation = (one.ravel() for one in np.meshgrid(means, deviations))
    for off in (1.0 - 1e-15, 1.0, 1.0 + 1e-15):
        assert over(largest, off * mean, np.minimum(deviation, largest)).min() >= 0.0
        assert over(largest, -mean, np.minimum(off * deviation, largest)).min() >= 0.0


@each_largest
def test_a_bound_holds_beyond_the_farthest_mean(largest):
    mean = largest * np.array([FARTHEST, FARTHEST + 1e-9, 10.0, 1e6, -1e6, 1e150])
    assert over(largest, mean, np.full(6, largest)).min() >= 0.0


def test_a_bound_is_close_enough_to_be_of_use():
    largest = 1.4
    means, deviations = np.linspace(0.0, 1.5, 61), np.linspace(0.5, 1.0, 47)
    mean, deviation = (largest * one.ravel() for one in np.meshgrid(means, deviations))
    beyond = over(largest, mean, deviation)
    assert beyond.max() < 0.02
    assert np.median(beyond) < 0.01


def test_an_error_of_the_mean_counts_for_both_labels():
    sure, unsure = (over(2.0, [1.0], [0.5], off=off) for off in (0.0, 0.5))
    assert unsure[0] > sure[0] + 0.1


def test_a_table_is_made_once():
    first = UncertaintyTable.of(1.25)
    assert UncertaintyTable.of(1.25) is first
    assert UncertaintyTable.of(1.5) is not first
