"""Diffusion maps: rows by the clusters of a pool that they belong to, not by where they lie.

    diffusion = fit_diffusion(X)        diffusion.apply(rows) -> (m, q), of length one

Rows without labels tell which rows are alike: those that a random walk on the graph of nearest
neighbours soon gets to. Its transition matrix has one leading eigenvector for each cluster, and the
eigenvectors times a power of their eigenvalues are coordinates whose distance is that of diffusion
(Coifman & Lafon 2006). Other rows take one step of the walk to their nearest landmarks, which is
Nystroem's formula; and so do the rows of the pool, lest a row and its copy differ.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.neighbors import NearestNeighbors

from possibal.arrays import Matrix, Places, Vector
from possibal.numerics.linalg import one_thread

NEIGHBOURS = 10
"""Nearest landmarks that a row is joined with."""
BANDWIDTH_NEIGHBOUR = 7
"""A row's bandwidth is its distance to this neighbour (Zelnik-Manor & Perona 2004)."""
STEPS = 3
"""Steps of the walk: the power of the eigenvalues."""
COORDINATES = 60
"""Leading eigenvectors that are kept, without the constant one."""
LANDMARKS = 2000
"""Rows that the graph is made of at most: exact neighbours of so many take half a second."""
FEWEST_ROWS = 50
"""Of fewer distinct rows there is no graph: they have hardly more neighbours than rows."""
_NARROWEST = 0.1
"""Least bandwidth, as a share of the median one: near-copies would be joined with nothing else."""
_FARTHEST = 30.0
"""Exponents of weights are cut here, so that the nearest landmark of any row has one."""
_CHUNK = 10_000
"""Rows whose neighbours are held at once."""


@dataclass(frozen=True, eq=False)
class DiffusionMap:
    """Diffusion coordinates of any row, by the landmarks of a pool.

    Attributes:
        landmarks: (r, d), distinct rows of the pool.
        bandwidth: (r,), of each.
        coordinates: (r, q), leading eigenvectors times their eigenvalues to the power of all steps
            but the last.
    """

    landmarks: Matrix
    bandwidth: Vector
    coordinates: Matrix

    @property
    def width(self) -> int:
        """The number of coordinates, with that of rows which have no others."""
        return self.coordinates.shape[1] + 1

    def apply(self, X: Matrix) -> Matrix:
        """(m, q + 1): one step to the nearest landmarks, brought to length one.

        What is left of the length tells how many clusters a row is between, and is no likeness.
        Rows whose coordinates are all zero have the last column for themselves.

        Paper: none; Coifman & Lafon (2006), extended by Nystroem's formula (Bengio et al. 2004).
        """
        found = np.zeros((len(X), self.width))
        neighbours = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(self.landmarks)))
        neighbours.fit(self.landmarks)
        for start in range(0, len(X), _CHUNK):
            part = slice(start, start + _CHUNK)
            distances, places = neighbours.kneighbors(X[part])
            own = _floored(distances[:, min(BANDWIDTH_NEIGHBOUR, distances.shape[1]) - 1], self)
            weight = _weights(distances, own, self.bandwidth[places])
            weight /= weight.sum(axis=1, keepdims=True)
            found[part, :-1] = np.einsum("mk,mkq->mq", weight, self.coordinates[places])
        length = np.linalg.norm(found, axis=1, keepdims=True)
        found[:, -1:] = length == 0
        return found / np.where(length > 0, length, 1.0)


def fit_diffusion(X: Matrix) -> DiffusionMap | None:
    """The diffusion map of a pool; None where it has too few distinct rows for a graph.

    The landmarks are distinct rows drawn at random, whatever the order of the pool.

    Paper: none; Coifman & Lafon (2006), with the local bandwidths of Zelnik-Manor & Perona (2004).
    """
    distinct = np.unique(X, axis=0)
    if len(distinct) < FEWEST_ROWS:
        return None
    drawn = np.sort(np.random.default_rng(0).permutation(len(distinct))[:LANDMARKS])
    landmarks = distinct[drawn]
    neighbours = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(landmarks)
    distances, places = neighbours.kneighbors(landmarks)
    bandwidth = distances[:, BANDWIDTH_NEIGHBOUR]
    bandwidth = np.maximum(bandwidth, _NARROWEST * np.median(bandwidth))
    values, vectors = _leading_walk(distances, places, bandwidth)
    return DiffusionMap(landmarks, bandwidth, vectors * values ** (STEPS - 1.0))


def _floored(bandwidth: Vector, known: DiffusionMap) -> Vector:
    """Bandwidths of other rows, none below that of every landmark."""
    return np.maximum(bandwidth, known.bandwidth.min())


def _weights(distances: Matrix, own: Vector, of_others: Matrix) -> Matrix:
    """Weights of the edges between rows and their neighbours, (m, k)."""
    with np.errstate(over="ignore", invalid="ignore"):
        exponents = (distances / own[:, None]) * (distances / of_others)
    return np.exp(-np.minimum(np.nan_to_num(exponents), _FARTHEST))


def _leading_walk(distances: Matrix, places: Places, bandwidth: Vector) -> tuple[Vector, Matrix]:
    """Leading eigenvalues and right eigenvectors of the walk's transition matrix.

    The matrix D^-1 W has those of the symmetric D^-1/2 W D^-1/2, divided by D^1/2. Each row is
    its own neighbour, too, so that no eigenvalue is far below zero. The constant vector, which
    tells no rows apart, is deflated; a graph of several parts has others of eigenvalue one.
    """
    rows = len(distances)
    weight = _weights(distances, bandwidth, bandwidth[places])
    one_way = csr_array(
        (weight.ravel(), (np.repeat(np.arange(rows), places.shape[1]), places.ravel())),
        shape=(rows, rows),
    )
    W: Any = one_way.maximum(one_way.T)  # scipy's sparse types are not known to the checker
    degree = np.asarray(W.sum(axis=1)).ravel()
    W = W.multiply(degree[:, None] ** -0.5).multiply(degree**-0.5).tocsr()
    constant = np.sqrt(degree / degree.sum())

    def step(vector: Vector) -> Vector:
        """The walk without its constant part."""
        return W @ vector - constant * (constant @ vector)

    walk = LinearOperator((rows, rows), matvec=step, dtype=float)
    start = np.random.default_rng(0).normal(size=rows)
    with one_thread():
        values, vectors = eigsh(walk, min(COORDINATES, rows - 2), which="LA", v0=start)
    order = np.argsort(-values)
    values, vectors = np.clip(values[order], 0.0, 1.0), vectors[:, order]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(order))])
    return values, vectors * np.sqrt(degree.sum() / degree)[:, None]
