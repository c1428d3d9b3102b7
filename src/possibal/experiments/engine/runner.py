"""The runner: many experiments at once, over cores or a cluster, into ledgers.

    experiments -> tasks -> batches of trails --cores or cluster--> trails -> ledgers, in order

Batches come back in the order in which they were handed out, whoever worked on them, so that a
ledger has the same bytes for any number of workers.
"""

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from logging import CRITICAL
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, cast

from possibal.acquisition.strategy import Strategy
from possibal.errors import MissingPackageError
from possibal.experiments.datasets import Dataset
from possibal.experiments.engine.results_file import Provenance, ResultsFile, opened, peek
from possibal.experiments.engine.simulation import (
    Names,
    SimulationTask,
    fit_in_advance,
    is_binary,
    simulate,
)
from possibal.experiments.results import Results, Run
from possibal.experiments.spec import PAPER, Experiment
from possibal.experiments.splits import check
from possibal.processes import interrupts_ignored

Call: TypeAlias = tuple[Any, ...]
"""The arguments of a call."""
Executor: TypeAlias = Callable[[Callable[..., Any], Iterable[Call]], Iterator[Any]]
"""Calls of a function, by whichever workers; what they return comes in order."""
Work: TypeAlias = Callable[[Names], list[Run]]
"""The trails of strategies through runs."""

TOGETHER, APART = 60, 24
"""Trails in a batch: with hyperparameters fixed, and with hyperparameters to be fitted."""
PATIENCE = 10
"""Seconds to wait for a scheduler and its first worker."""
SUBMITTED_AHEAD = 4
"""Batches that each worker of a cluster has in store."""


@dataclass(frozen=True, eq=False)
class ExperimentJob:
    """An experiment that is wanted.

    Attributes:
        experiment: what to run.
        data: the set.
        strategies: by name.
        source: of a user's own strategy, if that is the one; it gets a ledger of its own.
    """

    experiment: Experiment
    data: Dataset
    strategies: Mapping[str, Strategy]
    source: str | None = None

    @property
    def making(self) -> Provenance:
        """What decides its rows."""
        return Provenance(self.experiment, self.data, self.source)

    @property
    def file(self) -> str:
        """The name of its ledger."""
        own = re.sub(r"\W", "-", "-".join(self.strategies)) if self.source is not None else ""
        return f"{self.experiment.name}{own and '-'}{own}.csv"

    @property
    def trails(self) -> int:
        """How many trails it has."""
        return len(self.strategies) * self.experiment.sizes.runs

    @property
    def leaks(self) -> bool:
        """Whether hyperparameters are fitted in advance, to all labels."""
        return self.experiment.hyperparameters == PAPER and is_binary(self.data)


@dataclass(frozen=True)
class RunProgress:
    """How far an experiment is.

    Attributes:
        experiment: which.
        trails: followed just now.
        seconds: spent on them, by one worker.
    """

    experiment: Experiment
    trails: int
    seconds: float


@dataclass(frozen=True, eq=False)
class StartedJob:
    """An experiment with its ledger."""

    wanted: ExperimentJob
    ledger: ResultsFile

    @property
    def missing(self) -> list[tuple[str, int]]:
        """The trails that the ledger lacks, run by run."""
        runs = range(self.wanted.experiment.sizes.runs)
        names = [(strategy, run) for run in runs for strategy in self.wanted.strategies]
        return [name for name in names if name not in self.ledger.trails]

    def batches(self) -> Iterator[Names]:
        """The trails that the ledger lacks, some at a time."""
        names, size = self.missing, TOGETHER if self.wanted.leaks else APART
        for start in range(0, len(names), size):
            yield names[start : start + size]

    @property
    def task(self) -> SimulationTask:
        """What the workers need."""
        one = self.wanted
        return SimulationTask(one.experiment, one.data, one.strategies, self.ledger.theta)

    @property
    def work(self) -> Work:
        """What the workers do."""
        return partial(simulate, self.task)

    @property
    def results(self) -> Results:
        """The results of an experiment that is complete."""
        experiment = self.wanted.experiment
        trails = self.ledger.chosen(self.wanted.strategies, experiment.sizes.runs)
        return Results.of(experiment, self.task.start, trails)


