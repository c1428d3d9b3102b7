"""Event-sourced state of a campaign: a commutative, idempotent fold of an append-only journal.

    state = replay(events)          state.verdict(row).label          state.answers()

Last writer wins per person and row, by the time an event was made; an undo is a tombstone. So the
state follows from which events there are, and an event may arrive late, twice or out of order.
"""

import functools
from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from possibal.campaign.answer import Answer

REST = 20
"""A row that was skipped comes back after this many answers of the same person."""

Order: TypeAlias = tuple[int, str]
"""When an event was made, and its key where two were made at once."""


class Kind(StrEnum):
    """What somebody did; the value is what the journal holds."""

    LABEL = "label"
    SKIP = "skip"
    UNSURE = "unsure"
    BAD = "bad"
    EDIT = "edit"
    IMPORT = "import"
    SETTLE = "settle"
    UNDO = "undo"
    CLASS = "class"


NAMING = frozenset([Kind.LABEL, Kind.EDIT, Kind.IMPORT])
"""Kinds that say which class a row has, in the view of one person."""
OPINIONS = NAMING | {Kind.SKIP, Kind.UNSURE, Kind.BAD}
"""Kinds that are about a row, in the view of one person."""
LABELLED = NAMING | {Kind.SETTLE, Kind.CLASS}
"""Kinds that need a label."""
ON_ROWS = OPINIONS | {Kind.SETTLE}
"""Kinds that need a row."""


@dataclass(frozen=True)
class Event:
    """Something that a person did.

    Attributes:
        key: idempotency key, made by the client; the same key is the same event.
        kind: what was done.
        who: the person.
        made: when, in milliseconds by the person's clock; it orders what one person made.
        row: the row's place in the pool, if it is about one.
        label: the class, if it names one.
        target: the key of the event that is undone.
        necessity: of the label that the model predicted then.
        predicted_label: that label; the column is called thought.
        number: its place in the journal; zero before it is there.
        at: when it came there, in milliseconds by the journal's clock.
    """

    key: str
    kind: Kind
    who: str
    made: int
    row: int | None = None
    label: str | None = None
    target: str | None = None
    necessity: float | None = None
    predicted_label: str | None = None
    number: int = 0
    at: int = 0

    @property
    def order(self) -> Order:
        """What sorts events by when they were made."""
        return self.made, self.key


@dataclass(frozen=True)
class RowVerdict:
    """What holds of a row.

    Attributes:
        opinions: the latest of each person that is not undone.
        settled: the event that settled a conflict, if one did.
    """

    opinions: dict[str, Event] = field(default_factory=dict[str, Event])
    settled: Event | None = None

    @functools.cached_property
    def naming(self) -> dict[str, Event]:
        """The opinions that name a class."""
        return {who: event for who, event in self.opinions.items() if event.kind in NAMING}

    @functools.cached_property
    def is_bad(self) -> bool:
        """Whether somebody dropped the row, and nobody settled its class."""
        return self.settled is None and any(e.kind is Kind.BAD for e in self.opinions.values())

    @functools.cached_property
    def label(self) -> str | None:
        """The class settled, else that of most people; None if there is none or they are equal."""
        if self.settled is not None:
            return self.settled.label
        named = Counter(event.label for event in self.naming.values()).most_common(2)
        if self.is_bad or not named or (len(named) > 1 and named[0][1] == named[1][1]):
            return None
        return named[0][0]

    @functools.cached_property
    def in_conflict(self) -> bool:
        """Whether people named different classes and nobody settled it."""
        named = {event.label for event in self.naming.values()}
        return self.settled is None and not self.is_bad and len(named) > 1

    @functools.cached_property
    def order(self) -> Order:
        """When the row came by its label: the last event that has a part in it."""
        events = [*self.naming.values(), *([self.settled] if self.settled else [])]
        return max(event.order for event in events)

    def wants(self, people: int) -> bool:
        """Whether fewer than so many people named its class, and it is neither settled nor bad."""
        return self.settled is None and not self.is_bad and len(self.naming) < people


NOTHING = RowVerdict()
"""What holds of a row about which nothing was done."""


