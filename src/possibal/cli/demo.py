"""The commands that show what possibal does: demo, strategies and plugins.

What they do is imported when they run, so that help comes at once.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from possibal.arguments import DEFAULT_STRATEGY, at_least
from possibal.cli.console import console, mistakes
from possibal.errors import PluginError
from possibal.experiments.spec import DEMO_QUESTIONS, DEMO_SETS, RUNS
from possibal.files import write
from possibal.progress import bar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from possibal.experiments.demo import Demonstration
    from possibal.experiments.results import Run
    from possibal.plugins import Plugin, PluginGroup

SHOWN = 10
"""How many questions of the first run are printed."""
USUAL_PICTURE = "possibal-demo.png"
NO_PLUGINS = "No plug-in is installed; docs/plugins.md says how to make one."
UNDRAWN = (
    "No picture was drawn, for matplotlib is not installed: "
    "run pip install 'possibal[plot]' for one."
)


def demo(  # noqa: PLR0913 - one argument per option
    *,
    data: Annotated[str, typer.Option(help=f"One of {', '.join(DEMO_SETS)}.")] = DEMO_SETS[0],
    strategy: Annotated[
        str,
        typer.Option(help="What picks the next row; possibal strategies shows what there is."),
    ] = DEFAULT_STRATEGY,
    questions: Annotated[int, typer.Option(help="Labels to ask for in a run.")] = DEMO_QUESTIONS,
    runs: Annotated[int, typer.Option(help="Runs to average over.")] = RUNS,
    seed: Annotated[int, typer.Option(help="Same seed, same results.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Runs at a time; one per core if left out.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where to draw; ends in .png. Left out: possibal-demo.png, or no picture where "
            "matplotlib is not installed.",
        ),
    ] = None,
) -> None:
    """Learn built-in data by asking for few labels, and compare with asking at random."""
    from possibal.experiments import demo as demonstration
    from possibal.experiments.compare import verdict
    from possibal.experiments.engine.runner import cores
    from possibal.experiments.reporting import demo_figure

    with mistakes():
        request = demonstration.DemoRequest(data, strategy, questions, runs, seed)
        job = demonstration.demo_job(request)
        path = _picture(to)
        if path is not None:
            demo_figure.check_picture(path)
        if jobs is not None:
            at_least("jobs", jobs, 1)
    with cores(jobs) as execute:
        found = _watch(demonstration.simulated(job, execute), runs)
    outcome, shown = demonstration.Demonstration(job, found), console()
    for part in (_questions_table(outcome), _accuracy_table(outcome)):
        shown.print(part, "")
    shown.print(verdict(outcome.results), soft_wrap=True)
    if path is None:
        shown.print(UNDRAWN, soft_wrap=True)
        return
    write(path, demo_figure.picture(outcome))
    shown.print(f"The picture is in {path}", soft_wrap=True)


def strategies() -> None:
    """List the strategies that can pick the next row to label, those of plug-ins among them."""
    from possibal.acquisition.registry import STRATEGIES
    from possibal.plugins import PluginGroup

    table = Table("strategy", "what it does")
    for name, strategy in STRATEGIES.items():
        table.add_row(name, _first_line(strategy))
    found, refused = _usable(PluginGroup.STRATEGIES, STRATEGIES)
    for plugin, strategy in found:
        table.add_row(plugin.name, f"{_first_line(strategy)} ({plugin.distribution})".lstrip())
    console().print(table)
    _refuse(refused)


def plugins() -> None:
    """List the strategies, encoders and readers that other packages add."""
    from possibal.acquisition.registry import STRATEGIES
    from possibal.data.readers import OTHERS, READERS
    from possibal.plugins import PluginGroup

    table, refused = Table("plug-in", "name", "of", "what it does"), list[PluginError]()
    taken = {PluginGroup.STRATEGIES: STRATEGIES, PluginGroup.READERS: (*READERS, *OTHERS)}
    for group in PluginGroup:
        found, others = _usable(group, taken.get(group, ()))
        refused += others
        for plugin, function in found:
            kind = str(group).partition(".")[2]
            table.add_row(kind, plugin.name, plugin.distribution, _first_line(function))
    console().print(table if table.row_count else NO_PLUGINS)
    _refuse(refused)


def _usable(
    group: "PluginGroup", taken: "Collection[str]"
) -> "tuple[list[tuple[Plugin, object]], list[PluginError]]":
    """The plug-ins of a group with what they name, and the sentences on those that cannot be had.

    Args:
        group: of plug-ins.
        taken: names that are ours.
    """
    from possibal.plugins import find_plugin, installed_plugins

    found, refused = list[tuple["Plugin", object]](), list[PluginError]()
    for name in dict.fromkeys(plugin.name for plugin in installed_plugins(group)):
        try:
            plugin = find_plugin(group, name)
            if plugin is not None:
                plugin.check_free(taken)
                found.append((plugin, plugin.load()))
        except PluginError as error:
            refused.append(error)
    return found, refused


def _refuse(refused: "Sequence[PluginError]") -> None:
    """Tell of plug-ins that cannot be had, the last of them as the mistake."""
    for error in refused[:-1]:
        typer.echo(f"possibal: {error}", err=True)
    for error in refused[-1:]:
        raise error


def _first_line(function: object) -> str:
    """What a function says it does."""
    return (function.__doc__ or "").strip().partition("\n")[0]


# ---------------------------------------------------------------- printing
def _questions_table(outcome: "Demonstration") -> Table:
    """What was asked in the first run."""
    questions, total = outcome.questions(SHOWN), outcome.job.experiment.sizes.queries
    part = f"first {len(questions)} of {total} questions"
    table = Table(title=f"What {outcome.strategy} asked in run 1 ({part})")
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


def _accuracy_table(outcome: "Demonstration") -> Table:
    """Mean accuracy at a few label counts, with the paired difference."""
    from possibal.experiments.compare import RANDOM, in_words, mean_interval

    results, strategy = outcome.results, outcome.strategy
    size = results.experiment.sizes
    table = Table(title=f"Accuracy on {results.experiment.dataset}, mean of {size.runs} runs")
    for heading in ("labels", strategy, "random", "difference in points [95% interval]"):
        table.add_column(heading, justify="right")
    chosen, random = results.accuracy[strategy], results.accuracy[RANDOM]
    for at in sorted({round(size.queries * part / 6) for part in range(7)}):
        gap = 100 * (chosen[:, at] - random[:, at])
        table.add_row(
            str(results.start + at),
            f"{chosen[:, at].mean():.1%}",
            f"{random[:, at].mean():.1%}",
            f"{gap.mean():+.1f}{in_words(mean_interval(gap, results), 1)}",
        )
    return table


def _watch(played: "Iterator[list[Run]]", total: int) -> "tuple[Run, ...]":
    """Every run, with a bar that grows as they end if a person is watching."""
    runs = list["Run"]()
    with bar(total) as show:
        show("Asking and answering", 0)
        for some in played:
            runs += some
            show("Asking and answering", 1)
    return tuple(runs)


def _picture(to: str | None) -> Path | None:
    """Where to draw, which an empty name does not say; nowhere if nobody asked and nothing can."""
    from possibal.experiments.reporting.figures import can_draw

    if to is None:
        return Path(USUAL_PICTURE) if can_draw() else None
    if not to:
        raise ValueError("to must name a file; got ''. Write, say, --to demo.png.")
    return Path(to)
