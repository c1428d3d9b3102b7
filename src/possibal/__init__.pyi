from . import acquisition, plotting, pool
from .belief import Belief
from .campaign import Answer, Campaign
from .campaign.pool_batch import batch
from .errors import FlatScoresWarning, ScaleWarning
from .estimators import (
    PossibilisticGPClassifier,
    PossibilisticGPRegressor,
    PossibilisticLogisticRegression,
    PossibilisticMultiLabelClassifier,
    PossibilisticPipeline,
    as_possibilistic,
)
from .estimators.persistence import skops_types
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
    "PossibilisticMultiLabelClassifier",
    "PossibilisticPipeline",
    "ScaleWarning",
    "SystematicError",
    "acquisition",
    "as_possibilistic",
    "batch",
    "load_model",
    "moment_match",
    "open_campaign",
    "plotting",
    "pool",
    "rank",
    "simulate",
    "skops_types",
]
