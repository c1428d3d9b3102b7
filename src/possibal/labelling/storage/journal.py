"""Event-sourced state of a campaign: a commutative, idempotent fold of an append-only journal.

    state = replay(events)          state.verdict(row).label          state.answers()

Last writer wins per person and row, by the time an event was made; an undo is a tombstone. So the
state follows from which events there are, and an event may arrive late, twice or out of order.
Classes are read by the names that they have now, whatever they were called when they were chosen.
"""

import functools
import json
from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from reprlib import repr as brief
from typing import Any, TypeAlias, cast

from possibal.campaign.answer import Answer

REST = 20
"""A row that was skipped comes back after this many answers of the same person."""
LONGEST_WHO = 60
"""Characters of a person's name."""

AHEAD = 60_000
"""Milliseconds that an event may claim to be made after it arrived: clocks differ, and what one
person did within a millisecond is told apart by counting on."""

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
    RENAME = "rename"
    REMOVE = "remove"
    DESCRIBE = "describe"
    CHECK = "check"
    GONE = "gone"


NAMING = frozenset([Kind.LABEL, Kind.EDIT, Kind.IMPORT])
"""Kinds that say which class a row has, in the view of one person."""
OPINIONS = NAMING | {Kind.SKIP, Kind.UNSURE, Kind.BAD}
"""Kinds that are about a row, in the view of one person."""
LABELLED = NAMING | {Kind.SETTLE, Kind.CLASS}
"""Kinds that make what they name a class."""
ON_ROWS = OPINIONS | {Kind.SETTLE, Kind.GONE}
"""Kinds that need a row."""
ON_CLASSES = frozenset([Kind.CLASS, Kind.RENAME, Kind.REMOVE, Kind.DESCRIBE])
"""Kinds that change which classes there are, or what is said of them."""
ON_CAMPAIGN = ON_CLASSES | {Kind.CHECK}
"""Kinds that are about the campaign as a whole."""
TO, MERGE, DESCRIPTION, COLOUR, PLACES = "to", "merge", "description", "colour", "rows"
"""What the details of events are called: the new name, whether it is that of another class, the
words about a class, its colour, and the places of rows: those drawn, or those beside the first."""
IMPLIED = "implied"
"""The detail of a class that came with the first answer that names it: no action by itself."""
COPY_OF = "copy"
"""The detail of an event that says of a copy what another said of its row: the key of that one.
It holds for as long as that one does, and is no action by itself."""


@dataclass(frozen=True)
class Event:
    """Something that a person did.

    Attributes:
        key: idempotency key, made by the client; the same key is the same event.
        kind: what was done.
        who: the person.
        made: when, in milliseconds; it orders what one person made. Of what came over the network
            it is by the server's clock (:mod:`possibal.labelling.event_clock`).
        row: the row's place in the pool, if it is about one; :attr:`rows` has the others too.
        label: the class, if it names one.
        target: the key of the event that is undone.
        necessity: of the label that the model predicted then.
        predicted_label: that label; the column is called thought.
        detail: what else there is to say, by name: of a class that is changed, of rows drawn, of
            other rows of which the same is said.
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
    detail: Mapping[str, str] | None = field(default=None, hash=False)
    number: int = 0
    at: int = 0

    @property
    def order(self) -> Order:
        """What sorts events by when they were made, which was not long after they arrived."""
        return (min(self.made, self.at + AHEAD) if self.at else self.made), self.key

    @property
    def rows(self) -> tuple[int, ...]:
        """The places of all rows that it is about, each once; an undo takes it back for all."""
        if self.row is None:
            return ()
        return tuple(dict.fromkeys((self.row, *named_places(self)))) if self.detail else (self.row,)


@dataclass(frozen=True)
class RowVerdict:
    """What holds of a row.

    Attributes:
        opinions: the latest of each person that is not undone.
        settled: the event that settled a conflict, if one did.
        gone: the event that says that the source has the row no more, if it has not.
    """

    opinions: dict[str, Event] = field(default_factory=dict[str, Event])
    settled: Event | None = None
    gone: Event | None = None

    @property
    def is_gone(self) -> bool:
        """Whether the source has the row no more; a label that it has stays."""
        return self.gone is not None

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
        """Whether fewer than so many people named its class, and nothing else settles it."""
        is_open = self.settled is None and not self.is_bad and not self.is_gone
        return is_open and len(self.naming) < people


NOTHING = RowVerdict()
"""What holds of a row about which nothing was done."""


# ---------------------------------------------------------------- classes
@dataclass(frozen=True)
class ClassDetail:
    """What people are told of a class: a sentence, and a colour such as #3366cc; both optional."""

    description: str = ""
    colour: str = ""


