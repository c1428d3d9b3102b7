"""Distributed top-k on a Dask cluster: workers send back the best rows of each part of a pool.

    scan_pool(client, task, X) -> ScanCounts

What workers are lost with is worked out again by others, whatever it was: the WorkerTask is the
result of a task too, for what is merely scattered is gone with the last worker that has it.
"""

import platform
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from logging import CRITICAL
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

import numpy as np

from possibal.arrays import Places
from possibal.errors import MissingPackageError
from possibal.pool.pruning import TopKQuery
from possibal.pool.reader import CHUNK, Part, RowFormat, row_source
from possibal.pool.top_k import Done, ScanCounts, ScoredRows
from possibal.processes import interrupts_ignored

Dask: TypeAlias = Any
"""What belongs to Dask, which need not be there."""
Progress: TypeAlias = Callable[[int, int | None], None]

AHEAD = 4
"""Parts that each thread of a cluster has in store."""
PATIENCE = 10
"""Seconds to wait for a scheduler and its first worker."""
PULSE = 1.0
"""Seconds after which a cluster that says nothing is asked for its workers."""
RETRIES = 2
"""Times that a part is read again where that failed."""
SENT = 2**23
"""Bytes of a part that is sent along, at most."""
WAIT = 30.0
"""Seconds without any worker after which no more are expected."""


# ---------------------------------------------------------------- what workers do
@dataclass(frozen=True, eq=False)
class WorkerResult:
    """What a worker found in some rows: the best of them, and how many there were."""

    best: list[ScoredRows]
    done: Done


@dataclass(eq=False)
class WorkerTask:
    """Broadcast state: what every worker has to know, sent once.

    Attributes:
        aim: what is looked for. Each worker raises the bar of its own copy; it is true wherever
            it is read.
        aside: places that are left out, in order.
        expected: what rows hold.
    """

    aim: TopKQuery
    aside: Places
    expected: RowFormat

    def run(self, parts: Iterable[Part], bar: float = -np.inf) -> WorkerResult:
        """The best rows of some parts; none below a bar is wanted."""
        self.aim.bar = max(self.aim.bar, bar)
        seen = ScanCounts(self.aim.new_top_k())
        for part in parts:
            seen.add(self.aim.scan(part, seen.top_k, self.aside))
        best = seen.top_k.candidates()
        self.aim.bar = max(self.aim.bar, seen.top_k.bar)
        return WorkerResult(best, (seen.rows, seen.judged, seen.read))


def of_part(task: WorkerTask, part: Part, bar: float = -np.inf) -> WorkerResult:
    """The best rows of a part, which a worker reads itself if a file holds it.

    Args:
        task: what to do.
        part: of the pool.
        bar: what the last row that is wanted is worth at least, by the parts read so far.
    """
    file = _file(part)
    if file is not None and not file.is_file():
        raise ValueError(
            f"X must be where every worker can read it; got no {str(file)!r} on "
            f"{platform.node()!r}. Put it into a folder they share, or rank without a cluster."
        )
    return task.run([part], bar)


def of_block(task: WorkerTask, block: Dask, start: int, within: str) -> WorkerResult:
    """The best rows of a block of a Dask collection, the first of which has this place."""
    parts = row_source(block, task.expected).parts() if len(block) else ()
    return task.run(
        replace(part, start=start + part.start, row=start + part.row, within=within)
        for part in parts
    )


def _file(part: Part) -> Path | None:
    """The file that a part is read from; None where it holds its rows."""
    source: object = part.load
    while isinstance(source, partial):
        source = source.args[0]
    return Path(source) if isinstance(source, str | Path) else None


# ---------------------------------------------------------------- the face
def scan_pool(
    client: Dask, task: WorkerTask, X: object, progress: Progress | None = None
) -> ScanCounts:
    """The rows of a pool that may be among the best, found by the workers of a cluster.

    Args:
        client: of the cluster.
        task: what to do.
        X: what :func:`possibal.pool.reader.row_source` takes, or a Dask array or data frame.
        progress: told how many rows were read, and how many there are if that is known.
    """
    tally = ScanCounts(task.aim.new_top_k())
    with _flight(client) as flight, _flight(client) as kept:
        kept.append(_sent(client, task))
        if is_lazy(X):
            pool = _Blocks.of(X, task.expected)
            if len(task.aside) or task.aim.row_filter.by_place:
                pool = pool.counted(client)
            flight.extend(pool.sent(client, kept[0]))
            size, parts, moved = pool.size, iter(()), pool.starts is None
        else:
            source = row_source(X, task.expected, chunk=_chunk(X, task.expected))
            size, parts, moved = source.size, source.parts(), False
        calls = (partial(client.submit, of_part, kept[0], part, tally.top_k.bar) for part in parts)
        for found in _in_order(client, flight, calls):
            for one in found.best:
                tally.top_k.offer(replace(one, places=one.places + moved * tally.read))
            tally.add(found.done)
            if progress is not None:
                progress(tally.read, size)
    if not tally.read:
        list(row_source((), task.expected).parts())  # refuses a pool without rows
    return tally


