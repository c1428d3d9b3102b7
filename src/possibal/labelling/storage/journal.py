"""Event-sourced state of a campaign: a commutative, idempotent fold of an append-only journal.

    state = replay(events)          state.verdict(row).label          state.answers()

Last writer wins per person and row, by the time an event was made; an undo is a tombstone. So the
state follows from which events there are, and an event may arrive late, twice or out of order.
Classes are read by the names that they have now, whatever they were called when they were chosen.
"""

import functools
import gc
import json
import unicodedata
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from operator import attrgetter, lt
from reprlib import repr as brief
from typing import Any, Generic, TypeAlias, TypeVar, cast

from possibal.campaign.answer import Answer
from possibal.data.label_sets import LabelSyntax

REST = 20
"""A row that was skipped comes back after this many answers of the same person."""
UNSEEN = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])
"""Unicode's categories of controls, marks of format, halves of characters and ends of lines."""
JOINERS = "\u200c\u200d"
"""Marks of format that some scripts, and emoji, need."""
LONGEST_WHO = 60
"""Characters of a person's name."""

Order: TypeAlias = tuple[int, str]
"""When an event was made, and its key where two were made at once."""
Owner = TypeVar("Owner", bound=Hashable)
"""A row, or a person."""


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
    COMMENT = "comment"
    GUIDELINES = "guidelines"


NAMING = frozenset([Kind.LABEL, Kind.EDIT, Kind.IMPORT])
"""Kinds that say which class a row has, in the view of one person."""
OPINIONS = NAMING | {Kind.SKIP, Kind.UNSURE, Kind.BAD}
"""Kinds that are about a row, in the view of one person."""
ANSWERED = OPINIONS - {Kind.IMPORT}
"""Kinds by which somebody answers a row."""
LABELLED = NAMING | {Kind.SETTLE, Kind.CLASS}
"""Kinds that make what they name a class."""
ON_ROWS = OPINIONS | {Kind.SETTLE, Kind.GONE, Kind.COMMENT}
"""Kinds that need a row."""
ON_CLASSES = frozenset([Kind.CLASS, Kind.RENAME, Kind.REMOVE, Kind.DESCRIBE])
"""Kinds that change which classes there are, or what is said of them."""
ON_CAMPAIGN = ON_CLASSES | {Kind.CHECK, Kind.GUIDELINES}
"""Kinds that are about the campaign as a whole."""
TO, MERGE, DESCRIPTION, COLOUR, PLACES = "to", "merge", "description", "colour", "rows"
"""What the details of events are called: the new name, whether it is that of another class, the
words about a class, its colour, and the places of rows: those drawn, or those beside the first."""
TEXT = "text"
"""The detail of a comment on a row, or of the guidelines; empty text takes it away."""
IMPLIED = "implied"
"""The detail of a class that came with the first answer that names it: no action by itself."""
COPY_OF = "copy"
"""The detail of an event that says of a copy what another said of its row: the key of that one.
It holds for as long as that one does, and is no action by itself."""


@dataclass(frozen=True, slots=True)
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
        """What sorts events by when they were made."""
        return self.made, self.key

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
        remarks: the latest comment of each person; one that took theirs away has no text.
        label: the class settled, else that of most people; None if there is none or they are equal.
    """

    opinions: dict[str, Event] = field(default_factory=dict[str, Event])
    settled: Event | None = None
    gone: Event | None = None
    remarks: dict[str, Event] = field(default_factory=dict[str, Event])
    label: str | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Find the label once, for everybody asks for it."""
        object.__setattr__(self, "label", self._agreed())

    @property
    def is_gone(self) -> bool:
        """Whether the source has the row no more; a label that it has stays."""
        return self.gone is not None

    @property
    def comments(self) -> dict[str, str]:
        """What each person remarked on the row, of those who did."""
        said = {who: (event.detail or {}).get(TEXT, "") for who, event in self.remarks.items()}
        return {who: text for who, text in said.items() if text}

    @functools.cached_property
    def naming(self) -> dict[str, Event]:
        """The opinions that name a class."""
        return {who: event for who, event in self.opinions.items() if event.kind in NAMING}

    @functools.cached_property
    def is_bad(self) -> bool:
        """Whether somebody dropped the row, and nobody settled its class."""
        return self.settled is None and any(e.kind is Kind.BAD for e in self.opinions.values())

    def _agreed(self) -> str | None:
        """The label."""
        if self.settled is not None:
            return self.settled.label
        if len(self.opinions) == 1:
            (event,) = self.opinions.values()
            return event.label if event.kind in NAMING else None
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
        events = [event for event in self.opinions.values() if event.kind in NAMING]
        return max(map(_order, [*events, self.settled] if self.settled else events))

    @property
    def uses(self) -> set[str]:
        """The labels that are somebody's word."""
        settled = [self.settled] if self.settled else []
        return {event.label or "" for event in (*self.naming.values(), *settled)}

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
    is_name = isinstance(who, str) and who.strip() == (who or None) and is_seen(who)
    if not is_name or len(str(who)) > LONGEST_WHO:
        raise ValueError(
            f"who must be a name of 1 to {LONGEST_WHO} characters, with no blanks around them; "
            f"got {brief(who)}. Write, say, 'ann'."
        )


