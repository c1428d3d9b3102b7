from .axiom_search import AxiomReport, axioms
from .axiom_settings import FiniteThetas, Latents, Stretches
from .families import Density, DiscreteFamily, GaussianNoise
from .finite import FinitePossibility
from .gaussian import GaussianPossibility
from .interval import Interval
from .moment_matching import moment_match
from .outer_measure import OuterMeasure

__all__ = [
    "AxiomReport",
    "Density",
    "DiscreteFamily",
    "FinitePossibility",
    "FiniteThetas",
    "GaussianNoise",
    "GaussianPossibility",
    "Interval",
    "Latents",
    "OuterMeasure",
    "Stretches",
    "axioms",
    "moment_match",
]
