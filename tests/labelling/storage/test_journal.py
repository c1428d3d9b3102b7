import gc
import json
from collections import Counter
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.reference_journal import SlowJournalState

from possibal.campaign.answer import Answer
from possibal.labelling.storage import journal
from possibal.labelling.storage.journal import (
    COPY_OF,
    IMPLIED,
    LABELLED,
    NAMING,
    NOTHING,
    ON_CAMPAIGN,
    ON_CLASSES,
    ON_ROWS,
    OPINIONS,
    REST,
    ClassDetail,
    Event,
    JournalState,
    Kind,
    RowVerdict,
    named_places,
    places_detail,
    replay,
)

PEOPLE = ("ann", "bob", "cy")
CLASSES = ("x", "y", "z")
ROWS = range(4)
SOON = 2
"""How long a skipped row rests where a journal is short."""
CLOCK = count(1)


def said(row, label="x", who="ann", kind=Kind.LABEL, **more) -> Event:
    """Somebody's word about a row, made after all those before."""
    made = next(CLOCK)
    label = label if kind in LABELLED else None
    return Event(more.pop("key", f"later {made}"), kind, who, made, row, label, **more)


def undone(target: Event, who="ann") -> Event:
    """That somebody takes an event back."""
    made = next(CLOCK)
    return Event(f"later {made}", Kind.UNDO, who, made, target=target.key)


def added(label, who="ann") -> Event:
    """That somebody names a new class."""
    made = next(CLOCK)
    return Event(f"later {made}", Kind.CLASS, who, made, label=label)


def changed(kind, label, who="ann", **detail) -> Event:
    """That somebody changes a class."""
    made = next(CLOCK)
    return Event(f"later {made}", kind, who, made, label=label, detail=detail or None)


def renamed(label, to, who="ann") -> Event:
    """That somebody gives a class another name."""
    return changed(Kind.RENAME, label, who, to=to)


def drawn(*rows, who="ann") -> Event:
    """That somebody draws check rows."""
    return changed(Kind.CHECK, None, who, rows=json.dumps(rows))


def details(draw, kind) -> dict[str, str] | None:
    """The detail that an event of a kind has, or ought to have."""
    words = st.sampled_from(["", "one", "two"])
    several = st.sampled_from(["[1]", "[0, 2]", "[3, 1, 2]", "[2, 2]", "{", "[true, null, 0.5]"])
    made = dict.fromkeys(ON_ROWS, st.none() | st.fixed_dictionaries({"rows": several})) | {
        Kind.RENAME: st.fixed_dictionaries({"to": st.sampled_from(CLASSES)}) | st.none(),
        Kind.DESCRIBE: st.fixed_dictionaries({}, optional={"description": words, "colour": words}),
        Kind.COMMENT: st.none() | st.fixed_dictionaries({"text": words}),
        Kind.GUIDELINES: st.none() | st.fixed_dictionaries({"text": words}),
        Kind.CHECK: st.fixed_dictionaries({"rows": st.sampled_from(["[1]", "[0, 2]", "{", "7"])}),
    }
    return draw(made[kind]) if kind in made else None


@st.composite
def histories(draw, most=25, kinds=tuple(Kind)):
    """Events of a few people about a few rows, with undos of one's own, others' and nothing."""
    size = draw(st.integers(0, most))
    keys = [f"key {i}" for i in range(size)]
    made = []
    for key in keys:
        kind = draw(st.sampled_from(kinds))
        made.append(
            Event(
                key,
                kind,
                draw(st.sampled_from(PEOPLE)),
                draw(st.integers(0, 8)),
                draw(st.sampled_from(ROWS)) if kind in ON_ROWS else None,
                draw(st.sampled_from(CLASSES)) if kind in LABELLED | ON_CLASSES else None,
                draw(st.sampled_from([*keys, "gone"])) if kind is Kind.UNDO else None,
                predicted_label=draw(st.sampled_from([None, *CLASSES])),
                detail=details(draw, kind),
            )
        )
    return made


@st.composite
def muddled(draw):
    """A history, and the same one as a bad network may bring it."""
    events = draw(histories())
    again = draw(st.lists(st.sampled_from(events), max_size=10)) if events else []
    return events, draw(st.permutations([*events, *again]))


# ---------------------------------------------------------------- the slow way
def about(event) -> list[int]:
    """The rows of an event."""
    told = (event.detail or {}).get("rows", "") if event.kind in ON_ROWS else ""
    others = json.loads(told) if told.endswith("]") else []
    return [event.row, *(row for row in others if row in ROWS and row is not True)]


def kept(events) -> list[Event]:
    """What nobody took back, in the order in which it was made."""
    gone = {(e.target, e.who) for e in events if e.kind is Kind.UNDO}
    unique = {e.key: e for e in events}.values()
    return sorted((e for e in unique if (e.key, e.who) not in gone), key=lambda e: (e.made, e.key))


def slow_groups(events) -> list[list[str]]:
    """Names that mean the same class, the present one first, by moving names from heap to heap."""
    heaps = [[name] for name in CLASSES]
    for event in kept(events):
        if event.kind is Kind.RENAME and event.detail:
            old = next(heap for heap in heaps if event.label in heap)
            new = next(heap for heap in heaps if event.detail["to"] in heap)
            if old is new:
                old.sort(key=lambda name: name != event.detail["to"])
            else:
                heaps.remove(old)
                new.extend(old)
    return heaps


