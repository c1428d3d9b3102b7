import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from support.reference_gp import Dense, random_labels

from possibal.gp.batch import conditioned
from possibal.gp.likelihoods import IDENTITY, PROBIT, SOFTMAX
from possibal.gp.means import ZERO, CallableMean, ConstantMean
from possibal.gp.posterior import TrainingData, condition
from possibal.gp.prior import prior
from possibal.gp.rbf import RowPairs

LINKS = {"probit": PROBIT, "identity": IDENTITY, "softmax": SOFTMAX}
KERNELS = [ConstantKernel(3.0) * RBF(0.8), ConstantKernel(3.0) * Matern(0.8, nu=2.5)]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=["rbf", "matern"])
each_link = pytest.mark.parametrize("link", LINKS)
seeds = st.integers(0, 10_000)


def data_of(link, seed, n=9):
    rng = np.random.default_rng(seed)
    y = random_labels(rng, link, 3, n)
    return TrainingData(rng.normal(size=(n, 2)), y, rng.uniform(0.5, 2.0, (1, n)), LINKS[link])


def slope_of(link):
    """A mean that differs from row to row, and under a softmax from class to class."""
    tilt = np.array([[0.5, -1.0, 2.0], [1.0, 0.3, -0.7]])
    if link == "softmax":
        return CallableMean(lambda X: 0.2 + X @ tilt, processes=3)
    return CallableMean(lambda X: 0.2 + X @ tilt[:, 0])


def test_the_mean_of_nothing_else_said_is_zero():
    assert ZERO.is_zero
    np.testing.assert_array_equal(ZERO.at(np.ones((4, 2))), np.zeros((1, 4)))


def test_a_constant_mean_is_the_same_at_every_row():
    mean = ConstantMean((1.0, -2.0))
    assert not mean.is_zero
    np.testing.assert_array_equal(mean.at(np.ones((3, 2))), [[1.0] * 3, [-2.0] * 3])


@pytest.mark.parametrize(
    ("function", "processes"),
    [
        (lambda X: X, 1),
        (lambda X: X[:, 0], 2),
        (lambda _: 0.0, 1),
        (lambda X: X[:-1, 0], 1),
    ],
)
def test_a_mean_of_another_shape_is_refused(function, processes):
    with pytest.raises(ValueError, match=r"mean must give an array of shape .*; got"):
        CallableMean(function, processes).at(np.ones((4, 2)))


def test_a_mean_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="mean must"):
        CallableMean(lambda X: np.full(len(X), np.nan)).at(np.ones((4, 2)))


@each_link
@each_kernel
@given(seed=seeds)
def test_a_posterior_with_a_mean_agrees_with_the_dense_reference(link, kernel, seed):
    data, X = data_of(link, seed), np.random.default_rng(seed + 1).normal(size=(5, 2))
    mean = slope_of(link)
    found = condition(prior([kernel], kernel.theta[None], mean), data)
    dense = Dense.of(link, kernel(data.X)[None], data.y, data.weight[0], mean.at(data.X))
    expected = mean.at(X) + dense.mean(kernel(X, data.X)[None])
    np.testing.assert_allclose(found.moments(X)[0][0], expected, rtol=1e-7, atol=1e-7)
    assert found.log_evidence[0] == pytest.approx(dense.log_evidence, rel=1e-8)


@each_kernel
@given(seed=seeds)
def test_a_regression_with_a_mean_is_one_of_what_exceeds_it(kernel, seed):
    data, X = data_of("identity", seed), np.random.default_rng(seed + 1).normal(size=(5, 2))
    mean = slope_of("identity")
    found = condition(prior([kernel], kernel.theta[None], mean), data)
    above = TrainingData(data.X, data.y - mean.at(data.X), data.weight, data.link)
    plain = condition(prior([kernel], kernel.theta[None]), above)
    np.testing.assert_allclose(
        found.moments(X)[0], mean.at(X) + plain.moments(X)[0], rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(found.moments(X)[1], plain.moments(X)[1], rtol=1e-9)


@each_link
@each_kernel
def test_before_any_label_the_latents_are_believed_at_their_mean(link, kernel):
    data, X = data_of(link, 0, n=0), np.random.default_rng(1).normal(size=(5, 2))
    mean = slope_of(link)
    found = condition(prior([kernel], kernel.theta[None], mean), data)
    np.testing.assert_array_equal(found.moments(X)[0][0], mean.at(X))


@given(seed=seeds, spread=st.floats(0.1, 5.0))
def test_an_unknown_constant_is_a_level_that_all_rows_share(seed, spread):
    """The supremum over c of N(c; 0, s2) N(g; c, K) is N(g; 0, K + s2): a learned mean."""
    rng = np.random.default_rng(seed)
    X, g = rng.normal(size=(6, 2)), rng.normal(size=6)
    K = KERNELS[0](X) + 1e-3 * np.eye(6)
    c = np.linspace(-20, 20, 400_001)
    inverse = np.linalg.inv(K)
    u = np.ones(6)
    square = g @ inverse @ g - 2 * c * (u @ inverse @ g) + c * c * (u @ inverse @ u)
    best = (-0.5 * c * c / spread - 0.5 * square).max()
    assert best == pytest.approx(-0.5 * g @ np.linalg.solve(K + spread, g), abs=1e-5)


@each_link
def test_a_batch_of_problems_has_the_mean_of_each_alone(link):
    kernel, mean = KERNELS[0], ConstantMean((0.7, -0.4, 1.1) if link == "softmax" else (0.7,))
    data = data_of(link, 3)
    data = TrainingData(data.X, data.y, np.ones_like(data.weight), data.link)
    X = np.random.default_rng(1).normal(size=(5, 2))
    alone = condition(prior([kernel], kernel.theta[None], mean), data)
    K = kernel(data.X)[None]
    batch = conditioned(K, data.y[None], data.link, np.array([3.0]), mean=mean)
    lines = RowPairs(kernel(data.X, X)[None])
    np.testing.assert_allclose(batch.means(lines)[0], alone.moments(X)[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(batch.moments(lines)[0], batch.means(lines))
