import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from support.estimators import labelled, rows

from possibal.acquisition import STRATEGIES
from possibal.belief import ProbabilityBelief
from possibal.estimators.classifier import PossibilisticGPClassifier, with_geometry, with_pool_scale
from possibal.estimators.probability_model import (
    ProbabilityModel,
    check_choices,
    check_probabilities,
    fitted_model,
)
from possibal.numerics.geometry import RowGeometry


class Odd(ClassifierMixin, BaseEstimator):
    """A classifier that gives numbers which are no probabilities."""

    def fit(self, _, y):
        self.classes_ = np.unique(y)
        self.is_fitted_ = True
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), -0.5)


def test_its_probabilities_are_those_of_the_classifier():
    X, y = labelled(3, 40)
    ours, theirs = ProbabilityModel(LogisticRegression()).fit(X, y), LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(rows(1)), theirs.predict_proba(rows(1)))
    np.testing.assert_array_equal(ours.predict(rows(1)), theirs.predict(rows(1)))
    belief = ours.belief(rows(1))
    assert isinstance(belief, ProbabilityBelief)
    np.testing.assert_allclose(np.exp(belief.mean[0]), theirs.predict_proba(rows(1)), rtol=1e-12)
    assert ours.name == "LogisticRegression"
    assert not hasattr(ours, "necessity")


def test_a_class_without_labels_has_no_probability():
    X, y = labelled(2, 20)
    model = ProbabilityModel(LogisticRegression(), classes=["a", "b", "c"])
    model.fit(X, np.where(y == 1, "c", "a"))
    p = model.predict_proba(X)
    assert (p[:, 1] == 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert set(model.predict(X)) <= {"a", "c"}


@pytest.mark.parametrize("labels", [[], ["a"] * 4])
def test_until_two_classes_are_seen_all_are_as_likely(labels):
    model = ProbabilityModel(RandomForestClassifier(), classes=["a", "b"])
    model.fit(rows(0)[: len(labels)].reshape(len(labels), 2), labels)
    assert model.estimator_ is None
    np.testing.assert_allclose(model.predict_proba(rows(1)), 0.5)


def test_it_is_copied_cloned_and_pickled():
    X, y = labelled()
    given = LogisticRegression()
    model = ProbabilityModel(given).fit(X, y)
    assert not hasattr(given, "coef_")
    assert not hasattr(clone(model), "posterior_")
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(NotFittedError):
        clone(model).predict_proba(X)


def test_a_classifier_does_not_see_diffusion_coordinates():
    X, y = labelled()
    wide = np.column_stack([X, rows(3)])
    model = with_geometry(ProbabilityModel(LogisticRegression()), RowGeometry(diffusion=2))
    model = with_pool_scale(model, wide).fit(wide, y)
    assert model.estimator_.n_features_in_ == 2
    assert model.geometry.usual_distance is not None
    expected = LogisticRegression().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(wide), expected)
    assert model.posterior_.probability(wide[:0]).shape == (0, 2)


def test_blocks_of_columns_are_one_to_it():
    model = with_geometry(ProbabilityModel(LogisticRegression()), RowGeometry(blocks=(1, 1)))
    assert model.blocks is None
    assert model.geometry.blocks is None


@pytest.mark.parametrize(
    ("estimator", "count", "sentence"),
    [
        (
            KNeighborsClassifier(),
            3,
            "^classifier must predict after few labels .* got 'Expected",
        ),
        (LogisticRegression(C=-1), 3, "^classifier must learn from few labels of two classes"),
        (Odd(), 3, "^classifier must give probabilities; got Odd with -0.5"),
    ],
)
def test_what_a_classifier_cannot_do_is_one_sentence(estimator, count, sentence):
    model = ProbabilityModel(estimator)
    with pytest.raises(ValueError, match=sentence):
        model.fit(rows(0)[:count], np.arange(count) % 2).predict_proba(rows(1))


def test_what_has_no_probabilities_is_refused():
    with pytest.raises(TypeError, match=r"^classifier must have predict_proba; got LinearSVC"):
        check_probabilities(LinearSVC())
    with pytest.raises(TypeError, match=r"^classifier must be a scikit-learn classifier; got int"):
        check_probabilities(5)


def test_strategies_of_what_is_not_known_are_refused_and_others_are_not():
    model = ProbabilityModel(LogisticRegression())
    allowed = {"herding", "margin", "entropy", "least_confidence", "random"}
    for name, strategy in STRATEGIES.items():
        if name in allowed:
            check_choices(model, strategy)
            continue
        with pytest.raises(TypeError, match=r"^strategy must read probabilities alone .* Use herd"):
            check_choices(model, strategy)
        check_choices(PossibilisticGPClassifier(), strategy)
    with pytest.raises(ValueError, match=r"^find must be left out where the classifier is"):
        check_choices(model, STRATEGIES["margin"], "rare")


def test_a_fitted_classifier_is_taken_as_it_is():
    X, y = labelled(3, 40)
    theirs = LogisticRegression().fit(X, y)
    model = fitted_model(theirs)
    np.testing.assert_array_equal(model.predict_proba(X), theirs.predict_proba(X))
    assert fitted_model(model) is model
    assert fitted_model(5) == 5
    with pytest.raises(NotFittedError):
        fitted_model(LogisticRegression())
    with pytest.raises(TypeError, match="must tell how many columns it takes"):
        fitted_model(Odd().fit(X, y))
    with pytest.raises(ValueError, match="must not read labelled rows"):
        check_choices(model, STRATEGIES["herding"])
