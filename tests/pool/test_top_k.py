"""The best of rows that come in pieces are those of sorting them all."""

from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from possibal.pool.top_k import BUFFER, SLACK, Candidates, ScanCounts, TopK


def candidates(utilities, places=None, *, named=False):
    """Rows whose only number is what they are worth."""
    utilities = np.asarray(utilities, dtype=float)
    places = np.arange(len(utilities)) if places is None else np.asarray(places)
    names = [f"row {place}" for place in places.tolist()] if named else None
    return Candidates(places, utilities, utilities[:, None], names)


def itself(X):
    return X[:, 0].copy()


def sorted_places(utilities, top):
    return np.lexsort((np.arange(len(utilities)), -np.asarray(utilities)))[:top].tolist()


# Few different values give many ties; wide ones reach every size of number.
alike = st.sampled_from([-1.5, 0.0, 0.25, 1.0, 1.0 + 1e-9])
worths = st.lists(st.one_of(alike, st.floats(-1e6, 1e6)), min_size=1, max_size=60)


@settings(max_examples=50)
@given(
    utilities=worths,
    top=st.integers(1, 12),
    seed=st.integers(0, 1000),
    size=st.integers(1, 20),
    named=st.booleans(),
)
def test_the_best_of_pieces_in_any_order_are_those_of_sorting(utilities, top, seed, size, named):
    utilities = np.array(utilities)
    order = np.random.default_rng(seed).permutation(len(utilities))
    sieve = TopK(top)
    for start in range(0, len(order), size):
        some = order[start : start + size]
        sieve.offer(candidates(utilities[some], some, named=named))
    (found,) = sieve.best(itself)
    expected = sorted_places(utilities, top)
    assert found.places.tolist() == expected
    assert found.utilities.tolist() == utilities[expected].tolist()
    assert found.X[:, 0].tolist() == utilities[expected].tolist()
    assert found.names == ([f"row {place}" for place in expected] if named else None)


@pytest.mark.parametrize("size", [1, 7, 2000])
def test_many_rows_are_dropped_and_none_of_the_best(size):
    utilities = np.random.default_rng(1).normal(size=2000).round(2)
    sieve, top = TopK(5), 5
    for start in range(0, 2000, size):
        some = np.arange(start, min(start + size, 2000))
        sieve.offer(candidates(utilities[some], some))
        seen = np.sort(utilities[: some[-1] + 1])
        if len(seen) >= top:
            assert -np.inf < sieve.bar <= seen[-top]
    kept = sum(len(one) for one in sieve.candidates())
    assert top <= kept <= 2 * top + BUFFER
    assert sieve.best(itself)[0].places.tolist() == sorted_places(utilities, top)


@settings(max_examples=30)
@given(utilities=worths, top=st.integers(1, 5))
def test_the_bar_never_falls_nor_exceeds_the_last_that_is_wanted(utilities, top):
    sieve, bars = TopK(top), [-np.inf]
    for place, one in enumerate(utilities):
        sieve.offer(candidates([one], [place]))
        bars.append(sieve.bar)
        best = sorted(utilities[: place + 1])[-top:]
        if len(best) < top:
            assert sieve.bar == -np.inf
        else:
            assert sieve.bar <= best[0]
    assert bars == sorted(bars)


def test_rows_within_the_slack_of_the_bar_are_kept():
    sieve = TopK(1)
    sieve.offer(candidates([1.0, 1.0 - 0.5 * SLACK, 1.0 - 2.0 * SLACK]))
    (kept,) = sieve.candidates()
    assert kept.places.tolist() == [0, 1]


@pytest.mark.parametrize("better", [0, 1, 2])
def test_what_a_row_is_worth_by_itself_decides(better):
    sieve = TopK(2)
    sieve.offer(candidates([1.0, 1.0 - 1e-12, 1.0 + 1e-12, 0.5]))
    exact = np.array([1.0, 1.0, 1.0, 0.5])
    exact[better] += 1e-12

    def worth(X):
        return exact[: len(X)]  # the last row was dropped, as the next line sees

    (kept,) = sieve.candidates()
    assert kept.places.tolist() == [0, 1, 2]
    (found,) = sieve.best(worth)
    assert found.places.tolist() == [better, min({0, 1, 2} - {better})]
    assert found.utilities.tolist() == [1.0 + 1e-12, 1.0]


@pytest.mark.parametrize("named", [True, False])
def test_threads_may_offer_at_once(named):
    utilities = np.random.default_rng(2).normal(size=4000).round(1)
    sieve = TopK(20)

    def offer(worker):
        for start in range(worker, 4000, 4 * 50):
            some = np.arange(start, min(start + 4 * 50, 4000), 4)
            sieve.offer(candidates(utilities[some], some, named=named))

    threads = [Thread(target=offer, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (found,) = sieve.best(itself)
    expected = sorted_places(utilities, 20)
    assert found.places.tolist() == expected
    assert found.names == ([f"row {place}" for place in expected] if named else None)


def test_nothing_offered_gives_nothing():
    sieve = TopK(3)
    assert sieve.candidates() == []
    assert sieve.best(itself) == []
    sieve.offer(candidates([]))
    assert sieve.best(itself) == []
    assert sieve.bar == -np.inf


def test_fewer_rows_than_wanted_are_all_given():
    sieve = TopK(5)
    sieve.offer(candidates([1.0, 3.0]))
    sieve.offer(candidates([2.0], [2]))
    assert sieve.best(itself)[0].places.tolist() == [1, 2, 0]


def test_a_tally_counts():
    tally = ScanCounts(TopK(3))
    tally.add((2, 1, 3))
    tally.add((5, 0, 6))
    assert (tally.rows, tally.judged, tally.read) == (7, 1, 9)


def test_where_utilities_change_sign_roundings_are_not_small_beside_them():
    sieve = TopK(1)
    sieve.offer(candidates([-1e-15, 1e-15, -0.5]))
    (kept,) = sieve.candidates()
    assert kept.places.tolist() == [0, 1]
