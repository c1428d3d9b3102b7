"""Checker of a history of requests to several servers, after Jepsen: what must hold of it.

    violations(history, journal, people)        -> sentences; none if all is well

A history has each attempt of each request, as one monotonic clock saw it begin and end. A person
has one request at a time, and tries an action again until it is acknowledged. What an attempt came
to may be unknown: then it may have happened at any time since it began, and only what is certain is
held against the servers. Whoever chose a row is taken to wait for the answer.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations

from possibal.labelling.service import LEASE
from possibal.labelling.storage.journal import NAMING, Event, JournalState, Kind, replay

FOREVER = float("inf")


class Outcome(Enum):
    """What somebody heard of an attempt."""

    DONE = "done"
    REFUSED = "refused"
    AWAY = "away"  # 503, to be tried again
    UNKNOWN = "unknown"  # the server was gone before it answered, or the person was
    LATE = "late"  # nothing was heard in time


@dataclass(frozen=True)
class Attempt:
    """A request, and what came of it.

    Attributes:
        who: the person.
        verb: ask, choose, or the kind of an action.
        began: when it was sent, in seconds.
        ended: when it was answered, or given up.
        outcome: what was heard.
        row: that was given, chosen, or spoken of; of an undo the row that came back.
        key: of an action; each attempt of it has the same.
        label: that was given.
        target: of an undo.
        server: which of them it was sent to.
    """

    who: str
    verb: str
    began: float
    ended: float
    outcome: Outcome
    row: int | None = None
    key: str | None = None
    label: str | None = None
    target: str | None = None
    server: int = 0

    @property
    def is_done(self) -> bool:
        """Whether it was acknowledged."""
        return self.outcome is Outcome.DONE

    @property
    def is_grant(self) -> bool:
        """Whether it gave a row to a person."""
        return self.verb in {"ask", "choose"} and self.is_done and self.row is not None


@dataclass(frozen=True)
class Hold:
    """The time in which a person certainly had a row."""

    who: str
    row: int
    since: float
    until: float

    def overlaps(self, other: "Hold") -> bool:
        """Whether both had their row at once."""
        return max(self.since, other.since) < min(self.until, other.until)


def violations(history: Sequence[Attempt], journal: Sequence[Event], people: int) -> list[str]:
    """What went wrong, in sentences."""
    state = replay(journal)
    return [
        *doubled(history),
        *vain(history, people),
        *lost(history, journal),
        *overruled(history, state),
        *unanswered(history),
    ]


# ---------------------------------------------------------------- rows given twice
def doubled(history: Sequence[Attempt]) -> list[str]:
    """Rows that two people had at once: mutual exclusion of leases."""
    by_row = defaultdict[int, list[Hold]](list)
    for hold in holds(history):
        by_row[hold.row].append(hold)
    pairs = (pair for held in by_row.values() for pair in combinations(held, 2))
    return [
        f"{one.who} and {other.who} had row {one.row} at once, from {other.since:.3f}"
        for one, other in pairs
        if one.who != other.who and one.overlaps(other)
    ]


def holds(history: Sequence[Attempt]) -> Iterator[Hold]:
    """When people certainly had the rows that they were given."""
    for own in _by_person(history).values():
        for place, attempt in enumerate(own):
            if attempt.is_grant and attempt.row is not None:
                since = _first_grant(own[: place + 1], attempt.row)
                until = min(since + LEASE, _release(own[place + 1 :], attempt.row))
                yield Hold(attempt.who, attempt.row, attempt.ended, until)


def _first_grant(own: Sequence[Attempt], row: int) -> float:
    """When a person may first have been given a row that they have: its lease may run since."""
    since = own[-1].began
    for attempt in reversed(own):
        is_about = attempt.row == row
        if is_about and attempt.verb not in {"ask", "choose", Kind.UNDO}:
            return since
        is_vague = not attempt.is_done and attempt.verb in {"ask", Kind.UNDO}
        if is_about or is_vague:
            since = attempt.began
    return since


def _release(later: Sequence[Attempt], row: int) -> float:
    """When a person first may have given a row back: they spoke of it, or chose another."""
    for attempt in later:
        is_about = attempt.row == row and attempt.verb not in {"ask", Kind.UNDO}
        if is_about or attempt.verb == "choose":
            return attempt.began
    return FOREVER


def vain(history: Sequence[Attempt], people: int) -> list[str]:
    """Rows that were given to somebody after as many people as wanted had named their class."""
    known = _by_person(history)
    found = list[str]()
    for asked in history:
        if asked.verb == "ask" and asked.is_grant:
            named = [who for who, own in known.items() if _has_named(own, asked)]
            if len(named) >= people or asked.who in named:
                said = f"{asked.who} was given row {asked.row} at {asked.ended:.3f}"
                found.append(f"{said} after {', '.join(named)} had named its class")
    return found


def _has_named(own: Sequence[Attempt], asked: Attempt) -> bool:
    """Whether a person had certainly named the class of a row before it was asked for."""
    before = [one for one in own if one.began < asked.ended and one is not asked]
    spoken = [i for i, one in enumerate(before) if one.row == asked.row and one.verb in KINDS]
    if not spoken:
        return False
    last = before[spoken[-1]]
    is_undone = any(one.verb == Kind.UNDO for one in before[spoken[0] :])
    has_named = last.verb in NAMING and last.is_done and last.ended < asked.began
    return has_named and not is_undone


KINDS = frozenset(map(str, Kind)) - {str(Kind.UNDO)}
"""Verbs that are actions about a row."""


# ---------------------------------------------------------------- answers lost
def lost(history: Sequence[Attempt], journal: Sequence[Event]) -> list[str]:
    """Actions that were acknowledged and are not there once, or are there and nobody made them."""
    actions = {one.key: one for one in _actions(history)}
    times, found = Counter(event.key for event in journal), list[str]()
    for key, action in actions.items():
        told = f"{action.verb} of {action.who} about row {action.row} ({key})"
        if action.outcome is Outcome.DONE and times[key or ""] != 1:
            found.append(f"{told} was acknowledged, and is there {times[key or '']} times")
        elif action.outcome is Outcome.REFUSED and times[key or ""]:
            found.append(f"{told} was refused, and is there")
    for event in journal:
        action = actions.get(event.key)
        if action is None:
            found.append(f"{event.kind} of {event.who} is there, and nobody made it")
        elif not _is_same(action, event):
            found.append(f"{event} is there in the place of {action}")
    return found


def _is_same(action: Attempt, event: Event) -> bool:
    """Whether an event is what somebody made."""
    if action.verb == Kind.UNDO:
        is_target = action.target is None or action.target == event.target
        return (event.who, event.kind) == (action.who, Kind.UNDO) and is_target
    made = action.who, action.verb, action.row, action.label
    return made == (event.who, event.kind, event.row, event.label)


def _actions(history: Sequence[Attempt]) -> Iterator[Attempt]:
    """Each action once, from its first attempt to its last, with the best that was heard of it."""
    tries = defaultdict[str, list[Attempt]](list)
    for attempt in history:
        if attempt.key is not None:
            tries[attempt.key].append(attempt)
    for attempts in tries.values():
        done = [one for one in attempts if one.is_done]
        best = (done or attempts)[-1]
        is_all_refused = all(one.outcome is Outcome.REFUSED for one in attempts)
        outcome = best.outcome if done or is_all_refused else Outcome.UNKNOWN
        ended = best.ended if done else FOREVER
        yield replace(best, began=attempts[0].began, ended=ended, outcome=outcome)


# ---------------------------------------------------------------- order
def overruled(history: Sequence[Attempt], state: JournalState) -> list[str]:
    """Actions that do not count, although they were made after the one that does had ended.

    A person's word on a row, and what settles a row, are registers: the last write stands.
    """
    written = defaultdict[tuple[str, int], list[Attempt]](list)
    for action in _actions(history):
        event = state.events.get(action.key or "")
        if action.verb in KINDS and event and event.row is not None and state.holds(event):
            owner = "" if event.kind is Kind.SETTLE else action.who
            written[owner, event.row].append(action)
    found = list[str]()
    for writes in written.values():
        counting = [one for one in writes if state.counts(state.events[one.key or ""])]
        late = (two for two in writes if two.is_done for one in counting if one.ended < two.began)
        found += [f"{one.verb} of {one.who} about row {one.row} was overruled" for one in late]
        if len(counting) != 1:
            found.append(f"{len(counting)} of {len(writes)} writes count: {writes[0]}")
    return found


# ---------------------------------------------------------------- answers in time
def unanswered(history: Iterable[Attempt]) -> list[str]:
    """Requests that were not answered in time."""
    late = (one for one in history if one.outcome is Outcome.LATE)
    return [
        f"{one.verb} of {one.who} at server {one.server} was not answered in "
        f"{one.ended - one.began:.1f} s"
        for one in late
    ]


def _by_person(history: Iterable[Attempt]) -> dict[str, list[Attempt]]:
    """What each person did, in its order."""
    found = defaultdict[str, list[Attempt]](list)
    for attempt in sorted(history, key=lambda one: one.began):
        found[attempt.who].append(attempt)
    return found
