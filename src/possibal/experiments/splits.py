"""Pool, start and test split of each run, by common random numbers: the same for every strategy."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from possibal.arrays import Matrix, Places
from possibal.experiments.datasets import Dataset
from possibal.experiments.spec import HELD_OUT, Experiment
from possibal.numerics.diffusion import fit_diffusion
from possibal.numerics.geometry import COSINE

_DRAWS = 100
"""How often a pool is drawn again for want of a label."""


@dataclass(frozen=True, eq=False)
class Split:
    """Pool, start and test rows of one run.

    Attributes:
        X: the whole table with its columns scaled, (n, d).
        diffusion: (n, q), diffusion coordinates of all rows, by the rows of the pool; q is zero
            where there are none.
        pool: rows that may be asked about, in order; the start is among them.
        start: one row of the pool for each label.
        test: rows that accuracy is measured on.
    """

    X: Matrix
    diffusion: Matrix
    pool: Places
    start: Places
    test: Places

    @property
    def rows(self) -> Matrix:
        """The whole table as possibal's model reads it, (n, d + q)."""
        return np.hstack([self.X, self.diffusion])


def random_stream(seed: int, run: int, purpose: str) -> np.random.Generator:
    """Common random numbers: an independent generator for one purpose of one run.

    The strategy is not in the key, so that all strategies share every draw and compare in pairs.
    """
    return np.random.default_rng([seed, run, crc32(purpose.encode())])


def scaled(X: Matrix, by: Matrix) -> Matrix:
    """Columns standardised by the mean and standard deviation of others; constants stay zero."""
    deviation = by.std(axis=0)
    return (X - by.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def check(experiment: Experiment, data: Dataset) -> None:
    """Refuse a set with too few rows for the experiment."""
    sizes, rows, labels = experiment.sizes, len(data.y), len(data.labels)
    if sizes.pool > rows:
        raise ValueError(
            f"pool must be at most {rows}, the rows of {data.name}; got {sizes.pool}. "
            "Ask for a smaller one."
        )
    if sizes.pool < sizes.queries + labels:
        raise ValueError(
            f"pool must have room for {labels} labels to start with and {sizes.queries} "
            f"questions; got {sizes.pool} rows. Ask fewer questions."
        )
    if not len(_testable(experiment, data, np.arange(sizes.pool))):
        raise ValueError(
            f"pool must leave rows of {data.name} to test on; got {sizes.pool} of {rows}. "
            "Ask for a smaller pool."
        )


def split(experiment: Experiment, data: Dataset, run: int) -> Split:
    """The split of one run, the same for every strategy.

    Under the paper's protocol columns are scaled by the whole set and test rows are any rows. Held
    out, columns are scaled by the pool or fitted to it, and test rows are drawn from the others:
    all of them where there are fewer than Table 3 has. A pool that lacks a label is drawn again.

    Paper: App. E.2, Algorithm 1, lines 2 to 4 and 13.
    """
    sizes, seed = experiment.sizes, experiment.seed
    pool = np.sort(_pool(data, sizes.pool, random_stream(seed, run, "pool")))  # line 2
    rng = random_stream(seed, run, "start")
    start = [rng.choice(pool[data.y[pool] == label]) for label in np.unique(data.y)]  # line 3
    testable = _testable(experiment, data, pool)
    test = random_stream(seed, run, "test").permutation(testable)[: sizes.test]  # line 13
    known = pool if experiment.protocol == HELD_OUT else np.arange(len(data.y))
    X = scaled(data.X, data.X[known]) if data.fitted_to is None else data.fitted_to(known)
    is_plain = data.metric != COSINE or experiment.is_plain
    known_clusters = None if is_plain else fit_diffusion(X[known])
    coordinates = np.empty((len(X), 0)) if known_clusters is None else known_clusters.apply(X)
    return Split(X, coordinates, pool, np.array(start, dtype=np.intp), np.sort(test))


def _pool(data: Dataset, size: int, rng: np.random.Generator) -> Places:
    """Rows drawn until every label is among them; a label too rare for that is put there."""
    labels = np.unique(data.y)
    for _ in range(_DRAWS):
        pool = rng.permutation(len(data.y))[:size]
        if len(np.unique(data.y[pool])) == len(labels):
            return pool
    start = np.array([rng.choice(np.flatnonzero(data.y == label)) for label in labels])
    others = np.setdiff1d(np.arange(len(data.y)), start)
    return np.concatenate([start, rng.permutation(others)[: size - len(start)]])


def _testable(experiment: Experiment, data: Dataset, pool: Places) -> Places:
    """Rows that may be tested on: never those of a block, whose labels tell nothing."""
    rows = np.setdiff1d(np.arange(len(data.y)), data.block)
    return np.setdiff1d(rows, pool) if experiment.protocol == HELD_OUT else rows
