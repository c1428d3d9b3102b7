"""What scikit-activeml expects of strategies and classifiers, in scikit-activeml itself."""

import runpy
import sys
from copy import deepcopy

import numpy as np
import pytest
from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier
from skactiveml.pool import QueryByCommittee, SubSamplingWrapper, UncertaintySampling
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.campaigns import each_strategy, rows, truth

from possibal import Campaign, PossibilisticGPClassifier
from possibal.adapters import skactiveml
from possibal.adapters.skactiveml import PossibilisticClassifier, PossibilisticSampling
from possibal.errors import MissingPackageError

X = rows(m=20)
CLASSES = [0, 1]
EITHER = (TypeError, ValueError)


def told(count=8, m=20, classes=2):
    """Labels of the first rows; the others have none."""
    y = np.full(m, np.nan)
    y[:count] = truth(rows(m=m), classes)[:count]
    return y


def asked(strategy="herding", seed=0, clf=None, **given):
    """What a query answers."""
    clf = PossibilisticClassifier(classes=CLASSES) if clf is None else clf
    given = {"X": X, "y": told(), "clf": clf} | given
    return PossibilisticSampling(strategy, random_state=seed).query(**given)


# ---------------------------------------------------------------- a strategy in their loops


@each_strategy
@pytest.mark.works_with(
    "scikit-activeml", "every strategy in its loop asks what a campaign asks", "scikit-activeml"
)
def test_a_loop_asks_what_a_campaign_asks(strategy):
    moons, labels = make_moons(120, noise=0.1, random_state=0)
    campaign = Campaign.start(moons, classes=CLASSES, strategy=strategy, seed=4)
    y, clf = np.full(len(moons), np.nan), PossibilisticClassifier(classes=CLASSES)
    for _ in range(15):
        (place,) = asked(strategy, 4, clf, X=moons, y=y)
        assert [place] == campaign.ask()
        y[place] = labels[place]
        campaign.tell(place, labels[place])
    batch = asked(strategy, 4, clf, X=moons, y=y, batch_size=5)
    assert batch.tolist() == campaign.ask(5)


@each_strategy
@pytest.mark.parametrize("labels", [0, 1, 8, 19])
def test_a_query_asks_about_a_row_without_a_label(strategy, labels):
    (place,) = asked(strategy, y=told(labels))
    assert place >= labels


@each_strategy
def test_utilities_say_why_each_row_was_asked(strategy):
    places, utilities = asked(strategy, batch_size=4, return_utilities=True)
    assert (places.shape, utilities.shape) == ((4,), (4, 20))
    for line, place in enumerate(places):
        assert utilities[line, place] == np.nanmax(utilities[line])
        assert np.isnan(utilities[line]).sum() == 8 + line
    assert np.isnan(utilities[0, :8]).all()


@each_strategy
@pytest.mark.parametrize("labels", [1, 8])
def test_candidates_by_place_and_as_rows_have_the_same_utilities(strategy, labels):
    free = np.arange(labels, 20)
    given = {"y": told(labels), "return_utilities": True}
    place, utilities = asked(strategy, **given)
    by_place, same = asked(strategy, candidates=free, **given)
    at, of_rows = asked(strategy, candidates=X[free], **given)
    np.testing.assert_array_equal(utilities, same)
    assert of_rows.shape == (1, len(free))
    np.testing.assert_allclose(utilities[:, free], of_rows, atol=1e-8)
    assert place == by_place == free[at]


def test_one_candidate_is_asked():
    for candidates in ([15], np.array([15])):
        place, utilities = asked(candidates=candidates, return_utilities=True)
        assert place.tolist() == [15]
        assert np.flatnonzero(np.isfinite(utilities[0])).tolist() == [15]
    assert asked(candidates=X[[15]]).tolist() == [0]


def test_more_rows_than_there_are_candidates_are_asked_with_a_warning():
    with pytest.warns(UserWarning, match="batch_size"):
        assert sorted(asked(batch_size=50)) == list(range(8, 20))
    with pytest.warns(UserWarning, match="batch_size"):
        places, utilities = asked(y=told(20), return_utilities=True)
    assert (places.shape, utilities.shape) == ((0,), (0, 20))


@pytest.mark.parametrize(
    ("missing", "classes", "kind"),
    [
        (np.nan, [1.0, 2.0], float),
        (0, [1, 2], int),
        (None, [1, 2], object),
        (None, ["A", "B"], object),
        ("", ["A", "B"], str),
    ],
)
def test_labels_of_any_type_may_be_missing_by_any_name(missing, classes, kind):
    y = np.full(20, missing, dtype=kind)
    y[:2] = classes
    clf = PossibilisticClassifier(classes=classes, missing_label=missing)
    (place,) = PossibilisticSampling(missing_label=missing).query(X, y, clf)
    assert place >= 2
    assert set(clf.fit(X, y).predict(X)) <= set(classes)