def slow_name(events, label) -> str | None:
    """What a class is called now."""
    return next((heap[0] for heap in slow_groups(events) if label in heap), label)


def read(events) -> list[Event]:
    """What nobody took back, by the present names of classes."""
    names = {name: slow_name(events, name) for name in CLASSES}
    return [
        replace(e, label=names.get(e.label), predicted_label=names.get(e.predicted_label))
        for e in kept(events)
    ]


def opinion(events, row, who) -> Event | None:
    """The last word of a person about a row."""
    own = [e for e in read(events) if row in about(e) and e.who == who and e.kind in OPINIONS]
    return own[-1] if own else None


def slow_verdict(events, row) -> dict:
    """What holds of a row, by reading the whole history."""
    opinions = {who: opinion(events, row, who) for who in PEOPLE}
    opinions = {who: event for who, event in opinions.items() if event}
    settling = [e for e in read(events) if row in about(e) and e.kind is Kind.SETTLE]
    settled = settling[-1] if settling else None
    naming = [e for e in opinions.values() if e.kind in NAMING]
    is_bad = settled is None and any(e.kind is Kind.BAD for e in opinions.values())
    votes = Counter(e.label for e in naming)
    leading = [label for label in votes if votes[label] == max(votes.values())]
    majority = leading[0] if len(leading) == 1 and not is_bad else None
    return {
        "opinions": opinions,
        "settled": settled,
        "is_bad": is_bad,
        "label": settled.label if settled else majority,
        "in_conflict": settled is None and not is_bad and len(votes) > 1,
        "naming": naming,
    }


def slow_labelled(events) -> list[tuple[int, str]]:
    """Each row that has a label with it, by the last event that has a part in it."""
    found = []
    for row in ROWS:
        verdict = slow_verdict(events, row)
        if verdict["label"]:
            part = [*verdict["naming"], *filter(None, [verdict["settled"]])]
            found.append((max((e.made, e.key) for e in part), row, verdict["label"]))
    return [(row, label) for _, row, label in sorted(found)]


def slow_classes(events, named) -> list[str]:
    """The classes in the order in which a person expects them."""
    added = [e.label for e in read(events) if e.kind is Kind.CLASS]
    used = sorted(e.label for e in read(events) if e.kind in LABELLED)
    found = []
    for label in [*(slow_name(events, name) for name in named), *added, *used]:
        if label not in found and (not is_removed(events, label) or slow_uses(events)[label]):
            found.append(label)
    return found


def is_removed(events, label) -> bool:
    """Whether the last thing done to a class was to remove it."""
    past, last = [], None
    for event in kept(events):
        past.append(event)
        heap = next((heap for heap in slow_groups(past) if event.label in heap), [])
        if (
            event.kind in ON_CLASSES - {Kind.DESCRIBE}
            and heap
            and heap[0] == slow_name(past, label)
        ):
            last = event.kind
    return last is Kind.REMOVE


def slow_uses(events) -> Counter:
    """How many rows have each class in somebody's view."""
    found = Counter()
    for row in ROWS:
        verdict = slow_verdict(events, row)
        said = [*verdict["naming"], *filter(None, [verdict["settled"]])]
        found.update({e.label for e in said})
    return found


def slow_may_ask(events, row, who, people) -> bool:
    """Whether a person may be asked about a row."""
    verdict, mine = slow_verdict(events, row), opinion(events, row, who)
    is_gone = any(row in about(e) for e in kept(events) if e.kind is Kind.GONE)
    wants = not verdict["settled"] and not verdict["is_bad"] and len(verdict["naming"]) < people
    wants = wants and not is_gone
    if mine is None or not wants:
        return wants
    own = {e for e in events if e.who == who and e.kind in ON_ROWS}
    since = [e for e in own if (e.made, e.key) > (mine.made, mine.key)]
    return mine.kind is Kind.SKIP and len(since) >= SOON


# ---------------------------------------------------------------- the fold
@st.composite
def journals(draw):
    """A history with copies and implied classes, as it may arrive: in any order, in parts."""
    events = draw(histories(most=30))
    for at, event in enumerate(events):
        more = st.sampled_from([{}, {}, {COPY_OF: f"key {at // 2}"}, {COPY_OF: "gone"}])
        detail = {**(event.detail or {}), **(draw(more) if event.kind in ON_ROWS else {})}
        if event.kind is Kind.CLASS and draw(st.booleans()):
            detail = {IMPLIED: "yes"}
        events[at] = replace(event, detail=detail or None)
    again = draw(st.lists(st.sampled_from(events), max_size=5)) if events else []
    arriving, parts = draw(st.permutations([*events, *again])), []
    while arriving:
        size = draw(st.integers(1, len(arriving)))
        parts.append(arriving[:size])
        arriving = arriving[size:]
    return parts


