"""Diffusion maps: rows of one cluster are alike, whatever their distance; new rows as old ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from possibal.numerics import diffusion
from possibal.numerics.diffusion import FEWEST_ROWS, STEPS, DiffusionMap, fit_diffusion


def rings(m=300, seed=0, noise=0.03, inner=0.3):
    """Two rings, one inside the other, and which one each row is of."""
    rng = np.random.default_rng(seed)
    side, angle = np.arange(m) % 2, rng.uniform(0, 2 * np.pi, m)
    radius = np.where(side == 1, 1.0, inner) + noise * rng.normal(size=m)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), side


def slow_walk(X):
    """The transition matrix of the walk on the graph of a pool, by loops."""
    m = len(X)
    apart = cdist(X, X)
    order = np.argsort(apart, axis=1, kind="stable")[:, : diffusion.NEIGHBOURS + 1]
    width = apart[np.arange(m), order[:, diffusion.BANDWIDTH_NEIGHBOUR]]
    W = np.zeros((m, m))
    for i in range(m):
        for j in order[i]:
            W[i, j] = np.exp(-(apart[i, j] ** 2) / (width[i] * width[j]))
    W = np.maximum(W, W.T)
    return W / W.sum(axis=1, keepdims=True), W.sum(axis=1)


def test_the_coordinates_are_eigenvectors_of_the_walk_times_powers_of_their_eigenvalues():
    X, _ = rings(80)
    found = fit_diffusion(X)
    walk, degree = slow_walk(found.landmarks)
    psi = found.coordinates
    for at in range(8):
        image = walk @ psi[:, at]
        value = image @ psi[:, at] / (psi[:, at] @ psi[:, at])
        np.testing.assert_allclose(image, value * psi[:, at], atol=1e-7)
        square = (degree * psi[:, at] ** 2).sum() / degree.sum()
        assert square == pytest.approx(value ** (2 * (STEPS - 1)), rel=1e-6)


def test_rows_of_a_ring_are_more_alike_than_rows_as_far_away_on_another():
    X, side = rings(400, noise=0.02, inner=0.75)
    found = fit_diffusion(X).apply(X)
    alike, same, apart = found @ found.T, side[:, None] == side, cdist(X, X)
    as_far = (apart > 0.2) & (apart < 0.35)
    assert alike[same & as_far].mean() > alike[~same & as_far].mean() + 0.1


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), scale=st.floats(1e-6, 1e6))
def test_all_rows_have_length_one_whatever_the_unit(seed, scale):
    X, _ = rings(120, seed)
    fitted, scaled = fit_diffusion(X), fit_diffusion(scale * X)
    found = fitted.apply(X)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    alike = scaled.apply(scale * X)
    np.testing.assert_allclose(alike @ alike.T, found @ found.T, atol=1e-5)


def test_the_order_of_rows_and_the_rows_that_are_asked_about_do_not_matter():
    X, _ = rings(150)
    turned = np.random.default_rng(1).permutation(150)
    fitted, other = fit_diffusion(X), fit_diffusion(X[turned])
    np.testing.assert_array_equal(other.landmarks, fitted.landmarks)
    np.testing.assert_allclose(other.apply(X), fitted.apply(X), atol=1e-9)
    np.testing.assert_allclose(fitted.apply(X[7:9]), fitted.apply(X)[7:9], atol=1e-12)


def test_copies_of_a_row_are_where_it_is_and_do_not_change_the_graph():
    X, _ = rings(150)
    crowded = np.concatenate([X, np.repeat(X[:3], 40, axis=0)])
    found = fit_diffusion(crowded).apply(crowded)
    np.testing.assert_allclose(found, np.concatenate([fit_diffusion(X).apply(crowded)]), atol=1e-9)
    np.testing.assert_allclose(found[150:190], np.repeat(found[:1], 40, axis=0), atol=1e-12)


def test_rows_of_large_pools_are_read_in_parts(monkeypatch):
    X, _ = rings(150)
    fitted = fit_diffusion(X)
    whole = fitted.apply(X)
    monkeypatch.setattr(diffusion, "_CHUNK", 40)
    np.testing.assert_allclose(fitted.apply(X), whole, atol=1e-12)


def test_of_many_rows_some_are_landmarks(monkeypatch):
    X, side = rings(600)
    monkeypatch.setattr(diffusion, "LANDMARKS", 150)
    fitted = fit_diffusion(X)
    assert len(fitted.landmarks) == 150
    found = fitted.apply(X)
    same = side[:, None] == side
    alike = found @ found.T
    assert alike[same].mean() > alike[~same].mean() + 0.1


def test_too_few_rows_have_no_graph():
    X, _ = rings(FEWEST_ROWS - 1)
    assert fit_diffusion(X) is None
    assert fit_diffusion(np.repeat(X, 10, axis=0)) is None


def test_far_from_all_landmarks_a_row_is_where_the_nearest_are():
    X, side = rings()
    found = fit_diffusion(X)
    far = found.apply(np.array([[40.0, 0.0], [1e9, 1e9]]))
    outer = found.apply(X)[side == 1]
    assert np.isfinite(far).all()
    assert (far @ outer.T).max(axis=1).min() > 0.9


def test_a_row_between_clusters_that_cancel_has_a_direction_of_its_own():
    landmarks, opposite = np.array([[-1.0], [1.0]]), np.array([[1.0], [-1.0]])
    found = DiffusionMap(landmarks, np.ones(2), opposite).apply(np.array([[0.0], [-1.0]]))
    np.testing.assert_allclose(found, [[0.0, 1.0], [1.0, 0.0]])


def test_near_copies_do_not_fall_out_of_the_graph():
    X, _ = rings(200)
    near = np.concatenate([X, X[:1] + 1e-9 * np.random.default_rng(0).normal(size=(20, 2))])
    found = fit_diffusion(near).apply(near)
    nearest = np.argsort(cdist(X[:1], X)[0])[1]
    assert found[0] @ found[nearest] > 0.5
