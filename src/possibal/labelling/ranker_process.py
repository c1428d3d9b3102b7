"""Ranking in a process of its own, so that no answer ever waits for a fit.

with Worker(X, strategy, seed) as worker: worker.rank(task)
"""

import os
import signal
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, cast

from threadpoolctl import threadpool_limits

from possibal.arrays import Matrix, Places
from possibal.labelling.ranking import Ranking, RankingTask

if TYPE_CHECKING:  # scikit-learn takes a second to import, which only the process needs
    from multiprocessing.context import SpawnProcess

    from possibal.labelling.evaluation import MeasuredSaving

NICENESS = 5
"""How much the process gives way to the one that people wait for."""
TRIES = 2
"""How often something is begun before the process is said to die of it."""
SPAWN = get_context("spawn")
"""A fresh process: a copy of one with threads may hang."""


class RankerProcess:
    """A process that ranks, one thing after the other; it is started again if it died."""

    def __init__(self, X: Matrix, strategy: str, seed: int) -> None:
        """Keep what the process gets once, when it is started by the first thing to do."""
        self._given, self._turn, self._is_closed = (X, strategy, seed), Lock(), False
        self._line: Connection | None = None
        self._process: SpawnProcess | None = None

    @property
    def pid(self) -> int | None:
        """The process's number, once there is one."""
        return self._process and self._process.pid

    def rank(self, task: RankingTask) -> Ranking:
        """As :meth:`possibal.labelling.ranker.Bench.rank`."""
        return self._run("rank", task)

    def predicted(self, task: RankingTask, rows: Places) -> list[str] | None:
        """As :meth:`possibal.labelling.ranker.Bench.predicted`."""
        return self._run("predicted", task, rows)

    def measure(self, task: RankingTask) -> "MeasuredSaving | None":
        """As :meth:`possibal.labelling.ranker.Bench.measure`."""
        return self._run("measure", task)

    def close(self) -> None:
        """Stop the process, whatever it is at."""
        self._is_closed = True
        self._end()

    def __enter__(self) -> Self:
        """The worker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.close()

    def _run(self, verb: str, *arguments: Any) -> Any:  # noqa: ANN401 - what the bench returns
        """What the bench over there returns, or its error."""
        with self._turn:
            is_fine, result = self._told((verb, arguments))
        if is_fine:
            return result
        raise result

    def _told(self, wanted: tuple[str, tuple[Any, ...]]) -> tuple[bool, Any]:
        """What comes back over the line; where nobody is there, it is tried with a new process."""
        for _ in range(TRIES):
            with suppress(EOFError, OSError):
                line = self._line or self._started()
                line.send(wanted)
                return line.recv()
            if self._is_closed:
                raise RuntimeError("worker must be open; got one that was closed. Start another.")
            self._end()
        raise RuntimeError(
            f"worker must live; got a process that ended {TRIES} times at the same work. "
            "See whether memory is short, and try again."
        )

    def _started(self) -> Connection:
        """Start the process, and return the line to it."""
        if self._is_closed:
            raise EOFError
        line, there = cast("tuple[Connection, Connection]", SPAWN.Pipe())
        process = SPAWN.Process(target=_serve, args=(there,), daemon=True)
        process.start()
        there.close()
        self._line, self._process = line, process
        line.send(self._given)
        return line

    def _end(self) -> None:
        """End the process, and the line to it."""
        line, process = self._line, self._process
        self._line = self._process = None
        if process is not None:
            process.terminate()
            process.join()
        if line is not None:
            line.close()


def _serve(line: Connection) -> None:
    """Work over there until nobody is at the other end of the line; Ctrl-C is not for us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError):  # not every system knows of kindness
        os.nice(NICENESS)
    from possibal.labelling.ranker import (
        InProcessRanker,  # there alone: scikit-learn takes a second
    )

    bench = None
    with suppress(EOFError, OSError), threadpool_limits(1):
        given = line.recv()
        while True:
            verb, arguments = line.recv()
            try:
                bench = bench or InProcessRanker(*given)
                line.send((True, getattr(bench, verb)(*arguments)))
            except Exception as error:  # noqa: BLE001 - whoever asked must hear of it
                line.send((False, error))