def everything(state) -> dict:
    """All that a state says, orders included where they mean something."""
    names, rows = [*CLASSES, "gone"], range(len(ROWS) + 1)
    return {
        "events": list(state.events.items()),
        "people": list(state.people),
        "participants": state.participants,
        "verdicts": state.verdicts,
        "opinions": {row: list(state.verdict(row).opinions) for row in rows},
        "of rows": [
            (v.label, v.naming, v.is_bad, v.is_gone, v.in_conflict, v.wants(1), v.wants(2))
            for v in map(state.verdict, rows)
        ],
        "labels": state.labels,
        "labelled": list(state.labelled().items()),
        "answers": (state.answers(), state.answers(frozenset([1]))),
        "conflicts": state.conflicts(),
        "classes": (state.classes(), state.classes(["y", "w"])),
        "uses": +state.uses,
        "names": [state.name_of(name) for name in names],
        "details": [state.class_detail(name) for name in names],
        "draws": state.draws,
        "guidelines": state.guidelines,
        "comments": [state.verdict(row).comments for row in rows],
        "holding": [state.holds(event) for event in state.events.values()],
        "changed": state.latest_change,
        "of people": [(state.latest_of(w), state.last(w), state.last_change(w)) for w in PEOPLE],
        "asked": [
            (
                state.may_ask(row, who, people),
                state.is_skipped(row, who, people),
                state.is_passed(row, who, people),
            )
            for row in rows
            for who in PEOPLE
            for people in (1, 2)
        ],
    }


@given(journals(), st.booleans())
def test_folding_first_and_judging_once_agrees_with_judging_at_every_event(parts, is_watched):
    fast, slow = replay([]), SlowJournalState()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "REST", SOON)
        for part in parts:
            fast.apply(*part)
            slow.apply(*part)
            if is_watched:  # what was looked at is kept, and must be kept up to date
                assert everything(fast) == everything(slow)
        whole = replay(event for part in parts for event in part)
        assert everything(whole) == everything(fast) == everything(slow)
    shut = {r for r, v in slow.verdicts.items() if v.is_bad or v.is_gone or v.in_conflict}
    assert fast.closed == whole.closed == shut - slow.labels.keys()


@given(journals())
def test_the_rows_that_were_judged_are_told_and_no_others_change(parts):
    state = replay([])
    for part in parts:
        before = dict(state.verdicts)
        told = set(state.apply(*part))
        rows = state.verdicts.keys() | before.keys()
        assert {row for row in rows if state.verdict(row) != before.get(row, NOTHING)} <= told


@given(histories())
def test_the_fold_agrees_with_reading_the_whole_history(events):
    state = replay(events)
    for row in ROWS:
        slow, verdict = slow_verdict(events, row), state.verdict(row)
        for name in ("opinions", "settled", "is_bad", "label", "in_conflict"):
            assert getattr(verdict, name) == slow[name], name
    assert list(state.labelled().items()) == slow_labelled(events)
    assert state.classes(["y"]) == tuple(slow_classes(events, ["y"]))
    conflicts = [row for row in ROWS if slow_verdict(events, row)["in_conflict"]]
    assert state.conflicts() == conflicts
    assert state.labels == dict(slow_labelled(events))
    assert set(state.people) == {event.who for event in events}
    assert +state.uses == slow_uses(events)
    assert {name: state.name_of(name) for name in CLASSES} == {
        name: slow_name(events, name) for name in CLASSES
    }
    checks = [e for e in kept(events) if e.kind is Kind.CHECK]
    assert state.draws == tuple(map(named_places, checks))


@given(histories(), st.sampled_from(ROWS), st.sampled_from(PEOPLE), st.integers(1, 3))
def test_who_may_be_asked_agrees_with_reading_the_whole_history(events, row, who, people):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "REST", SOON)
        assert replay(events).may_ask(row, who, people) == slow_may_ask(events, row, who, people)


@given(histories())
def test_looking_at_what_holds_meanwhile_changes_nothing(events):
    state = replay([])
    for number, event in enumerate(events, 1):
        state.apply(event)
        assert state.classes() == tuple(slow_classes(events[:number], []))
        assert list(state.labelled().items()) == slow_labelled(events[:number])


@given(muddled())
def test_neither_the_order_of_arrival_nor_repetition_changes_what_holds(histories):
    clean, mixed = map(replay, histories)
    assert mixed.verdicts == clean.verdicts
    assert list(mixed.labelled().items()) == list(clean.labelled().items())
    assert mixed.classes(["y"]) == clean.classes(["y"])
    assert mixed.conflicts() == clean.conflicts()
    assert mixed.answers() == clean.answers()
    assert mixed.draws == clean.draws
    assert mixed.guidelines == clean.guidelines
    assert mixed.latest_change == clean.latest_change
    for name in CLASSES:
        assert mixed.name_of(name) == clean.name_of(name)
        assert mixed.class_detail(name) == clean.class_detail(name)
    for who in PEOPLE:
        assert mixed.last(who) == clean.last(who)
        assert mixed.latest_of(who) == clean.latest_of(who)
        for row in ROWS:
            assert mixed.may_ask(row, who, 2) == clean.may_ask(row, who, 2)
            assert mixed.is_skipped(row, who, 2) == clean.is_skipped(row, who, 2)
            assert mixed.is_passed(row, who, 2) == clean.is_passed(row, who, 2)


@given(histories(), st.sampled_from(PEOPLE))
def test_undo_restores_what_was_before_without_limit(events, who):
    state = replay(events)
    while (last := state.last(who)) is not None:
        state.apply(undone(last, who))
        before = replay(e for e in events if e.who != who or e.target or e.order < last.order)
        assert state.last(who) == before.last(who)
        assert all(state.verdict(row) == before.verdict(row) for row in ROWS)
    others = replay(event for event in events if event.who != who)
    assert all(state.verdict(row) == others.verdict(row) for row in ROWS)


