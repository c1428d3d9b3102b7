import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from possibal import Belief, acquisition
from possibal.acquisition.decisions import (
    cheapest_action,
    cost_necessity,
    interval_necessity,
    threshold_necessity,
    top_necessity,
)

ZERO_ONE = [[0.0, 1.0], [1.0, 0.0]]
means = st.floats(-4, 4)
variances = st.floats(0.05, 9.0)
GRID = np.linspace(-40, 40, 800_001)


def possibility(mu, sigma2):
    """Of every latent of the grid."""
    return np.exp(-0.5 * (GRID - mu) ** 2 / sigma2)


def hypotheses(seed, m=4):
    rng = np.random.default_rng(seed)
    credibility = np.array([1.0, 0.4, 0.05])
    return Belief(rng.normal(size=(3, m)), rng.uniform(0.2, 3.0, (3, m)), credibility)


def largest(belief, row, event):
    """The largest possibility of an event over a grid and all hypotheses."""
    return max(
        c * np.max(possibility(mu, sigma2)[event], initial=0.0)
        for c, mu, sigma2 in zip(
            belief.credibility, belief.mean[:, row], belief.variance[:, row], strict=True
        )
    )


# ---------------------------------------------------------------- thresholds


@given(mu=means, sigma2=variances)
def test_a_threshold_of_zero_is_prop_2(mu, sigma2):
    found = threshold_necessity([mu], [sigma2])
    np.testing.assert_allclose(found, acquisition.necessity([mu], [sigma2]), atol=1e-12)


@given(seed=st.integers(0, 1000), threshold=st.floats(-2, 2))
def test_a_threshold_is_doubted_as_much_as_the_other_side_is_possible(seed, threshold):
    belief = hypotheses(seed)
    found = threshold_necessity(belief, None, threshold)
    for row in range(4):
        above = belief.mean[0, row] >= threshold
        other = (GRID - threshold) * (-1 if above else 1) >= 0
        assert found[row] == pytest.approx(1 - largest(belief, row, other), abs=1e-3)


def test_every_row_may_have_a_threshold_of_its_own():
    found = threshold_necessity([1.0, 1.0], [1.0, 1.0], [0.0, 1.0])
    np.testing.assert_allclose(found, [1 - np.exp(-0.5), 0.0])


# ---------------------------------------------------------------- widths


@given(mu=means, sigma2=variances, width=st.floats(0.1, 5))
def test_one_latent_leaves_a_width_as_a_gaussian_does(mu, sigma2, width):
    found = interval_necessity([mu], [sigma2], width)
    np.testing.assert_allclose(found, 1 - np.exp(-0.5 * width**2 / sigma2), atol=1e-12)


@given(seed=st.integers(0, 1000), width=st.floats(0.1, 5))
def test_a_width_is_doubted_as_much_as_what_is_beyond_is_possible(seed, width):
    belief = hypotheses(seed)
    found = interval_necessity(belief, None, width)
    for row in range(4):
        beyond = np.abs(GRID - belief.mean[0, row]) > width
        assert found[row] == pytest.approx(1 - largest(belief, row, beyond), abs=1e-3)


# ---------------------------------------------------------------- costs


@given(mu=means, sigma2=variances)
def test_costs_of_zero_and_one_are_prop_2(mu, sigma2):
    found = cost_necessity([mu], [sigma2], ZERO_ONE)
    np.testing.assert_allclose(found, acquisition.necessity([mu], [sigma2]), atol=1e-9)


@given(seed=st.integers(0, 1000), actions=st.integers(2, 4))
def test_an_action_is_doubted_as_much_as_a_cheaper_one_is_possible(seed, actions):
    belief = hypotheses(seed)
    costs = np.random.default_rng(seed + 1).uniform(0, 1, (actions, 2))
    found, chosen = cost_necessity(belief, None, costs), cheapest_action(belief, None, costs)
    p = ndtr(GRID)
    expected = np.outer(costs[:, 0], 1 - p) + np.outer(costs[:, 1], p)
    for row in range(4):
        own = expected[chosen[row]]
        rivals = np.delete(expected, chosen[row], axis=0)
        doubt = max(largest(belief, row, rival <= own) for rival in rivals)
        assert found[row] == pytest.approx(1 - doubt, abs=2e-3)


def test_refusing_to_decide_is_an_action():
    costs = [*ZERO_ONE, [0.2, 0.2]]
    means, variances = np.array([-3.0, 0.0, 3.0]), np.full(3, 0.5)
    np.testing.assert_array_equal(cheapest_action(means, variances, costs), [0, 2, 1])
    plain = cost_necessity(means, variances, ZERO_ONE)
    assert plain[1] == 0.0
    assert cost_necessity(means, variances, costs)[1] > 0.4


def test_an_action_that_is_never_cheaper_is_no_rival_and_one_alike_always_is():
    worse, alike = [[0.0, 1.0], [0.5, 1.5]], [[0.0, 1.0], [0.0, 1.0]]
    assert cost_necessity([1.0], [np.inf], worse) == 1.0
    assert cost_necessity([1.0], [1.0], alike) == 0.0


# ---------------------------------------------------------------- the largest


@given(seed=st.integers(0, 1000), count=st.integers(1, 3))
def test_the_top_is_doubted_as_much_as_a_swap_is_possible(seed, count):
    rng = np.random.default_rng(seed)
    mean, root = rng.normal(size=4), rng.normal(size=(4, 4))
    covariance = root @ root.T + 0.1 * np.eye(4)
    order, doubt = np.argsort(-mean), 0.0
    for inside in order[:count]:
        for outside in order[count:]:
            gap = np.zeros(4)
            gap[inside], gap[outside] = 1.0, -1.0
            doubt = max(doubt, np.exp(-0.5 * (gap @ mean) ** 2 / (gap @ covariance @ gap)))
    assert top_necessity(mean, covariance, count) == pytest.approx(1 - doubt, abs=1e-9)


@given(seed=st.integers(0, 1000))
def test_the_largest_of_independent_latents_is_prop_3(seed):
    rng = np.random.default_rng(seed)
    mean, variance = rng.normal(size=5), rng.uniform(0.1, 3.0, 5)
    expected = acquisition.necessity(mean[None], variance[None])[0]
    assert top_necessity(mean, np.diag(variance)) == pytest.approx(expected, abs=1e-9)


# ---------------------------------------------------------------- limits and refusals


def test_what_is_known_is_certain_and_a_tie_is_not():
    mean = np.array([1.0, 2.0])
    assert top_necessity(mean, np.zeros((2, 2))) == 1.0
    assert top_necessity(mean[[0, 0]], np.zeros((2, 2))) == 0.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: threshold_necessity([1.0], [1.0], [0.0, 1.0]), "threshold must be one number or"),
        (lambda: threshold_necessity(np.ones((2, 3)), np.ones((2, 3))), "one latent a row; got 3"),
        (lambda: interval_necessity([1.0], [1.0], 0.0), "width must be positive"),
        (lambda: cost_necessity([1.0], [1.0], [[0.0, 1.0]]), r"costs must have shape \(actions, 2"),
        (lambda: cost_necessity([1.0], [1.0], np.eye(3)), r"costs must have shape \(actions, 2"),
        (lambda: top_necessity([1.0, 2.0], np.eye(3)), "covariance must have shape"),
        (lambda: top_necessity([1.0, 2.0], np.eye(2), 2), "count must be less than the number"),
        (lambda: top_necessity([1.0, 2.0], np.eye(2), 0), "count must be"),
    ],
)
def test_what_does_not_fit_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()
