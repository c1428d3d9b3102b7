"""Streaming top-k: the best rows of a pool that is read in parts, in any order.

top_k.offer(rows)        top_k.best(utility) -> ScoredRows
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

import numpy as np

from possibal.arrays import Matrix, Places, Vector

Done: TypeAlias = tuple[int, int, int]
"""Rows that were ranked, computed in full, and read."""

SLACK = 1e-7
"""Utilities that differ by less, relatively, may come in any order: they are computed anew."""
BUFFER = 256
"""Rows kept beyond twice those wanted, before the worst are dropped."""


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their utilities, or with the keys of a sample.

    Attributes:
        places: where they stand in the pool.
        utilities: one number each, the largest first wanted.
        X: (r, d), their numbers.
        names: what the user calls them; None where they have no names.
    """

    places: Places
    utilities: Vector
    X: Matrix
    names: list[Hashable] | None

    def __len__(self) -> int:
        """How many there are."""
        return len(self.places)

    def part(self, some: Places) -> "ScoredRows":
        """Some of them."""
        names = None if self.names is None else [self.names[at] for at in some.tolist()]
        return ScoredRows(self.places[some], self.utilities[some], self.X[some], names)

    @classmethod
    def joined(cls, parts: list["ScoredRows"]) -> "ScoredRows":
        """All of several."""
        if len(parts) == 1:
            return parts[0]
        named = [part.names for part in parts if part.names is not None]
        return cls(
            np.concatenate([part.places for part in parts]),
            np.concatenate([part.utilities for part in parts]),
            np.concatenate([part.X for part in parts]),
            [name for names in named for name in names] if named else None,
        )


class TopK:
    """Thread-safe streaming top-k that keeps every row within `slack` of the k-th best.

    Those are then rescored exactly, by :meth:`best`.
    """

    def __init__(self, top: int, slack: float = SLACK) -> None:
        """Nothing was offered yet.

        Args:
            top: how many rows are wanted.
            slack: relative error of utilities; absolute where some are negative, since those
                come close to zero by cancellation.
        """
        self.top, self.slack, self.bar = top, slack, -np.inf
        self._kept, self._lock, self._is_signed = list[ScoredRows](), Lock(), False

    def offer(self, found: ScoredRows) -> None:
        """Take more rows; those that cannot be among the best are dropped now and then."""
        if not len(found):
            return
        with self._lock:
            self._kept.append(found)
            self._is_signed |= bool(found.utilities.min() < 0.0)
            count = sum(len(one) for one in self._kept)
            if count >= self.top and (np.isneginf(self.bar) or count > 2 * self.top + BUFFER):
                self._drop()

    def candidates(self) -> list[ScoredRows]:
        """All that may be among the best; in one piece where they are more than wanted."""
        with self._lock:
            if sum(len(one) for one in self._kept) > self.top:
                self._drop()
            return self._kept

    def best(self, utility: Callable[[Matrix], Vector]) -> list[ScoredRows]:
        """The best rows in order, the lowest place first of several alike.

        Args:
            utility: of each row, whatever rows it is given together with.
        """
        kept = self.candidates()
        if not kept:
            return []
        all_of_them = ScoredRows.joined(kept)
        utilities = utility(all_of_them.X)
        order = np.lexsort((all_of_them.places, -utilities))[: self.top]
        exact = ScoredRows(all_of_them.places, utilities, all_of_them.X, all_of_them.names)
        return [exact.part(order)]

    def _drop(self) -> None:
        """Raise the bar to the last that is wanted, and drop what lies below it."""
        joined = ScoredRows.joined(self._kept)
        last = float(np.partition(joined.utilities, -self.top)[-self.top])
        size = max(abs(last), 1.0) if self._is_signed else abs(last)
        self.bar = max(self.bar, last - self.slack * size)
        self._kept = [joined.part(np.flatnonzero(joined.utilities >= self.bar))]


@dataclass
class ScanCounts:
    """The result of a scan: its top-k, and how many rows were ranked, computed and read."""

    top_k: TopK
    rows: int = 0
    judged: int = 0
    read: int = 0

    def add(self, done: Done) -> None:
        """Count some rows."""
        rows, judged, read = done
        self.rows, self.judged, self.read = self.rows + rows, self.judged + judged, self.read + read
