"""Rows drawn from a pool that is read in parts, in any order.

    Lot(seed, answers).drawn(left, count) -> Drawn        lot.sift(chunk, sieve, aside)
    drawn.shown(belief, wanted)

Every place of a pool has a random number of its own; those with the largest are drawn. So a draw
depends on nothing but the seed, the number of answers and which rows are left: whether a pool is
held in memory, read from files or spread over a cluster, the same rows are drawn, and a strategy
that looks at rows together is shown the same of them.
"""

from dataclasses import dataclass

import numpy as np

from possibal.acquisition.coverage import COVERED
from possibal.acquisition.pointwise import doubt
from possibal.arrays import Places, Vector
from possibal.belief import Belief
from possibal.pool.reader import Chunk
from possibal.pool.top_k import Candidates, TopK

JOINT_CANDIDATES = 1000
"""Rows that a strategy looks at together."""
SAMPLE_SIZE = 5000
"""Rows that are drawn from a large pool for one question."""


def half_size(wanted: int) -> int:
    """How many rows are shown by lot, and how many for their doubt, where so many are wanted."""
    return max(JOINT_CANDIDATES, 3 * wanted) // 2


def sample_size(wanted: int) -> int:
    """How many rows are drawn where so many are wanted."""
    return max(SAMPLE_SIZE, 2 * half_size(wanted))


@dataclass(frozen=True, eq=False)
class QuestionSample:
    """The rows drawn for one question, the largest random number first.

    Attributes:
        places: where they stand in the pool.
        left: how many rows they were drawn from.
    """

    places: Places
    left: int

    def shown(self, belief: Belief, wanted: int) -> Places:
        """Which of them a strategy that looks at rows together is shown, in the pool's order.

        All where few are left; else half of them by lot, and half for their doubt.

        Args:
            belief: about them.
            wanted: how many rows are to be asked about.
        """
        some, half = np.arange(len(self.places)), half_size(wanted)
        if self.left > 2 * half:
            doubtful = np.lexsort((self.places, -doubt(belief)))
            some = np.union1d(some[:half], doubtful[:half])
        return some[np.argsort(self.places[some])]

    @property
    def reference(self) -> Places:
        """Which of them stand for all that are left, in the pool's order."""
        return np.argsort(self.places[:COVERED])


@dataclass(frozen=True)
class HashedSampler:
    """The draw of one question.

    Attributes:
        seed: of the campaign.
        answers: there are so far.
    """

    seed: int
    answers: int
    slack = 0.0
    by_place = True

    def keys(self, start: int, count: int) -> Vector:
        """The random numbers of places, from one on."""
        return _stream([self.seed, self.answers, 1], start, count)

    def drawn(self, left: Places, count: int) -> QuestionSample:
        """So many of the rows left, or all.

        Args:
            left: their places in order, at least one.
            count: how many are wanted.
        """
        keys, others = self.keys(0, int(left[-1]) + 1)[left], max(len(left) - count, 0)
        some = np.argpartition(keys, others)[others:]
        return QuestionSample(left[some[np.argsort(-keys[some])]], len(left))

    def sift(self, chunk: Chunk, sieve: TopK, aside: Places) -> int:
        """Offer the rows of a chunk that may be drawn; none is worked out."""
        keys = self.keys(chunk.start, len(chunk.X))
        keys[aside - chunk.start] = -1.0
        return _offered(chunk, keys, sieve)


@dataclass(frozen=True, eq=False)
class RandomQuestion:
    """The question of a campaign that asks at random, whatever is known of rows.

    It draws a number for each row left, one after the other; the largest is asked.

    Attributes:
        seed: of the campaign.
        answers: there are so far.
        taken: places of the pool that may not be asked about, in order.
    """

    seed: int
    answers: int
    taken: Places
    slack = 0.0
    by_place = True

    def sift(self, chunk: Chunk, sieve: TopK, aside: Places) -> int:
        """Offer the rows of a chunk that may be asked about; none is worked out."""
        before = chunk.start - int(np.searchsorted(self.taken, chunk.start))
        keys = np.full(len(chunk.X), -1.0)
        left = np.delete(np.arange(len(keys)), aside - chunk.start)
        keys[left] = _stream([self.seed, self.answers], before, len(left))
        return _offered(chunk, keys, sieve)


def _stream(key: list[int], start: int, count: int) -> Vector:
    """So many of the random numbers of a key, from one on."""
    return np.random.Generator(np.random.PCG64(key).advance(start)).random(count)


def _offered(chunk: Chunk, keys: Vector, sieve: TopK) -> int:
    """Offer rows by their numbers; those below zero may not be drawn. None is worked out."""
    some = np.flatnonzero((keys >= sieve.bar) & (keys >= 0.0))
    names = None if chunk.names is None else [chunk.names[at] for at in some.tolist()]
    sieve.offer(Candidates(chunk.start + some, keys[some], chunk.X[some], names))
    return 0