@given(histories(), st.sampled_from(ROWS), st.sampled_from(list(ON_ROWS | ON_CAMPAIGN)))
def test_an_action_and_its_undo_leave_everything_as_it_was(events, row, kind):
    before, state = replay(events), replay(events)
    action = said(row, "z", "ann", kind, detail=places_detail([0, 3]))
    if kind in ON_CAMPAIGN:
        action = changed(kind, "z", to="x", description="more", rows="[3]")
    state.apply(action)
    state.apply(undone(action))
    assert state.labelled() == before.labelled()
    assert state.classes() == before.classes()
    assert state.last("ann") == before.last("ann")
    assert all(state.verdict(row) == before.verdict(row) for row in ROWS)
    assert state.draws == before.draws
    assert all(state.class_detail(name) == before.class_detail(name) for name in CLASSES)


@given(histories(kinds=tuple(ON_CLASSES | NAMING | {Kind.UNDO})))
def test_a_name_of_now_is_the_name_of_itself_and_every_label_is_a_class(events):
    state = replay(events)
    for name in CLASSES:
        assert state.name_of(state.name_of(name)) == state.name_of(name)
    assert set(state.labels.values()) <= set(state.classes())
    assert len(set(state.classes(CLASSES))) == len(state.classes(CLASSES))


def test_an_empty_journal_knows_nothing():
    state = replay([])
    assert state.verdict(7) is NOTHING
    assert state.labelled() == {}
    assert state.classes() == ()
    assert state.conflicts() == []
    assert state.last("ann") is None
    assert state.may_ask(7, "ann", 1)
    assert not state.is_skipped(7, "ann", 1)


def test_an_event_that_is_known_changes_nothing_even_if_it_says_something_else():
    first = said(0, "x")
    state = replay([first, replace(first, label="y")])
    assert state.labelled() == {0: "x"}
    assert list(state.events.values()) == [first]


# ---------------------------------------------------------------- undo
def test_undo_goes_back_step_by_step():
    first, second, third = said(0, "x"), said(1, "y"), said(0, "z", kind=Kind.EDIT)
    state = replay([first, second, third])
    for expected, left in ((third, {0: "x", 1: "y"}), (second, {0: "x"}), (first, {})):
        last = state.last("ann")
        assert last == expected
        state.apply(undone(last))
        assert state.labelled() == left
    assert state.last("ann") is None
    state.apply(said(1, "z"))
    assert state.labelled() == {1: "z"}


def test_nobody_can_take_back_what_somebody_else_did():
    word = said(0, "x", "ann")
    state = replay([word, undone(word, "bob")])
    assert state.labelled() == {0: "x"}
    assert state.holds(word)
    assert state.last("bob") is None


def test_an_undo_may_come_before_what_it_undoes():
    first, second = said(0, "x"), said(0, "y", kind=Kind.EDIT)
    state = replay([undone(second), first])
    assert state.labelled() == {0: "x"}
    state.apply(second)
    assert state.labelled() == {0: "x"}
    assert not state.holds(second)


def test_an_undo_is_not_undone():
    word = said(0, "x")
    first = undone(word)
    state = replay([word, first, undone(first)])
    assert state.labelled() == {}


def test_a_class_that_was_added_by_mistake_can_be_taken_back():
    new = added("w")
    assert replay([new, undone(new)]).classes(["x"]) == ("x",)


def test_an_undone_settlement_brings_the_conflict_back():
    words = [said(0, "x", "ann"), said(0, "y", "bob")]
    settled = said(0, "y", "ann", Kind.SETTLE)
    state = replay([*words, settled])
    assert state.conflicts() == []
    state.apply(undone(settled))
    assert state.conflicts() == [0]
    assert state.verdict(0).label is None


# ---------------------------------------------------------------- several rows at once
def test_what_is_said_of_several_rows_holds_of_each_and_is_taken_back_for_all():
    word = said(5, "x", detail=places_detail([2, 9]))
    state = replay([word])
    assert word.rows == (5, 2, 9)
    assert list(state.labelled().items()) == [(2, "x"), (5, "x"), (9, "x")]
    assert state.uses == {"x": 3}
    assert not any(state.may_ask(row, "bob", 1) for row in word.rows)
    state.apply(undone(word))
    assert (state.labelled(), state.last("ann")) == ({}, None)


def test_a_later_word_on_one_of_several_rows_counts_for_that_row():
    several, alone = said(0, "x", detail=places_detail([1, 2])), said(1, "y", kind=Kind.EDIT)
    state = replay([alone, several])
    assert state.labels == {0: "x", 1: "y", 2: "x"}
    state.apply(undone(several))
    assert state.labels == {1: "y"}
    state.apply(undone(alone))
    assert state.labels == {}


def test_a_word_on_several_rows_may_be_undone_before_it_comes():
    word = said(0, "x", detail=places_detail([1]))
    assert replay([undone(word), word]).labels == {}


def test_the_last_comment_of_a_person_counts_until_it_is_undone_or_taken_away():
    first, other = said(0, kind=Kind.COMMENT, detail={"text": "a"}), said(0, "x", "bob")
    state = replay([first, other])
    assert (state.verdict(0).comments, state.labels) == ({"ann": "a"}, {0: "x"})
    last = said(0, kind=Kind.COMMENT, detail={"text": "b"})
    state.apply(last)
    assert state.verdict(0).comments == {"ann": "b"}
    assert [state.counts(event) for event in (first, last, other)] == [False, True, True]
    assert state.last("ann") == last
    state.apply(undone(last))
    assert state.verdict(0).comments == {"ann": "a"}
    empty = said(0, kind=Kind.COMMENT, detail={"text": ""})
    state.apply(empty)
    assert (state.verdict(0).comments, state.counts(empty)) == ({}, True)
    assert state.may_ask(0, "ann", 2)
    assert state.participants == {"bob"}


