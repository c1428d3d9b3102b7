"""Small campaigns: rows, their true labels, and answers to questions."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from possibal.acquisition.registry import STRATEGIES
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.estimators.classifier import PossibilisticGPClassifier

FIXED = PossibilisticGPClassifier(ConstantKernel(4.0) * RBF(1.0), hyperparameters="fixed")

each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
seeds = st.integers(0, 10_000)
few = settings(max_examples=8)


def rows(seed=0, m=12, d=2):
    return np.random.default_rng(seed).normal(size=(m, d))


def truth(X, classes=2):
    """Labels that follow the first column."""
    return np.digitize(X[:, 0], [0.0, 0.8][: classes - 1]).tolist()


def walked(campaign, labels, steps):
    """The campaign after truthful answers to its own questions."""
    for _ in range(steps):
        (row,) = campaign.ask()
        campaign = campaign.tell(row, labels[campaign.pool.places[row]])
    return campaign


def begun(X, told, **choices):
    """A campaign that knows some rows."""
    labels = truth(X)
    return Snapshot.start(X, **choices).replay(Answer(row, labels[row]) for row in told)
