from .latent_posterior import LatentPosterior
from .pending import PendingPosterior
from .posterior import Posterior, TrainingData, condition
from .process import PossibilisticGP, SystematicError

__all__ = [
    "LatentPosterior",
    "PendingPosterior",
    "PossibilisticGP",
    "Posterior",
    "SystematicError",
    "TrainingData",
    "condition",
]
