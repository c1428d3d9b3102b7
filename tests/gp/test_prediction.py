"""Rows seen in parts, in pieces or in single precision are the same rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from support import reference_gp

from possibal import acquisition
from possibal.gp import prediction
from possibal.gp.likelihoods import IDENTITY, LOGISTIC, PROBIT, SOFTMAX
from possibal.gp.posterior import TrainingData, condition
from possibal.gp.prior import prior
from possibal.gp.rbf import NO_LEVEL, Level, default_kernel
from possibal.pool.pruning import MomentBound

LINKS = {"probit": PROBIT, "logistic": LOGISTIC, "identity": IDENTITY, "softmax": SOFTMAX}
KERNELS = {
    "rbf": ConstantKernel(2.0) * RBF(0.8),
    "ard": ConstantKernel(2.0) * RBF([0.5, 1.5]),
    "matern": ConstantKernel(2.0) * Matern(0.8, nu=2.5),
}
each_link = pytest.mark.parametrize("link", LINKS)
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def outlook_of(link, kernel, *, n=12, count=1, d=2):
    """What labels at random rows say of others, under so many settings of the kernel."""
    rng = np.random.default_rng(100 * n + 10 * d + count)
    y = reference_gp.random_labels(rng, link, 3, n)
    data = TrainingData(rng.normal(size=(n, d)), y, rng.uniform(0.5, 3.0, (1, n)), LINKS[link])
    others = kernel.theta + 0.4 * rng.normal(size=(count - 1, len(kernel.theta)))
    return condition(prior([kernel], np.vstack([kernel.theta, *others])), data).predictor


def rows(seed, m=9, d=2):
    return np.random.default_rng(1000 + seed).normal(size=(m, d))


# ---------------------------------------------------------------- glimpses
@each_link
@each_kernel
@pytest.mark.parametrize("count", [1, 3])
def test_variances_of_some_rows_are_those_of_all(link, kernel, count):
    glimpse = outlook_of(link, kernel, count=count).lazy_moments(rows(1))
    whole, some = glimpse.variance(), np.array([7, 0, 3])
    np.testing.assert_allclose(glimpse.variance(some), whole[..., some], rtol=1e-12)
    assert glimpse.variance(np.empty(0, dtype=int)).shape == (*whole.shape[:2], 0)


@each_link
@each_kernel
def test_moments_are_those_of_a_glimpse(link, kernel):
    found = outlook_of(link, kernel, count=2)
    mean, variance = found.moments(rows(2))
    glimpse = found.lazy_moments(rows(2))
    np.testing.assert_allclose(mean, glimpse.mean, rtol=1e-12)
    np.testing.assert_allclose(variance, glimpse.variance(), rtol=1e-12)
    assert (variance <= glimpse.prior).all()


@each_link
def test_moments_are_the_same_however_few_rows_are_looked_at_together(link, monkeypatch):
    found = outlook_of(link, KERNELS["rbf"], n=70)
    whole = found.moments(rows(3, 30))
    monkeypatch.setattr(prediction, "FEWEST", 4)
    monkeypatch.setattr(prediction, "CHUNK", 1)
    assert found.rows == 4
    assert [part.start for part in found.blocks(10)] == [0, 4, 8]
    for parts, all_at_once in zip(found.moments(rows(3, 30)), whole, strict=True):
        np.testing.assert_allclose(parts, all_at_once, rtol=1e-11)
    places = [part.start for part, _ in found.columns(rows(3, 10))]
    assert places == [0, 4, 8]


def test_more_labels_mean_fewer_rows_at_once_but_never_too_few():
    sizes = [outlook_of("probit", KERNELS["rbf"], n=n).rows for n in (1, 50)]
    assert sizes == [prediction.CHUNK, prediction.CHUNK // 50]
    assert max(prediction.FEWEST, prediction.CHUNK // 10**6) == prediction.FEWEST


def test_a_variance_never_vanishes():
    kernel = ConstantKernel(1e9) * RBF(50.0)
    data = TrainingData(rows(4, 3), np.ones((1, 3)), np.full((1, 3), 1e12), IDENTITY)
    found = condition(prior([kernel], kernel.theta[None]), data).predictor
    assert (found.moments(rows(4, 3))[1] > 0.0).all()


@each_link
def test_a_belief_is_on_the_scale_that_scores_read(link):
    found = outlook_of(link, KERNELS["rbf"], count=2)
    moments, belief = found.moments(rows(5)), found.at(rows(5))
    scale = LINKS[link].scale
    for moment, read, factor in zip(
        moments, (belief.mean, belief.variance), (scale, scale**2), strict=True
    ):
        by_row = moment.transpose(0, 2, 1) if link == "softmax" else moment[:, 0]
        np.testing.assert_allclose(read, factor * by_row, rtol=1e-15)
    assert belief.is_binary is (link != "softmax")
    np.testing.assert_array_equal(belief.credibility, found.credibility)


# ---------------------------------------------------------------- single precision
sizes = st.tuples(st.integers(1, 40), st.integers(1, 3), st.integers(1, 8))
logarithms = st.tuples(st.floats(-2, 4), st.floats(-1, 2))


def mean_errors(single, X):
    """How far off a look in single precision says that means may be."""
    look, glimpse = MomentBound.through(single, acquisition.doubt), single.lazy_moments(X)
    return look.off(glimpse, look.error(glimpse))[:, 0]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    size=sizes,
    logs=logarithms,
    far=st.sampled_from([0.1, 1.0, 10.0, 1e4, 1e8]),
    level=st.sampled_from([NO_LEVEL, Level(0.3), Level(10.0), Level(0.03, is_spherical=True)]),
)
def test_single_precision_is_off_by_no_more_than_is_assumed(seed, size, logs, far, level):
    (n, count, d), (amplitude, length) = size, logs
    kernel = default_kernel(10.0**amplitude, 10.0**length, level)
    double = outlook_of("probit", kernel, n=n, count=count, d=d)
    single = double.single()
    assert single.a.dtype == single.root.dtype == np.float32
    X = far * rows(seed, 20, d)
    if not level.is_spherical:
        X[:5] = (
            double.cross_covariance.scaled[0].centre
            + double.cross_covariance.scaled[0].unit * X[:5] / far
        )
    bounds, exact = (
        MomentBound.through(one, acquisition.doubt).prune(X, -np.inf).belief
        for one in (single, double)
    )
    off = mean_errors(single, X)
    assert (np.abs(bounds.mean - exact.mean) <= off + 1e-9 * np.abs(exact.mean)).all()
    assert (bounds.variance >= exact.variance * (1 - 1e-9)).all()


def test_single_precision_bounds_are_close_enough_to_be_of_use():
    double = outlook_of("probit", KERNELS["rbf"], n=30)
    bounds, exact = (
        MomentBound.through(one, acquisition.doubt).prune(rows(6, 50), -np.inf).belief
        for one in (double.single(), double)
    )
    assert mean_errors(double.single(), rows(6, 50)).max() < 2e-3
    assert np.abs(bounds.mean - exact.mean).max() < 2e-3
    assert np.abs(bounds.variance - exact.variance).max() < 2e-2


def test_single_precision_is_twice_as_small():
    double = outlook_of("probit", KERNELS["rbf"])
    single = double.single()
    assert single.cross_covariance is not double.cross_covariance
    ((_, column),) = single.columns(rows(7))
    assert column.matrix.dtype == np.float32
    assert column.error is not None
    assert (column.error > 0).all()


@pytest.mark.parametrize(
    "kernel", [KERNELS["matern"], ConstantKernel(2.0) * RBF(1e-4)], ids=["matern", "sharp"]
)
def test_where_single_precision_is_too_coarse_covariances_stay_double(kernel):
    double = outlook_of("probit", kernel)
    single = double.single()
    assert single.cross_covariance is double.cross_covariance
    ((_, column),) = single.columns(rows(8))
    assert column.matrix.dtype == np.float64
