"""The desk of a campaign: the verbs that the page, the command line and Python share.

desk.ask(who) -> Question        desk.answer(event) -> Stored        desk.undo(event) -> Event

An answer is durable before anybody hears that it was taken. The next question is served from the
last ranking, while a new one is being made.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from zlib import crc32

import numpy as np

from possibal.errors import RefusedError
from possibal.labelling import explanation
from possibal.labelling.explanation import NearestLabel, QuestionSource
from possibal.labelling.live import LiveCampaign
from possibal.labelling.storage.journal import LABELLED, ON_ROWS, Event, Kind
from possibal.labelling.storage.leases import Holding, LeaseTable
from possibal.labelling.storage.store import Item, Lease, clock

LEASE = 120
"""Seconds that a person may take over a row before somebody else gets it; the page renews it."""
TRIED = 32
"""Rows tried at once where other processes may be faster."""
HEAD = 32
"""Rows at the head of a ranking that nobody keeps in reserve."""
NEAREST = 3
"""Labelled rows shown beside a question."""


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
        leaning: the label that the model holds likeliest.
        sure: how necessary that label is.
        near: the labelled rows most like it.
        mine: what this person said of it before.
    """

    item: Item
    source: QuestionSource
    sentence: str
    predicted_label: str | None
    necessity: float | None
    near: tuple[LabelledNeighbour, ...]
    mine: Event | None


@dataclass(frozen=True)
class StoredEvent:
    """An event as the journal has it, and whether it was there before."""

    event: Event
    repeated: bool