def test_several_rows_that_are_skipped_together_rest_as_one_action():
    state = replay([said(0, kind=Kind.SKIP, detail=places_detail(range(1, 30)))])
    assert not state.may_ask(0, "ann", 1)
    for row in range(30, 30 + REST):
        assert not state.may_ask(7, "ann", 1)
        state.apply(said(row))
    assert state.may_ask(7, "ann", 1)


def test_an_event_that_is_about_no_row_has_none_whatever_its_detail_says():
    assert drawn(1, 2).rows == ()
    assert said(3, detail={"rows": "{"}).rows == (3,)
    assert said(3, detail={"rows": "[3, 1, 1]"}).rows == (3, 1)


# ---------------------------------------------------------------- copies that came later
def copied(source: Event, row: int) -> Event:
    """What was said of a row, said of a copy that joined since."""
    detail = {COPY_OF: source.key}
    return replace(source, key=f"copy {row}", kind=Kind.IMPORT, row=row, detail=detail)


def test_what_a_copy_was_given_later_is_taken_back_with_what_it_repeats():
    word = said(0, "x")
    state = replay([word, copied(word, 5), copied(word, 6)])
    assert state.labels == {0: "x", 5: "x", 6: "x"}
    state.apply(undone(word))
    assert state.labels == {}
    assert not any(map(state.holds, [word, copied(word, 5)]))


def test_the_order_in_which_a_copy_and_the_undo_come_does_not_matter():
    word = said(0, "x")
    back = undone(word)
    for events in ([word, back, copied(word, 5)], [copied(word, 5), back, word]):
        assert replay(events).labels == {}
    assert replay([word, copied(word, 5), undone(word, "bob")]).labels == {0: "x", 5: "x"}


def test_what_a_copy_was_given_is_no_action_of_its_own():
    before, word = said(1, "y"), said(0, "x")
    state = replay([before, word, copied(word, 5)])
    assert state.last("ann") == word
    state.apply(undone(word))
    assert state.last("ann") == before
    assert state.labels == {1: "y"}


def test_a_later_word_on_a_row_and_its_copy_is_taken_back_to_what_was_before():
    word = said(0, "x")
    later = said(0, "y", kind=Kind.EDIT, detail=places_detail([5]))
    state = replay([word, copied(word, 5), later])
    assert state.labels == {0: "y", 5: "y"}
    state.apply(undone(later))
    assert state.labels == {0: "x", 5: "x"}


# ---------------------------------------------------------------- verdicts
def test_the_latest_word_of_a_person_counts_by_when_it_was_made():
    first, second = said(0, "x"), said(0, "y", kind=Kind.EDIT)
    assert replay([second, first]).labelled() == {0: "y"}


def test_of_two_words_made_at_once_the_greater_key_counts():
    one = said(0, "x", key="a")
    other = replace(one, key="b", label="y")
    assert replay([other, one]).labelled() == replay([one, other]).labelled() == {0: "y"}


def test_the_class_of_most_people_holds():
    words = [said(0, "x", "ann"), said(0, "y", "bob")]
    state = replay(words)
    assert state.verdict(0).label is None
    assert state.labelled() == {}
    assert state.conflicts() == [0]
    state.apply(said(0, "y", "cy"))
    assert state.verdict(0).label == "y"
    assert state.conflicts() == [0]


def test_people_who_agree_are_in_no_conflict():
    state = replay([said(0, "x", "ann"), said(0, "x", "bob", Kind.IMPORT)])
    assert state.conflicts() == []
    assert state.labelled() == {0: "x"}


def test_a_settlement_beats_the_majority_and_the_last_one_beats_the_first():
    words = [said(0, "x", who) for who in PEOPLE]
    state = replay([*words, said(0, "y", "ann", Kind.SETTLE)])
    assert state.labelled() == {0: "y"}
    state.apply(said(0, "z", "bob", Kind.SETTLE))
    assert state.labelled() == {0: "z"}
    assert not state.verdict(0).in_conflict


def test_a_bad_row_is_dropped_unless_its_class_is_settled():
    state = replay([said(0, "x", "ann"), said(0, who="bob", kind=Kind.BAD)])
    assert state.verdict(0).is_bad
    assert state.labelled() == {}
    assert not any(state.may_ask(0, who, 3) for who in PEOPLE)
    state.apply(said(0, "y", "cy", Kind.SETTLE))
    assert not state.verdict(0).is_bad
    assert state.labelled() == {0: "y"}


def test_a_bad_row_is_in_no_conflict():
    words = [said(0, "x", "ann"), said(0, "y", "bob"), said(0, who="cy", kind=Kind.BAD)]
    assert replay(words).conflicts() == []


def test_whoever_thinks_again_takes_the_bad_mark_back():
    state = replay([said(0, kind=Kind.BAD), said(0, "x", kind=Kind.EDIT)])
    assert state.labelled() == {0: "x"}


