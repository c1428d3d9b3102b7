import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from support.campaigns import each_strategy, rows, truth

import possibal
from possibal import PossibilisticGPClassifier
from possibal.adapters import modal
from possibal.adapters.modal import (
    ActiveLearner,
    entropy_sampling,
    margin_sampling,
    possibilistic_sampling,
    uncertainty_sampling,
)
from possibal.campaign.snapshot import Snapshot

X = rows(m=40)
Y = np.array(truth(X, 3))
POOL = rows(1, m=30)
BY_NAME = {
    "uncertainty": (uncertainty_sampling, modal.classifier_uncertainty, 1),
    "margin": (margin_sampling, modal.classifier_margin, -1),
    "entropy": (entropy_sampling, modal.classifier_entropy, 1),
}
each_sampling = pytest.mark.parametrize("name", BY_NAME)


def learner(estimator=None, strategy=None, count=40, **choices):
    """A learner that was taught some rows."""
    estimator = GaussianNB() if estimator is None else estimator
    return ActiveLearner(estimator, strategy, X[:count], Y[:count], **choices)


# ---------------------------------------------------------------- probabilities


def test_three_measures_of_given_probabilities():
    class Known:
        def predict_proba(self, X):
            return np.array([[0.5, 0.3, 0.2], [0.9, 0.1, 0.0], [0.5, 0.5, 0.0]])[: len(X)]

    known, pool = Known(), np.zeros((3, 1))
    np.testing.assert_allclose(modal.classifier_uncertainty(known, pool), [0.5, 0.1, 0.5])
    np.testing.assert_allclose(modal.classifier_margin(known, pool), [0.2, 0.8, 0.0])
    expected = [-sum(p * np.log(p) for p in (0.5, 0.3, 0.2)), 0.325083, np.log(2)]
    np.testing.assert_allclose(modal.classifier_entropy(known, pool), expected, rtol=1e-5)


@each_sampling
@pytest.mark.parametrize(
    "estimator", [GaussianNB(), LogisticRegression(), PossibilisticGPClassifier()], ids=repr
)
def test_the_rows_with_the_largest_measure_are_asked_the_best_first(name, estimator):
    strategy, measure, sign = BY_NAME[name]
    taught = learner(estimator, strategy)
    places, found, values = taught.query(POOL, n_instances=4, return_metrics=True)
    every = sign * measure(taught, POOL)
    assert places.tolist() == np.argsort(-every, kind="stable")[:4].tolist()
    np.testing.assert_array_equal(found, POOL[places])
    np.testing.assert_array_equal(values, sign * every[places])


def test_one_label_has_no_margin():
    class Sure:
        def predict_proba(self, X):
            return np.ones((len(X), 1))

    assert modal.classifier_margin(Sure(), POOL).tolist() == [0.0] * 30


@each_sampling
def test_ties_go_to_the_first_row_or_to_a_random_one(name):
    strategy, _, _ = BY_NAME[name]
    alike = np.zeros((50, 2))
    taught = learner(strategy=strategy, random_state=1)
    assert taught.query(alike)[0] == [0]
    drawn = {int(taught.query(alike, random_tie_break=True)[0][0]) for _ in range(10)}
    assert len(drawn) > 3
    again = learner(strategy=strategy, random_state=1)
    assert int(again.query(alike, random_tie_break=True)[0][0]) in drawn


@each_sampling
def test_a_learner_without_data_asks_any_row(name):
    strategy, _, _ = BY_NAME[name]
    for estimator in (GaussianNB(), PossibilisticGPClassifier()):
        places, found, values = ActiveLearner(estimator, strategy).query(
            POOL, n_instances=2, return_metrics=True
        )
        assert places.tolist() == [0, 1]
        assert np.isnan(values).all()
        assert found.shape == (2, 2)


# ---------------------------------------------------------------- strategies of ours


@each_strategy
def test_a_strategy_of_ours_by_name_asks_its_batch(strategy):
    taught = learner(PossibilisticGPClassifier(), strategy)
    places, found, values = taught.query(POOL, n_instances=3, return_metrics=True)
    expected = possibal.batch(taught.estimator, POOL, 3, strategy)
    np.testing.assert_array_equal(places, expected.places)
    np.testing.assert_array_equal(found, POOL[places])
    np.testing.assert_array_equal(values, expected.utilities)


