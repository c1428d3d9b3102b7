from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import reference_gp
from support.stacks import CASES, Problem, each_case, few, seeds

from possibal.gp import laplace
from possibal.gp.laplace import sensitivity

# ---------------------------------------------------------------- the mode


@each_case
@few
@given(seed=seeds)
def test_at_the_mode_the_gradient_is_the_prior_precision_times_the_mode(case, seed):
    problem = Problem.random(case, seed)
    mode = problem.climb()
    np.testing.assert_allclose(mode.a, mode.curvature.gradient, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        mode.g, (problem.K @ mode.curvature.gradient[..., None])[..., 0], rtol=1e-9, atol=1e-9
    )


@each_case
@few
@given(seed=seeds)
def test_the_mode_agrees_with_the_dense_reference(case, seed):
    check_mode(Problem.random(case, seed))
    check_mode(Problem.random(case, seed).with_mean(seed))


def check_mode(problem):
    mode, dense = problem.climb(), problem.dense()
    assert mode.settled.all()
    np.testing.assert_allclose(mode.g[0].ravel(), dense.g, rtol=1e-8, atol=1e-8)
    assert mode.log_peak[0] == pytest.approx(dense.psi, rel=1e-8)


@each_case
@few
@given(seed=seeds)
def test_the_log_evidence_agrees_with_the_dense_reference(case, seed):
    for problem in (Problem.random(case, seed), Problem.random(case, seed).with_mean(seed)):
        exact = problem.dense().log_evidence
        assert problem.climb().log_evidence[0] == pytest.approx(exact, rel=1e-8)


@given(seed=seeds)
def test_the_log_evidence_of_numbers_is_the_density_of_a_gaussian(seed):
    problem = Problem.random(CASES[2], seed)
    exact = reference_gp.log_gaussian_evidence(
        problem.K[0, 0], problem.y[0, 0], problem.weight[0, 0]
    )
    assert problem.climb().log_evidence[0] == pytest.approx(exact, rel=1e-10)


# ---------------------------------------------------------------- derivatives


@each_case
@few
@given(seed=seeds)
def test_sensitivity_is_the_derivative_of_the_log_evidence(case, seed):
    problem = Problem.random(case, seed).with_mean(seed)
    mode = problem.climb()
    G = sensitivity(mode, problem.K)
    np.testing.assert_allclose(G, np.swapaxes(G, 2, 3), rtol=1e-12, atol=1e-12)
    H = np.random.default_rng(seed).normal(size=problem.K.shape)
    H = H + np.swapaxes(H, 2, 3)
    step = 1e-5 * np.diagonal(problem.K, axis1=2, axis2=3).min()
    up, down = (replace(problem, K=problem.K + sign * step * H).climb(mode.a) for sign in (1, -1))
    slope = (up.log_evidence - down.log_evidence)[0] / (2 * step)
    size = float(np.abs(G * H).sum())  # the terms may cancel
    assert (G * H).sum() == pytest.approx(slope, rel=1e-5, abs=1e-6 * size + 1e-6)


# ---------------------------------------------------------------- stacks and starts


@each_case
@few
@given(seed=seeds)
def test_a_stack_gives_what_its_members_give_alone(case, seed):
    problem = Problem.random(case, seed, members=4).with_mean(seed)
    problem.K *= np.array([1e-3, 1.0, 30.0, 1e3])[:, None, None, None]  # they settle one by one
    mode = problem.climb()
    G = sensitivity(mode, problem.K)
    for s in range(4):
        alone = problem.member(s).climb()
        np.testing.assert_allclose(mode.g[s], alone.g[0], rtol=1e-13, atol=1e-13)
        assert mode.log_evidence[s] == pytest.approx(alone.log_evidence[0], rel=1e-13)
        one = sensitivity(alone, problem.K[s : s + 1])[0]
        np.testing.assert_allclose(G[s], one, rtol=1e-10, atol=1e-12 * np.abs(one).max())