def begin(wanted: Sequence[ExperimentJob], folder: Path, spread: Executor) -> list[StartedJob]:
    """The experiments with their ledgers, begun or taken up; what cannot be run is refused.

    Args:
        wanted: the experiments.
        folder: where their ledgers are.
        spread: who works.
    """
    for one in wanted:
        check(one.experiment, one.data)
    theta = _fitted_in_advance(wanted, folder, spread)
    return [
        StartedJob(one, opened(folder / one.file, one.making, theta.get(one.experiment.name)))
        for one in wanted
    ]


def run(
    begun: Sequence[StartedJob], spread: Executor, watch: Callable[[RunProgress], None]
) -> list[Results]:
    """The results of experiments; what their ledgers have is not worked out again.

    Args:
        begun: the experiments.
        spread: who works.
        watch: is told of what was there already, and then of every batch.
    """
    for one in begun:
        known = one.wanted.trails - len(one.missing)
        watch(RunProgress(one.wanted.experiment, known, 0.0))
    work = [(one, names) for one in begun for names in one.batches()]
    done = spread(_timed, ((one.work, names) for one, names in work))
    for (one, _), (trails, seconds) in zip(work, done, strict=True):
        one.ledger.append(trails)
        watch(RunProgress(one.wanted.experiment, len(trails), seconds))
    return [one.results for one in begun]


def _fitted_in_advance(
    wanted: Sequence[ExperimentJob], folder: Path, spread: Executor
) -> dict[str, tuple[float, float]]:
    """Hyperparameters of experiments that have no ledger yet and want them in advance."""
    new = {w.experiment.name: w for w in wanted if w.leaks and peek(folder / w.file) is None}
    found = spread(fit_in_advance, ((one.data, one.experiment.seed) for one in new.values()))
    return dict(zip(new, found, strict=True))


def _timed(work: Work, names: Names) -> tuple[list[Run], float]:
    """Trails, and the seconds they took."""
    begun = perf_counter()
    trails = work(names)
    return trails, perf_counter() - begun


# ---------------------------------------------------------------- who works


@contextmanager
def cores(jobs: int | None = None) -> Generator[Executor]:
    """Processes of this machine, one per core if their number is left out."""
    joblib = import_module("joblib")
    workers = jobs or joblib.cpu_count()

    def spread(function: Callable[..., Any], calls: Iterable[Call]) -> Iterator[Any]:
        parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
        with interrupts_ignored():
            made = parallel(joblib.delayed(function)(*call) for call in calls)
        return cast("Iterator[Any]", made)

    yield spread


@contextmanager
def cluster(address: str, jobs: int | None = None) -> Generator[Executor]:
    """The workers of a Dask cluster, or of one started on this machine for "local"."""
    client = _client(address, jobs)

    def spread(function: Callable[..., Any], calls: Iterable[Call]) -> Iterator[Any]:
        ahead = SUBMITTED_AHEAD * max(1, sum(client.nthreads().values()))
        waiting = deque[Any]()
        for call in calls:
            waiting.append(client.submit(function, *call, pure=False))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    with client:
        yield spread


def _client(address: str, jobs: int | None) -> Any:  # noqa: ANN401 - Dask need not be there
    """The client of a cluster that has a worker, or one sentence on what is wrong."""
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise MissingPackageError(
            "A cluster needs Dask, which is not installed: run pip install 'possibal[dask]'."
        ) from None
    if address == "local":
        # Any port: none at all would mean 8787 all the same, and a warning where that is taken.
        port = "127.0.0.1:0"
        given = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": port}
        with interrupts_ignored():
            return distributed.Client(**given, silence_logs=CRITICAL)
    client = None
    try:
        # Seen first, for a client that is half made complains of it again when it is gone.
        if not address.startswith("inproc://"):  # which has no port
            there = distributed.comm.normalize_address(address)
            distributed.comm.get_address_host_port(there, strict=True)
        client = distributed.Client(address, timeout=PATIENCE)
        client.wait_for_workers(1, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:  # TypeError: tls without certificates
        if client is not None:
            client.close()
        raise ValueError(
            f"dask must be the address of a scheduler with workers, or local; got {address!r} "
            f"({error}). Start them with: dask scheduler, dask worker."
        ) from None
    return client
