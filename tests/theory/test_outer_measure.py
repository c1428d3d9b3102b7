import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import log_ndtr, log_softmax
from scipy.stats import multivariate_t, norm
from support.reference_possibility import gaussians, share, tables, unit

from possibal.errors import ConvergenceError
from possibal.theory.families import Density, DiscreteFamily, GaussianNoise
from possibal.theory.finite import FinitePossibility
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.interval import Interval
from possibal.theory.outer_measure import OuterMeasure

NOISE = GaussianNoise(0.5)
BELL = Density(
    lambda y, theta: -((y - theta) ** 2) - 0.5 * np.log(np.pi), breaks=(-15.0, 1.0, 15.0)
)
"""The same law as NOISE, without its closed forms."""
PROBIT = DiscreteFamily((-1, 1), lambda theta: [log_ndtr(-theta), log_ndtr(theta)])
SOFTMAX = DiscreteFamily((0, 1, 2), log_softmax)


def bernoulli(theta):
    with np.errstate(divide="ignore"):
        return np.log([1 - theta, theta])


COIN = DiscreteFamily((0, 1), bernoulli)
"""Theta is the probability of outcome 1."""


def categorical(theta):
    with np.errstate(divide="ignore"):
        return np.log(theta)


MULTINOMIAL = DiscreteFamily((0, 1, 2), categorical)
"""Theta is the vector of probabilities, a point of the simplex."""

SIMPLEX = tuple((a / 4, b / 4, (4 - a - b) / 4) for a in range(5) for b in range(5 - a))
COINS = tuple(i / 8 for i in range(9))

simplex_values = tables(len(SIMPLEX), elements=st.sampled_from([0, 0.1, 0.5, 0.9, 1]))
on_simplex = simplex_values.filter(lambda v: v.max() == 1).map(
    lambda v: FinitePossibility(v, (SIMPLEX,))
)


def uncertainty(f, family):
    return OuterMeasure(f, family).uncertainty_outcome().value


# ---------------------------------------------------------------- credibility


def test_credibility_is_the_supremum_over_the_set_of_possibility_times_probability():
    f = FinitePossibility([0.4, 1.0, 0.8], ((0.1, 0.5, 0.9),))
    measure = OuterMeasure(f, COIN)
    assert measure.credibility(outcomes=[1]) == pytest.approx(max(0.04, 0.5, 0.72))
    assert measure.credibility([0.1, 0.5], [1]) == pytest.approx(0.5)
    assert measure.credibility(lambda t: t > 0.6, [0]) == pytest.approx(0.08)
    assert measure.credibility([0.1, 0.9]) == 0.8
    assert measure.credibility() == 1.0
    assert measure.credibility(outcomes=[0, 1]) == pytest.approx(1.0)
    assert measure.credibility(outcomes=[]) == 0.0
    assert measure.outcome(1) == measure.credibility(outcomes=[1])


@given(on_simplex)
def test_credibility_is_subadditive_and_monotone(f):
    P = OuterMeasure(f, MULTINOMIAL).credibility
    both, one, two = P(outcomes=[0, 1]), P(outcomes=[0]), P(outcomes=[1])
    assert max(one, two) <= both + 1e-12
    assert both <= one + two + 1e-12


@share(0.5)
@given(gaussians(size=1), unit)
def test_credibility_of_a_gaussian_agrees_with_a_grid(f, cut):
    axis = np.append(np.linspace(-12, 12, 2001), cut)
    axis = axis[axis <= cut]
    expected = np.exp(f.log(axis) + log_ndtr(axis)).max()
    found = OuterMeasure(f, PROBIT).credibility(Interval(high=cut), [1])
    assert found == pytest.approx(expected, rel=1e-3)
    assert found >= expected - 1e-12


def test_credibility_off_the_support_is_zero():
    f = GaussianPossibility(0.0, 1.0, lower=-1, upper=1)
    assert OuterMeasure(f, PROBIT).credibility(Interval(low=2), [1]) == 0.0
    assert OuterMeasure(f, PROBIT).credibility(Interval(low=2)) == 0.0


def test_credibility_of_a_far_set_is_found_there():
    f = GaussianPossibility(0.0, 1.0)
    found = OuterMeasure(f, PROBIT).credibility(Interval(low=20), [1])
    assert found == pytest.approx(np.exp(-200), rel=1e-9)


