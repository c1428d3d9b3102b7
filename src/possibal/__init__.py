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

__version__ = "0.1.0"
__all__ = [
    "Belief",
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
]


def __getattr__(name: str) -> object:
    """The estimators, loaded when first asked for: scikit-learn takes a second to import."""
    if name in ("PossibilisticGPClassifier", "PossibilisticGPRegressor"):
        return getattr(import_module("possibal.estimators"), name)
    raise AttributeError(f"module 'possibal' has no attribute {name!r}")
