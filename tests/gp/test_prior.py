import numpy as np
import pytest
from hypothesis import given, settings
from support.kernel_cases import (
    GENERIC,
    dense_columns,
    each_prior,
    each_radial,
    kernels_at,
    rows,
    seeds,
    settings_of,
)

from possibal.gp.kernels import KernelPrior
from possibal.gp.prior import prior
from possibal.gp.rbf import RBFPrior


@each_radial
def test_a_constant_times_an_rbf_is_radial(kernel):
    assert isinstance(prior([kernel], kernel.theta[None]), RBFPrior)


@pytest.mark.parametrize("kernels", GENERIC.values(), ids=GENERIC)
def test_any_other_kernel_is_generic(kernels):
    assert isinstance(prior(kernels, settings_of(kernels, 0)), KernelPrior)


@each_prior
@settings(max_examples=10)
@given(seed=seeds)
def test_gram_agrees_with_scikit_learn(kernels, seed):
    X, thetas = rows(seed), settings_of(kernels, seed)
    K = prior(kernels, thetas).gram(X)
    exact = [[kernel(X) for kernel in kernels_at(kernels, theta)] for theta in thetas]
    np.testing.assert_allclose(K, exact, rtol=1e-12)
    np.testing.assert_array_equal(K, np.swapaxes(K, 2, 3))


@each_prior
@settings(max_examples=10)
@given(seed=seeds)
def test_columns_agree_with_scikit_learn(kernels, seed):
    X_t, X, thetas = rows(seed + 1, n=4), rows(seed), settings_of(kernels, seed)
    members = [kernels_at(kernels, theta) for theta in thetas]
    covariances, variances = dense_columns(prior(kernels, thetas), X_t, X, len(kernels))
    exact = [[kernel(X_t, X) for kernel in member] for member in members]
    np.testing.assert_allclose(covariances, exact, rtol=1e-10)
    exact = [[kernel.diag(X_t) for kernel in member] for member in members]
    np.testing.assert_allclose(variances, exact, rtol=1e-12)


@each_prior
@settings(max_examples=10)
@given(seed=seeds)
def test_slopes_agree_with_the_gradients_of_scikit_learn(kernels, seed):
    X, thetas = rows(seed), settings_of(kernels, seed)
    G = np.random.default_rng(seed).normal(size=(len(thetas), len(kernels), len(X), len(X)))
    G = G + np.swapaxes(G, 2, 3)
    slopes = prior(kernels, thetas).slopes(X, G)
    for s, theta in enumerate(thetas):
        exact = [
            np.einsum("ij,ijp->p", g, kernel(X, eval_gradient=True)[1])
            for g, kernel in zip(G[s], kernels_at(kernels, theta), strict=True)
        ]
        np.testing.assert_allclose(slopes[s], np.concatenate(exact), rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- stacks


@each_prior
def test_a_part_has_the_settings_asked_for(kernels):
    X, X_t = rows(0), rows(1)
    process = prior(kernels, settings_of(kernels, 0))
    some = process.part(np.array([2, 0]))
    assert len(some) == 2
    assert some.name == process.name
    np.testing.assert_allclose(some.gram(X), process.gram(X)[[2, 0]], rtol=1e-12)
    whole = dense_columns(process, X_t, X, len(kernels))[0]
    part = dense_columns(some, X_t, X, len(kernels))[0]
    np.testing.assert_allclose(part, whole[[2, 0]], rtol=1e-10)


@each_prior
def test_the_kernels_of_every_setting_can_be_had_back(kernels):
    thetas = settings_of(kernels, 0)
    for member, theta in zip(prior(kernels, thetas).settings(), thetas, strict=True):
        found = np.concatenate([kernel.theta for kernel in member])
        np.testing.assert_allclose(found, theta, rtol=1e-12, atol=1e-12)
        assert [type(kernel) for kernel in member] == [type(kernel) for kernel in kernels]


@each_prior
def test_without_rows_there_are_no_covariances(kernels):
    process, none = prior(kernels, settings_of(kernels, 0)), np.empty((0, 3))
    K = process.gram(none)
    assert K.shape == (4, len(kernels), 0, 0)
    covariances, variances = dense_columns(process, rows(0), none, len(kernels))
    assert covariances.shape == (4, len(kernels), 6, 0)
    assert np.isfinite(variances).all()


# ---------------------------------------------------------------- far out
