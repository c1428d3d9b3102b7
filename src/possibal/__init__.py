"""Active learning that tells what is not known from what is random."""

from possibal import acquisition
from possibal.belief import Belief
from possibal.families import Density, DiscreteFamily, GaussianNoise
from possibal.finite import FinitePossibility
from possibal.outer import OuterMeasure
from possibal.possibility import GaussianPossibility, Interval
from possibal.smooth import moment_match

__version__ = "0.1.0"
__all__ = [
    "Belief",
    "Density",
    "DiscreteFamily",
    "FinitePossibility",
    "GaussianNoise",
    "GaussianPossibility",
    "Interval",
    "OuterMeasure",
    "acquisition",
    "moment_match",
]