def is_seen(text: str) -> bool:
    """Whether no character of a text is one that cannot be seen; joiners of scripts are fine."""
    kinds = {unicodedata.category(one) for one in text if one not in JOINERS}
    return not kinds & UNSEEN


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
class _SortedEvents(Generic[Owner]):
    """Events of each row or person, kept sorted; one joins or leaves by bisection."""

    def __init__(self, first: str | None = None) -> None:
        """None yet.

        Args:
            first: the attribute that sorts them before the time at which they were made, if any.
        """
        self._events = dict[Owner, list[Event]]()
        self._first: Callable[[Event], Any] | None = attrgetter(first) if first else None
        self._key: Callable[[Event], Any] = attrgetter(first, "made", "key") if first else _order

    def of(self, owner: Owner) -> Sequence[Event]:
        """Those of a row or person."""
        return self._events.get(owner, ())

    def add(self, fresh: Mapping[Owner, list[Event]]) -> None:
        """Add some: each by bisection, but by sorting once where there were fewer before."""
        for owner, events in fresh.items():
            known = self._events.setdefault(owner, events)
            if known is not events and len(events) <= len(known):
                for event in events:
                    insort(known, event, key=self._key)
                continue
            if known is not events:
                known += events
            if len(known) > 1 and not _are_in_order(known):
                known.sort(key=self._key)
            elif len(known) > 1 and self._first is not None:
                known.sort(key=self._first)  # which leaves the others in their order

    def remove(self, owner: Owner, event: Event) -> None:
        """Remove one that is there."""
        known = self._events[owner]
        del known[bisect_left(known, self._key(event), key=self._key)]


