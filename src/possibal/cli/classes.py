"""The commands that change a running campaign: its classes, and the rows that measure its model.

What they do is imported when they run, so that help comes at once.
"""

from typing import Annotated

import typer

from possibal.cli.campaign_here import Database
from possibal.cli.console import COMMAND_LINE, console, grid, mistakes

Who = Annotated[str, typer.Option(metavar="NAME", help="The name under which the change is kept.")]


# ---------------------------------------------------------------- classes
def classes(  # noqa: PLR0913 - one argument per option
    db: Database,
    *,
    add: Annotated[list[str], typer.Option(metavar="NAME", help="A new class.")] = [],  # noqa: B006 - typer's own way
    rename: Annotated[
        list[str],
        typer.Option(
            metavar="OLD=NEW", help="Another name for a class; answers under the old one count."
        ),
    ] = [],  # noqa: B006 - as above
    merge: Annotated[
        list[str],
        typer.Option(metavar="A=B", help="Let all rows of class A count as class B, which stays."),
    ] = [],  # noqa: B006 - as above
    remove: Annotated[
        list[str], typer.Option(metavar="NAME", help="Take out a class that no row has.")
    ] = [],  # noqa: B006 - as above
    describe: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=TEXT", help="A sentence shown while labelling; without one, none."
        ),
    ] = [],  # noqa: B006 - as above
    colour: Annotated[
        list[str],
        typer.Option(metavar="NAME=#RRGGBB", help="The colour of its button; without one, none."),
    ] = [],  # noqa: B006 - as above
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the last change made under this name.")
    ] = False,
    who: Who = COMMAND_LINE,
) -> None:
    """List the classes of a campaign, or change them: all that is asked for, or nothing.

    Every option but --undo and --who may be given several times. They are done in this order:
    undo, add, rename, merge, describe, colour, remove. Labels are never lost: a rename or a merge
    changes how answers are read, also those still on their way, and undo gives the old names back.
    Listing works while people label; to change classes then, use the page ("Classes...").
    """
    from possibal.cli.classes_session import ClassRequest, changed

    wanted = ClassRequest(undo, add, rename, merge, describe, colour, remove, who)
    with mistakes():
        said, found = changed(db, wanted)
    for sentence in said:
        console().print(sentence, soft_wrap=True)
    heads = [("class", False), ("rows", True), ("colour", False), ("description", False)]
    rows = [[one.name, str(one.rows), one.colour, one.description] for one in found]
    console().print(grid("Classes", heads, rows))


# ---------------------------------------------------------------- check rows
def check(
    db: Database,
    *,
    rows: Annotated[int, typer.Option(metavar="N", help="How many more.")] = 20,
    who: Who = COMMAND_LINE,
) -> None:
    """Draw more check rows: the model never learns from them, so that they measure it.

    They are drawn at random from all rows, labelled or not; at most half of all rows may be check
    rows. A row that has a label already counts as answered, and the model forgets it. The page
    asks about the others next, and then shows how often the model is right. possibal classes DB
    --undo takes it back.
    """
    from possibal.cli.classes_session import drawn

    with mistakes():
        size, answered = drawn(db, rows, who)
    said = f"There are {size} check rows now, of which {answered} have a label."
    console().print(said, soft_wrap=True)
