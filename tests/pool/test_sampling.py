"""A draw depends on places alone, however the pool is read."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from possibal import Belief
from possibal.pool import sampling
from possibal.pool.reader import Chunk
from possibal.pool.sampling import (
    HashedSampler,
    QuestionSample,
    RandomQuestion,
    half_size,
    sample_size,
)
from possibal.pool.top_k import ScoredRows, TopK

seeds = st.integers(0, 10_000)
SAMPLER = HashedSampler(3, 7)


def chunks(X, size, *, named=False):
    """A pool in pieces."""
    for start in range(0, len(X), size):
        piece = X[start : start + size]
        names = [f"row {start + at}" for at in range(len(piece))] if named else None
        yield Chunk(start, piece, names)


def offered(sampler, pieces, top, aside):
    """The rows that a top-k keeps of pieces, the largest key first."""
    top_k = TopK(top, sampler.slack)
    for chunk in pieces:
        end = chunk.start + len(chunk.X)
        passed = aside[(aside >= chunk.start) & (aside < end)]
        assert sampler.offer(chunk, top_k, passed) == 0  # none is worked out
    found = ScoredRows.joined(top_k.candidates())
    return found.part(np.argsort(-found.utilities, kind="stable")[:top])


def drawn_at_once(sampler, left, count):
    """The sample of a pool that is one chunk."""
    m = int(left[-1]) + 1
    aside = np.setdiff1d(np.arange(m), left)
    found = offered(sampler, chunks(np.zeros((m, 1)), m), count, aside)
    return QuestionSample(found.places, len(left))


pools = st.tuples(st.integers(1, 90), st.integers(1, 40), st.integers(1, 30), st.floats(0, 0.6))


# ---------------------------------------------------------------- numbers
@given(seed=seeds, answers=st.integers(0, 50), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_numbers_read_in_parts_are_those_read_at_once(seed, answers, cuts):
    sampler, ends = HashedSampler(seed, answers), [0, *sorted(cuts), 200]
    parts = [sampler.keys(start, end - start) for start, end in pairwise(ends)]
    np.testing.assert_array_equal(np.concatenate(parts), sampler.keys(0, 200))


def test_every_question_of_every_campaign_draws_anew():
    draws = {
        tuple(HashedSampler(seed, answers).keys(0, 3)) for seed in range(4) for answers in range(4)
    }
    assert len(draws) == 16
    assert tuple(SAMPLER.keys(0, 3)) == tuple(HashedSampler(3, 7).keys(0, 3))


def test_places_far_into_a_pool_have_numbers_too():
    far = SAMPLER.keys(10**12, 4)
    np.testing.assert_array_equal(SAMPLER.keys(10**12 + 1, 3), far[1:])
    assert ((far >= 0.0) & (far < 1.0)).all()


# ---------------------------------------------------------------- draws
@given(seed=seeds, m=st.integers(1, 60), count=st.integers(1, 40), share=st.floats(0, 0.9))
def test_the_rows_drawn_are_those_left_with_the_largest_numbers(seed, m, count, share):
    sampler, keys = HashedSampler(seed, 2), HashedSampler(seed, 2).keys(0, m).tolist()
    left = np.flatnonzero(np.random.default_rng(seed).random(m) >= share)
    if not len(left):
        return
    slow = sorted(left.tolist(), key=lambda place: -keys[place])[:count]
    assert drawn_at_once(sampler, left, count).places.tolist() == slow


@given(seed=seeds, count=st.integers(1, 20))
def test_more_rows_drawn_are_the_same_and_others(seed, count):
    sampler, left = HashedSampler(seed, 0), np.arange(30)
    fewer, more = (set(drawn_at_once(sampler, left, n).places.tolist()) for n in (count, count + 1))
    assert fewer < more
    (other,) = more - fewer
    assert set(drawn_at_once(sampler, np.delete(left, other), count).places.tolist()) == fewer


def test_every_row_is_drawn_as_often_as_any_other():
    often = np.zeros(40)
    for seed in range(500):
        often[drawn_at_once(HashedSampler(seed, 0), np.arange(40), 10).places] += 1
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
    found = offered(HashedSampler(seed, 4), [pieces[at] for at in order], top, aside)
    assert found.places.tolist() == drawn_at_once(HashedSampler(seed, 4), left, top).places.tolist()
    np.testing.assert_array_equal(found.X, X[found.places])
    np.testing.assert_array_equal(found.utilities, HashedSampler(seed, 4).keys(0, m)[found.places])
    assert found.names == ([f"row {place}" for place in found.places] if named else None)


def test_rows_that_are_all_aside_are_not_offered():
    top_k = TopK(3, SAMPLER.slack)
    for sampler in (SAMPLER, RandomQuestion(3, 7, np.arange(5))):
        sampler.offer(Chunk(0, np.zeros((5, 2)), None), top_k, np.arange(5))
    assert top_k.candidates() == []


# ---------------------------------------------------------------- at random
@given(seed=seeds, answers=st.integers(0, 50), pool=pools, named=st.booleans())
def test_rows_at_random_have_the_numbers_that_a_campaign_draws(seed, answers, pool, named):
    (m, size, top, share), rng = pool, np.random.default_rng(seed)
    aside = np.flatnonzero(rng.random(m) < share)
    left = np.setdiff1d(np.arange(m), aside)
    if not len(left):
        return
    drawn = np.random.default_rng([seed, answers]).random(len(left))
    blind = RandomQuestion(seed, answers, aside)
    found = offered(blind, chunks(rng.normal(size=(m, 2)), size, named=named), top, aside)
    order = np.argsort(-drawn)[:top]
    assert found.places.tolist() == left[order].tolist()
    assert found.utilities.tolist() == drawn[order].tolist()
    assert found.names == ([f"row {place}" for place in found.places] if named else None)


# ---------------------------------------------------------------- how many
@pytest.mark.parametrize(("wanted", "half"), [(1, 500), (333, 500), (334, 501), (1000, 1500)])
def test_a_thousand_rows_are_candidates_or_thrice_as_many_as_wanted(wanted, half):
    assert half_size(wanted) == half
    assert sampling.JOINT_CANDIDATES == 1000


@pytest.mark.parametrize(("wanted", "drawn"), [(1, 5000), (1667, 5000), (1668, 5004)])
def test_five_thousand_rows_are_drawn_or_as_many_as_are_candidates(wanted, drawn):
    assert sample_size(wanted) == drawn
    assert sampling.SAMPLE_SIZE == 5000


# ---------------------------------------------------------------- candidates
@pytest.fixture
def few_candidates(monkeypatch):
    """Twelve rows are candidates, of thirty that are sampled."""
    monkeypatch.setattr(sampling, "JOINT_CANDIDATES", 12)
    monkeypatch.setattr(sampling, "SAMPLE_SIZE", 30)
    monkeypatch.setattr(sampling, "COVERED", 12)


@pytest.mark.usefixtures("few_candidates")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=seeds, m=st.integers(1, 60), wanted=st.integers(1, 16), labels=st.sampled_from([2, 3]))
def test_half_of_the_candidates_are_random_and_half_have_the_largest_doubt(seed, m, wanted, labels):
    sampler, rng = HashedSampler(seed, 1), np.random.default_rng(seed)
    left = np.sort(rng.permutation(2 * m)[:m])
    shape = (m,) if labels == 2 else (m, labels)
    # Few different means, so that many rows are in as much doubt as others.
    mean = {place: rng.integers(-2, 3, shape[1:]) for place in left.tolist()}
    drawn = drawn_at_once(sampler, left, sample_size(wanted))
    means = np.array([mean[place] for place in drawn.places.tolist()], dtype=float)
    belief = Belief.of(means, np.ones(means.shape))
    keys, half = sampler.keys(0, 2 * m).tolist(), max(12, 3 * wanted) // 2
    by_lot = sorted(left.tolist(), key=lambda place: -keys[place])[: max(30, 2 * half)]
    wide = [slow_doubt(mean[place]) for place in by_lot]
    doubtful = [place for _, place in sorted(zip(wide, by_lot, strict=True))]
    expected = by_lot if m <= 2 * half else {*by_lot[:half], *doubtful[:half]}
    assert drawn.places[drawn.candidates(belief, wanted)].tolist() == sorted(expected)
    assert wanted <= len(expected) or m < wanted
    assert drawn.places[drawn.reference].tolist() == sorted(by_lot[:12])


def slow_doubt(mean):
    """How far the leading label is ahead, the least first, where all variances are one."""
    if np.ndim(mean) == 0:
        return abs(int(mean))
    ahead = sorted(mean.tolist(), reverse=True)
    return ahead[0] - ahead[1]


def test_where_few_rows_are_left_all_are_candidates_and_stand_for_themselves():
    drawn = QuestionSample(np.array([4, 0, 2]), 3)
    assert drawn.candidates(Belief.of(np.zeros(3), np.ones(3)), 1).tolist() == [1, 2, 0]
    assert drawn.reference.tolist() == [1, 2, 0]
