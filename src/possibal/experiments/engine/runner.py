"""Embarrassingly parallel runner: batches of runs over processes or a Dask cluster, in order.

    jobs -> tasks -> batches of runs --processes or cluster--> runs -> results files, in order

Batches come back in the order in which they were handed out, whoever worked on them, so that a
results file has the same bytes for any number of workers.
"""

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, cast

from possibal.acquisition.strategy import Strategy
from possibal.experiments.datasets import Dataset
from possibal.experiments.engine.model_runs import model_runs
from possibal.experiments.engine.results_file import Provenance, ResultsFile, opened, peek
from possibal.experiments.engine.simulation import (
    Names,
    SimulationTask,
    fit_in_advance,
    is_binary,
    simulate,
)
from possibal.experiments.recipes import FixedKernel
from possibal.experiments.results import Results, Run
from possibal.experiments.spec import PAPER, Experiment
from possibal.experiments.splits import check
from possibal.pool.dask_backend import connect, local_client
from possibal.processes import interrupts_ignored

Call: TypeAlias = tuple[Any, ...]
"""The arguments of a call."""
Execute: TypeAlias = Callable[[Callable[..., Any], Iterable[Call]], Iterator[Any]]
"""Calls of a function, by whichever workers; what they return comes in order."""
Work: TypeAlias = Callable[[Names], list[Run]]
"""Simulates runs, each named by its strategy and number."""

TOGETHER, APART = 60, 24
"""Runs in a batch: with hyperparameters fixed, and with hyperparameters to be fitted."""
LOCAL = "local"
"""The address of a cluster that is started on this machine."""
SUBMITTED_AHEAD = 4
"""Batches that each worker of a cluster has in store."""


@dataclass(frozen=True, eq=False)
class ExperimentJob:
    """An experiment to run: its setting, its data and its strategies.

    Attributes:
        experiment: what to run.
        data: the set.
        strategies: by name.
        source: of a user's own strategy, if that is the one; it gets a results file of its own.
        model: a classifier that learns in place of the usual one.
    """

    experiment: Experiment
    data: Dataset
    strategies: Mapping[str, Strategy]
    source: str | None = None
    model: Any = None

    @property
    def provenance(self) -> Provenance:
        """What decides its rows."""
        by_model = "" if self.model is None else f"by {self.model!r}"
        source = self.source if self.model is None else f"{self.source or ''}{by_model}"
        return Provenance(self.experiment, self.data, source)

    @property
    def file(self) -> str:
        """The name of its results file."""
        own = re.sub(r"\W", "-", "-".join(self.strategies)) if self.source is not None else ""
        by = "" if self.model is None else f"-by-{type(self.model).__name__}"
        return f"{self.experiment.name}{own and '-'}{own}{by}.csv"

    @property
    def run_count(self) -> int:
        """How many runs it has, over all strategies."""
        return len(self.strategies) * self.experiment.sizes.runs

    @property
    def kernel(self) -> FixedKernel | None:
        """The kernel of its recipe, if that fixes it."""
        return self.experiment.recipe.kernel(len(self.data.labels))

    @property
    def leaks(self) -> bool:
        """Whether hyperparameters are known in advance, fitted to all labels or fixed."""
        fitted = self.experiment.hyperparameters == PAPER and is_binary(self.data)
        return fitted or self.kernel is not None


@dataclass(frozen=True)
class RunProgress:
    """How far an experiment is.

    Attributes:
        experiment: which.
        runs: finished just now.
        seconds: spent on them, by one worker.
    """

    experiment: Experiment
    runs: int
    seconds: float


