"""Which campaign a command is about: the one named, else the only one of the folder we are in."""

from pathlib import Path
from typing import Annotated

import typer

from possibal.errors import MistakeError

ENDING = ".db"
NAMED = "Name one, such as reviews.db or postgresql://USER@HOST/NAME."
LISTED = 10
"""Campaigns that are named where there are several."""


def campaign_here() -> str:
    """The only campaign file of the folder we are in, told on standard error."""
    found = sorted(path.name for path in Path().iterdir() if _may_be_campaign(path))
    if len(found) == 1:
        typer.echo(f"The campaign is {found[0]}, the only {ENDING} file here.", err=True)
        return found[0]
    if not found:
        raise MistakeError(f"db must be given; got none, and no {ENDING} file is here. {NAMED}")
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    raise MistakeError(
        f"db must be given where several {ENDING} files are; got none, and here are "
        f"{', '.join(found[:LISTED])}{more}. Name one of them."
    )


def is_campaign_name(word: str) -> bool:
    """Whether a word stands for a campaign: an address, or a file by its ending or that is there.

    Other words may be people's names.
    """
    return "://" in word or word.endswith(ENDING) or Path(word).is_file()


def _may_be_campaign(path: Path) -> bool:
    """Whether a file is called as campaigns are; hidden ones are others' business."""
    return path.suffix == ENDING and not path.name.startswith(".") and path.is_file()


Database = Annotated[
    str,
    typer.Argument(
        metavar="DB",
        default_factory=campaign_here,
        show_default=False,
        help="The campaign: a file such as reviews.db, or postgresql://USER@HOST/NAME. "
        "Left out: the only .db file of this folder.",
    ),
]
