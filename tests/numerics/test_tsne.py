import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import rel_entr

from possibal.numerics import tsne
from possibal.numerics.principal_axes import principal_plane
from possibal.numerics.tsne import fit_tsne


def clusters(n: int = 300, count: int = 6, spread: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Rows in clusters at the corners of a simplex, and the cluster of each."""
    rng = np.random.default_rng(0)
    which = rng.integers(count, size=n)
    return 5.0 * np.eye(8)[which] + rng.normal(scale=spread, size=(n, 8)), which


def divergence(X: np.ndarray, places: np.ndarray) -> float:
    """What t-SNE makes small: that of the neighbours in the plane from those of the rows."""
    joint = tsne._affinities(cdist(X, X, "sqeuclidean"))  # noqa: SLF001 - the definition's P
    near = 1.0 / (1.0 + cdist(places, places, "sqeuclidean"))
    np.fill_diagonal(near, 0.0)
    return float(rel_entr(joint, near / near.sum()).sum())


def test_clusters_lie_apart_where_the_principal_plane_has_them_on_top_of_each_other():
    X, which = clusters(count=8, spread=0.8)

    def agreeing(places):
        apart = cdist(places, places)
        np.fill_diagonal(apart, np.inf)
        return np.mean(which[apart.argmin(axis=1)] == which)

    assert agreeing(fit_tsne(X).apply(X)) > 0.97
    assert agreeing(principal_plane(X, X)) < 0.8


def test_the_plane_diverges_less_from_the_neighbours_than_the_principal_one():
    X, _ = clusters()
    plane = fit_tsne(X)
    start = principal_plane(plane.landmarks, plane.landmarks)
    assert divergence(plane.landmarks, plane.places) < 0.3 * divergence(plane.landmarks, start)


def test_each_row_has_as_many_neighbours_in_effect_as_the_perplexity_says():
    X, _ = clusters(120)
    joint = tsne._affinities(cdist(X, X, "sqeuclidean"))  # noqa: SLF001 - symmetric and of sum one
    np.testing.assert_allclose(joint, joint.T)
    assert joint.sum() == pytest.approx(1.0)
    assert np.diag(joint).max() == 0.0
    entropy = -(joint[joint > 0] * np.log(joint[joint > 0])).sum() - np.log(120)
    assert np.log(tsne.PERPLEXITY) <= entropy <= np.log(2 * tsne.PERPLEXITY)


def test_the_same_pool_has_the_same_plane_in_any_order():
    X, _ = clusters()
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(fit_tsne(X).places, fit_tsne(X[order]).places)


def test_a_row_has_its_place_by_itself():
    X, _ = clusters()
    plane = fit_tsne(X[:200])
    together = plane.apply(X)
    np.testing.assert_allclose(plane.apply(X[:1]), together[:1], atol=1e-9)
    low, high = plane.places.min(axis=0), plane.places.max(axis=0)
    assert ((together >= low - 1e-9) & (together <= high + 1e-9)).all()


def test_a_landmark_is_near_its_own_place():
    X, _ = clusters()
    plane = fit_tsne(X)
    away = np.linalg.norm(plane.apply(plane.landmarks) - plane.places, axis=1)
    assert np.median(away) < 0.05 * np.ptp(plane.places)


def test_many_rows_are_placed_in_parts(monkeypatch):
    X, _ = clusters()
    plane = fit_tsne(X)
    whole = plane.apply(X)
    monkeypatch.setattr(tsne, "_CHUNK", 7)
    np.testing.assert_allclose(plane.apply(X), whole, atol=1e-9)


@pytest.mark.parametrize("rows", [1, 2, 10, 11, 40])
def test_few_rows_have_places_too(rows):
    X, _ = clusters(rows)
    for pool in (X, np.vstack([X, X])):
        places = fit_tsne(pool).apply(X)
        assert places.shape == (rows, 2)
        assert np.isfinite(places).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_places_are_finite_at_any_scale_and_with_one_row_far_away(scale):
    X, _ = clusters()
    X[0] = 1e4
    assert np.isfinite(fit_tsne(scale * X).apply(scale * X)).all()
