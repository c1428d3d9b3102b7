import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from possibal.embedding.projection import (
    DIMENSIONS,
    MANY_AXES,
    fit_directions,
    fit_projection,
    unit_rows,
)

VALUES = st.floats(-100, 100)
POOLS = arrays(float, st.tuples(st.integers(2, 12), st.integers(1, 6)), elements=VALUES)


def pool(rows=200, columns=80, seed=0):
    """Vectors as a model would give them: of length one, and not around zero."""
    rng = np.random.default_rng(seed)
    return unit_rows(rng.normal(size=(rows, columns)) * np.geomspace(2, 0.1, columns) + 1.0)


def test_axes_are_the_principal_ones_in_their_order():
    vectors = pool()
    found = fit_projection(vectors, 5)
    centred = vectors - vectors.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:5]
    np.testing.assert_allclose(np.abs(found.components @ axes.T), np.eye(5), atol=1e-8)
    np.testing.assert_allclose(found.centre, vectors.mean(axis=0))


def test_fifty_axes_are_kept_at_most():
    assert fit_projection(pool()).components.shape == (DIMENSIONS, 80)
    assert fit_projection(pool(7)).components.shape == (6, 80)
    assert fit_projection(pool(200, 3)).components.shape == (3, 3)


def test_nothing_is_whitened():
    vectors = pool(200, 20)
    X = fit_projection(vectors).apply(vectors)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.testing.assert_allclose(
        distances, np.linalg.norm(vectors[:, None] - vectors, axis=2), atol=1e-7
    )
    assert X.std(axis=0)[0] > 3 * X.std(axis=0)[-1]


def test_on_many_axes_directions_are_kept_alone():
    vectors = pool(200, 20)
    found, plain = fit_directions(vectors), fit_projection(vectors)
    assert found.is_spherical
    np.testing.assert_allclose(found.apply(vectors), unit_rows(plain.apply(vectors)))


def test_on_few_axes_lengths_are_kept():
    vectors = pool(200, MANY_AXES - 1)
    found = fit_directions(vectors)
    assert not found.is_spherical
    np.testing.assert_array_equal(found.apply(vectors), fit_projection(vectors).apply(vectors))


@given(POOLS)
def test_coordinates_are_centred_and_their_axes_orthonormal(vectors):
    found = fit_projection(vectors)
    k = len(found.components)
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(k), atol=1e-8)
    np.testing.assert_allclose(found.apply(vectors).mean(axis=0), np.zeros(k), atol=1e-8)
    assert k <= min(vectors.shape)


@given(POOLS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(vectors, random):
    order = random.sample(range(len(vectors)), len(vectors))
    one, other = fit_projection(vectors), fit_projection(vectors[order])
    X, again = one.apply(vectors), other.apply(vectors)
    np.testing.assert_allclose(X @ X.T, again @ again.T, atol=1e-5)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_rows_that_are_all_the_same_have_no_axis(rows):
    for columns in (1, 9, 80):
        found = fit_projection(np.tile(pool(1, columns), (rows, 1)))
        assert found.components.shape == (0, columns)
        assert found.apply(pool(3, columns)).shape == (3, 0)


@given(arrays(float, st.tuples(st.integers(0, 5), st.integers(1, 4)), elements=VALUES))
def test_rows_have_length_one_or_stay_zero(vectors):
    lengths = np.linalg.norm(unit_rows(vectors), axis=1)
    np.testing.assert_allclose(lengths, np.linalg.norm(vectors, axis=1) > 0)
