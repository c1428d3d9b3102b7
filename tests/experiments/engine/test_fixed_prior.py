from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from possibal.experiments.datasets import load
from possibal.experiments.engine.fixed_prior import NOISE, fixed_prior, regression_mean
from possibal.experiments.recipes import FixedKernel
from possibal.experiments.splits import scaled

PLAIN = FixedKernel(9.0, 0.5, 0.3)


def gaussian_log_density(y, mean, covariance):
    """Of a vector with the same mean everywhere, but for a constant."""
    above = y - mean
    return -0.5 * above @ np.linalg.solve(covariance, above)


def test_the_length_scale_is_a_share_of_the_median_distance():
    data = load("wine")
    amplitude, length = np.exp(fixed_prior(PLAIN, data).theta)
    assert amplitude == pytest.approx(9.0)
    assert length == pytest.approx(0.5 * np.median(pdist(scaled(data.X, data.X))))


@pytest.mark.parametrize(("name", "sign"), [("wine", 1), ("sonar", -1), ("ionosphere", 1)])
def test_a_constant_mean_leans_to_the_label_that_the_alphabet_codes_as_one(name, sign):
    (level,) = fixed_prior(PLAIN, load(name)).mean.levels
    assert level == pytest.approx(0.3 * sign)


def test_three_labels_have_no_mean_in_common_and_no_mean_is_none():
    assert fixed_prior(PLAIN, load("iris")).mean.is_zero
    assert fixed_prior(FixedKernel(9.0, 0.5), load("wine")).mean.is_zero


def test_the_mean_of_regression_is_a_multiple_of_what_it_learns():
    data, rule = load("sonar"), FixedKernel(9.0, 0.5, 2.0, "regression")
    (level,) = fixed_prior(rule, data).mean.levels
    X, length = scaled(data.X, data.X), np.exp(fixed_prior(rule, data).theta[1])
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2) / length**2)
    assert level == pytest.approx(-2.0 * regression_mean(K, data.y == 0))
    assert level < 0  # towards Rock, whose code is 0 here


@given(st.integers(0, 1000))
def test_the_learnt_mean_is_the_likeliest(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 2)), rng.random(12) < 0.4
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    best, covariance = regression_mean(K, y), K + NOISE * np.eye(12)
    top = gaussian_log_density(y, best, covariance)
    for other in (best - 0.01, best + 0.01, 0.5):
        assert gaussian_log_density(y, other, covariance) <= top


def test_all_of_one_label_is_its_own_mean():
    K = np.exp(-np.abs(np.subtract.outer(np.arange(6), np.arange(6))))
    assert regression_mean(K, np.ones(6, dtype=bool)) == pytest.approx(1.0)
    assert regression_mean(K, np.zeros(6, dtype=bool)) == 0.0


def test_the_columns_of_a_set_may_have_any_unit():
    data = load("wine")
    other = replace(data, X=data.X * 1000.0)
    assert fixed_prior(PLAIN, other).theta == pytest.approx(fixed_prior(PLAIN, data).theta)


def test_rows_of_a_block_do_not_shrink_the_length_scale():
    data = load("block-corner")
    every = replace(data, block=np.empty(0, dtype=np.intp))
    assert fixed_prior(PLAIN, data).theta[1] > 1.0 + fixed_prior(PLAIN, every).theta[1]
