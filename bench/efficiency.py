"""How well strategies spend labels over many sets: against random, against peers, against goals.

    results, one per set --ahead, needed--> Estimate --by_strategy, by_set, verdict--> tables, words

Accuracy over the run is what compare.py shows for one set, here averaged over sets; intervals are
over runs, which are drawn anew within each set and which all strategies share.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from possibal.arrays import Matrix, Places, Vector
from possibal.experiments.compare import FEWEST, RANDOM, draws, ends, in_words, reached
from possibal.experiments.reporting.paper_tables import BEST, Cell, TableColumn, TextTable
from possibal.experiments.reporting.rank_tests import PLACES
from possibal.experiments.results import Results

ANSWERS = (10, 25, 50)
"""After how many answers accuracy is shown."""
NEAR, NEAR_SHARE = 0.5, 0.85
"""Points behind the best peer of a set that count as near, and the share of sets to be near on."""
MOST_LABELS = 15
"""Labels that ours may need on average until it has reached what random ends with."""

Sets: TypeAlias = Sequence[Results]
"""One for each set, all with the same strategies and as many runs."""


@dataclass(frozen=True)
class Estimate:
    """A mean over sets.

    Attributes:
        value: the mean.
        interval: ends of its 95% interval over runs; None where runs are too few to tell.
    """

    value: float
    interval: tuple[float, float] | None

    @property
    def numbers(self) -> tuple[float, float, float]:
        """The mean and both ends, for a file."""
        return (self.value, *(self.interval or (np.nan, np.nan)))

    @property
    def low(self) -> float:
        """The lower end; anything is possible where runs are too few."""
        return self.interval[0] if self.interval else -np.inf


# ---------------------------------------------------------------- measures
def over(results: Sets, name: str) -> float:
    """Accuracy over the run in percent, averaged over sets."""
    return float(np.mean([_percent(one, name).mean() for one in results]))


def _percent(one: Results, name: str, at: int | None = None) -> Vector:
    """Accuracy of each run of a set in percent, over the run or after so many answers."""
    if at is not None:
        return 100 * one.accuracy[name][:, at]
    lines = one.accuracy[name]
    return 50 * (lines[:, 1:] + lines[:, :-1]).mean(axis=1)  # the area, as results have it


def ahead(results: Sets, name: str, other: str, at: int | None = None) -> Estimate:
    """By how many points one strategy is ahead of another.

    Args:
        results: the sets.
        name: of the one.
        other: of the other.
        at: after how many answers; over the run if left out.
    """
    gaps = [_percent(one, name, at) - _percent(one, other, at) for one in results]
    return _estimate(results, lambda place, runs: runs @ gaps[place])


def needed(results: Sets, name: str, *, to_stay: bool = False) -> Estimate:
    """Labels asked for until the mean curve of a strategy has come to what random ends with.

    A curve that never does counts as needing one label more than it was given.

    Args:
        results: the sets.
        name: of the strategy.
        to_stay: whether it must not fall below again.
    """
    find = reached if to_stay else _first

    def count(place: int, runs: Matrix) -> Vector:
        lines = results[place].accuracy
        ours, theirs = (np.round(runs @ lines[s], PLACES) for s in (name, RANDOM))
        return find(ours, theirs[:, -1]).astype(float)

    return _estimate(results, count)


def _first(curves: Matrix, goal: Vector) -> Places:
    """The first place at which each curve is at its goal or above; its length if none."""
    there = curves >= goal[:, None]
    return np.where(there.any(axis=1), there.argmax(axis=1), curves.shape[1])


def _estimate(results: Sets, measure: Callable[[int, Matrix], Vector]) -> Estimate:
    """A mean over sets with its interval.

    Args:
        results: the sets.
        measure: of a set by its place, for each line of weights of its runs.
    """
    every = [
        np.full((1, one.experiment.sizes.runs), 1 / one.experiment.sizes.runs) for one in results
    ]
    value = float(np.mean([measure(place, runs) for place, runs in enumerate(every)]))
    if min(one.experiment.sizes.runs for one in results) < FEWEST:
        return Estimate(value, None)
    many = [measure(place, _weights(one, place)) for place, one in enumerate(results)]
    return Estimate(value, ends(np.mean(many, axis=0)))


def _weights(one: Results, place: int) -> Matrix:
    """How much each run of a set counts in each draw."""
    runs = np.arange(one.experiment.sizes.runs)
    return (draws(one, place)[:, :, None] == runs).mean(axis=1)


# ---------------------------------------------------------------- results
def joined(ours: Sets, theirs: Sets) -> list[Results]:
    """Our results, but for the strategies of others those by the models they are used with."""
    return [
        replace(one, accuracy={**one.accuracy, **two.accuracy})
        for one, two in zip(ours, theirs, strict=True)
    ]


def chosen(results: Sets, names: Sequence[str]) -> list[Results]:
    """The results of some strategies, and first of all their mean over the sets.

    Labels of the mean are counted as on the set that starts with fewest.
    """
    kept = [replace(one, accuracy={name: one.accuracy[name] for name in names}) for one in results]
    title, start = f"mean of {len(kept)} sets", min(one.start for one in kept)
    lines = {name: np.mean([one.accuracy[name] for one in kept], axis=0) for name in names}
    return [Results(replace(kept[0].experiment, dataset=title), start, lines), *kept]


def best(results: Sets, names: Iterable[str]) -> str:
    """The strategy that is most accurate over the run."""
    return max(names, key=lambda name: over(results, name))


# ---------------------------------------------------------------- tables
def by_strategy(results: Sets, ours: str, title: str, note: str) -> TextTable:
    """The strategies side by side over all sets, the most accurate over the run first.

    Args:
        results: the sets.
        ours: the strategy that all others are held against.
        title: of the table.
        note: on what the results are.
    """
    columns = (
        TableColumn("strategy"),
        TableColumn("over the run, %", ("over the run",), figures=True),
        _with_ends("ahead of random, points"),
        _with_ends(f"{ours} ahead of it, points"),
        *(
            TableColumn(f"after {at}, %", (f"after {at}",), figures=True)
            for at in _answers(results)
        ),
        _with_ends("labels needed"),
        _with_ends("to stay"),
    )
    order = sorted(results[0].accuracy, key=lambda name: -over(results, name))
    rows = tuple(_strategy_row(results, name, ours) for name in order)
    told = (
        "Labels needed: asked for until the mean curve of a set reaches random's accuracy after "
        "its last answer, and until it does to stay there; never counts as one more than all. "
        "Intervals are over runs, drawn anew within each set and shared by all strategies."
    )
    return TextTable(title, columns, rows, note=f"{note} {told}")


def _answers(results: Sets) -> list[int]:
    """After how many answers accuracy is shown, as far as so many were given."""
    return [at for at in ANSWERS if at <= results[0].experiment.sizes.queries]


def _with_ends(title: str) -> TableColumn:
    """A column of estimates."""
    return TableColumn(f"{title} [95 %]", (title, f"{title}, low", f"{title}, high"), figures=True)


def _strategy_row(results: Sets, name: str, ours: str) -> tuple[Cell, ...]:
    """The cells of one strategy."""
    at = [float(np.mean([one.accuracy[name][:, n] for one in results])) for n in _answers(results)]
    return (
        Cell(name),
        _number(over(results, name)),
        _gap(results, name, RANDOM),
        _gap(results, ours, name),
        *(_number(100 * share) for share in at),
        _labels(needed(results, name)),
        _labels(needed(results, name, to_stay=True)),
    )


def _number(percent: float, place: int = 0) -> Cell:
    return Cell(f"{percent:.1f}", place, (percent,))


def _gap(results: Sets, name: str, other: str) -> Cell:
    """By how much one is ahead of another, if they are two."""
    if name == other:
        return Cell()
    lead = ahead(results, name, other)
    return Cell(f"{lead.value:+.2f}{in_words(lead.interval, 2)}", numbers=lead.numbers)


def _labels(count: Estimate) -> Cell:
    """Labels needed."""
    words = "" if count.interval is None else " [{:.1f}, {:.1f}]".format(*count.interval)
    return Cell(f"{count.value:.1f}{words}", numbers=count.numbers)


def by_set(results: Sets, peers: Sequence[str], title: str, note: str) -> TextTable:
    """Accuracy over the run of every strategy on every set, the best peer of each set marked."""
    order = sorted(results[0].accuracy, key=lambda name: -over(results, name))
    columns = (
        TableColumn("set"),
        *(TableColumn(name, (name,), figures=True) for name in order),
    )
    rows = tuple(_set_row(one, order, best([one], peers)) for one in results)
    told = "Accuracy over the run in percent, the best peer of each set marked."
    return TextTable(title, columns, rows, note=f"{note} {told}")


def _set_row(one: Results, order: Sequence[str], leading: str) -> tuple[Cell, ...]:
    """The cells of one set."""
    marked = (_number(over([one], name), BEST * (name == leading)) for name in order)
    return Cell(one.experiment.dataset), *marked


def by_group(
    judged: Mapping[str, Mapping[str, Sets]], ours: str, peers: Sequence[str], note: str
) -> TextTable:
    """How far ours is ahead over groups of sets, of the best single peer of each group.

    Args:
        judged: the sets of each group, by the model that measures them and the group's name.
        ours: the strategy to be judged.
        peers: whom it is held against, random among them.
        note: on what the results are.
    """
    columns = (
        TableColumn("judged"),
        TableColumn("sets"),
        TableColumn("best single peer"),
        _with_ends("ahead of it, points"),
        _with_ends("ahead of random, points"),
        TableColumn(f"within {NEAR:g} of the best peer of the set"),
        TableColumn("worst against random"),
        _with_ends("labels needed"),
    )
    rows = tuple(
        (
            Cell(by),
            Cell(f"{group} ({len(results)})"),
            Cell(best(results, peers)),
            _gap(results, ours, best(results, peers)),
            _gap(results, ours, RANDOM),
            Cell(f"{sum(_behind(one, ours, peers) <= NEAR for one in results)}"),
            Cell(f"{-max(_behind(one, ours, [RANDOM]) for one in results):+.2f}"),
            _labels(needed(results, ours)),
        )
        for by, groups in judged.items()
        for group, results in groups.items()
    )
    return TextTable(f"{ours} by groups of sets", columns, rows, heads=2, note=note)


# ---------------------------------------------------------------- goals
OWN, LENT, REFEREE = "each by its own model", "all by possibal's model", "all by the referee"
"""Ways to judge: peers by the models they are used with, by possibal's, all by one other model."""


