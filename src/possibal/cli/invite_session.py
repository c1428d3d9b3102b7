"""Session of `possibal invite`: all that is asked for is done, or nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

from possibal.labelling.access import AccessControl, check_days
from possibal.labelling.label_files import timestamp
from possibal.labelling.serving import SERVED_AT
from possibal.labelling.storage.database import SCHEMA
from possibal.labelling.storage.invitations import Invitation, Role, listed_invitations
from possibal.labelling.storage.journal import check_who
from possibal.labelling.storage.store import Store, clock
from possibal.labelling.web.server import Address, invitation_address


@dataclass(frozen=True)
class InviteRequest:
    """Whom to invite and whom not, as a user asks for it.

    Attributes:
        names: of people to invite.
        role: of all of them.
        days: for which their addresses can be used.
        address: where the page is; where it was served last, if left out.
        withdrawn: numbers of invitations that are withdrawn first.
    """

    names: tuple[str, ...]
    role: str
    days: float
    address: str | None
    withdrawn: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse what makes no sense before anything is done."""
        for name in self.names:
            check_who(name)
        check_days(self.days)
        Address(public=self.address)

    @property
    def is_empty(self) -> bool:
        """Whether invitations are only to be listed."""
        return not self.names and not self.withdrawn


def invited(db: str, wanted: InviteRequest) -> tuple[list[str], list[Invitation]]:
    """What was done, in sentences, and the invitations after it."""
    with Store.open(db, writes=not wanted.is_empty) as store:
        if store.version < SCHEMA:
            raise ValueError(
                f"db must be of version {SCHEMA}; got version {store.version}. "
                "Open it once with possibal label."
            )
        said = list(_changes(store, wanted)) if not wanted.is_empty else []
        with store.reading() as connection:
            return said, listed_invitations(connection)


def _changes(store: Store, wanted: InviteRequest) -> Iterator[str]:
    """Withdraw and invite, and say so."""
    origin = wanted.address or store.fact(SERVED_AT)
    if origin is None and wanted.names:
        raise ValueError(
            "address must be given for a campaign that was never served; got none. "
            "Write, say, --address https://labels.example.org."
        )
    access = AccessControl(store)
    access.check_numbers(wanted.withdrawn)
    for number in wanted.withdrawn:
        access.withdraw(number)
        yield f"Withdrew invitation {number}."
    for name in wanted.names:
        code = access.invite(name, Role(wanted.role), wanted.days)
        yield f"For {name}: {invitation_address(origin or '', code, name)}"


def state(one: Invitation) -> str:
    """How far an invitation is."""
    if one.joined is not None:
        return f"in since {timestamp(one.joined)}"
    is_open = one.expires > clock()
    return f"open until {timestamp(one.expires)}" if is_open else "too old"
