from .classifier import PossibilisticGPClassifier
from .multilabel import PossibilisticMultiLabelClassifier
from .pipeline import PossibilisticPipeline, as_possibilistic
from .regressor import PossibilisticGPRegressor

__all__ = [
    "PossibilisticGPClassifier",
    "PossibilisticGPRegressor",
    "PossibilisticMultiLabelClassifier",
    "PossibilisticPipeline",
    "as_possibilistic",
]
