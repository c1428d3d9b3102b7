"""Learning curve of a campaign: how often its model is right, after each number of answers.

accuracy_curve(snapshot, X, y) -> [CurvePoint, ...]        own_curve(snapshot) -> [CurvePoint, ...]
wilson_interval(right, n) -> (low, high)
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from possibal.arrays import as_python

if TYPE_CHECKING:  # SciPy takes a second to import, which intervals do not need
    from possibal.campaign.snapshot import Snapshot

Z95 = 1.959963984540054
"""Standard deviations that hold 95 % of a normal distribution."""
POINTS = 20
"""Points of a curve at most: each is a fit."""
LOOKED_AT = 5000
"""Rows of a pool that the model is asked about itself by, at most."""


@dataclass(frozen=True)
class CurvePoint:
    """The accuracy on the check rows after so many answers, with its 95 % interval."""

    answers: int
    accuracy: float
    low: float
    high: float


def accuracy_curve(
    snapshot: "Snapshot",
    X: Any,  # noqa: ANN401 - as the classifier takes it
    y: Sequence[Hashable],
) -> list[CurvePoint]:
    """The accuracy on labelled rows, after each of some numbers of answers.

    Args:
        snapshot: the campaign as it is.
        X: the rows, as its classifier takes them.
        y: their labels.
    """
    truth, found = [as_python(label) for label in y], list[CurvePoint]()
    for earlier in _earlier(snapshot):
        predicted = earlier.classifier.predict(X).tolist()
        right = sum(one == other for one, other in zip(predicted, truth, strict=True))
        interval = wilson_interval(right, len(truth))
        found.append(CurvePoint(len(earlier), right / len(truth), *interval))
    return found


def own_curve(snapshot: "Snapshot") -> list[CurvePoint]:
    """How often the model would be right about rows without a label, by its own chances.

    The chances are calibrated by rows that it learnt from, each left out, and the range is what
    those leave open. Of a large pool, random rows are asked about.
    """
    found, rng = list[CurvePoint](), np.random.default_rng(snapshot.seed)
    order = rng.permutation(len(snapshot.pool.ids))
    for earlier in _earlier(snapshot):
        told = [snapshot.pool.places[answer.row] for answer in earlier.answers]
        rows = np.sort(order[~np.isin(order, told)][:LOOKED_AT])
        if not len(rows):
            break
        posterior, known = earlier.classifier.posterior_, earlier.calibration
        given = posterior.probability(snapshot.pool.X[rows]).max(axis=1)
        numbers = (known.chances(given), *known.range(given))
        found.append(CurvePoint(len(earlier), *(float(np.mean(one)) for one in numbers)))
    return found


def _earlier(snapshot: "Snapshot") -> Iterator["Snapshot"]:
    """The campaign after some of its answers, as soon as they name two classes."""
    n = len(snapshot)
    for count in np.unique(np.linspace(min(2, n), n, POINTS).astype(int)).tolist():
        earlier = replace(snapshot, answers=snapshot.answers[:count])
        if not earlier.is_cold:
            yield earlier


def wilson_interval(right: int, n: int) -> tuple[float, float]:
    """Wilson score interval of a share at 95 % confidence, after so many of n were right.

    Paper: none; Wilson (1927).
    """
    share, z2 = right / n, Z95 * Z95
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))
