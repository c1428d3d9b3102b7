import numpy as np
import pytest
from scipy.optimize import minimize
from support.reference_possibility import log_sup, skewed

from possibal.errors import ConvergenceError
from possibal.theory.moment_matching import moment_match

# ---------------------------------------------------------------- Prop. 5, smooth functions


@pytest.fixture(scope="module")
def matched():
    return moment_match(skewed, [0.4, -0.3, 0.2])


def test_a_smooth_function_is_matched_at_its_mode(matched):
    curvature = np.array([[2.09, 0.6, 0.3], [0.6, 2.0, -0.5], [0.3, -0.5, 2.0]])
    np.testing.assert_allclose(matched.mean, 0.0, atol=1e-8)
    np.testing.assert_allclose(matched.precision, curvature, atol=1e-6)


def test_the_expansion_of_appendix_a_needs_its_minus_sign_and_its_half(matched):
    h = 1e-3 * np.array([1.0, -2.0, 0.5])
    expected = 1 - 0.5 * h @ matched.precision @ h
    assert np.exp(skewed(h)) == pytest.approx(expected, abs=1e-8)


def test_prop5_line_one_the_variance_of_a_smooth_marginal_is_on_the_diagonal(matched):
    def marginal(a):
        found = minimize(lambda r: -skewed((a, *r)), np.zeros(2), tol=1e-12)
        return -found.fun

    step = 0.05  # an inner search leaves noise that a small step would magnify
    curvature = -(marginal(step) - 2 * marginal(0.0) + marginal(-step)) / step**2
    assert 1 / curvature == pytest.approx(matched.covariance[0, 0], rel=2e-3)


def test_prop5_line_three_shifts_do_not_change_a_smooth_covariance(matched):
    shift = np.array([3.0, -2.0, 1.0])
    moved = moment_match(lambda y: skewed(y - shift), shift + 0.1)
    np.testing.assert_allclose(moved.mean, shift, atol=1e-8)
    np.testing.assert_allclose(moved.covariance, matched.covariance, atol=1e-6)


def test_prop5_line_four_scales_multiply_a_smooth_covariance(matched):
    scale = np.array([2.0, -0.5, 3.0])
    stretched = moment_match(lambda y: skewed(y / scale), scale / 10)
    expected = matched.covariance * np.outer(scale, scale)
    np.testing.assert_allclose(stretched.covariance, expected, atol=1e-5)


def test_prop5_line_five_sums_add_smooth_covariances(matched):
    def pushed(y):
        total, c = y
        return log_sup(lambda a: skewed((a, total - a, c)))

    image = moment_match(pushed, [0.1, -0.1])
    cov = matched.covariance
    assert image.covariance[0, 1] == pytest.approx(cov[0, 2] + cov[1, 2], abs=1e-4)
    assert image.covariance[0, 0] == pytest.approx(cov[0, 0] + 2 * cov[0, 1] + cov[1, 1], rel=1e-3)


def test_prop5_line_seven_maps_carry_smooth_covariances(matched):
    F = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [-0.5, 0.0, 1.0]])
    image = moment_match(lambda y: skewed(np.linalg.solve(F, y)), [0.1, 0.1, 0.1])
    np.testing.assert_allclose(image.covariance, F @ matched.covariance @ F.T, atol=1e-5)


def test_consistency_criterion_holds_for_a_smooth_function(matched):
    image = moment_match(lambda y: log_sup(lambda c: skewed((y[0], y[1], c))), [0.1, 0.1])
    np.testing.assert_allclose(image.covariance, matched.covariance[:2, :2], atol=1e-4)


def test_derivatives_may_be_given():
    f = moment_match(
        lambda t: -np.cosh(t - 1.0),
        0.3,
        gradient=lambda t: -np.sinh(t - 1.0),
        hessian=lambda t: -np.cosh(t - 1.0),
    )
    assert f.mean[0] == pytest.approx(1.0, abs=1e-9)
    assert f.precision[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "log_f",
    [
        lambda t: t,  # no mode
        lambda t: t * t,  # a least value instead
        lambda t: -t if t >= 0 else -np.inf,  # a mode on the edge
    ],
)
def test_no_inner_mode_is_a_convergence_error(log_f):
    sentence = "log_f must have a mode inside its support, .*; got none from start 0.5. Start"
    with pytest.raises(ConvergenceError, match=sentence):
        moment_match(log_f, 0.5)


def test_a_search_that_does_not_settle_is_a_convergence_error():
    with pytest.raises(ConvergenceError):
        moment_match(
            lambda t: -np.sqrt(1 + t * t),
            0.5,
            gradient=lambda t: -t / np.sqrt(1 + t * t),
            hessian=lambda _: -0.3,  # wrong on purpose: every step goes too far
        )


@pytest.mark.parametrize(
    "log_f",
    [
        lambda t: -(t**4),
        lambda t: -(t**6),
        lambda t: -abs(t),
        lambda t: -(abs(t) ** 1.5),
        lambda t: -(abs(t) ** 3),
        lambda t: -t * t - 0.3 * abs(t),  # a kink on top of a proper bend
        lambda t: -t * t if t < 0 else -3 * t * t,  # two bends
    ],
)
def test_a_mode_without_a_proper_second_derivative_is_a_convergence_error(log_f):
    sentence = "log_f must have a second derivative at its mode, .*; got .* Use FinitePossibility"
    with pytest.raises(ConvergenceError, match=sentence):
        moment_match(log_f, 0.5)


def test_a_flat_direction_is_seen_although_no_axis_is_flat():
    with pytest.raises(ConvergenceError, match="log_f must have a second derivative at its mode"):
        moment_match(lambda t: -((t[0] + t[1]) ** 4) - (t[0] - t[1]) ** 2, [0.5, 0.3])


def test_a_flat_mode_is_seen_although_its_derivatives_are_given():
    with pytest.raises(ConvergenceError, match="log_f must have a second derivative at its mode"):
        moment_match(
            lambda t: -(t**4), 0.5, gradient=lambda t: -4 * t**3, hessian=lambda t: -12 * t**2
        )


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_narrow_ridge_and_any_unit_pass_for_smooth(scale):
    precision = np.array([[1.0, 0.999], [0.999, 1.0]])
    f = moment_match(lambda t: -0.5 * (t / scale) @ precision @ (t / scale), scale * np.ones(2))
    np.testing.assert_allclose(f.precision * scale**2, precision, rtol=1e-6)


def test_a_mode_close_to_the_edge_of_the_support_passes_for_smooth():
    f = moment_match(lambda t: -0.5 * t * t if t >= -1e-5 else -np.inf, 0.5e-5)
    assert f.precision[0, 0] == pytest.approx(1.0, rel=1e-3)


def test_a_start_without_entries_is_refused():
    with pytest.raises(ValueError, match=r"start must have at least one entry; got none\. Name"):
        moment_match(skewed, [])
