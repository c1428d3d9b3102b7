"""Paired comparison of strategies by common random numbers: accuracies, labels saved.

The one rule for labels saved in experiments is :func:`saving`. A live campaign knows no random
twin of itself: `labelling.evaluation` asks how many rows drawn at random a model would need.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from possibal.acquisition.registry import STRATEGIES
from possibal.arguments import DEFAULT_STRATEGY, at_least
from possibal.arrays import Array, Matrix, Places, Vector
from possibal.experiments.datasets import Dataset
from possibal.experiments.engine.runner import ExperimentJob
from possibal.experiments.engine.simulation import is_binary
from possibal.experiments.results import Results
from possibal.experiments.spec import (
    BINARY_STRATEGIES,
    ENVELOPE,
    HELD_OUT,
    MULTICLASS_STRATEGIES,
    QUESTIONS,
    RUNS,
    Experiment,
    Sizes,
)
from possibal.experiments.splits import random_stream
from possibal.experiments.strategies import RANDOM, resolve_strategy, strategy_source

MOST_POOL, MOST_TEST, MOST_ROWS = 300, 1000, 20_000
"""Rows of a pool, of a test, and of all that these are drawn from, however many there are."""
GAINED = 0.95
"""Labels are counted until this share of what random gains in all is gained. The last bit would be
a coin toss: random gets there by definition, and a strategy as good half the time."""
FEWEST = 10
"""Runs that an interval needs; of fewer it would be too narrow to be believed."""
FEWEST_SETS = 5
"""Sets of data that a claim needs which is to hold beyond one of them."""
RESAMPLES = 2000
ENDS = (0.025, 0.975)
"""Of a 95% interval."""


def sizes(data: Dataset, runs: int = RUNS, questions: int | None = None) -> Sizes:
    """Half of the rows are the pool and the others the test; few rows allow few questions."""
    at_least("runs", runs, 2)
    rows, labels = len(data.y), len(data.labels)
    pool = min(MOST_POOL, rows // 2)
    if pool <= labels:
        raise ValueError(
            f"data must have at least {2 * labels + 2} rows for {labels} labels; got {rows}. "
            "Add rows, or join rare labels."
        )
    room = pool - labels
    if questions is not None and at_least("questions", questions, 1) > room:
        raise ValueError(
            f"questions must be at most {room}, for {rows} rows give pools of {pool}; "
            f"got {questions}. Ask fewer."
        )
    return Sizes(runs, questions or min(QUESTIONS, room), pool, min(MOST_TEST, rows - pool))


def few_enough(data: Dataset, seed: int) -> tuple[Dataset, tuple[str, ...]]:
    """The set, or a draw from it where it has more rows than a comparison can use."""
    if len(data.y) <= MOST_ROWS:
        return data, ()
    rows = np.sort(random_stream(seed, 0, "rows").permutation(len(data.y))[:MOST_ROWS])
    found, y = np.unique(data.y[rows], return_inverse=True)
    labels = tuple(data.labels[code] for code in found)
    note = f"{MOST_ROWS} of {len(data.y)} rows were drawn: more would change nothing."
    return replace(data, X=data.X[rows], y=y, labels=labels), (note,)


def comparison_job(
    data: Dataset,
    chosen: Sequence[str],
    size: Sizes,
    hyperparameters: str = ENVELOPE,
    seed: int = 0,
) -> list[ExperimentJob]:
    """The experiment on a set: held-out test rows, and random among the strategies.

    Args:
        data: the set.
        chosen: strategies by name or as module:function; none means the usual one and the paper's.
        size: runs, questions, pool and test.
        hyperparameters: one of those of spec.py.
        seed: where every draw comes from.
    """
    usual = BINARY_STRATEGIES if is_binary(data) else MULTICLASS_STRATEGIES
    names = dict.fromkeys([RANDOM, *(chosen or (DEFAULT_STRATEGY, *usual))])
    experiment = Experiment(data.name, HELD_OUT, hyperparameters, size, seed)
    ours = {name: STRATEGIES[name] for name in names if name in STRATEGIES}
    own = {name: resolve_strategy(name) for name in names if name not in STRATEGIES}
    return [
        ExperimentJob(experiment, data, ours),
        *(ExperimentJob(experiment, data, {n: f}, strategy_source(f)) for n, f in own.items()),
    ]


@dataclass(frozen=True)
class LabelSaving:
    """How many labels a strategy saves until it has gained most of what random gains in all.

    Attributes:
        needed: labels it needs; None where it never gets there to stay.
        saved: labels saved against random.
        interval: ends of the 95% interval of that; None where runs are too few to tell.
    """

    needed: int | None
    saved: int
    interval: tuple[float, float] | None

    @property
    def is_sure(self) -> bool:
        """Whether the interval lies above zero."""
        return self.interval is not None and self.interval[0] > 0


def saving(results: Results, name: str) -> LabelSaving:
    """The labels saved by one strategy, with a bootstrap percentile interval over paired runs.

    A curve has reached an accuracy where its mean comes to stay at or above it. One that never
    does counts as needing one label more than it was given, so that its loss is understated.
    """
    ours, theirs = results.accuracy[name], results.accuracy[RANDOM]
    interval = None
    if len(ours) >= FEWEST:
        interval = ends(np.array([_gap(ours[draw], theirs[draw]) for draw in draws(results)]))
    at = int(reached(ours.mean(axis=0), target_accuracy(theirs)))
    needed = results.start + at if at < ours.shape[1] else None
    return LabelSaving(needed, _gap(ours, theirs), interval)


def draws(results: Results, place: int = 0) -> Places:
    """Bootstrap resamples: runs drawn with replacement, the same for all strategies.

    Args:
        results: whose runs.
        place: of the set among others, which are drawn from independently of it.
    """
    runs, seed = results.experiment.sizes.runs, results.experiment.seed
    return random_stream(seed, place, "bootstrap").integers(runs, size=(RESAMPLES, runs))


def ends(many: Vector) -> tuple[float, float]:
    """The 95% bootstrap percentile interval of what was worked out from each resample."""
    low, high = np.quantile(many, ENDS)
    return float(low), float(high)


def target_accuracy(theirs: Matrix) -> float:
    """The accuracy to reach: where random has gained most of what it gains in all.

    Where random loses in all, it is what random ends with, so that random gets there anyway.
    """
    mean = theirs.mean(axis=0)
    return float(min(mean[0] + GAINED * (mean[-1] - mean[0]), mean[-1]))


def _gap(ours: Matrix, theirs: Matrix) -> int:
    """Labels that random needs, less labels that a strategy needs."""
    goal = target_accuracy(theirs)
    return int(reached(theirs.mean(axis=0), goal) - reached(ours.mean(axis=0), goal))


def reached(curves: Array, goal: Array | float) -> Places:
    """The first place from which each curve stays at or above its goal; its length if none."""
    below = curves < np.asarray(goal)[..., None]
    after_last = curves.shape[-1] - below[..., ::-1].argmax(axis=-1)
    return np.where(below.any(axis=-1), after_last, 0)


def mean_interval(values: Vector, results: Results) -> tuple[float, float] | None:
    """The 95% bootstrap percentile interval of a mean over runs; None where runs are too few."""
    if len(values) < FEWEST:
        return None
    return ends(values[draws(results)].mean(axis=1))


def in_words(interval: tuple[float, float] | None, digits: int) -> str:
    """What stands behind a number for its interval; nothing where there is none."""
    return "" if interval is None else " [{:+.{d}f}, {:+.{d}f}]".format(*interval, d=digits)


def verdict(results: Results) -> str:
    """One sentence: the strategy that saves most labels, or that none can be told from random."""
    if results.experiment.sizes.runs < FEWEST:
        runs = results.experiment.sizes.runs
        return (
            f"To tell whether labels were saved, let there be at least {FEWEST} runs; "
            f"{runs} are too few."
        )
    savings = {name: saving(results, name) for name in results.accuracy if name != RANDOM}
    sure = {name: one for name, one in savings.items() if one.is_sure}
    if not sure:
        return "No strategy saved labels against random beyond what chance can do."
    best = max(sure, key=lambda name: sure[name].saved)
    one = sure[best]
    low, high = one.interval or ENDS
    counts = "" if one.needed is None else f": {one.needed} instead of {one.needed + one.saved}"
    return (
        f"{best} saved {one.saved} labels against random "
        f"(95% interval {low:.0f} to {high:.0f}){counts}."
    )
