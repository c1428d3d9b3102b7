from .pending import PendingPosterior
from .posterior import Posterior, TrainingData, condition

__all__ = [
    "PendingPosterior",
    "Posterior",
    "TrainingData",
    "condition",
]
