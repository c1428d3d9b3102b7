"""Invitations to a campaign, and the sessions that they are exchanged for, as tables.

Nothing that lets anybody in is kept, only digests (SHA-256) of it. The functions are for inside a
transaction: whoever writes is alone, so that an invitation is exchanged once.
"""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from sqlalchemy import Connection, delete, insert, select, update

from possibal.errors import RefusedError
from possibal.labelling.storage.database import invitations, sessions


class Role(StrEnum):
    """What somebody may do; the value is what the table holds."""

    OWNER = "owner"
    ANNOTATOR = "annotator"
    PLATFORM = "platform"
    """Another labelling platform: it is told predictions and hands over what its people say."""


@dataclass(frozen=True)
class Invitation:
    """An address that lets one browser in, once.

    Attributes:
        role: of whoever joins by it.
        who: the name that their answers have; None lets them choose one.
        expires: when it can be used no more, in milliseconds.
        made: when it was made.
        joined: when it was used; None if it was not.
        number: by which it is withdrawn; zero before it is kept.
    """

    role: Role
    who: str | None
    expires: int
    made: int = 0
    joined: int | None = None
    number: int = 0


@dataclass(frozen=True)
class Visitor:
    """Whoever a request comes from.

    Attributes:
        role: what they may do.
        who: the name under which alone they answer; None if they choose one.
        invitation: the number of the one by which they joined.
        expires: when their session ends, in milliseconds.
    """

    role: Role
    who: str | None
    invitation: int = 0
    expires: int = 2**53

    @property
    def is_owner(self) -> bool:
        """Whether they may do everything."""
        return self.role is Role.OWNER


@dataclass(frozen=True)
class SessionKeys:
    """Digests of what a browser holds: what it sends with requests, and with those of pictures."""

    secret: str
    pictures: str


def digest(secret: str) -> str:
    """What is kept of a secret of which there are too many to be tried."""
    return sha256(secret.encode()).hexdigest()


def add_invitation(connection: Connection, draft: Invitation, code: str) -> int:
    """The number of a new invitation, kept under the digest of its code."""
    values = {name: value for name, value in vars(draft).items() if name != "number"}
    added = insert(invitations).values(code=code, **values).returning(invitations.c.number)
    return connection.execute(added).scalar_one()


def exchange(
    connection: Connection, code: str, keys: SessionKeys, now: int, expires: int
) -> Visitor:
    """Begin a session by an invitation, once; the same browser may ask again, and gets the same.

    Args:
        connection: in a transaction that writes.
        code: digest of what the address had.
        keys: of the browser.
        now: in milliseconds.
        expires: when the session ends.
    """
    c = invitations.c
    query = select(c.number, c.role, c.who, c.expires, c.joined).where(c.code == code)
    found = connection.execute(query).one_or_none()
    if found is None:
        raise RefusedError(
            "This campaign does not know the invitation: it may have been withdrawn, or be for "
            "another one. Ask for a new address."
        )
    number, role, who, until, joined = found
    known = sessions.c.secret == keys.secret
    begun_by = connection.execute(select(sessions.c.invitation).where(known)).scalar()
    if begun_by == number:
        return Visitor(Role(role), who, number, expires)
    if joined is not None:
        raise RefusedError(
            "This invitation was used already: an address lets one browser in, once. "
            "Ask for a new one."
        )
    if until <= now:
        raise RefusedError("This invitation is too old. Ask for a new address.")
    if begun_by is not None:
        raise RefusedError("session must be new; got one that there is. Open the address again.")
    connection.execute(update(invitations).where(c.number == number).values(joined=now))
    begun = insert(sessions).values(invitation=number, expires=expires, **vars(keys))
    connection.execute(begun)
    return Visitor(Role(role), who, number, expires)


def withdraw(connection: Connection, number: int) -> None:
    """Remove an invitation, and the session that it was exchanged for."""
    connection.execute(delete(sessions).where(sessions.c.invitation == number))
    connection.execute(delete(invitations).where(invitations.c.number == number))


def end_session(connection: Connection, secret: str) -> None:
    """End a session, and with it the invitation that it came from: it can be used no more."""
    query = select(sessions.c.invitation).where(sessions.c.secret == secret)
    number = connection.execute(query).scalar()
    if number is not None:
        withdraw(connection, number)


def prune(connection: Connection, now: int) -> None:
    """Remove sessions that are over, and invitations that nobody can use or is in by."""
    connection.execute(delete(sessions).where(sessions.c.expires <= now))
    living = select(sessions.c.invitation)
    is_idle = invitations.c.number.not_in(living) & (
        (invitations.c.expires <= now) | invitations.c.joined.is_not(None)
    )
    connection.execute(delete(invitations).where(is_idle))


def listed_invitations(connection: Connection) -> list[Invitation]:
    """All invitations, in the order in which they were made."""
    c = invitations.c
    query = select(c.role, c.who, c.expires, c.made, c.joined, c.number).order_by(c.number)
    return [Invitation(Role(role), *rest) for role, *rest in connection.execute(query)]


def running_sessions(
    connection: Connection, now: int, secret: str | None = None
) -> dict[SessionKeys, Visitor]:
    """Who is in, by what their browser holds; the one session of a secret, if that is named."""
    c, i = sessions.c, invitations.c
    query = select(c.secret, c.pictures, i.role, i.who, i.number, c.expires)
    query = query.join_from(sessions, invitations, i.number == c.invitation)
    query = query.where(c.expires > now)
    if secret is not None:
        query = query.where((c.secret == secret) | (c.pictures == secret))
    return {
        SessionKeys(session, pictures): Visitor(Role(role), who, number, until)
        for session, pictures, role, who, number, until in connection.execute(query)
    }
