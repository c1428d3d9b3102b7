from . import acquisition, pool
from .belief import Belief
from .campaign import Answer, Campaign
from .errors import FlatScoresWarning
from .estimators import PossibilisticGPClassifier, PossibilisticGPRegressor
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
    "PossibilisticGPClassifier",
    "PossibilisticGPRegressor",
    "acquisition",
    "moment_match",
    "open_campaign",
    "pool",
    "rank",
]
