from .pending import Foreseen
from .posterior import Data, Posterior, condition

__all__ = [
    "Data",
    "Foreseen",
    "Posterior",
    "condition",
]
