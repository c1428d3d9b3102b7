"""What a ranking lists; tests/system/test_rank.py ranks pools of every kind."""

import numpy as np
import pandas as pd
import pytest

from possibal import PossibilisticGPClassifier, acquisition
from possibal.pool.ranking import Shortlist, best, rank, row_format


def rows(m, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 2))


def model(X=None):
    X = rows(12) if X is None else X
    return PossibilisticGPClassifier().fit(X, np.asarray(X)[:, 0] > 0)


def test_some_of_a_shortlist_keep_its_counts():
    listed = Shortlist(
        np.array([4, 2, 9]), ("d", "b", "i"), np.array([3.0, 2.0, 1.0]), rows(3), 20, 5
    )
    some = listed.part(np.array([2, 0]))
    assert (len(listed), len(some), some.ids, some.places.tolist()) == (3, 2, ("i", "d"), [9, 4])
    assert (some.rows, some.judged, some.pruned) == (20, 5, 0.75)


def test_the_format_of_rows_is_that_of_the_rows_a_classifier_was_fitted_to():
    assert row_format(model(), None).columns is None
    named = model(pd.DataFrame(rows(12), columns=["height", "width"]))
    found = row_format(named, "name")
    assert (found.width, found.columns, found.id) == (2, ("height", "width"), "name")


@pytest.mark.parametrize("strategy", ["necessity", "herding", "random"])
def test_the_best_row_is_the_first_of_a_ranking(strategy):
    X = rows(40, 1)
    assert best(model(), X, strategy) == rank(model(), X, strategy, top=7).ids[0]


@pytest.mark.parametrize("strategy", ["necessity", "herding", "random"])
def test_more_rows_than_there_are_cannot_be_ranked(strategy):
    with pytest.raises(ValueError, match="top must be at most 3, the rows there are; got 4"):
        rank(model(), rows(5), strategy, top=4, aside=[0, 1])


@pytest.mark.parametrize("mean", [0.7, lambda X: X[:, 1]], ids=["number", "function"])
@pytest.mark.parametrize("strategy", ["necessity", "uncertainty", "bald", "margin"])
def test_a_prior_mean_is_heeded_in_every_row(strategy, mean):
    X = rows(3000, 1)
    fitted = PossibilisticGPClassifier(mean=mean).fit(rows(12), rows(12)[:, 0] > 0)
    every = acquisition.STRATEGIES[strategy](fitted.belief(X))
    expected = np.argsort(-every, kind="stable")[:5]
    np.testing.assert_array_equal(rank(fitted, X, strategy, top=5).places, expected)


@pytest.mark.parametrize("name", ["top", "jobs"])
@pytest.mark.parametrize("value", [1.5, 2.0, True, "a"])
def test_numbers_of_rows_and_threads_are_whole(name, value):
    with pytest.raises(TypeError, match=rf"^{name} must be a whole number; got {value!r}\."):
        rank(model(), rows(9), **{name: value})


@pytest.mark.parametrize("aside", [[1.5], ["a"], [[1, 2]], [True, False]])
def test_places_that_are_none_are_not_left_aside(aside):
    with pytest.raises(TypeError, match=r"^aside must hold places of rows, which are whole number"):
        rank(model(), rows(9), aside=aside)


def test_places_are_left_aside_however_they_are_given():
    for aside in ({0, 1}, [0, 1, 1], np.array([0, 1]), range(2)):
        assert set(rank(model(), rows(9), top=7, aside=aside).ids) == set(range(2, 9))
