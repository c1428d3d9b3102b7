from .coverage import herding
from .decisions import (
    cheapest_action,
    cost_necessity,
    interval_necessity,
    threshold_necessity,
    top_necessity,
)
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
from .strategy import JointPosterior, MarginalPosterior, View

__all__ = [
    "STRATEGIES",
    "JointPosterior",
    "MarginalPosterior",
    "View",
    "bald",
    "bald_houlsby",
    "bemps",
    "cheapest_action",
    "cost_necessity",
    "doubt",
    "entropy",
    "epig",
    "herding",
    "interval_necessity",
    "latent_entropy",
    "least_confidence",
    "look_ahead",
    "margin",
    "mocu",
    "necessity",
    "predictive_variance",
    "random",
    "threshold_necessity",
    "top_necessity",
    "uncertainty",
    "uncertainty_outcome",
    "uncertainty_parameter",
]
