"""Simulated active learning (Algorithm 1): a strategy asks, the data set answers.

    split -> PoolGeometry -> RunBatch (what R runs know) -> fit -> choose -> RunBatch

Accuracy is measured after every answer. At every step all runs of an experiment know the same
number of labels, so that their fits are one batch, however hyperparameters are dealt with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import unwrap
from pathlib import Path
from traceback import extract_tb
from types import MappingProxyType
from typing import TypeAlias, TypeGuard

import numpy as np

from possibal.acquisition.registry import STRATEGIES, pick, random
from possibal.acquisition.scoring import Score, is_local
from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import Belief
from possibal.errors import StrategyError
from possibal.experiments.datasets import Codes, Dataset
from possibal.experiments.engine.drawn_scores import DrawnScore
from possibal.experiments.engine.fixed_prior import fixed_prior
from possibal.experiments.engine.run_batch import Method, PoolGeometry, RunBatch, RunFit
from possibal.experiments.engine.variational_softmax import (
    variational_conditioned,
    variational_evidence,
)
from possibal.experiments.recipes import FixedKernel
from possibal.experiments.results import Run
from possibal.experiments.spec import (
    ENVELOPE,
    ENVELOPE_RBF,
    EVIDENCE,
    LAPLACE,
    PAPER,
    VARIATIONAL,
    Experiment,
)
from possibal.experiments.splits import random_stream, scaled, split
from possibal.gp import batch
from possibal.gp.hyperparameters import COMMON, COMMON_DIRECTIONS, evidence, problem
from possibal.gp.likelihoods import PROBIT, SOFTMAX
from possibal.gp.means import ZERO, ConstantMean
from possibal.gp.posterior import TrainingData
from possibal.gp.rbf import NO_LEVEL, Level
from possibal.numerics.geometry import COSINE
from possibal.numerics.linalg import one_thread

_MOST_ROWS = 1000
"""Rows that hyperparameters are fitted to in advance; of more, a draw."""

Names: TypeAlias = Sequence[tuple[str, int]]
"""Strategy and number of each run."""
_VARIATIONAL = Method(variational_evidence, variational_conditioned)
METHODS: Mapping[tuple[str, str], Method] = MappingProxyType(
    {
        (LAPLACE, PAPER): Method(batch.evidence),
        (LAPLACE, EVIDENCE): Method(batch.evidence),
        (LAPLACE, ENVELOPE): Method(batch.envelope),
        (LAPLACE, ENVELOPE_RBF): Method(batch.envelope),
        (VARIATIONAL, PAPER): _VARIATIONAL,
        (VARIATIONAL, EVIDENCE): _VARIATIONAL,
    }
)
"""By model and hyperparameters."""


@dataclass(frozen=True, eq=False)
class SimulationTask:
    """An experiment with all it needs.

    Attributes:
        experiment: what to run.
        data: the set, with every label.
        strategies: by name.
        theta: logarithms of amplitude and length-scale, fitted in advance; None if they are not.
    """

    experiment: Experiment
    data: Dataset
    strategies: Mapping[str, Strategy]
    theta: tuple[float, float] | None = None

    @property
    def start(self) -> int:
        """Labels known before the first question: one of each."""
        return len(np.unique(self.data.y))

    @cached_property
    def mean(self) -> ConstantMean:
        """Prior mean of every row: zero unless the recipe has another."""
        kernel = self.experiment.recipe.kernel(len(self.data.labels))
        return ZERO if kernel is None else fixed_prior(kernel, self.data).mean


def fit_in_advance(
    data: Dataset, seed: int, kernel: FixedKernel | None = None
) -> tuple[float, float]:
    """The setting of largest evidence given all labels of a set, or those of a thousand rows.

    Paper: App. E.3, "calculated in advance": from labels that nobody has asked for yet.

    Args:
        data: the set.
        seed: which rows are taken of more than a thousand.
        kernel: of the recipe, if that fixes it; then nothing is searched for.
    """
    if kernel is not None:
        return fixed_prior(kernel, data).theta
    rows = np.arange(len(data.y))
    if len(rows) > _MOST_ROWS:
        rows = np.sort(random_stream(seed, 0, "in advance").permutation(rows)[:_MOST_ROWS])
    X = scaled(data.X, data.X)[rows]
    posterior = evidence(problem(None, labelled(X, data.y[rows], len(data.labels))))
    amplitude, length = posterior.prior.settings()[0][0].theta
    return float(amplitude), float(length)


def is_binary(data: Dataset) -> bool:
    """Whether there are two labels."""
    return len(data.labels) == 2  # noqa: PLR2004 - two


def labelled(X: Matrix, codes: Codes, labels: int) -> TrainingData:
    """Rows with their labels, as a Gaussian process reads them."""
    weight = np.ones((1, len(X)))
    if labels == 2:  # noqa: PLR2004 - two labels need one latent
        return TrainingData(X, np.where(codes == 1, 1.0, -1.0)[None], weight, PROBIT)
    one_hot = (np.arange(labels)[:, None] == codes).astype(float)
    return TrainingData(X, one_hot, weight, SOFTMAX)


# ---------------------------------------------------------------- Algorithm 1


def simulate(task: SimulationTask, names: Names) -> list[Run]:
    """Runs of strategies, each the same whatever others are simulated with it.

    Paper: App. E.2, Algorithm 1.
    """
    theta = None if task.theta is None else np.array(task.theta)
    with one_thread():
        runs = dict.fromkeys(run for _, run in names)
        splits = {run: split(task.experiment, task.data, run) for run in runs}
        plain = task.experiment.is_plain
        geometries = {
            run: PoolGeometry.of(one, task.data, theta, plain=plain) for run, one in splits.items()
        }
        alike = dict[int, list[int]]()  # a block leaves more rows to test on in some runs
        for place, (_, run) in enumerate(names):
            alike.setdefault(len(splits[run].test), []).append(place)
        done = dict[int, Run]()
        for places in alike.values():
            some = [names[place] for place in places]
            found = _simulate_batch(task, some, [geometries[run] for _, run in some])
            done.update(zip(places, found, strict=True))
    return [done[place] for place in range(len(names))]


def _simulate_batch(
    task: SimulationTask, names: Names, geometries: Sequence[PoolGeometry]
) -> list[Run]:
    """Runs with equally many test rows."""
    theta = None if task.theta is None else np.array(task.theta)
    queries = task.experiment.sizes.queries
    level = _level(task)
    labels = len(task.data.labels)
    runs = RunBatch.at_start(geometries, labels, queries, theta, level, mean=task.mean)
    method, fit = METHODS[task.experiment.model, task.experiment.hyperparameters], None
    accuracy = np.empty((len(names), queries + 1))
    for step in range(queries + 1):
        fit = runs.fit(method, fit)  # line 6
        accuracy[:, step] = _accuracy(task, names, fit)  # line 14, after every answer
        if step < queries:
            runs = runs.with_labels(_choices(task, names, fit))  # lines 7 to 11
    asked = [g.split.pool[k[-queries:]] for g, k in zip(geometries, runs.known, strict=True)]
    lines = zip(names, asked, accuracy, strict=True)
    return [Run(strategy, run, rows, line) for (strategy, run), rows, line in lines]


def _level(task: SimulationTask) -> Level:
    """What all rows have in common to the model; the paper's have nothing."""
    if task.experiment.hyperparameters == PAPER:
        return NO_LEVEL
    return COMMON_DIRECTIONS if task.data.metric == COSINE else COMMON


