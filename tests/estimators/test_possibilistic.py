import inspect

import pytest

from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.logistic import PossibilisticLogisticRegression
from possibal.estimators.possibilistic import PossibilisticClassifier


def test_the_base_is_no_classifier_by_itself():
    assert inspect.isabstract(PossibilisticClassifier)
    with pytest.raises(TypeError):
        PossibilisticClassifier()


@pytest.mark.parametrize("model", [PossibilisticGPClassifier, PossibilisticLogisticRegression])
def test_classifiers_of_ours_answer_the_same_questions(model):
    for name in ("belief", "necessity", "possibility", "split", "sample_proba", "predict_proba"):
        assert getattr(model, name) is getattr(PossibilisticClassifier, name)