@pytest.mark.parametrize("outcomes", [Interval(2, 3), Interval(low=2), Interval(-1, 0), Interval()])
def test_noise_in_closed_form_and_by_quadrature_give_the_same_credibility(outcomes):
    f = GaussianPossibility(1.0, 2.0)
    closed = OuterMeasure(f, NOISE).credibility(Interval(0, 1.5), outcomes)
    assert closed == pytest.approx(OuterMeasure(f, BELL).credibility(Interval(0, 1.5), outcomes))


def test_the_marginal_of_an_outcome_is_the_supremum_over_theta():
    f = GaussianPossibility(1.0, 2.0)
    for y in (-1.0, 1.0, 4.0):
        expected = np.exp(-((y - 1) ** 2) / 5) / np.sqrt(2 * np.pi * 0.5)
        assert OuterMeasure(f, NOISE).outcome(y) == pytest.approx(expected)
        assert OuterMeasure(f, BELL).outcome(y) == pytest.approx(expected)


# ---------------------------------------------------------------- posterior


@given(on_simplex, st.integers(0, 2))
def test_the_finite_posterior_is_proportional_to_likelihood_times_possibility(f, y):
    product = f.values * np.array(SIMPLEX)[:, y]
    measure = OuterMeasure(f, MULTINOMIAL)
    if product.any():
        np.testing.assert_allclose(measure.posterior(y).values, product / product.max())
    else:
        with pytest.raises(ValueError, match=f"y must be possible; got {y}, which no possible"):
            measure.posterior(y)


@given(gaussians(size=2), tables(2))
def test_the_gaussian_posterior_is_that_of_regression(f, y):
    g = OuterMeasure(f, NOISE).posterior(y)
    gain = f.covariance @ np.linalg.inv(f.covariance + 0.5 * np.eye(2))
    np.testing.assert_allclose(g.mode, f.mean + gain @ (y - f.mean), atol=1e-8)
    np.testing.assert_allclose(g.covariance, f.covariance - gain @ f.covariance, atol=1e-8)


def test_a_first_look_at_what_nothing_is_known_of_gives_the_noise():
    g = OuterMeasure(GaussianPossibility(0.0, precision=0.0), NOISE).posterior(3.0)
    assert g.mode[0] == pytest.approx(3.0)
    assert g.covariance[0, 0] == pytest.approx(0.5)


def test_the_posterior_keeps_its_support():
    f = GaussianPossibility(0.0, 1.0, lower=-1, upper=1)
    assert OuterMeasure(f, NOISE).posterior(0.6).upper[0] == 1
    sentence = r"y must leave the mode of theta in the support; got 9.0, which moves it to 6 outsi"
    with pytest.raises(ValueError, match=sentence):
        OuterMeasure(f, NOISE).posterior(9.0)


def test_moment_matching_agrees_with_the_closed_form_where_both_apply():
    f = GaussianPossibility(1.0, 2.0)
    exact, matched = (OuterMeasure(f, family).posterior(2.0) for family in (NOISE, BELL))
    assert matched.mode[0] == pytest.approx(exact.mode[0], abs=1e-8)
    assert matched.covariance[0, 0] == pytest.approx(exact.covariance[0, 0], rel=1e-6)


def test_the_posterior_after_a_label_has_its_mode_where_the_product_is_largest():
    f = GaussianPossibility([0.2, 0.0, -0.4], np.diag([1.0, 2.0, 0.5]))
    g = OuterMeasure(f, SOFTMAX).posterior(1)
    p = np.exp(log_softmax(g.mode))
    np.testing.assert_allclose(g.mode, f.mean + f.covariance @ ([0, 1, 0] - p), atol=1e-7)
    W = np.diag(p) - np.outer(p, p)
    np.testing.assert_allclose(g.precision, f.precision + W, atol=1e-5)


def test_a_matched_posterior_keeps_its_support():
    f = GaussianPossibility(0.0, 1.0, lower=-1, upper=1)
    assert OuterMeasure(f, PROBIT).posterior(1).upper[0] == 1


def test_a_posterior_mode_on_the_edge_is_a_convergence_error():
    f = GaussianPossibility(0.0, 1.0, lower=-1, upper=0)
    with pytest.raises(ConvergenceError, match="log_f must have a mode inside its support"):
        OuterMeasure(f, PROBIT).posterior(1)


# ---------------------------------------------------------------- U^Y three ways


