"""Campaigns and rankings choose candidates by one function, so that they agree by construction."""

import functools

import numpy as np
import pytest

from possibal import PossibilisticGPClassifier, acquisition
from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.strategy import View
from possibal.campaign import selection as campaigns
from possibal.campaign.pool import InMemoryScan, checked_pool
from possibal.pool import ranking, sampling
from possibal.pool.candidates import Candidates, check_available, choose_candidates
from possibal.pool.reader import RowFormat
from possibal.pool.sampling import HashedSampler
from possibal.pool.scan import PoolScan

SAMPLER = HashedSampler(3, 12)
EXCLUDED = np.arange(0, 60, 7)


def rows(m, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 2))


@functools.cache
def posterior():
    X = rows(12)
    return PossibilisticGPClassifier().fit(X, X[:, 0] > 0).posterior_


def scans(X):
    """The same pool in memory, and read by threads."""
    in_memory = InMemoryScan(checked_pool(X, None, 0), posterior(), EXCLUDED)
    return in_memory, PoolScan(X, RowFormat(2, None), EXCLUDED, threads=2)


@pytest.fixture
def few(monkeypatch):
    """Ten rows are candidates, of twenty that are sampled."""
    monkeypatch.setattr(sampling, "JOINT_CANDIDATES", 10)
    monkeypatch.setattr(sampling, "SAMPLE_SIZE", 20)
    monkeypatch.setattr(sampling, "COVERED", 8)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("strategy", ["necessity", "uncertainty", "herding", "epig"])
@pytest.mark.parametrize("wanted", [1, 4])
def test_candidates_do_not_depend_on_how_a_pool_is_read(strategy, wanted):
    chosen = STRATEGIES[strategy]
    one, other = (
        choose_candidates(chosen, posterior(), scan, SAMPLER, wanted) for scan in scans(rows(60, 1))
    )
    assert one.places.tolist() == other.places.tolist() == sorted(one.places.tolist())
    assert not set(one.places.tolist()) & set(EXCLUDED.tolist())
    np.testing.assert_array_equal(one.view.candidates, rows(60, 1)[one.places])
    np.testing.assert_array_equal(one.view.reference, other.view.reference)
    np.testing.assert_array_equal(one.utilities(chosen), other.utilities(chosen))
    assert one.available == other.available == 60 - len(EXCLUDED)


def test_candidates_of_a_local_score_are_the_rows_of_the_largest_utilities():
    X, available = rows(60, 1), np.setdiff1d(np.arange(60), EXCLUDED)
    found = choose_candidates(acquisition.doubt, posterior(), scans(X)[1], SAMPLER, 5)
    utilities = acquisition.doubt(posterior().at(X))[available]
    assert found.places.tolist() == sorted(available[np.argsort(-utilities)[:5]].tolist())
    expected = acquisition.doubt(posterior().at(X[found.places]))
    np.testing.assert_allclose(found.utilities(acquisition.doubt), expected, rtol=1e-9)


@pytest.mark.usefixtures("few")
def test_candidates_of_a_joint_strategy_are_random_and_doubtful_and_some_stand_for_the_pool():
    X, available = rows(60, 1), np.setdiff1d(np.arange(60), EXCLUDED)
    found = choose_candidates(STRATEGIES["herding"], posterior(), scans(X)[0], SAMPLER, 1)
    sample = available[np.argsort(-SAMPLER.keys(0, 60)[available])][:20]
    doubt = acquisition.doubt(posterior().at(X[sample]))
    expected = {*sample[:5].tolist(), *sample[np.argsort(-doubt)[:5]].tolist()}
    assert found.places.tolist() == sorted(expected)
    np.testing.assert_array_equal(found.view.reference, X[np.sort(sample[:8])])
    assert found.judged == 20


def test_utilities_that_are_known_are_not_computed_again():
    view = View(posterior(), rows(3, 1))
    known = Candidates(np.arange(3), view, np.array([3.0, 1.0, 2.0]))
    assert known.utilities(acquisition.doubt).tolist() == [3.0, 1.0, 2.0]
    fresh = Candidates(np.arange(3), view).utilities(acquisition.doubt)
    np.testing.assert_array_equal(fresh, acquisition.doubt(view))


def test_a_campaign_and_a_ranking_have_one_function_for_it():
    assert campaigns.choose_candidates is ranking.choose_candidates is choose_candidates


def test_more_rows_than_are_available_are_refused():
    check_available(3, 3)
    with pytest.raises(ValueError, match="top must be at most 3, the rows there are; got 4"):
        check_available(3, 4)
