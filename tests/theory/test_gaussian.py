from dataclasses import FrozenInstanceError
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.optimize import minimize
from support.reference_possibility import (
    gaussians,
    log_on_fibre,
    share,
    singular_gaussians,
    tables,
    unit,
)

from possibal.theory.finite import FinitePossibility
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.interval import Interval

COUPLED = GaussianPossibility([0.5, -1.0], [[2.0, 0.8], [0.8, 1.0]])
BOXED = GaussianPossibility([0.5, 0.2], np.diag([2.0, 1.0]), lower=[-1, -np.inf], upper=[1, 2])
LEANING = GaussianPossibility([0.0, 0.0], [[2.0, 0.8], [0.8, 1.0]], lower=-1, upper=1)


def by_grid(f, axis, event):
    """Possibility of an interval of the line, seen on a grid."""
    low, high = event.ends
    return FinitePossibility.on_grid([axis], f.log).possibility(lambda t: low <= t <= high)


# ---------------------------------------------------------------- the function itself


@given(gaussians(), st.data())
def test_a_gaussian_is_one_at_its_mode_and_nowhere_larger(f, data):
    theta = data.draw(tables(5, f.dimension, elements=st.floats(-50, 50)))
    assert f(f.mode[None])[0] == 1.0
    assert np.all(f(theta) <= 1.0)


@given(gaussians(), st.data())
def test_log_is_the_quadratic_form_of_the_inverse_covariance(f, data):
    theta = data.draw(tables(f.dimension))
    off = theta - f.mean
    expected = -0.5 * off @ np.linalg.inv(f.covariance) @ off
    np.testing.assert_allclose(np.squeeze(f.log(theta)), expected, rtol=1e-7, atol=1e-12)


def test_covariance_is_returned_as_given_and_precision_is_its_inverse():
    assert np.array_equal(COUPLED.covariance, [[2.0, 0.8], [0.8, 1.0]])
    np.testing.assert_allclose(COUPLED.precision @ COUPLED.covariance, np.eye(2), atol=1e-15)


@given(gaussians())
def test_precision_and_covariance_describe_the_same_function(f):
    g = GaussianPossibility(f.mean, precision=f.precision)
    np.testing.assert_allclose(g.covariance, f.covariance, rtol=1e-7, atol=1e-9)


def test_points_come_alone_or_in_batches():
    assert COUPLED.dimension == 2
    assert COUPLED([0.5, -1.0]).shape == ()
    assert COUPLED(np.zeros((4, 3, 2))).shape == (4, 3)


def test_on_the_line_plain_numbers_keep_their_shape():
    f = GaussianPossibility(0.0, 1.0)
    assert f(0.5).shape == ()
    assert f([0.5]).shape == (1,)
    assert f([0.1, 0.2, 0.3]).shape == (3,)
    assert f(np.zeros((3, 1))).shape == (3,)
    assert f(np.zeros((3, 2))).shape == (3, 2)


