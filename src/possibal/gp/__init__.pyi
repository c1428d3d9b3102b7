from .pending import PendingPosterior
from .posterior import Posterior, TrainingData, condition
from .process import PossibilisticGP, SystematicError

__all__ = [
    "PendingPosterior",
    "PossibilisticGP",
    "Posterior",
    "SystematicError",
    "TrainingData",
    "condition",
]
