"""The command that says who may come in; what it does is imported when it runs."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from possibal.cli.campaign_here import Database, campaign_here, is_campaign_name
from possibal.cli.console import console, grid, mistakes

if TYPE_CHECKING:
    from possibal.labelling.storage.invitations import Invitation


class InvitedRole(StrEnum):
    """What somebody who is invited may do."""

    ANNOTATOR = "annotator"
    OWNER = "owner"


def invite(  # noqa: PLR0913 - one argument per option
    db: Database,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Whom to invite; left out: all who are, are listed."),
    ] = None,
    *,
    role: Annotated[
        InvitedRole, typer.Option(help="What they may do: label, or everything.")
    ] = InvitedRole.ANNOTATOR,
    days: Annotated[float, typer.Option(help="For which the address can be used.")] = 7,
    address: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where the page is; left out: where it was served last."),
    ] = None,
    withdraw: Annotated[
        list[int] | None,
        typer.Option(metavar="NUMBER", help="Withdraw an invitation; who joined by it is out."),
    ] = None,
) -> None:
    """Invite people to label: each gets an address that lets one browser in, once.

    Answers have the name that somebody was invited by. Annotators label, owners do everything:
    classes, check rows, settling, downloading, inviting. Without names, lists who is invited and
    who is in, with the number by which an invitation is withdrawn. A file that a page has open is
    changed in that page (People); a campaign in PostgreSQL can be changed while people label.
    """
    from possibal.cli import invite_session

    people = tuple(names or ())
    if not is_campaign_name(db):
        db, people = campaign_here(), (db, *people)
    with mistakes():
        wanted = invite_session.InviteRequest(
            people, role.value, days, address, tuple(withdraw or ())
        )
        said, found = invite_session.invited(db, wanted)
    for sentence in said:
        console().print(sentence, soft_wrap=True)
    if not said:
        heads = [("number", True), ("name", False), ("role", False), ("state", False)]
        console().print(grid("Invitations", heads, [_line(one) for one in found]))


def _line(one: "Invitation") -> list[str]:
    """An invitation as a line of a table."""
    from possibal.cli.invite_session import state

    return [str(one.number), one.who or "(whoever started the server)", str(one.role), state(one)]
