"""Sampling without replacement by hashed keys: the same sample, however a pool is read.

    HashedSampler(seed, answers).offer(chunk, top_k, excluded)
    QuestionSample(places, available).candidates(belief, wanted)

Every place of a pool has a pseudo-random key of its own; the rows with the largest keys are the
sample. So it depends on nothing but the seed, the number of answers and which rows are available:
whether a pool is held in memory, read from files or spread over a cluster, the sample is the same.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from possibal.acquisition.coverage import COVERED
from possibal.acquisition.pointwise import doubt, least_confidence
from possibal.arrays import Places, Vector
from possibal.belief import Belief, ProbabilityBelief
from possibal.pool.reader import Chunk
from possibal.pool.top_k import ScoredRows, TopK

JOINT_CANDIDATES = 1000
"""Candidates of a joint strategy."""
SAMPLE_SIZE = 5000
"""Rows that are sampled from the available ones for one question."""


def half_size(wanted: int) -> int:
    """How many candidates are random, and as many for their doubt, where so many are wanted."""
    return max(JOINT_CANDIDATES, 3 * wanted) // 2


def sample_size(wanted: int) -> int:
    """How many rows are sampled where so many are wanted."""
    return max(SAMPLE_SIZE, 2 * half_size(wanted))


@dataclass(frozen=True, eq=False)
class QuestionSample:
    """A random sample of the available rows, the largest key first.

    Attributes:
        places: where they stand in the pool.
        available: how many rows they were sampled from.
    """

    places: Places
    available: int

    def candidates(self, belief: Belief, wanted: int) -> Places:
        """Which of them a joint strategy scores, in the pool's order.

        All where few are available; else half of them at random, and half for their doubt 1 - N,
        or where a model gives probabilities alone for those.

        Args:
            belief: about them.
            wanted: how many rows are to be asked about.
        """
        score = least_confidence if isinstance(belief, ProbabilityBelief) else doubt
        return self.candidates_by(lambda: score(belief), wanted)

    def candidates_by(self, doubts: Callable[[], Vector], wanted: int) -> Places:
        """The same by doubts, which are computed where they matter."""
        some, half = np.arange(len(self.places)), half_size(wanted)
        if self.available > 2 * half:
            doubtful = np.lexsort((self.places, -doubts()))
            some = np.union1d(some[:half], doubtful[:half])
        return some[np.argsort(self.places[some])]

    @property
    def reference(self) -> Places:
        """Which of them stand for all available rows, in the pool's order."""
        return np.argsort(self.places[:COVERED])


@dataclass(frozen=True)
class HashedSampler:
    """The sampler of one question: keys are hashes of the seed, the answers and the place.

    Attributes:
        seed: of the campaign.
        answers: how many there are so far.
    """

    seed: int
    answers: int
    slack = 0.0
    by_place = True

    def rng(self) -> np.random.Generator:
        """The generator of the question, for strategies that draw."""
        return np.random.default_rng([self.seed, self.answers])

    def keys(self, start: int, count: int) -> Vector:
        """The keys of places, from one on."""
        return _stream([self.seed, self.answers, 1], start, count)

    def offer(self, chunk: Chunk, top_k: TopK, excluded: Places) -> int:
        """Offer the available rows of a chunk by their keys; no utility is computed."""
        keys = self.keys(chunk.start, len(chunk.X))
        keys[excluded - chunk.start] = -1.0
        return _offered(chunk, keys, top_k)


@dataclass(frozen=True, eq=False)
class RandomQuestion:
    """The keys by which a campaign asks at random: one draw for each available row, in order.

    Attributes:
        seed: of the campaign.
        answers: how many there are so far.
        excluded: places of the pool that may not be asked about, in order.
    """

    seed: int
    answers: int
    excluded: Places
    slack = 0.0
    by_place = True

    def offer(self, chunk: Chunk, top_k: TopK, excluded: Places) -> int:
        """Offer the available rows of a chunk by their keys; no utility is computed."""
        before = chunk.start - int(np.searchsorted(self.excluded, chunk.start))
        keys = np.full(len(chunk.X), -1.0)
        available = np.delete(np.arange(len(keys)), excluded - chunk.start)
        keys[available] = _stream([self.seed, self.answers], before, len(available))
        return _offered(chunk, keys, top_k)


def _stream(key: list[int], start: int, count: int) -> Vector:
    """So many of the random numbers of a seed, from one on."""
    return np.random.Generator(np.random.PCG64(key).advance(start)).random(count)


def _offered(chunk: Chunk, keys: Vector, top_k: TopK) -> int:
    """Offer rows by their keys; those with a negative one are excluded. None is computed."""
    some = np.flatnonzero((keys >= top_k.bar) & (keys >= 0.0))
    if len(some) > top_k.top:  # no other row of the chunk can be among the largest
        some = np.sort(some[np.argpartition(keys[some], -top_k.top)[-top_k.top :]])
    names = None if chunk.names is None else [chunk.names[at] for at in some.tolist()]
    top_k.offer(ScoredRows(chunk.start + some, keys[some], chunk.X[some], names))
    return 0
