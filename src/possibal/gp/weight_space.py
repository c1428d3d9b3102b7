"""Predictions of linear functions by their weights, where that is cheaper than by labelled rows.

    in_weight_space(predictor) -> Predictor

With features phi, K_t is amplitude * phi(X) phi(X_t)', so that K_t a = amplitude * phi(X) w with
w = phi(X_t)' a, and K_t P K_t' likewise: a predictor whose columns are features and whose factors
are multiplied by phi(X_t)' gives the same moments. Its work grows with the square of the columns
instead of with that of the labels.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import rq

from possibal.arrays import Matrix
from possibal.gp.linear import LinearCrossCovariance
from possibal.gp.prediction import Predictor
from possibal.numerics.linalg import one_thread
from possibal.numerics.sparse_rows import is_sparse


def in_weight_space(predictor: Predictor) -> Predictor:
    """The same predictor by weights, where it is of dense linear functions and cheaper so.

    Paper: none; GPML Eq. 2.9 and 2.12, the weight-space view of Props. 6 to 8.
    """
    facing = predictor.cross_covariance
    if not isinstance(facing, LinearCrossCovariance) or facing.X is None or is_sparse(facing.X):
        return predictor
    if len(facing.X) <= facing.X.shape[1] + 1:
        return predictor
    features, inner = facing.features(facing.X), predictor.inner
    with one_thread():
        root = np.array([_triangle(features.T @ R) for R in predictor.root])
        return replace(
            predictor,
            cross_covariance=LinearCrossCovariance(facing.prior, None),
            a=predictor.a @ features,
            root=root,
            inner=None if inner is None else features.T @ inner @ features,
        )


def _triangle(root: Matrix) -> Matrix:
    """The upper triangular U with U U' = R R', for R with more columns than lines."""
    return np.asarray(rq(root, mode="r")[:, -len(root) :], dtype=np.float64)
