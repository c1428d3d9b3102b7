"""Access control of a campaign: who is invited, who is in, and what they may do.

    access = AccessControl(store)        code = access.invite("ann", Role.ANNOTATOR)
    access.join(code, session, pictures)        access.visitor(session)

An invitation is an address that lets one browser in, once: it is exchanged for a session that the
browser drew itself, so that a repeated request is harmless. Sessions are kept with the campaign:
they survive a restart, and hold at every server of it.
"""

import secrets
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from possibal.errors import ForbiddenError, RefusedError, UnavailableError
from possibal.labelling.storage import invitations as table
from possibal.labelling.storage.invitations import (
    Invitation,
    Role,
    SessionKeys,
    Visitor,
    digest,
)
from possibal.labelling.storage.journal import check_who
from possibal.labelling.storage.store import Store

DAY = 24 * 3600 * 1000
"""In milliseconds."""
SESSION_DAYS, INVITATION_DAYS, TERMINAL_DAYS = 90, 7, 1
"""How long a browser stays in, and how long an invitation, or that in the terminal, can be used."""
MOST_DAYS = 90
"""For which an invitation may be used."""
FRESH = 1.0
"""Seconds for which what is known of sessions holds, where other servers may end them."""
AFTER_ALL = 2**62
"""Later than the number of any event."""
MOST_INVITATIONS = 1000
"""That may be open or in use at once."""


@dataclass(frozen=True, eq=False)
class _KnownSessions:
    """What the tables said, and when by the monotonic clock."""

    by_secret: dict[str, Visitor]
    by_picture: dict[str, Visitor]
    names: frozenset[str]
    read: float


