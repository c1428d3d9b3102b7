"""What commands share: printing, bars, and the line between a mistake and a bug."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from possibal.errors import MistakeError

COMMAND_LINE = "command line"
"""Who changes a campaign from here if nobody says otherwise."""


def console() -> Console:
    """Standard output as it is now; brackets and numbers are printed as they stand."""
    return Console(markup=False, highlight=False)


@contextmanager
def mistakes() -> Generator[None]:
    """Where the library checks what the user typed: its refusals are no bugs."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise MistakeError(str(error)) from error


@contextmanager
def bar(total: float) -> Generator[Callable[[str, float], None]]:
    """A bar with the time left, if a person is watching; it is told what was done, and how much."""
    shown = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=shown, transient=True, disable=not shown.is_terminal
    ) as progress:
        task = progress.add_task("", total=total)

        def show(words: str, done: float) -> None:
            """Let the bar grow; new words are seen at once, however soon others follow."""
            is_new = words != progress.tasks[0].description
            progress.update(task, description=words, advance=done, refresh=is_new)

        yield show


@contextmanager
def shares() -> Generator[Callable[[str, float], None]]:
    """A bar that is told what is done, and the share of all that is done."""
    with bar(1.0) as show:
        last = 0.0

        def tell(words: str, share: float) -> None:
            """Let the bar grow by what came since."""
            nonlocal last
            show(words, max(0.0, share - last))
            last = max(last, share)

        yield tell


def grid(title: str, heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]) -> Table:
    """A table to print; a head comes with whether its column holds numbers."""
    table = Table(title=title, title_justify="left")
    for head, figures in heads:
        table.add_column(head, justify="right" if figures else "left", no_wrap=not table.columns)
    for row in rows:
        table.add_row(*row)
    return table