def scan_on_cluster(
    client: Dask, task: WorkerTask, X: object, progress: Progress | None = None
) -> ScanCounts | None:
    """What :func:`rank` finds on the cluster of :func:`connected`; None if there is no cluster."""
    if client is None and not is_lazy(X):
        return None
    with connected(client) as there:
        return None if there is None else scan_pool(there, task, X, progress)


def is_lazy(X: object) -> bool:
    """Whether rows are those of a Dask collection."""
    dask = sys.modules.get("dask")
    return dask is not None and dask.is_dask_collection(X)


def blocks(X: Dask) -> Dask:
    """The blocks of a Dask collection, worked out one by one on this machine; else X as it is."""
    return (block.compute() for block in _delayed(X)) if is_lazy(X) else X


@contextmanager
def connected(client: Dask) -> Generator[Dask]:
    """The client of a cluster.

    Args:
        client: a client; the address of a scheduler, which is left again in the end; or None for
            the client that Dask uses by itself, which may be None too.
    """
    if isinstance(client, str):
        with connect(client) as opened:
            yield opened
        return
    try:
        distributed = _distributed()
    except MissingPackageError:
        if client is not None:
            raise
        yield None
        return
    if client is None:
        with suppress(ValueError):  # there is none
            client = distributed.default_client()
        yield client
    elif isinstance(client, distributed.Client) and not client.asynchronous:
        yield client
    else:
        raise TypeError(
            "client must be a Dask client that is not asynchronous, or the address of a "
            f"scheduler; got {type(client).__name__}. Use distributed.Client(address)."
        )