# ---------------------------------------------------------------- who is asked
def test_a_row_about_which_somebody_is_unsure_is_open_to_others_only():
    state = replay([said(0, kind=Kind.UNSURE)])
    for _ in range(REST + 1):
        state.apply(said(9))
    assert not state.may_ask(0, "ann", 1)
    assert not state.is_skipped(0, "ann", 1)
    assert state.may_ask(0, "bob", 1)
    assert state.labelled() == {9: "x"}


def test_a_skipped_row_comes_back_after_some_more_actions():
    state = replay([said(0, kind=Kind.SKIP)])
    for row in range(1, REST + 1):
        assert not state.may_ask(0, "ann", 1)
        assert state.is_skipped(0, "ann", 1)
        assert state.may_ask(0, "bob", 1)
        state.apply(said(row, who="bob"))  # what others do is no rest
        assert not state.may_ask(0, "ann", 1)
        state.apply(said(row))
    assert state.may_ask(0, "ann", 1)
    assert state.is_skipped(0, "ann", 1)


def test_a_row_that_is_skipped_again_rests_again():
    state = replay([said(0, kind=Kind.SKIP), *(said(row) for row in range(1, REST + 1))])
    state.apply(said(0, kind=Kind.SKIP))
    assert not state.may_ask(0, "ann", 1)


def test_a_skipped_row_that_others_answered_does_not_come_back():
    state = replay([said(0, kind=Kind.SKIP), said(0, "x", "bob")])
    assert not state.is_skipped(0, "ann", 1)
    assert state.is_skipped(0, "ann", 2)


@pytest.mark.parametrize("people", [1, 2, 3])
def test_so_many_people_are_asked_about_a_row_and_no_more(people):
    state = replay([])
    for number, who in enumerate(PEOPLE):
        assert state.may_ask(0, who, people) == (number < people)
        state.apply(said(0, "x", who))
        assert not state.may_ask(0, who, people)


def test_a_settled_row_is_asked_of_nobody():
    state = replay([said(0, "x", "ann", Kind.SETTLE)])
    assert not any(state.may_ask(0, who, 3) for who in PEOPLE)


# ---------------------------------------------------------------- what a campaign is told
def test_answers_come_in_the_order_in_which_rows_came_by_their_label():
    first, second, third = said(5, "x"), said(2, "y"), said(9, "x")
    state = replay([third, first, second])
    assert state.answers() == (Answer(5, "x"), Answer(2, "y"), Answer(9, "x"))
    state.apply(said(5, "z", kind=Kind.EDIT))
    assert state.answers() == (Answer(2, "y"), Answer(9, "x"), Answer(5, "z"))
    assert state.answers(frozenset([9, 2])) == (Answer(5, "z"),)


def test_classes_stand_as_named_then_as_added_then_as_used():
    events = [said(0, "q"), said(1, "p"), said(2, "o", kind=Kind.SETTLE), added("n"), added("m")]
    state = replay(reversed(events))
    assert state.classes(["z", "p"]) == ("z", "p", "n", "m", "o", "q")
    assert state.classes() == ("n", "m", "o", "p", "q")


def test_a_class_that_is_in_use_and_then_added_stands_with_those_added():
    state = replay([said(0, "p"), said(1, "q")])
    assert state.classes() == ("p", "q")
    state.apply(added("q"))
    assert state.classes() == ("q", "p")


def test_a_class_stays_after_an_edit_but_not_after_an_undo():
    first, second = said(0, "x"), said(0, "y", kind=Kind.EDIT)
    state = replay([first, second])
    assert state.classes() == ("x", "y")
    state.apply(undone(second))
    assert state.classes() == ("x",)


# ---------------------------------------------------------------- names of classes
def test_answers_under_an_old_name_count_under_the_new_one_whenever_they_come():
    rename = renamed("x", "w")
    state = replay([said(0, "x"), rename, said(1, "y", predicted_label="x")])
    state.apply(said(2, "x", "bob"))
    assert state.labelled() == {0: "w", 1: "y", 2: "w"}
    assert state.verdict(1).opinions["ann"].predicted_label == "w"
    assert state.classes(["x", "y"]) == ("w", "y")
    state.apply(undone(rename))
    assert state.labelled() == {0: "x", 1: "y", 2: "x"}
    assert state.classes(["x", "y"]) == ("x", "y")
    assert state.verdict(1).opinions["ann"].predicted_label == "x"


def test_names_are_followed_however_often_they_change():
    state = replay([said(0, "x"), renamed("x", "v"), renamed("v", "w")])
    assert state.labelled() == {0: "w"}
    state.apply(renamed("w", "x"))
    assert (state.labelled(), state.classes()) == ({0: "x"}, ("x",))
    assert {state.name_of(name) for name in "xvw"} == {"x"}


def test_merged_classes_agree_and_differ_again_once_that_is_undone():
    merge = renamed("y", "x", "cy")
    state = replay([said(0, "x", "ann"), said(0, "y", "bob")])
    assert state.conflicts() == [0]
    state.apply(merge)
    assert (state.conflicts(), state.labelled(), state.uses) == ([], {0: "x"}, {"x": 1})
    state.apply(undone(merge, "cy"))
    assert (state.conflicts(), state.labelled()) == ([0], {})
    assert state.uses == {"x": 1, "y": 1}


def test_a_name_that_was_itself_changed_leads_to_what_that_became():
    state = replay([renamed("y", "z"), renamed("x", "y"), said(0, "x"), said(1, "y")])
    assert state.labelled() == {0: "z", 1: "z"}


