"""Active learning that tells what is not known from what is random."""

from possibal import acquisition
from possibal.belief import Belief
from possibal.outer import OuterMeasure
from possibal.possibility import FinitePossibility, GaussianPossibility

__version__ = "0.1.0"
__all__ = [
    "Belief",
    "FinitePossibility",
    "GaussianPossibility",
    "OuterMeasure",
    "acquisition",
]