@given(st.floats(-5, 5), st.floats(1e-6, 1e4), st.floats(1e-3, 1e3))
def test_closed_form_on_the_line_is_the_root_of_one_plus_the_ratio_minus_one(mu, s2, noise):
    found = uncertainty(GaussianPossibility(mu, s2), GaussianNoise(noise))
    ratio = s2 / noise
    assert found == pytest.approx(ratio / (np.sqrt(1 + ratio) + 1), rel=1e-10)


@share(0.2)
@given(st.floats(-3, 3), st.floats(0.05, 20), st.floats(0.2, 2))
def test_closed_form_agrees_with_quadrature_of_a_bounded_line_far_from_its_ends(mu, s2, noise):
    far = GaussianPossibility(mu, s2, lower=mu - 1e3, upper=mu + 1e3)
    free = GaussianPossibility(mu, s2)
    exact = uncertainty(free, GaussianNoise(noise))
    estimate = OuterMeasure(far, GaussianNoise(noise)).uncertainty_outcome()
    assert estimate.value == pytest.approx(exact, rel=1e-7)
    assert 0 < estimate.error < 1e-6


def test_closed_form_agrees_with_quadrature_of_a_general_density():
    f = GaussianPossibility(1.0, 2.0)
    estimate = OuterMeasure(f, BELL).uncertainty_outcome()
    assert estimate.value == pytest.approx(np.sqrt(5) - 1, abs=1e-8)


def test_closed_form_agrees_with_importance_sampling_within_its_error():
    f = GaussianPossibility([0.0, 1.0], [[1.0, 0.3], [0.3, 2.0]])
    measure = OuterMeasure(f, NOISE)
    exact = measure.uncertainty_outcome()
    assert exact.value == pytest.approx(np.sqrt(np.linalg.det(np.eye(2) + f.covariance / 0.5)) - 1)
    assert exact.error == 0.0
    proposal = multivariate_t(f.mean, f.covariance + np.eye(2), df=5)
    estimate = measure.uncertainty_outcome_by_sampling(proposal, 2000, np.random.default_rng(7))
    assert 0 < estimate.error < 0.1
    assert abs(estimate.value - exact.value) < 4 * estimate.error


def test_importance_sampling_from_the_marginal_itself_has_no_error():
    measure = OuterMeasure(GaussianPossibility(1.0, 2.0), NOISE)
    estimate = measure.uncertainty_outcome_by_sampling(
        norm(1.0, 2.5**0.5), 10, np.random.default_rng(0)
    )
    assert estimate.value == pytest.approx(np.sqrt(5) - 1)
    assert estimate.error < 1e-12


def test_importance_sampling_serves_a_vector_of_outcomes_with_a_general_density():
    def log_p(y, theta):
        return float(norm.logpdf(y, theta, 0.5**0.5).sum())

    f = GaussianPossibility([0.0, 1.0], np.diag([1.0, 2.0]))
    proposal = multivariate_t(f.mean, f.covariance + np.eye(2), df=8)
    estimates = [
        OuterMeasure(f, family).uncertainty_outcome_by_sampling(
            proposal, 15, np.random.default_rng(3)
        )
        for family in (NOISE, Density(log_p))
    ]
    assert estimates[0].value == pytest.approx(estimates[1].value, rel=1e-6)


def test_importance_sampling_serves_a_box():
    f = GaussianPossibility([0.0, 0.0], np.eye(2), lower=-0.5, upper=0.5)
    line = uncertainty(f.marginal(0), NOISE)
    proposal = multivariate_t([0.0, 0.0], np.eye(2), df=8)
    estimate = OuterMeasure(f, NOISE).uncertainty_outcome_by_sampling(
        proposal, 60, np.random.default_rng(5)
    )
    assert abs(estimate.value - ((1 + line) ** 2 - 1)) < 4 * estimate.error


def test_finitely_many_thetas_with_noise_integrate_the_envelope():
    f = FinitePossibility([0.5, 1.0, 0.0, 0.3], ((-20.0, 0.0, 7.0, 30.0),))
    # The peaks stand so far apart that nothing overlaps: 0.5 + 1 + 0.3 - 1.
    estimate = OuterMeasure(f, GaussianNoise(0.01)).uncertainty_outcome()
    assert estimate.value == pytest.approx(0.8, abs=1e-8)


def test_labels_sum_their_credibilities():
    f = GaussianPossibility(0.7, 1.5)
    axis = np.linspace(-10, 10, 4001)
    sums = [np.exp(f.log(axis) + log_ndtr(sign * axis)).max() for sign in (-1, 1)]
    assert uncertainty(f, PROBIT) == pytest.approx(sum(sums) - 1, abs=1e-5)


