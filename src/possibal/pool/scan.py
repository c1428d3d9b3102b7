"""A pool of any size, read once, on this machine or on a cluster.

Reading(X, ...).through(Aim(judge, top)) -> Tally
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from possibal.arrays import Places
from possibal.numerics.linalg import one_thread
from possibal.pool.pruning import TopKQuery
from possibal.pool.reader import RowFormat
from possibal.pool.reader import row_source as rows_of
from possibal.pool.top_k import Done, ScanCounts


@dataclass(frozen=True, eq=False)
class PoolScan:
    """How a pool is read; see :func:`possibal.pool.rank`."""

    X: object
    expected: RowFormat
    excluded: Places
    threads: int
    progress: Callable[[int, int | None], None] | None = None
    client: Any = None

    def run(self, aim: TopKQuery) -> ScanCounts:
        """All rows past a judge, into a top_k."""
        X = self.X
        if self.client is not None or hasattr(X, "__dask_graph__"):
            from possibal.pool.dask_backend import WorkerTask, blocks, scan_on_cluster

            errand = WorkerTask(aim, self.excluded, self.expected)
            if (seen := scan_on_cluster(self.client, errand, X, self.progress)) is not None:
                return seen
            X = blocks(X)
        return self._here(X, aim)

    def _here(self, X: object, aim: TopKQuery) -> ScanCounts:
        """The same on this machine, by threads."""
        source, seen = rows_of(X, self.expected), ScanCounts(aim.new_top_k())

        def count(done: Done) -> None:
            """Count a part, and tell."""
            seen.add(done)
            if self.progress is not None:
                self.progress(seen.read, source.size)

        with one_thread(), ThreadPoolExecutor(self.threads) as workers:
            running = deque[Future[Done]]()
            try:
                for part in source.parts():
                    running.append(workers.submit(aim.scan, part, seen.top_k, self.excluded))
                    if len(running) > 2 * self.threads:
                        count(running.popleft().result())
                while running:
                    count(running.popleft().result())
            finally:
                for one in running:
                    one.cancel()
        return seen
