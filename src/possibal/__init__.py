"""Active learning that tells what is not known from what is random."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from possibal import acquisition
    from possibal.answers import Answer
    from possibal.belief import Belief
    from possibal.errors import FlatScoresWarning
    from possibal.estimators import PossibilisticGPClassifier, PossibilisticGPRegressor
    from possibal.families import Density, DiscreteFamily, GaussianNoise
    from possibal.finite import FinitePossibility
    from possibal.learner import Campaign
    from possibal.notebook import open_campaign
    from possibal.outer import OuterMeasure
    from possibal.possibility import GaussianPossibility, Interval
    from possibal.smooth import moment_match

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

_HOMES = {
    "Answer": "answers",
    "Belief": "belief",
    "Campaign": "learner",
    "Density": "families",
    "DiscreteFamily": "families",
    "FinitePossibility": "finite",
    "FlatScoresWarning": "errors",
    "GaussianNoise": "families",
    "GaussianPossibility": "possibility",
    "Interval": "possibility",
    "OuterMeasure": "outer",
    "PossibilisticGPClassifier": "estimators",
    "PossibilisticGPRegressor": "estimators",
    "moment_match": "smooth",
    "open_campaign": "notebook",
}


def __getattr__(name: str) -> object:
    """What is asked for first: SciPy and scikit-learn take seconds to import."""
    if name == "acquisition":
        return import_module("possibal.acquisition")
    if name in _HOMES:
        return getattr(import_module(f"possibal.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'possibal' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All names, also those that were not asked for yet."""
    return sorted({*globals(), *__all__})