class JournalState:
    """State folded from events; :meth:`apply` is commutative and idempotent."""

    guidelines: Event | None = None
    """The event that says how to label, if one does."""

    def __init__(self, syntax: LabelSyntax = LabelSyntax.ONE) -> None:
        """Nothing has happened yet.

        Args:
            syntax: whether a label is one class, or a set of them.
        """
        self.syntax = syntax
        self.events = dict[str, Event]()
        self.people = dict[str, None]()
        self.participants = set[str]()
        """Those who answered rows, undone or not; whose answers came with files alone did not."""
        self._undone = set[tuple[str, str]]()
        self._copied = defaultdict[str, list[Event]](list)
        # Those that hold: of each row the opinions and all else, of each person what can be undone
        self._opinions, self._rulings = _SortedEvents[int]("who"), _SortedEvents[int]("kind")
        self._acts, self._changes = _SortedEvents[str](), _SortedEvents[str]()
        self._recent = dict[str, list[Order]]()  # the last REST of a person, undone or not
        self._changed = dict[str, int]()  # when the last change by a person was made, likewise
        self._verdicts = dict[int, RowVerdict]()
        self.labels = dict[int, str]()
        """The label of each row that has one, in no order that means anything."""
        self.draws = tuple[tuple[int, ...], ...]()
        """Places of the rows that each draw made check rows."""
        self._on_campaign = list[Event]()
        self._catalogue = ClassCatalogue()
        self._namings = Counter[str]()  # how many events that hold name each class
        self._added = list[Event]()  # those of them that add one, in no order
        self._used: list[str] | None = None
        self._uses: Counter[str] | None = None
        self._closed = set[int]()
        self._frozen: frozenset[int] | None = None

    # ------------------------------------------------------------ growing

    def apply(self, *events: Event) -> Collection[int]:
        """Fold more events, then judge each row that they change once; those rows.

        An event that is known already changes nothing. A single one costs the logarithm of the
        number of events on its row, for each person who spoke of it.
        """
        new = {event.key: event for event in events}
        if len(new) < len(events) or not self.events.keys().isdisjoint(new.keys()):
            new = dict[str, Event]()
            for event in events:
                if event.key not in self.events:
                    new.setdefault(event.key, event)
        withdrawn = self._withdraw(new.values())
        undone = self._undone
        lost = {  # as holds() says, without a million calls
            key
            for key, event in new.items()
            if (key, event.who) in undone or (event.detail and not self.holds(event))
        }
        self._register(new, lost)
        rows = self._fold_rows(new.values(), lost)
        changes = [e for e in new.values() if e.row is None and _is_on_campaign(e)]
        self._fold_changes(changes, lost)
        rows |= dict.fromkeys(row for e in withdrawn if _is_on_rows(e) for row in e.rows)
        if changes or any(map(_is_on_campaign, withdrawn)):
            names = self._catalogue.names
            self._update_catalogue()
            rows = rows if self._catalogue.names == names else dict.fromkeys(self._verdicts) | rows
        for row in rows:
            self._update_verdict(row)
        return rows.keys()

    def _withdraw(self, new: Iterable[Event]) -> Collection[Event]:
        """Take out the known events that new ones undo, copies too; those that held until now."""
        found = dict[str, Event]()
        for undo in new:
            if undo.target is not None:
                known = self.events.get(undo.target)
                for event in (*self._copied.get(undo.target, ()), *([known] if known else [])):
                    if event.who == undo.who and self.holds(event):
                        found[event.key] = event
                self._undone.add((undo.target, undo.who))
        for event in found.values():
            self._take_out(event)
        return found.values()

    def _take_out(self, event: Event) -> None:
        """Let an event hold no more."""
        if _is_on_rows(event):
            index = self._opinions if event.kind in OPINIONS else self._rulings
            for row in event.rows:
                index.remove(row, event)
        if _is_act(event):
            (self._changes if event.row is None else self._acts).remove(event.who, event)
        if event.kind in LABELLED:
            self._namings[event.label or ""] -= 1
            self._used = None

    def _register(self, new: Mapping[str, Event], lost: Collection[str]) -> None:
        """Note new events, who made them, what they repeat, and which classes they name."""
        self.events |= new
        self.people |= dict.fromkeys(event.who for event in new.values())
        for event in new.values():
            if event.detail and COPY_OF in event.detail:
                self._copied[_source(event)].append(event)
        naming = [e for e in new.values() if e.kind in LABELLED and e.key not in lost]
        named = Counter(event.label or "" for event in naming)
        added = [event for event in naming if event.kind is Kind.CLASS]
        if added or any(not self._namings[label] for label in named):
            self._used = None
        self._namings.update(named)
        self._added += added

    def _fold_rows(self, new: Iterable[Event], lost: Collection[str]) -> dict[int, None]:
        """Fold new events on rows; those rows."""
        opinions, rulings = (defaultdict[int, list[Event]](list) for _ in range(2))
        acts, undone = (defaultdict[str, list[Event]](list) for _ in range(2))
        rows = dict[int, None]()
        for event in new:
            if event.row is None or event.target is not None:
                continue
            detail, holds = event.detail, event.key not in lost
            index = opinions if event.kind in OPINIONS else rulings
            for row in event.rows if detail else (event.row,):
                rows[row] = None
                if holds:
                    index[row].append(event)
            if not detail or COPY_OF not in detail:
                (acts if holds else undone)[event.who].append(event)
            if event.kind in ANSWERED:
                self.participants.add(event.who)
        self._opinions.add(opinions)
        self._rulings.add(rulings)
        self._acts.add(acts)
        for who in acts.keys() | undone.keys():
            late = {_order(event) for event in (*self._acts.of(who)[-REST:], *undone[who])}
            self._recent[who] = sorted(late.union(self._recent.get(who, ())))[-REST:]
        return rows

    def _fold_changes(self, new: Sequence[Event], lost: Collection[str]) -> None:
        """Fold new events on classes and check rows."""
        self._on_campaign += new
        changes = defaultdict[str, list[Event]](list)
        for event in filter(_is_act, new):
            self._changed[event.who] = max(self._changed.get(event.who, 0), event.made)
            if event.key not in lost:
                changes[event.who].append(event)
        self._changes.add(changes)

    def _update_verdict(self, row: int) -> None:
        """See anew what holds of a row."""
        verdict = self._fold_row(row)
        if self._uses is not None:
            self._uses.subtract(self._used_in(self.verdict(row)))
            self._uses.update(self._used_in(verdict))
        self._verdicts[row], label = verdict, verdict.label
        if label is not None:
            self.labels[row] = label
        else:
            self.labels.pop(row, None)
        is_closed = label is None and (verdict.is_bad or verdict.is_gone or verdict.in_conflict)
        if is_closed != (row in self._closed):
            self._closed ^= {row}
            self._frozen = None

    def _fold_row(self, row: int) -> RowVerdict:
        """Last writer wins per person, over the events on a row that are not undone."""
        opinions, rulings = _last_of_each(self._opinions.of(row)), self._rulings.of(row)
        settled = _last_of(rulings, Kind.SETTLE) if rulings else None
        gone = _last_of(rulings, Kind.GONE) if rulings else None
        remarks = {event.who: event for event in rulings if event.kind is Kind.COMMENT}
        if self._catalogue.names:
            opinions = {who: self.named(event) for who, event in opinions.items()}
            settled, gone = settled and self.named(settled), gone and self.named(gone)
            remarks = {who: self.named(event) for who, event in remarks.items()}
        return RowVerdict(opinions, settled, gone, remarks)

    def _update_catalogue(self) -> None:
        """See anew which classes and check rows there are."""
        self._used = self._uses = None
        holding = sorted(filter(self.holds, self._on_campaign), key=_order)
        self._catalogue = catalogue(event for event in holding if event.kind in ON_CLASSES)
        self.draws = tuple(named_places(event) for event in holding if event.kind is Kind.CHECK)
        revised = [event for event in holding if event.kind is Kind.GUIDELINES]
        self.guidelines = revised[-1] if revised else None

    # ------------------------------------------------------------ what holds

    def holds(self, event: Event) -> bool:
        """Whether the person did not undo it, nor what it is a copy of."""
        if (event.key, event.who) in self._undone:
            return False
        return not event.detail or (_source(event), event.who) not in self._undone

    def counts(self, event: Event) -> bool:
        """Whether an event is what holds of its first row, and no later one took its place."""
        if event.row is None or not self.holds(event):
            return self.holds(event)
        verdict = self.verdict(event.row)
        last = {
            Kind.SETTLE: verdict.settled,
            Kind.GONE: verdict.gone,
            Kind.COMMENT: verdict.remarks.get(event.who),
        }
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

    @property
    def closed(self) -> frozenset[int]:
        """The rows without a label that are dropped, gone or in conflict."""
        if self._frozen is None:
            self._frozen = frozenset(self._closed)
        return self._frozen

    # ------------------------------------------------------------ classes

    def name_of(self, label: str) -> str:
        """A label by the names that its classes have now."""
        names = self._catalogue.names
        return self.syntax.renamed(label, lambda name: names.get(name, name))

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
            added = sorted(filter(self.holds, self._added), key=_order)
            known = map(self.name_of, +self._namings)
            others = sorted({one for label in known for one in self.syntax.members(label)})
            self._used = [*(self.name_of(event.label or "") for event in added), *others]
        found = dict.fromkeys([*map(self.name_of, named), *self._used])
        gone = self._catalogue.removed.intersection(found)
        if gone:
            gone -= (+self.uses).keys()
        return tuple(name for name in found if name not in gone)

    @property
    def uses(self) -> Counter[str]:
        """In how many rows somebody's word is each class."""
        if self._uses is None:
            self._uses = Counter[str]()
            for verdict in self._verdicts.values():
                self._uses.update(self._used_in(verdict))
        return self._uses

    def _used_in(self, verdict: RowVerdict) -> set[str]:
        """The classes that are somebody's word on a row, or part of it."""
        return {one for label in verdict.uses for one in self.syntax.members(label)}

    def class_detail(self, name: str) -> ClassDetail:
        """What people are told of a class."""
        return self._catalogue.details.get(name, ClassDetail())

    @property
    def latest_change(self) -> int:
        """When the last event about classes or check rows was made, in milliseconds."""
        return max((event.made for event in self._on_campaign), default=0)

    # ------------------------------------------------------------ people

    def latest_of(self, who: str) -> int:
        """When the last thing was made that this person did, in milliseconds."""
        made = (order[0] for order in self._recent.get(who, ())[-1:])
        return max([*made, self._changed.get(who, 0)])

    def acts(self, who: str, most: int) -> Sequence[Event]:
        """The last things about rows that this person did and that hold, by when they were made."""
        return self._acts.of(who)[-most:]

    def last(self, who: str) -> Event | None:
        """The last thing this person did that can still be undone."""
        found = [*self._acts.of(who)[-1:], *self._changes.of(who)[-1:]]
        return max(found, key=_order, default=None)

    def last_change(self, who: str) -> Event | None:
        """The last change of classes or check rows by this person that can still be undone."""
        return next(iter(self._changes.of(who)[-1:]), None)

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

    def is_passed(self, row: int, who: str, people: int) -> bool:
        """Whether a row still wants an answer, this person was once not sure, and nobody is left.

        Everybody else who answers has had a say on it. Who is not sure a second time has seen it
        again, and that is enough.
        """
        verdict = self.verdict(row)
        mine = verdict.opinions.get(who)
        if mine is None or mine.kind is not Kind.UNSURE or not verdict.wants(people):
            return False
        said = {one for one, event in verdict.opinions.items() if event.kind is not Kind.SKIP}
        passes = (e for e in self._opinions.of(row) if e.who == who and e.kind is Kind.UNSURE)
        return self.participants <= said and sum(1 for _ in passes) == 1

    def _rested(self, skip: Event) -> bool:
        """Whether the same person did enough since a row was skipped."""
        recent = self._recent.get(skip.who, ())
        return skip.kind is Kind.SKIP and len(recent) == REST and recent[0] > skip.order