def _accuracy(task: SimulationTask, names: Names, fit: RunFit) -> Vector:
    """Accuracy of each run on its test rows, as the recipe predicts them."""
    draws = task.experiment.recipe.label_draws
    if not draws or is_binary(task.data):
        return fit.accuracy()
    rngs = [random_stream(task.experiment.seed, run, f"test {fit.runs.n}") for _, run in names]
    return fit.drawn_accuracy(draws, rngs)


def _choices(task: SimulationTask, names: Names, fit: RunFit) -> Places:
    """The place among the rows left that each run asks about; the lowest of several."""
    mean, variance = _moments(task, names, fit)
    places = np.empty(len(names), dtype=np.intp)
    strategies = np.array([strategy for strategy, _ in names])
    for name in dict.fromkeys(strategies.tolist()):
        members, strategy = np.flatnonzero(strategies == name), task.strategies[name]
        if _is_ours(strategy) and mean.shape[1:3] == (1, 1):
            # One latent and one setting: each row's score is its own to the last bit, so that the
            # pools of many runs may be scored as one.
            flat = Belief.borrowed(mean[members].ravel(), variance[members].ravel())
            places[members] = strategy(flat).reshape(len(members), -1).argmax(axis=1)
            continue
        for s in members.tolist():
            if _is_ours(strategy):
                places[s] = strategy(fit.belief(s, mean[s], variance[s])).argmax()
            elif isinstance(strategy, DrawnScore):
                rng = _generator(task, names[s][1], fit.runs.n)
                places[s] = strategy.place(mean[s, 0], variance[s, 0], rng)
            elif strategy is STRATEGIES["random"]:  # needs no posterior, which takes time to make
                rng = _generator(task, names[s][1], fit.runs.n)
                places[s] = random(mean[s, 0, 0], variance[s, 0, 0], rng=rng).argmax()
            else:
                places[s] = _asked(_view(task, names[s][1], fit, s), strategy, name)
    return places


