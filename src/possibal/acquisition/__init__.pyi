from .coverage import herding
from .lookahead import bemps, epig, look_ahead, mocu
from .pointwise import (
    bald,
    bald_houlsby,
    doubt,
    entropy,
    latent_entropy,
    least_confidence,
    margin,
    necessity,
    predictive_variance,
    uncertainty,
    uncertainty_outcome,
    uncertainty_parameter,
)
from .registry import STRATEGIES, random

__all__ = [
    "STRATEGIES",
    "bald",
    "bald_houlsby",
    "bemps",
    "doubt",
    "entropy",
    "epig",
    "herding",
    "latent_entropy",
    "least_confidence",
    "look_ahead",
    "margin",
    "mocu",
    "necessity",
    "predictive_variance",
    "random",
    "uncertainty",
    "uncertainty_outcome",
    "uncertainty_parameter",
]
