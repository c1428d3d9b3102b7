import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal
from support.reference_gp import random_kernels, random_labels

from possibal.gp.label_regression import NOISE_SHARE, label_regression_evidence

seeds = st.integers(0, 10_000)
few = settings(max_examples=15)


def slowly(K, y):
    """The largest Gaussian log density over amplitudes, one column after the other."""
    n, R = y.shape[1], K / np.trace(K, axis1=1, axis2=2).mean() * K.shape[1]
    above = y - y.mean(axis=1, keepdims=True)
    each = np.broadcast_to(R, (len(y), n, n))

    def height(log_amplitude):
        a = np.exp(log_amplitude)
        return sum(
            multivariate_normal(cov=a * (one + NOISE_SHARE * np.eye(n))).logpdf(column)
            for one, column in zip(each, above, strict=True)
        )

    best = -minimize_scalar(lambda a: -height(a), bracket=(-2.0, 1.0)).fun
    constant = -0.5 * y.size * (1.0 + np.log(2.0 * np.pi))
    return (best - constant) * (1.0 if len(y) == 1 else (len(y) - 1) / len(y))


def case(seed, classes, n=7, members=3, *, own=False):
    rng = np.random.default_rng(seed)
    K = random_kernels(rng, (members, classes if own else 1), n)
    y = random_labels(rng, "probit" if classes == 1 else "softmax", classes, n)
    y[0, :2] = [-1.0, 1.0] if classes == 1 else y[0, :2]  # both labels occur
    if classes > 1:
        y[:, :classes] = np.eye(classes)
    return K, y


@pytest.mark.parametrize(("classes", "own"), [(1, False), (3, False), (3, True)])
@few
@given(seed=seeds)
def test_it_is_the_largest_density_over_amplitudes(classes, own, seed):
    K, y = case(seed, classes, own=own)
    found = label_regression_evidence(K, y[None], np.ones((1, 7)))
    for s in range(len(K)):
        assert found[s] == pytest.approx(slowly(K[s], y), rel=1e-5, abs=1e-5)


@given(seed=seeds, amplitude=st.floats(1e-3, 1e3))
def test_the_amplitude_of_the_kernel_does_not_matter(seed, amplitude):
    K, y = case(seed, 1)
    one, other = (
        label_regression_evidence(k, y[None], np.ones((1, 7))) for k in (K, amplitude * K)
    )
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@given(seed=seeds)
def test_the_names_of_two_labels_do_not_matter(seed):
    K, y = case(seed, 1)
    one, other = (label_regression_evidence(K, z[None], np.ones((1, 7))) for z in (y, -y))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_every_member_may_have_labels_of_its_own():
    K, y = case(3, 1)
    several = np.stack([y, -y, np.roll(y, 1, axis=1)])
    found = label_regression_evidence(K, several, np.ones((1, 7)))
    for s in range(3):
        alone = label_regression_evidence(K[s : s + 1], several[s : s + 1], np.ones((1, 7)))
        assert found[s] == pytest.approx(alone[0], rel=1e-12)


def test_rows_that_count_more_than_once_weigh_more():
    K, y = case(5, 1)
    plain, weighted = (
        label_regression_evidence(K, y[None], w) for w in (np.ones((1, 7)), np.full((1, 7), 3.0))
    )
    assert (plain != weighted).all()


def test_no_labels_and_labels_all_alike_say_nothing_of_a_kernel():
    K, y = case(1, 1)
    none = label_regression_evidence(K[:, :, :0, :0], y[None, :, :0], np.ones((1, 0)))
    np.testing.assert_array_equal(none, np.zeros(3))
    alike = label_regression_evidence(K, np.ones((1, 1, 7)), np.ones((1, 7)))
    assert (alike == np.inf).all()


def test_a_kernel_that_is_zero_says_something():
    K, y = case(1, 1)
    assert np.isfinite(label_regression_evidence(0.0 * K, y[None], np.ones((1, 7)))).all()