@pytest.mark.parametrize("state", [3, np.random.RandomState(3)])
def test_a_query_with_a_state_can_be_repeated(state):
    query = PossibilisticSampling("random", random_state=state)
    clf, y = PossibilisticClassifier(classes=CLASSES), told()
    first, second = (query.query(X, y, clf, return_utilities=True) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


def test_a_query_without_a_state_draws_anew():
    clf = PossibilisticClassifier(classes=CLASSES)
    places = {int(asked("random", None, clf)[0]) for _ in range(20)}
    assert len(places) > 1


def test_functions_of_users_are_strategies():
    clf = PossibilisticClassifier(classes=CLASSES).fit(X, told())
    mean = clf.belief(X).mean[0]
    closest = 8 + np.abs(mean[8:]).argmin()
    assert asked(lambda mean, _variance: -np.abs(mean)) == [closest]
    assert asked(lambda view: -np.abs(view.belief.mean[0])) == [closest]


def test_a_query_leaves_its_classifier_as_it_was():
    fresh, fitted = (PossibilisticClassifier(classes=CLASSES) for _ in range(2))
    fitted.fit(X, told())
    kept = deepcopy(fitted.predict_proba(X))
    assert asked(clf=fresh) == asked(clf=fitted, fit_clf=False) == asked(clf=clone(fitted))
    assert not hasattr(fresh, "classes_")
    np.testing.assert_array_equal(fitted.predict_proba(X), kept)


def test_rows_that_weigh_more_count_more():
    heavy = np.where(np.arange(20) < 4, 50.0, 1.0)
    _, utilities = asked("uncertainty", return_utilities=True)
    _, weighed = asked("uncertainty", sample_weight=heavy, return_utilities=True)
    _, even = asked("uncertainty", sample_weight=np.ones(20), return_utilities=True)
    np.testing.assert_array_equal(utilities, even)
    assert not np.allclose(utilities[0, 8:], weighed[0, 8:])


def test_their_wrapper_of_a_classifier_of_ours_serves_once_two_classes_are_known():
    wrapped = SklearnClassifier(PossibilisticGPClassifier(), classes=CLASSES)
    assert asked("uncertainty", clf=wrapped) >= 8
    piped = make_pipeline(StandardScaler(), PossibilisticGPClassifier())
    assert asked("uncertainty", clf=SklearnClassifier(piped, classes=CLASSES)) >= 8
    fitted = SklearnClassifier(PossibilisticGPClassifier().fit(X, truth(X)), classes=CLASSES)
    assert asked("uncertainty", clf=fitted, fit_clf=False) >= 8
    with (
        pytest.warns(UserWarning, match="could not be fitted"),
        pytest.raises(ValueError, match="clf must be fitted to rows of two labels; got"),
    ):
        asked(clf=wrapped, y=told(1))


@pytest.mark.works_with(
    "scikit-activeml", "its wrappers of strategies round ours", "scikit-activeml"
)
def test_their_wrappers_of_strategies_take_ours():
    wrapper = SubSamplingWrapper(
        PossibilisticSampling("uncertainty", random_state=0), 5, random_state=0
    )
    clf = PossibilisticClassifier(classes=CLASSES)
    places, utilities = wrapper.query(X, told(), clf=clf, return_utilities=True)
    assert places[0] >= 8
    assert np.isfinite(utilities[0]).sum() == 5


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"X": "rows"}, EITHER),
        ({"X": np.vstack([X, X])}, ValueError),
        ({"y": np.nan}, EITHER),
        ({"y": np.vstack([told(), told()])}, ValueError),
        ({"clf": np.nan}, TypeError),
        ({"clf": GaussianNB()}, TypeError),
        ({"clf": PossibilisticGPClassifier()}, TypeError),
        ({"clf": ParzenWindowClassifier(classes=CLASSES)}, TypeError),
        ({"clf": SklearnClassifier(GaussianNB(), classes=CLASSES)}, TypeError),
        ({"clf": PossibilisticClassifier(classes=CLASSES, missing_label=None)}, EITHER),
        ({"clf": PossibilisticClassifier(classes=CLASSES), "fit_clf": False}, NotFittedError),
        ({"fit_clf": "yes"}, TypeError),
        ({"candidates": np.nan}, EITHER),
        ({"candidates": [99]}, EITHER),
        ({"candidates": rows(d=3)}, ValueError),
        ({"sample_weight": np.nan}, EITHER),
        ({"sample_weight": np.ones(3)}, ValueError),
        ({"batch_size": 0}, ValueError),
        ({"batch_size": 1.2}, TypeError),
        ({"return_utilities": "yes"}, TypeError),
        ({"strategy": "herdin"}, ValueError),
        ({"strategy": 1}, ValueError),
        ({"seed": "state"}, ValueError),
        ({"seed": np.nan}, ValueError),
    ],
    ids=repr,
)
def test_what_cannot_be_is_refused(given, error):
    with pytest.raises(error):
        asked(**given)


def test_weights_that_would_be_ignored_are_refused():
    clf = PossibilisticClassifier(classes=CLASSES).fit(X, told())
    with pytest.raises(ValueError, match="sample_weight must be left out where fit_clf is False"):
        asked(clf=clf, fit_clf=False, sample_weight=np.ones(20))


