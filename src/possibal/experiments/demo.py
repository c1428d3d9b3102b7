"""An active-learning run on built-in data: what was asked, and how accuracy rose."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from possibal.acquisition.pointwise import necessity
from possibal.acquisition.registry import STRATEGIES
from possibal.arguments import DEFAULT_STRATEGY, at_least, choice
from possibal.arrays import Array, Matrix, Vector
from possibal.experiments.streams import random_stream

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from possibal.estimators.classifier import PossibilisticGPClassifier

Rows: TypeAlias = NDArray[np.intp]
"""Row numbers of a table."""

START = 2
"""Labels known before the first question: one per class."""
MOST_RUNS = 10_000
"""More is taken for a slip of the keyboard: the intervals are narrow long before."""


# ---------------------------------------------------------------- data
@dataclass(frozen=True, eq=False)
class Table:
    """Rows and the true label of each, which only the person asked knows.

    Attributes:
        X: inputs, (n, d).
        y: whether a row has the second label, (n,).
        labels: what the two labels are called.
    """

    X: Matrix
    y: NDArray[np.bool_]
    labels: tuple[str, str]


def _moons(seed: int) -> Table:
    """Two interleaved half circles, with noise."""
    draw = int(random_stream(seed, 0, "data").integers(2**31))
    make_moons = import_module("sklearn.datasets").make_moons
    X, y = make_moons(n_samples=600, noise=0.2, random_state=draw)
    return Table(X, y == 1, ("upper", "lower"))


def _breast_cancer(_seed: int) -> Table:
    """Cell measurements of tumours: malignant or benign."""
    X, y = import_module("sklearn.datasets").load_breast_cancer(return_X_y=True)
    return Table(X, y == 1, ("malignant", "benign"))


def _wine(_seed: int) -> Table:
    """Chemical measurements of wines: class 1 against the rest."""
    X, y = import_module("sklearn.datasets").load_wine(return_X_y=True)
    return Table(X, y == 1, ("rest", "class 1"))


DATA: dict[str, Callable[[int], Table]] = {
    "moons": _moons,
    "breast-cancer": _breast_cancer,
    "wine": _wine,
}


# ---------------------------------------------------------------- settings
@dataclass(frozen=True)
class Settings:
    """What to run; bad values are refused at once."""

    data: str = "moons"
    strategy: str = DEFAULT_STRATEGY
    questions: int = 30
    runs: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what can be known before any data is read."""
        choice("data", self.data, DATA)
        choice("strategy", self.strategy, STRATEGIES)
        at_least("questions", self.questions, 1)
        at_least("runs", self.runs, 2)
        if self.runs > MOST_RUNS:
            raise ValueError(f"runs must be at most {MOST_RUNS}; got {self.runs}. Ask for fewer.")
        at_least("seed", self.seed, 0)


@dataclass(frozen=True, eq=False)
class Plan:
    """Settings with the table they name."""

    settings: Settings
    table: Table


def load(settings: Settings) -> Plan:
    """The settings with their table, if its pool can carry the questions."""
    table = DATA[settings.data](settings.seed)
    most = len(table.y) // 2 - START
    if settings.questions > most:
        raise ValueError(
            f"questions must be at most {most}, the unlabelled rows in the pool of "
            f"{settings.data}; got {settings.questions}. Ask fewer."
        )
    return Plan(settings, table)


# ---------------------------------------------------------------- model
@dataclass(frozen=True, eq=False)
class Split:
    """One run's share of the table: rows to ask about, rows to test on, and where to start.

    Attributes:
        X: the whole table, scaled by the mean and standard deviation of the pool.
        pool: rows that may be asked about.
        test: the other rows, used for nothing but accuracy.
        start: one labelled row of the pool per class.
    """

    X: Matrix
    pool: Rows
    test: Rows
    start: tuple[int, ...]


