from . import acquisition, pool
from .belief import Belief
from .campaign import Answer, Campaign
from .errors import FlatScoresWarning, ScaleWarning
from .estimators import (
    PossibilisticGPClassifier,
    PossibilisticGPRegressor,
    PossibilisticLogisticRegression,
    PossibilisticPipeline,
    as_possibilistic,
)
from .experiments.learning_curves import simulate
from .gp import PossibilisticGP, SystematicError
from .labelling.saved_model import load_model
from .labelling.session import open_campaign
from .pool import rank
from .theory import (
    Density,
    DiscreteFamily,
    FinitePossibility,
    GaussianNoise,
    GaussianPossibility,
    Interval,
    OuterMeasure,
    moment_match,
)

__version__: str

__all__ = [
    "Answer",
    "Belief",
    "Campaign",
    "Density",
    "DiscreteFamily",
    "FinitePossibility",
    "FlatScoresWarning",
    "GaussianNoise",
    "GaussianPossibility",
    "Interval",
    "OuterMeasure",
    "PossibilisticGP",
    "PossibilisticGPClassifier",
    "PossibilisticGPRegressor",
    "PossibilisticLogisticRegression",
    "PossibilisticPipeline",
    "ScaleWarning",
    "SystematicError",
    "acquisition",
    "as_possibilistic",
    "load_model",
    "moment_match",
    "open_campaign",
    "pool",
    "rank",
    "simulate",
]