def test_of_two_renames_of_one_class_the_last_holds():
    state = replay([renamed("x", "v"), renamed("x", "w", "bob"), said(0, "x")])
    assert state.labelled() == {0: "w"}
    assert state.name_of("v") == "w"


def test_an_unused_class_is_gone_until_that_is_undone_or_it_is_added_or_used():
    first, remove = added("y"), changed(Kind.REMOVE, "y")
    state = replay([first, remove])
    assert state.classes(["x"]) == ("x",)
    for again in (said(0, "y", "bob"), added("y", "bob")):
        state.apply(again)
        assert state.classes(["x"]) == ("x", "y")
        state.apply(undone(again, "bob"))
        assert state.classes(["x"]) == ("x",)
    state.apply(undone(remove))
    assert state.classes(["x"]) == ("x", "y")


def test_a_class_named_at_the_start_can_be_removed_renamed_and_merged():
    remove = changed(Kind.REMOVE, "x")
    state = replay([remove, renamed("y", "w"), renamed("z", "w")])
    assert state.classes(["x", "y", "z"]) == ("w",)


def test_a_label_that_was_changed_does_not_keep_its_class_from_being_removed():
    state = replay([said(0, "x"), said(0, "y", kind=Kind.EDIT), changed(Kind.REMOVE, "x")])
    assert state.classes() == ("y",)
    state.apply(undone(state.last("ann")))
    state.apply(undone(state.last("ann")))
    assert state.classes() == ("x",)


def test_a_class_renamed_to_one_that_was_removed_is_there():
    state = replay([added("x"), added("y"), changed(Kind.REMOVE, "y"), renamed("x", "y")])
    assert state.classes() == ("y",)


def test_what_is_said_of_a_class_follows_it_and_the_last_word_counts():
    first = changed(Kind.DESCRIBE, "x", description="old", colour="#ff0000")
    second = changed(Kind.DESCRIBE, "x", description="new")
    state = replay([second, first])
    assert state.class_detail("x") == ClassDetail("new", "#ff0000")
    rename = renamed("x", "w")
    state.apply(rename)
    assert state.class_detail("w") == ClassDetail("new", "#ff0000")
    assert state.class_detail("x") == ClassDetail()
    state.apply(undone(second))
    assert state.class_detail("w") == ClassDetail("old", "#ff0000")


def test_a_merged_class_keeps_what_was_said_of_the_one_it_joined():
    state = replay(
        [
            changed(Kind.DESCRIBE, "y", description="kept"),
            changed(Kind.DESCRIBE, "x", description="lost", colour="#00ff00"),
            renamed("x", "y"),
        ]
    )
    assert state.class_detail("y") == ClassDetail("kept", "#00ff00")


def test_undo_takes_back_what_a_person_did_to_classes_and_check_rows_too():
    acts = [said(0, "x"), added("y"), renamed("y", "z"), changed(Kind.DESCRIBE, "z", colour="")]
    acts += [changed(Kind.REMOVE, "z"), drawn(1, 2), said(1, "x")]
    state = replay([*acts, added("w", "bob")])
    for act in reversed(acts):
        assert state.last("ann") == act
        state.apply(undone(act))
    assert state.last("ann") is None
    assert state.classes() == ("w",)


def test_the_last_change_is_that_of_classes_and_check_rows_alone():
    first, second = added("x"), drawn(1)
    state = replay([first, second, said(0, "x"), added("y", "bob")])
    for act in (second, first):
        assert state.last_change("ann") == act
        state.apply(undone(act))
    assert state.last_change("ann") is None


def test_an_answer_about_no_row_holds_of_none():
    state = replay([Event("lost", Kind.LABEL, "ann", 1, label="x")])
    assert (state.labelled(), state.last("ann"), state.classes()) == ({}, None, ("x",))


def test_a_class_that_came_with_an_answer_is_no_action_by_itself():
    state = replay([replace(added("x"), detail={IMPLIED: "yes"}), said(0, "x")])
    state.apply(undone(state.last("ann")))
    assert state.last("ann") is None
    assert state.classes() == ("x",)


def test_changes_of_classes_are_no_rest_for_a_skipped_row():
    state = replay([said(0, kind=Kind.SKIP), *(added(f"c{n}") for n in range(REST))])
    assert not state.may_ask(0, "ann", 1)


def test_an_answer_and_a_rename_know_when_they_were_made():
    act = added("x")
    state = replay([act, said(0, "x", "bob")])
    assert (state.latest_change, state.latest_of("ann"), state.latest_of("cy")) == (
        act.made,
        act.made,
        0,
    )
    assert state.latest_of("bob") > act.made


# ---------------------------------------------------------------- check rows
def test_check_rows_drawn_hold_until_that_is_undone():
    first, second = drawn(3, 1), drawn(2)
    state = replay([second, first])
    assert state.draws == ((3, 1), (2,))
    state.apply(undone(first))
    assert state.draws == ((2,),)


def test_a_draw_says_which_rows_it_drew():
    event = changed(Kind.CHECK, None, **places_detail(range(3)))
    assert named_places(event) == (0, 1, 2)


@pytest.mark.parametrize("text", ["", "{", "7", '{"a": 1}', '["a", null, 1.5]'])
def test_a_draw_that_says_nothing_drew_nothing(text):
    assert named_places(changed(Kind.CHECK, None, rows=text)) == ()
    assert named_places(changed(Kind.CHECK, None)) == ()


