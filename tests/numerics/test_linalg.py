import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.reference_possibility import gaussians, singular_gaussians, tables

from possibal.numerics.linalg import (
    cholesky,
    image_root,
    inverse_root,
    least_squares_rest,
    semidefinite_root,
    square_norms,
)

small = st.integers(-3, 3).map(float)


@given(gaussians())
def test_cholesky_factor_is_lower_triangular_and_gives_the_matrix_back(f):
    L = cholesky(f.covariance, "covariance")
    assert np.array_equal(L, np.tril(L))
    np.testing.assert_allclose(L @ L.T, f.covariance, atol=1e-12)


def test_cholesky_names_the_argument_and_its_smallest_eigenvalue():
    sentence = "prior must be positive definite; got smallest eigenvalue -1. Drop the coordinates"
    with pytest.raises(ValueError, match=sentence):
        cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]), "prior")


@given(gaussians())
def test_inverse_root_squares_to_the_inverse(f):
    root = inverse_root(f.covariance, "covariance")
    np.testing.assert_allclose(root @ root.T @ f.covariance, np.eye(f.dimension), atol=1e-9)


@given(tables(4, 2, elements=small))
def test_semidefinite_root_has_one_column_per_known_direction(factor):
    root = semidefinite_root(factor @ factor.T, "precision")
    assert root.shape == (4, np.linalg.matrix_rank(factor))
    np.testing.assert_allclose(root @ root.T, factor @ factor.T, atol=1e-12)


def test_semidefinite_root_sees_directions_on_very_different_scales():
    root = semidefinite_root(np.diag([1.0, 1e-40, 1e40]), "precision")
    np.testing.assert_allclose(np.diagonal(root @ root.T), [1.0, 1e-40, 1e40])


@pytest.mark.parametrize("bad", [np.diag([1.0, -0.3]), np.array([[0.0, 1.0], [1.0, 0.0]])])
def test_semidefinite_root_refuses_a_negative_eigenvalue(bad):
    smallest = np.linalg.eigvalsh(bad)[0]
    sentence = f"precision must be positive semi-definite; got smallest eigenvalue {smallest:.3g}."
    with pytest.raises(ValueError, match=sentence):
        semidefinite_root(bad, "precision")


@given(gaussians(size=3), tables(2, 3, elements=small))
def test_image_root_agrees_with_the_image_of_the_covariance(f, F):
    if np.linalg.matrix_rank(F) < 2:
        return
    root = image_root(inverse_root(f.covariance, "covariance"), F)
    expected = F @ f.covariance @ F.T
    np.testing.assert_allclose(np.linalg.inv(root @ root.T), expected, rtol=1e-6, atol=1e-9)


def test_image_root_knows_nothing_of_what_it_never_saw():
    root = semidefinite_root(np.array([[1.0, 1.0], [1.0, 1.0]]), "precision")
    assert image_root(root, np.array([[1.0, -1.0]])).shape == (1, 0)
    assert image_root(np.zeros((2, 0)), np.eye(2)).shape == (2, 0)
    sum_root = image_root(root, np.array([[1.0, 1.0]]))
    np.testing.assert_allclose(sum_root @ sum_root.T, [[1.0]])


def test_image_root_keeps_a_weak_direction_beside_a_strong_one():
    root = image_root(np.diag([1.0, 1e-20]), np.array([[0.0, 1.0]]))
    np.testing.assert_allclose(root @ root.T, [[1e-40]])


@given(singular_gaussians(), tables(3, elements=small))
def test_settle_leaves_no_slope(f, push):
    root = semidefinite_root(f.precision, "precision")
    pull = root.T @ push
    rest = least_squares_rest(root, pull)
    np.testing.assert_allclose(root @ (root.T @ rest + pull), 0.0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("m", "n"), [(0, 3), (5, 0), (1, 1), (7, 4), (3, 90)])
def test_square_norms_are_those_of_the_product_with_a_triangle(m, n, dtype):
    rng = np.random.default_rng(m + n)
    matrix, root = rng.normal(size=(m, n)).astype(dtype), np.triu(rng.normal(size=(n, n)))
    found = square_norms(matrix, root.astype(dtype))
    np.testing.assert_allclose(found, ((matrix @ root) ** 2).sum(axis=1), rtol=1e-4)
    assert found.dtype == dtype or not matrix.size
    every_other = square_norms(np.repeat(matrix, 2, axis=0)[::2], root.astype(dtype))
    np.testing.assert_array_equal(found, every_other)