@dataclass(frozen=True)
class ClassCatalogue:
    """What became of the classes.

    Attributes:
        names: the present name of each that was renamed or merged.
        removed: present names that were taken out; one that somebody uses is a class all the same.
        details: what is said of each class, by its present name.
    """

    names: dict[str, str] = field(default_factory=dict[str, str])
    removed: frozenset[str] = frozenset()
    details: dict[str, ClassDetail] = field(default_factory=dict[str, ClassDetail])


def catalogue(events: Iterable[Event]) -> ClassCatalogue:
    """What the events on classes come to, by when they were made.

    A rename joins two names to one class, which has the new name. If the new name was itself
    changed, the class has what that became; one may go back to a name that the class had before.
    """
    names, removed = dict[str, str](), set[str]()
    said = defaultdict[str, dict[str, str]](dict)
    for event in sorted(events, key=lambda event: event.order):
        label, detail = event.label or "", event.detail or {}
        name = names.get(label, label)
        if event.kind is Kind.DESCRIBE:
            said[name] |= detail
        elif event.kind is Kind.REMOVE:
            removed.add(name)
        else:
            removed.discard(name)
        if event.kind is Kind.RENAME and detail.get(TO):
            other = names.get(detail[TO], detail[TO])
            new = detail[TO] if other == name else other
            joined = [one for one, now in names.items() if now in {name, other}]
            names |= dict.fromkeys([*joined, name, other], new)
            removed.discard(other)
            said[new] = said.pop(name, {}) | said.pop(other, {})
    found = {name: _class_detail(words) for name, words in said.items()}
    return ClassCatalogue(names, frozenset(removed), found)


def _class_detail(said: Mapping[str, str]) -> ClassDetail:
    """What was said of a class."""
    return ClassDetail(said.get(DESCRIPTION, ""), said.get(COLOUR, ""))


def check_who(who: object) -> None:
    """Refuse what is no name of a person, as the page does."""
    is_name = isinstance(who, str) and who.strip() == (who or None) and who.isprintable()
    if not is_name or len(str(who)) > LONGEST_WHO:
        raise ValueError(
            f"who must be a name of 1 to {LONGEST_WHO} characters, with no blanks around them; "
            f"got {brief(who)}. Write, say, 'ann'."
        )


def places_detail(rows: Iterable[int]) -> dict[str, str]:
    """The detail of an event that makes rows check rows, or that is about them too."""
    return {PLACES: json.dumps(list(rows))}


def named_places(event: Event) -> tuple[int, ...]:
    """The places that the detail of an event names: rows drawn, or others; none where it is odd."""
    try:
        found: Any = json.loads((event.detail or {}).get(PLACES, "[]"))
    except ValueError:
        return ()
    rows = cast("list[object]", found) if isinstance(found, list) else []
    return tuple(row for row in rows if type(row) is int)


