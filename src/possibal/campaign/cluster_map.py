"""Map of a pool in which the clusters that the model tells apart lie side by side.

    known = fit_cluster_map(X, diffusion)           known.places(rows) -> (m, 2), from 0 to 1

It has the coordinates in which the model compares rows, and is fitted to the first rows alone.
"""

from dataclasses import dataclass

import numpy as np

from possibal.arrays import Matrix
from possibal.numerics.principal_axes import principal_plane
from possibal.numerics.tsne import TsnePlane, fit_tsne

MOST_ROWS = 5000
"""Rows of a pool that its map is made of at most."""
SPREAD = 0.015
"""Share of the map's side by which rows of one cluster lie apart, by what else they say: in their
cluster's coordinates they lie on top of each other, where nobody can point at one."""


@dataclass(frozen=True, eq=False)
class ClusterMap:
    """Where any row lies; a row that joins moves no other.

    Attributes:
        plane: of the clusters.
        sample: (r, d), the columns of some rows that are no diffusion coordinates.
    """

    plane: TsnePlane
    sample: Matrix

    def places(self, X: Matrix) -> Matrix:
        """(m, 2), from 0 to 1: a row lies between landmarks, so that none is outside of theirs."""
        columns = self.sample.shape[1]
        low, high = self.plane.places.min(axis=0), self.plane.places.max(axis=0)
        found = (self.plane.apply(X[:, columns:]) - low) / np.where(high > low, high - low, 1.0)
        scale = np.abs(principal_plane(self.sample, self.sample)).max(axis=0)
        aside = principal_plane(X[:, :columns], self.sample) / np.where(scale > 0, scale, 1.0)
        return SPREAD + (1 - 2 * SPREAD) * found.clip(0, 1) + SPREAD * aside.clip(-1, 1)


def fit_cluster_map(X: Matrix, diffusion: int) -> ClusterMap:
    """The map of a pool.

    Args:
        X: the rows that the campaign was begun with, so that it stays when others join.
        diffusion: how many of the last columns are diffusion coordinates.
    """
    drawn = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_ROWS])
    columns = X.shape[1] - diffusion
    sample = X[drawn]
    return ClusterMap(fit_tsne(sample[:, columns:]), sample[:, :columns])
