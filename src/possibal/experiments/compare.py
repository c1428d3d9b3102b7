"""Strategies side by side on any labelled set: accuracies, and labels saved against random."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from possibal.arrays import Matrix, Vector
from possibal.choices import at_least
from possibal.experiments.datasets import Dataset
from possibal.experiments.own import source, strategy
from possibal.experiments.results import Results
from possibal.experiments.runner import Wanted
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
from possibal.experiments.streams import stream
from possibal.experiments.tables import Cell, Column, TextTable
from possibal.experiments.trails import is_binary

RANDOM = "random"
MOST_POOL, MOST_TEST = 300, 1000
"""Rows of a pool and of a test, however many there are."""
RESAMPLES = 2000
ENDS = (0.025, 0.975)
"""Of a 95% interval."""


def sizes(data: Dataset, runs: int = RUNS, questions: int = QUESTIONS) -> Sizes:
    """Half of the rows are the pool and the others the test; few rows allow few questions."""
    at_least("runs", runs, 2)
    at_least("questions", questions, 1)
    rows, labels = len(data.y), len(data.labels)
    pool = min(MOST_POOL, rows // 2)
    if pool <= labels:
        raise ValueError(
            f"data must have at least {2 * labels + 2} rows for {labels} labels; got {rows}. "
            "Add rows, or join rare labels."
        )
    return Sizes(runs, min(questions, pool - labels), pool, min(MOST_TEST, rows - pool))


def wanted(
    data: Dataset,
    chosen: Sequence[str],
    size: Sizes,
    hyperparameters: str = ENVELOPE,
    seed: int = 0,
) -> list[Wanted]:
    """The experiment on a set: held-out test rows, and random among the strategies.

    Args:
        data: the set.
        chosen: strategies by name or as module:function; none means the paper's.
        size: runs, questions, pool and test.
        hyperparameters: one of those of spec.py.
        seed: where every draw comes from.
    """
    usual = BINARY_STRATEGIES if is_binary(data) else MULTICLASS_STRATEGIES
    names = dict.fromkeys([RANDOM, *(chosen or usual)])
    experiment = Experiment(data.name, HELD_OUT, hyperparameters, size, seed)
    ours = {name: strategy(name) for name in names if ":" not in name}
    own = {name: strategy(name) for name in names if ":" in name}
    return [
        Wanted(experiment, data, ours),
        *(Wanted(experiment, data, {n: f}, source(f)) for n, f in own.items()),
    ]


@dataclass(frozen=True)
class Saving:
    """How many labels a strategy saves until it is as accurate as random is in the end.

    Attributes:
        needed: labels it needs; None where it never gets there to stay.
        saved: labels saved against random.
        low: the lower end of its 95% interval.
        high: the upper end.
    """

    needed: int | None
    saved: int
    low: float
    high: float


def saving(results: Results, name: str) -> Saving:
    """The labels saved by one strategy, with a bootstrap interval over paired runs.

    A curve has reached an accuracy where its mean comes to stay at or above it. One that never
    does counts as needing one label more than it was given, so that its loss is understated.
    """
    ours, theirs = results.accuracy[name], results.accuracy[RANDOM]
    seed = results.experiment.seed
    rng = stream(seed, 0, "bootstrap")
    draws = rng.integers(len(ours), size=(RESAMPLES, len(ours)))
    many = np.array([_gap(ours[draw], theirs[draw]) for draw in draws])
    low, high = np.quantile(many, ENDS)
    at = _reached(ours.mean(axis=0), float(theirs.mean(axis=0)[-1]))
    needed = results.start + at if at < ours.shape[1] else None
    return Saving(needed, _gap(ours, theirs), float(low), float(high))


def _gap(ours: Matrix, theirs: Matrix) -> int:
    """Labels that random needs, less labels that a strategy needs."""
    goal = float(theirs.mean(axis=0)[-1])
    return _reached(theirs.mean(axis=0), goal) - _reached(ours.mean(axis=0), goal)


def _reached(curve: Vector, goal: float) -> int:
    """The first place from which the curve stays at or above the goal; its length if none."""
    below = np.flatnonzero(curve < goal)
    return int(below[-1]) + 1 if below.size else 0


def table(results: Results) -> TextTable:
    """The strategies side by side, the most accurate over the whole run first."""
    columns = (
        Column("strategy"),
        Column("accuracy over all answers, %", figures=True),
        Column("ahead of random, points [95 %]", figures=True),
        Column("accuracy in the end, %", figures=True),
        Column("labels needed", figures=True),
        Column("labels saved [95 %]", figures=True),
    )
    order = sorted(results.area, key=lambda name: -results.area[name].mean())
    rows = tuple(_row(results, name) for name in order)
    size = results.experiment.sizes
    note = (
        f"{size.runs} runs of {size.queries} questions, pools of {size.pool} rows, {size.test} "
        "other rows to test on. Labels needed: until the mean accuracy comes to stay at or above "
        "the one that random ends with. Intervals are over runs, which share their rows."
    )
    return TextTable(f"Strategies on {results.experiment.dataset}", columns, rows, note=note)


def _row(results: Results, name: str) -> tuple[Cell, ...]:
    over, ends = 100 * results.area[name], 100 * results.final[name]
    cells = [Cell(name), Cell(f"{over.mean():.1f}")]
    if name == RANDOM:
        curve = results.accuracy[name].mean(axis=0)
        needed = results.start + _reached(curve, float(curve[-1]))
        rest = [Cell(), Cell(f"{ends.mean():.1f}"), Cell(str(needed)), Cell()]
        return (*cells, *rest)
    low, high = _interval(over - 100 * results.area[RANDOM], results.experiment.seed)
    gap, saved = float(np.mean(over - 100 * results.area[RANDOM])), saving(results, name)
    return (
        *cells,
        Cell(f"{gap:+.1f} [{low:+.1f}, {high:+.1f}]"),
        Cell(f"{ends.mean():.1f}"),
        Cell("not reached" if saved.needed is None else str(saved.needed)),
        Cell(f"{saved.saved:+d} [{saved.low:+.0f}, {saved.high:+.0f}]"),
    )


def _interval(values: Vector, seed: int) -> tuple[float, float]:
    """The 95% bootstrap interval of a mean."""
    draws = stream(seed, 0, "bootstrap").integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), ENDS)
    return float(low), float(high)


def verdict(results: Results) -> str:
    """One sentence: the strategy that saves most labels, or that none can be told from random."""
    savings = {name: saving(results, name) for name in results.accuracy if name != RANDOM}
    sure = {name: one for name, one in savings.items() if one.low > 0}
    if not sure:
        return "No strategy saved labels against random beyond what chance can do."
    best = max(sure, key=lambda name: sure[name].saved)
    one = sure[best]
    return (
        f"{best} saved {one.saved} labels against random "
        f"(95% interval {one.low:.0f} to {one.high:.0f})."
    )
