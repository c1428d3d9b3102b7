import numpy as np
import pytest
from hypothesis import given
from support.stacks import LINKS, Problem, each_case, few, seeds

from possibal.gp.curvature import Observations, SoftmaxCurvature, curvature


@each_case
@few
@given(seed=seeds)
def test_the_information_agrees_with_the_dense_reference(case, seed):
    problem = Problem.random(case, seed)
    mode, dense = problem.climb(), problem.dense()
    there = mode.curvature
    v = np.random.default_rng(seed).normal(size=mode.g.shape)
    close = {"rtol": 1e-8, "atol": 1e-8}
    np.testing.assert_allclose(there.gradient.ravel(), dense.gradient, **close)
    np.testing.assert_allclose(there.times(v).ravel(), dense.P @ v.ravel(), **close)
    P, n = mode.g.shape[1:]
    blocks = dense.P.reshape(P, n, P, n)[np.arange(P), :, np.arange(P)]
    np.testing.assert_allclose(there.blocks()[0], blocks, **close)
    assert not there.jitter.any()


@each_case
@few
@given(seed=seeds)
def test_the_root_is_triangular_and_squares_to_what_prediction_needs(case, seed):
    there = Problem.random(case, seed, members=2).climb().curvature
    root = there.root()
    np.testing.assert_array_equal(root, np.triu(root))
    square = root @ np.swapaxes(root, 1, 2)
    if isinstance(there, SoftmaxCurvature):
        np.testing.assert_allclose(square, np.linalg.inv(there.E.sum(axis=1)), rtol=1e-8, atol=1e-8)
    else:
        np.testing.assert_allclose(square, there.blocks()[:, 0], rtol=1e-12)


@each_case
@few
@given(seed=seeds)
def test_drift_is_the_derivative_of_the_determinant_by_the_latents(case, seed):
    problem = Problem.random(case, seed)
    mode = problem.climb()
    link, seen = LINKS[problem.link], Observations(problem.y, problem.weight)
    direction, step = np.random.default_rng(seed).normal(size=mode.g.shape), 1e-5
    up, down = (
        curvature(link, seen, mode.g + sign * step * direction, problem.K) for sign in (1, -1)
    )
    slope = -(up.half_log_determinant - down.half_log_determinant)[0] / (2 * step)
    drift = mode.curvature.drift(problem.K)
    assert (drift * direction).sum() == pytest.approx(slope, rel=1e-5, abs=1e-8)


@each_case
@few
@given(seed=seeds)
def test_the_latents_of_one_row_agree_with_the_dense_reference(case, seed):
    problem = Problem.random(case, seed)
    mode, dense = problem.climb(), problem.dense()
    P, n = mode.g.shape[1:]
    rows = np.arange(n)[:: 1 + seed % 2]
    covariance = (dense.K - dense.K @ dense.P @ dense.K).reshape(P, n, P, n)
    weight = dense.W.reshape(P, n, P, n)
    close = {"rtol": 1e-8, "atol": 1e-8}
    for at, row in enumerate(rows):
        own = mode.curvature.row_covariance(problem.K, rows)[0, at]
        np.testing.assert_allclose(own, covariance[:, row, :, row], **close)
        np.testing.assert_allclose(
            mode.curvature.row_weight(rows)[0, at], weight[:, row, :, row], **close
        )


@each_case
def test_a_part_has_the_members_asked_for(case):
    mode = Problem.random(case, seed=4, members=3).climb()
    part, some = mode.part(np.array([2, 0])), [2, 0]
    v = np.ones_like(mode.g)
    np.testing.assert_array_equal(part.g, mode.g[some])
    np.testing.assert_array_equal(part.a, mode.a[some])
    np.testing.assert_array_equal(part.log_evidence, mode.log_evidence[some])
    np.testing.assert_array_equal(part.settled, mode.settled[some])
    whole, there = mode.curvature, part.curvature
    np.testing.assert_array_equal(there.gradient, whole.gradient[some])
    np.testing.assert_array_equal(there.jitter, whole.jitter[some])
    np.testing.assert_allclose(there.times(v[some]), whole.times(v)[some], rtol=1e-13)
    np.testing.assert_allclose(there.blocks(), whole.blocks()[some], rtol=1e-12, atol=1e-14)
