"""Friedman test on average ranks of strategies, with Nemenyi post-hoc (Demsar 2006)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from possibal.arguments import choice
from possibal.arrays import Matrix, Vector
from possibal.experiments.results import Results

Measure: TypeAlias = Callable[[Results], Mapping[str, Vector]]
"""One number per run for each strategy, to be large."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {"final": attrgetter("final"), "area": attrgetter("area")}
)
TIES: Mapping[str, Callable[[Matrix], Matrix]] = MappingProxyType(
    {
        "average": partial(rankdata, method="average", axis=1),
        "min": partial(rankdata, method="min", axis=1),
    }
)
"""Ranks along each line: those that tie share the mean of their ranks, or all get the best of them.

Paper: Table 2 has "min".
"""
LEVEL = 0.05
"""How often the tests may see a difference where there is none."""
FEWEST = 3
"""A test needs as many strategies and blocks."""
PLACES = 12
"""Decimals that count: sums in another order differ beyond them."""


@dataclass(frozen=True)
class RankTest:
    """Strategies by average rank, the best first.

    Attributes:
        strategies: those that every set has.
        average: the average rank of each, 1 the best possible.
        critical_difference: averages farther apart differ at the 5 % level, by Nemenyi's test;
            None if there is too little to test.
        p_value: how likely ranks this unequal are by chance alone, by Friedman's test; None if
            there is too little to test.
        sets: what the ranks are averaged over.
    """

    strategies: tuple[str, ...]
    average: tuple[float, ...]
    critical_difference: float | None
    p_value: float | None
    sets: tuple[str, ...]

    def of(self, strategy: str) -> float | None:
        """The average rank of a strategy, if it is ranked."""
        return dict(zip(self.strategies, self.average, strict=True)).get(strategy)


def ranks(results: Sequence[Results], measure: str, ties: str = "average") -> RankTest:
    """The ranks of the medians over runs, averaged over the sets.

    Paper: Sec. 6, Table 2, with ties "min".

    A set is one observation, so the test speaks of sets like these; it counts ties as "average".

    Args:
        results: one for each set.
        measure: one of `MEASURES`.
        ties: one of `TIES`.
    """
    return _ranking(results, measure, ties, _medians)


def run_ranks(results: Sequence[Results], measure: str, ties: str = "average") -> RankTest:
    """The ranks within each run, averaged over the runs of a set, then over the sets.

    Paper: none.

    A run is one observation, so the test sees much smaller differences than that of `ranks`, but
    speaks only of new runs on these very sets.
    """
    return _ranking(results, measure, ties, _runs)


def names(results: Sequence[Results]) -> tuple[str, ...]:
    """What to call each result: its set, or more where two share one."""
    sets = [result.experiment.dataset for result in results]
    return tuple(
        name if sets.count(name) == 1 else result.experiment.name
        for name, result in zip(sets, results, strict=True)
    )


def _medians(values: Sequence[Vector]) -> Matrix:
    """One line: the median over runs of each strategy."""
    return np.array([[float(np.median(runs)) for runs in values]])


def _runs(values: Sequence[Vector]) -> Matrix:
    """One line per run that all strategies have."""
    shared = min(len(runs) for runs in values)
    return np.column_stack([runs[:shared] for runs in values])


def _ranking(
    results: Sequence[Results],
    measure: str,
    ties: str,
    blocks: Callable[[Sequence[Vector]], Matrix],
) -> RankTest:
    """The ranking by lines that a set's values are gathered to."""
    measured = [choice("measure", measure, MEASURES)(result) for result in results]
    rank = choice("ties", ties, TIES)
    shared = _shared(measured)
    if not shared:
        return RankTest((), (), None, None, names(results))
    lines = [np.round(blocks([m[name] for name in shared]), PLACES) for m in measured]
    average = np.mean([rank(-b).mean(axis=0) for b in lines], axis=0)
    order = np.argsort(average, kind="stable")
    testable = len(shared) >= FEWEST and sum(map(len, lines)) >= FEWEST
    return RankTest(
        tuple(shared[i] for i in order),
        tuple(float(average[i]) for i in order),
        _critical_difference(len(shared), [len(b) for b in lines]) if testable else None,
        _p_value(np.vstack(lines)) if testable else None,
        names(results),
    )


def _shared(measured: Sequence[Mapping[str, Vector]]) -> list[str]:
    """The strategies that are in all, in the order of the first."""
    first, *others = measured or [{}]
    return [name for name in first if all(name in other for other in others)]


def _critical_difference(strategies: int, blocks: Sequence[int]) -> float:
    """How far apart the averages of two strategies must be, by Nemenyi's test.

    Paper: none; Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 2006.

    A mean over sets of means over their blocks varies as one over N blocks does, where 1 / N is
    the sum of 1 / blocks over the sets, divided by the square of their number. With one block
    each, N is the number of sets.
    """
    k, N = strategies, len(blocks) ** 2 / sum(1 / b for b in blocks)
    q = float(studentized_range.ppf(1 - LEVEL, k, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * N)))


def _p_value(lines: Matrix) -> float:
    """How likely ranks this unequal are if all strategies are alike, by Friedman's test."""
    if np.ptp(lines, axis=1).max() == 0:
        return 1.0  # all tie everywhere, where the statistic is 0 / 0
    return float(friedmanchisquare(*lines.T).pvalue)
