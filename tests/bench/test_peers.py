import numpy as np
import pytest

pytest.importorskip("skactiveml", reason="peers are of the benchmark's dependencies")

from dataclasses import replace

from peers import PEERS

from possibal.acquisition.strategy import View
from possibal.experiments.engine.simulation import labelled
from possibal.gp.feature_maps import NO_FEATURES, DiffusionColumns
from possibal.gp.hyperparameters import envelope, problem


@pytest.fixture(scope="module", name="views")
def _views():
    """The same rows with diffusion coordinates in their last columns, and without."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(40, 5)), np.arange(40) % 3
    X[np.arange(40), codes] += 2.0
    known, left = np.arange(6), np.arange(6, 40)
    coordinates = rng.normal(size=(40, 4))
    coordinates /= np.linalg.norm(coordinates, axis=1, keepdims=True)
    plain = envelope(problem(None, labelled(X[known], codes[known], 3)))
    more = np.hstack([X, coordinates])
    there = replace(plain.data, X=more[known])
    mapped = replace(plain.prior, feature_map=DiffusionColumns(4, 1.0))
    assert plain.prior.feature_map is NO_FEATURES
    return more[left], X[left], replace(plain, prior=mapped, data=there), plain


@pytest.mark.parametrize("name", PEERS)
def test_peers_read_the_columns_without_the_coordinates(name, views):
    more, X, mapped, plain = views
    given = PEERS[name](View(mapped, more, np.random.default_rng(1)))
    expected = PEERS[name](View(plain, X, np.random.default_rng(1)))
    np.testing.assert_array_equal(given, expected)