@dataclass(frozen=True, eq=False)
class StartedJob:
    """An experiment with its results file."""

    job: ExperimentJob
    results_file: ResultsFile

    @property
    def missing(self) -> list[tuple[str, int]]:
        """The runs that the results file lacks, run by run."""
        runs = range(self.job.experiment.sizes.runs)
        names = [(strategy, run) for run in runs for strategy in self.job.strategies]
        return [name for name in names if name not in self.results_file.runs]

    def batches(self) -> Iterator[Names]:
        """The runs that the results file lacks, some at a time."""
        names, size = self.missing, TOGETHER if self.job.leaks else APART
        for start in range(0, len(names), size):
            yield names[start : start + size]

    @property
    def task(self) -> SimulationTask:
        """What the workers need."""
        job, theta = self.job, self.results_file.theta
        return SimulationTask(job.experiment, job.data, job.strategies, theta)

    @property
    def work(self) -> Work:
        """What the workers do."""
        job = self.job
        if job.model is not None:
            return partial(model_runs, job.experiment, job.data, job.strategies, job.model)
        return partial(simulate, self.task)

    @property
    def results(self) -> Results:
        """The results of an experiment that is complete."""
        experiment = self.job.experiment
        runs = self.results_file.chosen(self.job.strategies, experiment.sizes.runs)
        return Results.of(experiment, self.task.start, runs)


def begin(jobs: Sequence[ExperimentJob], folder: Path, execute: Execute) -> list[StartedJob]:
    """Jobs with their results files, begun or resumed; what cannot be run is refused.

    Args:
        jobs: the experiments.
        folder: where their results files are.
        execute: who works.
    """
    for job in jobs:
        check(job.experiment, job.data)
    theta = _fitted_in_advance(jobs, folder, execute)
    return [
        StartedJob(job, opened(folder / job.file, job.provenance, theta.get(job.experiment.name)))
        for job in jobs
    ]


def run(
    started: Sequence[StartedJob], execute: Execute, watch: Callable[[RunProgress], None]
) -> list[Results]:
    """The results of experiments; what their results files have is not worked out again.

    Args:
        started: the experiments.
        execute: who works.
        watch: is told of what was there already, and then of every batch.
    """
    for one in started:
        known = one.job.run_count - len(one.missing)
        watch(RunProgress(one.job.experiment, known, 0.0))
    work = [(one, names) for one in started for names in one.batches()]
    done = execute(_timed, ((one.work, names) for one, names in work))
    for (one, _), (runs, seconds) in zip(work, done, strict=True):
        one.results_file.append(runs)
        watch(RunProgress(one.job.experiment, len(runs), seconds))
    return [one.results for one in started]


def _fitted_in_advance(
    jobs: Sequence[ExperimentJob], folder: Path, execute: Execute
) -> dict[str, tuple[float, float]]:
    """Hyperparameters of experiments that have no results file yet and need them in advance."""
    new = {j.experiment.name: j for j in jobs if j.leaks and peek(folder / j.file) is None}
    found = execute(
        fit_in_advance, ((one.data, one.experiment.seed, one.kernel) for one in new.values())
    )
    return dict(zip(new, found, strict=True))


def _timed(work: Work, names: Names) -> tuple[list[Run], float]:
    """Runs, and the seconds they took."""
    begun = perf_counter()
    runs = work(names)
    return runs, perf_counter() - begun


# ---------------------------------------------------------------- who works


@contextmanager
def cores(jobs: int | None = None) -> Generator[Execute]:
    """Processes of this machine, one per core if their number is left out."""
    import joblib

    workers = jobs or joblib.cpu_count()

    def execute(function: Callable[..., Any], calls: Iterable[Call]) -> Iterator[Any]:
        parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
        with interrupts_ignored():
            made = parallel(joblib.delayed(function)(*call) for call in calls)
        return cast("Iterator[Any]", made)

    yield execute


@contextmanager
def cluster(address: str, jobs: int | None = None) -> Generator[Execute]:
    """The workers of a Dask cluster, or of one started on this machine for "local"."""
    client = local_client(jobs) if address == LOCAL else connect(address, "dask", workers=1)

    def execute(function: Callable[..., Any], calls: Iterable[Call]) -> Iterator[Any]:
        ahead = SUBMITTED_AHEAD * max(1, sum(client.nthreads().values()))
        waiting = deque[Any]()
        for call in calls:
            waiting.append(client.submit(function, *call, pure=False))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    with client:
        yield execute