# ---------------------------------------------------------------- state
class JournalState:
    """State folded from events; :meth:`apply` is commutative and idempotent."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.events = dict[str, Event]()
        self.people = dict[str, None]()
        self._undone = set[tuple[str, str]]()
        self._on_row = defaultdict[int, list[Event]](list)
        self._copied = defaultdict[str, list[Event]](list)
        self._of = defaultdict[str, list[Order]](list)
        self._others_of = defaultdict[str, list[Order]](list)
        self._verdicts = dict[int, RowVerdict]()
        self.labels = dict[int, str]()
        """The label of each row that has one, in no order that means anything."""
        self.draws = tuple[tuple[int, ...], ...]()
        """Places of the rows that each draw made check rows."""
        self._on_campaign = list[Event]()
        self._catalogue = ClassCatalogue()
        self._used: list[str] | None = None
        self._uses: Counter[str] | None = None

    # ------------------------------------------------------------ growing

    def apply(self, *events: Event) -> None:
        """Fold more events; one that is known already changes nothing."""
        changes = [self._add(event) for event in events if event.key not in self.events]
        if any(changes):
            self._update_catalogue()

    def _add(self, event: Event) -> bool:
        """Fold a new event; whether it is about the campaign as a whole."""
        label = event.label and self.name_of(event.label)
        if event.target is not None or (label and label not in (self._used or ())):
            self._used = None
        self.events[event.key] = event
        self.people[event.who] = None
        about: Event | None = event
        if event.target is not None:
            self._undone.add((event.target, event.who))
            about = self.events.get(event.target)
        elif event.row is not None:
            self._add_on_rows(event)
        elif event.kind in ON_CAMPAIGN:
            self._on_campaign.append(event)
            if IMPLIED not in (event.detail or {}):
                insort(self._others_of[event.who], event.order)
        if about is not None:
            self._update_rows(about)
        return about is not None and about.kind in ON_CAMPAIGN

    def _add_on_rows(self, event: Event) -> None:
        """Fold a new event on rows."""
        for row in event.rows:
            self._on_row[row].append(event)
        if COPY_OF in (event.detail or {}):
            self._copied[_source(event)].append(event)
        else:
            insort(self._of[event.who], event.order)

    def _update_rows(self, event: Event) -> None:
        """See anew what holds of the rows of an event, and of copies that got it later."""
        for one in (event, *self._copied.get(event.key, ())):
            for row in one.rows:
                self._update_verdict(row)

    def _update_verdict(self, row: int) -> None:
        """See anew what holds of a row."""
        verdict = self._verdicts[row] = self._fold_row(row)
        self._uses = None
        self.labels.pop(row, None)
        if verdict.label is not None:
            self.labels[row] = verdict.label

    def _fold_row(self, row: int) -> RowVerdict:
        """Last writer wins per person, over the events on a row that are not undone."""
        holding = sorted((e for e in self._on_row[row] if self.holds(e)), key=lambda e: e.order)
        if self._catalogue.names:
            holding = [self.named(event) for event in holding]
        opinions = {event.who: event for event in holding if event.kind in OPINIONS}
        last = {event.kind: event for event in holding}
        return RowVerdict(opinions, last.get(Kind.SETTLE), last.get(Kind.GONE))

    def _update_catalogue(self) -> None:
        """See anew which classes and check rows there are, and rows by the classes' names."""
        before, self._used = self._catalogue.names, None
        holding = sorted(
            (event for event in self._on_campaign if self.holds(event)), key=lambda e: e.order
        )
        self._catalogue = catalogue(event for event in holding if event.kind in ON_CLASSES)
        self.draws = tuple(named_places(event) for event in holding if event.kind is Kind.CHECK)
        if self._catalogue.names != before:
            for row in self._on_row:
                self._update_verdict(row)

    # ------------------------------------------------------------ what holds

    def holds(self, event: Event) -> bool:
        """Whether the person did not undo it, nor what it is a copy of."""
        keys = (event.key, _source(event)) if event.detail else (event.key,)
        return not any((key, event.who) in self._undone for key in keys)

    def counts(self, event: Event) -> bool:
        """Whether an event is what holds of its first row, and no later one took its place."""
        if event.row is None or not self.holds(event):
            return self.holds(event)
        verdict = self.verdict(event.row)
        last = {Kind.SETTLE: verdict.settled, Kind.GONE: verdict.gone}
        now = last.get(event.kind, verdict.opinions.get(event.who))
        return now is not None and now.key == event.key

    def verdict(self, row: int) -> RowVerdict:
        """What holds of a row."""
        return self._verdicts.get(row, NOTHING)

    @property
    def verdicts(self) -> dict[int, RowVerdict]:
        """What holds of each row about which something was done."""
        return self._verdicts

    def labelled(self) -> dict[int, str]:
        """The label of each row that has one, in the order in which they came by it.

        Rows that came by it at once stand in the order of the pool.
        """
        rows = sorted(self.labels, key=lambda row: (self._verdicts[row].order, row))
        return {row: self.labels[row] for row in rows}

    def answers(self, aside: frozenset[int] = frozenset()) -> tuple[Answer, ...]:
        """The labels as a campaign's answers, in that order; rows put aside are left out."""
        return tuple(Answer(row, said) for row, said in self.labelled().items() if row not in aside)

    def conflicts(self) -> list[int]:
        """The rows for which people named different classes and nobody settled it."""
        return sorted(row for row, verdict in self._verdicts.items() if verdict.in_conflict)

    # ------------------------------------------------------------ classes

    def name_of(self, label: str) -> str:
        """The name that a class has now."""
        return self._catalogue.names.get(label, label)

    def named(self, event: Event) -> Event:
        """An event with the names that its classes have now."""
        label, predicted = event.label, event.predicted_label
        now = label and self.name_of(label), predicted and self.name_of(predicted)
        if now == (label, predicted):
            return event
        return replace(event, label=now[0], predicted_label=now[1])

    def classes(self, named: Iterable[str] = ()) -> tuple[str, ...]:
        """The classes there are: those named first, those added, and those that people used.

        One that was removed is none, unless what somebody says of a row is just that.
        """
        if self._used is None:
            holding = [e for e in self.events.values() if e.kind in LABELLED and self.holds(e)]
            added = sorted((e for e in holding if e.kind is Kind.CLASS), key=lambda e: e.order)
            others = sorted({self.name_of(event.label or "") for event in holding})
            self._used = [*(self.name_of(event.label or "") for event in added), *others]
        found = dict.fromkeys([*map(self.name_of, named), *self._used])
        gone = self._catalogue.removed.intersection(found)
        if gone:
            gone -= self.uses.keys()
        return tuple(name for name in found if name not in gone)

    @property
    def uses(self) -> Counter[str]:
        """In how many rows somebody's word is each class."""
        if self._uses is None:
            self._uses = Counter[str]()
            for verdict in self._verdicts.values():
                settled = [verdict.settled] if verdict.settled else []
                self._uses.update({e.label or "" for e in (*verdict.naming.values(), *settled)})
        return self._uses

    def class_detail(self, name: str) -> ClassDetail:
        """What people are told of a class."""
        return self._catalogue.details.get(name, ClassDetail())

    @property
    def latest_change(self) -> int:
        """When the last event about classes or check rows was made, in milliseconds."""
        return max((event.order[0] for event in self._on_campaign), default=0)

    # ------------------------------------------------------------ people

    def latest_of(self, who: str) -> int:
        """When the last thing was made that this person did, in milliseconds."""
        made = (orders[who][-1][0] for orders in (self._of, self._others_of) if who in orders)
        return max(made, default=0)

    def last(self, who: str) -> Event | None:
        """The last thing this person did that can still be undone."""
        found = [self._last_of(orders.get(who, [])) for orders in (self._of, self._others_of)]
        return max((event for event in found if event), key=lambda e: e.order, default=None)

    def last_change(self, who: str) -> Event | None:
        """The last change of classes or check rows by this person that can still be undone."""
        return self._last_of(self._others_of.get(who, []))

    def _last_of(self, orders: list[Order]) -> Event | None:
        """The last of some events that can still be undone."""
        for _, key in reversed(orders):
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


def _source(event: Event) -> str:
    """The key of the event that an event repeats for a copy; its own if it repeats none."""
    return (event.detail or {}).get(COPY_OF, event.key)


def replay(events: Iterable[Event]) -> JournalState:
    """What holds after all these events."""
    state = JournalState()
    state.apply(*events)
    return state
