import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr
from support import reference

from possibal.acquisition import expectations


@settings(max_examples=30)
@given(mu=st.floats(-50, 50), log_variance=st.floats(-8, 8))
def test_probit_information_agrees_with_fifty_digits(mu, log_variance):
    sigma2 = 10**log_variance
    exact = reference.probit_information(mu, sigma2)
    with np.errstate(all="ignore"):
        value = expectations.probit_information(np.array([mu]), np.array([sigma2]))[0]
    if exact > 1e-290:
        assert abs(reference.mpf(value) / exact - 1) < 1e-9


@settings(max_examples=20)
@given(
    mu=st.tuples(*[st.floats(-6, 6)] * 3),
    log_sd=st.tuples(*[st.floats(-4, 0.6)] * 3),
)
def test_softmax_averages_agree_with_a_grid_over_all_latents(mu, log_sd):
    mu, sigma2 = np.array(mu), np.exp(2 * np.array(log_sd))
    p, noise = reference.softmax_averages(mu, sigma2)
    information = entr(p).sum() - noise
    found = expectations.softmax_averages(mu[None], sigma2[None])
    np.testing.assert_allclose(found.probability[0], p, rtol=2e-6)
    assert found.information[0] == pytest.approx(information, rel=0.02, abs=1e-8)


WIDTHS = [*expectations.WIDTHS, *(0.999 * w for w in expectations.WIDTHS)]


@settings(max_examples=60)
@given(
    mu=st.lists(st.floats(-8, 8), min_size=2, max_size=6),
    data=st.data(),
)
def test_probabilities_agree_with_fine_grids_whatever_the_widths(mu, data):
    width = st.one_of(st.floats(0.01, 12), st.sampled_from(WIDTHS))
    sd = data.draw(st.lists(width, min_size=len(mu), max_size=len(mu)))
    mu, sigma2 = np.array(mu), np.array(sd) ** 2
    p, noise = reference.softmax_race(mu, sigma2)
    found = expectations.softmax_probabilities(mu[None], sigma2[None])[0]
    np.testing.assert_allclose(found[p > 1e-6], p[p > 1e-6], rtol=1e-5)
    np.testing.assert_allclose(found[p > 1e-12], p[p > 1e-12], rtol=2e-3)
    averages = expectations.softmax_averages(mu[None], sigma2[None])
    np.testing.assert_allclose(averages.probability[0], found, rtol=1e-10)
    information = entr(p).sum() - noise
    assert averages.information[0] == pytest.approx(information, rel=0.02, abs=1e-6)


@pytest.mark.parametrize("width", [0.0, 0.3, 0.5, 0.6, 1.5, 2.0, 3.5, 5.0, 7.9, 9.0, 40.0])
@pytest.mark.parametrize("mu", [-18.0, -12.0, 0.0, 6.0])
def test_gaussian_plus_gumbel_noise_agrees_with_a_fine_grid(mu, width):
    if mu - 6 * width > 3.2:
        return  # the line would start later
    line = expectations.line(60)
    F, f = expectations.gauss_gumbel(np.array([mu]), np.array([width]), 60)[:, 0]
    x = np.arange(-9, 9.01, min(0.02, 0.02 / max(width, 1e-9)))
    w = np.exp(-0.5 * x * x)
    e = np.exp(np.minimum(mu + width * x[:, None] - line, 6.5))
    exact = (w / w.sum()) @ np.exp(-e), (w / w.sum()) @ (e * np.exp(-e))
    np.testing.assert_allclose(F, exact[0], atol=3e-5)
    np.testing.assert_allclose(f, exact[1], atol=3e-5)


def test_rows_that_are_alike_tie_wherever_they_stand():
    rng = np.random.default_rng(8)
    mu, sigma2 = rng.normal(size=(5, 7)), np.exp(rng.normal(size=(5, 7)))
    rows = rng.integers(0, 5, 400)
    p = expectations.softmax_probabilities(mu[rows], sigma2[rows])
    for row in range(5):
        alike = p[rows == row]
        assert (alike == alike[0]).mean() > 0.99


