"""A pool is read once, whoever looks at its rows."""

import functools

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from possibal.acquisition.pointwise import doubt
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.pool.pruning import PrunedScorer, TopKQuery
from possibal.pool.ranking import row_format
from possibal.pool.sampling import HashedSampler
from possibal.pool.scan import PoolScan

NONE = np.empty(0, dtype=np.intp)
SAMPLER = HashedSampler(1, 20)


@functools.cache
def model():
    X = np.random.default_rng(1).normal(size=(20, 3))
    kernel = ConstantKernel(2.0) * RBF(1.0)
    return PossibilisticGPClassifier(kernel, hyperparameters="fixed").fit(X, X[:, 0] > 0)


def unlabelled(m=200, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 3))


def scorer():
    return PrunedScorer.of(model().posterior_, doubt)


def pieces(X, size):
    return (X[start : start + size] for start in range(0, len(X), size))


def reading(X, aside=NONE, threads=2, **how):
    return PoolScan(X, row_format(model(), None), aside, threads, **how)


def kept(seen):
    (found,) = seen.top_k.best(scorer().utilities)
    return found.places.tolist(), found.utilities.tolist()


@settings(max_examples=15)
@given(
    seed=st.integers(0, 1000),
    size=st.integers(1, 250),
    threads=st.integers(1, 3),
    share=st.floats(0, 0.5),
)
def test_pieces_and_threads_change_nothing_of_what_is_seen(seed, size, threads, share):
    X = unlabelled(200, seed)
    aside = np.flatnonzero(np.random.default_rng(seed).random(200) < share)
    seen = reading(pieces(X, size), aside, threads).run(TopKQuery(scorer(), 7))
    assert kept(seen) == kept(reading(X, aside, 1).run(TopKQuery(scorer(), 7)))
    left = np.setdiff1d(np.arange(200), aside)
    assert (seen.rows, seen.read) == (len(left), 200)
    assert 0 < seen.judged <= len(left)
    sampled = reading(pieces(X, size), aside, threads).run(TopKQuery(SAMPLER, 30))
    drawn = np.concatenate([one.places for one in sampled.top_k.candidates()])
    assert sorted(drawn.tolist()) == sorted(
        left[np.argsort(-SAMPLER.keys(0, 200)[left])[:30]].tolist()
    )
    assert (sampled.rows, sampled.judged, sampled.read) == (len(left), 0, 200)


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_is_told_in_the_order_of_the_pool(threads):
    told = []
    reading(
        list(pieces(unlabelled(), 30)), threads=threads, progress=lambda *now: told.append(now)
    ).run(TopKQuery(scorer(), 3))
    assert told == [(min(30 * part, 200), None) for part in range(1, 8)]


def test_a_part_that_fails_ends_the_pass():
    given = []

    def source():
        for number in range(100):
            given.append(number)
            yield np.full((4, 3), np.nan if number == 2 else 0.1)

    with pytest.raises(ValueError, match="got nan at row 8, column 0"):
        reading(source()).run(TopKQuery(SAMPLER, 3))
    assert len(given) < 20


def test_blocks_of_dask_are_read_here_where_there_is_no_cluster():
    X = unlabelled()
    here, lazy = (
        reading(pool).run(TopKQuery(scorer(), 5)) for pool in (X, da.from_array(X, chunks=(70, 3)))
    )
    assert kept(lazy) == kept(here)
    assert lazy.rows == 200
