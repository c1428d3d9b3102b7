"""Active learning that tells what is not known from what is random."""

from importlib import import_module
from typing import TYPE_CHECKING

from possibal import acquisition
from possibal.belief import Belief
from possibal.errors import FlatScoresWarning
from possibal.families import Density, DiscreteFamily, GaussianNoise
from possibal.finite import FinitePossibility
from possibal.outer import OuterMeasure
from possibal.possibility import GaussianPossibility, Interval
from possibal.smooth import moment_match

if TYPE_CHECKING:
    from possibal.estimators import PossibilisticGPClassifier, PossibilisticGPRegressor
    from possibal.learner import Answer, Campaign
    from possibal.notebook import open_campaign

__version__ = "0.1.0"
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
]


_LATE = {
    "Answer": "learner",
    "Campaign": "learner",
    "PossibilisticGPClassifier": "estimators",
    "PossibilisticGPRegressor": "estimators",
    "open_campaign": "notebook",
}


def __getattr__(name: str) -> object:
    """What needs scikit-learn, loaded when first asked for: that takes a second to import."""
    if name in _LATE:
        return getattr(import_module(f"possibal.{_LATE[name]}"), name)
    raise AttributeError(f"module 'possibal' has no attribute {name!r}")