@settings(max_examples=20)
@given(
    gap=st.floats(0, 50),
    log_variance=st.tuples(st.floats(-8, 1.2), st.floats(-8, 1.2)),
)
def test_two_label_softmax_averages_agree_with_forty_digits(gap, log_variance):
    mu, sigma2 = np.array([0.0, -gap]), 10.0 ** np.array(log_variance)
    rarer, information = reference.logistic_averages(gap, sigma2.sum())
    with np.errstate(all="ignore"):
        found = expectations.softmax_averages(mu[None], sigma2[None])
    if rarer > 1e-12:
        assert abs(reference.mpf(found.probability[0].min()) / rarer - 1) < 2e-3
        assert abs(reference.mpf(found.information[0]) / information - 1) < 0.02


@pytest.mark.parametrize("scale", [1, 10, 1e3, 1e6])
def test_two_label_softmax_averages_agree_with_one_fine_integral(scale):
    mu, sigma2 = np.array([0.4, -1.1]), np.array([1.3, 0.6]) * scale
    x = np.linspace(-9, 9, 400_001)
    w = np.exp(-0.5 * x * x)
    w /= w.sum()
    p = 1 / (1 + np.exp(-np.clip(mu[0] - mu[1] + np.sqrt(sigma2.sum()) * x, -700, 700)))
    average, noise = (w * p).sum(), (w * (entr(p) + entr(1 - p))).sum()
    found = expectations.softmax_averages(mu[None], sigma2[None])
    assert found.probability[0, 0] == pytest.approx(average, rel=1e-7)
    information = entr(average) + entr(1 - average) - noise
    assert found.information[0] == pytest.approx(information, rel=1e-5)


def test_softmax_averages_agree_with_sampling_over_many_labels():
    rng = np.random.default_rng(5)
    mu, sigma2 = rng.normal(0, 2, 8), np.exp(rng.normal(0, 2, 8))
    theta = mu + np.sqrt(sigma2) * rng.normal(size=(200_000, 8))
    p = np.exp(theta - theta.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    entropy = entr(p).sum(axis=1)
    found = expectations.softmax_averages(mu[None], sigma2[None])
    error = p.std(axis=0) / np.sqrt(len(p))
    assert np.all(np.abs(found.probability[0] - p.mean(axis=0)) < 5 * error + 1e-7)
    noise = entr(found.probability[0]).sum() - found.information[0]
    assert abs(noise - entropy.mean()) < 5 * entropy.std() / np.sqrt(len(p))


def test_a_row_does_not_depend_on_the_rows_beside_it():
    rng = np.random.default_rng(2)
    mu, sigma2 = rng.uniform(-50, 50, (60, 3)), 10.0 ** rng.uniform(-8, 8, (60, 3))
    with np.errstate(all="ignore"):
        whole = expectations.softmax_averages(mu, sigma2)
        for i in range(0, 60, 7):
            alone = expectations.softmax_averages(mu[i : i + 1], sigma2[i : i + 1])
            np.testing.assert_allclose(alone.probability[0], whole.probability[i], rtol=1e-11)
            np.testing.assert_allclose(alone.information, whole.information[[i]], rtol=1e-6)


@pytest.mark.parametrize("q", [0.5, 0.3, 1e-3, 1e-12, 1e-40])
def test_entropy_and_complements_keep_their_digits(q):
    p = np.array([q / 3, 1 - q, 2 * q / 3])
    np.testing.assert_allclose(expectations.all_others(p)[1], q, rtol=1e-15)
    exact = -(1 - reference.mpf(q)) * reference.mp.log1p(-reference.mpf(q))
    exact -= sum(reference.mpf(v) * reference.mp.log(reference.mpf(v)) for v in (p[0], p[2]))
    assert abs(reference.mpf(float(expectations.label_entropy(p))) / exact - 1) < 1e-13