@dataclass(frozen=True)
class Lead:
    """Points over the run that ours should be ahead of the best single peer.

    Attributes:
        points: at least.
        sure: what the lower end of the interval should be above.
    """

    points: float
    sure: float


LEADS: Mapping[str, Lead] = MappingProxyType(
    {OWN: Lead(2.5, 1.5), LENT: Lead(1.0, 0.0), REFEREE: Lead(1.2, 0.0)}
)
"""By the way to judge."""


def _judged(claim: str, holds: bool, evidence: str) -> str:  # noqa: FBT001 - what it is about
    """The claim, whether it holds, and the figures that decide."""
    return f"{claim}: {'holds' if holds else 'missed'} ({evidence})."


def verdict(judged: Mapping[str, Sets], ours: str, peers: Sequence[str]) -> list[str]:
    """Whether ours spends labels as well as it should, one sentence for each goal.

    Args:
        judged: the same runs by each model that measures them.
        ours: the strategy to be judged.
        peers: whom it is held against, random among them.
    """
    own, alone = judged[OWN], (OWN, REFEREE)  # ours and random have possibal's model already
    return [
        *(_ahead_of_best(some, ours, peers, by) for by, some in judged.items()),
        *(_near_the_best(some, ours, peers, by) for by, some in judged.items()),
        *(_not_below_random(judged[by], ours, by) for by in alone),
        *(_few_labels(own, ours, to_stay=to_stay) for to_stay in (False, True)),
    ]


