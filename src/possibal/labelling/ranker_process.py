"""Ranker in a spawned worker process at raised niceness, so that no answer ever waits for a fit.

with RankerProcess(X, strategy, seed) as ranker: ranker.rank(task)
"""

import os
import signal
import time
from collections import Counter, defaultdict
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event, Lock, Timer
from typing import TYPE_CHECKING, Any, Self, cast

from threadpoolctl import threadpool_limits

from possibal.arrays import Matrix, Places
from possibal.labelling.ranking import Ranking, RankingTask
from possibal.numerics.geometry import PLAIN, RowGeometry

if TYPE_CHECKING:  # scikit-learn takes a second to import, which only the process needs
    from multiprocessing.context import SpawnProcess

    from possibal.labelling.evaluation import RandomCurve

NICENESS = 10
"""Added to the worker's scheduling priority, so that it yields to the server, and several workers
of one machine to all servers on it."""
TRIES = 2
"""How often something is begun before the process is said to die of it."""
LEAST, TIMES = 600.0, 4.0
"""Seconds that any work may take, for a ranking after very many labels takes minutes, and how many
times as long as the longest before."""
SPAWN = get_context("spawn")
"""A fresh process: a copy of one with threads may hang."""


class _LateError(Exception):
    """Work was not done in time."""


class RankerProcess:
    """Remote procedure calls over a pipe to one worker, which is started again if it died.

    Work has a deadline that grows with what the same kind of work took before, and each time that
    it was not done: a worker that hangs is replaced, and one that is slow has its time at last.
    """

    def __init__(self, X: Matrix, strategy: str, seed: int, geometry: RowGeometry = PLAIN) -> None:
        """Keep what the process gets once, when it is started by the first thing to do."""
        self._given, self._lock, self._is_closed = (X, strategy, seed, geometry), Lock(), False
        self._longest = defaultdict[str, float](float)  # seconds that each kind of work took
        self._late = Counter[str]()  # how often, since it was last done in time
        self._pipe: Connection | None = None
        self._process: SpawnProcess | None = None

    @property
    def pid(self) -> int | None:
        """The process's number, once there is one."""
        return self._process and self._process.pid

    def rank(self, task: RankingTask) -> Ranking:
        """As :meth:`possibal.labelling.ranker.InProcessRanker.rank`."""
        return self._run("rank", task)

    def rank_all(self, task: RankingTask) -> Ranking:
        """As :meth:`possibal.labelling.ranker.InProcessRanker.rank_all`."""
        return self._run("rank_all", task)

    def predict(self, task: RankingTask, rows: Places) -> list[str] | None:
        """As :meth:`possibal.labelling.ranker.InProcessRanker.predict`."""
        return self._run("predict", task, rows)

    def measure(self, task: RankingTask) -> "RandomCurve | None":
        """As :meth:`possibal.labelling.ranker.InProcessRanker.measure`."""
        return self._run("measure", task)

    def replace_rows(self, X: Matrix) -> None:
        """Rank other rows from now on, in a new process; what is being ranked is ranked anew."""
        self._given = (X, *self._given[1:])
        self._end()

    def close(self) -> None:
        """Stop the process, whatever it is at."""
        self._is_closed = True
        self._end()

    def __enter__(self) -> Self:
        """The ranker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.close()

    def _run(self, verb: str, *arguments: Any) -> Any:  # noqa: ANN401 - what the ranker returns
        """What the ranker over there returns, or its error."""
        with self._lock:
            late, seconds = Event(), self._deadline(verb)
            watchdog = Timer(seconds, self._replace, (late,))
            watchdog.daemon = True
            began = time.monotonic()
            watchdog.start()
            try:
                is_fine, result = self._call((verb, arguments), late)
            except _LateError:
                self._late[verb] += 1
                raise RuntimeError(
                    f"worker must be done within {seconds:.0f} s; got none that was. It was "
                    "replaced, and has longer next time."
                ) from None
            finally:
                watchdog.cancel()
            self._late[verb] = 0
            self._longest[verb] = max(self._longest[verb], time.monotonic() - began)
        if is_fine:
            return result
        raise result

    def _deadline(self, verb: str) -> float:
        """The seconds that a kind of work has now."""
        return max(LEAST, TIMES * self._longest[verb]) * TIMES ** self._late[verb]

    def _replace(self, late: Event) -> None:
        """End a worker whose time is over: whoever waits for it hears that the pipe was closed."""
        late.set()
        process = self._process
        if process is not None:
            process.kill()

    def _call(self, wanted: tuple[str, tuple[Any, ...]], late: Event) -> tuple[bool, Any]:
        """What comes back through the pipe; where the worker died, it is tried with a new one."""
        for _ in range(TRIES):
            with suppress(EOFError, OSError):
                pipe = self._pipe or self._started()
                pipe.send(wanted)
                return pipe.recv()
            if self._is_closed:
                raise RuntimeError("worker must be open; got one that was closed. Start another.")
            self._end()
            if late.is_set():
                raise _LateError
        raise RuntimeError(
            f"worker must live; got a process that ended {TRIES} times at the same work. "
            "See whether memory is short, and try again."
        )

    def _started(self) -> Connection:
        """Start the process, and return the pipe to it."""
        if self._is_closed:
            raise EOFError
        pipe, there = cast("tuple[Connection, Connection]", SPAWN.Pipe())
        process = SPAWN.Process(target=_serve, args=(there,), daemon=True)
        process.start()
        there.close()
        self._pipe, self._process = pipe, process
        pipe.send(self._given)
        return pipe

    def _end(self) -> None:
        """End the process, and the pipe to it."""
        pipe, process = self._pipe, self._process
        self._pipe = self._process = None
        if process is not None:
            process.kill()  # one that is stopped hears of nothing else
            process.join()
        if pipe is not None:
            pipe.close()


def _serve(pipe: Connection) -> None:
    """Serve calls until the pipe is closed; Ctrl-C is not for the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError):  # not every system knows of niceness
        os.nice(NICENESS)
    from possibal.labelling.ranker import InProcessRanker  # there alone: it loads scikit-learn

    ranker = None
    with suppress(EOFError, OSError), threadpool_limits(1):
        given = pipe.recv()
        while True:
            verb, arguments = pipe.recv()
            try:
                ranker = ranker or InProcessRanker(*given)
                pipe.send((True, getattr(ranker, verb)(*arguments)))
            except Exception as error:  # noqa: BLE001 - whoever asked must hear of it
                pipe.send((False, error))
