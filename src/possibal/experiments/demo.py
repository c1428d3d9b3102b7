"""The demonstration: a preset paired comparison of one strategy with random on built-in data.

    DemoRequest -> ExperimentJob -> runs, simulated -> Demonstration: results, questions of run 1

Splits, runs and the labels saved are those of every other comparison.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from possibal.acquisition.pointwise import necessity
from possibal.acquisition.registry import find_strategy
from possibal.arguments import DEFAULT_STRATEGY, at_least, choice
from possibal.arrays import Places
from possibal.experiments.compare import RANDOM, comparison_job, sizes
from possibal.experiments.datasets import DRAWN, UCI, Citation, Dataset, Loader, load
from possibal.experiments.engine.runner import Execute, ExperimentJob
from possibal.experiments.engine.simulation import SimulationTask, simulate
from possibal.experiments.results import Results, Run
from possibal.experiments.spec import DEMO_QUESTIONS, RUNS
from possibal.experiments.splits import Split, random_stream, split
from possibal.numerics.linalg import one_thread

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from possibal.estimators.classifier import PossibilisticGPClassifier

MOST_RUNS = 10_000
"""More is taken for a slip of the keyboard: the intervals are narrow long before."""


# ---------------------------------------------------------------- data
def _moons(seed: int) -> Dataset:
    """Two interleaved half circles, with noise."""
    from sklearn.datasets import make_moons

    draw = int(random_stream(seed, 0, "data").integers(2**31))
    drawn: tuple[Any, Any] = make_moons(n_samples=600, noise=0.2, random_state=draw)
    source = Citation("scikit-learn, make_moons", DRAWN, None, None)
    return Dataset("moons", *drawn, ("upper", "lower"), ("x1", "x2"), source)


def _breast_cancer(_seed: int) -> Dataset:
    """Cell measurements of tumours: malignant or benign."""
    from sklearn.datasets import load_breast_cancer

    bunch: Any = load_breast_cancer()
    labels, features = tuple(map(str, bunch.target_names)), tuple(map(str, bunch.feature_names))
    source = Citation(
        "Wolberg, Mangasarian, Street and Street, Breast Cancer Wisconsin (Diagnostic); UCI, "
        "doi:10.24432/C5DW2B",
        UCI,
        None,
        None,
    )
    return Dataset("breast-cancer", bunch.data, bunch.target, labels, features, source)


DATA: Mapping[str, Loader] = MappingProxyType(
    {"moons": _moons, "breast-cancer": _breast_cancer, "wine": partial(load, "wine")}
)
"""The sets of spec.py, each with two labels."""


# ---------------------------------------------------------------- what to run
@dataclass(frozen=True)
class DemoRequest:
    """What to run; bad values are refused at once."""

    data: str = "moons"
    strategy: str = DEFAULT_STRATEGY
    questions: int = DEMO_QUESTIONS
    runs: int = RUNS
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what can be known before any data is read."""
        choice("data", self.data, DATA)
        find_strategy(self.strategy)
        at_least("questions", self.questions, 1)
        at_least("runs", self.runs, 2)
        if self.runs > MOST_RUNS:
            raise ValueError(f"runs must be at most {MOST_RUNS}; got {self.runs}. Ask for fewer.")
        at_least("seed", self.seed, 0)


def demo_job(request: DemoRequest) -> ExperimentJob:
    """The comparison with random, if the pool can carry the questions."""
    data = DATA[request.data](request.seed)
    size = sizes(data, request.runs, request.questions)
    (job,) = comparison_job(data, [request.strategy], size, seed=request.seed)
    return job


def simulated(job: ExperimentJob, execute: Execute) -> Iterator[list[Run]]:
    """Run after run by all strategies, each as soon as it and those before it are over."""
    task = SimulationTask(job.experiment, job.data, job.strategies)
    runs = range(job.experiment.sizes.runs)
    return execute(simulate, ((task, [(name, run) for name in job.strategies]) for run in runs))


# ---------------------------------------------------------------- what came out
@dataclass(frozen=True)
class AskedRow:
    """One question: what the model predicted, and the answer.

    Attributes:
        row: the row asked about.
        leading: the label the model held likeliest.
        necessity: how necessary the model held that label to be, in [0, 1].
        usual: the median necessity of all rows it might have asked about.
        answer: the true label.
        accuracy: on the test rows after the answer.
    """

    row: int
    leading: str
    necessity: float
    usual: float
    answer: str
    accuracy: float


@dataclass(frozen=True, eq=False)
class Demonstration:
    """Every run of a demonstration.

    Attributes:
        job: what was run.
        runs: of every strategy, in order.
    """

    job: ExperimentJob
    runs: tuple[Run, ...]

    @property
    def strategy(self) -> str:
        """What is compared with random; random itself if that was chosen."""
        return next((name for name in self.job.strategies if name != RANDOM), RANDOM)

    @cached_property
    def results(self) -> Results:
        """The accuracies of both strategies, paired."""
        return Results.of(self.job.experiment, len(self.job.data.labels), self.runs)

    @property
    def first(self) -> Run:
        """Run 1 of the chosen strategy."""
        return next(run for run in self.runs if run.strategy == self.strategy)

    @cached_property
    def split(self) -> Split:
        """The rows of run 1."""
        return split(self.job.experiment, self.job.data, 0)

    def labelled(self, answers: int) -> Places:
        """The rows of run 1 whose labels are known after some answers."""
        return np.concatenate([self.split.start, self.first.rows[:answers]])

    def classifier(self, answers: int) -> "PossibilisticGPClassifier":
        """The classifier of run 1 after some answers, as a campaign has it."""
        from possibal.estimators.classifier import PossibilisticGPClassifier, with_pool_scale

        rows, X = self.labelled(answers), self.split.X
        with one_thread():
            model = with_pool_scale(PossibilisticGPClassifier(), X[self.split.pool])
            return model.fit(X[rows], self.job.data.y[rows])

    def questions(self, count: int) -> list[AskedRow]:
        """The first questions of run 1."""
        data, asked = self.job.data, list[AskedRow]()
        for answers, row in enumerate(self.first.rows[:count].tolist()):
            left = np.setdiff1d(self.split.pool, self.labelled(answers))
            at = int(np.searchsorted(left, row))
            belief = self.classifier(answers).posterior_.at(self.split.X[left])
            sure = necessity(belief)
            asked.append(
                AskedRow(
                    row,
                    leading=data.labels[int(belief.mean[belief.leading, at] > 0)],
                    necessity=float(sure[at]),
                    usual=float(np.median(sure)),
                    answer=data.labels[data.y[row]],
                    accuracy=float(self.first.accuracy[answers + 1]),
                )
            )
        return asked