def connect(address: str, argument: str = "client", *, workers: int = 0) -> Dask:
    """The client of a scheduler, or one sentence on what is wrong.

    Args:
        address: of the scheduler.
        argument: what the user calls the address.
        workers: to wait for.
    """
    distributed, client = _distributed(), None
    try:
        # Seen first, for a client that is half made complains of it again when it is gone.
        if not address.startswith("inproc://"):  # which has no port
            there = distributed.comm.normalize_address(address)
            distributed.comm.get_address_host_port(there, strict=True)
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        if workers:
            client.wait_for_workers(workers, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:  # TypeError: tls without certificates
        if client is not None:
            client.close()
        raise ValueError(
            f"{argument} must be the address of a scheduler with workers; got {address!r} "
            f"({error}). Start them with: dask scheduler, dask worker."
        ) from None
    return client


def local_client(workers: int | None = None) -> Dask:
    """The client of a cluster that is started on this machine, by default one worker per core."""
    # Any port: none at all would mean 8787 all the same, and a warning where that is taken.
    port = "127.0.0.1:0"
    given = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": port}
    with interrupts_ignored():
        return _distributed().Client(**given, silence_logs=CRITICAL, set_as_default=False)


def _distributed() -> Dask:
    """Dask's own module, or one sentence on how to get it."""
    try:
        import distributed
    except ImportError:
        raise MissingPackageError(
            "A cluster needs Dask, which is not installed: run pip install 'possibal[dask]'."
        ) from None
    return distributed


# ---------------------------------------------------------------- to the workers and back
@contextmanager
def _flight(client: Dask) -> Generator[deque[Dask]]:
    """Tasks that workers are at; none of them outlives this."""
    futures = deque[Dask]()
    try:
        yield futures
    finally:
        if client.status != "closed":
            client.cancel(list(futures))


def _sent(client: Dask, task: WorkerTask) -> Dask:
    """The task as the result of a task of Dask's, from which workers have it from each other."""
    import dask.config

    # A model of many labels is large, and there is no smaller way to say it.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(copy, task, pure=False)


def _chunk(X: object, expected: RowFormat) -> int:
    """Rows of a part: fewer where they may have to be sent."""
    if isinstance(X, str | PathLike):
        return CHUNK
    return min(CHUNK, max(1, SENT // (np.dtype(float).itemsize * expected.width)))


def _in_order(
    client: Dask, flight: deque[Dask], calls: Iterable[Callable[..., Dask]]
) -> Iterator[Dask]:
    """What tasks give, in their order, so that errors are those of reading one after the other.

    Args:
        client: of the cluster.
        flight: tasks that were handed out; holds those of calls too until they are done.
        calls: hand out one more task each, a few ahead of the workers.
    """
    for call in calls:
        flight.append(call(pure=False, retries=RETRIES))
        while len(flight) > AHEAD * max(1, sum(_threads(client).values())):
            yield _result(client, flight[0])
            flight.popleft()
    while flight:
        yield _result(client, flight[0])
        flight.popleft()


def _result(client: Dask, future: Dask) -> Any:  # noqa: ANN401 - whatever a task gives
    """What a task gives, or one sentence if there is nobody left to work on it."""
    killed, last = _distributed().KilledWorker, monotonic()
    try:
        while (given := _given(future)) is None:
            if _threads(client):
                last = monotonic()
            elif monotonic() - last >= WAIT:
                remedy = "Start some, or rank without --dask."
                raise _lost("have workers", f"none for {WAIT:g} s", remedy)
    except killed:
        got, remedy = "several that died of the same one", "Give them more memory."
        raise _lost("have workers that can hold a part", got, remedy) from None
    except CancelledError:
        got, remedy = "tasks that were cancelled", "Start it anew."
        raise _lost("stay up until all is read", got, remedy) from None
    return given[0]


def _given(future: Dask) -> tuple[Any] | None:
    """What a task gives; None if that is not there after a while, or is lost on the way."""
    try:
        if future.exception(timeout=PULSE) is None:
            return (future.result(timeout=WAIT),)
    except TimeoutError:
        return None
    return (future.result(),)  # raises


def _threads(client: Dask) -> dict[str, int]:
    """How many threads each worker has."""
    try:
        return client.nthreads()
    except (OSError, AttributeError):  # AttributeError: a client that was closed
        got, remedy = "no answer from its scheduler", "Start it anew."
        raise _lost("stay up until all is read", got, remedy) from None


def _lost(rule: str, got: str, remedy: str) -> ValueError:
    """The sentence on a cluster that cannot go on."""
    return ValueError(f"cluster must {rule}; got {got}. {remedy}")


# ---------------------------------------------------------------- Dask's own collections
@dataclass(frozen=True, eq=False)
class _Blocks:
    """The blocks of a Dask collection, with as many rows each; None where only reading tells.

    They are handed out all at once, since they may share what they are worked out from; it is
    Dask that sees to how many of them are held.
    """

    delayed: Sequence[Dask]
    sizes: tuple[int, ...] | None = None

    @classmethod
    def of(cls, X: Dask, expected: RowFormat) -> "_Blocks":
        """The blocks of an array or a data frame."""
        delayed = _delayed(X)
        if not hasattr(X, "chunks"):
            names = [name for name in (*(expected.columns or ()), expected.id) if name is not None]
            # What is not there is named by the workers.
            is_there = expected.columns and {*names} <= {*X.columns}
            return cls(_delayed(X[[*dict.fromkeys(names)]]) if is_there else delayed)
        one = np.broadcast_to(np.zeros((), X.dtype), (1, *X.shape[1:]))
        row_source(one, expected)  # refuses what cannot be right
        return cls(delayed, None if np.isnan(X.chunks[0]).any() else X.chunks[0])

    @property
    def size(self) -> int | None:
        """The rows of all of them."""
        return None if self.sizes is None else sum(self.sizes)

    @property
    def starts(self) -> list[int] | None:
        """The places of their first rows."""
        return None if self.sizes is None else np.cumsum([0, *self.sizes])[:-1].tolist()

    def counted(self, client: Dask) -> "_Blocks":
        """The same, with their sizes, for which they are worked out if need be."""
        if self.sizes is not None:
            return self
        from dask.delayed import delayed

        count = delayed(len, pure=False)
        with _flight(client) as flight:
            flight.extend(client.compute([count(block) for block in self.delayed]))
            return replace(self, sizes=tuple(_in_order(client, flight, ())))

    def sent(self, client: Dask, task: Dask) -> list[Dask]:
        """Tasks that find the best rows of each."""
        from dask.delayed import delayed

        sift = delayed(of_block, pure=False)
        if self.starts is None:
            where = [(0, f" in block {number}") for number in range(len(self.delayed))]
        else:
            where = [(start, "") for start in self.starts]
        tasks = [sift(task, one, *at) for one, at in zip(self.delayed, where, strict=True)]
        return client.compute(tasks, retries=RETRIES)


def _delayed(X: Dask) -> list[Dask]:
    """The blocks of a Dask array or data frame, each with all columns, to be worked out."""
    kind = type(X)  # one that is merely delayed seems to have everything
    if hasattr(kind, "rechunk"):
        return X.rechunk(dict.fromkeys(range(1, X.ndim), -1)).to_delayed().ravel().tolist()
    if hasattr(kind, "to_delayed") and hasattr(X, "columns"):
        return X.to_delayed()
    got, remedy = kind.__name__, "Use X.to_dataframe() or dask.array.from_delayed."
    raise TypeError(f"X must be an array or a data frame if it is Dask's; got {got}. {remedy}")
