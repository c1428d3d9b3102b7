"""Single-writer thread with group commit: a savepoint per job; callers resume after COMMIT.

queue.run(job)       job(connection) -> whatever it returns, once it is durable
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, TypeAlias, TypeVar

from sqlalchemy import Connection, Engine

from possibal.errors import UnsavedError

MAX_GROUP = 256
"""Jobs that share a commit."""

MAX_WAITING = 64
"""Jobs that may wait at once. The server has more threads than that, so that some are always left
for what writes nothing."""

Result = TypeVar("Result")
Job: TypeAlias = Callable[[Connection], Result]
"""Something to write, inside a transaction."""


@dataclass(frozen=True, eq=False)
class QueuedJob(Generic[Result]):
    """A job, and the future of whoever waits for it."""

    job: Job[Result]
    done: "Future[Result]"


class WriteQueue:
    """Owns the only connection that writes, and commits the jobs that wait as one group.

    Each job has a savepoint of its own, so that one that fails takes nothing back from the others.
    Where the commit itself fails, or the database gave up the transaction before it, all of them
    fail, and nothing was written.
    """

    def __init__(self, engine: Engine) -> None:
        """Start the thread."""
        self._engine = engine
        self._is_open, self._lock, self._waiting = True, Lock(), 0
        self._queue = SimpleQueue[QueuedJob[Any] | None]()
        self._thread = Thread(target=self._work, name="possibal-writer", daemon=True)
        self._thread.start()

    def run(self, job: Job[Result]) -> Result:
        """What the job returns, once it is durable; where too many wait, it is refused at once."""
        done = Future[Result]()
        with self._lock:  # nobody may join the queue behind the end of it
            if not self._is_open:
                raise RuntimeError(
                    "the writer must be open; got one that was closed. Open the store."
                )
            if self._waiting >= MAX_WAITING:
                raise UnsavedError(
                    f"db must take what is written; got {self._waiting} others that wait for it. "
                    "Nothing of it was kept: try again."
                )
            self._waiting += 1
            self._queue.put(QueuedJob(job, done))
        try:
            return done.result()
        finally:
            with self._lock:
                self._waiting -= 1

    def close(self) -> None:
        """Write what waits, and stop."""
        with self._lock:
            self._is_open = False
            self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        """Commit group after group until the queue is closed."""
        is_open = True
        while is_open:
            taken = [self._queue.get()]
            while len(taken) < MAX_GROUP and not self._queue.empty():
                taken.append(self._queue.get())
            is_open = None not in taken
            self._write([waiting for waiting in taken if waiting is not None])

    def _write(self, batch: list[QueuedJob[Any]]) -> None:
        """Group commit: run jobs in one transaction, then resolve their futures."""
        if not batch:
            return
        outcomes = list[Callable[[], None]]()
        try:
            with self._engine.begin() as connection:
                outcomes.extend(_run_in_savepoint(connection, waiting) for waiting in batch)
        except BaseException as error:  # noqa: BLE001 - whoever waits must hear of it
            outcomes = [_failure(waiting, error) for waiting in batch]
        for resolve in outcomes:
            resolve()


def _run_in_savepoint(connection: Connection, waiting: QueuedJob[Any]) -> Callable[[], None]:
    """Run a job in a savepoint; its outcome is to be delivered after the commit.

    Raises where the connection or the savepoint is gone: the database took all of them back.
    """
    savepoint = connection.begin_nested()
    try:
        result = waiting.job(connection)
    except Exception as error:
        if connection.invalidated:
            raise
        savepoint.rollback()
        return _failure(waiting, error)
    savepoint.commit()
    return lambda: waiting.done.set_result(result)


def _failure(waiting: QueuedJob[Any], error: BaseException) -> Callable[[], None]:
    """That a job failed."""
    return lambda: waiting.done.set_exception(error)
