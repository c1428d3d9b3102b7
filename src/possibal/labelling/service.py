"""Application service of a campaign: what the page, the command line and Python share.

service.ask(who) -> Question    service.answer(event) -> StoredEvent    service.undo(event) -> Event

An answer is durable before anybody hears that it was taken. The next question is served from the
last ranking, while a new one is being made.
"""

from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from reprlib import repr as brief
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from possibal.data.copies import CopyGroups
from possibal.errors import RefusedError
from possibal.labelling import class_changes, create, explanation, remarks
from possibal.labelling.event_clock import EventClock
from possibal.labelling.explanation import NearestLabel, QuestionSource, Remainder
from possibal.labelling.ranking import MemberPrediction, Prediction, Ranking
from possibal.labelling.read_model import ReadModel, last_part
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.storage.journal import (
    IMPLIED,
    LABELLED,
    NAMING,
    ON_CAMPAIGN,
    ON_CLASSES,
    ON_ROWS,
    Event,
    Kind,
    named_places,
    places_detail,
)
from possibal.labelling.storage.leases import Lease, LeaseTable
from possibal.labelling.storage.store import Item, Setup, clock

if TYPE_CHECKING:
    from possibal.labelling.background_intake import BackgroundIntake

LEASE = 120
"""Seconds that a person may take over a row before somebody else gets it; the page renews it."""
TRIED = 32
"""Rows tried at once where other processes may be faster."""
HEAD = 32
"""Rows at the head of a ranking that nobody keeps in reserve."""
NEAREST = 3
"""Labelled rows shown beside a question."""
LOOKED_AT, OFFERED = 24, 6
"""Rows nearest to one that are looked at for what is nearly the same, and those offered at most."""
MOST_CLOSE = 12
"""Rows close to one that are offered to be labelled together, at most."""
MOST_COMPARED = 200_000
"""In larger pools nothing is offered, for looking at all rows would take too long."""


@dataclass(frozen=True)
class LabelledNeighbour:
    """A labelled row that is like the one asked about."""

    item: Item
    label: str


@dataclass(frozen=True)
class Question:
    """A row to answer, and why.

    Attributes:
        item: the row.
        source: where the question came from.
        sentence: why it is asked, in words.
        prediction: what the model makes of it; None where that is not to be shown.
        near: the nearest labelled rows.
        mine: what this person said of it before.
        copies: how many other rows say the same, and are answered with it.
        comments: what each person remarked; where people answer blind, this person alone.
        members: what the model makes of each class, where a row may have several.
    """

    item: Item
    source: QuestionSource
    sentence: str
    prediction: Prediction | None
    near: tuple[LabelledNeighbour, ...]
    mine: Event | None
    copies: int = 0
    comments: Mapping[str, str] = field(default_factory=dict[str, str])
    members: tuple[MemberPrediction, ...] = ()


@dataclass(frozen=True)
class StoredEvent:
    """An event as the journal has it.

    Attributes:
        event: with its number.
        repeated: whether it was there before.
        counts: whether it is what holds now, and no later one took its place.
    """

    event: Event
    repeated: bool
    counts: bool = True


@dataclass(frozen=True)
class Neighbourhood:
    """Rows close to one, for a person to look at and to label together, if they agree.

    Attributes:
        row: the one.
        is_open: whether it may be labelled with them.
        rows: the others, the nearest first.
        label: of the one, or what is predicted of it, which is predicted of them too; None where
            that is not to be shown.
    """

    row: int
    is_open: bool
    rows: tuple[int, ...] = ()
    label: str | None = None