def _ahead_of_best(results: Sets, ours: str, peers: Sequence[str], by: str) -> str:
    """Is ours clearly ahead of the best single peer?"""
    peer = best(results, peers)
    lead, goal = ahead(results, ours, peer), LEADS[by]
    claim = (
        f"{ours} is ahead of the best single peer by at least {goal.points:.1f} points, surely by "
        f"more than {goal.sure:.1f}, {by}"
    )
    evidence = f"{lead.value:+.2f}{in_words(lead.interval, 2)} against {peer}"
    return _judged(claim, lead.value >= goal.points and lead.low > goal.sure, evidence)


def _near_the_best(results: Sets, ours: str, peers: Sequence[str], by: str) -> str:
    """Is ours near the best peer of each set, or better?"""
    gaps = {one.experiment.dataset: _behind(one, ours, peers) for one in results}
    far = {name: gap for name, gap in gaps.items() if gap > NEAR}
    near = len(gaps) - len(far)
    claim = (
        f"{ours} is within {NEAR:g} points of the best peer of the set, or better, on "
        f"{100 * NEAR_SHARE:.0f} % of sets, {by}"
    )
    told = "".join(f", {name} {-gap:+.1f}" for name, gap in far.items())
    evidence = f"on {near} of {len(gaps)}{told and '; not on'}{told[1:]}"
    return _judged(claim, near >= NEAR_SHARE * len(gaps), evidence)


def _behind(one: Results, ours: str, peers: Sequence[str]) -> float:
    """By how many points ours is behind the best peer of a set."""
    return over([one], best([one], peers)) - over([one], ours)


def _not_below_random(results: Sets, ours: str, by: str) -> str:
    """Is ours nowhere much worse than random?"""
    gaps = {one.experiment.dataset: _behind(one, ours, [RANDOM]) for one in results}
    worst = max(gaps, key=lambda name: gaps[name])
    claim = f"{ours} is nowhere more than {NEAR:g} points below random, {by}"
    return _judged(claim, gaps[worst] <= NEAR, f"at worst {-gaps[worst]:+.2f}, on {worst}")


def _few_labels(results: Sets, ours: str, *, to_stay: bool) -> str:
    """Does ours soon reach what random ends with?"""
    count = needed(results, ours, to_stay=to_stay)
    claim = (
        f"{ours} reaches random's accuracy after {results[0].experiment.sizes.queries} answers"
        f"{', to stay,' if to_stay else ''} with {MOST_LABELS} or fewer on average"
    )
    return _judged(claim, count.value <= MOST_LABELS, f"with {_labels(count).text}")