def test_what_a_strategy_is_given_is_kept_until_it_is_asked():
    query = PossibilisticSampling(strategy=1, missing_label=2, random_state="none")
    assert (query.strategy, query.missing_label, query.random_state) == (1, 2, "none")
    assert clone(query).get_params() == query.get_params()


# ---------------------------------------------------------------- the classifier


@pytest.mark.parametrize("count", [0, 1, 2])
def test_labels_of_one_class_or_none_are_enough_where_classes_are_named(count):
    y = np.full(20, np.nan)
    y[:count] = 1
    clf = PossibilisticClassifier(classes=CLASSES).fit(X, y)
    chance = clf.predict_proba(X)
    assert chance.shape == (20, 2)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert (chance[:2, 1] > 0.5).all() == (count > 0)


def test_it_is_the_classifier_of_a_campaign():
    campaign = Campaign.start(X, classes=CLASSES)
    for row in range(8):
        campaign.tell(row, truth(X)[row])
    clf, ours = PossibilisticClassifier(classes=CLASSES).fit(X, told()), campaign.classifier
    np.testing.assert_array_equal(clf.predict_proba(X), ours.predict_proba(X))
    np.testing.assert_array_equal(clf.necessity(X), ours.necessity(X))
    np.testing.assert_array_equal(clf.possibility(X), ours.possibility(X))
    np.testing.assert_array_equal(clf.belief(X).mean, ours.belief(X).mean)
    np.testing.assert_array_equal(clf.sample_proba(X, 3, 5), ours.sample_proba(X, 3, 5))
    seeded = PossibilisticClassifier(classes=CLASSES, random_state=5).fit(X, told())
    np.testing.assert_array_equal(seeded.sample_proba(X, 3), ours.sample_proba(X, 3, 5))
    assert clf.score(X, truth(X)) == ours.score(X, truth(X))


def test_transformers_of_a_pipeline_are_fitted_to_all_rows():
    piped = make_pipeline(StandardScaler(), PossibilisticGPClassifier())
    clf = PossibilisticClassifier(piped, classes=CLASSES).fit(X, told())
    np.testing.assert_allclose(clf.estimator_[0].mean_, X.mean(axis=0))
    assert clf.necessity(X).shape == (20,)
    assert asked(clf=clf) >= 8


def test_a_costly_mistake_is_avoided():
    cost = [[0, 1], [100, 0]]
    clf = PossibilisticClassifier(classes=CLASSES, cost_matrix=cost).fit(X, told())
    assert clf.predict(X).mean() > PossibilisticClassifier().fit(X, told()).predict(X).mean()


@pytest.mark.works_with("scikit-activeml", "its strategies with our classifier", "scikit-activeml")
def test_their_strategies_take_it():
    clf = PossibilisticClassifier(classes=CLASSES)
    (place,) = UncertaintySampling("entropy", random_state=0).query(X, told(), clf)
    chance = clf.fit(X, told()).predict_proba(X[8:])
    assert place == 8 + np.abs(chance[:, 0] - 0.5).argmin()
    committee = QueryByCommittee(sample_predictions_method_name="sample_proba", random_state=0)
    assert committee.query(X, told(), clf)[0] >= 8


@pytest.mark.parametrize(
    ("clf", "y", "error", "words"),
    [
        (
            PossibilisticClassifier(),
            told(1),
            ValueError,
            r"classes must be named where y has fewer",
        ),
        (PossibilisticClassifier(), told(0), ValueError, "No class label is known"),
        (
            PossibilisticClassifier(PossibilisticGPClassifier(classes=["a", "b"]), classes=CLASSES),
            told(),
            ValueError,
            r"classes must be named to PossibilisticClassifier; got \['a', 'b'\] in its estimator",
        ),
        (
            PossibilisticClassifier(LogisticRegression(), classes=CLASSES),
            told(),
            TypeError,
            "estimator must be a PossibilisticGPClassifier, or a .*; got LogisticRegression",
        ),
        (PossibilisticClassifier(classes=CLASSES), told(m=3), ValueError, "inconsistent numbers"),
        (PossibilisticClassifier(classes=["a", "b"]), told(), TypeError, "missing_label"),
    ],
)
def test_what_cannot_be_learnt_is_refused(clf, y, error, words):
    with pytest.raises(error, match=words):
        clf.fit(X, y)


def test_no_rows_at_all_are_refused():
    with pytest.raises(ValueError, match="X must have rows, labelled or not; got none"):
        PossibilisticClassifier(classes=CLASSES).fit([], [])
    with pytest.raises(NotFittedError):
        PossibilisticClassifier(classes=CLASSES).predict_proba(X)


def test_without_scikit_activeml_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "skactiveml.base", None)
    with pytest.raises(MissingPackageError, match=r"run pip install 'possibal\[skactiveml\]'\."):
        runpy.run_path(skactiveml.__file__)
