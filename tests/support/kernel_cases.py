"""Kernels for the tests of priors, with what scikit-learn makes of them."""

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
)

from possibal.gp.feature_maps import ColumnCosines, DiffusionColumns
from possibal.gp.rbf import BlockRBF, FeatureRBF, SphericalRBF

ADDITIVE = FeatureRBF(0.7, feature_map=ColumnCosines((0.1, -0.2, 0.0), 0.9, 1.5))
DIFFUSION = FeatureRBF(0.7, feature_map=DiffusionColumns(1, 0.7), is_spherical=True)
BLOCKS = BlockRBF(0.7, weights=(2.0, 0.5), blocks=(2, 1))
RADIAL = {
    "rbf": RBF(0.7),
    "constant-rbf": ConstantKernel(2.0) * RBF(0.7),
    "rbf-constant": RBF(0.7) * ConstantKernel(2.0),
    "ard": RBF([0.5, 1.0, 3.0]),
    "constant-ard": ConstantKernel(2.0) * RBF([0.5, 1.0, 3.0]),
    "ard-constant": RBF([0.5, 1.0, 3.0]) * ConstantKernel(2.0),
    "fixed-constant": ConstantKernel(2.0, "fixed") * RBF(0.7),
    "rbf-fixed-constant": RBF(0.7) * ConstantKernel(2.0, "fixed"),
    "fixed-length": ConstantKernel(2.0) * RBF(0.7, "fixed"),
    "fixed-length-constant": RBF([0.5, 1.0, 3.0], "fixed") * ConstantKernel(2.0),
    "fixed": ConstantKernel(2.0, "fixed") * RBF(0.7, "fixed"),
    "common": RBF(0.7) + ConstantKernel(0.3, "fixed"),
    "constant-common": ConstantKernel(2.0) * (RBF(0.7) + ConstantKernel(0.3, "fixed")),
    "common-constant": (RBF([0.5, 1.0, 3.0]) + ConstantKernel(0.3, "fixed")) * ConstantKernel(2.0),
    "blocks": ConstantKernel(2.0) * (BLOCKS + ConstantKernel(0.3, "fixed")),
    "blocks-constant": BLOCKS * ConstantKernel(2.0),
    "fixed-weights": ConstantKernel(2.0)
    * BlockRBF(0.7, weights=(2.0, 0.5), weights_bounds="fixed", blocks=(2, 1)),
    "sphere": SphericalRBF(0.7),
    "constant-sphere-common": ConstantKernel(2.0)
    * (SphericalRBF(0.7) + ConstantKernel(0.03, "fixed")),
    "fixed-length-on-the-sphere": SphericalRBF(1.3, "fixed") * ConstantKernel(2.0),
    "additive": ConstantKernel(2.0) * (ADDITIVE + ConstantKernel(0.3, "fixed")),
    "diffusion": ConstantKernel(2.0) * (DIFFUSION + ConstantKernel(0.03, "fixed")),
    "fixed-length-of-blocks": BlockRBF(0.7, "fixed", weights=(2.0, 0.5), blocks=(2, 1)),
}
GENERIC = {
    "matern": [Matern(0.8, nu=1.5)],
    "rational-quadratic": [ConstantKernel(2.0) * RationalQuadratic(0.8, 1.2)],
    "sum": [ConstantKernel(2.0) * RBF(0.7) + DotProduct(0.3)],
    "constant-matern": [ConstantKernel(2.0) * Matern([0.5, 1.0, 3.0], nu=2.5)],
    "two-rbfs": [RBF(0.7) * RBF(2.0)],
    "free-common": [ConstantKernel(2.0) * (RBF(0.7) + ConstantKernel(0.3))],
    "two-constants": [ConstantKernel(2.0) * ConstantKernel(0.3)],
    "by-class": [RBF(0.7), ConstantKernel(2.0) * Matern(0.8, nu=2.5), RBF(0.4, "fixed")],
}
KERNELS = {name: [kernel] for name, kernel in RADIAL.items()} | GENERIC

each_radial = pytest.mark.parametrize("kernel", RADIAL.values(), ids=RADIAL)
each_prior = pytest.mark.parametrize("kernels", KERNELS.values(), ids=KERNELS)
seeds = st.integers(0, 10_000)


def rows(seed, n=6, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def settings_of(kernels, seed, count=4):
    """Several settings of the free hyperparameters; the first is the kernels' own."""
    own = np.concatenate([kernel.theta for kernel in kernels])
    others = own + 0.5 * np.random.default_rng(seed).normal(size=(count - 1, len(own)))
    return np.vstack([own, others])


def kernels_at(kernels, theta):
    """The kernels as scikit-learn sets them."""
    ends = np.cumsum([len(kernel.theta) for kernel in kernels])[:-1]
    parts = np.split(theta, ends)
    return [k.clone_with_theta(t) for k, t in zip(kernels, parts, strict=True)]


def dense_columns(process, X_t, X, classes):
    """What the columns say, as (S, C, m, n) covariances and (S, C, m) variances."""
    covariances = np.full((len(process), classes, len(X_t), len(X)), np.nan)
    variances = np.full((len(process), classes, len(X_t)), np.nan)
    for column in process.cross_covariance(X).columns(X_t):
        covariances[column.member, column.processes] = column.scale * column.matrix
        variances[column.member, column.processes] = column.variance
    return covariances, variances
