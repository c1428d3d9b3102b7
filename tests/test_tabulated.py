"""Values in a table are never below the score they stand for, and not far above."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from possibal import Belief, acquisition
from possibal.tabulated import DEVIATIONS, FARTHEST, MEANS, Table

SCORES = {name: getattr(acquisition, name) for name in ("uncertainty", "doubt", "entropy")}
LARGEST = [0.3, 1.4142135623730951, 40.0]

each_score = pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
each_largest = pytest.mark.parametrize("largest", LARGEST)


def exceeds(score, largest, mean, deviation):
    """By which share bounds exceed what rows are worth, where that is not next to nothing."""
    belief = Belief.of(mean, np.square(deviation))
    bound, worth = Table.of(score, largest).bound(belief), score(belief)
    return np.where(worth > 1e-37, bound / np.maximum(worth, 1e-37) - 1.0, 0.0)


@each_score
@each_largest
@settings(max_examples=50)
@given(data=st.data())
def test_a_bound_is_nowhere_below_the_score(score, largest, data):
    share = st.floats(1e-3, 1.0)
    rows = st.tuples(st.floats(-2.0 * FARTHEST, 2.0 * FARTHEST), share)
    mean, deviation = largest * np.array(data.draw(st.lists(rows, min_size=1, max_size=20))).T
    assert exceeds(score, largest, mean, deviation).min() >= 0.0


@each_score
@each_largest
def test_a_bound_holds_at_corners_edges_and_beside_them(score, largest):
    means = np.arange(0, MEANS + 3, 7) * (FARTHEST * largest / MEANS)
    deviations = np.append(np.arange(1, DEVIATIONS, 17), DEVIATIONS) * (largest / DEVIATIONS)
    mean, deviation = (one.ravel() for one in np.meshgrid(means, deviations))
    for off in (1.0 - 1e-15, 1.0, 1.0 + 1e-15):
        assert exceeds(score, largest, off * mean, np.minimum(deviation, largest)).min() >= 0.0
        assert exceeds(score, largest, -mean, np.minimum(off * deviation, largest)).min() >= 0.0


@each_score
@each_largest
def test_a_bound_holds_beyond_the_farthest_mean(score, largest):
    mean = largest * np.array([FARTHEST, FARTHEST + 1e-9, 10.0, 1e6, -1e6, 1e150])
    assert exceeds(score, largest, mean, np.full(6, largest)).min() >= 0.0


@each_score
def test_a_bound_is_close_enough_to_be_of_use(score):
    largest = 1.4
    means, deviations = np.linspace(0.0, 1.5, 61), np.linspace(0.5, 1.0, 47)
    mean, deviation = (largest * one.ravel() for one in np.meshgrid(means, deviations))
    over = exceeds(score, largest, mean, deviation)
    assert over.max() < 0.15
    assert np.median(over) < 0.04


@pytest.mark.parametrize("mean", [16.0, 30.0, 80.0])
def test_a_bound_is_not_below_a_score_too_small_for_single_precision(mean):
    belief = Belief.of([mean], [4.0])
    bound = Table.of(acquisition.uncertainty, 40.0).bound(belief)
    assert bound[0] >= acquisition.uncertainty(belief)[0] > 0.0


def test_a_table_is_made_once():
    first = Table.of(acquisition.doubt, 1.25)
    assert Table.of(acquisition.doubt, 1.25) is first
    assert Table.of(acquisition.doubt, 1.5) is not first
    assert Table.of(acquisition.entropy, 1.25) is not first


def test_the_belief_is_not_changed():
    belief = Belief.of([-1.0, 0.5], [0.5, 0.25])
    Table.of(acquisition.doubt, 1.25).bound(belief)
    assert belief.mean.tolist() == [[-1.0, 0.5]]
    assert belief.variance.tolist() == [[0.5, 0.25]]
