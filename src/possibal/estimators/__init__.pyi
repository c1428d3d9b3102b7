from .classifier import PossibilisticGPClassifier
from .pipeline import PossibilisticPipeline, as_possibilistic
from .regressor import PossibilisticGPRegressor

__all__ = [
    "PossibilisticGPClassifier",
    "PossibilisticGPRegressor",
    "PossibilisticPipeline",
    "as_possibilistic",
]