# ---------------------------------------------------------------- how much is done
class Tick(int):
    """A time that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        Tick.compared += 1
        return int(self) == int(other)

    def __lt__(self, other):
        Tick.compared += 1
        return int(self) < int(other)

    __hash__ = int.__hash__


def counted(monkeypatch, name) -> list:
    """The calls of a method of states from now on."""
    calls, method = [], getattr(JournalState, name)

    def counting(self, *given):
        calls.append(given)
        return method(self, *given)

    monkeypatch.setattr(JournalState, name, counting)
    return calls


@pytest.mark.parametrize("more", [[], [renamed(f"c{n}", f"c{n + 1}") for n in range(50)]])
def test_a_replay_judges_each_row_once_however_many_events_it_has(monkeypatch, more):
    words = [said(n % 3, "xyz"[n % 2], PEOPLE[n % 3]) for n in range(300)]
    judged = counted(monkeypatch, "_fold_row")
    state = replay([*words, *(undone(word, word.who) for word in words[::7]), *more])
    assert sorted(judged) == [(0,), (1,), (2,)]
    assert state.labels.keys() == {0, 1, 2}


def one_more(count, at, *, is_undo=False) -> int:
    """How often times are compared for one event more on a row that has so many."""
    words = [said(0, "x", PEOPLE[n % 3]) for n in range(count)]
    words = [replace(word, made=Tick(10 * n)) for n, word in enumerate(words)]
    state = replay(words)
    new = replace(said(0, "y"), made=Tick(10 * round(at * count) + 5))
    Tick.compared = 0
    state.apply(undone(words[3 * round(at * count / 3)]) if is_undo else new)
    return Tick.compared


@pytest.mark.parametrize("at", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("is_undo", [False, True])
def test_one_event_more_costs_the_logarithm_of_how_many_its_row_has(at, is_undo):
    few, many = (one_more(count, at, is_undo=is_undo) for count in (30, 30 * 64))
    assert 0 < many < 4 * few  # of 64 times as many events


def test_what_to_undo_and_the_classes_left_are_found_without_going_through_what_was_undone(
    monkeypatch,
):
    def looks(count) -> int:
        state = replay([first := said(0, "x"), added("y")])
        for _ in range(count):
            state.apply(word := said(0, "y", kind=Kind.EDIT))
            state.apply(undone(word))
        looked = counted(monkeypatch, "holds")
        state.apply(undone(state.last("ann")))
        assert state.last("ann") == first
        assert state.classes() == ("x",)
        return len(looked)

    assert looks(40) == looks(2)


def test_rows_that_are_closed_are_the_same_object_until_they_change():
    state = replay([bad := said(0, kind=Kind.BAD), said(1, "x"), said(2, "x"), said(2, "y", "bob")])
    closed = state.closed
    assert closed == {0, 2}
    state.apply(said(3, "x"))
    assert state.closed is closed
    state.apply(undone(bad), said(2, "y", "cy"))
    assert state.closed == set()


def test_uses_that_were_looked_at_are_kept_up_to_date_without_going_through_all_rows(monkeypatch):
    state = replay([said(row, "x") for row in range(50)])
    assert state.uses == {"x": 50}
    seen, uses = [], RowVerdict.uses
    monkeypatch.setattr(RowVerdict, "uses", property(lambda v: seen.append(v) or uses.fget(v)))
    state.apply(said(7, "y", kind=Kind.EDIT))
    assert (+state.uses, len(seen)) == ({"x": 49, "y": 1}, 2)


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collector_is_left_as_it_was_after_a_replay(is_enabled):
    was_enabled, seen = gc.isenabled(), []
    try:
        (gc.enable if is_enabled else gc.disable)()
        replay(seen.append(gc.isenabled()) or said(row) for row in range(2))
        assert (seen, gc.isenabled()) == ([False, False], is_enabled)
    finally:
        (gc.enable if was_enabled else gc.disable)()


@pytest.mark.parametrize("who", ["", " ann", "a\nb", "x" * 61, 3, None])
def test_who_is_no_person_is_refused(who):
    journal.check_who("Ann van der Berg")
    with pytest.raises(ValueError, match=r"^who must be a name of 1 to 60 characters.*; got .*\. "):
        journal.check_who(who)


# ---------------------------------------------------------------- clocks
def test_what_one_person_does_within_a_moment_keeps_its_order():
    events = [
        Event(key, Kind.EDIT, "ann", 1000 + at, 0, label, number=at, at=1000)
        for at, (key, label) in enumerate([("z", "yes"), ("m", "no"), ("a", "maybe")])
    ]
    assert replay(events).labels == {0: "maybe"}


def test_an_event_counts_while_it_is_what_holds_of_its_row():
    label = Event("a", Kind.LABEL, "ann", 1, 0, "yes")
    settled = Event("b", Kind.SETTLE, "bob", 2, 0, "no")
    again = Event("c", Kind.SETTLE, "bob", 3, 0, "yes")
    added = Event("d", Kind.CLASS, "bob", 4, label="maybe")
    gone = Event("e", Kind.GONE, "file", 5, 1)
    state = replay([label, settled, again, added, gone])
    counting = [state.counts(one) for one in (label, settled, again, added, gone)]
    assert counting == [True, False, True, True, True]
    state.apply(Event("f", Kind.UNDO, "bob", 6, target="d"))
    state.apply(Event("g", Kind.UNDO, "ann", 6, target="a"))
    assert (state.counts(added), state.counts(label)) == (False, False)