class LabellingService:
    """Asks, leases, records and undoes, for any number of people at once."""

    def __init__(self, read_model: ReadModel, scheduler: RankingScheduler) -> None:
        """Serve a campaign; leases of an earlier time still hold."""
        self.read_model, self.scheduler, self._leases = read_model, scheduler, LeaseTable()
        self.store, self._lock = read_model.store, read_model.lock
        self.intake: BackgroundIntake | None = None
        """What takes further rows in, while there are any."""
        self._shared: object = None  # the groups of copies that are known to share their labels
        self._event_clock = EventClock()
        self._claimed = set[int]()  # rows that somebody is about to lease
        self._load_leases()

    @property
    def setup(self) -> Setup:
        """What the campaign was begun with, and how many rows it has now."""
        return self.read_model.setup

    # ------------------------------------------------------------ asking

    def ask(self, who: str) -> Question | None:
        """The next question for a person; None where nothing is left."""
        rows = self.rows(who, 1)
        if not rows:
            return None
        self.scheduler.anticipate(rows[0])
        return self.question(rows[0], who)

    def catch_up(self) -> None:
        """See what other servers of the campaign did, where there may be any."""
        with self._lock:
            changes = self._leases.changes
        seen = self.read_model.glance()
        if seen is not None:
            with self._lock:
                self._leases.load(seen.leases, changes)

    def rows(self, who: str, count: int) -> list[int]:
        """The next rows for a person, the best first, now theirs for a while."""
        self.catch_up()
        self._share_labels()
        self.scheduler.await_ranking()
        rows = self._current(who)
        for pick in (self._open, self._put_off, self._reserved, self._passed):
            while len(rows) < count:
                row = self._lease_first(who, lambda who, pick=pick: _others(pick(who), rows))
                if row is None:
                    break
                rows.append(row)
        return rows[:count]

    def choose(self, who: str, row: int) -> Question:
        """A row that a person picked, if nobody else is at it."""
        self.catch_up()
        self.check_row(row)
        with self._lock:
            left = [other for other in self._leases.current(who, self._now()) if other != row]
        if not self._try_lease(who, row):
            name = self.read_model.shown_id(row)
            raise RefusedError(f"row must be free; got {name!r}, which somebody has. Pick another.")
        self._release(who, left)
        self.scheduler.anticipate(row)
        return self.question(row, who, QuestionSource.CHOSEN)

    def reserve(self, who: str, count: int) -> list[Question]:
        """Questions leased in reserve, to answer while the server cannot be reached.

        The best rows are left to whoever can reach it, if there are others.
        """
        self.catch_up()
        self.scheduler.await_ranking()
        with self._lock:
            now = self._now()
            mine, at = self._leases.in_reserve(who, now), self._leases.current(who, now)
            kept = [row for row in mine if self._may_ask(row, who)]
            wanted = max(0, count - len(kept))
            others = (row for row in self._open(who) if row not in mine and row not in at)
            rows = list(islice(others, HEAD + wanted))[-wanted:] if wanted else []
        now, lease = self._lease(who, spare=True)
        held = self.store.hold(rows, lease, now, wanted) if wanted else []
        with self._lock:
            self._leases.hold(held, lease)
        return [self.question(row, who) for row in [*kept, *held][:count]]

    def renew(self, who: str) -> int:
        """Renew all leases of a person; the seconds they have."""
        now, lease = self._lease(who)
        self.store.renew(who, now, lease.until)
        with self._lock:
            self._leases.renew(who, now, lease.until)
        return LEASE

    def question(self, row: int, who: str, source: QuestionSource | None = None) -> Question:
        """A row as a question to a person."""
        self.check_row(row)
        source = self._source(row, who, source)
        if self.setup.blind:
            return self._blind_question(row, who, source)
        prediction = self._prediction(row)
        near = self.read_model.nearest(row, NEAREST)
        said = self._reason(row, source, prediction, near)
        items = self.read_model.items([row, *(other for other, _, _ in near)])
        shown = tuple(LabelledNeighbour(items[other], label) for other, label, _ in near)
        verdict = self.read_model.state.verdict(row)
        if row in self.read_model.check_rows:
            prediction, shown = None, ()  # lest the measure be swayed
        known = self.scheduler.predictions if prediction else None
        members = tuple(known.members_of(row)) if known else ()
        copies = len(self.read_model.copies.with_copies([row])) - 1
        mine, comments = verdict.opinions.get(who), verdict.comments
        return Question(
            items[row], source, said, prediction, shown, mine, copies, comments, members
        )

    def _reason(
        self,
        row: int,
        source: QuestionSource,
        prediction: Prediction | None,
        near: Sequence[tuple[int, str, float]],
    ) -> str:
        """Why a row is asked about, by the last ranking and the nearest labelled rows."""
        ranking, predictions = self.scheduler.ranking, self.scheduler.predictions
        nearest = _nearest_label([(at, self._words(one), d) for at, one, d in near], ranking)
        is_model = source is QuestionSource.MODEL
        sought = self.read_model.sought
        if is_model and sought and predictions and predictions.class_calibration:
            (likely,) = predictions.sought_chances([row])
            return explanation.sought_sentence(sought, likely, nearest)
        others = self.read_model.uncertain_neighbours(row, ranking) if is_model else 0
        chance = None if ranking is None else ranking.chances.get(row)
        told = prediction and replace(prediction, label=self._words(prediction.label))
        return explanation.sentence(source, told, nearest, others, chance)

    def _words(self, label: str) -> str:
        """A label as a sentence has it."""
        return self.setup.syntax.words(label)

    def _blind_question(self, row: int, who: str, source: QuestionSource) -> Question:
        """A row as a question, without what others and the model say of it and its like."""
        said = explanation.blind_sentence(source)
        item, verdict = self.read_model.items([row])[row], self.read_model.state.verdict(row)
        copies = len(self.read_model.copies.with_copies([row])) - 1
        own = {one: text for one, text in verdict.comments.items() if one == who}
        mine = verdict.opinions.get(who)
        return Question(item, source, said, None, (), mine, copies, own)

    def shown(self, question: Question) -> Item:
        """The row of a question; folders that tell its label show once the person answered it."""
        item = self.read_model.shown(question.item)
        is_hidden = self.setup.hidden_folders and question.mine is None
        return replace(item, id=last_part(item.id)) if is_hidden else item

    def near_copies(self, row: int, who: str) -> list[Item]:
        """Rows that are nearly the same as one, and that a person may be asked about.

        They are for the person to look at: nothing follows from their being near.
        """
        self.check_row(row)
        read_model, groups = self.read_model, self.read_model.copies
        check = groups.whole_groups(read_model.check_rows)
        if self.setup.rows > MOST_COMPARED or row in check:
            return []
        with self._lock:
            known = {row, *read_model.state.labels, *self._leases.current(who, self._now())}
        near = read_model.nearest_rows(row, known | check | groups.copies, LOOKED_AT)
        with self._lock:
            now = self._now()
            free = [one for one in near if self._leases.is_free(one, who, now)]
            may = [one for one in free if self._may_ask(one, who)]
        return read_model.nearly_same(row, may)[:OFFERED]

    def neighbourhood(self, row: int, who: str) -> Neighbourhood:
        """Rows without a label that are close to one and, as far as is known, of the same class.

        Nothing follows from their being close. Check rows have none and are in none, and neither
        are rows that somebody else is at or that the person put off. Where people answer blind,
        what the model predicts has no part in it.
        """
        self.check_row(row)
        read_model, ranking = self.read_model, self.scheduler.ranking
        check = read_model.copies.whole_groups(read_model.check_rows)
        if ranking is None or row in check:
            return Neighbourhood(row, is_open=False)
        is_open = row not in read_model.copies.copies and bool(self._unlabelled([row], who))
        label = None
        if not self.setup.blind:
            predicted = self._prediction(row)
            label = read_model.label(row) or (predicted and predicted.label)
            if label is None:
                return Neighbourhood(row, is_open)
        near = self._unlabelled(read_model.close_rows(row, ranking, label), who)
        return Neighbourhood(row, is_open, tuple(near[:MOST_CLOSE]), label)

    def _unlabelled(self, rows: Iterable[int], who: str) -> list[int]:
        """Those of some rows of which nobody named a class and that a person may be asked about.

        Check rows are none of them: a sample that is not asked at random measures nothing.
        """
        read_model = self.read_model
        with self._lock:
            check, now = read_model.copies.whole_groups(read_model.check_rows), self._now()
            state = read_model.state
            return [
                row
                for row in rows
                if row not in check
                and not state.verdict(row).naming
                and self._leases.is_free(row, who, now)
                and self._may_ask(row, who)
            ]

    # ------------------------------------------------------------ answering

    def answer(self, event: Event) -> StoredEvent:
        """The event, durable, with what the model predicted at the time.

        What is said of a row is said of its copies too; of a copy it is said alone.
        Idempotent: an event whose key is known is returned as it was stored.
        """
        if event.kind in ON_CAMPAIGN:
            return self._change(event)
        if event.kind is Kind.COMMENT:
            return self._comment(event)
        state, event = self.read_model.state, self._cleaned(event)
        known = state.events.get(event.key)
        if known is not None:
            _check_same(known, event)
            return StoredEvent(known, repeated=True, counts=state.counts(known))
        self._check(event)
        groups = self.read_model.copies
        return self._record(event, groups.with_copies(event.rows)[1:], groups)

    def _cleaned(self, event: Event) -> Event:
        """An event with the one text that its label has."""
        if event.label is None or event.kind in ON_CLASSES:
            return event
        return replace(event, label=self.setup.syntax.clean(event.label))

    def _comment(self, event: Event) -> StoredEvent:
        """A comment on a row and on no copy of it, durable; whoever is at the row stays there."""
        known = self.read_model.state.events.get(event.key)
        if known is not None:
            _check_same(known, event)
        stored = known or self.append([event])[0]
        counts = self.read_model.state.counts(stored)
        return StoredEvent(stored, known is not None, counts)

    def answer_unlabelled(self, event: Event) -> StoredEvent:
        """An answer about those of its rows that nobody labelled by now; the others are left out.

        They may have been shown some time ago, or come from a page that was away. What somebody
        else is at, and what has become a check row, is left out too. The rows are leased before it
        is seen once more who answered what, so that no other server gives them to somebody.
        """
        event = self._cleaned(event)
        known = self.read_model.state.events.get(event.key)
        if known is not None:
            _check_same(known, replace(event, row=known.row) if known.row in event.rows else event)
            return StoredEvent(known, repeated=True, counts=self.read_model.state.counts(known))
        for row in (event.row, *named_places(event)):
            self.check_row(row)
        now, lease = self._lease(event.who, spare=True)
        free = self._unlabelled(event.rows, event.who)
        held = self.store.hold(free, lease, now, len(free)) if free else []
        taken = list[int]()
        try:
            with self._lock:  # two who label the same rows come one after the other
                self._leases.hold(held, lease)
                self.read_model.catch_up()
                rows = self._unlabelled(held, event.who)
                if not rows:
                    raise RefusedError(
                        f"row must be without a label; got {brief(list(event.rows))}, which have "
                        "one by now, or somebody else is at them. Choose others."
                    )
                stored = self._record_unlabelled(event, rows)
            taken += stored.event.rows
        finally:
            self._release(event.who, [row for row in held if row not in taken])
        return stored

    def _record_unlabelled(self, event: Event, rows: Sequence[int]) -> StoredEvent:
        """An event about rows without a label, and about their copies without one."""
        groups, state = self.read_model.copies, self.read_model.state
        copies = groups.with_copies(rows)[len(rows) :]
        others = [*rows[1:], *(row for row in copies if not state.verdict(row).naming)]
        return self._record(replace(event, row=rows[0], detail=None), others, groups)

    def _record(self, event: Event, others: Sequence[int], groups: CopyGroups) -> StoredEvent:
        """An event about its row and others, durable, with what the model predicted at the time."""
        if event.row is not None:
            predicted = self._prediction(event.row)
            if predicted is not None:
                label, necessity = predicted.label, predicted.necessity
                event = replace(event, predicted_label=label, necessity=necessity)
        if others:
            event = replace(event, detail={**(event.detail or {}), **places_detail(others)})
        (stored,) = self.append([event])
        with self._lock:
            if groups is not self.read_model.copies:  # one may have joined in the meantime
                self._shared = None
            counts = self.read_model.state.counts(stored)
            return StoredEvent(stored, repeated=False, counts=counts)

    def stamped(self, event: Event, sent: int | None, device: str | None) -> Event:
        """An event that came over the network, as made at a time of our clock."""
        with self._lock:
            return self._event_clock.stamped(event, sent, device, self._now())

    def undo(self, event: Event) -> Event | None:
        """The event that was undone: the target, else the person's last; None if there is none.

        It is undone for all its rows. The first of them is the person's again, if nobody else is
        at it. A target that is still on its way is undone when it arrives.
        """
        state = self.read_model.state
        known = state.events.get(event.key)
        if known is None and event.target is None:
            with self._lock:
                last = state.last(event.who)
            if last is None:
                return None
            event = replace(event, target=last.key)
        if known is not None and event.target is not None:
            _check_same(known, event)
        is_new, known = known is None, known or self.append([event])[0]
        undone = state.events.get(known.target or "")
        if is_new and undone is not None and undone.row is not None:
            self._try_lease(event.who, undone.row)
        return undone

    def append(self, events: Sequence[Event]) -> list[Event]:
        """Many events at once, as from a file; those that are known already are not added."""
        for event in events:
            if event.key not in self.read_model.state.events:
                self._check(event)
        stored = self.store.append(events)
        self.read_model.apply(stored)
        with self._lock:
            for event in stored:
                for row in () if event.kind is Kind.COMMENT else event.rows:
                    self._leases.release(row, event.who)
        return stored

    def _share_labels(self) -> None:
        """Say of copies what was said of the rows that are asked in their stead, if nobody did.

        A copy may join while such a row is being answered.
        """
        read_model, groups = self.read_model, self.read_model.copies
        if self._shared is groups:
            return
        with self._lock:
            state, self._shared = read_model.state, groups
            unsaid = [row for row in groups.copies if not state.verdict(row).opinions]
            late = [row for row in unsaid if state.verdict(groups.leader(row)).opinions]
            items = read_model.items(late).values()
            events = create.shared_events(state, groups, items, ())
        if events:
            self.append(events)

    def check_row(self, row: int | None) -> None:
        """Refuse a row that is none."""
        if row is None or not 0 <= row < self.setup.rows:
            raise RefusedError(
                f"row must be from 0 to {self.setup.rows - 1}; got {row}. Ask for a row."
            )

    def _check(self, event: Event) -> None:
        """Refuse what makes no sense; an answer that comes late does."""
        state = self.read_model.state
        if event.kind in ON_ROWS:
            self._check_rows(event)
        if event.kind in LABELLED | ON_CLASSES and not event.label:
            raise RefusedError(f"label must name a class; got {event.label!r}. Choose one.")
        if event.kind in ON_CLASSES:
            class_changes.check_change(state, self.setup.classes, event)
        if event.kind is Kind.CHECK:
            self._check_drawn(event)
        if event.kind in remarks.LONGEST:
            remarks.check_text(event)
        classes, label = self.read_model.classes, state.name_of(event.label or "")
        is_known = set(classes).issuperset(self.setup.syntax.members(label))
        if event.kind in {Kind.LABEL, Kind.EDIT, Kind.SETTLE} and not is_known:
            raise RefusedError(
                f"label must be one of {list(classes)}; got {event.label!r}. "
                "Choose one of these, or add it first."
            )
        target = state.events.get(event.target or "")
        if target is not None and (target.who != event.who or target.kind is Kind.UNDO):
            raise RefusedError(
                f"target must be an answer of {event.who}; got one of {target.who}. Undo your own."
            )

    def _check_rows(self, event: Event) -> None:
        """Refuse others than rows, each once, that are check rows where the first is one."""
        self.check_row(event.row)
        named, groups = named_places(event), self.read_model.copies
        check = {groups.leader(row) for row in self.read_model.check_rows}
        for place in named:
            self.check_row(place)
        if len(event.rows) <= len(named):
            raise RefusedError(
                f"others must be other rows than {event.row}, each once; got {brief(list(named))}. "
                "Name each row once."
            )
        if len({groups.leader(place) in check for place in event.rows}) > 1:
            raise RefusedError(
                "others must be check rows where row is one, and none where it is none; got "
                f"{brief(list(event.rows))}. Answer check rows by themselves."
            )

    # ------------------------------------------------------------ classes and check rows

    def add_class(self, name: str, who: str) -> Event:
        """Add a class."""
        class_changes.check_new(self.read_model.classes, name)
        return self._do(class_changes.added(name, who))

    def ensure_class(self, name: str, who: str) -> None:
        """Add a class if it is none yet, as part of an answer: undo does not stop at it."""
        if name not in self.read_model.classes:
            self._do(replace(class_changes.added(name, who), detail={IMPLIED: "yes"}))

    def rename_class(self, old: str, new: str, who: str) -> Event:
        """Give a class another name; answers under the old one count, also those still to come."""
        return self._do(class_changes.renamed(old, new, who))

    def merge_classes(self, name: str, into: str, who: str) -> Event:
        """Let a class count as another that there is."""
        return self._do(class_changes.merged(name, into, who))

    def remove_class(self, name: str, who: str) -> Event:
        """Take out a class that no row has."""
        return self._do(class_changes.removed(name, who))

    def describe_class(
        self, name: str, who: str, description: str | None = None, colour: str | None = None
    ) -> Event:
        """Say what is shown of a class; None leaves it as it is, and empty text takes it away.

        Args:
            name: of the class.
            who: the person.
            description: a sentence that is shown while people label.
            colour: such as #3366cc.
        """
        return self._do(class_changes.described(name, who, description, colour))

    def revise_guidelines(self, text: str, who: str) -> Event:
        """Say how to label; empty text takes the guidelines away."""
        return self._do(remarks.revised(text, who))

    def comment(self, row: int, text: str, who: str) -> Event:
        """Comment on a row, in the place of what the person remarked before; empty text is none."""
        return self._do(remarks.commented(row, text, who))

    def add_check_rows(self, count: int, who: str) -> tuple[int, ...]:
        """Draw more check rows, and return their places; see :meth:`ReadModel.draw_check_rows`."""
        event = class_changes.change_event(Kind.CHECK, None, who, None)
        return named_places(self.draw_check_rows(event, count).event)

    def draw_check_rows(self, event: Event, count: int) -> StoredEvent:
        """An event that draws so many more check rows, durable; idempotent, as an answer is."""
        read_model = self.read_model
        read_model.catch_up()
        with self._lock:
            known = read_model.state.events.get(event.key)
            if known is not None:
                return StoredEvent(known, repeated=True)
            detail = places_detail(read_model.draw_check_rows(count))
            return self._change(replace(event, detail=detail))

    def _do(self, event: Event) -> Event:
        """An event of our own clock, durable, later than all that the person did."""
        with self._lock:
            return self.answer(class_changes.stamped(self.read_model.state, event)).event

    def _change(self, event: Event) -> StoredEvent:
        """A change of the campaign, durable, made after all others, whatever a clock says."""
        self.read_model.catch_up()
        with self._lock:  # nobody may change it between the check and the change
            known = self.read_model.state.events.get(event.key)
            if known is not None:
                _check_same(known, event)
                return StoredEvent(known, repeated=True)
            last = self.read_model.state.latest_change
            (stored,) = self.append([replace(event, made=max(event.made, last + 1))])
        return StoredEvent(stored, repeated=False)

    def _check_drawn(self, event: Event) -> None:
        """Refuse a draw of nothing, or of what is no row."""
        rows = named_places(event)
        if not rows or not all(0 <= row < self.setup.rows for row in rows):
            raise RefusedError(
                f"rows must be places from 0 to {self.setup.rows - 1}; got {list(rows)}. Draw some."
            )

    # ------------------------------------------------------------ leases

    def held_by_others(self, who: str) -> set[int]:
        """The rows that others than this person hold."""
        with self._lock:
            return self._leases.of_others(who, self._now())

    def _current(self, who: str) -> list[int]:
        """The rows that a person is at, if they still want an answer."""
        with self._lock:
            rows = self._leases.current(who, self._now())
            return [row for row in rows if self._may_ask(row, who)]

    def _lease_first(self, who: str, pick: Callable[[str], Iterator[int]]) -> int | None:
        """The first row that could be leased to a person, now theirs."""
        most = TRIED if self.store.is_shared else 1
        for _ in range(TRIED):
            with self._claiming(lambda: list(islice(pick(who), most))) as rows:
                if not rows:
                    return None
                now, lease = self._lease(who)
                held = self.store.hold(rows, lease, now)
                if held and not self._still_wanted(held[0]):
                    self._release(who, held)
                    continue
                with self._lock:
                    self._leases.hold(held, lease)
                if held:
                    return held[0]
                self._load_leases()
        return None

    @contextmanager
    def _claiming(self, pick: Callable[[], list[int]]) -> Generator[list[int]]:
        """Rows that are picked, the first of which nobody else picks before its lease is known."""
        with self._lock:
            rows = pick()
            self._claimed.update(rows[:1])
        try:
            yield rows
        finally:
            with self._lock:
                self._claimed.difference_update(rows[:1])

    def _still_wanted(self, row: int) -> bool:
        """Whether a row wants answers after all that happened at other servers before its lease."""
        if self.store.is_shared:
            self.read_model.catch_up()
        return self.read_model.wants(row)

    def _try_lease(self, who: str, row: int) -> bool:
        """Whether a row could be leased to a person."""
        now, lease = self._lease(who)
        held = self.store.hold([row], lease, now)
        with self._lock:
            self._leases.hold(held, lease)
        return bool(held)

    def _release(self, who: str, rows: Sequence[int]) -> None:
        """Release rows that a person holds."""
        if rows:
            self.store.release(rows, who)
        with self._lock:
            for row in rows:
                self._leases.release(row, who)

    def _load_leases(self) -> None:
        """Read who holds what."""
        with self._lock:
            changes = self._leases.changes
        known = self.store.leases(self._now())
        with self._lock:
            self._leases.load(known, changes)

    def _now(self) -> int:
        """Milliseconds by the one clock of all servers of the campaign."""
        return clock() + self.store.ahead

    def _lease(self, who: str, *, spare: bool = False) -> tuple[int, Lease]:
        """The time, and a lease from now on."""
        now = self._now()
        return now, Lease(who, now + 1000 * LEASE, spare)

    # ------------------------------------------------------------ which rows

    def _open(self, who: str) -> Iterator[int]:
        """Rows for a person, the best first, that nobody holds."""
        now = self._now()
        free = (row for row in self._ordered() if self._leases.is_free(row, who, now))
        return (row for row in free if self._may_ask(row, who))

    def _put_off(self, who: str) -> Iterator[int]:
        """Rows that a person skipped, for when nothing else is left."""
        now, people = self._now(), self.setup.people
        free = (row for row in self._ordered() if self._leases.is_free(row, who, now))
        return (row for row in free if self.read_model.state.is_skipped(row, who, people))

    def _reserved(self, who: str) -> Iterator[int]:
        """Rows that others keep in reserve, for when nothing else is left."""
        now = self._now()
        spare = (row for row in self._ordered() if self._leases.is_spare(row, now))
        return (row for row in spare if self._may_ask(row, who))

    def _passed(self, who: str) -> Iterator[int]:
        """Rows that a person was not sure of and that nobody else is asked about, to ask again."""
        now, people = self._now(), self.setup.people
        free = (row for row in self._ordered() if self._leases.is_free(row, who, now))
        return (row for row in free if self.read_model.state.is_passed(row, who, people))

    def remainder(self, who: str) -> Remainder:
        """What is still open where a person has nothing left to answer."""
        copies, people = self.read_model.copies.copies, self.setup.people
        with self._lock:
            state = self.read_model.state
            others = self._leases.of_others(who, self._now()) - copies
            held = sum(map(self.read_model.wants, others))
            kinds = Counter(
                mine and mine.kind
                for row, verdict in state.verdicts.items()
                if row not in copies and row not in others and verdict.wants(people)
                for mine in [verdict.opinions.get(who)]
            )
        unsure, waiting = kinds[Kind.UNSURE], sum(kinds[one] for one in NAMING)
        return Remainder(held, unsure, waiting, state.participants <= {who})

    def _ordered(self) -> Iterator[int]:
        """All rows that are asked and that nobody is about to lease, the best first, each once."""
        given = {*self.read_model.copies.copies, *self._claimed}
        for rows in self._preferred():
            yield from (row for row in rows if row not in given)
            given.update(rows)

    def _preferred(self) -> Iterator[Collection[int]]:
        """Some rows, then others, the best first; some come twice."""
        check = self.read_model.check_rows
        yield self.read_model.drawn_rows
        if check and self.read_model.is_check_due:
            yield check
        yield self.scheduler.order
        yield check
        rng = np.random.default_rng([self.setup.seed, crc32(b"order")])
        yield rng.permutation(self.setup.rows).tolist()

    def _prediction(self, row: int) -> Prediction | None:
        """What is predicted of a row, if anything."""
        predictions = self.scheduler.predictions
        return None if predictions is None else predictions.of_row(row)

    def _may_ask(self, row: int, who: str) -> bool:
        """Whether a row wants an answer of this person."""
        return self.read_model.state.may_ask(row, who, self.setup.people)

    def _source(self, row: int, who: str, known: QuestionSource | None) -> QuestionSource:
        """Where the question about a row comes from, if that is not known."""
        ranking = self.scheduler.ranking
        if row in self.read_model.check_rows:
            return QuestionSource.CHECK
        if known is not None:
            return known
        mine = self.read_model.state.verdict(row).opinions.get(who)
        if mine is not None:
            return QuestionSource.AGAIN
        if ranking is None:
            return QuestionSource.UNRANKED
        return QuestionSource.DIVERSE if ranking.is_cold else QuestionSource.MODEL


def _check_same(known: Event, event: Event) -> None:
    """Refuse another event under a key that is taken."""
    names = ("kind", "who", "row", "label", "target")
    if any(getattr(known, name) != getattr(event, name) for name in names):
        raise RefusedError(
            f"key must be new for each action; got {event.key!r}, which another action has. "
            "Make a new one."
        )


def _nearest_label(
    near: Sequence[tuple[int, str, float]], ranking: Ranking | None
) -> NearestLabel | None:
    """The label of the first of the nearest rows, and how far it is in usual distances."""
    if not near:
        return None
    _, label, distance = near[0]
    return NearestLabel(label, None if ranking is None else distance / ranking.usual_distance)


def _others(rows: Iterator[int], known: Sequence[int]) -> Iterator[int]:
    """The rows without those that are known."""
    return (row for row in rows if row not in known)
