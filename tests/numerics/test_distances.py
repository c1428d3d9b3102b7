import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

from possibal.numerics import distances as likeness
from possibal.numerics.distances import (
    WIDTH,
    coverage_width,
    directions,
    near_duplicate_width,
    similarity,
    usual_distance,
)

seeds = st.integers(0, 10_000)


def rows(seed, n=12, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


# ---------------------------------------------------------------- the usual distance
def slow_distance(X):
    """Pair by pair: the first distance at which half of all counts is reached."""
    pairs = [(i, j) for i in range(len(X)) for j in range(i)]
    width = WIDTH * slow_median((np.linalg.norm(X[i] - X[j]), 1) for i, j in pairs)
    like = [sum(np.exp(-0.5 * (np.linalg.norm(x - z) / width) ** 2) for z in X) for x in X]
    return slow_median((np.linalg.norm(X[i] - X[j]), 1 / (like[i] * like[j])) for i, j in pairs)


def slow_median(pairs):
    pairs, total = sorted(pairs), 0.0
    for distance, count in pairs:
        total += count
        if total >= sum(each for _, each in pairs) / 2 * (1 - 1e-12):
            return distance
    raise AssertionError


@given(seed=seeds, n=st.integers(2, 14), d=st.integers(1, 4), pull=st.floats(0.01, 1))
def test_it_is_the_median_of_distances_by_how_few_rows_are_alike(seed, n, d, pull):
    X = rows(seed, n, d)
    X[: n // 2] *= pull  # a crowd, where that is small
    assert usual_distance(X) == pytest.approx(slow_distance(X), rel=1e-9)


@given(seed=seeds, often=st.integers(1, 20))
def test_a_crowd_does_not_make_other_rows_far(seed, often):
    """The median distance becomes that of the crowd as soon as it has most pairs; this does not."""
    X = rows(seed, 40)
    crowd = X[:1] + 1e-6 * rows(seed + 1, 10 * often)
    assert usual_distance(np.concatenate([X, crowd])) > 0.5 * usual_distance(X)


def test_rows_that_are_far_from_each_other_count_alike():
    X = np.random.default_rng(0).normal(size=(60, 200))
    assert usual_distance(X) == pytest.approx(np.median(pdist(X)), rel=1e-3)


def test_copies_of_rows_change_nothing():
    X = rows(0)
    assert usual_distance(np.repeat(X, [1, 9, 1, 5] * 3, axis=0)) == usual_distance(X)


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("d", [1, 2, 500])
def test_without_two_rows_columns_are_taken_to_vary_by_one(n, d):
    assert usual_distance(np.full((n, d), 3.0)) == pytest.approx(np.sqrt(2 * d), rel=1e-14)


def test_rows_that_are_all_alike_count_as_one():
    assert usual_distance(np.full((7, 2), 1e9)) == 2.0


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-100, 1e100, 1e200, 1e300])
def test_it_follows_any_scale(scale):
    X = rows(0)
    assert usual_distance(scale * X) == pytest.approx(scale * usual_distance(X), rel=1e-12)


@pytest.mark.parametrize(
    "X",
    [
        [[1.7e308], [-1.7e308]],
        [[5e-324], [0.0]],
        [[1.0], [1 + 2e-16]],
        [[0.0], [5e-324], [1e300]],
    ],
)
def test_it_is_a_positive_number(X):
    assert 0 < usual_distance(np.array(X)) < np.inf


def test_of_many_rows_evenly_spread_ones_are_compared():
    X = np.random.default_rng(0).uniform(size=(1500, 2))
    assert usual_distance(X) == pytest.approx(np.median(pdist(X)), rel=0.1)


def test_the_order_of_many_rows_does_not_matter():
    X = rows(0, n=1200)
    assert usual_distance(X) == usual_distance(X[::-1])


