import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import reference

from possibal.acquisition import suprema

# Far out, intermediate results overflow or vanish; the scores call these under np.errstate.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
LARGE = 10.0 ** np.arange(0, 9, 2)
# Below this, doubles lose their digits.
SMALLEST = 1e-290


def probit_uncertainty(mu, sigma2):
    with np.errstate(all="ignore"):
        rival, leader = suprema.probit_excess(np.array([mu]), np.array([sigma2]))
    return float(rival[0] + leader[0])


def relative_error(value, exact):
    return float(abs(reference.mpf(value) / exact - 1)) if exact > SMALLEST else 0.0


@settings(max_examples=120)
@given(mu=st.floats(-50, 50), log_variance=st.floats(-8, 8))
def test_probit_suprema_agree_with_fifty_digits(mu, log_variance):
    sigma2 = 10**log_variance
    exact = reference.probit_excess(mu, sigma2) + reference.probit_excess(-mu, sigma2)
    assert relative_error(probit_uncertainty(mu, sigma2), exact) < 1e-10


@pytest.mark.parametrize("log_variance", [20, 23, 26])
@pytest.mark.parametrize("far", [1.0, 5.0, 30.0])
def test_probit_suprema_of_vast_variances_are_those_of_a_step(log_variance, far):
    # Beside such numbers Phi is a step at zero. The climb may run out of steps, to no harm.
    sigma2 = 10.0**log_variance
    found = probit_uncertainty(far * np.sqrt(sigma2), sigma2)
    assert found == pytest.approx(np.exp(-0.5 * far**2), rel=1e-9)


@given(mu=st.floats(-4, 4), sigma2=st.floats(0.1, 10), sign=st.sampled_from([-1, 1]))
def test_probit_supremum_is_what_brents_method_finds(mu, sigma2, sign):
    rival, leader = suprema.probit_excess(np.array([mu]), np.array([sigma2]))
    excess = leader[0] if sign * mu > 0 else rival[0]
    credibility = excess + float(reference.ndtr(sign * mu))
    assert credibility == pytest.approx(
        reference.probit_credibility_by_brent(mu, sigma2, sign), rel=1e-9
    )


@settings(max_examples=15)
@given(
    labels=st.integers(2, 5),
    data=st.data(),
    spread=st.sampled_from([3.0, 50.0]),
    range_=st.sampled_from([(-8, -2), (-2, 2), (-8, 8)]),
)
def test_softmax_suprema_agree_with_fifty_digits(labels, data, spread, range_):
    draw = lambda low, high: np.array([data.draw(st.floats(low, high)) for _ in range(labels)])  # noqa: E731
    mu, sigma2 = draw(-spread, spread), 10 ** draw(*range_)
    with np.errstate(all="ignore"):
        excess = suprema.softmax_excess(mu[None], sigma2[None])[0]
    exact = reference.softmax_excess(mu, sigma2)
    assert relative_error(excess.sum(), sum(exact)) < 1e-9


@pytest.mark.parametrize("sigma2", LARGE)
def test_softmax_suprema_settle_for_equal_large_variances(sigma2):
    mu = np.array([0.0, 3.0, -20.0, 45.0])
    with np.errstate(all="ignore"):
        excess = suprema.softmax_excess(mu[None], np.full((1, 4), sigma2))[0]
    exact = reference.softmax_excess(mu, np.full(4, sigma2))
    assert relative_error(excess.sum(), sum(exact)) < 1e-9


@given(seed=st.integers(0, 10_000), spread=st.sampled_from([1.0, 5.0, 40.0]))
def test_softmax_suprema_of_a_row_do_not_depend_on_the_rows_beside_it(seed, spread):
    # Variances so unequal that many rows are searched for in a bracket, each as long as it takes.
    rng = np.random.default_rng(seed)
    mu, sigma2 = spread * rng.normal(size=(12, 3)), 10 ** rng.uniform(-8, 8, size=(12, 3))
    with np.errstate(all="ignore"):
        together = suprema.softmax_excess(mu, sigma2)
        some = rng.permutation(12)[:5]
        assert np.array_equal(suprema.softmax_excess(mu[some], sigma2[some]), together[some])
        for row, one in enumerate(together):
            alone = suprema.softmax_excess(mu[row, None], sigma2[row, None])[0]
            assert np.array_equal(alone, one)


