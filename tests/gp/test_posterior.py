import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtr, softmax
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from support import reference_gp

from possibal.gp import posterior as gp
from possibal.gp import prediction
from possibal.gp.likelihoods import IDENTITY, LOGISTIC, PROBIT, SOFTMAX
from possibal.gp.posterior import TrainingData, condition
from possibal.gp.prior import prior

LINKS = {"probit": PROBIT, "logistic": LOGISTIC, "identity": IDENTITY, "softmax": SOFTMAX}
RADIAL = ConstantKernel(2.0) * RBF(0.8)
ARD = ConstantKernel(2.0) * RBF([0.5, 1.5])
MATERN = ConstantKernel(2.0) * Matern(0.8, nu=2.5)

each_link = pytest.mark.parametrize("link", LINKS)
each_kernel = pytest.mark.parametrize("kernel", [RADIAL, ARD, MATERN], ids=["rbf", "ard", "matern"])
seeds = st.integers(0, 10_000)
few = settings(max_examples=12)


def rows(seed, m=7):
    return np.random.default_rng(seed).normal(size=(m, 2))


def labelled(link, seed, n=12, classes=3):
    """Random rows with what could have been seen there, each with a weight of its own."""
    rng = np.random.default_rng(seed)
    y = reference_gp.random_labels(rng, link, classes, n)
    return TrainingData(rng.normal(size=(n, 2)), y, rng.uniform(0.5, 3.0, (1, n)), LINKS[link])


def settings_of(kernels, count=1, seed=0):
    """A stack of settings around the kernels' own."""
    own = np.concatenate([kernel.theta for kernel in kernels])
    others = own + 0.4 * np.random.default_rng(seed).normal(size=(count - 1, len(own)))
    return np.vstack([own, others])


def posterior(link, seed, kernels=(RADIAL,), count=1, **size):
    return condition(prior(kernels, settings_of(kernels, count)), labelled(link, seed, **size))


def taken(data, order):
    return TrainingData(data.X[order], data.y[:, order], data.weight[:, order], data.link)


def assert_same(one, other, tolerance, X):
    for found, expected in zip(one.moments(X), other.moments(X), strict=True):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(one.log_evidence, other.log_evidence, rtol=tolerance)


# ---------------------------------------------------------------- agreement


