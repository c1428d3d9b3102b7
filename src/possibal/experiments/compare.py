"""Strategies side by side on any labelled set: accuracies, and labels saved against random."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from possibal.arrays import Matrix, Places, Vector
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
MOST_POOL, MOST_TEST, MOST_ROWS = 300, 1000, 20_000
"""Rows of a pool, of a test, and of all that these are drawn from, however many there are."""
GAINED = 0.95
"""Labels are counted until this share of what random gains in all is gained. The last bit would be
a coin toss: random gets there by definition, and a strategy as good half the time."""
FEWEST = 10
"""Runs that an interval needs; of fewer it would be too narrow to be believed."""
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
    rows = np.sort(stream(seed, 0, "rows").permutation(len(data.y))[:MOST_ROWS])
    found, y = np.unique(data.y[rows], return_inverse=True)
    labels = tuple(data.labels[code] for code in found)
    note = f"{MOST_ROWS} of {len(data.y)} rows were drawn: more would change nothing."
    return replace(data, X=data.X[rows], y=y, labels=labels), (note,)


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


def saving(results: Results, name: str) -> Saving:
    """The labels saved by one strategy, with a bootstrap interval over paired runs.

    A curve has reached an accuracy where its mean comes to stay at or above it. One that never
    does counts as needing one label more than it was given, so that its loss is understated.
    """
    ours, theirs = results.accuracy[name], results.accuracy[RANDOM]
    interval = None
    if len(ours) >= FEWEST:
        draws = _draws(results)
        many = np.array([_gap(ours[draw], theirs[draw]) for draw in draws])
        low, high = np.quantile(many, ENDS)
        interval = float(low), float(high)
    at = _reached(ours.mean(axis=0), _goal(theirs))
    needed = results.start + at if at < ours.shape[1] else None
    return Saving(needed, _gap(ours, theirs), interval)


def _draws(results: Results) -> Places:
    """Runs drawn with replacement, again and again, the same for all strategies."""
    runs = results.experiment.sizes.runs
    return stream(results.experiment.seed, 0, "bootstrap").integers(runs, size=(RESAMPLES, runs))


def _goal(theirs: Matrix) -> float:
    """The accuracy to reach: where random has gained most of what it gains in all.

    Where random loses in all, it is what random ends with, so that random gets there anyway.
    """
    mean = theirs.mean(axis=0)
    return float(min(mean[0] + GAINED * (mean[-1] - mean[0]), mean[-1]))


def _gap(ours: Matrix, theirs: Matrix) -> int:
    """Labels that random needs, less labels that a strategy needs."""
    goal = _goal(theirs)
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
        f"other rows to test on. Labels needed: until the mean accuracy has gained {GAINED:.0%} of "
        "what random gains in all, to stay there. Intervals are over runs, which share their rows"
        + ("." if size.runs >= FEWEST else f"; they need at least {FEWEST} runs.")
    )
    return TextTable(f"Strategies on {results.experiment.dataset}", columns, rows, note=note)


def _row(results: Results, name: str) -> tuple[Cell, ...]:
    over, ends = 100 * results.area[name], 100 * results.final[name]
    cells = [Cell(name), Cell(f"{over.mean():.1f}")]
    if name == RANDOM:
        curve = results.accuracy[name].mean(axis=0)
        needed = results.start + _reached(curve, _goal(results.accuracy[name]))
        rest = [Cell(), Cell(f"{ends.mean():.1f}"), Cell(str(needed)), Cell()]
        return (*cells, *rest)
    gap, saved = over - 100 * results.area[RANDOM], saving(results, name)
    return (
        *cells,
        Cell(f"{gap.mean():+.1f}{_interval(gap, results)}"),
        Cell(f"{ends.mean():.1f}"),
        Cell("not reached" if saved.needed is None else str(saved.needed)),
        Cell(f"{saved.saved:+d}{'' if saved.interval is None else _ends(*saved.interval, 0)}"),
    )


def _interval(values: Vector, results: Results) -> str:
    """The 95% bootstrap interval of a mean, in words; nothing where runs are too few."""
    if len(values) < FEWEST:
        return ""
    low, high = np.quantile(values[_draws(results)].mean(axis=1), ENDS)
    return _ends(float(low), float(high), 1)


def _ends(low: float, high: float, digits: int) -> str:
    return f" [{low:+.{digits}f}, {high:+.{digits}f}]"


def verdict(results: Results) -> str:
    """One sentence: the strategy that saves most labels, or that none can be told from random."""
    if results.experiment.sizes.runs < FEWEST:
        return f"To tell whether labels were saved, let there be at least {FEWEST} runs."
    savings = {name: saving(results, name) for name in results.accuracy if name != RANDOM}
    sure = {name: one for name, one in savings.items() if one.is_sure}
    if not sure:
        return "No strategy saved labels against random beyond what chance can do."
    best = max(sure, key=lambda name: sure[name].saved)
    low, high = sure[best].interval or ENDS
    return (
        f"{best} saved {sure[best].saved} labels against random "
        f"(95% interval {low:.0f} to {high:.0f})."
    )
