import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from possibal.gp.kernels import KernelPrior
from possibal.gp.likelihoods import PROBIT, SOFTMAX
from possibal.gp.linear import LinearPrior
from possibal.gp.means import ConstantMean
from possibal.gp.posterior import TrainingData, condition
from possibal.gp.prior import prior
from possibal.numerics.sparse_rows import SparseRows

KERNEL = ConstantKernel(2.0) * DotProduct(0.7, "fixed")
THETAS = np.log([[2.0], [0.3], [9.0]])


def rows(seed, n, d):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)


def training(X, dense, classes, seed):
    codes = np.random.default_rng(seed).integers(0, classes, len(dense))
    one = np.ones((1, len(dense)))
    if classes == 2:
        return TrainingData(X, np.where(codes == 1, 1.0, -1.0)[None], one, PROBIT)
    return TrainingData(X, (np.arange(classes)[:, None] == codes).astype(float), one, SOFTMAX)


def said(posterior, X):
    mean, variance = posterior.moments(X)
    return [
        mean,
        variance,
        posterior.cross(X, X[:4]),
        posterior.covariance(X),
        posterior.between(X, X[:3]),
        posterior.log_evidence,
        posterior.evidence_slopes(),
        posterior.at(X).mean,
    ]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shape", [(5, 8), (40, 3)], ids=["wide", "tall"])
@pytest.mark.parametrize("made", [np.asarray, SparseRows], ids=["dense", "sparse"])
def test_a_linear_prior_says_what_the_same_kernel_says(classes, shape, made):
    X, others = rows(0, *shape), rows(1, 30, shape[1])
    mean = ConstantMean((0.4,))
    slow = condition(KernelPrior((KERNEL,), THETAS, mean), training(X, X, classes, 2))
    fast = condition(LinearPrior.of(KERNEL, THETAS, mean), training(made(X), X, classes, 2))
    for ours, theirs in zip(said(fast, made(others)), said(slow, others), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


@given(st.integers(0, 30), st.sampled_from([2, 3]))
def test_predictions_by_weights_are_those_by_labelled_rows(seed, classes):
    X, others = rows(seed, 25, 3), rows(seed + 1, 10, 3)
    posterior = condition(LinearPrior.of(KERNEL, THETAS), training(X, X, classes, seed))
    assert posterior.marginals is not posterior.predictor
    for ours, theirs in zip(
        posterior.marginals.moments(others), posterior.predictor.moments(others), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


def test_few_labels_or_sparse_rows_are_predicted_by_labelled_rows():
    for X, made in [(rows(0, 4, 3), np.asarray), (rows(0, 25, 3), SparseRows)]:
        posterior = condition(LinearPrior.of(KERNEL, THETAS), training(made(X), X, 2, 0))
        assert posterior.marginals is posterior.predictor


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(),
        ConstantKernel(2.0) * RBF(),
        ConstantKernel(2.0) * DotProduct(1.0),
        DotProduct(1.0, "fixed"),
        ConstantKernel(2.0) * DotProduct(1.0, "fixed") + RBF(),
    ],
    ids=str,
)
def test_other_kernels_are_no_linear_prior(kernel):
    assert LinearPrior.of(kernel, kernel.theta[None]) is None


@pytest.mark.parametrize(
    "kernel", [KERNEL, DotProduct(0.7, "fixed") * ConstantKernel(2.0)], ids=["first", "last"]
)
def test_a_constant_times_a_product_is_found_by_any_way_to_a_prior(kernel):
    found = prior((kernel,), kernel.theta[None])
    assert isinstance(found, LinearPrior)
    np.testing.assert_allclose(found.amplitude, [2.0])
    assert found.intercept == pytest.approx(0.49)


def test_a_constant_that_is_fixed_has_no_slope():
    kernel = ConstantKernel(2.0, "fixed") * DotProduct(1.0, "fixed")
    found = LinearPrior.of(kernel, np.empty((1, 0)))
    assert found.amplitude.tolist() == [2.0]
    assert found.slopes(rows(0, 3, 2), np.ones((1, 1, 3, 3))).shape == (1, 0)


def test_inner_products_beyond_all_numbers_are_refused():
    with pytest.raises(ValueError, match="must give finite covariances"), np.errstate(all="ignore"):
        LinearPrior.of(KERNEL, THETAS).gram(np.full((2, 2), 1e200))
