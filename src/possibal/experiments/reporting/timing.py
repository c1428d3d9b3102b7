"""What scores cost, by the row and by the step, and how that compares with the paper's claim.

Every figure is the median over repeats in turn, so that a machine that slows down slows all alike.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from types import MappingProxyType

import numpy as np

from possibal.acquisition import pointwise
from possibal.acquisition.scoring import Score
from possibal.belief import Belief
from possibal.experiments.datasets import load
from possibal.experiments.engine.simulation import fit_in_advance, labelled
from possibal.experiments.reporting.paper_tables import Cell, TableColumn, TextTable
from possibal.experiments.spec import experiment
from possibal.experiments.splits import scaled
from possibal.gp.posterior import condition
from possibal.gp.rbf import NO_LEVEL, RBFPrior
from possibal.numerics.linalg import one_thread

SCORES: Mapping[str, Score] = MappingProxyType(
    {
        "standard": pointwise.least_confidence,
        "maximum entropy": pointwise.latent_entropy,
        "BALD, closed form": pointwise.bald_houlsby,
        "BALD, exact": pointwise.bald,
        "U": pointwise.uncertainty,
        "N": pointwise.doubt,
    }
)
"""The paper's binary scores; it does not say which BALD it timed."""
STANDARD = "standard"
CLAIMED: Mapping[str, float] = MappingProxyType({"N": 1.12, "BALD, closed form": 1.12 / 0.91})
"""Cost against the standard score.

Paper: Sec. 6, "only 12% slower to evaluate than the standard acquisition functions and 9% faster
than BALD".
"""
SET, LABELS = "sonar", 50
ROWS = 10_000


@dataclass(frozen=True)
class Cost:
    """What each score takes.

    Attributes:
        row: nanoseconds for a row among many.
        step: milliseconds for a whole step of the paper's size: a fit, the moments of the pool
            and the score.
        rows: how many rows were scored at once.
    """

    row: Mapping[str, float]
    step: Mapping[str, float]
    rows: int = ROWS

    def table(self) -> TextTable:
        """The costs beside the paper's claim.

        Paper: Sec. 6, the cost of N.
        """
        columns = (
            TableColumn("score"),
            TableColumn("a row, ns", figures=True),
            TableColumn("against standard", figures=True),
            TableColumn("the paper", figures=True),
            TableColumn("a step, ms", figures=True),
            TableColumn("against standard", figures=True),
        )
        lines = tuple(
            (
                Cell(name),
                Cell(f"{self.row[name]:.0f}"),
                Cell(f"{self.row[name] / self.row[STANDARD]:.2f}"),
                Cell(f"{CLAIMED[name]:.2f}" if name in CLAIMED else ""),
                Cell(f"{self.step[name]:.2f}"),
                Cell(f"{self.step[name] / self.step[STANDARD]:.2f}"),
            )
            for name in self.row
        )
        note = (
            f"A row: one of {self.rows} scored at once, means and variances around one. A step: "
            f"{LABELS} labels of {SET}, fit, moments of the pool and score, one thread. The "
            "paper's words are that N is 12 % slower than the standard score and 9 % faster than "
            "BALD."
        )
        return TextTable("What scores cost", columns, lines, note=note)


def measured(repeats: int = 31, rows: int = ROWS) -> Cost:
    """The costs on this machine, on one thread.

    Paper: Sec. 6, the cost of N.
    """
    rng = np.random.default_rng(0)
    belief = Belief.of(2.0 * rng.normal(size=rows), np.exp(rng.normal(size=rows)))
    with one_thread():
        by_row = _in_turn({n: _scoring(s, belief) for n, s in SCORES.items()}, repeats)
        by_step = _in_turn({n: _step(s) for n, s in SCORES.items()}, repeats)
    return Cost(
        {name: 1e9 * seconds / rows for name, seconds in by_row.items()},
        {name: 1e3 * seconds for name, seconds in by_step.items()},
        rows,
    )


def _in_turn(calls: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The median seconds of each call, the calls taking turns."""
    times = {name: list[float]() for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            begun = perf_counter()
            call()
            times[name].append(perf_counter() - begun)
    return {name: median(some) for name, some in times.items()}


def _scoring(score: Score, belief: Belief) -> Callable[[], object]:
    return lambda: score(belief)


def _step(score: Score) -> Callable[[], object]:
    """A step of the paper's size on one of its sets."""
    data, sizes = load(SET), experiment(SET).sizes
    X = scaled(data.X, data.X)
    prior = RBFPrior.usual(np.array([fit_in_advance(data, 0)]), NO_LEVEL)
    known = labelled(X[:LABELS], data.y[:LABELS], 2)
    pool = X[LABELS : LABELS + sizes.pool - 2]
    return lambda: score(condition(prior, known).at(pool))
