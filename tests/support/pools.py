"""Beliefs about a pool: Hypothesis strategies, and a posterior that counts."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from possibal import Belief
from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.scoring import is_local
from possibal.campaign.snapshot import Answer, Snapshot

means = st.floats(-50, 50)
log_variances = st.floats(-8, 8)

LOCAL = {name: strategy for name, strategy in STRATEGIES.items() if is_local(strategy)}
"""Local strategies, which score each row by its own belief."""
WIDE = [name for name in STRATEGIES if name not in {*LOCAL, "random"}]
"""Joint strategies, which read covariances between rows."""


@st.composite
def moments(draw, labels: int | None = None):
    """Latent means and variances over the whole promised range, (m,) or (m, C)."""
    m = draw(st.integers(1, 6))
    shape = (m,) if labels is None else (m, labels)
    return draw(arrays(float, shape, elements=means)), 10 ** draw(
        arrays(float, shape, elements=log_variances)
    )


any_moments = st.one_of(moments(), moments(2), moments(3), moments(5))


@st.composite
def beliefs(draw):
    """Beliefs under several hypotheses."""
    hypotheses, m = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    shape = draw(st.sampled_from([(hypotheses, m), (hypotheses, m, 3)]))
    mean = draw(arrays(float, shape, elements=st.floats(-10, 10)))
    variance = 10 ** draw(arrays(float, shape, elements=st.floats(-3, 3)))
    credibility = draw(arrays(float, hypotheses, elements=st.floats(0, 1)))
    credibility[draw(st.integers(0, hypotheses - 1))] = 1.0
    return Belief(mean, variance, credibility)


def random_moments(seed: int, shape) -> tuple[np.ndarray, np.ndarray]:
    """A pool like those a Gaussian process gives."""
    rng = np.random.default_rng(seed)
    return 2 * rng.normal(size=shape), np.exp(rng.normal(size=shape))


@dataclass
class CountingPosterior:
    """A posterior that counts how often it is asked."""

    asked: int = 0

    def at(self, X):
        self.asked += 1
        return Belief.of(X[:, 0], np.ones(len(X)))


def crowded(m: int = 300, seed: int = 0) -> np.ndarray:
    """A pool with many copies of two rows, so that scores have ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    X[rng.random(m) < 0.2] = X[5]
    X[rng.random(m) < 0.2] = X[7]
    return X


def begun(X, strategy, seed: int = 0, told: int = 14, **choices) -> Snapshot:
    """A campaign with truthful answers for rows from all over a pool, some of them copies."""
    campaign = Snapshot.start(X, strategy=strategy, seed=seed, **choices)
    places = np.arange(told) * (len(X) // told)
    labels = (np.asarray(X)[:, 0] > 0).astype(int).tolist()
    return campaign.replay(Answer(row, labels[row]) for row in places.tolist())


def answered(campaign: Snapshot) -> list[int]:
    """The places of the rows that a campaign has answers for."""
    return [answer.row for answer in campaign.answers]
