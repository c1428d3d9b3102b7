"""Map of a campaign's pool: rows that are alike lie side by side, with labels and predictions.

campaign.map() -> [RowPoint, ...]
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from possibal.arrays import Matrix
from possibal.campaign.cluster_map import fit_cluster_map
from possibal.campaign.snapshot import Snapshot
from possibal.numerics.principal_axes import unit_plane

MAPPED = 2000
"""Size of the random sample that stands for a larger pool."""


@dataclass(frozen=True)
class RowPoint:
    """A row in the plane; x and y from 0 to 1.

    Attributes:
        row: its id.
        name: the id as people read it.
        x: from left to right.
        y: from below.
        label: that it has.
        predicted: that the model makes of it; None where it says nothing.
        chance: that this is right.
    """

    row: Hashable
    name: str
    x: float
    y: float
    label: Hashable | None = None
    predicted: Hashable | None = None
    chance: float | None = None


def pool_plane(snapshot: Snapshot) -> Matrix:
    """Places of all rows, (m, 2): by cluster where the model tells clusters, else by plane."""
    X, diffusion = snapshot.pool.X, getattr(snapshot.model, "diffusion", None)
    return fit_cluster_map(X, diffusion).places(X) if diffusion else unit_plane(X)


def pool_map(
    snapshot: Snapshot, plane: Matrix, labels: Mapping[Hashable, Hashable]
) -> list[RowPoint]:
    """The rows of a pool as points: a sample of a larger one, and all that have a label.

    Args:
        snapshot: the campaign as it is.
        plane: places of all rows.
        labels: of rows, by their ids; copies have theirs too.
    """
    ids, places = snapshot.pool.ids, snapshot.pool.places
    drawn = np.random.default_rng(snapshot.seed).permutation(len(ids))[:MAPPED]
    rows = np.unique([*drawn, *(places[row] for row in labels)]).astype(np.intp)
    told: list[tuple[Hashable | None, float | None]] = [(None, None)] * len(rows)
    if not snapshot.is_cold:
        classifier = snapshot.classifier
        chances = classifier.posterior_.probability(snapshot.pool.X[rows])
        names = classifier.classes_[chances.argmax(axis=1)].tolist()
        stated = snapshot.calibration.chances(chances.max(axis=1)).tolist()
        told = list(zip(names, stated, strict=True))
    found = zip(rows.tolist(), plane[rows].tolist(), told, strict=True)
    return [
        RowPoint(ids[row], str(ids[row]), x, y, labels.get(ids[row]), label, chance)
        for row, (x, y), (label, chance) in found
    ]
