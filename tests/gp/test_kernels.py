import numpy as np
import pytest
from sklearn.gaussian_process.kernels import (
    RBF,
    DotProduct,
    Matern,
    WhiteKernel,
)
from support.kernel_cases import GENERIC, RADIAL, dense_columns, rows, settings_of

from possibal.gp.prior import prior


@pytest.mark.parametrize("kernels", [GENERIC["matern"], [RADIAL["constant-ard"]]])
def test_classes_that_share_a_kernel_add_up_their_slopes(kernels):
    X, process = rows(0), prior(kernels, settings_of(kernels, 0, count=2))
    G = np.random.default_rng(0).normal(size=(2, 3, 6, 6))
    G = G + np.swapaxes(G, 2, 3)
    together = process.slopes(X, G)
    by_class = sum(process.slopes(X, G[:, c : c + 1]) for c in range(3))
    np.testing.assert_allclose(together, by_class, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_covariance_that_is_not_a_number_is_refused_with_the_name_of_the_kernel():
    process = prior([DotProduct(1.0)], np.zeros((1, 1)))
    sentence = (
        r"kernel DotProduct\(sigma_0=1\) must give finite covariances; got inf\. "
        "Bring the columns of X to a common scale"
    )
    X = np.full((2, 1), 1e200)
    with pytest.raises(ValueError, match=sentence):
        process.gram(X)
    with pytest.raises(ValueError, match=sentence):
        list(process.cross_covariance(X).columns(X))


def test_any_kernel_leaves_rows_where_they_are():
    X = rows(0)
    assert prior([Matern(0.8)], np.log([[0.8]])).coordinates(X) is X


def test_white_noise_belongs_to_the_rows_seen_alone():
    process = prior([RBF(0.7) + WhiteKernel(0.5)], np.log([[0.7, 0.5]]))
    X = rows(0)
    covariances, variances = dense_columns(process, X, X, 1)
    np.testing.assert_allclose(process.gram(X)[0, 0], RBF(0.7)(X) + 0.5 * np.eye(6), rtol=1e-12)
    np.testing.assert_allclose(covariances[0, 0], RBF(0.7)(X), rtol=1e-12)
    np.testing.assert_allclose(variances, 1.5)
