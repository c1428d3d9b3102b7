"""What the paper reports: its Tables 1 and 2 as values, under our names of the strategies."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from possibal.arrays import Vector

ROUNDING = 0.0005
"""Half a unit in the third place, the last that the paper prints."""


@dataclass(frozen=True)
class Quartiles:
    """The middle of some accuracies: median, first and third quartile."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Vector) -> "Quartiles":
        """The quartiles of measured accuracies."""
        median, low, high = (float(q) for q in np.quantile(values, (0.5, 0.25, 0.75)))
        return cls(median, low, high)

    def contains(self, value: float) -> bool:
        """Whether a value that is not rounded may lie between quartiles that are.

        61 of 80 rows are 0.7625, which the paper prints as .763: that is no difference.
        """
        slack = ROUNDING + 1e-9  # and what floats leave of it
        return self.low - slack <= value <= self.high + slack


TABLE_1: Mapping[str, Mapping[str, Quartiles]] = MappingProxyType(
    {
        "block-center": MappingProxyType(
            {
                "random": Quartiles(0.660, 0.586, 0.781),
                "least_confidence": Quartiles(0.920, 0.905, 0.925),
                "bald": Quartiles(0.925, 0.910, 0.940),
                "uncertainty": Quartiles(0.935, 0.916, 0.955),
                "necessity": Quartiles(0.925, 0.905, 0.935),
            }
        ),
        "block-corner": MappingProxyType(
            {
                "random": Quartiles(0.758, 0.611, 0.824),
                "least_confidence": Quartiles(0.930, 0.910, 0.940),
                "bald": Quartiles(0.930, 0.910, 0.941),
                "uncertainty": Quartiles(0.923, 0.918, 0.935),
                "necessity": Quartiles(0.930, 0.900, 0.940),
            }
        ),
        "sonar": MappingProxyType(
            {
                "random": Quartiles(0.788, 0.763, 0.825),
                "least_confidence": Quartiles(0.800, 0.763, 0.828),
                "latent_entropy": Quartiles(0.675, 0.625, 0.703),
                "bald": Quartiles(0.788, 0.763, 0.813),
                "uncertainty": Quartiles(0.825, 0.800, 0.850),
                "necessity": Quartiles(0.800, 0.775, 0.838),
            }
        ),
        "wine": MappingProxyType(
            {
                "random": Quartiles(0.969, 0.956, 0.975),
                "least_confidence": Quartiles(0.988, 0.986, 0.994),
                "latent_entropy": Quartiles(0.981, 0.975, 0.988),
                "bald": Quartiles(0.975, 0.963, 0.981),
                "uncertainty": Quartiles(0.988, 0.981, 0.994),
                "necessity": Quartiles(0.988, 0.981, 0.988),
            }
        ),
        "breast": MappingProxyType(
            {
                "random": Quartiles(0.950, 0.943, 0.953),
                "least_confidence": Quartiles(0.957, 0.950, 0.960),
                "latent_entropy": Quartiles(0.950, 0.943, 0.953),
                "bald": Quartiles(0.950, 0.943, 0.953),
                "uncertainty": Quartiles(0.953, 0.947, 0.957),
                "necessity": Quartiles(0.960, 0.957, 0.963),
            }
        ),
        "ionosphere": MappingProxyType(
            {
                "random": Quartiles(0.780, 0.763, 0.793),
                "least_confidence": Quartiles(0.830, 0.813, 0.847),
                "latent_entropy": Quartiles(0.802, 0.786, 0.803),
                "bald": Quartiles(0.810, 0.790, 0.820),
                "uncertainty": Quartiles(0.839, 0.821, 0.853),
                "necessity": Quartiles(0.837, 0.820, 0.850),
            }
        ),
        "fri": MappingProxyType(
            {
                "random": Quartiles(0.827, 0.800, 0.850),
                "least_confidence": Quartiles(0.873, 0.859, 0.888),
                "latent_entropy": Quartiles(0.855, 0.832, 0.868),
                "bald": Quartiles(0.827, 0.800, 0.847),
                "uncertainty": Quartiles(0.877, 0.861, 0.890),
                "necessity": Quartiles(0.886, 0.873, 0.895),
            }
        ),
        "vehicle": MappingProxyType(
            {
                "random": Quartiles(0.890, 0.866, 0.905),
                "least_confidence": Quartiles(0.950, 0.941, 0.956),
                "latent_entropy": Quartiles(0.906, 0.891, 0.919),
                "bald": Quartiles(0.893, 0.876, 0.911),
                "uncertainty": Quartiles(0.931, 0.921, 0.939),
                "necessity": Quartiles(0.950, 0.939, 0.956),
            }
        ),
        "thyroid": MappingProxyType(
            {
                "random": Quartiles(0.905, 0.873, 0.930),
                "least_confidence": Quartiles(0.930, 0.920, 0.950),
                "margin": Quartiles(0.920, 0.890, 0.930),
                "entropy": Quartiles(0.935, 0.913, 0.950),
                "uncertainty": Quartiles(0.950, 0.930, 0.970),
                "necessity": Quartiles(0.940, 0.930, 0.950),
            }
        ),
        "iris": MappingProxyType(
            {
                "random": Quartiles(0.915, 0.890, 0.940),
                "least_confidence": Quartiles(0.940, 0.930, 0.958),
                "margin": Quartiles(0.910, 0.883, 0.928),
                "entropy": Quartiles(0.930, 0.920, 0.950),
                "uncertainty": Quartiles(0.960, 0.945, 0.970),
                "necessity": Quartiles(0.940, 0.933, 0.958),
            }
        ),
        "seismic": MappingProxyType(
            {
                "random": Quartiles(0.878, 0.848, 0.908),
                "least_confidence": Quartiles(0.915, 0.896, 0.929),
                "margin": Quartiles(0.878, 0.856, 0.899),
                "entropy": Quartiles(0.910, 0.890, 0.920),
                "uncertainty": Quartiles(0.925, 0.904, 0.934),
                "necessity": Quartiles(0.915, 0.890, 0.929),
            }
        ),
    }
)
"""Accuracy after the last answer, for each set and strategy.

Paper: Sec. 6, Table 1; the blocks have no latent_entropy.
"""

TABLE_2: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "final": MappingProxyType(
            {
                "random": 5.12,
                "least_confidence": 2.12,
                "latent_entropy": 4.50,
                "bald": 3.75,
                "uncertainty": 2.00,
                "necessity": 1.37,
            }
        ),
        "area": MappingProxyType(
            {
                "random": 5.25,
                "least_confidence": 2.25,
                "latent_entropy": 3.50,
                "bald": 5.04,
                "uncertainty": 2.29,
                "necessity": 1.95,
            }
        ),
    }
)
"""Average rank over the sets with two labels, 1 the best.

Paper: Sec. 6, Table 2. The ranks at the final step are those of the medians of Table 1, where all
that tie get the best rank of the tie.
"""


def published(dataset: str, strategy: str) -> Quartiles | None:
    """What the paper reports of a strategy on a set, if anything."""
    return TABLE_1.get(dataset, {}).get(strategy)