@pytest.mark.parametrize(
    ("mean", "variance", "exact"),
    [
        (5.0, 1e-6, 3.8554616340972702e-12),
        (0.0, 1.0, 0.22046079839525558),
    ],  # the last numbers by mpmath, with 40 digits
)
def test_labels_of_a_gaussian_tell_how_far_off_the_search_may_be(mean, variance, exact):
    found = OuterMeasure(GaussianPossibility(mean, variance), PROBIT).uncertainty_outcome()
    assert abs(found.value - exact) <= found.error
    assert 0 < found.error < 2e-9


def test_labels_of_finitely_many_thetas_are_summed_without_error():
    f = FinitePossibility([0.4, 1.0, 0.8], ((0.1, 0.5, 0.9),))
    assert OuterMeasure(f, COIN).uncertainty_outcome().error == 0.0


def test_the_search_is_as_good_far_from_zero():
    far = DiscreteFamily((-1, 1), lambda theta: PROBIT.log_probability(theta - 1e6))
    near = OuterMeasure(GaussianPossibility(0.1, 1.0), PROBIT).uncertainty_outcome()
    moved = OuterMeasure(GaussianPossibility(1e6 + 0.1, 1.0), far).uncertainty_outcome()
    assert moved.value == pytest.approx(near.value, abs=near.error)


@given(st.floats(-9, 9))
def test_the_search_finds_a_peak_as_wide_as_it_promises(centre):
    # Standard deviation 1/8: four of them are the fortieth of 20 standard deviations of theta.
    law = Density(lambda _, theta: 60.0 * np.exp(-0.5 * ((theta - centre) * 8) ** 2))
    found = OuterMeasure(LINE, law).outcome(0.0)
    assert np.log(found) >= 60.0 - 0.5 * centre**2 - 1e-9


@pytest.mark.parametrize(
    "told", [OuterMeasure, OuterMeasure.credibility, OuterMeasure.outcome], ids=lambda m: m.__name__
)
def test_the_condition_of_the_search_is_told(told):
    words = " ".join((told.__doc__ or "").split())
    assert "no peak narrower than about a fortieth of the searched stretch" in words


def test_independent_latents_of_a_softmax_agree_with_a_grid():
    f = GaussianPossibility([0.3, 0.0, -0.5], np.diag([1.0, 0.5, 0.8]))
    axis = np.linspace(-3, 3, 61)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1)
    heights = np.exp(f.log(grid)[..., None] + log_softmax(grid, axis=-1))
    expected = heights.reshape(-1, 3).max(axis=0).sum() - 1
    assert uncertainty(f, SOFTMAX) == pytest.approx(expected, abs=0.01)
    assert uncertainty(f, SOFTMAX) >= expected


def test_nothing_known_of_a_location_is_infinitely_uncertain():
    assert uncertainty(GaussianPossibility(0.0, precision=0.0), NOISE) == np.inf


# ---------------------------------------------------------------- A0 to A4


@given(on_simplex)
def test_a0_uncertainty_of_the_outcome_is_never_negative(f):
    assert uncertainty(f, MULTINOMIAL) >= 0


@given(gaussians(), st.floats(1e-3, 1e3))
def test_a0_uncertainty_under_noise_is_never_negative(f, noise):
    assert uncertainty(f, GaussianNoise(noise)) >= 0


@pytest.mark.parametrize("family", [PROBIT, NOISE, BELL])
def test_a1_a_known_theta_leaves_no_uncertainty_of_the_outcome(family):
    point = GaussianPossibility(1.0, precision=0.0, lower=1, upper=1)
    assert uncertainty(point, family) == pytest.approx(0.0, abs=1e-8)
    assert OuterMeasure(point, family).uncertainty_parameter() == 0.0


@given(st.sampled_from(SIMPLEX))
def test_a1_the_indicator_of_a_point_leaves_no_uncertainty(theta):
    f = FinitePossibility([float(p == theta) for p in SIMPLEX], (SIMPLEX,))
    assert uncertainty(f, MULTINOMIAL) == pytest.approx(0.0, abs=1e-12)


@given(on_simplex)
def test_a2_nothing_known_is_most_uncertain(f):
    nothing = FinitePossibility(np.ones(len(SIMPLEX)), (SIMPLEX,))
    assert uncertainty(f, MULTINOMIAL) <= uncertainty(nothing, MULTINOMIAL) + 1e-12
    assert uncertainty(nothing, MULTINOMIAL) == pytest.approx(2.0)


