from .classifier import PossibilisticGPClassifier
from .regressor import PossibilisticGPRegressor

__all__ = [
    "PossibilisticGPClassifier",
    "PossibilisticGPRegressor",
]
