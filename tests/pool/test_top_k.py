"""The best of rows that come in pieces are those of sorting them all."""

from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from possibal.pool.top_k import BUFFER, SLACK, ScanCounts, ScoredRows, TopK


def candidates(utilities, places=None, *, named=False):
    """Rows whose only number is their utility."""
    utilities = np.asarray(utilities, dtype=float)
    places = np.arange(len(utilities)) if places is None else np.asarray(places)
    names = [f"row {place}" for place in places.tolist()] if named else None
    return ScoredRows(places, utilities, utilities[:, None], names)


def itself(X):
    return X[:, 0].copy()


def sorted_places(utilities, top):
    return np.lexsort((np.arange(len(utilities)), -np.asarray(utilities)))[:top].tolist()


# Few different values give many ties; wide ones reach every size of number.
alike = st.sampled_from([-1.5, 0.0, 0.25, 1.0, 1.0 + 1e-9])
some_utilities = st.lists(st.one_of(alike, st.floats(-1e6, 1e6)), min_size=1, max_size=60)


@settings(max_examples=50)
@given(
    utilities=some_utilities,
    top=st.integers(1, 12),
    seed=st.integers(0, 1000),
    size=st.integers(1, 20),
    named=st.booleans(),
)
def test_the_best_of_pieces_in_any_order_are_those_of_sorting(utilities, top, seed, size, named):
    utilities = np.array(utilities)
    order = np.random.default_rng(seed).permutation(len(utilities))
    top_k = TopK(top)
    for start in range(0, len(order), size):
        some = order[start : start + size]
        top_k.offer(candidates(utilities[some], some, named=named))
    (found,) = top_k.best(itself)
    expected = sorted_places(utilities, top)
    assert found.places.tolist() == expected
    assert found.utilities.tolist() == utilities[expected].tolist()
    assert found.X[:, 0].tolist() == utilities[expected].tolist()
    assert found.names == ([f"row {place}" for place in expected] if named else None)


@pytest.mark.parametrize("size", [1, 7, 2000])
def test_many_rows_are_dropped_and_none_of_the_best(size):
    utilities = np.random.default_rng(1).normal(size=2000).round(2)
    top_k, top = TopK(5), 5
    for start in range(0, 2000, size):
        some = np.arange(start, min(start + size, 2000))
        top_k.offer(candidates(utilities[some], some))
        seen = np.sort(utilities[: some[-1] + 1])
        if len(seen) >= top:
            assert -np.inf < top_k.bar <= seen[-top]
    kept = sum(len(one) for one in top_k.candidates())
    assert top <= kept <= 2 * top + BUFFER
    assert top_k.best(itself)[0].places.tolist() == sorted_places(utilities, top)


@settings(max_examples=30)
@given(utilities=some_utilities, top=st.integers(1, 5))
def test_the_bar_never_falls_nor_exceeds_the_last_that_is_wanted(utilities, top):
    top_k, bars = TopK(top), [-np.inf]
    for place, one in enumerate(utilities):
        top_k.offer(candidates([one], [place]))
        bars.append(top_k.bar)
        best = sorted(utilities[: place + 1])[-top:]
        if len(best) < top:
            assert top_k.bar == -np.inf
        else:
            assert top_k.bar <= best[0]
    assert bars == sorted(bars)


def test_rows_within_the_slack_of_the_bar_are_kept():
    top_k = TopK(1)
    top_k.offer(candidates([1.0, 1.0 - 0.5 * SLACK, 1.0 - 2.0 * SLACK]))
    (kept,) = top_k.candidates()
    assert kept.places.tolist() == [0, 1]


@pytest.mark.parametrize("better", [0, 1, 2])
def test_the_utility_of_a_row_by_itself_decides(better):
    top_k = TopK(2)
    top_k.offer(candidates([1.0, 1.0 - 1e-12, 1.0 + 1e-12, 0.5]))
    exact = np.array([1.0, 1.0, 1.0, 0.5])
    exact[better] += 1e-12

    def utility(X):
        return exact[: len(X)]  # the last row was dropped, as the next line sees

    (kept,) = top_k.candidates()
    assert kept.places.tolist() == [0, 1, 2]
    (found,) = top_k.best(utility)
    assert found.places.tolist() == [better, min({0, 1, 2} - {better})]
    assert found.utilities.tolist() == [1.0 + 1e-12, 1.0]


@pytest.mark.parametrize("named", [True, False])
def test_threads_may_offer_at_once(named):
    utilities = np.random.default_rng(2).normal(size=4000).round(1)
    top_k = TopK(20)

    def offer(worker):
        for start in range(worker, 4000, 4 * 50):
            some = np.arange(start, min(start + 4 * 50, 4000), 4)
            top_k.offer(candidates(utilities[some], some, named=named))

    threads = [Thread(target=offer, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (found,) = top_k.best(itself)
    expected = sorted_places(utilities, 20)
    assert found.places.tolist() == expected
    assert found.names == ([f"row {place}" for place in expected] if named else None)


def test_nothing_offered_gives_nothing():
    top_k = TopK(3)
    assert top_k.candidates() == []
    assert top_k.best(itself) == []
    top_k.offer(candidates([]))
    assert top_k.best(itself) == []
    assert top_k.bar == -np.inf


def test_fewer_rows_than_wanted_are_all_given():
    top_k = TopK(5)
    top_k.offer(candidates([1.0, 3.0]))
    top_k.offer(candidates([2.0], [2]))
    assert top_k.best(itself)[0].places.tolist() == [1, 2, 0]


def test_a_tally_counts():
    tally = ScanCounts(TopK(3))
    tally.add((2, 1, 3))
    tally.add((5, 0, 6))
    assert (tally.rows, tally.judged, tally.read) == (7, 1, 9)


def test_where_utilities_change_sign_roundings_are_not_small_beside_them():
    top_k = TopK(1)
    top_k.offer(candidates([-1e-15, 1e-15, -0.5]))
    (kept,) = top_k.candidates()
    assert kept.places.tolist() == [0, 1]