@each_kernel
@few
@given(seed=seeds)
def test_binary_posterior_agrees_with_scikit_learn(kernel, seed):
    data = labelled("logistic", seed)
    data = replace(data, y=np.where(np.arange(12) % 2, data.y, -data.y), weight=np.ones((1, 12)))
    data.y[0, :2] = [-1.0, 1.0]  # both labels occur
    model = GaussianProcessClassifier(kernel, optimizer=None).fit(data.X, data.y[0])
    mean, variance = model.latent_mean_and_variance(rows(seed + 1))
    found = condition(prior([kernel], kernel.theta[None]), data)
    mu, sigma2 = found.moments(rows(seed + 1))
    np.testing.assert_allclose(mu[0, 0], mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(sigma2[0, 0], variance, rtol=1e-6)
    evidence = model.log_marginal_likelihood_value_
    assert found.log_evidence[0] == pytest.approx(evidence, rel=1e-6)


@each_kernel
@pytest.mark.parametrize("noise", [1.0, 1e-2, 1e-4, 1e-6])
def test_regression_agrees_with_scikit_learn(kernel, noise):
    data = labelled("identity", seed=1, n=30)
    data = replace(data, weight=np.full((1, 30), 1 / noise))
    model = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(data.X, data.y[0])
    mean, sd = model.predict(rows(2), return_std=True)
    found = condition(prior([kernel], kernel.theta[None]), data)
    mu, sigma2 = found.moments(rows(2))
    # The numbers seen are noise, so a small noise variance makes the means large.
    np.testing.assert_allclose(mu[0, 0], mean, rtol=1e-8, atol=1e-8 * np.abs(mean).max())
    np.testing.assert_allclose(np.sqrt(sigma2[0, 0]), sd, rtol=1e-8)
    evidence, slopes = model.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    assert found.log_evidence[0] == pytest.approx(evidence, rel=1e-8)
    np.testing.assert_allclose(found.evidence_slopes()[0], slopes, rtol=1e-6)


@pytest.mark.parametrize("noise", [1e-8, 1e-10])
def test_regression_with_hardly_any_noise_still_agrees_with_scikit_learn(noise):
    X, kernel = rows(0, m=40), ConstantKernel(1.0) * RBF(1.0)
    y = np.sin(X[:, 0]) + X[:, 1]
    model = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(X, y)
    data = TrainingData(X, y[None], np.full((1, 40), 1 / noise), IDENTITY)
    found = condition(prior([kernel], kernel.theta[None]), data)
    np.testing.assert_allclose(found.moments(rows(1))[0][0, 0], model.predict(rows(1)), atol=1e-5)
    evidence = model.log_marginal_likelihood_value_
    assert found.log_evidence[0] == pytest.approx(evidence, rel=1e-5)


@pytest.mark.parametrize("kernels", [[RADIAL], [RADIAL, ARD, MATERN]], ids=["shared", "each"])
@few
@given(seed=seeds)
def test_softmax_posterior_agrees_with_the_dense_reference(kernels, seed):
    found = posterior("softmax", seed, kernels)
    data, X = found.data, rows(seed + 1)
    K, K_t, among = (
        np.array([kernel(*pair) for kernel in kernels]) for pair in [(data.X,), (X, data.X), (X,)]
    )
    dense = reference_gp.Dense.of("softmax", K, data.y, data.weight[0])
    np.testing.assert_allclose(found.log_evidence[0], dense.log_evidence, rtol=1e-8)
    np.testing.assert_allclose(found.log_possibilistic_evidence[0], dense.psi, rtol=1e-8)
    mean, variance = found.moments(X)
    np.testing.assert_allclose(mean[0], dense.mean(K_t), rtol=1e-8, atol=1e-8)
    at_row = np.arange(len(X))
    exact = dense.covariance(K_t, among)[:, at_row, :, at_row]  # (m, C, C)
    np.testing.assert_allclose(found.covariance(X)[0], exact, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(variance[0].T, np.diagonal(exact, axis1=1, axis2=2), rtol=1e-8)


@few
@given(seed=seeds)
def test_two_class_softmax_has_the_variance_of_logistic_under_a_doubled_kernel(seed):
    data, X = labelled("logistic", seed), rows(seed + 1)
    two = replace(data, y=np.concatenate([data.y < 0, data.y > 0]) * 1.0, link=SOFTMAX)
    log_amplitude, log_length = RADIAL.theta
    doubled = np.array([[log_amplitude + np.log(2), log_length]])
    one = condition(prior([RADIAL], doubled), data)
    both = condition(prior([RADIAL], RADIAL.theta[None]), two)
    mean, covariance = both.moments(X)[0][0], both.covariance(X)[0]
    mu, sigma2 = one.moments(X)
    np.testing.assert_allclose(mean[1] - mean[0], mu[0, 0], rtol=1e-8, atol=1e-8)
    difference = np.array([-1.0, 1.0])
    np.testing.assert_allclose(covariance @ difference @ difference, sigma2[0, 0], rtol=1e-8)
    np.testing.assert_allclose(both.log_evidence, one.log_evidence, rtol=1e-9)


# ---------------------------------------------------------------- properties


@each_link
@few
@given(seed=seeds)
def test_the_order_of_rows_is_irrelevant(link, seed):
    data = labelled(link, seed)
    process = prior([RADIAL], settings_of([RADIAL], 2))
    order = np.random.default_rng(seed).permutation(len(data))
    assert_same(
        condition(process, data), condition(process, taken(data, order)), 1e-9, rows(seed + 1)
    )


@each_kernel
@each_link
def test_with_no_data_the_prior_is_recovered(link, kernel):
    data = taken(labelled(link, seed=0), np.arange(0))
    found = condition(prior([kernel], settings_of([kernel], 2)), data)
    mean, variance = found.moments(rows(1))
    assert not mean.any()
    amplitude = np.exp(settings_of([kernel], 2)[:, 0])
    expected = np.broadcast_to(amplitude[:, None, None], variance.shape)
    np.testing.assert_allclose(variance, expected, rtol=1e-12)
    assert found.log_evidence.tolist() == [0.0, 0.0]
    P = variance.shape[1]
    covariance = np.broadcast_to(amplitude[:, None, None, None] * np.eye(P), (2, 7, P, P))
    np.testing.assert_allclose(found.covariance(rows(1)), covariance, rtol=1e-12)
    assert not found.evidence_slopes().any()


def test_the_first_label_may_come_after_the_prior():
    data = labelled("probit", seed=0)
    process = prior([RADIAL], RADIAL.theta[None])
    none = condition(process, taken(data, np.arange(0)))
    assert_same(none.update(data.X, data.y, data.weight), condition(process, data), 1e-9, rows(1))


@settings(max_examples=25)
@given(seed=seeds, noise=st.floats(-6, 2), seen=st.integers(1, 11))
def test_in_regression_more_data_never_raises_the_variance(seed, noise, seen):
    data = labelled("identity", seed)
    data = replace(data, weight=np.full((1, 12), 10.0**-noise))
    process = prior([RADIAL], settings_of([RADIAL], 2))
    fewer = condition(process, taken(data, np.arange(seen))).moments(rows(seed + 1))[1]
    more = condition(process, data).moments(rows(seed + 1))[1]
    assert np.all(more <= fewer * (1 + 1e-9) + 1e-12)


@each_link
@few
@given(seed=seeds)
def test_no_latent_is_less_certain_than_before_any_label(link, seed):
    _, variance = posterior(link, seed).moments(rows(seed + 1))
    assert np.all((variance > 0) & (variance <= 2.0 * (1 + 1e-12)))


@each_link
@few
@given(seed=seeds, more=st.integers(1, 3))
def test_an_update_is_a_refit(link, seed, more):
    data = labelled(link, seed)
    process, log_prior = prior([RADIAL], settings_of([RADIAL], 3)), np.array([0.0, -1.0, -2.0])
    before = condition(process, taken(data, np.arange(12 - more)), log_prior)
    updated = before.update(data.X[-more:], data.y[:, -more:], data.weight[:, -more:])
    assert_same(updated, condition(process, data, log_prior), 1e-8, rows(seed + 1))
    assert np.array_equal(updated.log_prior, log_prior)


@each_link
def test_a_new_label_counts_once_if_nothing_else_is_said(link):
    before = posterior(link, seed=0)
    x, y = rows(1, m=2), before.data.y[:, :2]
    weight = np.repeat(before.data.weight[:, -1:], 2, axis=1)  # one over the noise, for numbers
    weight = weight if link == "identity" else np.ones_like(weight)
    assert_same(before.update(x, y), before.update(x, y, weight), 1e-14, rows(2))


@pytest.mark.parametrize("noise", [1e-4, 1e-8, 1e-12])
def test_variance_is_positive_at_duplicated_rows_with_tiny_noise(noise):
    data = labelled("identity", seed=0)
    twice = replace(data.followed_by(data), weight=np.full((1, 24), 1 / noise))
    found = condition(prior([RADIAL], RADIAL.theta[None]), twice)
    mean, variance = found.moments(data.X)
    assert np.isfinite(mean).all()
    assert np.all((variance > 0) & (variance < noise + 1e-9))
    found.at(data.X)  # a belief refuses a variance of zero


def test_a_prior_variance_of_zero_still_gives_a_belief():
    found = condition(prior([RADIAL], np.array([[-800.0, 0.0]])), labelled("probit", seed=0))
    assert np.all(found.at(rows(1)).variance > 0)


# ---------------------------------------------------------------- slopes


@pytest.mark.parametrize("kernels", [[RADIAL], [ARD], [MATERN]], ids=["rbf", "ard", "matern"])
@each_link
def test_evidence_slopes_are_derivatives_of_the_log_evidence(link, kernels):
    check_evidence_slopes(labelled(link, seed=0), kernels)


def test_evidence_slopes_are_derivatives_for_a_kernel_of_each_class():
    check_evidence_slopes(labelled("softmax", seed=0), [RADIAL, ARD, MATERN])


def check_evidence_slopes(data, kernels):
    thetas, step = settings_of(kernels, 2), 1e-4
    slopes = condition(prior(kernels, thetas), data).evidence_slopes()
    assert slopes.shape == thetas.shape
    for p, direction in enumerate(np.eye(thetas.shape[1])):
        up, down = (
            condition(prior(kernels, thetas + sign * step * direction), data).log_evidence
            for sign in (1, -1)
        )
        np.testing.assert_allclose(slopes[:, p], (up - down) / (2 * step), rtol=1e-5, atol=1e-6)


def test_noise_slopes_are_derivatives_of_the_log_evidence():
    data, step = labelled("identity", seed=0), 1e-4
    process = prior([RADIAL], settings_of([RADIAL], 3))
    up, down = (
        condition(process, replace(data, weight=data.weight * np.exp(-sign * step))).log_evidence
        for sign in (1, -1)
    )
    slopes = condition(process, data).noise_slopes()
    np.testing.assert_allclose(slopes, (up - down) / (2 * step), rtol=1e-6)


# ---------------------------------------------------------------- stacks of settings


@pytest.mark.parametrize("own", [False, True], ids=["shared-weight", "own-weight"])
@each_link
def test_a_stack_is_its_settings_one_by_one(link, own):
    data, thetas = labelled(link, seed=0), settings_of([RADIAL], 3)
    if own:
        data = replace(data, weight=data.weight * np.array([[1.0], [2.0], [0.5]]))
    stack = condition(prior([RADIAL], thetas), data)
    mean, variance = stack.moments(rows(1))
    for s in range(3):
        one = replace(data, weight=data.weight[s : s + 1] if own else data.weight)
        alone = condition(prior([RADIAL], thetas[s : s + 1]), one)
        np.testing.assert_allclose(mean[s], alone.moments(rows(1))[0][0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(variance[s], alone.moments(rows(1))[1][0], rtol=1e-10)
        np.testing.assert_allclose(stack.log_evidence[s], alone.log_evidence[0], rtol=1e-12)


@pytest.mark.parametrize("own", [False, True], ids=["shared-weight", "own-weight"])
@each_link
def test_a_part_has_the_settings_asked_for(link, own):
    data = labelled(link, seed=0)
    if own:
        data = replace(data, weight=data.weight * np.array([[1.0], [2.0], [0.5]]))
    log_prior = np.array([0.0, -1.0, -2.0])
    whole = condition(prior([RADIAL], settings_of([RADIAL], 3)), data, log_prior)
    part = whole.part(np.array([2, 0]))
    for found, expected in zip(part.moments(rows(1)), whole.moments(rows(1)), strict=True):
        np.testing.assert_allclose(found, expected[[2, 0]], rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(part.log_evidence, whole.log_evidence[[2, 0]])
    np.testing.assert_array_equal(part.log_prior, [-2.0, 0.0])
    np.testing.assert_allclose(
        part.evidence_slopes(), whole.evidence_slopes()[[2, 0]], rtol=1e-10, atol=1e-12
    )
    assert part.data.weight.shape == ((2, 12) if own else (1, 12))
    more = rows(3, m=1), data.y[:, :1], part.data.weight[:, -1:]
    assert_same(part.update(*more), refit(part, data), 1e-8, rows(1))


def refit(part, data):
    """The same settings, conditioned anew on one more row."""
    last = TrainingData(rows(3, m=1), data.y[:, :1], part.data.weight[:, -1:], data.link)
    return condition(part.prior, part.data.followed_by(last), part.log_prior)


@each_link
def test_the_leading_setting_is_the_most_credible(link):
    whole = posterior(link, seed=0, count=4)
    best = int(whole.credibility.argmax())
    leading = whole.leading
    assert len(leading.prior) == 1
    np.testing.assert_allclose(
        leading.moments(rows(1))[0][0], whole.moments(rows(1))[0][best], rtol=1e-12, atol=1e-14
    )


@few
@given(seed=seeds, log_prior=st.lists(st.floats(-30, 0), min_size=3, max_size=3))
def test_the_largest_credibility_is_one(seed, log_prior):
    found = condition(
        prior([RADIAL], settings_of([RADIAL], 3)), labelled("probit", seed), np.array(log_prior)
    )
    assert found.credibility.max() == 1.0
    assert np.all(found.credibility >= 0)
    np.testing.assert_array_equal(found.at(rows(1)).credibility, found.credibility)


def test_credibility_weighs_evidence_and_prior(monkeypatch):
    monkeypatch.setattr(gp, "TEMPERING", 0.5)
    found = posterior("probit", seed=0, count=3)
    less = replace(found, log_prior=np.array([0.0, -5.0, 0.0]))
    change = np.log(less.credibility / found.credibility)
    np.testing.assert_allclose(change[1] - change[0], -5.0, rtol=1e-9)
    ratio = np.log(found.credibility[1] / found.credibility[0])
    np.testing.assert_allclose(ratio, 0.5 * np.diff(found.log_evidence)[0], rtol=1e-9)


# ---------------------------------------------------------------- beliefs


@each_link
def test_a_belief_is_on_the_scale_of_the_probit(link):
    found = posterior(link, seed=0, count=2)
    mean, variance = found.moments(rows(1))
    scale = np.sqrt(np.pi / 8) if link == "logistic" else 1.0
    belief = found.at(rows(1))
    shape = (2, 7, 3) if link == "softmax" else (2, 7)
    assert belief.mean.shape == belief.variance.shape == shape
    last = np.moveaxis(mean, 1, -1).reshape(shape), np.moveaxis(variance, 1, -1).reshape(shape)
    np.testing.assert_allclose(belief.mean, scale * last[0], rtol=1e-12)
    np.testing.assert_allclose(belief.variance, scale**2 * last[1], rtol=1e-12)


@each_kernel
@each_link
def test_how_rows_are_cut_into_chunks_does_not_matter(link, kernel, monkeypatch):
    found, X = posterior(link, seed=0, kernels=(kernel,), count=2), rows(1, m=50)
    whole, covariance = found.moments(X), found.covariance(X)
    monkeypatch.setattr(prediction, "CHUNK", 1)
    monkeypatch.setattr(prediction, "FEWEST", 7)
    for one, other in zip(whole, found.moments(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(covariance, found.covariance(X), rtol=1e-9, atol=1e-12)


@each_link
def test_no_rows_asked_for_give_no_moments(link):
    found = posterior(link, seed=0)
    mean, variance = found.moments(rows(1, m=0))
    assert mean.shape == variance.shape == (1, found.mode.a.shape[1], 0)


@each_link
def test_memory_does_not_grow_with_the_square_of_the_rows(link):
    found, X = posterior(link, seed=0, n=50), rows(1, m=20_000)
    found.moments(X[:10])
    tracemalloc.start()
    found.moments(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


# ---------------------------------------------------------------- draws


@pytest.mark.parametrize("each", [False, True], ids=["shared", "each"])
@each_link
def test_draws_have_the_moments_of_the_posterior(link, each):
    kernels = [RADIAL, ARD, MATERN] if each and link == "softmax" else [RADIAL]
    found, X, count = posterior(link, 0, kernels, n=6), rows(1, m=2), 40_000
    draws = found.draw(X, np.zeros(count, dtype=int), np.random.default_rng(0))
    data, P = found.data, found.mode.a.shape[1]
    assert draws.shape == (count, P, 2)
    K, K_t, among = (
        np.array([kernel(*pair) for kernel in kernels]) for pair in [(data.X,), (X, data.X), (X,)]
    )
    dense = reference_gp.Dense.of(link, K, data.y, data.weight[0])
    exact = dense.covariance(K_t, among).reshape(2 * P, 2 * P)
    flat = draws.reshape(count, -1)
    error = 5 * 2.0 * np.sqrt(2 / count)  # variances are below 2
    np.testing.assert_allclose(flat.mean(axis=0), dense.mean(K_t).ravel(), atol=error)
    np.testing.assert_allclose(np.cov(flat.T), exact, atol=error)


def test_every_draw_is_from_the_setting_asked_for():
    process = prior([RADIAL], np.log([[1e-12, 1.0], [1.0, 1.0], [100.0, 1.0]]))
    found = condition(process, labelled("probit", seed=0, n=3))
    members = np.array([0, 2, 0, 1] * 50)
    draws = found.draw(rows(1, m=1), members, np.random.default_rng(0))[:, 0, 0]
    spread = [draws[members == s].std() for s in range(3)]
    assert spread[0] < 1e-5 < spread[1] < spread[2]


def test_draws_repeat_with_their_generator():
    found, members = posterior("softmax", seed=0, count=2), np.array([0, 1, 1])
    one, other = (found.draw(rows(1), members, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_draws_for_no_rows_are_empty():
    found = posterior("probit", seed=0)
    none = found.draw(rows(1, m=0), np.zeros(3, dtype=int), np.random.default_rng(0))
    assert none.shape == (3, 1, 0)


# ---------------------------------------------------------------- covariances of two sets of rows


@pytest.mark.parametrize("each", [False, True], ids=["shared", "each"])
@each_link
@few
@given(seed=seeds)
def test_covariances_of_two_sets_of_rows_agree_with_the_dense_reference(link, each, seed):
    kernels = [RADIAL, ARD, MATERN] if each and link == "softmax" else [RADIAL]
    found, X, Z = posterior(link, seed, kernels), rows(seed + 1, m=5), rows(seed + 2, m=3)
    data, both = found.data, np.concatenate([X, Z])
    K, K_t, among = (
        np.array([kernel(*pair) for kernel in kernels])
        for pair in [(data.X,), (both, data.X), (both,)]
    )
    dense = reference_gp.Dense.of(link, K, data.y, data.weight[0]).covariance(K_t, among)
    exact = np.array([dense[p, :5, p, 5:] for p in range(len(dense))])
    np.testing.assert_allclose(found.cross(X, Z)[0], exact, rtol=1e-8, atol=1e-8)


@each_kernel
@each_link
def test_the_covariance_of_a_row_with_itself_is_its_variance(link, kernel):
    found, X = posterior(link, seed=0, kernels=(kernel,), count=3), rows(1)
    itself = np.diagonal(found.cross(X, X), axis1=2, axis2=3)
    np.testing.assert_allclose(itself, found.moments(X)[1], rtol=1e-9)


@each_link
def test_covariances_are_the_same_either_way_and_however_rows_are_cut(link, monkeypatch):
    found, X, Z = posterior(link, seed=0, count=2), rows(1, m=50), rows(2, m=20)
    whole = found.cross(X, Z)
    np.testing.assert_allclose(np.swapaxes(found.cross(Z, X), 2, 3), whole, atol=1e-12)
    monkeypatch.setattr(prediction, "CHUNK", 1)
    monkeypatch.setattr(prediction, "FEWEST", 7)
    np.testing.assert_allclose(found.cross(X, Z), whole, rtol=1e-9, atol=1e-12)


@each_kernel
@each_link
def test_with_no_data_covariances_are_those_of_the_prior(link, kernel):
    data = taken(labelled(link, seed=0), np.arange(0))
    found = condition(prior([kernel], kernel.theta[None]), data)
    X, Z = rows(1), rows(2, m=3)
    expected = np.broadcast_to(kernel(X, Z), (1, len(data.y), 7, 3))
    np.testing.assert_allclose(found.cross(X, Z), expected, rtol=1e-10, atol=1e-14)


@each_link
def test_no_rows_have_no_covariances(link):
    found = posterior(link, seed=0)
    P = len(found.data.y)
    assert found.cross(rows(1), rows(2, m=0)).shape == (1, P, 7, 0)
    assert found.cross(rows(1, m=0), rows(2)).shape == (1, P, 0, 7)


@each_link
def test_covariances_with_a_few_rows_need_no_more_memory_than_their_number(link):
    found, X = posterior(link, seed=0, n=50), rows(1, m=20_000)
    found.moments(X[:10])
    tracemalloc.start()
    found.cross(X, X[:2])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


# ---------------------------------------------------------------- probabilities


@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_the_probability_of_a_label_is_the_links_at_the_mean(link):
    found = posterior(link, 3)
    p = found.probability(rows(4))
    mean = found.moments(rows(4))[0][0, 0]
    cdf = ndtr if link == "probit" else expit
    np.testing.assert_allclose(p, np.column_stack([cdf(-mean), cdf(mean)]), rtol=1e-12)


def test_the_probability_of_more_labels_is_the_softmax_of_their_means():
    found = posterior("softmax", 3)
    mean = found.moments(rows(4))[0][0]
    np.testing.assert_allclose(found.probability(rows(4)), softmax(mean.T, axis=1), rtol=1e-12)


@pytest.mark.parametrize("link", ["probit", "logistic", "softmax"])
def test_probabilities_are_averaged_by_the_credibility_of_settings(link):
    found, X = posterior(link, 5, count=4), rows(6)
    each = [found.part(np.array([s])).probability(X) for s in range(4)]
    expected = np.average(each, axis=0, weights=found.credibility)
    np.testing.assert_allclose(found.probability(X), expected, rtol=1e-12)
    np.testing.assert_allclose(found.probability(X).sum(axis=1), 1.0, rtol=1e-12)
    assert found.probability(X).shape == (7, 3 if link == "softmax" else 2)
    np.testing.assert_allclose(found.probability_of(found.at(X)), expected, rtol=1e-12)


@pytest.mark.parametrize("link", ["probit", "softmax"])
def test_far_from_all_rows_labels_are_as_probable(link):
    p = posterior(link, 7).probability(np.full((1, 2), 1e3))
    np.testing.assert_allclose(p, 1 / p.shape[1], rtol=1e-12)
