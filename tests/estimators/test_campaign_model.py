import pytest

from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.logistic import PossibilisticLogisticRegression
from possibal.estimators.probability_model import ProbabilityModel


def test_the_base_is_no_model_by_itself():
    with pytest.raises(TypeError, match="abstract"):
        CampaignModel()


@pytest.mark.parametrize(
    "model", [PossibilisticGPClassifier, PossibilisticLogisticRegression, ProbabilityModel]
)
def test_models_of_campaigns_have_its_verbs(model):
    assert issubclass(model, CampaignModel)
    assert not model.__abstractmethods__
    assert model().blocks is None
