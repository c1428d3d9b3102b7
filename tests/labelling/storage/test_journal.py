from collections import Counter
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.campaign.answer import Answer
from possibal.labelling.storage import journal
from possibal.labelling.storage.journal import (
    LABELLED,
    NAMING,
    NOTHING,
    ON_ROWS,
    OPINIONS,
    REST,
    Event,
    Kind,
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


@st.composite
def histories(draw, most=25):
    """Events of a few people about a few rows, with undos of one's own, others' and nothing."""
    size = draw(st.integers(0, most))
    keys = [f"key {i}" for i in range(size)]
    made = []
    for key in keys:
        kind = draw(st.sampled_from(Kind))
        made.append(
            Event(
                key,
                kind,
                draw(st.sampled_from(PEOPLE)),
                draw(st.integers(0, 8)),
                draw(st.sampled_from(ROWS)) if kind in ON_ROWS else None,
                draw(st.sampled_from(CLASSES)) if kind in LABELLED else None,
                draw(st.sampled_from([*keys, "gone"])) if kind is Kind.UNDO else None,
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
def kept(events) -> list[Event]:
    """What nobody took back, in the order in which it was made."""
    gone = {(e.target, e.who) for e in events if e.kind is Kind.UNDO}
    unique = {e.key: e for e in events}.values()
    return sorted((e for e in unique if (e.key, e.who) not in gone), key=lambda e: (e.made, e.key))


def opinion(events, row, who) -> Event | None:
    """The last word of a person about a row."""
    own = [e for e in kept(events) if e.row == row and e.who == who and e.kind in OPINIONS]
    return own[-1] if own else None


def slow_verdict(events, row) -> dict:
    """What holds of a row, by reading the whole history."""
    opinions = {who: opinion(events, row, who) for who in PEOPLE}
    opinions = {who: event for who, event in opinions.items() if event}
    settling = [e for e in kept(events) if e.row == row and e.kind is Kind.SETTLE]
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
    added = [e.label for e in kept(events) if e.kind is Kind.CLASS]
    used = sorted(e.label for e in kept(events) if e.kind in LABELLED)
    found = []
    for label in [*named, *added, *used]:
        if label not in found:
            found.append(label)
    return found


def slow_may_ask(events, row, who, people) -> bool:
    """Whether a person may be asked about a row."""
    verdict, mine = slow_verdict(events, row), opinion(events, row, who)
    wants = not verdict["settled"] and not verdict["is_bad"] and len(verdict["naming"]) < people
    if mine is None or not wants:
        return wants
    own = {e for e in events if e.who == who and e.kind in ON_ROWS}
    since = [e for e in own if (e.made, e.key) > (mine.made, mine.key)]
    return mine.kind is Kind.SKIP and len(since) >= SOON


# ---------------------------------------------------------------- the fold
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
    for who in PEOPLE:
        assert mixed.last(who) == clean.last(who)
        for row in ROWS:
            assert mixed.may_ask(row, who, 2) == clean.may_ask(row, who, 2)
            assert mixed.is_skipped(row, who, 2) == clean.is_skipped(row, who, 2)


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


@given(histories(), st.sampled_from(ROWS), st.sampled_from(list(ON_ROWS)))
def test_an_action_and_its_undo_leave_everything_as_it_was(events, row, kind):
    before, state = replay(events), replay(events)
    action = said(row, "z", "ann", kind)
    state.apply(action)
    state.apply(undone(action))
    assert state.labelled() == before.labelled()
    assert state.classes() == before.classes()
    assert state.last("ann") == before.last("ann")
    assert all(state.verdict(row) == before.verdict(row) for row in ROWS)


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
