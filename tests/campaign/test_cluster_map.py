import numpy as np
from scipy.spatial.distance import cdist

from possibal.campaign import cluster_map
from possibal.campaign.cluster_map import SPREAD, fit_cluster_map

COUNT = 5


def pool(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three columns and of diffusion coordinates, and the cluster of each."""
    rng = np.random.default_rng(0)
    which = rng.integers(COUNT, size=n)
    clusters = np.eye(COUNT + 1)[which] + rng.normal(scale=0.02, size=(n, COUNT + 1))
    clusters /= np.linalg.norm(clusters, axis=1, keepdims=True)
    return np.hstack([rng.normal(size=(n, 3)), clusters]), which


def test_clusters_lie_side_by_side_within_the_map():
    X, which = pool()
    places = fit_cluster_map(X, COUNT + 1).places(X)
    assert places.min() >= 0
    assert places.max() <= 1
    apart = cdist(places, places)
    np.fill_diagonal(apart, np.inf)
    assert (which[apart.argmin(axis=1)] == which).mean() > 0.98


def test_rows_that_join_move_no_other():
    X, _ = pool()
    known = fit_cluster_map(X[:150], COUNT + 1)
    np.testing.assert_allclose(known.places(X)[:150], known.places(X[:150]), atol=1e-9)
    again = fit_cluster_map(X[:150], COUNT + 1)
    np.testing.assert_array_equal(known.places(X), again.places(X))


def test_rows_of_one_place_in_a_cluster_lie_beside_each_other_by_their_other_columns():
    X, _ = pool()
    known = fit_cluster_map(X, COUNT + 1)
    twins = np.repeat(X[:1], 3, axis=0)
    twins[1, :3], twins[2, :3] = 1e6, -1e6
    places = known.places(twins)
    assert 0 < np.linalg.norm(places[1] - places[2]) <= 2 * np.sqrt(8) * SPREAD
    assert ((places >= 0) & (places <= 1)).all()


def test_columns_that_are_all_the_same_move_nothing():
    X, _ = pool()
    X[:, :3] = 1.0
    assert np.isfinite(fit_cluster_map(X, COUNT + 1).places(X)).all()


def test_of_a_large_pool_a_sample_is_read(monkeypatch):
    monkeypatch.setattr(cluster_map, "MOST_ROWS", 60)
    X, _ = pool()
    known = fit_cluster_map(X, COUNT + 1)
    assert len(known.sample) == 60
    assert known.places(X).shape == (200, 2)
