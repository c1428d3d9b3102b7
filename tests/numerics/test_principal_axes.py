import numpy as np

from possibal.numerics.principal_axes import principal_plane, unit_plane


def test_the_principal_plane_has_the_leading_axes_and_is_not_turned_over():
    X = np.random.default_rng(0).normal(size=(80, 5)) * [0.1, 9.0, 0.1, 3.0, 0.1]
    plane = principal_plane(X, X)
    assert np.corrcoef(plane[:, 0], X[:, 1])[0, 1] > 0.99
    assert np.corrcoef(plane[:, 1], X[:, 3])[0, 1] > 0.99
    np.testing.assert_allclose(principal_plane(X[:3], X), plane[:3])


def test_a_pool_of_one_column_has_no_second_axis():
    plane = principal_plane(np.arange(6.0)[:, None], np.arange(6.0)[:, None])
    np.testing.assert_allclose(plane, np.column_stack([np.arange(6.0) - 2.5, np.zeros(6)]))


def test_a_unit_plane_has_each_axis_from_nought_to_one():
    X = np.random.default_rng(1).normal(size=(30, 4)) * [5.0, 0.1, 2.0, 0.1]
    plane, unit = principal_plane(X, X), unit_plane(X)
    assert unit.min(axis=0).tolist() == [0.0, 0.0]
    assert unit.max(axis=0).tolist() == [1.0, 1.0]
    for one, other in zip(plane.T, unit.T, strict=True):
        assert np.corrcoef(one, other)[0, 1] > 1 - 1e-12
    assert unit_plane(np.arange(3.0)[:, None])[:, 1].tolist() == [0.0, 0.0, 0.0]