@pytest.mark.parametrize("named", [None, ["no", "yes"]])
@pytest.mark.parametrize("strategy", ["herding", "uncertainty"])
def test_a_learner_of_ours_without_data_asks_what_a_campaign_asks_first(strategy, named):
    estimator = PossibilisticGPClassifier(classes=named)
    places, _ = ActiveLearner(estimator, strategy).query(POOL, n_instances=3)
    assert tuple(places) == Snapshot.start(POOL, classes=[0, 1], strategy=strategy).ask(3)
    assert not hasattr(estimator, "posterior_")
    listed, _ = ActiveLearner(estimator, strategy).query(POOL.tolist(), n_instances=3)
    assert listed.tolist() == places.tolist()


def test_learners_of_other_kinds_with_our_estimator_are_served():
    class Foreign:
        estimator = PossibilisticGPClassifier().fit(X, Y)

    ours = possibilistic_sampling("uncertainty")
    places, _ = ours(Foreign(), POOL, 2)
    assert places.tolist() == ours(Foreign.estimator, POOL, n_instances=2)[0].tolist()


def test_a_function_of_moments_becomes_a_strategy():
    sampling = possibilistic_sampling(lambda mean, _variance: -np.abs(mean).max(axis=1))
    taught = learner(PossibilisticGPClassifier(), sampling)
    mean, _ = taught.estimator.latent_mean_and_variance(POOL)
    assert taught.query(POOL)[0] == np.abs(mean).max(axis=1).argmin()


@pytest.mark.works_with("modAL", "query strategies of its shape")
def test_strategies_of_modals_shape_are_taken():
    def places_alone(_learner, pool, last):
        return np.array([len(pool) - 1])[:last]

    def with_rows(_learner, pool):
        return 3, pool[3]

    assert learner(strategy=places_alone).query(POOL, 1)[0] == [29]
    place, found, other = learner(strategy=with_rows).query(POOL, return_metrics=True)
    assert place == 3
    np.testing.assert_array_equal(found, other)
    assert learner(strategy=places_alone).query(POOL, last=1, return_metrics=True)[2] is None


# ---------------------------------------------------------------- teaching


def test_teaching_row_by_row_is_fitting_at_once():
    taught = learner(count=9)
    for row in range(9, 40):
        taught.teach(X[row].reshape(1, -1), [Y[row]])
    np.testing.assert_array_equal(taught.X_training, X)
    np.testing.assert_array_equal(taught.y_training, Y)
    expected = GaussianNB().fit(X, Y)
    np.testing.assert_allclose(taught.predict_proba(POOL), expected.predict_proba(POOL))
    np.testing.assert_array_equal(taught.predict(POOL), expected.predict(POOL))
    assert taught.score(X, Y) == expected.score(X, Y)


@pytest.mark.works_with("modAL", "a loop of its `ActiveLearner`, in our form")
def test_a_whole_loop_learns_from_nothing():
    asked, labels = ActiveLearner(PossibilisticGPClassifier(classes=[0, 1, 2]), "herding"), Y
    pool, left = X.copy(), labels.copy()
    for _ in range(15):
        places, found = asked.query(pool)
        asked.teach(found, left[places])
        pool, left = np.delete(pool, places, axis=0), np.delete(left, places)
    assert len(asked.X_training) == 15
    assert asked.score(pool, left) > 0.7


def test_only_new_rows_are_fitted_and_not_kept():
    taught = learner(count=12)
    taught.teach(X[12:], Y[12:], only_new=True)
    assert len(taught.X_training) == 12
    np.testing.assert_allclose(taught.estimator.theta_, GaussianNB().fit(X[12:], Y[12:]).theta_)


def test_fitting_forgets_what_was_taught():
    taught = learner(count=12)
    assert taught.fit(X[12:], Y[12:]) is taught
    np.testing.assert_array_equal(taught.X_training, X[12:])


