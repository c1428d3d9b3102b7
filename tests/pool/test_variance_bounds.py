"""Variances kept up to date against those worked out from the start."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from possibal.pool.variance_bounds import LOOSE, TIGHT, WeightAnchor, information


def correlations(X, Z):
    return np.exp(-0.5 * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def names(count):
    return [bytes([at]) for at in range(count)]


def explained(K, W, k):
    """What labels of these weights explain of the variance of rows, the long way."""
    some = W > 0
    if not some.any():
        return np.zeros(len(k))
    inverse = np.linalg.inv(K[np.ix_(some, some)] + np.diag(1.0 / W[some]))
    return np.einsum("ri,ij,rj->r", k[:, some], inverse, k[:, some])


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_information_is_the_inverse_of_covariance_and_error(seed, n):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    K, W = 3.0 * correlations(Z, Z), rng.uniform(0.01, 2.0, n) * (rng.random(n) < 0.8)
    k = 3.0 * correlations(rng.normal(size=(5, 2)), Z)
    found = np.einsum("ri,ij,rj->r", k, information(K, W), k)
    assert_allclose(found, explained(K, W, k), rtol=1e-7, atol=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 10), st.lists(st.booleans(), min_size=2, max_size=8))
def test_variances_follow_labels_that_come_drift_and_go(seed, n, steps):
    rng = np.random.default_rng(seed)
    Z, X = rng.normal(size=(n, 2)), rng.normal(size=(20, 2))
    K, k = 4.0 * correlations(Z, Z), 4.0 * correlations(X, Z)
    anchor, variance, W = WeightAnchor(), np.full(len(X), 4.0), np.zeros(n)
    for tighten in steps:
        W = np.where(rng.random(n) < 0.3, rng.uniform(0.0, 1.5, n), W * rng.uniform(0.7, 1.2, n))
        W[rng.integers(n)] = 0.0
        change = anchor.moved(K, names(n), W, tighten=tighten)
        variance = variance - change.shares @ (change.lines @ k.T) ** 2
        held = np.array([anchor.weights.get(name, 0.0) for name in names(n)])
        assert_allclose(variance, 4.0 - explained(K, held, k), rtol=1e-6, atol=1e-8)
        assert (held <= W).all()
        assert (variance >= 4.0 - explained(K, W, k) - 1e-8).all()
        if tighten:
            assert (held >= LOOSE * W).all()


def test_a_weight_that_hardly_drifts_changes_nothing():
    K, anchor = np.eye(2) + 0.5, WeightAnchor()
    first = anchor.moved(K, names(2), np.array([1.0, 2.0]))
    assert len(first.shares) == 2
    assert anchor.weights == {b"\0": TIGHT, b"\1": 2.0 * TIGHT}
    again = anchor.moved(K, names(2), np.array([0.95, 2.2]))
    assert again.lines.shape == (0, 2)


@pytest.mark.parametrize("tighten", [False, True])
def test_a_new_label_waits_until_bounds_are_to_be_tightened(tighten):
    K, anchor = np.eye(2) + 0.5, WeightAnchor()
    anchor.moved(K[:1, :1], names(1), np.array([1.0]))
    change = anchor.moved(K, names(2), np.array([1.0, 1.0]), tighten=tighten)
    assert len(change.shares) == tighten
    assert (b"\1" in anchor.weights) is tighten
