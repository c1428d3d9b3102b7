"""The commands that show what possibal does: demo and strategies."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from possibal.acquisition.registry import STRATEGIES
from possibal.cli.console import bar, console, mistakes
from possibal.experiments import demo as demonstration
from possibal.experiments.demo import DATA, Outcome, Run, Settings
from possibal.experiments.reporting import demo_figure as drawing
from possibal.files import write
from possibal.processes import interrupts_ignored

SHOWN = 10
"""How many questions of the first run are printed."""
USUAL = Settings()


def demo(  # noqa: PLR0913 - one argument per option
    *,
    data: Annotated[str, typer.Option(help=f"One of {', '.join(DATA)}.")] = USUAL.data,
    strategy: Annotated[
        str, typer.Option(help=f"What picks the next row: {', '.join(STRATEGIES)}.")
    ] = USUAL.strategy,
    questions: Annotated[int, typer.Option(help="Labels to ask for in a run.")] = USUAL.questions,
    runs: Annotated[int, typer.Option(help="Runs to average over.")] = USUAL.runs,
    seed: Annotated[int, typer.Option(help="Same seed, same results.")] = USUAL.seed,
    jobs: Annotated[
        int | None, typer.Option(help="Runs at a time; one per core if left out.")
    ] = None,
    picture: Annotated[
        str, typer.Option(metavar="FILE", help="Where to draw; ends in .png.")
    ] = "possibal-demo.png",
) -> None:
    """Learn built-in data by asking for few labels, and compare with asking at random."""
    with mistakes():
        plan = demonstration.load(Settings(data, strategy, questions, runs, seed))
        path = _named(picture)
        drawing.check_picture(path)
        with interrupts_ignored():
            played = demonstration.play_all(plan, jobs)
    outcome = Outcome(plan, _watch(played, runs))
    shown = console()
    for part in (_questions_table(outcome), _accuracy_table(outcome)):
        shown.print(part, "")
    shown.print(demonstration.verdict(outcome), soft_wrap=True)
    write(path, drawing.picture(outcome))
    shown.print(f"The picture is in {path}", soft_wrap=True)


def strategies() -> None:
    """List the strategies that can pick the next row to label."""
    table = Table("strategy", "what it does")
    for name, strategy in STRATEGIES.items():
        table.add_row(name, (strategy.__doc__ or "").partition("\n")[0])
    console().print(table)


# ---------------------------------------------------------------- printing
def _questions_table(outcome: Outcome) -> Table:
    """What was asked in the first run."""
    settings, questions = outcome.plan.settings, outcome.runs[0].chosen.questions[:SHOWN]
    part = f"first {len(questions)} of {settings.questions} questions"
    table = Table(title=f"What {settings.strategy} asked in run 1 ({part})")
    for heading in ("question", "row", "it thought", "necessity", "usual", "answer", "accuracy"):
        table.add_column(
            heading, justify="left" if heading in {"it thought", "answer"} else "right"
        )
    table.caption = "usual: the median necessity of all rows it could have asked about"
    for number, asked in enumerate(questions, start=1):
        measured = f"{asked.necessity:.3f}", f"{asked.usual:.3f}"
        accuracy = f"{asked.accuracy:.1%}"
        table.add_row(str(number), str(asked.row), asked.leading, *measured, asked.answer, accuracy)
    return table


def _accuracy_table(outcome: Outcome) -> Table:
    """Mean accuracy at a few label counts, with the paired difference."""
    settings = outcome.plan.settings
    table = Table(title=f"Accuracy on {settings.data}, mean of {settings.runs} runs")
    for heading in ("labels", settings.strategy, "random", "difference in points [95% interval]"):
        table.add_column(heading, justify="right")
    chosen, random = outcome.chosen, outcome.random
    gap = demonstration.interval(100 * (chosen - random))
    for at in np.unique(np.linspace(0, settings.questions, 7).round().astype(int)):
        table.add_row(
            str(outcome.labels[at]),
            f"{chosen[:, at].mean():.1%}",
            f"{random[:, at].mean():.1%}",
            f"{gap.mean[at]:+.1f} [{gap.low[at]:+.1f}, {gap.high[at]:+.1f}]",
        )
    return table


def _watch(played: Iterator[Run], total: int) -> tuple[Run, ...]:
    """Every run, with a bar that grows as they end if a person is watching."""
    runs = list[Run]()
    with bar(total) as show:
        show("Asking and answering", 0)
        for run in played:
            runs.append(run)
            show("Asking and answering", 1)
    return tuple(runs)


def _named(picture: str) -> Path:
    """The path of the picture; no name at all would pass for the folder we are in."""
    if not picture:
        raise ValueError("picture must name a file; got ''. Write, say, --picture demo.png.")
    return Path(picture)
