import inspect

import pytest

from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.latent_gaussian import LatentGaussianClassifier
from possibal.estimators.logistic import PossibilisticLogisticRegression


def test_the_base_is_no_classifier_by_itself():
    assert inspect.isabstract(LatentGaussianClassifier)
    with pytest.raises(TypeError):
        LatentGaussianClassifier()


@pytest.mark.parametrize("model", [PossibilisticGPClassifier, PossibilisticLogisticRegression])
def test_classifiers_of_ours_answer_the_same_questions(model):
    for name in ("belief", "necessity", "possibility", "split", "sample_proba", "predict_proba"):
        assert getattr(model, name) is getattr(LatentGaussianClassifier, name)
