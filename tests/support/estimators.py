"""Small fitted classifiers and regressors, and what tests are repeated over."""

import numpy as np
import polars as pl
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.preprocessing import StandardScaler

from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.logistic import PossibilisticLogisticRegression
from possibal.estimators.regressor import PossibilisticGPRegressor

KERNEL = ConstantKernel(2.0) * RBF(0.8)
WAYS = ["envelope", "evidence", "fixed"]
ESTIMATORS = [
    PossibilisticGPClassifier(),
    PossibilisticGPRegressor(),
    PossibilisticGPClassifier(hyperparameters="fixed", link="logistic"),
    PossibilisticGPRegressor(noise="systematic", hyperparameters="envelope"),
    PossibilisticLogisticRegression(),
    PossibilisticLogisticRegression(hyperparameters="evidence", link="probit"),
]

each_way = pytest.mark.parametrize("way", WAYS)
each_link = pytest.mark.parametrize("link", ["probit", "logistic"])
each_count = pytest.mark.parametrize("classes", [2, 3, 5])

POLARS = pytest.param(
    pl.DataFrame,
    id="polars",
    marks=pytest.mark.skipif(
        not hasattr(StandardScaler().fit(pl.DataFrame({"a": [0.0, 1.0]})), "feature_names_in_"),
        reason="this scikit-learn reads no names of polars",
    ),
)


def rows(seed, n=20, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


def labelled(count=2, n=20, seed=0):
    """Rows and labels that follow their first column, every label among them."""
    X = rows(seed, n)
    place = np.argsort(np.argsort(X[:, 0] + 0.3 * X[:, 1]))
    return X, place * count // n


def classifier(count=2, n=20, seed=0, **choices):
    return PossibilisticGPClassifier(**choices).fit(*labelled(count, n, seed))


def measured(n=20, seed=0):
    X = rows(seed, n)
    return X, 50 + 3 * np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rows(seed + 1, n)[:, 0]


def regressor(n=20, seed=0, **choices):
    return PossibilisticGPRegressor(**choices).fit(*measured(n, seed))
