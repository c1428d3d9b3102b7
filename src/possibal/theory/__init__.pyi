from .families import Density, DiscreteFamily, GaussianNoise
from .finite import FinitePossibility
from .gaussian import GaussianPossibility
from .interval import Interval
from .moment_matching import moment_match
from .outer_measure import OuterMeasure

__all__ = [
    "Density",
    "DiscreteFamily",
    "FinitePossibility",
    "GaussianNoise",
    "GaussianPossibility",
    "Interval",
    "OuterMeasure",
    "moment_match",
]