@each_case
@few
@given(seed=seeds)
def test_members_may_share_their_labels_and_weights(case, seed):
    problem = Problem.random(case, seed, members=3)
    y, weight = problem.y[:1], problem.weight[:1]
    shared = Problem(problem.link, problem.K, y, weight).climb()
    each = Problem(problem.link, problem.K, np.repeat(y, 3, 0), np.repeat(weight, 3, 0)).climb()
    np.testing.assert_allclose(shared.g, each.g, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(shared.log_evidence, each.log_evidence, rtol=1e-13)


@each_case
@few
@given(seed=seeds)
def test_members_may_share_their_prior_means(case, seed):
    problem = Problem.random(case, seed, members=3).with_mean(seed)
    shared = replace(problem, mean=problem.mean[:1])
    each = replace(problem, mean=np.repeat(problem.mean[:1], 3, 0))
    np.testing.assert_allclose(shared.climb().g, each.climb().g, rtol=1e-13, atol=1e-13)


@each_case
@few
@given(seed=seeds, far=st.sampled_from([0.1, 10.0]))
def test_a_warm_start_reaches_the_same_mode(case, seed, far):
    problem = Problem.random(case, seed, members=2)
    cold = problem.climb()
    start = cold.a + far * np.random.default_rng(seed).normal(size=cold.a.shape)
    before = start.copy()
    warm = problem.climb(start)
    assert warm.settled.all()
    np.testing.assert_allclose(warm.g, cold.g, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(start, before)


@each_case
def test_from_the_mode_one_step_is_enough(case):
    problem = Problem.random(case, seed=3, members=2)
    assert (problem.climb(problem.climb().a).steps == 1).all()


# ---------------------------------------------------------------- the climb


@each_case
@few
@given(seed=seeds, far=st.sampled_from([0.0, 1.0, 100.0]))
def test_the_climb_never_lowers_psi(case, seed, far):
    problem = Problem.random(case, seed, members=2).scaled(10.0)
    start = far * np.random.default_rng(seed).normal(size=(2, case[1], problem.K.shape[-1]))
    peaks = []
    for steps in range(8):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(laplace, "MAX_STEPS", steps)
            peaks.append(problem.climb(start).log_peak)
    assert np.all(np.diff(peaks, axis=0) >= -1e-12 * (1 + np.abs(peaks[0])))


def test_a_climb_cut_short_says_so_and_keeps_the_best_point(monkeypatch):
    problem = Problem.random(CASES[0], seed=1, members=2)
    monkeypatch.setattr(laplace, "MAX_STEPS", 1)
    short = problem.climb()
    assert (short.steps == 1).all()
    assert not short.settled.any()


def test_a_step_that_cannot_be_shortened_is_not_taken(monkeypatch):
    problem = Problem.random(CASES[3], seed=1, n=6).scaled(1e3)
    start = np.random.default_rng(0).normal(size=(1, 2, 6))
    monkeypatch.setattr(laplace, "MAX_STEPS", 0)
    there = problem.climb(start)
    monkeypatch.setattr(laplace, "MAX_STEPS", 1)
    monkeypatch.setattr(laplace, "_CUTS", 3)
    monkeypatch.setattr(laplace, "_GAIN", 10.0)  # no concave function gains so much
    stuck = problem.climb(start)
    assert stuck.log_peak[0] == there.log_peak[0]
    np.testing.assert_array_equal(stuck.g, there.g)


@each_case
@pytest.mark.parametrize("exponent", [-12, -6, 4, 8, 12])
def test_any_amplitude_settles_at_a_mode(case, exponent):
    problem = Problem.random(case, seed=5, members=3, n=7).scaled(10.0**exponent)
    mode = problem.climb()
    assert mode.settled.all()
    there = mode.curvature
    for seen in (mode.g, mode.a, mode.log_evidence, there.blocks(), sensitivity(mode, problem.K)):
        assert np.isfinite(seen).all()
    rest = there.gradient - mode.a
    step = problem.K @ (rest - there.times((problem.K @ rest[..., None])[..., 0]))[..., None]
    slack = 1e-8 * (1 + np.abs(mode.g).max()) + 1e-14 * 10.0**exponent  # rounding in K
    assert np.abs(step).max() < slack


@each_case
@few
@given(seed=seeds, exponent=st.floats(-12, 12))
def test_contradictory_duplicates_settle(case, seed, exponent):
    problem = Problem.random(case, seed, members=2, n=5)
    exponent = min(exponent, 6.0) if case[0] == "softmax" else exponent
    twice = np.tile(problem.K, (1, 1, 2, 2)) * 10.0**exponent  # singular
    y = np.concatenate([problem.y, np.roll(problem.y, 1, axis=1) if case[1] > 1 else -problem.y], 2)
    mode = Problem(problem.link, twice, y, np.tile(problem.weight, 2)).climb()
    assert mode.settled.all()
    assert np.isfinite(mode.log_evidence).all()
    assert np.isfinite(sensitivity(mode, twice)).all()
    slack = 1e-8 * (1 + np.abs(mode.g).max()) + 1e-13 * 10.0**exponent
    assert np.abs(mode.g[..., :5] - mode.g[..., 5:]).max() < slack


@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_labels_that_contradict_each_other_evenly_teach_nothing(link):
    K = np.ones((1, 1, 2, 2))
    mode = Problem(link, K, np.array([[[-1.0, 1.0]]]), np.ones((1, 1, 2))).climb()
    np.testing.assert_allclose(mode.g, 0.0, atol=1e-12)


# ---------------------------------------------------------------- invariants


@each_case
@few
@given(seed=seeds, times=st.integers(2, 4))
def test_a_weight_is_a_row_repeated(case, seed, times):
    problem = Problem.random(case, seed, n=4)
    if problem.link == "identity":
        return  # there the weight is a precision
    problem.weight = np.ones((1, 1, 4))
    problem.weight[..., 0] = times
    rows = [0] * times + [1, 2, 3]
    repeated = Problem(
        problem.link,
        np.ascontiguousarray(problem.K[:, :, rows][:, :, :, rows]),
        problem.y[:, :, rows],
        np.ones((1, 1, len(rows))),
    ).climb()
    mode = problem.climb()
    np.testing.assert_allclose(repeated.g, mode.g[:, :, rows], rtol=1e-9, atol=1e-9)
    assert repeated.log_peak[0] == pytest.approx(mode.log_peak[0], rel=1e-9)
    assert repeated.log_evidence[0] == pytest.approx(mode.log_evidence[0], rel=1e-9)


@few
@given(seed=seeds)
def test_two_class_softmax_is_logistic_under_a_doubled_kernel(seed):
    one = Problem.random(CASES[1], seed, members=2)
    two = Problem("softmax", one.K, np.concatenate([one.y < 0, one.y > 0], 1) * 1.0, one.weight)
    mode, doubled = two.climb(), one.scaled(2.0).climb()
    np.testing.assert_allclose(mode.g[:, 1] - mode.g[:, 0], doubled.g[:, 0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(mode.g.sum(axis=1), 0.0, atol=1e-9)
    np.testing.assert_allclose(mode.log_evidence, doubled.log_evidence, rtol=1e-9)
    # The evidence of the difference turns on twice the kernel.
    by_class = sensitivity(mode, two.K).sum(axis=1)
    np.testing.assert_allclose(
        by_class, 2 * sensitivity(doubled, 2 * one.K)[:, 0], rtol=1e-7, atol=1e-8
    )


@each_case
def test_the_order_of_a_kernel_in_memory_does_not_matter(case):
    problem = Problem.random(case, seed=2, members=2, n=4)
    turned = Problem(problem.link, problem.K.copy(order="F"), problem.y, problem.weight)
    np.testing.assert_allclose(turned.climb().g, problem.climb().g, rtol=1e-12, atol=1e-12)


@few
@given(seed=seeds)
def test_a_shared_kernel_is_one_kernel_for_each_class(seed):
    shared = Problem.random(("softmax", 3, True), seed, members=2)
    each = Problem("softmax", np.repeat(shared.K, 3, axis=1), shared.y, shared.weight)
    one, other = shared.climb(), each.climb()
    np.testing.assert_allclose(one.g, other.g, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.log_evidence, other.log_evidence, rtol=1e-12)
    np.testing.assert_allclose(
        sensitivity(one, shared.K), sensitivity(other, each.K), rtol=1e-9, atol=1e-10
    )


@each_case
def test_no_rows_teach_nothing(case):
    problem = Problem.random(case, seed=0, members=2, n=0)
    mode = problem.climb()
    assert mode.g.shape == mode.a.shape == (2, case[1], 0)
    assert mode.settled.all()
    assert mode.log_peak.tolist() == mode.log_evidence.tolist() == [0.0, 0.0]
    assert sensitivity(mode, problem.K).shape == (2, case[1], 0, 0)