class LabellingService:
    """Where people answer."""

    def __init__(self, standing: LiveCampaign) -> None:
        """Open it; leases of an earlier time still hold."""
        self.standing, self._turns = standing, LeaseTable()
        self.store, self.setup, self._lock = standing.store, standing.setup, standing.lock
        self._learn_leases()

    # ------------------------------------------------------------ asking

    def ask(self, who: str) -> Question | None:
        """The next question for a person; None where nothing is left."""
        rows = self.rows(who, 1)
        if not rows:
            return None
        self.standing.expect(rows[0])
        return self.question(rows[0], who)

    def rows(self, who: str, count: int) -> list[int]:
        """The next rows for a person, the best first, now theirs for a while."""
        self.standing.catch_up()
        self.standing.await_ranking()
        rows = self._current(who)
        for pick in (self._open, self._put_off, self._reserved):
            while len(rows) < count:
                row = self._taken(who, lambda who, pick=pick: _others(pick(who), rows))
                if row is None:
                    break
                rows.append(row)
        return rows[:count]

    def choose(self, who: str, row: int) -> Question:
        """A row that a person picked, if nobody else is at it."""
        self.standing.catch_up()
        self.check_row(row)
        with self._lock:
            left = [other for other in self._turns.current(who, clock()) if other != row]
        if not self._got(who, row):
            raise RefusedError(f"row must be free; got {row}, which somebody has. Pick another.")
        self._let_go(who, left)
        self.standing.expect(row)
        return self.question(row, who, QuestionSource.CHOSEN)

    def reserve(self, who: str, count: int) -> list[Question]:
        """Questions for while the desk is out of reach.

        The best rows are left to whoever is within reach, if there are others.
        """
        self.standing.catch_up()
        self.standing.await_ranking()
        with self._lock:
            now = clock()
            mine, at = self._turns.in_reserve(who, now), self._turns.current(who, now)
            kept = [row for row in mine if self._may_ask(row, who)]
            wanted = max(0, count - len(kept))
            others = (row for row in self._open(who) if row not in mine and row not in at)
            rows = list(islice(others, HEAD + wanted))[-wanted:] if wanted else []
        lease = self._lease(who, spare=True)
        taken = self.store.take(rows, lease, wanted) if wanted else []
        with self._lock:
            self._turns.hold(taken, Holding(who, lease.until, spare=True))
        return [self.question(row, who) for row in [*kept, *taken][:count]]

    def renew(self, who: str) -> int:
        """Let a person keep their rows for longer; the seconds they have."""
        lease = self._lease(who)
        self.store.renew(lease)
        with self._lock:
            self._turns.renew(who, lease.now, lease.until)
        return LEASE

    def question(self, row: int, who: str, source: QuestionSource | None = None) -> Question:
        """A row as a question to a person."""
        self.check_row(row)
        source = self._source(row, who, source)
        leaning, sure = self._thought(row)
        near = self.standing.nearest(row, NEAREST)
        nearby = NearestLabel(near[0][2], near[0][1]) if near else None
        others = self.standing.uncertain_neighbours(row) if source is QuestionSource.MODEL else 0
        said = explanation.sentence(source, leaning, sure or 0.0, nearby, others)
        items = self.standing.items([row, *(other for other, _, _ in near)])
        shown = tuple(LabelledNeighbour(items[other], label) for other, label, _ in near)
        mine = self.standing.state.verdict(row).opinions.get(who)
        if row in self.standing.check_rows:
            leaning, sure, shown = None, None, ()  # lest the measure be swayed
        return Question(items[row], source, said, leaning, sure, shown, mine)

    # ------------------------------------------------------------ answering

    def answer(self, event: Event) -> StoredEvent:
        """The event, durable, with what the model thought at the time."""
        known = self.standing.state.events.get(event.key)
        if known is not None:
            return StoredEvent(known, repeated=True)
        self._check(event)
        if event.row is not None:
            leaning, sure = self._thought(event.row)
            event = replace(event, thought=leaning, necessity=sure)
        (stored,) = self.append([event])
        return StoredEvent(stored, repeated=False)

    def undo(self, event: Event) -> Event | None:
        """The event that was undone: the target, else the person's last; None if there is none.

        Its row is the person's again, if nobody else is at it. A target that is still on its way
        is undone when it arrives.
        """
        state = self.standing.state
        known = state.events.get(event.key)
        if known is None and event.target is None:
            with self._lock:
                last = state.last(event.who)
            if last is None:
                return None
            event = replace(event, target=last.key)
        is_new, known = known is None, known or self.append([event])[0]
        undone = state.events.get(known.target or "")
        if is_new and undone is not None and undone.row is not None:
            self._got(event.who, undone.row)
        return undone

    def append(self, events: Sequence[Event]) -> list[Event]:
        """Many events at once, as from a file; those that are known already are not added."""
        for event in events:
            self._check(event)
        stored = self.store.append(events)
        self.standing.apply(stored)
        with self._lock:
            for event in stored:
                self._turns.release(-1 if event.row is None else event.row, event.who)
        return stored

    def check_row(self, row: int | None) -> None:
        """Refuse a row that is none."""
        if row is None or not 0 <= row < self.setup.rows:
            raise RefusedError(
                f"row must be from 0 to {self.setup.rows - 1}; got {row}. Ask for a row."
            )

    def _check(self, event: Event) -> None:
        """Refuse what makes no sense; an answer that comes late does."""
        if event.kind in ON_ROWS:
            self.check_row(event.row)
        if event.kind in LABELLED and not event.label:
            raise RefusedError(f"label must name a class; got {event.label!r}. Choose one.")
        classes = self.standing.classes
        if event.kind in {Kind.LABEL, Kind.EDIT, Kind.SETTLE} and event.label not in classes:
            raise RefusedError(
                f"label must be one of {list(classes)}; got {event.label!r}. "
                "Choose one of these, or add it first."
            )
        target = self.standing.state.events.get(event.target or "")
        if target is not None and (target.who != event.who or target.kind is Kind.UNDO):
            raise RefusedError(
                f"target must be an answer of {event.who}; got one of {target.who}. Undo your own."
            )

    # ------------------------------------------------------------ whose turn

    def _current(self, who: str) -> list[int]:
        """The rows that a person is at, if they still want an answer."""
        with self._lock:
            rows = self._turns.current(who, clock())
            return [row for row in rows if self._may_ask(row, who)]

    def _taken(self, who: str, pick: Callable[[str], Iterator[int]]) -> int | None:
        """The first row that could be taken for a person, marked as theirs."""
        most = TRIED if self.store.is_shared else 1
        for _ in range(TRIED):
            with self._lock:
                rows, lease = list(islice(pick(who), most)), self._lease(who)
                self._turns.hold(rows[:1], Holding(who, lease.until, spare=False))
            taken = self.store.take(rows, lease) if rows else []
            if taken or not rows:
                with self._lock:
                    self._turns.hold(taken, Holding(who, lease.until, spare=False))
                return taken[0] if taken else None
            with self._lock:
                self._learn_leases()
        return None

    def _got(self, who: str, row: int) -> bool:
        """Whether a person could take a row."""
        lease = self._lease(who)
        taken = self.store.take([row], lease)
        with self._lock:
            self._turns.hold(taken, Holding(who, lease.until, spare=False))
        return bool(taken)

    def _let_go(self, who: str, rows: Sequence[int]) -> None:
        """End a person's turn on rows."""
        lease = self._lease(who)
        if rows:
            self.store.take(rows, replace(lease, until=lease.now), len(rows))
        with self._lock:
            for row in rows:
                self._turns.release(row, who)

    def _open(self, who: str) -> Iterator[int]:
        """Rows for a person, the best first, that nobody holds."""
        now = clock()
        free = (row for row in self._ordered() if self._turns.is_free(row, who, now))
        return (row for row in free if self._may_ask(row, who))

    def _put_off(self, who: str) -> Iterator[int]:
        """Rows that a person skipped, for when nothing else is left."""
        now, people = clock(), self.setup.people
        free = (row for row in self._ordered() if self._turns.is_free(row, who, now))
        return (row for row in free if self.standing.state.is_skipped(row, who, people))

    def _reserved(self, who: str) -> Iterator[int]:
        """Rows that others keep in reserve, for when nothing else is left."""
        now = clock()
        spare = (row for row in self._ordered() if self._turns.is_spare(row, now))
        return (row for row in spare if self._may_ask(row, who))

    def _ordered(self) -> Iterator[int]:
        """All rows, the best first, each once."""
        given = set[int]()
        for rows in self._preferred():
            yield from (row for row in rows if row not in given)
            given.update(rows)

    def _preferred(self) -> Iterator[Collection[int]]:
        """Some rows, then others, the best first; some come twice."""
        check = self.standing.check_rows
        if check and self.standing.is_check_turn:
            yield check
        yield self.standing.order
        yield check
        rng = np.random.default_rng([self.setup.seed, crc32(b"order")])
        yield rng.permutation(self.setup.rows).tolist()

    def _may_ask(self, row: int, who: str) -> bool:
        """Whether a row wants an answer of this person."""
        return self.standing.state.may_ask(row, who, self.setup.people)

    def _source(self, row: int, who: str, known: QuestionSource | None) -> QuestionSource:
        """Where the question about a row comes from, if that is not known."""
        ranking = self.standing.ranking
        if row in self.standing.check_rows:
            return QuestionSource.CHECK
        if known is not None:
            return known
        mine = self.standing.state.verdict(row).opinions.get(who)
        if mine is not None:
            return QuestionSource.AGAIN
        return (
            QuestionSource.DIVERSE if ranking is None or ranking.is_cold else QuestionSource.MODEL
        )

    def _thought(self, row: int) -> tuple[str | None, float | None]:
        """What the model holds likeliest of a row, and how necessary that is."""
        ranking = self.standing.ranking
        leaning = None if ranking is None else ranking.predicted_label(row)
        return leaning, None if ranking is None or not leaning else ranking.necessity_of(row)

    def _lease(self, who: str, *, spare: bool = False) -> Lease:
        """A lease from now on."""
        now = clock()
        return Lease(who, now, now + 1000 * LEASE, spare)

    def _learn_leases(self) -> None:
        """Read who holds what."""
        self._turns.learn(self.store.leases(clock()))


def _others(rows: Iterator[int], known: Sequence[int]) -> Iterator[int]:
    """The rows without those that are known."""
    return (row for row in rows if row not in known)