# ---------------------------------------------------------------- events
_order: Callable[[Event], Order] = attrgetter("made", "key")
_made: Callable[[Event], int] = attrgetter("made")
_who: Callable[[Event], str] = attrgetter("who")
_kind: Callable[[Event], Kind] = attrgetter("kind")


def _are_in_order(events: Sequence[Event]) -> bool:
    """Whether each was made after the one before, as most of a journal was."""
    made = list(map(_made, events))
    return all(map(lt, made, islice(made, 1, None)))


def _is_on_rows(event: Event) -> bool:
    """Whether it is about rows, and undoes nothing."""
    return event.row is not None and event.target is None


def _is_on_campaign(event: Event) -> bool:
    """Whether it is about the campaign as a whole."""
    return event.row is None and event.target is None and event.kind in ON_CAMPAIGN


def _is_act(event: Event) -> bool:
    """Whether it is something that a person did by itself, so that undo takes it back."""
    if _is_on_rows(event):
        return not event.detail or COPY_OF not in event.detail
    return _is_on_campaign(event) and IMPLIED not in (event.detail or {})


def _source(event: Event) -> str:
    """The key of the event that an event repeats for a copy; its own if it repeats none."""
    return (event.detail or {}).get(COPY_OF, event.key)


def _last_of_each(opinions: Sequence[Event]) -> dict[str, Event]:
    """The last opinion of each person, in the order of their first, of some sorted by person."""
    if opinions and opinions[0].who == opinions[-1].who:
        return {opinions[-1].who: opinions[-1]}
    found, at = list[tuple[Order, Event]](), 0
    while at < len(opinions):
        first, end = opinions[at], len(opinions)
        if opinions[-1].who != first.who:
            end = bisect_right(opinions, first.who, at, key=_who)
        found.append((first.order, opinions[end - 1]))
        at = end
    found.sort(key=lambda one: one[0])
    return {event.who: event for _, event in found}


def _last_of(rulings: Sequence[Event], kind: Kind) -> Event | None:
    """The last one of a kind, of some sorted by kind."""
    end = bisect_right(rulings, kind, key=_kind)
    return rulings[end - 1] if end and rulings[end - 1].kind is kind else None


@contextmanager
def paused_collection() -> Generator[None]:
    """Leave cyclic garbage alone while many objects are made that stay: looking costs more."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def replay(events: Iterable[Event], syntax: LabelSyntax = LabelSyntax.ONE) -> JournalState:
    """What holds after all these events.

    Args:
        events: in any order.
        syntax: whether a label is one class, or a set of them.
    """
    state = JournalState(syntax)
    with paused_collection():
        state.apply(*events)
    return state
