"""Lease table with expiry: which rows are held by whom, as one process knows it."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

LONGEST = 240_000
"""Milliseconds ahead beyond which no honest lease ends: one that does was made by a wrong clock.
It is twice what a person gets, lest servers whose clocks differ a little give a row twice."""

RECENT = 10_000
"""Rows whose last change is remembered: far more than change while the database is asked."""


@dataclass(frozen=True)
class Lease:
    """A person's exclusive hold on a row until it expires.

    Attributes:
        who: the person.
        until: when it expires, in milliseconds.
        spare: whether the row is only held in reserve.
    """

    who: str
    until: int
    spare: bool = False

    def is_running(self, now: int) -> bool:
        """Whether it has not ended; one that a wrong clock made to last too long has."""
        return now < self.until <= now + LONGEST


class LeaseTable:
    """Leases in memory, one per row. Times are milliseconds."""

    def __init__(self) -> None:
        """Nobody holds a row."""
        self._leases = dict[int, Lease]()
        self.changes = 0
        """How often a lease was changed here."""
        self._changed = OrderedDict[int, int]()  # the last change of each row, latest last

    def load(self, leases: Mapping[int, Lease], changes: int | None = None) -> None:
        """Replace leases by what the database says.

        Args:
            leases: all there are.
            changes: how many there had been here when the database was asked, which may not know
                of those since; None if all were over.
        """
        loaded = dict(leases)
        for row, change in reversed(self._changed.items()):
            if changes is None or change <= changes:
                break
            loaded.pop(row, None)
            if row in self._leases:
                loaded[row] = self._leases[row]
        self._leases = loaded

    def hold(self, rows: Iterable[int], lease: Lease) -> None:
        """Let a person hold rows."""
        for row in rows:
            self._leases[row] = lease
            self._note(row)

    def release(self, row: int, who: str) -> None:
        """End the lease of a row, if that person holds it."""
        if row in self._leases and self._leases[row].who == who:
            del self._leases[row]
        self._note(row)

    def renew(self, who: str, now: int, until: int) -> None:
        """Extend the leases of a person that have not expired."""
        for row in list(self._of(who, now)):
            self._leases[row] = replace(self._leases[row], until=until)
            self._note(row)

    def _note(self, row: int) -> None:
        """Note that the lease of a row changed here."""
        self.changes += 1
        self._changed[row] = self.changes
        self._changed.move_to_end(row)
        while len(self._changed) > RECENT:
            self._changed.popitem(last=False)

    def current(self, who: str, now: int) -> list[int]:
        """The rows a person is at work on now, not those in reserve."""
        return [row for row in self._of(who, now) if not self._leases[row].spare]

    def is_free(self, row: int, who: str, now: int) -> bool:
        """Whether nobody else holds a row, in reserve or now."""
        lease = self._leases.get(row)
        return lease is None or lease.who == who or not lease.is_running(now)

    def is_spare(self, row: int, now: int) -> bool:
        """Whether somebody holds a row only in reserve."""
        lease = self._leases.get(row)
        return lease is not None and lease.spare and lease.is_running(now)

    def of_others(self, who: str, now: int) -> set[int]:
        """The rows that others hold, in reserve or now."""
        held = list(self._leases.items())
        return {row for row, lease in held if lease.who != who and lease.is_running(now)}

    def in_reserve(self, who: str, now: int) -> set[int]:
        """The rows a person holds in reserve."""
        return {row for row in self._of(who, now) if self._leases[row].spare}

    def _of(self, who: str, now: int) -> Iterator[int]:
        """All rows of a person."""
        held = list(self._leases.items())
        return (row for row, lease in held if lease.who == who and lease.is_running(now))