def test_rows_are_drawn_with_replacement():
    one, same, other = (learner(bootstrap_init=True, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.estimator.theta_, same.estimator.theta_)
    assert not np.allclose(one.estimator.theta_, other.estimator.theta_)
    assert one.estimator.class_count_.sum() == 40
    np.testing.assert_array_equal(one.X_training, X)


def test_options_reach_the_fit():
    taught = learner(count=9)
    taught.teach(X[9:], Y[9:], sample_weight=np.arange(1.0, 41.0))
    expected = GaussianNB().fit(X, Y, sample_weight=np.arange(1.0, 41.0))
    np.testing.assert_allclose(taught.estimator.theta_, expected.theta_)


def test_a_mistake_leaves_a_learner_as_it_was():
    taught = learner(count=9)
    with pytest.raises(ValueError, match="NaN"):
        taught.teach(np.full((1, 2), np.nan), [0])
    assert len(taught.X_training) == len(taught.y_training) == 9


def test_frames_sparse_rows_and_texts_are_taught():
    frame = pd.DataFrame(X, columns=["a", "b"])
    taught = ActiveLearner(
        make_pipeline(StandardScaler(), PossibilisticGPClassifier()), "margin", frame[:9], Y[:9]
    )
    places, found = taught.query(frame[9:], n_instances=2)
    assert found.index.tolist() == (9 + places).tolist()
    taught.teach(found, Y[found.index])
    assert taught.X_training.index.tolist() == [*range(9), *found.index]

    sparse = ActiveLearner(LogisticRegression(), None, csr_array(X[:9]), Y[:9])
    places, found = sparse.query(csr_array(POOL), n_instances=2)
    sparse.teach(found, [0, 1])
    assert sparse.X_training.shape == (11, 2)

    texts = ["good film", "bad film", "good book", "bad book"]
    reader = ActiveLearner(
        make_pipeline(TfidfVectorizer(), LogisticRegression()), None, texts[:2], ["+", "-"]
    )
    _, (found,) = reader.query(texts[2:])
    reader.teach([found], ["+"])
    assert reader.X_training == [*texts[:2], found]


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("choices", "error", "words"),
    [
        ({"query_strategy": "herdin"}, ValueError, "Did you mean 'herding'?"),
        ({"query_strategy": "herding"}, TypeError, "query_strategy must be a function where esti"),
        ({"query_strategy": 3}, ValueError, "strategy must be one of"),
        ({"X_training": X}, ValueError, "y_training must be given beside the other"),
        ({"y_training": Y}, ValueError, "X_training must be given beside the other"),
        ({"X_training": X, "y_training": Y[:3]}, ValueError, "inconsistent numbers"),
        ({"random_state": -1}, ValueError, "random_state must be at least 0; got -1"),
        ({"on_transformed": True}, TypeError, "on_transformed"),
    ],
)
def test_a_learner_that_cannot_be_is_refused(choices, error, words):
    with pytest.raises(error, match=words):
        ActiveLearner(GaussianNB(), **choices)


@pytest.mark.parametrize(
    ("choices", "error", "words"),
    [
        ({"n_instances": 31}, ValueError, "n_instances must be at most 30, the rows of the pool"),
        ({"n_instances": 0}, ValueError, "n_instances must be at least 1; got 0"),
        ({"n_instances": 1.5}, TypeError, "n_instances must be a whole number"),
    ],
)
def test_a_question_that_cannot_be_is_refused(choices, error, words):
    with pytest.raises(error, match=words):
        learner().query(POOL, **choices)


@pytest.mark.parametrize("taught", [True, False])
def test_an_estimator_without_probabilities_is_refused(taught):
    asked = learner(LinearSVC()) if taught else ActiveLearner(LinearSVC())
    with pytest.raises(TypeError, match="estimator must have predict_proba; got LinearSVC"):
        asked.query(POOL)


def test_a_strategy_of_ours_refuses_other_estimators():
    with pytest.raises(TypeError, match=r"classifier must be a .*; got GaussianNB\. Use uncer"):
        learner(strategy=possibilistic_sampling("margin")).query(POOL)


@pytest.mark.parametrize(
    ("new", "labels", "options", "error", "words"),
    [
        (X[0], [1], {}, ValueError, r"X must have rows of shape \(2,\)"),
        (X[:1], ["one"], {}, TypeError, "y must hold labels of the type known so far, int64; got"),
        (X[:2], [1], {}, ValueError, "inconsistent numbers"),
        (
            X[:1],
            [1],
            {"bootstrap": True, "sample_weight": [1.0]},
            ValueError,
            "bootstrap must be left out where fit has options; got sample_weight",
        ),
    ],
)
def test_what_cannot_be_taught_is_refused(new, labels, options, error, words):
    taught = learner(count=9)
    with pytest.raises(error, match=words):
        taught.teach(new, labels, **options)
    assert len(taught.y_training) == 9
