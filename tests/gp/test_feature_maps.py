"""Features whose inner product is a kernel: of one length, additive, smooth, and bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from possibal.gp.feature_maps import (
    COARSE_HARMONICS,
    FINE_COLUMNS,
    HARMONICS,
    NO_FEATURES,
    PERIOD,
    REACH,
    ColumnCosines,
    DiffusionColumns,
    additive_weight,
    without_features,
)

seeds = st.integers(0, 10_000)


def rows(seed, m=8, d=3, scale=1.0):
    return scale * np.random.default_rng(seed).standard_t(3, size=(m, d))


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


MAPS = {
    "columns": ColumnCosines((0.3, -1.0, 0.0), 1.7, 1.5),
    "diffusion": DiffusionColumns(2, 1.0),
    "halved": DiffusionColumns(2, 1.0, 0.5),
    "alone": DiffusionColumns(2, 1.0, 0.0),
    "none": NO_FEATURES,
}
each_map = pytest.mark.parametrize("feature_map", MAPS.values(), ids=MAPS)


def read_by(feature_map, X):
    """Rows as a map reads them: those with diffusion coordinates have these of length one."""
    if isinstance(feature_map, DiffusionColumns):
        return np.hstack([X[:, :-2], unit(X[:, -2:])])
    return X


def additive_by_hand(x, z, given_map):
    """The additive kernel, column by column and cosine by cosine."""
    length, total = given_map.length / np.sqrt(len(x)), 0.0
    waves = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
    share = np.exp(-0.5 * waves**2)
    for one, other, centre in zip(x, z, given_map.centre, strict=True):
        u, v = (REACH * np.tanh((value - centre) / (REACH * length)) for value in (one, other))
        total += (share * np.cos(waves * (u - v))).sum() / share.sum()
    return given_map.weight * total / len(x)


@given(seed=seeds)
def test_the_additive_kernel_is_the_mean_over_columns(seed):
    feature_map, (x, z) = MAPS["columns"], rows(seed, 2)
    features = feature_map.features(np.array([x, z]))
    assert features[0] @ features[1] == pytest.approx(additive_by_hand(x, z, feature_map))


def test_near_the_centre_it_is_an_rbf_of_each_column_less_a_constant():
    # 0.72 exp(-t^2 / 2) is left of the RBF without the constant, its mean over the circle.
    near = np.linspace(-0.4, 0.4, 9)[:, None]
    features = ColumnCosines((0.0,), 1.0, 1.0).features(near)
    found, apart = features @ features.T, near - near.T
    constant = np.sqrt(2 * np.pi) / PERIOD
    expected = (np.exp(-0.5 * apart**2) - constant) / (1 - constant)
    np.testing.assert_allclose(found, expected, atol=0.02)


@each_map
@given(seed=seeds, scale=st.floats(1e-3, 1e150))
def test_all_rows_have_features_of_one_length(feature_map, seed, scale):
    X = read_by(feature_map, rows(seed, scale=scale))
    squares = (feature_map.features(X) ** 2).sum(axis=1)
    np.testing.assert_allclose(squares, feature_map.weight, rtol=1e-12)


@each_map
@given(seed=seeds)
def test_single_precision_is_off_by_no_more_than_is_said(feature_map, seed):
    X = read_by(feature_map, rows(seed, 20))
    one, other = (feature_map.features(X, kind) for kind in (np.float32, np.float64))
    assert (one.dtype, other.dtype) == (np.float32, np.float64)
    assert np.abs(one @ one.T - other @ other.T).max(initial=0.0) <= feature_map.error


@each_map
def test_the_rbf_reads_all_columns_but_the_coordinates(feature_map):
    X = rows(0)
    kept = X[:, :1] if isinstance(feature_map, DiffusionColumns) else X
    np.testing.assert_array_equal(feature_map.leading(X), kept)


@pytest.mark.parametrize("name", ["columns", "diffusion", "halved"])
def test_near_rows_are_as_far_apart_in_coordinates_as_to_the_kernel(name):
    feature_map = MAPS[name]
    X = read_by(feature_map, rows(1, 1))
    Z = read_by(feature_map, X + 1e-4 * rows(2, 1))
    x, z = (feature_map.coordinates(one)[0] for one in (X, Z))
    apart = ((feature_map.leading(X) - feature_map.leading(Z)) ** 2).sum()
    (f,), (g,) = feature_map.features(X), feature_map.features(Z)
    expected = 2 * (1 - np.exp(-0.5 * apart / feature_map.length**2)) + ((f - g) ** 2).sum()
    assert ((x - z) ** 2).sum() == pytest.approx(expected, rel=1e-4)


def test_of_many_columns_coordinates_have_the_leading_harmonics():
    columns = FINE_COLUMNS + 1
    feature_map, X = ColumnCosines((0.0,) * columns, 1.0, 2.0), rows(0, d=columns)
    found = feature_map.coordinates(X)[:, columns:]
    assert found.shape == (8, 2 * COARSE_HARMONICS * columns)
    np.testing.assert_allclose((found**2).sum(axis=1), 2.0)
    all_of_them, some = (
        feature_map.features(X).reshape(8, -1, columns),
        found.reshape(8, -1, columns),
    )
    share = some[:, :1] / all_of_them[:, :1]
    np.testing.assert_allclose(some, share * all_of_them[:, : 2 * COARSE_HARMONICS])


def test_without_features_the_rbf_is_alone_and_rows_are_as_they_are():
    X = rows(0)
    np.testing.assert_array_equal(NO_FEATURES.coordinates(X), X)
    assert without_features(MAPS["columns"]) is NO_FEATURES
    assert without_features(MAPS["diffusion"]) == MAPS["alone"]
    assert without_features(NO_FEATURES) is NO_FEATURES


def test_the_additive_part_grows_to_twice_the_rbf_with_eight_columns():
    assert [additive_weight(d) for d in (1, 2, 8, 60)] == [0.25, 0.5, 2.0, 2.0]


@given(seed=seeds)
def test_a_latent_is_as_possible_as_its_best_split_into_the_parts_of_a_sum(seed):
    # sup over u + v = g of N(u; 0, K1) N(v; 0, K2) = N(g; 0, K1 + K2): paper, Sec. 3.2.
    rng = np.random.default_rng(seed)
    first, second = (root @ root.T + np.eye(4) for root in rng.normal(size=(2, 4, 4)))
    g = rng.normal(size=4)

    def log_possibility(u):
        v = g - u
        return -0.5 * (u @ np.linalg.solve(first, u) + v @ np.linalg.solve(second, v))

    best = minimize(lambda u: -log_possibility(u), np.zeros(4), tol=1e-12)
    expected = -0.5 * g @ np.linalg.solve(first + second, g)
    assert -best.fun == pytest.approx(expected, abs=1e-6)


def test_a_map_is_told_in_a_line():
    assert repr(MAPS["columns"]) == "ColumnCosines(3 columns, weight=1.5)"
    assert repr(MAPS["diffusion"]) == "DiffusionColumns(2 columns, weight=1)"