def mixing(alpha, centre):
    """The map T of A3: p(y | T(theta)) = alpha p(y | theta) + (1 - alpha) p(y)."""
    return lambda theta: tuple(
        alpha * t + (1 - alpha) * c for t, c in zip(theta, centre, strict=True)
    )


@given(
    simplex_values.map(lambda v: np.where(v >= 0.5, 1.0, 0.0)).filter(lambda v: v.any()),
    st.sampled_from([0.25, 0.5, 0.75, 1.0]),
    st.sampled_from(SIMPLEX),
)
def test_a3_uncertainty_scales_with_the_mixing_weight_for_indicators_of_sets(values, alpha, c):
    f = FinitePossibility(values, (SIMPLEX,))
    mixed = uncertainty(f.map(mixing(alpha, c)), MULTINOMIAL)
    assert mixed == pytest.approx(alpha * uncertainty(f, MULTINOMIAL), abs=1e-12)


@given(on_simplex, st.sampled_from([0.25, 0.5, 0.75, 1.0]), st.sampled_from(SIMPLEX))
def test_a3_in_general_uncertainty_scales_with_at_most_the_mixing_weight(f, alpha, c):
    mixed = uncertainty(f.map(mixing(alpha, c)), MULTINOMIAL)
    assert mixed <= alpha * uncertainty(f, MULTINOMIAL) + 1e-12


def test_a3_as_claimed_fails_where_the_largest_credibility_is_at_a_doubtful_theta():
    # The proof takes (1 - alpha) p(y) out of the supremum, but there it is multiplied by f < 1.
    f = FinitePossibility([1.0, 0.6], ((0.5, 1.0),))
    mixed = f.map(lambda theta: 0.5 * theta + 0.5 * 0.5)
    assert uncertainty(f, COIN) == pytest.approx(0.1)
    assert uncertainty(mixed, COIN) == pytest.approx(0.0, abs=1e-12)


def test_a3_prime_of_the_remark_fails_for_the_outcome_for_the_same_reason():
    f = FinitePossibility([1.0, 0.6], ((0.4, 0.8),))
    shifted = f.map(lambda theta: theta + 0.2)
    assert uncertainty(f, COIN) == pytest.approx(0.08)
    assert uncertainty(shifted, COIN) == pytest.approx(0.0, abs=1e-12)


@given(st.sampled_from(COINS), st.sampled_from(COINS), st.floats(0.05, 0.95))
def test_a3_with_a_bijection_of_all_of_theta_holds_for_laws_that_ignore_theta_alone(p, q, alpha):
    # T^-k theta exists for every k, and has the law p + alpha^-k (q - p).
    steps = np.linspace(0.0, 700.0, 1000) / -np.log(alpha)
    laws = p + alpha**-steps * (q - p)
    assert bool(((laws >= 0) & (laws <= 1)).all()) == (p == q)


@given(on_simplex, st.sampled_from(SIMPLEX))
def test_the_credibility_of_a_theta_is_its_possibility_whatever_it_does_to_the_outcome(f, theta):
    measure = OuterMeasure(f, MULTINOMIAL)
    assert measure.credibility([theta], [0, 1, 2]) == pytest.approx(f(theta), abs=1e-12)
    assert measure.credibility([theta]) == f(theta)


@given(on_simplex, simplex_values)
def test_a4_weak_losing_information_never_lowers_the_uncertainty_of_the_outcome(f, extra):
    vaguer = FinitePossibility(np.maximum(f.values, extra), (SIMPLEX,))
    assert uncertainty(vaguer, MULTINOMIAL) >= uncertainty(f, MULTINOMIAL) - 1e-12


@share(0.3)
@given(st.floats(-4, 4), st.floats(0.01, 20), st.floats(1.1, 10))
def test_a4_weak_a_wider_gaussian_is_not_less_uncertain_about_the_label(mu, s2, factor):
    sharp, vague = GaussianPossibility(mu, s2), GaussianPossibility(mu, s2 * factor)
    assert uncertainty(vague, PROBIT) >= uncertainty(sharp, PROBIT) - 1e-9


def test_a4_strict_fails_for_the_outcome_the_remark_on_zero_or_one():
    zero_or_one = FinitePossibility([float(t in (0, 1)) for t in COINS], (COINS,))
    nothing = FinitePossibility(np.ones(len(COINS)), (COINS,))
    assert uncertainty(zero_or_one, COIN) == uncertainty(nothing, COIN) == 1.0
    assert zero_or_one.volume() < nothing.volume()


