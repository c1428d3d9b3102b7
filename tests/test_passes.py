"""A pool is read once, whoever looks at its rows."""

import functools

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from possibal.acquisition import doubt, entropy
from possibal.estimators import PossibilisticGPClassifier
from possibal.looks import Aim, Judge
from possibal.lots import Lot
from possibal.passes import Reading, sifted
from possibal.pool import expected
from possibal.rows import rows

NONE = np.empty(0, dtype=np.intp)
LOT = Lot(1, 20)


@functools.cache
def model():
    X = np.random.default_rng(1).normal(size=(20, 3))
    kernel = ConstantKernel(2.0) * RBF(1.0)
    return PossibilisticGPClassifier(kernel, hyperparameters="fixed").fit(X, X[:, 0] > 0)


def unlabelled(m=200, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 3))


def judge(score=doubt):
    return Judge.of(model().posterior_, score)


def pieces(X, size):
    return (X[start : start + size] for start in range(0, len(X), size))


def reading(X, aside=NONE, threads=2, **how):
    return Reading(X, expected(model(), None), aside, threads, **how)


def kept(sieve, score):
    (found,) = sieve.best(judge(score).worth)
    return found.places.tolist(), found.utilities.tolist()


@settings(max_examples=15)
@given(
    seed=st.integers(0, 1000),
    size=st.integers(1, 250),
    threads=st.integers(1, 3),
    share=st.floats(0, 0.5),
)
def test_several_see_in_one_pass_what_each_would_see_alone(seed, size, threads, share):
    X = unlabelled(200, seed)
    aside = np.flatnonzero(np.random.default_rng(seed).random(200) < share)
    both = reading(pieces(X, size), aside, threads).through(
        Aim(judge(), 7), Aim(judge(entropy), 5), Aim(LOT, 30)
    )
    for sieve, score, top in zip(both.sieves, (doubt, entropy), (7, 5), strict=False):
        alone = reading(X, aside, 1).through(Aim(judge(score), top))
        assert kept(sieve, score) == kept(alone.sieves[0], score)
    drawn = np.sort(np.concatenate([one.places for one in both.sieves[2].candidates()]))
    left = np.setdiff1d(np.arange(200), aside)
    assert drawn.tolist() == LOT.drawn(left, 30).tolist()
    assert (both.rows, both.read) == (len(left), 200)
    assert 0 < both.judged <= 2 * len(left)


def test_a_part_is_counted_with_the_rows_that_were_passed_over():
    X, aims = unlabelled(30), [Aim(judge(), 2), Aim(LOT, 4)]
    sieves, aside = [aim.sieve() for aim in aims], np.array([-3, 2, 9, 10, 25, 99])
    first, second, third = rows(X, expected(model(), None), chunk=10).parts()
    assert sifted(aims, first, sieves, aside)[::2] == (8, 10)
    assert sifted(aims, second, sieves, aside)[::2] == (9, 10)
    assert sifted(aims[1:], third, sieves[1:], aside) == (9, 0, 10)


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_is_told_in_the_order_of_the_pool(threads):
    told = []
    reading(
        list(pieces(unlabelled(), 30)), threads=threads, progress=lambda *now: told.append(now)
    ).through(Aim(judge(), 3), Aim(LOT, 3))
    assert told == [(min(30 * part, 200), None) for part in range(1, 8)]


def test_a_part_that_fails_ends_the_pass():
    given = []

    def source():
        for number in range(100):
            given.append(number)
            yield np.full((4, 3), np.nan if number == 2 else 0.1)

    with pytest.raises(ValueError, match="got nan at row 8, column 0"):
        reading(source()).through(Aim(LOT, 3))
    assert len(given) < 20


def test_blocks_of_dask_are_read_here_where_there_is_no_cluster():
    X = unlabelled()
    here, lazy = (
        reading(pool).through(Aim(judge(), 5)) for pool in (X, da.from_array(X, chunks=(70, 3)))
    )
    assert kept(lazy.sieves[0], doubt) == kept(here.sieves[0], doubt)
    assert lazy.rows == 200
