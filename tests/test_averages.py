import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr

from possibal import averages


def test_probit_average_is_the_mean_over_the_latent():
    x = np.linspace(-9, 9, 20_001)
    w = np.exp(-0.5 * x * x)
    mean = (reference.ndtr(0.8 + 1.7 * x) * w).sum() / w.sum()
    assert averages.probit_average(0.8, 1.7**2) == pytest.approx(mean, rel=1e-10)


@settings(max_examples=60)
@given(mu=st.floats(-50, 50), log_variance=st.floats(-8, 8))
def test_probit_information_agrees_with_fifty_digits(mu, log_variance):
    sigma2 = 10**log_variance
    exact = reference.probit_information(mu, sigma2)
    with np.errstate(all="ignore"):
        value = averages.probit_information(np.array([mu]), np.array([sigma2]))[0]
    if exact > 1e-290:
        assert abs(reference.mpf(value) / exact - 1) < 1e-9


@settings(max_examples=40)
@given(
    mu=st.tuples(*[st.floats(-6, 6)] * 3),
    log_sd=st.tuples(*[st.floats(-4, 0.6)] * 3),
)
def test_softmax_averages_agree_with_a_grid_over_all_latents(mu, log_sd):
    mu, sigma2 = np.array(mu), np.exp(2 * np.array(log_sd))
    p, noise = reference.softmax_averages(mu, sigma2)
    found = averages.softmax_averages(mu[None], sigma2[None])
    np.testing.assert_allclose(found.probability[0], p, atol=1e-6)
    assert found.noise[0] == pytest.approx(noise, abs=1e-5)


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 0.3, 1, 2, 3, 10, 1e3, 1e6])
def test_two_label_softmax_averages_agree_with_one_fine_integral(scale):
    mu, sigma2 = np.array([0.4, -1.1]), np.array([1.3, 0.6]) * scale
    x = np.linspace(-9, 9, 200_001)
    w = np.exp(-0.5 * x * x)
    w /= w.sum()
    p = 1 / (1 + np.exp(-np.clip(mu[0] - mu[1] + np.sqrt(sigma2.sum()) * x, -700, 700)))
    found = averages.softmax_averages(mu[None], sigma2[None])
    assert found.probability[0, 0] == pytest.approx((w * p).sum(), abs=1e-7)
    assert found.noise[0] == pytest.approx((w * (entr(p) + entr(1 - p))).sum(), abs=2e-6)


def test_softmax_averages_agree_with_sampling_over_many_labels():
    rng = np.random.default_rng(5)
    mu, sigma2 = rng.normal(0, 2, 8), np.exp(rng.normal(0, 2, 8))
    theta = mu + np.sqrt(sigma2) * rng.normal(size=(200_000, 8))
    p = np.exp(theta - theta.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    entropy = entr(p).sum(axis=1)
    found = averages.softmax_averages(mu[None], sigma2[None])
    error = p.std(axis=0) / np.sqrt(len(p))
    assert np.all(np.abs(found.probability[0] - p.mean(axis=0)) < 5 * error + 1e-7)
    assert abs(found.noise[0] - entropy.mean()) < 5 * entropy.std() / np.sqrt(len(p))
