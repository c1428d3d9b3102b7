"""The command line: parse, call, print.

A mistake of the user's is told in one line on standard error, with exit code 2. Anything else that
goes wrong is a bug and shows its traceback.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, cast

import numpy as np
import typer
from rich.table import Table

import possibal
from possibal import demo as demonstration
from possibal import labelling, outcome, studies
from possibal import picture as drawing
from possibal.acquisition import STRATEGIES
from possibal.demo import DATA, Outcome, Run, Settings
from possibal.errors import PossibalError
from possibal.interrupts import interrupts_ignored
from possibal.terminal import bar, console, mistakes
from possibal.writing import write

MISTAKE, INTERRUPTED, CLOSED = 2, 130, 1
"""Exit codes: the user's mistake, Ctrl-C, and a reader that went away."""
SHOWN = 10
"""How many questions of the first run are printed."""
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""What typer raises for a line it cannot parse: click's class. Recent versions of typer carry it
along under another name, so it is reached through a subclass that all of them export."""
USUAL = Settings()

app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default this process's own, and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(given or ["--help"])
    except UsageError as error:
        code = _tell(f"{_ended(error.format_message())} {_hint(error, given)}")
    except PossibalError as error:
        code = _tell(str(error))
    except BrokenPipeError:
        code = CLOSED
    except OSError as error:
        code = _tell(_reason(error))
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    return _flushed(code)


# ---------------------------------------------------------------- commands
def _print_version(wanted: bool) -> None:
    """Print the version and stop, if it was asked for."""
    if wanted:
        typer.echo(f"possibal {possibal.__version__}")
        raise typer.Exit


@app.callback(epilog="Example: possibal label reviews.csv --text review --classes good,bad")
def _possibal(  # pyright: ignore[reportUnusedFunction] - typer calls it
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Active learning that tells what is not known from what is random."""


COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "label": (labelling.label, "possibal label reviews.csv --text review --classes good,bad"),
    "export": (outcome.export, "possibal export reviews.db --to labels.csv"),
    "import": (outcome.import_labels, "possibal import labels.csv reviews.db"),
    "status": (outcome.status, "possibal status reviews.db --json"),
    "model": (outcome.model, "possibal model reviews.db --to model"),
    "predict": (outcome.predict, "possibal predict model new.csv --to predictions.csv"),
    "doctor": (outcome.doctor, "possibal doctor reviews.db"),
    "backup": (outcome.backup, "possibal backup reviews.db --to safe.db"),
    "datasets": (studies.datasets, "possibal datasets"),
    "reproduce": (studies.reproduce, "possibal reproduce all --quick --out again"),
    "compare": (studies.compare, "possibal compare patients.csv --label outcome"),
}
"""Commands of other modules, with an example each."""
for _name, (_command, _example) in COMMANDS.items():
    app.command(_name, epilog=f"Example: {_example}")(_command)


@app.command(epilog="Example: possibal demo --data wine --questions 20 --picture wine.png")
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


@app.command(epilog="Example: possibal strategies")
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


# ---------------------------------------------------------------- mistakes
def _run(arguments: list[str]) -> int:
    """The exit code of a command line; its errors are for the caller to tell."""
    command = typer.main.get_command(app)
    code = command.main(arguments, prog_name="possibal", standalone_mode=False)
    return code if isinstance(code, int) else 0


def _tell(sentence: str) -> int:
    """Print one line about a mistake, and return the exit code for it."""
    typer.echo(f"possibal: {' '.join(sentence.split())}", err=True)
    return MISTAKE


def _ended(sentence: str) -> str:
    """The sentence with its full stop, if it has no ending yet."""
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."


def _hint(error: typer.BadParameter, given: list[str]) -> str:
    """Where the help is for what could not be parsed; an option without its value has no context.

    The command itself takes no values, so the first word that is no option names a command.
    """
    names = {*COMMANDS, "demo", "strategies"}
    words = [word for word in given if not word.startswith("-")][:1]
    usual = " ".join(["possibal", *(word for word in words if word in names)])
    return f"See {error.ctx.command_path if error.ctx else usual} --help."


def _named(picture: str) -> Path:
    """The path of the picture; no name at all would pass for the folder we are in."""
    if not picture:
        raise ValueError("picture must name a file; got ''. Write, say, --picture demo.png.")
    return Path(picture)


def _reason(error: OSError) -> str:
    """What the system would not do, and to which file."""
    return f"{error.strerror or error}: {error.filename or 'standard output'}."


def _flushed(code: int) -> int:
    """The exit code once everything printed has left; another if it cannot leave."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # The flush at exit would fail as well: let it write to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or (CLOSED if isinstance(error, BrokenPipeError) else _tell(_reason(error)))
    return code
