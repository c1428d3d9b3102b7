import numpy as np
import pytest

from possibal import PossibilisticGPClassifier
from possibal.acquisition import doubt
from possibal.campaign.pool import InMemoryScan, checked_pool
from possibal.pool.pruning import PrunedScorer, TopKQuery
from possibal.pool.sampling import HashedSampler

X = np.arange(12.0).reshape(6, 2)


def test_rows_without_names_are_numbered():
    assert checked_pool(X, None, 0).ids == (0, 1, 2, 3, 4, 5)


def test_rows_keep_their_names_as_pythons_own_values():
    named = checked_pool(X, np.arange(10, 16), 0)
    assert named.ids == (10, 11, 12, 13, 14, 15)
    assert all(type(row) is int for row in named.ids)
    assert named.places[12] == 2


def test_a_small_pool_stands_for_itself():
    assert np.array_equal(checked_pool(X, None, 0).reference, X)


def test_a_large_pool_is_stood_for_by_some_of_its_rows_that_the_seed_draws(monkeypatch):
    monkeypatch.setattr("possibal.campaign.pool.COLD_START_SAMPLE", 3)
    first, again, other = (checked_pool(X, None, seed).reference for seed in (0, 0, 1))
    assert first.shape == (3, 2)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ([1, 2], "one entry per row, 6; got 2"),
        ([1, 2, 3, 1, 5, 6], "unique; got 1 at rows 0 and 3"),
        ([1, 2, [3], 4, 5, 6], r"text or numbers; got \[3\] at row 2"),
        ([1, 2, float("nan"), 4, 5, 6], "text or numbers; got nan at row 2"),
    ],
)
def test_bad_names_are_refused_in_one_sentence(ids, sentence):
    with pytest.raises(ValueError, match=sentence):
        checked_pool(X, ids, 0)


def test_no_rows_are_no_pool():
    with pytest.raises(ValueError, match="at least one row; got none"):
        checked_pool(np.empty((0, 2)), None, 0)


def test_rows_that_are_excluded_are_not_available():
    pool = checked_pool(X, None, 0)
    assert pool.available(np.array([1, 4])).tolist() == [0, 2, 3, 5]
    assert pool.available(np.arange(6)).tolist() == []


def test_a_scan_in_memory_finds_the_largest_keys_of_the_available_rows_and_counts_them():
    sampler, excluded = HashedSampler(3, 2), np.array([1, 4])
    posterior = PossibilisticGPClassifier().fit(X[[1, 4]], [0, 1]).posterior_
    scan = InMemoryScan(checked_pool(X, None, 0), posterior, excluded)
    counts = scan.run(TopKQuery(sampler, 2))
    (found,) = counts.top_k.candidates()
    available = np.array([0, 2, 3, 5])
    largest = available[np.argsort(-sampler.keys(0, 6)[available])[:2]]
    assert sorted(found.places.tolist()) == sorted(largest.tolist())
    assert (counts.rows, counts.judged, counts.read) == (4, 0, 6)
    pruned = scan.run(TopKQuery(PrunedScorer.of(posterior, doubt), 2))
    assert set(pruned.top_k.candidates()[0].places.tolist()) <= set(available.tolist())
    assert (pruned.rows, pruned.read) == (4, 6)


@pytest.mark.parametrize(
    ("rows", "got"),
    [
        ([1.0, 2.0], r"shape \(2,\)"),
        ([], r"shape \(0,\)"),
        ([[1.0], [1.0, 2.0]], "rows of different lengths"),
        (np.zeros((3, 2, 2)), r"shape \(3, 2, 2\)"),
        (np.empty((3, 0)), r"shape \(3, 0\)"),
    ],
)
def test_what_has_no_rows_and_columns_is_refused(rows, got):
    with pytest.raises(ValueError, match=rf"^X must have rows and columns; got {got}\. Pass one"):
        checked_pool(rows, None, 0)


def test_an_empty_table_is_refused():
    with pytest.raises(ValueError, match=r"^X must have at least one row; got none"):
        checked_pool(np.empty((0, 2)), None, 0)
