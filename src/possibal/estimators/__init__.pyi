from .classifier import PossibilisticGPClassifier, PossibilisticGPRegressor

__all__ = [
    "PossibilisticGPClassifier",
    "PossibilisticGPRegressor",
]
