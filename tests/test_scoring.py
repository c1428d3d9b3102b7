import tracemalloc

import numpy as np
import pytest
from pools import random_moments

from possibal import Belief, acquisition, scoring
from possibal.acquisition import STRATEGIES

LOCAL = {name: strategy for name, strategy in STRATEGIES.items() if name != "random"}


@pytest.mark.parametrize("score", LOCAL.values(), ids=LOCAL)
@pytest.mark.parametrize("shape", [(50,), (50, 3)], ids=str)
def test_a_pool_of_many_chunks_is_scored_whole(score, shape, monkeypatch):
    mean, variance = random_moments(5, shape)
    whole = score(mean, variance)
    monkeypatch.setattr(scoring, "CHUNK", 100)
    np.testing.assert_allclose(score(mean, variance), whole, rtol=1e-6)


def test_a_chunk_never_has_less_than_a_row(monkeypatch):
    monkeypatch.setattr(scoring, "CHUNK", 1)
    mean, variance = random_moments(6, (3, 4))
    assert acquisition.uncertainty(mean, variance).shape == (3,)


def test_a_score_is_not_given_two_variances():
    belief = Belief.of([0.0], [1.0])
    with pytest.raises(TypeError, match="variance must be left out when a Belief is given"):
        acquisition.doubt(belief, [2.0])
    with pytest.raises(TypeError, match="variance must be given beside mean"):
        acquisition.doubt([0.0])


def test_a_score_keeps_its_name_and_its_words():
    assert acquisition.doubt.__name__ == "doubt"
    assert acquisition.doubt.__doc__.startswith("Asks")


@pytest.mark.parametrize("size", [scoring.reading, scoring.climbing])
def test_more_latents_need_more_room(size):
    assert size(1) == 1
    assert size(2) < size(3) < size(10)


@pytest.mark.parametrize("labels", [2, 3, 30])
@pytest.mark.parametrize("score", [acquisition.uncertainty, acquisition.entropy])
def test_memory_is_bounded_by_the_chunks(score, labels):
    mean, variance = random_moments(7, (40_000 // labels**2 + 500, labels))
    tracemalloc.start()
    score(mean, 1e4 * variance)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - mean.nbytes < 8e6


def test_every_strategy_but_random_reads_a_belief_row_by_row():
    assert {name for name, s in STRATEGIES.items() if scoring.is_local(s)} == set(LOCAL)


def test_only_a_score_is_known_to_be_local():
    @scoring.score(size=scoring.reading)
    def spread(belief):
        return belief.variance[0]

    def pretender(belief):
        return spread(belief)

    assert scoring.is_local(spread)
    assert not scoring.is_local(pretender)
    assert not scoring.is_local(np.add)
    pretender.local = "yes"
    assert not scoring.is_local(pretender)


@pytest.mark.parametrize("score", LOCAL.values(), ids=LOCAL)
@pytest.mark.parametrize("shape", [(12,), (12, 3)], ids=str)
def test_a_local_score_says_the_same_of_pools_joined(score, shape):
    mean, variance = random_moments(8, shape)
    parts = [score(mean[some], variance[some]) for some in (slice(0, 5), slice(5, 12))]
    np.testing.assert_array_equal(score(mean, variance), np.concatenate(parts))
