from .classifier import PossibilisticGPClassifier
from .logistic import PossibilisticLogisticRegression
from .pipeline import PossibilisticPipeline, as_possibilistic
from .regressor import PossibilisticGPRegressor

__all__ = [
    "PossibilisticGPClassifier",
    "PossibilisticGPRegressor",
    "PossibilisticLogisticRegression",
    "PossibilisticPipeline",
    "as_possibilistic",
]
