"""A draw depends on places alone, however the pool is read."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal import lots
from possibal.lots import Blind, Lot, half_of
from possibal.rows import Chunk
from possibal.sieve import Candidates, Sieve

seeds = st.integers(0, 10_000)
LOT = Lot(3, 7)


def chunks(X, size, *, named=False):
    """A pool in pieces."""
    for start in range(0, len(X), size):
        piece = X[start : start + size]
        names = [f"row {start + at}" for at in range(len(piece))] if named else None
        yield Chunk(start, piece, names)


def sifted(lot, pieces, top, aside):
    """The rows that a sieve keeps of pieces, the largest number first."""
    sieve = Sieve(top, lot.slack)
    for chunk in pieces:
        end = chunk.start + len(chunk.X)
        passed = aside[(aside >= chunk.start) & (aside < end)]
        assert lot.sift(chunk, sieve, passed) == 0  # none is worked out
    found = Candidates.joined(sieve.candidates())
    return found.part(np.argsort(-found.utilities, kind="stable")[:top])


pools = st.tuples(st.integers(1, 90), st.integers(1, 40), st.integers(1, 30), st.floats(0, 0.6))


# ---------------------------------------------------------------- numbers
@given(seed=seeds, answers=st.integers(0, 50), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_numbers_read_in_parts_are_those_read_at_once(seed, answers, cuts):
    lot, ends = Lot(seed, answers), [0, *sorted(cuts), 200]
    parts = [lot.keys(start, end - start) for start, end in pairwise(ends)]
    np.testing.assert_array_equal(np.concatenate(parts), lot.keys(0, 200))


def test_every_question_of_every_campaign_draws_anew():
    draws = {tuple(Lot(seed, answers).keys(0, 3)) for seed in range(4) for answers in range(4)}
    assert len(draws) == 16
    assert tuple(LOT.keys(0, 3)) == tuple(Lot(3, 7).keys(0, 3))


def test_places_far_into_a_pool_have_numbers_too():
    far = LOT.keys(10**12, 4)
    np.testing.assert_array_equal(LOT.keys(10**12 + 1, 3), far[1:])
    assert ((far >= 0.0) & (far < 1.0)).all()


# ---------------------------------------------------------------- draws
@given(seed=seeds, m=st.integers(1, 60), count=st.integers(1, 40), share=st.floats(0, 0.9))
def test_the_rows_drawn_are_those_left_with_the_largest_numbers(seed, m, count, share):
    lot, keys = Lot(seed, 2), Lot(seed, 2).keys(0, m).tolist()
    left = np.flatnonzero(np.random.default_rng(seed).random(m) >= share)
    slow = sorted(sorted(left.tolist(), key=lambda place: -keys[place])[:count])
    assert lot.drawn(left, count).tolist() == slow


@given(seed=seeds, count=st.integers(1, 20))
def test_more_rows_drawn_are_the_same_and_others(seed, count):
    lot, left = Lot(seed, 0), np.arange(30)
    fewer, more = (set(lot.drawn(left, n).tolist()) for n in (count, count + 1))
    assert fewer < more
    (other,) = more - fewer
    assert set(lot.drawn(np.delete(left, other), count).tolist()) == fewer


def test_every_row_is_drawn_as_often_as_any_other():
    often = np.zeros(40)
    for seed in range(500):
        often[Lot(seed, 0).drawn(np.arange(40), 10)] += 1
    assert often.min() > 85  # 125 is expected, give or take ten
    assert often.max() < 165


@given(seed=seeds, pool=pools, named=st.booleans())
def test_a_pool_in_pieces_of_any_order_gives_the_rows_drawn_at_once(seed, pool, named):
    (m, size, top, share), rng = pool, np.random.default_rng(seed)
    X, aside = rng.normal(size=(m, 2)), np.flatnonzero(rng.random(m) < share)
    left = np.setdiff1d(np.arange(m), aside)
    if not len(left):
        return
    pieces = list(chunks(X, size, named=named))
    order = rng.permutation(len(pieces)).tolist()
    found = sifted(Lot(seed, 4), [pieces[at] for at in order], top, aside)
    assert sorted(found.places.tolist()) == Lot(seed, 4).drawn(left, top).tolist()
    np.testing.assert_array_equal(found.X, X[found.places])
    np.testing.assert_array_equal(found.utilities, Lot(seed, 4).keys(0, m)[found.places])
    assert found.names == ([f"row {place}" for place in found.places] if named else None)


def test_rows_that_are_all_aside_are_not_offered():
    sieve = Sieve(3, LOT.slack)
    for lot in (LOT, Blind(3, 7, np.arange(5))):
        lot.sift(Chunk(0, np.zeros((5, 2)), None), sieve, np.arange(5))
    assert sieve.candidates() == []


# ---------------------------------------------------------------- at random
@given(seed=seeds, answers=st.integers(0, 50), pool=pools, named=st.booleans())
def test_rows_at_random_have_the_numbers_that_a_campaign_draws(seed, answers, pool, named):
    (m, size, top, share), rng = pool, np.random.default_rng(seed)
    aside = np.flatnonzero(rng.random(m) < share)
    left = np.setdiff1d(np.arange(m), aside)
    if not len(left):
        return
    drawn = np.random.default_rng([seed, answers]).random(len(left))
    blind = Blind(seed, answers, aside)
    found = sifted(blind, chunks(rng.normal(size=(m, 2)), size, named=named), top, aside)
    order = np.argsort(-drawn)[:top]
    assert found.places.tolist() == left[order].tolist()
    assert found.utilities.tolist() == drawn[order].tolist()
    assert found.names == ([f"row {place}" for place in found.places] if named else None)


# ---------------------------------------------------------------- how many
@pytest.mark.parametrize(("wanted", "half"), [(1, 500), (333, 500), (334, 501), (1000, 1500)])
def test_a_thousand_rows_are_weighed_or_thrice_as_many_as_wanted(wanted, half):
    assert half_of(wanted) == half
    assert lots.WEIGHED == 1000