def deal(plan: Plan, run: int) -> Split:
    """The pool, test rows and start of one run; the same for every strategy."""
    table, seed = plan.table, plan.settings.seed
    shuffled = random_stream(seed, run, "split").permutation(len(table.y))
    pool, test = np.split(shuffled, [len(table.y) // 2])
    centre, spread = table.X[pool].mean(axis=0), table.X[pool].std(axis=0)
    X = (table.X - centre) / spread
    rng = random_stream(seed, run, "start")
    start = tuple(int(rng.choice(pool[table.y[pool] == label])) for label in (False, True))
    return Split(X, np.sort(pool), test, start)


def fit(plan: Plan, split: Split, rows: list[int]) -> "PossibilisticGPClassifier":
    """The classifier given the labels of some rows, as a campaign has it."""
    from possibal.estimators.classifier import PossibilisticGPClassifier
    from possibal.numerics.distances import usual_distance

    usual = usual_distance(split.X[split.pool])
    classifier = PossibilisticGPClassifier(usual_distance=usual)
    return classifier.fit(split.X[rows], plan.table.y[rows])


# ---------------------------------------------------------------- protocol
@dataclass(frozen=True)
class Question:
    """One question: what the model thought, and what it was told.

    Attributes:
        row: the row asked about.
        leading: the label the model held likeliest.
        necessity: how necessary the model held that label to be, in [0, 1].
        usual: the median necessity of all rows it might have asked about.
        answer: the true label.
        accuracy: share of test rows classified correctly once told.
    """

    row: int
    leading: str
    necessity: float
    usual: float
    answer: str
    accuracy: float


@dataclass(frozen=True)
class Trace:
    """One strategy's way through one run.

    Attributes:
        start: the rows labelled in advance.
        before: test accuracy before the first question.
        questions: what was asked, in order.
    """

    start: tuple[int, ...]
    before: float
    questions: tuple[Question, ...]

    @property
    def accuracy(self) -> Vector:
        """Test accuracy with the start alone, then after each answer."""
        return np.array([self.before, *(q.accuracy for q in self.questions)])

    def labelled(self, answers: int) -> list[int]:
        """The rows whose labels are known after some answers."""
        return [*self.start, *(q.row for q in self.questions[:answers])]


@dataclass(frozen=True)
class Run:
    """The chosen strategy and random on the same split, from the same start."""

    chosen: Trace
    random: Trace


def trace(plan: Plan, split: Split, strategy: str, seed: int) -> Trace:
    """The questions a strategy asks, each answered truthfully before the next."""
    from possibal.campaign.answer import Answer
    from possibal.campaign.campaign import Campaign

    y, asked = plan.table.y, list[Question]()
    campaign = Campaign.start(
        split.X[split.pool], ids=split.pool.tolist(), strategy=strategy, seed=seed
    )
    campaign = campaign.replay(Answer(row, y[row]) for row in split.start)
    before = _accuracy(plan, split, campaign.classifier)
    for _ in range(plan.settings.questions):
        (row,) = (cast("int", one) for one in campaign.ask())
        at, left = campaign.left.index(row), cast("list[int]", list(campaign.left))
        belief = campaign.classifier.posterior_.at(split.X[left])
        sure = necessity(belief)
        campaign = campaign.tell(row, y[row])
        asked.append(
            Question(
                row,
                leading=plan.table.labels[int(belief.mean[belief.leading, at] > 0)],
                necessity=float(sure[at]),
                usual=float(np.median(sure)),
                answer=plan.table.labels[int(y[row])],
                accuracy=_accuracy(plan, split, campaign.classifier),
            )
        )
    return Trace(split.start, before, tuple(asked))


def play(plan: Plan, run: int) -> Run:
    """One run of the chosen strategy and of random.

    One thread for linear algebra: the matrices are small, and the sums then have the same order
    however many runs share the machine.
    """
    with import_module("threadpoolctl").threadpool_limits(1):
        share = deal(plan, run)
        seed = int(random_stream(plan.settings.seed, run, "ask").integers(2**31))
        chosen = trace(plan, share, plan.settings.strategy, seed)
        return Run(chosen, trace(plan, share, "random", seed))


def play_all(plan: Plan, jobs: int | None = None) -> Iterator[Run]:
    """Every run in order, each as soon as it and those before it are over.

    Args:
        plan: what to run.
        jobs: how many runs at a time; None means one per core. It does not change the results.
    """
    if jobs is not None:
        at_least("jobs", jobs, 1)
    joblib = import_module("joblib")
    workers = min(plan.settings.runs, jobs or joblib.cpu_count())
    parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
    runs = parallel(joblib.delayed(play)(plan, run) for run in range(plan.settings.runs))
    return cast("Iterator[Run]", runs)


# ---------------------------------------------------------------- outcome
@dataclass(frozen=True, eq=False)
class Band:
    """A mean over runs, and the ends of its 95% interval."""

    mean: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Outcome:
    """Every run of a plan."""

    plan: Plan
    runs: tuple[Run, ...]

    @property
    def chosen(self) -> Matrix:
        """Test accuracy of the chosen strategy, one line per run, one column per answer."""
        return np.array([run.chosen.accuracy for run in self.runs])

    @property
    def random(self) -> Matrix:
        """Test accuracy of random, shaped like `chosen`."""
        return np.array([run.random.accuracy for run in self.runs])

    @property
    def gap(self) -> Vector:
        """How far the chosen strategy was ahead in each run, on average over its answers."""
        return (self.chosen - self.random)[:, 1:].mean(axis=1)

    @property
    def labels(self) -> Rows:
        """How many labels each column had."""
        return START + np.arange(self.plan.settings.questions + 1)


@dataclass(frozen=True)
class Saving:
    """How many labels the chosen strategy and random took to reach the same accuracy."""

    ours: int
    theirs: int
    accuracy: float


def interval(values: Array) -> Band:
    """The mean over the first axis with its 95% interval by Student's t."""
    runs = len(values)
    mean = values.mean(axis=0)
    half = stdtrit(runs - 1, 0.975) * values.std(axis=0, ddof=1) / sqrt(runs)
    return Band(mean, mean - half, mean + half)


def saving(outcome: Outcome) -> Saving | None:
    """The labels saved, or None where no gain can be told from chance.

    A gain counts when the paired difference, averaged over all answers of a run, has a 95%
    interval above zero. A strategy has reached an accuracy where its mean comes to stay at or
    above it; the accuracy compared is the one random ends with.
    """
    if interval(outcome.gap).low <= 0:
        return None
    goal = float(outcome.random.mean(axis=0)[-1])
    ours, theirs = (_settles(a.mean(axis=0), goal) for a in (outcome.chosen, outcome.random))
    return Saving(START + ours, START + theirs, goal) if ours < theirs else None


def verdict(outcome: Outcome) -> str:
    """One sentence: how many labels were saved, or that no gain was seen."""
    settings, saved = outcome.plan.settings, saving(outcome)
    if saved:
        return (
            f"{saved.ours} labels did what random needs {saved.theirs} for: "
            f"a mean accuracy of {saved.accuracy:.1%} over {settings.runs} runs."
        )
    gap = interval(100 * outcome.gap)
    return (
        f"No saving of labels was seen: the accuracy of {settings.strategy} less that of random is "
        f"{gap.mean:+.1f} points on average, between {gap.low:+.1f} and {gap.high:+.1f}."
    )


def _settles(curve: Vector, goal: float) -> int:
    """The first place from which the curve stays at or above the goal; its length if none."""
    below = np.flatnonzero(curve < goal)
    return int(below[-1]) + 1 if below.size else 0


def _accuracy(plan: Plan, split: Split, model: "PossibilisticGPClassifier") -> float:
    """Share of test rows classified correctly."""
    guess = model.predict(split.X[split.test])
    return np.count_nonzero(guess == plan.table.y[split.test]) / len(split.test)
