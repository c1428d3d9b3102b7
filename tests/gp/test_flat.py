import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

from possibal.acquisition import necessity
from possibal.errors import ConvergenceError
from possibal.gp import flat
from possibal.gp.flat import SeenDirections, condition_flat, is_separable
from possibal.gp.likelihoods import LOGISTIC, PROBIT
from possibal.gp.linear import LinearPrior
from possibal.gp.posterior import TrainingData
from possibal.numerics.sparse_rows import SparseRows

KERNEL = ConstantKernel(1.0) * DotProduct(1.0, "fixed")
PRIOR = LinearPrior.of(KERNEL, np.zeros((1, 1)))
LINK = pytest.mark.parametrize("link", [LOGISTIC, PROBIT], ids=["logistic", "probit"])


def noisy(seed, n=60, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + rng.logistic(size=n) > 0.3, 1.0, -1.0)


def data(X, y, link=LOGISTIC):
    return TrainingData(X, y[None], np.ones((1, len(y))), link)


@LINK
def test_it_is_laplace_at_the_largest_likelihood(link):
    X, y = noisy(0)
    features = np.column_stack([X, np.ones(len(X))])

    def loss(w):
        return -link.log_probability(y, features @ w, np.ones(len(y))).sum()

    w = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x
    W = link.slopes(y, features @ w, np.ones(len(y))).weight
    covariance = np.linalg.inv(features.T @ (W[:, None] * features))
    posterior = condition_flat(PRIOR, data(X, y, link))
    mean, variance = posterior.moments(X[:5])
    np.testing.assert_allclose(mean[0, 0], features[:5] @ w, atol=1e-5)
    expected = np.einsum("ij,jk,ik->i", features[:5], covariance, features[:5])
    np.testing.assert_allclose(variance[0, 0], expected, rtol=1e-5)
    assert posterior.log_evidence[0] == pytest.approx(-loss(w), abs=1e-8)
    belief = posterior.at(X[:5])
    np.testing.assert_allclose(belief.variance[0], link.scale**2 * variance[0, 0])


def test_of_a_direction_that_no_label_has_nothing_is_known():
    X, y = noisy(1)
    wide = np.column_stack([X, np.zeros(len(X))])
    posterior = condition_flat(PRIOR, data(wide, y))
    rows = wide[:2].copy()
    rows[1, 2] = 1e-3
    _, variance = posterior.moments(rows)
    assert np.isfinite(variance[0, 0, 0])
    assert variance[0, 0, 1] == np.inf
    assert necessity(posterior.at(rows))[1] == 0.0
    np.testing.assert_allclose(
        posterior.moments(wide)[1], condition_flat(PRIOR, data(X, y)).moments(X)[1], rtol=1e-8
    )


def test_without_labels_nothing_is_known_at_all():
    posterior = condition_flat(PRIOR, data(np.empty((0, 2)), np.empty(0)))
    assert (necessity(posterior.at(np.eye(2))) == 0).all()
    assert posterior.probability(np.eye(2)).tolist() == [[0.5, 0.5]] * 2


def test_sparse_rows_say_the_same():
    X, y = noisy(2)
    dense, sparse = (condition_flat(PRIOR, data(made(X), y)) for made in (np.asarray, SparseRows))
    for ours, theirs in zip(sparse.moments(SparseRows(X)), dense.moments(X), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)


def test_labels_that_a_line_separates_are_refused():
    X, _ = noisy(3)
    with pytest.raises(ValueError, match=r"^precision must be above zero while a linear function"):
        condition_flat(PRIOR, data(X, np.where(X[:, 0] > 0, 1.0, -1.0)))
    with pytest.raises(ValueError, match="separates the labels"):
        condition_flat(PRIOR, data(X, np.ones(len(X))))


@given(st.integers(0, 200), st.integers(5, 12))
def test_labels_are_separable_where_a_perceptron_ends(seed, n):
    rng = np.random.default_rng(seed)
    axes, y = rng.normal(size=(n, 3)), rng.choice([-1.0, 1.0], n)
    w, found = np.zeros(3), False
    for _ in range(2000):
        wrong = np.flatnonzero(y * (axes @ w) <= 0)
        found = not len(wrong)
        if found:
            break
        w = w + y[wrong[0]] * axes[wrong[0]]
    assume(found or not is_separable(axes, y) or n < 8)
    if found:
        assert is_separable(axes, y)


def test_labels_at_one_place_are_not_separable():
    assert not is_separable(np.ones((2, 1)), np.array([-1.0, 1.0]))
    assert not is_separable(np.empty((0, 0)), np.empty(0))


def test_a_search_that_does_not_end_says_so(monkeypatch):
    monkeypatch.setattr(flat, "_MOST_STEPS", 0)
    with pytest.raises(ConvergenceError, match="was not found in 0 steps"):
        condition_flat(PRIOR, data(*noisy(4)))


def test_there_are_no_covariances_and_no_draws():
    posterior = condition_flat(PRIOR, data(*noisy(5)))
    X, rng = np.eye(2), np.random.default_rng(0)
    for ask in (
        lambda: posterior.cross(X, X),
        lambda: posterior.between(X, X),
        lambda: posterior.draw(X, np.zeros(1, dtype=np.intp), rng),
        lambda: posterior.predictor,
    ):
        with pytest.raises(ValueError, match=r"^precision must be above zero for draws"):
            ask()


def test_there_is_one_setting():
    posterior = condition_flat(PRIOR, data(*noisy(6)))
    assert posterior.part(np.array([0])) is posterior
    assert posterior.leading is posterior


def test_coordinates_keep_inner_products_of_what_was_seen():
    X, _ = noisy(7)
    z, rest = SeenDirections.of(X, 0.0).coordinates(X)
    np.testing.assert_allclose(z.T @ z, np.eye(2), atol=1e-10)
    assert (rest < 1e-10).all()
