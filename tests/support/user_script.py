"""A user's script that `make types` holds mypy --strict to, and a test runs."""

from typing import assert_type

import numpy as np

from possibal import Campaign, PossibilisticGPClassifier, PossibilisticGPRegressor, acquisition
from possibal.arrays import Matrix, Vector


def script(seed: int = 0) -> float:
    """Label, classify, regress."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    campaign = Campaign.start(X, classes=[0, 1])
    for _ in range(5):
        (row,) = campaign.ask()
        campaign = campaign.tell(row, y[row])
    model = PossibilisticGPClassifier().fit(X[:20], y[:20])
    doubt = acquisition.doubt(model.belief(X[20:]))
    regressor = PossibilisticGPRegressor().fit(X, X[:, 0] + 0.1 * rng.normal(size=60))
    mean, sd = assert_type(regressor.predict(X, return_std=True), tuple[Vector, Vector])
    mean, covariance = assert_type(regressor.predict(X, return_cov=True), tuple[Vector, Matrix])
    assert_type(regressor.predict(X), Vector)
    wanted = bool(rng.integers(2))
    found = regressor.predict(X, return_std=wanted)
    assert isinstance(found, tuple) == wanted
    return float(doubt.max() + mean.max() + sd.max() + covariance.max())