class AccessControl:
    """Invites, lets in and sends away; knows whom a request comes from."""

    def __init__(self, store: Store) -> None:
        """See who is in, and forget those whose time is over."""
        self._store = store
        store.glance(AFTER_ALL)  # for the time by the clock of the database
        store.run(lambda connection: table.prune(connection, store.clock()))
        self._known = self._read()

    # ------------------------------------------------------------ invitations

    def invite(
        self, who: str | None, role: Role = Role.ANNOTATOR, days: float = INVITATION_DAYS
    ) -> str:
        """The code of a new invitation, which nobody can read again.

        Args:
            who: the name that the answers have; None lets an owner choose one.
            role: of whoever joins.
            days: for which it can be used.
        """
        if who is not None:
            check_who(who)
        elif role is not Role.OWNER:
            raise ValueError(f"who must be named; got None for an {role}. Give a name.")
        check_days(days)
        now, code = self._store.clock(), secrets.token_urlsafe(24)
        if len(self.invitations()) >= MOST_INVITATIONS:
            raise RefusedError(
                f"invitations must be {MOST_INVITATIONS} at most; got one more. Withdraw some."
            )
        draft = Invitation(role, who, now + int(days * DAY), now)
        self._store.run(lambda connection: table.add_invitation(connection, draft, digest(code)))
        self._known = self._read()
        return code

    def admit_platform(self, name: str) -> str:
        """The session of a labelling platform, which nobody can read again.

        It is listed among those who are in, can be withdrawn, and opens what is for platforms and
        nothing else.

        Args:
            name: of the platform.
        """
        session = secrets.token_hex(32)
        self.join(self.invite(name, Role.PLATFORM), session, secrets.token_hex(32))
        return session

    def invitations(self) -> list[Invitation]:
        """All that are open or in use, in the order in which they were made."""
        with self._store.reading() as connection:
            return table.listed_invitations(connection)

    def check_numbers(self, numbers: Collection[int]) -> None:
        """Refuse numbers of which there is no invitation."""
        missing = set(numbers) - {one.number for one in self.invitations()}
        if missing:
            raise RefusedError(
                f"invitation must be one that there is; got number {min(missing)}. "
                "Look at the list."
            )

    def withdraw(self, number: int) -> None:
        """Withdraw an invitation; whoever joined by it is out."""
        self.check_numbers([number])
        self._store.run(lambda connection: table.withdraw(connection, number))
        self._known = self._read()

    # ------------------------------------------------------------ sessions

    def join(self, code: str, session: str, pictures: str, former: str | None = None) -> Visitor:
        """Exchange an invitation for a session; idempotent, as all that browsers send again.

        Args:
            code: of the invitation.
            session: what the browser drew, to send with its requests.
            pictures: what it drew to send with requests of pictures, which carry nothing else.
            former: the session that it had before, which ends.
        """
        now, keys = self._store.clock(), SessionKeys(digest(session), digest(pictures))
        until = now + SESSION_DAYS * DAY
        visitor = self._store.run(
            lambda connection: table.exchange(connection, digest(code), keys, now, until)
        )
        if former and former != session:
            self.leave(former)
        self._known = self._read()
        return visitor

    def leave(self, session: str) -> None:
        """End a session."""
        self._store.run(lambda connection: table.end_session(connection, digest(session)))
        self._known = self._read()

    def visitor(self, secret: str, *, pictures: bool = False) -> Visitor | None:
        """Whom a session belongs to, if it runs; the database may have to be asked.

        Args:
            secret: what a request carries.
            pictures: whether it is the key of pictures, and not the session.
        """
        if not self._is_fresh:
            with suppress(UnavailableError):  # whoever is in stays in while the database is away
                self._known = self._read()
        found = self._recalled(secret, pictures=pictures)
        if found is None and self._store.is_shared:  # it may have begun at another server just now
            key = digest(secret)
            with self._store.reading() as connection:
                running = table.running_sessions(connection, self._store.clock(), key)
            for keys, visitor in running.items():
                if key == (keys.pictures if pictures else keys.secret):
                    return visitor
        return found

    def known(self, secret: str, *, pictures: bool = False) -> Visitor | None:
        """The same, if that is known without asking the database."""
        return self._recalled(secret, pictures=pictures) if self._is_fresh else None

    @property
    def is_alone(self) -> bool:
        """Whether no other server lets people in and sends them away."""
        return not self._store.is_shared

    @property
    def _is_fresh(self) -> bool:
        """Whether what is known can be relied on."""
        return self.is_alone or time.monotonic() - self._known.read <= FRESH

    def _recalled(self, secret: str, *, pictures: bool) -> Visitor | None:
        """The visitor of a secret, as far as is known."""
        among = self._known.by_picture if pictures else self._known.by_secret
        found = among.get(digest(secret))
        return found if found is not None and found.expires > self._store.clock() else None

    def _read(self) -> _KnownSessions:
        """What the tables say now."""
        read = time.monotonic()
        with self._store.reading() as connection:
            running = table.running_sessions(connection, self._store.clock())
            listed = table.listed_invitations(connection)
        return _KnownSessions(
            {keys.secret: visitor for keys, visitor in running.items()},
            {keys.pictures: visitor for keys, visitor in running.items()},
            frozenset(one.who.casefold() for one in listed if one.who is not None),
            read,
        )

    # ------------------------------------------------------------ what they may do

    def check_name(self, visitor: Visitor, who: str) -> None:
        """Refuse answers in the name of somebody else."""
        if visitor.who is not None and who != visitor.who:
            raise ForbiddenError(
                f"who must be {visitor.who!r}, as you were invited; got {who!r}. "
                "Answer in your own name."
            )
        if visitor.who is None and who.casefold() in self._known.names:
            raise ForbiddenError(
                f"who must be a name under which nobody was invited; got {who!r}. Choose another."
            )

    def named(self, visitor: Visitor, who: str) -> str:
        """The name under which somebody looks at rows: their own if they give none."""
        if who:
            self.check_name(visitor, who)
        return who or visitor.who or ""


def check_days(days: float) -> None:
    """Refuse a time for which no invitation can be used."""
    if not 0 < days <= MOST_DAYS:
        raise ValueError(
            f"days must be more than 0, and {MOST_DAYS} at most; got {days}. Choose fewer."
        )


def check_owner(visitor: Visitor, what: str) -> None:
    """Refuse what only an owner may do.

    Args:
        visitor: who wants to do it.
        what: it is, as in "Owners alone change classes".
    """
    if not visitor.is_owner:
        raise ForbiddenError(f"Owners alone {what}; you are an {visitor.role}. Ask an owner.")
