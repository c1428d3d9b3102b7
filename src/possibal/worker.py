"""Ranking in a process of its own, so that no answer ever waits for a fit.

with Worker(X, strategy, seed) as worker: worker.rank(task)
"""

import os
import signal
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Self

from threadpoolctl import threadpool_limits

from possibal.arrays import Matrix, Places
from possibal.checks import Saving
from possibal.ranking import Bench, Ranking, Task

KINDNESS = 5
"""How much the process gives way to the one that people wait for."""
SPAWN = get_context("spawn")
"""A fresh process: a copy of one with threads may hang."""


class Worker:
    """A process that ranks, one thing after the other; it is started again if it died."""

    def __init__(self, X: Matrix, strategy: str, seed: int) -> None:
        """Start the process; it gets the rows once."""
        self._given = X, strategy, seed
        self._start()

    def rank(self, task: Task) -> Ranking:
        """As :meth:`possibal.ranking.Bench.rank`."""
        return self._run("rank", task)

    def predicted(self, task: Task, rows: Places) -> list[str] | None:
        """As :meth:`possibal.ranking.Bench.predicted`."""
        return self._run("predicted", task, rows)

    def measure(self, task: Task) -> Saving | None:
        """As :meth:`possibal.ranking.Bench.measure`."""
        return self._run("measure", task)

    def close(self) -> None:
        """Stop the process, whatever it is at."""
        self._process.terminate()
        self._process.join()
        self._here.close()

    def __enter__(self) -> Self:
        """The worker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.close()

    def _run(self, verb: str, *arguments: Any) -> Any:  # noqa: ANN401 - what the bench returns
        """What the bench over there returns, or its error."""
        if not self._process.is_alive():
            self._start()
        self._here.send((verb, arguments))
        is_fine, result = self._here.recv()
        if is_fine:
            return result
        raise result

    def _start(self) -> None:
        """Start the process, with a line to it."""
        self._here, there = SPAWN.Pipe()
        self._process = SPAWN.Process(target=_serve, args=(there, *self._given), daemon=True)
        self._process.start()
        there.close()


def _serve(line: Connection, X: Matrix, strategy: str, seed: int) -> None:
    """Work over there until nobody is at the other end of the line; Ctrl-C is not for us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(KINDNESS)
    bench = None
    with suppress(EOFError, OSError), threadpool_limits(1):
        while True:
            verb, arguments = line.recv()
            try:
                bench = bench or Bench(X, strategy, seed)
                line.send((True, getattr(bench, verb)(*arguments)))
            except Exception as error:  # noqa: BLE001 - whoever asked must hear of it
                line.send((False, error))