def _moments(task: SimulationTask, names: Names, fit: RunFit) -> tuple[Array, Array]:
    """Latent means and variances of the rows left, (R, H, P, m); zeros where nobody reads them."""
    asking = [task.strategies[name] for name, _ in names]
    if any(_is_ours(one) or isinstance(one, DrawnScore) for one in asking):
        return fit.moments()
    nothing = np.zeros((len(names), 1, 1, fit.runs.left.shape[1]))
    return nothing, nothing


def _is_ours(strategy: Strategy) -> TypeGuard[Score]:
    """Whether rows of many pools may be joined; what a user's own score gives is looked at."""
    return is_local(strategy) and strategy in STRATEGIES.values()


def _asked(view: View, strategy: Strategy, name: str) -> int:
    """The place that a strategy picks; what goes wrong in it is one sentence."""
    try:
        return pick(view, strategy)
    except (Exception, SystemExit) as error:
        raise StrategyError(
            f"strategy {name} must give one number for each candidate; got {type(error).__name__}: "
            f"{error} ({_where(strategy, error)}). Mend it and run again."
        ) from error


def _where(strategy: Strategy, error: BaseException) -> str:
    """The last line of a strategy's own file that an error came through, or its first."""
    frames = [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)]
    code = getattr(unwrap(strategy), "__code__", None)
    if code is not None:
        own = [frame for frame in frames if frame[0] == code.co_filename]
        frames = own or [(code.co_filename, code.co_firstlineno)]
    return f"{Path(frames[-1][0]).name}, line {frames[-1][1]}"


def _view(task: SimulationTask, run: int, fit: RunFit, r: int) -> View:
    """What a strategy that reads more than a belief may look at."""
    rows, left = fit.runs.geometries[r].split, fit.runs.left[r]
    rng = _generator(task, run, fit.runs.n)
    return View(fit.posterior_of(r), rows.rows[rows.pool[left]], rng)


def _generator(task: SimulationTask, run: int, answers: int) -> np.random.Generator:
    """Where a strategy draws from at one step; the same for all strategies."""
    return np.random.default_rng([campaign_seed(task.experiment.seed, run), answers])


def campaign_seed(seed: int, run: int) -> int:
    """The seed of the campaign that asks the questions of a run."""
    return int(random_stream(seed, run, "ask").integers(2**31))
