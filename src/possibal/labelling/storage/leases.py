"""Whose turn it is on which row: leases as one process knows them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Holding:
    """A person at work on a row until some time; in reserve, or now."""

    who: str
    until: int
    spare: bool


class LeaseTable:
    """Who holds which rows. Times are milliseconds."""

    def __init__(self) -> None:
        """Nobody holds a row."""
        self._held = dict[int, Holding]()

    def learn(self, held: Mapping[int, Holding]) -> None:
        """Take over what the database says; what is held here only is forgotten."""
        self._held = dict(held)

    def hold(self, rows: Iterable[int], holding: Holding) -> None:
        """Let a person hold rows."""
        self._held.update(dict.fromkeys(rows, holding))

    def release(self, row: int, who: str) -> None:
        """Let a row go, if that person holds it."""
        if row in self._held and self._held[row].who == who:
            del self._held[row]

    def renew(self, who: str, now: int, until: int) -> None:
        """Let a person hold for longer what they still hold."""
        for row in list(self._of(who, now)):
            self._held[row] = Holding(who, until, self._held[row].spare)

    def current(self, who: str, now: int) -> list[int]:
        """The rows a person is at work on now, not those in reserve."""
        return [row for row in self._of(who, now) if not self._held[row].spare]

    def is_free(self, row: int, who: str, now: int) -> bool:
        """Whether nobody else holds a row, in reserve or now."""
        holding = self._held.get(row)
        return holding is None or holding.who == who or holding.until <= now

    def is_spare(self, row: int, now: int) -> bool:
        """Whether somebody holds a row only in reserve."""
        holding = self._held.get(row)
        return holding is not None and holding.until > now and holding.spare

    def in_reserve(self, who: str, now: int) -> set[int]:
        """The rows a person keeps in reserve."""
        return {row for row in self._of(who, now) if self._held[row].spare}

    def _of(self, who: str, now: int) -> Iterator[int]:
        """All rows of a person."""
        return (r for r, h in list(self._held.items()) if h.who == who and h.until > now)
