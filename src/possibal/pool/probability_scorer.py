"""Scoring of a pool by probabilities: every row in full, for nothing bounds what a model says.

ProbabilityScorer(at, score).offer(chunk, top_k, excluded)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from possibal.acquisition.scoring import Score
from possibal.arrays import Matrix, Places, Vector
from possibal.belief import Belief
from possibal.pool.reader import Chunk
from possibal.pool.top_k import SLACK, ScoredRows, TopK

_ROWS = 20_000
"""Rows that a model is asked about together."""


@dataclass(frozen=True, eq=False)
class ProbabilityScorer:
    """A score of the probabilities that a model gives of rows.

    Attributes:
        at: what the model says of rows (m, d).
        score: that reads it.
        by_place: whether the place of a row matters to it.
        slack: relative error of utilities, by which a model may differ from part to part.
    """

    at: Callable[[Matrix], Belief]
    score: Score
    by_place = False
    slack = SLACK

    def utilities(self, X: Matrix) -> Vector:
        """The utility of each row."""
        parts = [self.score(self.at(X[at : at + _ROWS])) for at in range(0, len(X), _ROWS)]
        return np.concatenate(parts) if parts else np.empty(0)

    def offer(self, chunk: Chunk, top_k: TopK, excluded: Places) -> int:
        """Offer the available rows of a chunk; how many were computed: all of them."""
        rows = np.delete(np.arange(len(chunk.X)), excluded - chunk.start)
        for at in range(0, len(rows), _ROWS):
            some = rows[at : at + _ROWS]
            X = chunk.X[some]
            names = None if chunk.names is None else [chunk.names[row] for row in some.tolist()]
            top_k.offer(ScoredRows(chunk.start + some, self.score(self.at(X)), X, names))
        return len(rows)