class JournalState:
    """State folded from events; :meth:`apply` is commutative and idempotent."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.events = dict[str, Event]()
        self.people = dict[str, None]()
        self._undone = set[tuple[str, str]]()
        self._on_row = defaultdict[int, list[Event]](list)
        self._of = defaultdict[str, list[Order]](list)
        self._verdicts = dict[int, RowVerdict]()
        self.labels = dict[int, str]()
        """The label of each row that has one, in no order that means anything."""
        self._used: list[str] | None = None

    # ------------------------------------------------------------ growing

    def apply(self, event: Event) -> None:
        """Fold one more event; one that is known already changes nothing."""
        if event.key in self.events:
            return
        is_new = event.kind is Kind.CLASS or event.label not in (self._used or ())
        if is_new or event.target is not None:
            self._used = None
        self.events[event.key] = event
        self.people[event.who] = None
        row = event.row
        if event.target is not None:
            self._undone.add((event.target, event.who))
            undone = self.events.get(event.target)
            row = undone.row if undone else None
        elif row is not None:
            self._on_row[row].append(event)
            insort(self._of[event.who], event.order)
        if row is not None:
            self._update_verdict(row)

    def _update_verdict(self, row: int) -> None:
        """See anew what holds of a row."""
        verdict = self._verdicts[row] = self._fold_row(row)
        self.labels.pop(row, None)
        if verdict.label is not None:
            self.labels[row] = verdict.label

    def _fold_row(self, row: int) -> RowVerdict:
        """Last writer wins per person, over the events on a row that are not undone."""
        holding = sorted((e for e in self._on_row[row] if self.holds(e)), key=lambda e: e.order)
        opinions = {event.who: event for event in holding if event.kind in OPINIONS}
        settled = [event for event in holding if event.kind is Kind.SETTLE]
        return RowVerdict(opinions, settled[-1] if settled else None)

    # ------------------------------------------------------------ what holds

    def holds(self, event: Event) -> bool:
        """Whether the person did not undo it."""
        return (event.key, event.who) not in self._undone

    def verdict(self, row: int) -> RowVerdict:
        """What holds of a row."""
        return self._verdicts.get(row, NOTHING)

    @property
    def verdicts(self) -> dict[int, RowVerdict]:
        """What holds of each row about which something was done."""
        return self._verdicts

    def labelled(self) -> dict[int, str]:
        """The label of each row that has one, in the order in which they came by it."""
        return dict(sorted(self.labels.items(), key=lambda one: self._verdicts[one[0]].order))

    def answers(self, aside: frozenset[int] = frozenset()) -> tuple[Answer, ...]:
        """The labels as a campaign's answers, in that order; rows put aside are left out."""
        return tuple(Answer(row, said) for row, said in self.labelled().items() if row not in aside)

    def conflicts(self) -> list[int]:
        """The rows for which people named different classes and nobody settled it."""
        return sorted(row for row, verdict in self._verdicts.items() if verdict.in_conflict)

    def classes(self, named: Iterable[str] = ()) -> tuple[str, ...]:
        """The classes there are: those named first, those added, and those that people used."""
        if self._used is None:
            holding = [e for e in self.events.values() if e.kind in LABELLED and self.holds(e)]
            added = sorted((e for e in holding if e.kind is Kind.CLASS), key=lambda e: e.order)
            others = sorted({event.label or "" for event in holding})
            self._used = [*(event.label or "" for event in added), *others]
        return tuple(dict.fromkeys([*named, *self._used]))

    def last(self, who: str) -> Event | None:
        """The last thing this person did that can still be undone."""
        for _, key in reversed(self._of.get(who, [])):
            event = self.events[key]
            if self.holds(event):
                return event
        return None

    def may_ask(self, row: int, who: str, people: int) -> bool:
        """Whether a row still wants an answer, and this person has given none.

        Args:
            row: its place.
            who: the person.
            people: how many are to name the class of each row.
        """
        verdict = self.verdict(row)
        mine = verdict.opinions.get(who)
        return verdict.wants(people) and (mine is None or self._rested(mine))

    def is_skipped(self, row: int, who: str, people: int) -> bool:
        """Whether a row still wants an answer, and this person put it off."""
        verdict = self.verdict(row)
        mine = verdict.opinions.get(who)
        return verdict.wants(people) and mine is not None and mine.kind is Kind.SKIP

    def _rested(self, skip: Event) -> bool:
        """Whether the same person did enough since a row was skipped."""
        orders = self._of[skip.who]
        return skip.kind is Kind.SKIP and len(orders) - bisect_right(orders, skip.order) >= REST


def replay(events: Iterable[Event]) -> JournalState:
    """What holds after all these events."""
    state = JournalState()
    for event in events:
        state.apply(event)
    return state
