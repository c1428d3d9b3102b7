from .classifier import PossibilisticGPClassifier
from .logistic import PossibilisticLogisticRegression
from .multilabel import PossibilisticMultiLabelClassifier
from .pipeline import PossibilisticPipeline, as_possibilistic
from .regressor import PossibilisticGPRegressor

__all__ = [
    "PossibilisticGPClassifier",
    "PossibilisticGPRegressor",
    "PossibilisticLogisticRegression",
    "PossibilisticMultiLabelClassifier",
    "PossibilisticPipeline",
    "as_possibilistic",
]