def test_of_very_many_rows_some_from_all_over_are_looked_at(monkeypatch):
    X = rows(0, 800, 3)
    every = usual_distance(X)
    monkeypatch.setattr(likeness, "_MOST_ROWS", 400)
    some = usual_distance(X)
    assert some != every
    assert some == pytest.approx(every, rel=0.1)


# ---------------------------------------------------------------- which are alike
@given(seed=seeds, width=st.floats(0.02, 2))
def test_rows_are_alike_by_their_distance_alone(seed, width):
    X, Z = rows(seed, 5), rows(seed + 1, 4)
    found = similarity(cdist(X, Z), width)
    for x, line in zip(X, found, strict=True):
        for z, value in zip(Z, line, strict=True):
            apart = np.linalg.norm(x - z) / width
            assert value == pytest.approx(np.exp(-0.5 * apart**2), rel=1e-9)
    np.testing.assert_array_equal(similarity(cdist(X, X), width).diagonal(), 1.0)


def test_rows_beyond_all_numbers_are_not_alike_and_nobody_is_warned():
    some = np.array([[0.0], [1e-170], [3e-170], [1.0]])
    assert 0 < usual_distance(some) <= 1
    np.testing.assert_array_equal(similarity(cdist(some[:1], some[-1:]), 1e-300), [[0.0]])


# ---------------------------------------------------------------- how far likeness reaches
@given(seed=seeds, n=st.integers(2, 30), copies=st.integers(0, 5), width=st.floats(0, 3))
def test_likeness_reaches_a_share_of_the_way_to_the_nearest_row(seed, n, copies, width):
    X = np.vstack([rows(seed, n)] + copies * [rows(seed, 1)])
    nearest = [min(np.linalg.norm(x - z) for z in X if (x != z).any()) for x in X]
    expected = max(width, 0.9 * np.median(nearest))
    assert coverage_width(cdist(X, X), width) == pytest.approx(expected, rel=1e-12)


def test_in_few_columns_nearest_rows_are_a_crowd_and_in_many_they_are_not():
    few, many = rows(0, 200, 2), rows(0, 200, 60)
    assert coverage_width(cdist(few, few), near_duplicate_width(few)) == near_duplicate_width(few)
    among, width = (
        cdist(many, many),
        coverage_width(cdist(many, many), near_duplicate_width(many)),
    )
    assert width > 1.5 * near_duplicate_width(many)
    assert (
        similarity(among, near_duplicate_width(many)) > 0.01
    ).sum() == 200  # each row is like itself alone
    assert (similarity(among, width) > 0.1).sum() > 500


@pytest.mark.parametrize("X", [np.empty((0, 2)), np.zeros((1, 2)), np.zeros((5, 2))])
def test_rows_without_another_leave_the_width_as_it_is(X):
    assert coverage_width(cdist(X, X), 0.7) == 0.7


def test_distances_beyond_all_numbers_are_not_the_nearest():
    distances = np.array([[0.0, 2.0, np.inf], [2.0, 0.0, np.inf], [np.inf, np.inf, 0.0]])
    assert coverage_width(distances, 0.1) == pytest.approx(1.8)


# ---------------------------------------------------------------- directions
@given(seed=st.integers(0, 10_000), scale=st.floats(-200, 200))
def test_directions_have_length_one_whatever_the_scale(seed, scale):
    X = np.random.default_rng(seed).normal(size=(6, 4))
    found = directions(10.0**scale * X)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found, directions(X), atol=1e-12)
    np.testing.assert_array_equal(found[:, -1], 0.0)


def test_rows_of_zeros_have_a_direction_of_their_own():
    found = directions(np.array([[0.0, 0.0], [0.0, -2.0]]))
    np.testing.assert_array_equal(found, [[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    assert directions(np.empty((0, 3))).shape == (0, 4)
    assert directions(np.ones((1, 2), dtype=np.float32)).dtype == np.float32
    np.testing.assert_array_equal(directions(np.array([[3, 0]])), [[1.0, 0.0, 0.0]])
