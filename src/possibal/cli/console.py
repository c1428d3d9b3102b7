"""What commands share: printing, and the line between a mistake and a bug."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from possibal.errors import MistakeError

Kernel = Annotated[
    str | None,
    typer.Option(
        metavar="rbf",
        help="By what the model finds rows alike. Left out: by all columns together, and by each "
        "by itself; texts and pictures also by the clusters they form. rbf: by all columns "
        "together alone.",
    ),
]
COMMAND_LINE = "command line"
"""Who changes a campaign from here if nobody says otherwise."""
LONGEST_NAME = 40
"""Characters of a name in a table that are shown."""


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


def grid(title: str, heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]) -> Table:
    """A table to print; a head comes with whether its column holds numbers.

    Names in the first column stay on one line, and very long ones leave room for the others.
    """
    table = Table(title=title, title_justify="left")
    for head, figures in heads:
        first = not table.columns
        side, width = "right" if figures else "left", LONGEST_NAME if first else None
        table.add_column(head, justify=side, no_wrap=first, max_width=width)
    for row in rows:
        table.add_row(*row)
    return table
