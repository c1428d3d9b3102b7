"""A comparison as a table: accuracies and labels saved of strategies side by side."""

from collections.abc import Mapping
from types import MappingProxyType

from possibal.experiments.compare import (
    FEWEST,
    GAINED,
    RANDOM,
    in_words,
    mean_interval,
    reached,
    saving,
    target_accuracy,
)
from possibal.experiments.reporting.paper_tables import Cell, TableColumn, TextTable
from possibal.experiments.results import Results
from possibal.experiments.spec import REFEREES

NOBODY: Mapping[str, Results] = MappingProxyType({})


def comparison_table(results: Results, judged: Mapping[str, Results] = NOBODY) -> TextTable:
    """The strategies side by side, the most accurate over the whole run first.

    Args:
        results: by our own model.
        judged: the same runs by referees, by name.
    """
    columns = (
        TableColumn("strategy"),
        TableColumn("accuracy over all answers, %", figures=True),
        TableColumn("ahead of random, points [95 %]", figures=True),
        *(
            TableColumn(title, figures=True)
            for name in judged
            for title in (f"by {name}, %", f"ahead of random by {name}, points [95 %]")
        ),
        TableColumn("accuracy in the end, %", figures=True),
        TableColumn("labels needed", figures=True),
        TableColumn("labels saved [95 %]", figures=True),
    )
    order = sorted(results.area, key=lambda name: -results.area[name].mean())
    rows = tuple(_row(results, judged, name) for name in order)
    size = results.experiment.sizes
    note = (
        f"{size.runs} runs of {size.queries} questions, pools of {size.pool} rows, {size.test} "
        f"other rows to test on. Labels needed: until the mean accuracy has gained {GAINED:.0%} of "
        "what random gains in all, to stay there. Intervals are over runs, which share their rows"
        + ("." if size.runs >= FEWEST else f"; they need at least {FEWEST} runs.")
        + "".join(
            f" By {name}: {REFEREES[name]} that learns from the same labels." for name in judged
        )
    )
    return TextTable(f"Strategies on {results.experiment.dataset}", columns, rows, note=note)


def _row(results: Results, judged: Mapping[str, Results], name: str) -> tuple[Cell, ...]:
    """The cells of one strategy."""
    final = Cell(f"{100 * results.final[name].mean():.1f}")
    over = [cell for one in (results, *judged.values()) for cell in _over(one, name)]
    if name == RANDOM:
        curve = results.accuracy[name].mean(axis=0)
        needed = results.start + int(reached(curve, target_accuracy(results.accuracy[name])))
        return Cell(name), *over, final, Cell(str(needed)), Cell()
    saved = saving(results, name)
    return (
        Cell(name),
        *over,
        final,
        Cell("not reached" if saved.needed is None else str(saved.needed)),
        Cell(f"{saved.saved:+d}{in_words(saved.interval, 0)}"),
    )


def _over(results: Results, name: str) -> tuple[Cell, Cell]:
    """Accuracy over all answers, and by how much it is ahead of random's."""
    over = 100 * results.area[name]
    gap = over - 100 * results.area[RANDOM]
    lead = "" if name == RANDOM else f"{gap.mean():+.1f}{in_words(mean_interval(gap, results), 1)}"
    return Cell(f"{over.mean():.1f}"), Cell(lead)
