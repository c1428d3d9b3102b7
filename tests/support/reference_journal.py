"""The journal's state the slow way: a reference for the fold that judges each row once."""

from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace

from possibal.campaign.answer import Answer
from possibal.labelling.storage import journal
from possibal.labelling.storage.journal import (
    ANSWERED,
    COPY_OF,
    IMPLIED,
    LABELLED,
    NOTHING,
    ON_CAMPAIGN,
    ON_CLASSES,
    OPINIONS,
    ClassCatalogue,
    ClassDetail,
    Event,
    Kind,
    Order,
    RowVerdict,
    catalogue,
    named_places,
)


class SlowJournalState:
    """What :class:`JournalState` was before: every event judges all events of its rows anew.

    Two slips of it are mended: an undo reaches copies of what is still on its way, and whether a
    row has rested leaves no empty list behind.
    """

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
        self.guidelines: Event | None = None
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
            for copy in self._copied.get(event.target, ()):
                self._update_rows(copy)
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
        remarks = {event.who: event for event in holding if event.kind is Kind.COMMENT}
        return RowVerdict(opinions, last.get(Kind.SETTLE), last.get(Kind.GONE), remarks)

    def _update_catalogue(self) -> None:
        """See anew which classes and check rows there are, and rows by the classes' names."""
        before, self._used = self._catalogue.names, None
        holding = sorted(
            (event for event in self._on_campaign if self.holds(event)), key=lambda e: e.order
        )
        self._catalogue = catalogue(event for event in holding if event.kind in ON_CLASSES)
        self.draws = tuple(named_places(event) for event in holding if event.kind is Kind.CHECK)
        revised = [event for event in holding if event.kind is Kind.GUIDELINES]
        self.guidelines = revised[-1] if revised else None
        if self._catalogue.names != before:
            for row in self._on_row:
                self._update_verdict(row)

    # ------------------------------------------------------------ what holds

    def holds(self, event: Event) -> bool:
        """Whether the person did not undo it, nor what it is a copy of."""
        keys = (event.key, _source(event)) if event.detail else (event.key,)
        return not any((key, event.who) in self._undone for key in keys)

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
        return max((event.made for event in self._on_campaign), default=0)

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

    @property
    def participants(self) -> set[str]:
        """Those who answered rows, undone or not."""
        said = (e for e in self.events.values() if e.row is not None and e.target is None)
        return {event.who for event in said if event.kind in ANSWERED}

    def is_passed(self, row: int, who: str, people: int) -> bool:
        """Whether a row wants an answer, and all who answer said one, this person once not sure."""
        verdict, held = self.verdict(row), [e for e in self._on_row.get(row, []) if self.holds(e)]
        mine = verdict.opinions.get(who)
        unsure = [event for event in held if (event.who, event.kind) == (who, Kind.UNSURE)]
        return (
            verdict.wants(people)
            and mine is not None
            and mine.kind is Kind.UNSURE
            and len(unsure) == 1
            and all(
                one in verdict.opinions and verdict.opinions[one].kind is not Kind.SKIP
                for one in self.participants
            )
        )

    def _rested(self, skip: Event) -> bool:
        """Whether the same person did enough since a row was skipped."""
        orders = self._of.get(skip.who, [])
        return (
            skip.kind is Kind.SKIP
            and len(orders) - bisect_right(orders, skip.order) >= journal.REST
        )


def _source(event: Event) -> str:
    """The key of the event that an event repeats for a copy; its own if it repeats none."""
    return (event.detail or {}).get(COPY_OF, event.key)