def test_a_gaussian_never_changes():
    mean, covariance = np.zeros(2), np.eye(2)
    f = GaussianPossibility(mean, covariance)
    mean[0], covariance[0, 0] = 7.0, 7.0
    assert f.mean[0] == 0.0
    assert f.covariance[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        f.covariance[0, 0] = 2.0
    with pytest.raises(FrozenInstanceError):
        f.mean = mean


def test_zero_precision_is_complete_absence_of_information():
    f = GaussianPossibility([0.0, 0.0], precision=np.zeros((2, 2)))
    assert np.all(f(np.random.default_rng(0).normal(size=(9, 2)) * 1e6) == 1.0)
    assert f.is_singular
    assert f.volume() == np.inf
    assert f.possibility(Interval(5, 6, along=[1, 1])) == 1.0
    assert f.necessity(Interval(-5, 6, along=[1, 1])) == 0.0


def test_a_singular_precision_has_no_covariance():
    f = GaussianPossibility([0.0, 0.0], precision=[[1, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"precision must be non-singular .*; got rank 1 of 2"):
        _ = f.covariance
    assert f([3.0, -3.0]) == pytest.approx(1.0)


def test_weak_and_strong_directions_stand_side_by_side():
    f = GaussianPossibility([0.0, 0.0], precision=np.diag([1e-30, 1.0]))
    assert not f.is_singular
    assert f.marginal(0).covariance[0, 0] == pytest.approx(1e30)
    assert f.volume() == pytest.approx(2 * np.pi * 1e15)


# ---------------------------------------------------------------- Prop. 5, Gaussian


@share(0.4)
@given(gaussians(size=3), st.permutations([0, 1, 2]), unit, unit)
def test_prop5_lines_one_to_six_hold_for_gaussians(f, order, alpha, beta):
    i, j, k = order
    cov = f.covariance
    e = np.eye(3)
    alpha, beta = alpha or 1.0, beta or 1.0

    def covariance(*rows, shift=0.0):
        return f.affine(np.array(rows), shift).covariance

    assert f.marginal(i).covariance[0, 0] == pytest.approx(cov[i, i])
    pair = covariance(e[i], e[j])
    assert pair[0, 1] == pair[1, 0]
    np.testing.assert_array_equal(covariance(e[i], e[j], shift=[alpha, beta]), pair)
    scaled = covariance(alpha * e[i], beta * e[j])
    np.testing.assert_allclose(scaled[0, 1], alpha * beta * cov[i, j], atol=1e-12)
    first = covariance(e[i] + e[j], e[k])
    np.testing.assert_allclose(first[0, 1], cov[i, k] + cov[j, k], atol=1e-12)
    second = covariance(e[i], e[j] + e[k])
    np.testing.assert_allclose(second[0, 1], cov[i, j] + cov[i, k], atol=1e-12)


@share(0.4)
@given(gaussians(size=3), tables(2, 3), tables(2))
def test_prop5_line_seven_is_f_cov_f_transposed(f, F, shift):
    if np.linalg.matrix_rank(F, tol=1e-3) < 2:
        return
    g = f.affine(F, shift)
    np.testing.assert_allclose(g.covariance, F @ f.covariance @ F.T, rtol=1e-9, atol=1e-12)
    y = g.mean + np.array([0.3, -0.2])
    np.testing.assert_allclose(g.log(y), log_on_fibre(f, F, y - shift), rtol=1e-5, atol=1e-8)


def test_prop5_line_seven_as_printed_is_another_matrix():
    F = np.array([[1.0, 2.0], [0.0, 1.0]])
    right = COUPLED.affine(F).covariance
    printed = F.T @ COUPLED.covariance @ F
    assert abs(right - printed).max() > 1
    y = np.array([2.0, 0.5])
    np.testing.assert_allclose(COUPLED.affine(F)(y), COUPLED(np.linalg.solve(F, y)))


@share(0.4)
@given(gaussians(), gaussians())
def test_independence_means_no_covariance_and_a_product_of_functions(f, g):
    joint = f.independent(g)
    assert not joint.covariance[: f.dimension, f.dimension :].any()
    theta, phi = f.mean + 0.3, g.mean - 0.2
    both = joint.log(np.concatenate([theta, phi]))
    np.testing.assert_allclose(both, np.squeeze(f.log(theta)) + np.squeeze(g.log(phi)), atol=1e-12)


def test_independence_of_a_singular_function_keeps_its_precision():
    nothing = GaussianPossibility(0.0, precision=0.0, lower=-3)
    joint = COUPLED.independent(nothing)
    np.testing.assert_array_equal(joint.precision[:2, :2], COUPLED.precision)
    assert joint.is_singular
    assert joint.lower[2] == -3


@share(0.4)
@given(gaussians(size=3))
def test_consistency_criterion_the_marginal_covariance_is_the_block(f):
    by_precision = GaussianPossibility(f.mean, precision=f.precision)
    block = f.covariance[np.ix_([2, 0], [2, 0])]
    np.testing.assert_array_equal(f.marginal([2, 0]).covariance, block)
    np.testing.assert_allclose(by_precision.marginal([2, 0]).covariance, block, rtol=1e-6)


@share(0.4)
@given(gaussians(size=3))
def test_marginal_precision_is_the_schur_complement_of_appendix_a(f):
    P = f.precision
    expected = P[:2, :2] - np.outer(P[:2, 2], P[2, :2]) / P[2, 2]
    np.testing.assert_allclose(f.marginal([0, 1]).precision, expected, rtol=1e-6, atol=1e-6)


@share(0.4)
@given(gaussians(size=3), unit, unit)
def test_the_best_split_of_a_sum_is_that_of_appendix_a_with_c22_c33(f, h4, h3):
    c = f.covariance
    bottom = (
        c[0, 0] * c[2, 2]
        + 2 * c[0, 1] * c[2, 2]
        - c[0, 2] ** 2
        - 2 * c[0, 2] * c[1, 2]
        + c[1, 1] * c[2, 2]
        - c[1, 2] ** 2
    )  # fmt: skip - the paper prints c22 c23 for c22 c33
    top = h3 * (
        -c[0, 0] * c[1, 2] + c[0, 1] * c[0, 2] - c[0, 1] * c[1, 2] + c[0, 2] * c[1, 1]
    ) + h4 * (c[0, 0] * c[2, 2] + c[0, 1] * c[2, 2] - c[0, 2] ** 2 - c[0, 2] * c[1, 2])
    h1 = top / bottom
    image = f.affine([[1, 1, 0], [0, 0, 1]])
    best = f.log(f.mean + np.array([h1, h4 - h1, h3]))
    np.testing.assert_allclose(
        best, image.log(image.mean + np.array([h4, h3])), rtol=1e-6, atol=1e-9
    )


# ---------------------------------------------------------------- conditioning


@share(0.4)
@given(gaussians(size=3), unit, unit)
def test_condition_follows_the_corrected_formula(f, first, second):
    g = f.condition({2: second, 0: first})
    cov, known = f.covariance, [2, 0]
    cov_12, cov_22 = cov[np.ix_([1], known)], cov[np.ix_(known, known)]
    mode = f.mean[1] + cov_12 @ np.linalg.solve(cov_22, [second - f.mean[2], first - f.mean[0]])
    np.testing.assert_allclose(g.mode, mode, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        g.covariance, cov[1, 1] - cov_12 @ np.linalg.solve(cov_22, cov_12.T), rtol=1e-6, atol=1e-8
    )


def test_condition_agrees_with_a_grid_and_not_with_the_misprint():
    axis = np.linspace(-6, 6, 241)
    on_grid = FinitePossibility.on_grid([axis, axis], COUPLED.log)
    g, seen = COUPLED.condition({1: 0.5}), on_grid.condition({1: 0.5})
    np.testing.assert_allclose(seen.values, g(axis) / g(axis).max(), atol=1e-12)
    misprint = 0.5 + 0.8 / 2.0 * (0.5 + 1.0)  # S21 S11^-1
    assert abs(seen.mode[0] - g.mode[0]) <= 0.025
    assert abs(seen.mode[0] - misprint) > 0.5


@share(0.4)
@given(gaussians(size=3), tables(3))
def test_joint_is_conditional_times_marginal(f, theta):
    product = f.condition({1: theta[1]}).log(theta[[0, 2]]) + f.marginal(1).log(theta[1])
    np.testing.assert_allclose(f.log(theta), product, rtol=1e-6, atol=1e-8)


@share(0.4)
@given(gaussians(size=3), unit)
def test_conditioning_agrees_with_marginalising(f, value):
    one = f.marginal([0, 2]).condition({1: value})
    other = f.condition({2: value}).marginal(0)
    np.testing.assert_allclose(one.mode, other.mode, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-6)


@given(singular_gaussians(), tables(3))
def test_condition_of_a_singular_precision_is_still_the_ratio(f, theta):
    g = f.condition({0: theta[0]})
    ratio = f.log(theta) - log_on_fibre(f, np.eye(3)[:1], theta[:1])
    np.testing.assert_allclose(g.log(theta[1:]), ratio, rtol=1e-6, atol=1e-7)


@given(singular_gaussians(), tables(2, 3, elements=st.integers(-2, 2)))
def test_affine_image_of_a_singular_precision_is_the_supremum_over_the_fibre(f, F):
    if np.linalg.matrix_rank(F) < 2:
        return
    g = f.affine(F)
    y = g.mean + np.array([0.7, -0.4])
    np.testing.assert_allclose(g.log(y), log_on_fibre(f, F, y), rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------- the mode and maps


@share(0.4)
@given(gaussians(size=3), tables(2, 3), unit)
def test_the_mode_of_an_affine_image_is_the_image_of_the_mode(f, F, shift):
    if np.linalg.matrix_rank(F, tol=1e-3) == 2:
        np.testing.assert_allclose(f.affine(F, shift).mode, F @ f.mode + shift)


# ---------------------------------------------------------------- events of a Gaussian


@given(gaussians(size=1), unit, st.floats(0.01, 3))
def test_possibility_and_necessity_of_an_interval_agree_with_a_grid(f, low, width):
    event = Interval(low, low + width)
    axis = np.sort(np.concatenate([np.linspace(-30, 30, 101), [low, low + width], f.mean]))
    axis = np.unique(axis)
    assert f.possibility(event) == pytest.approx(by_grid(f, axis, event), abs=1e-12)
    below, above = Interval(high=low), Interval(low=low + width)
    rival = max(by_grid(f, axis, below), by_grid(f, axis, above))
    assert f.necessity(event) == pytest.approx(1 - rival, abs=1e-12)


@share(0.4)
@given(gaussians(size=2), tables(2), unit, st.floats(0, 2))
def test_a_certain_event_is_wholly_possible(f, along, low, width):
    if np.abs(along).max() < 0.1:
        return
    event = Interval(low, low + width, along=along)
    assert 0 <= f.necessity(event) <= f.possibility(event) <= 1
    assert f.necessity(event) == 0 or f.possibility(event) == 1


def test_possibility_of_a_half_space_agrees_with_a_constrained_search():
    f = GaussianPossibility([0.5, -1.0, 0.2], [[2, 0.8, 0.1], [0.8, 1, -0.3], [0.1, -0.3, 0.7]])
    along, low = np.array([1.0, 2.0, -1.0]), 1.5
    found = minimize(
        lambda t: -float(f.log(t)),
        f.mean,
        constraints={"type": "ineq", "fun": lambda t: along @ t - low},
        tol=1e-12,
    )
    assert f.possibility(Interval(low, along=along)) == pytest.approx(np.exp(-found.fun), rel=1e-6)


@given(st.floats(0.01, 3), st.floats(0.1, 4))
def test_necessity_of_the_sign_is_that_of_prop_2(mu, sigma2):
    f = GaussianPossibility(mu, sigma2)
    expected = -np.expm1(-(mu**2) / (2 * sigma2))
    assert f.necessity(Interval(low=0)) == pytest.approx(expected, rel=1e-12)


def test_necessity_of_an_order_is_that_of_prop_3():
    f = GaussianPossibility([1.0, 0.2], np.diag([0.5, 0.7]))
    expected = 1 - np.exp(-0.5 * 0.8**2 / 1.2)
    assert f.necessity(Interval(low=0, along=[1, -1])) == pytest.approx(expected)


def test_necessity_keeps_its_digits_near_zero_and_possibility_near_one_of_its_ends():
    f = GaussianPossibility(1e-9, 1.0)
    assert f.necessity(Interval(low=0)) == pytest.approx(5e-19, rel=1e-12)
    far = GaussianPossibility(30.0, 1.0)
    assert far.possibility(Interval(high=0)) == pytest.approx(np.exp(-450), rel=1e-12)


# ---------------------------------------------------------------- bounded support


def test_the_function_is_zero_off_its_support_and_unchanged_on_it():
    free = GaussianPossibility([0.5, 0.2], np.diag([2.0, 1.0]))
    inside, outside = [0.9, -7.0], [1.1, 0.0]
    assert BOXED(inside) == free(inside)
    assert BOXED(outside) == 0.0
    assert BOXED.is_bounded
    assert not free.is_bounded


def test_events_on_a_bounded_line_agree_with_a_grid():
    f = GaussianPossibility(0.5, 2.0, lower=-1, upper=2)
    axis = np.linspace(-1, 2, 301)
    for low, high in pairwise([-5, -1, -0.5, 0.5, 1.25, 2, 5]):
        event = Interval(low, high)
        assert f.possibility(event) == pytest.approx(by_grid(f, axis, event))
    assert f.possibility(Interval(2.5, 3)) == 0.0
    assert f.necessity(Interval(-1, 2)) == 1.0
    assert f.necessity(Interval(-1, 1)) == pytest.approx(1 - float(f(1.0)))
    assert f.necessity(Interval(0, 2)) == pytest.approx(1 - float(f(0.0)))


def test_a_bounded_line_may_be_turned_and_stretched():
    f = GaussianPossibility(0.5, 2.0, lower=-1, upper=2).affine(-2.0, shift=1.0)
    assert (f.lower[0], f.mean[0], f.upper[0]) == (-3.0, 0.0, 3.0)
    assert f.covariance[0, 0] == 8.0


def test_uncoupled_bounded_coordinates_can_be_dropped_kept_and_conditioned():
    assert BOXED.marginal(1).upper[0] == 2
    assert BOXED.marginal([1, 0]).lower[1] == -1
    rest = BOXED.condition({0: 0.9})
    assert rest.mean[0] == pytest.approx(0.2)
    assert rest.upper[0] == 2
    event = Interval(low=0.5, along=[0, 1])
    assert BOXED.possibility(event) == BOXED.marginal(1).possibility(Interval(low=0.5))


def test_uncoupled_coordinates_given_by_precision_stay_uncoupled():
    f = GaussianPossibility(
        [0.5, 0.2, 0.1], precision=[[2, 0, 0.7], [0, 3, 0], [0.7, 0, 1]], upper=[np.inf, 1, np.inf]
    )
    turned = f.marginal([2, 1, 0])
    assert turned.volume() == pytest.approx(f.volume())
    assert turned.marginal([0, 2]).volume() == pytest.approx(f.marginal([0, 2]).volume())


def test_coupled_bounded_coordinates_condition_as_long_as_the_mode_stays_inside():
    g = LEANING.condition({1: 0.5})
    assert g.mean[0] == pytest.approx(0.4)
    axis = np.linspace(-1, 1, 201)
    seen = FinitePossibility.on_grid([axis, axis], LEANING.log).condition({1: 0.5})
    np.testing.assert_allclose(seen.values, g(axis), atol=1e-9)


def test_an_unbounded_coordinate_can_be_dropped_although_it_is_coupled():
    f = GaussianPossibility([0.0, 0.0], [[2.0, 0.8], [0.8, 1.0]], lower=[-1, -np.inf])
    g = f.marginal(0)
    axis, wide = np.linspace(-1, 3, 41), np.linspace(-8, 8, 1601)
    seen = FinitePossibility.on_grid([axis, wide], f.log).marginal(0)
    np.testing.assert_allclose(seen.values, g(axis), atol=1e-4)


# ---------------------------------------------------------------- U^Theta


@pytest.mark.parametrize(
    "f",
    [
        GaussianPossibility(0.5, 2.0),
        GaussianPossibility(0.5, 2.0, lower=-1, upper=1),
        GaussianPossibility(0.5, 2.0, lower=0.5),
        GaussianPossibility(0.5, precision=0.0, lower=-1, upper=1),
    ],
)
def test_volume_on_the_line_is_the_integral(f):
    low, high = max(float(f.lower[0]), -40.0), min(float(f.upper[0]), 40.0)
    assert f.volume() == pytest.approx(quad(f, low, high, points=[0.5])[0])


def test_volume_in_the_plane_is_the_integral():
    expected = dblquad(lambda a, b: COUPLED([a, b]), -12, 12, -12, 12)[0]
    assert COUPLED.volume() == pytest.approx(expected)
    boxed = dblquad(lambda a, b: BOXED([a, b]), -12, 2, -1, 1)[0]
    assert BOXED.volume() == pytest.approx(boxed)


def test_volume_of_a_bounded_coordinate_beside_unbounded_ones_is_the_product():
    f = COUPLED.independent(GaussianPossibility(0.0, precision=0.0, lower=-2, upper=1))
    assert f.volume() == pytest.approx(3 * COUPLED.volume())
    g = GaussianPossibility(0.0, precision=0.0).independent(BOXED)
    assert g.volume() == np.inf


@given(gaussians())
def test_a0_volume_is_never_negative(f):
    assert f.volume() > 0


def test_a1_volume_of_a_known_point_is_zero():
    point = GaussianPossibility([1.0, 2.0], precision=np.eye(2), lower=[1, 2], upper=[1, 2])
    assert point.volume() == 0.0
    nothing = GaussianPossibility(0.0, precision=0.0)
    assert nothing.independent(point).volume() == 0.0
    narrow = [GaussianPossibility(0.0, s).volume() for s in (1.0, 1e-8, 1e-16)]
    assert narrow[2] < narrow[1] < narrow[0]
    assert narrow[2] == pytest.approx(0.0, abs=1e-7)


@given(st.floats(-1, 1), st.floats(1e-3, 1e3))
def test_a2_volume_is_largest_where_nothing_is_known(mean, variance):
    box = {"lower": -1, "upper": 1}
    vague = GaussianPossibility(mean, precision=0.0, **box)
    assert GaussianPossibility(mean, variance, **box).volume() <= vague.volume() == 2.0


@given(st.floats(0.1, 1.0), st.floats(0.0, 1.0))
def test_a3_volume_scales_with_the_mixing_weight_for_two_labels(alpha, centre):
    f = GaussianPossibility(0.4, 0.05, lower=0, upper=1)
    mixed = f.affine(alpha, shift=(1 - alpha) * centre)
    assert mixed.volume() == pytest.approx(alpha * f.volume())


@pytest.mark.parametrize(("labels", "power"), [(2, 1), (3, 2), (4, 3)])
def test_a3_volume_on_the_simplex_scales_with_the_weight_to_the_number_of_free_labels(
    labels, power
):
    # The simplex of C labels has C - 1 free coordinates, so Prop. 1 holds for C = 2 only.
    free = labels - 1
    f = GaussianPossibility(np.full(free, 1 / labels), 0.01 * np.eye(free))
    alpha = 0.5
    mixed = f.affine(alpha * np.eye(free), shift=(1 - alpha) / labels)
    assert mixed.volume() == pytest.approx(alpha**power * f.volume())


@given(gaussians(), st.floats(1.01, 10))
def test_a4_strict_losing_information_raises_the_volume(f, factor):
    vaguer = GaussianPossibility(f.mean, factor * f.covariance)
    assert vaguer.volume() > f.volume()


def test_a4_is_not_strict_where_the_volume_is_infinite():
    nothing = GaussianPossibility([0.0, 0.0], precision=np.zeros((2, 2)))
    half = GaussianPossibility([0.0, 0.0], precision=np.diag([1.0, 0.0]))
    assert float(nothing([1.0, 0.0])) > float(half([1.0, 0.0]))
    assert nothing.volume() == half.volume() == np.inf


def test_a4_footnote_needs_f_to_be_larger_everywhere():
    f, elsewhere = GaussianPossibility(0.0, 1.0), GaussianPossibility(10.0, 0.01)
    region = np.linspace(9.9, 10.1, 11)
    assert np.all(elsewhere(region) > f(region))
    assert elsewhere.volume() < f.volume()


# ---------------------------------------------------------------- errors

SENTENCES = [
    (lambda: GaussianPossibility([], 1.0), "mean must have at least one entry; got none."),
    (
        lambda: GaussianPossibility([0, 0], [[1, 2], [2, 1]]),
        "covariance must be positive definite; got smallest eigenvalue -1. Drop",
    ),
    (
        lambda: GaussianPossibility([0, 0], precision=np.diag([1, -0.3])),
        "precision must be positive semi-definite; got smallest eigenvalue -0.3. Check",
    ),
    (
        lambda: GaussianPossibility(0, 1, lower=1),
        "mean must lie in the support; got 0 outside [1, inf] at coordinate 0. Widen",
    ),
    (
        lambda: GaussianPossibility(0, 1, lower=[1, 2]),
        "lower must be a number or 1 of them, none NaN; got [1, 2].",
    ),
    (
        lambda: GaussianPossibility(0, 1, upper=np.nan),
        "upper must be a number or 1 of them, none NaN; got nan. Leave it out where there is no",
    ),
    (
        lambda: GaussianPossibility(0, 1, lower="x"),
        "lower must be a number or 1 of them, none NaN; got 'x'. Leave it out where",
    ),
    (
        lambda: GaussianPossibility(0, 1, upper=[[1], [1, 2]]),
        "upper must be a number or 1 of them, none NaN; got [[1], [1, 2]]. Leave it out where",
    ),
    (
        lambda: GaussianPossibility(0, 1, upper=None),
        "upper must be a number or 1 of them, none NaN; got None. Leave it out where",
    ),
    (
        lambda: COUPLED([1.0, 2.0, 3.0]),
        "theta must have 2 entries on its last axis; got shape (3,).",
    ),
    (lambda: COUPLED(1.0), "theta must have 2 entries on its last axis; got shape ()."),
    (
        lambda: COUPLED.affine([1, 2, 3]),
        "F must have 2 columns, one per coordinate; got shape (1, 3)",
    ),
    (
        lambda: COUPLED.affine([[1, 1], [2, 2]]),
        "F must have full row rank, or F theta has no covariance; got rank 1 for 2 rows. Drop",
    ),
    (lambda: COUPLED.affine(np.eye(2), [1, 2, 3]), "shift must be a number or have 2 entries; got"),
    (
        lambda: BOXED.affine([1, 1]),
        "support must be unbounded where coordinates mix; got coordinate 0 in [-1, 1]. Use",
    ),
    (lambda: LEANING.marginal(0), "support must be unbounded where coordinates mix; got coord"),
    (LEANING.volume, "support must be unbounded where coordinates are coupled; got a bounded one."),
    (
        lambda: LEANING.condition({1: 1.5}),
        "given must lie in the support; got [1.5]. What is impossible is not known.",
    ),
    (
        lambda: GaussianPossibility([0, 0], [[4, 1.5], [1.5, 1]], lower=-1, upper=1).condition(
            {1: 1}
        ),
        "given must leave the mode of the rest in the support; got mode [1.5]. Use",
    ),
    (lambda: COUPLED.condition({0: 1, 1: 1}), "given must leave at least one coordinate; got all"),
    (lambda: COUPLED.condition({}), "given must hold distinct indices from 0 to 1, at least one; "),
    (
        lambda: COUPLED.marginal(2),
        "keep must hold distinct indices from 0 to 1, at least one; got 2",
    ),
    (
        lambda: COUPLED.marginal([0, 0]),
        "keep must hold distinct indices from 0 to 1, at least one;",
    ),
    (
        lambda: COUPLED.possibility(Interval(0, 1)),
        "along must have 2 entries, one per coordinate; got 1.",
    ),
]


@pytest.mark.parametrize(("act", "sentence"), SENTENCES)
def test_a_bad_argument_gets_one_clear_sentence(act, sentence):
    with pytest.raises(ValueError, match=r"must .*; got") as caught:
        act()
    assert str(caught.value).startswith(sentence)


def test_an_argument_of_another_kind_gets_one_clear_sentence():
    with pytest.raises(TypeError, match=r"given must map indices .*; got list\. Write {0: 1.5}"):
        COUPLED.condition([1])
    with pytest.raises(TypeError, match=r"event must be an Interval; got tuple\. Write Interval"):
        COUPLED.necessity((0, 1))


@pytest.mark.parametrize(("arguments", "got"), [({}, "neither"), ({"precision": 1}, "both")])
def test_covariance_or_precision_must_be_given(arguments, got):
    covariance = None if got == "neither" else 1.0
    sentence = f"covariance or precision must be given, and not both; got {got}. For complete"
    with pytest.raises(TypeError, match=sentence):
        GaussianPossibility(0.0, covariance, **arguments)


@pytest.mark.parametrize("variance", [1.7e308, 1e306, 1e-306, 5e-324])
def test_a_variance_without_an_inverse_is_refused(variance):
    with pytest.raises(ValueError, match=r"covariance must have variances .* at coordinate 1\. Ch"):
        GaussianPossibility([0.0, 0.0], np.diag([1.0, variance]))


@pytest.mark.parametrize("variance", [1e-305, 1e305])
def test_the_least_and_the_largest_variance_warn_of_nothing(variance):
    f = GaussianPossibility(0.0, variance)
    assert f.log(variance**0.5) == pytest.approx(-0.5)
    factor = variance**-0.5
    assert f.affine([[factor]]).log(1.0) == pytest.approx(-0.5)
    assert f(1e308) == 0.0