def test_a4_footnote_needs_f_to_be_larger_everywhere_for_the_outcome_too():
    f, elsewhere = GaussianPossibility(0.0, 1.0), GaussianPossibility(10.0, 0.01)
    assert float(elsewhere(10.0)) > float(f(10.0))
    assert uncertainty(elsewhere, NOISE) < uncertainty(f, NOISE)


@given(gaussians())
def test_uncertainty_of_the_parameter_is_the_volume_whatever_the_family(f):
    assert OuterMeasure(f, NOISE).uncertainty_parameter() == f.volume()


@share(0.2)
@given(st.floats(0.1, 3), st.floats(0.1, 3))
def test_the_integral_of_the_outcome_marginal_is_one_more_than_the_uncertainty(s2, noise):
    measure = OuterMeasure(GaussianPossibility(0.0, s2), GaussianNoise(noise))
    total = quad(measure.outcome, -40, 40, points=[0.0])[0]
    assert total == pytest.approx(1 + measure.uncertainty_outcome().value)


# ---------------------------------------------------------------- errors

LINE = GaussianPossibility(0.0, 1.0)
PLANE = GaussianPossibility([0.0, 0.0], np.eye(2))
FLAT = GaussianPossibility([0.0, 0.0], precision=np.zeros((2, 2)))
BOX = GaussianPossibility([0.0, 0.0], np.eye(2), lower=-1, upper=1)
LABELS = DiscreteFamily((0, 1), log_softmax)

SENTENCES = [
    (
        lambda: OuterMeasure(FinitePossibility([1.0], ((1.0,),)), COIN).posterior(0),
        "y must be possible; got 0, which no possible theta gives.",
    ),
    (
        lambda: OuterMeasure(PLANE, NOISE).outcome([1.0, 2.0, 3.0]),
        "y must have 2 entries, like theta; got 3.",
    ),
    (
        lambda: OuterMeasure(PLANE, LABELS).credibility(Interval(0, 1, along=[1, 1]), [0]),
        "parameters must be left out beyond one dimension; got 2 dimensions. Use",
    ),
    (
        lambda: OuterMeasure(FLAT, LABELS).outcome(0),
        "possibility must have a non-singular precision to be searched; got a singular one. Pass",
    ),
    (
        lambda: OuterMeasure(BOX, NOISE).uncertainty_outcome(),
        "possibility must be unbounded or one-dimensional here; got a box of 2 dimensions. Use",
    ),
    (
        lambda: OuterMeasure(LINE, NOISE).uncertainty_outcome_by_sampling(
            norm(0, 1), 1, np.random.default_rng(0)
        ),
        "draws must be at least 2; got 1. A thousand is a start.",
    ),
]


@pytest.mark.parametrize(("act", "sentence"), SENTENCES)
def test_a_bad_argument_gets_one_clear_sentence(act, sentence):
    with pytest.raises(ValueError, match=r"must .*; got") as caught:
        act()
    assert str(caught.value).startswith(sentence)


def test_a_set_of_parameters_must_fit_the_possibility_function():
    with pytest.raises(TypeError, match="parameters must be an Interval for a Gaussian; got list"):
        OuterMeasure(LINE, PROBIT).credibility([0.0, 1.0], [1])
    with pytest.raises(TypeError, match="parameters must be an Interval for a Gaussian; got list"):
        OuterMeasure(LINE, PROBIT).credibility([0.0, 1.0])
    with pytest.raises(
        TypeError, match=r"parameters must be points .* finite set; got an Interval"
    ):
        OuterMeasure(FinitePossibility([1.0]), COIN).credibility(Interval(0, 1), [1])


def test_sampling_needs_a_generator_and_a_whole_number_of_draws():
    sample = OuterMeasure(LINE, NOISE).uncertainty_outcome_by_sampling
    with pytest.raises(TypeError, match=r"rng must be a NumPy Generator; got 0\. Pass np\.random"):
        sample(norm(0, 1), 1000, 0)
    with pytest.raises(TypeError, match=r"draws must be a whole number; got 1000\.0\. A thousand"):
        sample(norm(0, 1), 1e3, np.random.default_rng(0))


def test_quadrature_that_misses_the_mass_is_a_convergence_error():
    spike = Density(lambda y, theta: norm.logpdf(y, theta + 1e6, 1e-3))
    with pytest.raises(ConvergenceError, match=r"family must have its mass where .*; got a total"):
        OuterMeasure(LINE, spike).uncertainty_outcome()