def test_a_search_cut_short_still_gives_a_lower_bound(monkeypatch):
    mu, sigma2 = np.array([[0.0, 3.0, -20.0]]), np.array([[1e6, 1e-3, 50.0]])
    whole = suprema.softmax_excess(mu, sigma2)
    monkeypatch.setattr(suprema, "BRACKET_STEPS", 3)
    short = suprema.softmax_excess(mu, sigma2)
    assert np.all((short >= 0) & (short <= whole * (1 + 1e-9)))


def test_two_label_softmax_is_a_logistic_with_the_summed_variance():
    d, v = 0.7, 2.5
    theta = np.linspace(-20, 20, 2_000_001)
    value = -((theta - d) ** 2) / (2 * v) - np.logaddexp(0, -theta)
    excess = suprema.softmax_excess(np.array([[d, 0.0]]), np.array([[1.5, 1.0]]))[0, 0]
    assert excess + 1 / (1 + np.exp(-d)) == pytest.approx(np.exp(value.max()), rel=1e-9)


def test_a_free_rival_can_be_pushed_out_of_the_way():
    # The second latent may be anything, so the third competes with the first alone.
    with np.errstate(all="ignore"):
        mu, sigma2 = np.array([[0.0, 5.0, 1.0]]), np.array([[1e-30, 1e250, 1e-30]])
        excess = suprema.softmax_excess(mu, sigma2)[0]
    p = np.exp(mu[0]) / np.exp(mu[0]).sum()
    expected = [1 / (1 + np.e), 1.0, np.e / (1 + np.e)]
    np.testing.assert_allclose(p + excess, expected, rtol=1e-9)


@given(
    hypotheses=st.integers(1, 4),
    seed=st.integers(0, 10_000),
)
def test_envelope_volume_agrees_with_a_fine_grid(hypotheses, seed):
    rng = np.random.default_rng(seed)
    mean = rng.normal(0, 3, (hypotheses, 1))
    variance = np.exp(rng.normal(0, 1, (hypotheses, 1)))
    credibility = rng.uniform(0, 1, hypotheses)
    credibility[rng.integers(hypotheses)] = 1.0
    mean[rng.random(mean.shape) < 0.3] = 0.0  # equal means now and then
    volume = suprema.envelope_volume(mean, variance, credibility)[0]
    grid = reference.envelope_volume(mean[:, 0], variance[:, 0], credibility)
    assert volume == pytest.approx(grid, rel=1e-6)
    turned = suprema.envelope_volume(mean[::-1], variance[::-1], credibility[::-1])[0]
    assert turned == pytest.approx(volume, rel=1e-12)


def test_envelope_volume_survives_crossings_far_out():
    # Two almost equal variances cross at 1e13, where two other hypotheses cannot be told apart.
    mean = np.array([[0.0], [0.0], [0.0], [0.125]])
    variance = np.array([[1 - 1e-13], [10.0], [10.0], [1.0]])
    volume = suprema.envelope_volume(mean, variance, np.array([1.0, 0.5, 1.0, 0.27]))
    np.testing.assert_allclose(volume, np.sqrt(2 * np.pi * 10), rtol=1e-9)


def test_envelope_volume_passes_over_the_impossible_and_the_repeated():
    with np.errstate(all="ignore"):
        one = suprema.envelope_volume(np.array([[1.0]]), np.array([[4.0]]), np.ones(1))
        same = suprema.envelope_volume(
            np.array([[1.0], [1.0], [9.0]]), np.array([[4.0], [4.0], [1.0]]), np.array([1, 1, 0.0])
        )
    np.testing.assert_allclose([one, same], np.sqrt(2 * np.pi * 4))
