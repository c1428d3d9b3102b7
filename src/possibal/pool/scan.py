"""One scan of a pool of any size, by threads of this machine or by the workers of a cluster.

PoolScan(X, ...).run(TopKQuery(row_filter, top)) -> ScanCounts
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
    """A pool and how it is scanned; see :func:`possibal.pool.rank`."""

    X: object
    expected: RowFormat
    excluded: Places
    threads: int
    progress: Callable[[int, int | None], None] | None = None
    client: Any = None

    def run(self, query: TopKQuery) -> ScanCounts:
        """All available rows offered to a top-k."""
        X = self.X
        if self.client is not None or hasattr(X, "__dask_graph__"):
            from possibal.pool.dask_backend import WorkerTask, blocks, scan_on_cluster

            task = WorkerTask(query, self.excluded, self.expected)
            if (counts := scan_on_cluster(self.client, task, X, self.progress)) is not None:
                return counts
            X = blocks(X)
        return self._here(X, query)

    def _here(self, X: object, query: TopKQuery) -> ScanCounts:
        """The same on this machine, by threads."""
        source, counts = rows_of(X, self.expected), ScanCounts(query.new_top_k())

        def count(done: Done) -> None:
            """Count a part, and report progress."""
            counts.add(done)
            if self.progress is not None:
                self.progress(counts.read, source.size)

        with one_thread(), ThreadPoolExecutor(self.threads) as workers:
            running = deque[Future[Done]]()
            try:
                for part in source.parts():
                    running.append(workers.submit(query.scan, part, counts.top_k, self.excluded))
                    if len(running) > 2 * self.threads:
                        count(running.popleft().result())
                while running:
                    count(running.popleft().result())
            finally:
                for one in running:
                    one.cancel()
        return counts
