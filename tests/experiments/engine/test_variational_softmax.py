import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from possibal.experiments.engine.variational_softmax import (
    DRAWS,
    Marginals,
    Sites,
    fixed_point,
    standard_draws,
    variational_conditioned,
    variational_evidence,
)
from possibal.gp import batch
from possibal.gp.batch import ProblemBatch
from possibal.gp.likelihoods import SOFTMAX
from possibal.gp.means import ConstantMean
from possibal.gp.rbf import RowPairs


def problems(seed=0, runs=2, n=6, labels=3):
    """Squared distances, one-hot labels and covariances of small problems."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(runs, n, 2))
    squares = ((X[:, :, None] - X[:, None]) ** 2).sum(axis=3)
    codes = np.array([np.r_[np.arange(labels), rng.integers(labels, size=n - labels)]] * runs)
    y = (np.arange(labels)[:, None] == codes[:, None]).astype(float)
    return squares, y, 4.0 * np.exp(-0.5 * squares)


def bound_by_hand(m, S, y, K, level=0.0):
    """The evidence bound of any Gaussians, (P, n) and (P, n, n), with the same draws."""
    sd = np.sqrt(np.diagonal(S, axis1=1, axis2=2))
    f = level + m + sd * standard_draws(len(m))[:, 0]
    expected = (y * f).sum(axis=(1, 2)).mean() - logsumexp(f, axis=1).sum(axis=1).mean()
    inverse, n = np.linalg.inv(K), len(K)
    divergence = 0.0
    for mean, cov in zip(m, S, strict=True):
        logs = np.linalg.slogdet(K)[1] - np.linalg.slogdet(cov)[1]
        divergence += 0.5 * (np.trace(inverse @ cov) - n + mean @ inverse @ mean + logs)
    return expected - divergence


def covariance(K, w):
    return np.linalg.inv(np.linalg.inv(K) + np.diag(w))


# ---------------------------------------------------------------- draws
def test_draws_are_mirrored_and_about_standard_normal():
    draws = standard_draws(3)[:, 0, :, 0]
    assert draws.shape == (DRAWS, 3)
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(draws.T @ draws / len(draws), np.eye(3), atol=1e-12)


# ---------------------------------------------------------------- Gaussians
@given(st.integers(0, 100))
def test_gaussians_of_sites_are_those_of_their_precision(seed):
    _, y, K = problems(seed)
    rng = np.random.default_rng(seed)
    sites = Sites(rng.normal(size=y.shape), rng.uniform(0.01, 0.3, size=y.shape))
    found = Marginals.of(K, sites)
    for s in range(len(y)):
        for c in range(3):
            S = covariance(K[s], sites.w[s, c])
            np.testing.assert_allclose(found.variance[s, c], np.diag(S), rtol=1e-8)
            np.testing.assert_allclose(found.mean[s, c], S @ sites.b[s, c], rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(K[s] @ found.a[s, c], found.mean[s, c], atol=1e-8)
            R = found.root[s, c]
            E = np.linalg.inv(K[s] + np.diag(1.0 / sites.w[s, c]))
            np.testing.assert_allclose(R.T @ R, E, atol=1e-8)


# ---------------------------------------------------------------- the bound
def test_the_bound_is_that_of_its_gaussians():
    _, y, K = problems(3)
    fit = variational_conditioned(K, y, SOFTMAX, np.full(2, 4.0))
    for s in range(2):
        spread = np.array([covariance(K[s], w) for w in fit.sites.w[s]])
        by_hand = bound_by_hand(fit.marginals.mean[s], spread, y[s], K[s])
        assert fit.bound[s] == pytest.approx(by_hand, abs=1e-8)


def test_no_other_gaussians_have_a_larger_bound():
    _, y, K = problems(5, runs=1, n=4)
    fit = variational_conditioned(K, y, SOFTMAX, np.full(1, 4.0))

    def height(x):
        m, roots = x[:12].reshape(3, 4), np.zeros((3, 4, 4))
        roots[:, *np.tril_indices(4)] = x[12:].reshape(3, 10)
        return -bound_by_hand(m, roots @ np.swapaxes(roots, 1, 2), y[0], K[0])

    start = np.concatenate([np.zeros(12), np.tile(np.linalg.cholesky(K[0])[np.tril_indices(4)], 3)])
    best = minimize(height, start, method="BFGS", options={"gtol": 1e-6})
    assert fit.bound[0] == pytest.approx(-best.fun, abs=2e-3)
    np.testing.assert_allclose(fit.marginals.mean[0], best.x[:12].reshape(3, 4), atol=2e-2)


def test_the_bound_lies_below_the_evidence():
    _, y, K = problems(7, runs=1, n=4)
    fit = variational_conditioned(K, y, SOFTMAX, np.full(1, 4.0))
    draw = multivariate_normal(np.zeros(4), K[0]).rvs((100_000, 3), random_state=0)
    log_p = (y[0] * draw).sum(axis=(1, 2)) - logsumexp(draw, axis=1).sum(axis=1)
    evidence = logsumexp(log_p) - np.log(len(draw))
    assert evidence - 1.0 < fit.bound[0] < evidence + 0.02


@given(st.integers(0, 50), st.floats(0.1, 300.0))
@settings(max_examples=25)
def test_at_the_fixed_point_slopes_are_expected_residuals(seed, amplitude):
    _, y, K = problems(seed)
    level = np.zeros((1, 1, 1))
    sites, found = fixed_point(K * amplitude / 4.0, y, level, Sites.none(y))
    f = found.latents(level)
    p = np.exp(f - logsumexp(f, axis=2, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(found.a, y - p, atol=1e-2)
    assert np.all(sites.w > 0)


def test_a_problem_does_not_depend_on_its_neighbours():
    _, y, K = problems(1, runs=3)
    together = variational_conditioned(K, y, SOFTMAX, np.full(3, 4.0))
    alone = variational_conditioned(K[1:2], y[1:2], SOFTMAX, np.full(1, 4.0))
    np.testing.assert_allclose(together.bound[1], alone.bound[0], rtol=1e-12)


def test_an_iteration_that_does_not_settle_ends(monkeypatch):
    monkeypatch.setattr("possibal.experiments.engine.variational_softmax.MOST_STEPS", 2)
    _, y, K = problems(2)
    assert np.all(np.isfinite(variational_conditioned(K, y, SOFTMAX, np.full(2, 4.0)).bound))


# ---------------------------------------------------------------- other rows
def test_moments_of_training_rows_are_those_of_the_gaussians():
    _, y, K = problems(4)
    fit = variational_conditioned(K, y, SOFTMAX, np.full(2, 4.0))
    mean, variance = fit.moments(RowPairs(K))
    np.testing.assert_allclose(mean[:, 0], fit.marginals.mean, atol=1e-8)
    np.testing.assert_allclose(variance[:, 0], fit.marginals.variance, atol=1e-8)
    assert fit.credibility.shape == (2, 1)


def test_far_from_all_labels_the_prior_is_left():
    _, y, K = problems(4)
    levels = (0.5, -0.2, 0.1)
    fit = variational_conditioned(K, y, SOFTMAX, np.full(2, 4.0), mean=ConstantMean(levels))
    mean, variance = fit.moments(RowPairs(np.zeros((2, 6, 1))))
    np.testing.assert_allclose(mean[0, 0, :, 0], levels)
    np.testing.assert_allclose(variance, 4.0)
    p = fit.probability(RowPairs(np.zeros((2, 6, 1))))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert p[0, :, 0].argmax() == 0


def test_variances_are_smaller_than_laplaces_where_latents_are_large():
    _, y, K = problems(6, n=12)
    ours = variational_conditioned(25 * K, y, SOFTMAX, np.full(2, 100.0))
    theirs = batch.conditioned(25 * K, y, SOFTMAX, np.full(2, 100.0))
    lines = RowPairs(25 * K)
    assert ours.moments(lines)[1].mean() < theirs.moments(lines)[1].mean()


# ---------------------------------------------------------------- hyperparameters
def batch_of(seed=0, n=9):
    squares, y, _ = problems(seed, n=n)
    return ProblemBatch(RowPairs(squares), y, np.full(2, 1.5), SOFTMAX)


def test_the_setting_found_has_the_largest_bound_times_hyperprior():
    one = batch_of()
    fit = variational_evidence(one, None)
    prior, thetas = one.hyperprior, fit.prior.thetas

    def heights(at):
        K = np.exp(at[:, 0])[:, None, None] * np.exp(
            -0.5 * one.pairs.squares / np.exp(2 * at[:, 1])[:, None, None]
        )
        bound = variational_conditioned(K, one.y, SOFTMAX, np.exp(at[:, 0])).bound
        return bound - 0.5 * (((at - prior.centre) / prior.sd) ** 2).sum(axis=1)

    top = heights(thetas)
    for move in 0.3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]]):
        assert np.all(heights(thetas + move) < top + 1e-3)


def test_one_more_label_starts_from_the_last():
    squares, y, _ = problems(8, n=10)
    less = ProblemBatch(RowPairs(squares[:, :9, :9]), y[:, :, :9], np.full(2, 1.5), SOFTMAX)
    more = ProblemBatch(RowPairs(squares), y, np.full(2, 1.5), SOFTMAX)
    warm = variational_evidence(more, variational_evidence(less, None))
    cold = variational_evidence(more, None)
    np.testing.assert_allclose(warm.prior.thetas, cold.prior.thetas, atol=6e-2)
    np.testing.assert_allclose(warm.bound, cold.bound, atol=1e-2)
    mean, _ = warm.moments(RowPairs(squares))
    np.testing.assert_allclose(mean[:, 0], warm.marginals.mean, atol=1e-6)
