import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.pools import beliefs, moments, random_moments

from possibal import Belief, acquisition
from possibal.acquisition.label_possibility import possibility
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.interval import Interval

several = st.sampled_from([2, 3, 4, 5])
softmax_moments = several.flatmap(moments)


def cost(t, label, mu, sigma2):
    """How far label and rivals stray if the label leads from height t, in squared deviations."""
    above = np.maximum(np.delete(mu, label) - t[:, None], 0.0)
    own = (t - mu[label]) ** 2 / sigma2[label]
    return own + (above * above / np.delete(sigma2, label)).sum(axis=1)


def by_grid(label, mu, sigma2):
    """The possibility by ever finer grids over t, which a convex cost allows."""
    low, high = mu[label], mu.max()
    for _ in range(30):
        t = np.linspace(low, high, 41)
        best = int(cost(t, label, mu, sigma2).argmin())
        low, high = t[max(best - 1, 0)], t[min(best + 1, 40)]
    return np.exp(-0.5 * cost(t, label, mu, sigma2).min())


# ---------------------------------------------------------------- one hypothesis


@settings(max_examples=60)
@given(pool=softmax_moments)
def test_possibility_agrees_with_a_grid_over_heights(pool):
    mu, sigma2 = pool
    found = possibility(Belief.of(mu, sigma2))
    expected = [
        [by_grid(label, m, s2) for label in range(mu.shape[1])]
        for m, s2 in zip(mu, sigma2, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@given(pool=moments(2))
def test_of_two_labels_each_is_likeliest_on_a_half_plane(pool):
    mu, sigma2 = pool
    found = possibility(Belief.of(mu, sigma2))
    for row, m, s2 in zip(found, mu, sigma2, strict=True):
        latents = GaussianPossibility(m, np.diag(s2))
        first = latents.possibility(Interval(low=0.0, along=[1.0, -1.0]))
        second = latents.possibility(Interval(high=0.0, along=[1.0, -1.0]))
        np.testing.assert_allclose(row, [first, second], rtol=1e-6, atol=1e-9)


@given(pool=moments())
def test_of_one_latent_each_label_is_a_half_line(pool):
    mu, sigma2 = pool
    found = possibility(Belief.of(mu, sigma2))
    for row, m, s2 in zip(found, mu, sigma2, strict=True):
        latent = GaussianPossibility(m, s2)
        negative, positive = Interval(high=0.0), Interval(low=0.0)
        expected = [latent.possibility(negative), latent.possibility(positive)]
        np.testing.assert_allclose(row, expected, rtol=1e-6, atol=1e-300)


@given(pool=st.one_of(moments(), softmax_moments))
def test_the_leading_label_has_possibility_one(pool):
    mu, sigma2 = pool
    found = possibility(Belief.of(mu, sigma2))
    leading = np.stack([-mu, mu], axis=1) if mu.ndim == 1 else mu
    np.testing.assert_array_equal(found[leading == leading.max(axis=1, keepdims=True)], 1.0)


@given(pool=st.one_of(moments(), softmax_moments))
def test_the_possibility_of_the_strongest_rival_is_what_necessity_lacks(pool):
    belief = Belief.of(*pool)
    second = np.sort(possibility(belief), axis=1)[:, -2]
    np.testing.assert_allclose(1.0 - second, acquisition.necessity(belief), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(second, acquisition.doubt(belief), rtol=1e-6, atol=1e-300)


@pytest.mark.parametrize("shape", [(20, 3), (20, 7)])
def test_labels_may_be_named_in_any_order(shape):
    mu, sigma2 = random_moments(0, shape)
    order = np.random.default_rng(1).permutation(shape[1])
    one, other = (
        possibility(Belief.of(mu, sigma2)),
        possibility(Belief.of(mu[:, order], sigma2[:, order])),
    )
    np.testing.assert_allclose(one[:, order], other, rtol=1e-12)


def test_a_third_label_above_both_makes_a_rival_less_possible():
    with_third = possibility(Belief.of([[1.5, 0.0, 2.0]], [[1.0, 1.0, 1.0]]))
    without = possibility(Belief.of([[0.0, 2.0]], [[1.0, 1.0]]))
    assert with_third[0, 1] < without[0, 0]


# ---------------------------------------------------------------- several hypotheses


@given(belief=beliefs())
def test_over_several_hypotheses_it_is_the_largest_credibility_times_possibility(belief):
    each = [
        c * possibility(Belief.of(mean, variance))
        for mean, variance, c in zip(belief.mean, belief.variance, belief.credibility, strict=True)
    ]
    np.testing.assert_allclose(possibility(belief), np.max(each, axis=0), rtol=1e-12, atol=1e-300)


@given(belief=beliefs())
def test_a_hypothesis_more_never_makes_a_label_less_possible(belief):
    leading = belief.leading
    alone = Belief.of(belief.mean[leading], belief.variance[leading])
    assert (possibility(belief) >= possibility(alone)).all()


def test_a_hypothesis_of_no_credibility_does_not_count():
    mean, variance = np.array([[[3.0, 0.0, 0.0]], [[0.0, 3.0, 0.0]]]), np.ones((2, 1, 3))
    found = possibility(Belief(mean, variance, np.array([1.0, 0.0])))
    np.testing.assert_array_equal(found, possibility(Belief.of(mean[0], variance[0])))


def test_no_rows_have_no_possibilities():
    assert possibility(Belief.of(np.empty((0, 3)), np.empty((0, 3)))).shape == (0, 3)
    assert possibility(Belief.of(np.empty(0), np.empty(0))).shape == (0, 2)


# ---------------------------------------------------------------- extremes


@given(pool=st.one_of(moments(), softmax_moments), log_scale=st.sampled_from([-140, -8, 8, 140]))
def test_extreme_variances_give_possibilities(pool, log_scale):
    mu, sigma2 = pool
    found = possibility(Belief.of(mu, sigma2 * 10.0**log_scale))
    assert np.isfinite(found).all()
    assert found.min() >= 0.0
    assert found.max() == 1.0


@pytest.mark.parametrize("labels", [2, 3, 5])
@given(data=st.data())
def test_variances_of_all_sizes_side_by_side_give_possibilities(labels, data):
    log_variance = data.draw(arrays(float, (4, labels), elements=st.floats(-140, 140)))
    mu = data.draw(arrays(float, (4, labels), elements=st.floats(-1e100, 1e100)))
    found = possibility(Belief.of(mu, 10.0**log_variance))
    assert np.isfinite(found).all()
    assert ((found >= 0.0) & (found <= 1.0)).all()
    np.testing.assert_array_equal(found.max(axis=1), 1.0)


def test_a_known_latent_cannot_move_and_an_unknown_one_moves_at_no_cost():
    mean = [[1, 2, 3], [1, 2, 2], [1, 2, 3], [1, 2, 3]]
    variance = [[0, 0, 0], [0, 0, 0], [np.inf, 0, 1], [np.inf] * 3]
    found = possibility(Belief.of(mean, variance))
    exact = [[0, 0, 1], [0, 1, 1], [1, np.exp(-0.5), 1], [1, 1, 1]]
    np.testing.assert_allclose(found, exact, rtol=1e-12)
    binary = possibility(Belief.of([1, 0, 1], [0, 0, np.inf]))
    np.testing.assert_array_equal(binary, [[0, 1], [1, 1], [1, 1]])
