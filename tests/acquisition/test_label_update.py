"""A step ends where the supremum of U is attained."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_ndtr, log_softmax, ndtr, softmax

from possibal.acquisition.label_update import probit_update, softmax_update
from possibal.acquisition.suprema import probit_excess, softmax_excess

means = st.floats(-30.0, 30.0)
log_variances = st.floats(-5.0, 5.0)


def joint_of(rng, m, classes, log_variance):
    """Covariances of the latents of rows, some close to singular."""
    root = rng.normal(size=(m, classes, classes)) * 10.0 ** (0.5 * log_variance)
    return root @ np.swapaxes(root, 1, 2) + 1e-6 * np.eye(classes)


# ---------------------------------------------------------------- two labels
@given(st.lists(st.tuples(means, log_variances), min_size=1, max_size=20))
def test_a_probit_step_ends_where_nothing_pulls_any_more(rows):
    mean, log_variance = np.array(rows).T
    variance = 10.0**log_variance
    step = probit_update(mean, variance)
    assert step.pull.shape == (2, len(mean), 1)
    assert step.bend.shape == (2, len(mean), 1, 1)
    for pull, bend, sign in zip(step.pull[..., 0], step.bend[..., 0, 0], (-1.0, 1.0), strict=True):
        assert (sign * pull >= 0).all()
        t = sign * (mean + variance * pull)
        slope = np.exp(-0.5 * t * t - 0.5 * np.log(2 * np.pi) - log_ndtr(t))
        # What the pull is off by moves t by the variance times that.
        np.testing.assert_allclose(sign * pull, slope, rtol=1e-4, atol=1e-4 / (1 + variance).max())
        assert ((bend >= 0) & (bend * (1 + variance) <= 1 + variance)).all()


@pytest.mark.parametrize("variance", [1e-3, 0.5, 12.0, 400.0])
@pytest.mark.parametrize("mean", [-6.0, -0.5, 0.0, 2.0])
def test_a_probit_step_is_what_a_slow_search_finds(mean, variance):
    step = probit_update(np.array([mean]), np.array([variance]))
    for pull, bend, sign in zip(
        step.pull[:, 0, 0], step.bend[:, 0, 0, 0], (-1.0, 1.0), strict=True
    ):
        ends = (mean, mean + sign * (1.0 + 3.0 * np.sqrt(variance) + abs(mean)))
        slow = minimize_scalar(
            lambda t, sign=sign: 0.5 * (t - mean) ** 2 / variance - log_ndtr(sign * t),
            bounds=(min(ends), max(ends)),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert mean + variance * pull == pytest.approx(slow.x, abs=1e-5)
        t, h = slow.x, 1e-4
        W = -(log_ndtr(sign * (t + h)) - 2 * log_ndtr(sign * t) + log_ndtr(sign * (t - h))) / h**2
        assert bend == pytest.approx(W / (1 + W * variance), abs=1e-5)


def test_the_supremum_is_attained_at_the_end_of_a_probit_step():
    mean, variance = np.array([-1.0, 0.3, 2.5]), np.array([0.4, 3.0, 9.0])
    step = probit_update(mean, variance)
    rival, leader = probit_excess(mean, variance)
    excess = np.where(mean > 0, [rival, leader], [leader, rival])
    for label, sign in enumerate((-1.0, 1.0)):
        move = variance * step.pull[label, :, 0]
        attained = ndtr(sign * (mean + move)) * np.exp(-0.5 * move * move / variance)
        np.testing.assert_allclose(attained, ndtr(sign * mean) + excess[label], rtol=1e-9)


# ---------------------------------------------------------------- more labels
@given(st.integers(2, 6), st.integers(0, 10_000), st.floats(0.0, 10.0), st.floats(-4.0, 2.5))
def test_a_softmax_step_ends_where_nothing_pulls_any_more(classes, seed, spread, log_variance):
    rng = np.random.default_rng(seed)
    mean, joint = spread * rng.normal(size=(8, classes)), joint_of(rng, 8, classes, log_variance)
    step = softmax_update(mean, joint)
    assert step.pull.shape == (classes, 8, classes)
    for label in range(classes):
        pull, own = step.pull[label], np.arange(classes) == label
        p = softmax(mean + np.einsum("mij,mj->mi", joint, pull), axis=1)
        np.testing.assert_allclose(pull, own - p, atol=1e-6)
        W = np.array([np.diag(q) - np.outer(q, q) for q in p])
        bend = step.bend[label]
        np.testing.assert_allclose(
            bend, W - W @ joint @ bend, atol=1e-5 * (1 + np.abs(W @ joint).max())
        )


def test_a_softmax_step_is_what_a_slow_search_finds():
    rng = np.random.default_rng(1)
    mean, joint = 2.0 * rng.normal(size=(4, 3)), joint_of(rng, 4, 3, 0.5)
    step = softmax_update(mean, joint)
    for label in range(3):
        for at in range(4):
            inverse = np.linalg.inv(joint[at])

            def cost(theta, label=label, at=at, inverse=inverse):
                off = theta - mean[at]
                return 0.5 * off @ inverse @ off - log_softmax(theta)[label]

            slow = minimize(cost, mean[at], tol=1e-10)
            np.testing.assert_allclose(
                mean[at] + joint[at] @ step.pull[label, at], slow.x, atol=1e-3
            )


def test_the_supremum_is_attained_at_the_end_of_a_softmax_step():
    rng = np.random.default_rng(3)
    mean, variance = 2.0 * rng.normal(size=(30, 3)), 10.0 ** rng.uniform(-2, 2, (30, 3))
    joint = np.einsum("mi,ij->mij", variance, np.eye(3))
    step, excess = softmax_update(mean, joint), softmax_excess(mean, variance)
    for label in range(3):
        move = variance * step.pull[label]
        possible = np.exp(-0.5 * (move * move / variance).sum(axis=1))
        attained = softmax(mean + move, axis=1)[:, label] * possible
        there = softmax(mean, axis=1)[:, label] + excess[:, label]
        np.testing.assert_allclose(attained, there, rtol=1e-6)


def test_two_classes_of_a_softmax_move_apart_alike_and_what_they_share_stays():
    joint = np.array([[[3.0, 1.0], [1.0, 3.0]]])
    step = softmax_update(np.zeros((1, 2)), joint)
    np.testing.assert_allclose(step.pull.sum(axis=2), 0.0, atol=1e-12)
    np.testing.assert_allclose(step.pull[0, 0], -step.pull[1, 0], atol=1e-9)
