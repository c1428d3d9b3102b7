"""The command line: parse, call, print.

A mistake of the user's is one line on standard error, with exit code 2. Anything else that
goes wrong is a bug and shows its traceback.
"""

import os
import sys
from collections.abc import Callable, Sequence
from inspect import cleandoc
from typing import Annotated, cast

import typer

import possibal
from possibal.cli import campaign, classes, demo, experiments, home, invite, label, rank
from possibal.errors import PossibalError

MISTAKE, INTERRUPTED, CLOSED = 2, 130, 1
"""Exit codes: the user's mistake, Ctrl-C, and a reader that went away."""
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""What typer raises for a line it cannot parse: click's class. Recent versions of typer carry it
along under another name, so it is reached through a subclass that all of them export."""
COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "label": (label.label, "possibal label reviews.csv --text review --classes good,bad"),
    "home": (home.home, "possibal home ~/campaigns"),
    "invite": (invite.invite, "possibal invite reviews.db ann bob"),
    "export": (campaign.export, "possibal export reviews.db --to labels.csv"),
    "import": (campaign.import_labels, "possibal import labels.csv reviews.db"),
    "status": (campaign.status, "possibal status reviews.db --json"),
    "classes": (classes.classes, "possibal classes reviews.db --rename spam=junk --add unclear"),
    "check": (classes.check, "possibal check reviews.db --rows 20"),
    "model": (campaign.model, "possibal model reviews.db --to model"),
    "predict": (campaign.predict, "possibal predict model new.csv --to predictions.csv"),
    "doctor": (campaign.doctor, "possibal doctor reviews.db"),
    "backup": (campaign.backup, "possibal backup reviews.db --to safe.db"),
    "rank": (rank.rank, "possibal rank pool.parquet --labels labels.csv --id name --top 20"),
    "datasets": (experiments.datasets, "possibal datasets"),
    "reproduce": (experiments.reproduce, "possibal reproduce all --quick --to again"),
    "compare": (experiments.compare, "possibal compare patients.csv --label outcome"),
    "demo": (demo.demo, "possibal demo --data wine --questions 20 --to wine.png"),
    "strategies": (demo.strategies, "possibal strategies"),
    "plugins": (demo.plugins, "possibal plugins"),
}
"""Each command, with an example. What is slow to import they import when they run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default this process's own, and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(given or ["home"])
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


OWN = ("rank", "reproduce", "compare")
"""Commands that take a strategy of one's own."""
OWN_STRATEGY = """

\b
Your own strategy is a function of latent mean and variance, or of a view; the
row with the largest number is asked next. In mine.py, for two classes:
    def closest(mean, variance):
        return -abs(mean) / variance**0.5
    def middle(view):
        centre = view.reference.mean(axis=0)
        return -abs(view.candidates - centre).sum(axis=1)
and on the command line --strategy mine:closest, or --strategy mine:middle."""
"""The end of their help."""
COMPLETING = "_POSSIBAL_COMPLETE"
"""What a shell sets when it asks how a line may go on."""
EARLIER = {"out": "to", "picture": "to"}
"""Earlier names of options, which are taken still, and what they are called now."""


def _present_name(word: str) -> str:
    """What an option is called now."""
    return EARLIER.get(word, word)


SETTINGS = {"help_option_names": ["-h", "--help"], "token_normalize_func": _present_name}
"""Of every command."""


# ---------------------------------------------------------------- commands
def _print_version(wanted: bool) -> None:
    """Print the version and stop, if it was asked for."""
    if wanted:
        typer.echo(f"possibal {possibal.__version__}")
        raise typer.Exit


def _possibal(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Active learning that tells what is not known from what is random."""


def _app(given: Sequence[str]) -> typer.Typer:
    """The command that is asked for, or all of them, which take longer to set up."""
    app = typer.Typer(
        rich_markup_mode="rich", pretty_exceptions_enable=False, context_settings=SETTINGS
    )
    app.callback(epilog=f"Example: {COMMANDS['label'][1]}")(_possibal)
    is_one = given[0] in COMMANDS and COMPLETING not in os.environ
    for name in given[:1] if is_one else COMMANDS:
        command, example = COMMANDS[name]
        told = cleandoc(command.__doc__ or "") + OWN_STRATEGY * (name in OWN)
        app.command(name, help=told, epilog=f"Example: {example}")(command)
    return app


# ---------------------------------------------------------------- mistakes
def _run(arguments: list[str]) -> int:
    """The exit code of a command line; its errors are for the caller to tell."""
    command = typer.main.get_command(_app(arguments))
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
    words = [word for word in given if not word.startswith("-")][:1]
    usual = " ".join(["possibal", *(word for word in words if word in COMMANDS)])
    return f"See {error.ctx.command_path if error.ctx else usual} --help."


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
