"""A classifier of several labels is one for each of them, over the same rows."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import hamming_loss
from sklearn.preprocessing import StandardScaler

from possibal.acquisition.pointwise import necessity
from possibal.estimators import PossibilisticGPClassifier, PossibilisticMultiLabelClassifier


def problem(labels=3, rows=120):
    X, Y = make_multilabel_classification(
        rows, n_features=6, n_classes=labels, n_labels=1, random_state=0
    )
    return StandardScaler().fit_transform(X), Y


X, Y = problem()
FITTED = PossibilisticMultiLabelClassifier(classes=["a", "b", "c"]).fit(X[:60], Y[:60])


def test_each_label_is_predicted_as_by_a_classifier_of_its_own():
    for place in range(3):
        alone = PossibilisticGPClassifier(classes=[False, True]).fit(X[:60], Y[:60, place] > 0)
        assert np.array_equal(FITTED.predict_proba(X)[:, place], alone.predict_proba(X)[:, 1])
        agreed = FITTED.necessity(X)[:, place] > 0
        sure = necessity(alone.posterior_.at(X))
        assert np.array_equal(FITTED.necessity(X)[agreed, place], sure[agreed])


def test_a_set_is_as_necessary_as_its_least_part_and_as_likely_as_all_of_them():
    belief = FITTED.beliefs(X)
    assert np.array_equal(belief.set_necessity, FITTED.necessity(X).min(axis=1))
    p = np.where(FITTED.predict(X) > 0, FITTED.predict_proba(X), 1 - FITTED.predict_proba(X))
    assert np.allclose(belief.set_chance, p.prod(axis=1))
    some = belief.part(np.array([4, 2]))
    assert np.array_equal(some.set_chance, belief.set_chance[[4, 2]])
    assert np.array_equal(some.set_necessity, belief.set_necessity[[4, 2]])


def test_it_learns():
    assert hamming_loss(Y[60:], FITTED.predict(X[60:])) < hamming_loss(Y[60:], 0 * Y[60:])
    assert FITTED.classes_.tolist() == ["a", "b", "c"]
    assert PossibilisticMultiLabelClassifier().fit(X, Y).classes_.tolist() == [0, 1, 2]


def test_the_order_of_labels_does_not_matter():
    turned = PossibilisticMultiLabelClassifier().fit(X[:60], Y[:60, ::-1])
    assert np.array_equal(turned.predict_proba(X)[:, ::-1], FITTED.predict_proba(X))


def test_a_label_that_every_row_has_and_no_rows_at_all_are_fine():
    all_have = PossibilisticMultiLabelClassifier().fit(X[:9], np.ones((9, 1)))
    assert (all_have.predict(X) == 1).mean() > 0.5
    nothing = PossibilisticMultiLabelClassifier().fit(X[:0], np.empty((0, 2)))
    assert np.allclose(nothing.predict_proba(X), 0.5)
    assert not nothing.necessity(X).any()


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([0, 1], "Y must have a column for each label"),
        ([[0, 2], [1, 1]], "Y must hold 0 and 1"),
        ([["a"], ["b"]], "Y must hold 0 and 1"),
        ([[0, 1]], "y must have one entry per row of X, 2"),
    ],
)
def test_what_is_no_indicator_is_refused(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        PossibilisticMultiLabelClassifier().fit(X[:2], labels)


def test_every_column_has_a_name():
    with pytest.raises(ValueError, match="classes must name each column of Y, 3"):
        PossibilisticMultiLabelClassifier(classes=["a"]).fit(X, Y)
