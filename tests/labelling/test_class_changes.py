import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.data.schema import LONGEST_LABEL, MOST_CLASSES
from possibal.errors import RefusedError
from possibal.labelling import class_changes
from possibal.labelling.class_changes import (
    LONGEST_DESCRIPTION,
    added,
    added_all,
    alike_name,
    check_change,
    check_new,
    described,
    merged,
    removed,
    renamed,
    stamped,
)
from possibal.labelling.storage.journal import Event, Kind, replay

NAMED = ("ham", "spam", "dull")


@pytest.fixture(name="state")
def _state():
    """A journal in which spam is used, and ham was called meat."""
    return replay(
        [
            Event("1", Kind.RENAME, "ann", 1, label="meat", detail={"to": "ham"}),
            Event("2", Kind.LABEL, "ann", 2, 0, "spam"),
            Event("3", Kind.LABEL, "bob", 3, 0, "ham"),
            Event("4", Kind.LABEL, "bob", 4, 1, "spam"),
        ]
    )


def test_changes_are_events_with_keys_of_their_own():
    events = [
        added("a", "ann"),
        renamed("a", "b", "ann"),
        merged("b", "c", "ann"),
        removed("c", "ann"),
        described("c", "ann", colour=""),
        described("c", "ann", "words", "#00ff00"),
    ]
    assert [(event.kind, event.label, event.detail) for event in events] == [
        (Kind.CLASS, "a", None),
        (Kind.RENAME, "a", {"to": "b"}),
        (Kind.RENAME, "b", {"to": "c", "merge": "yes"}),
        (Kind.REMOVE, "c", None),
        (Kind.DESCRIBE, "c", {"colour": ""}),
        (Kind.DESCRIBE, "c", {"description": "words", "colour": "#00ff00"}),
    ]
    assert len({event.key for event in events}) == len(events)
    assert all(re.fullmatch("[0-9a-f]{32}", event.key) for event in events)


@pytest.mark.parametrize(
    "event",
    [
        added("new", "ann"),
        added("spam", "ann"),
        added("x" * LONGEST_LABEL, "ann"),
        renamed("spam", "Spam", "ann"),
        renamed("spam", "junk", "ann"),
        renamed("meat", "beef", "ann"),
        renamed("ham", "meat", "ann"),
        merged("spam", "ham", "ann"),
        removed("dull", "ann"),
        described("dull", "ann", "Of no interest.", "#A0b1C2"),
        described("dull", "ann", "", ""),
        described("dull", "ann", "é" * LONGEST_DESCRIPTION),
    ],
    ids=lambda event: f"{event.kind} {event.label[:9]}",
)
def test_what_keeps_the_rules_is_taken(state, event):
    check_change(state, NAMED, event)


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (added("", "ann"), "class must be of 1 to 200 characters, with no blanks around them; got"),
        (added("x" * 201, "ann"), "class must be of 1 to 200 characters"),
        (added(" new", "ann"), "class must be of 1 to 200 characters, with no blanks around them"),
        (added("a\nb", "ann"), "class must be of 1 to 200 characters"),
        (added("a\x00b", "ann"), "class must be of 1 to 200 characters"),
        (
            added("Spam", "ann"),
            (
                "class must differ from others by more than case and blanks; got 'Spam' beside "
                "'spam'. Use that one, or choose another name."
            ),
        ),
        (added("s p am", "ann"), "class must differ from others by more than case and blanks"),
        (
            added("meat", "ann"),
            (
                "class must not be a name that was given up; got 'meat', which is called 'ham' "
                "now. Undo that, or choose another name."
            ),
        ),
        (
            renamed("gone", "x", "ann"),
            "class must be one of ['ham', 'spam', 'dull']; got 'gone'. Choose one of these.",
        ),
        (renamed("spam", "spam", "ann"), "to must be another name; got 'spam' again."),
        (
            renamed("spam", "ham", "ann"),
            (
                "to must be a new name; got 'ham', which is another class. Merge the two if that "
                "is what you mean, or choose another name."
            ),
        ),
        (renamed("spam", "HAM", "ann"), "class must differ from others by more than case and"),
        (renamed("spam", "meat", "ann"), "class must not be a name that was given up; got 'meat'"),
        (renamed("spam", "", "ann"), "class must be of 1 to 200 characters"),
        (
            merged("spam", "new", "ann"),
            "into must be one of ['ham', 'spam', 'dull']; got 'new'. Choose one of these, or ren",
        ),
        (merged("spam", "spam", "ann"), "to must be another name; got 'spam' again."),
        (
            removed("spam", "ann"),
            (
                "class must be unused to be removed; got 'spam', which 2 rows have. "
                "Merge it with another class."
            ),
        ),
        (removed("meat", "ann"), "class must be unused to be removed; got 'ham', which 1 row has."),
        (removed("gone", "ann"), "class must be one of"),
        (described("gone", "ann", "x"), "class must be one of"),
        (described("spam", "ann"), "description or colour must be given; got neither."),
        (described("spam", "ann", "é" * 301), "description must be one line of at most 300 charac"),
        (described("spam", "ann", "a\nb"), "description must be one line"),
        (described("spam", "ann", "\ud800"), "description must be one line"),
        (described("spam", "ann", colour="red"), "colour must be like #3366cc, or empty; got 'red"),
        (described("spam", "ann", colour="#3366c"), "colour must be like #3366cc"),
        (described("spam", "ann", colour="#3366cc0"), "colour must be like #3366cc"),
    ],
    ids=lambda given: given[:24] if isinstance(given, str) else f"{given.kind} {given.label[:9]}",
)
def test_what_breaks_a_rule_is_refused_in_one_sentence(state, event, sentence):
    with pytest.raises(RefusedError) as error:
        check_change(state, NAMED, event)
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)


def test_a_class_that_is_there_is_not_new():
    check_new(NAMED, "new")
    with pytest.raises(RefusedError, match=r"^class must be new; got 'ham', which is there\."):
        check_new(NAMED, "ham")


def test_there_are_at_most_so_many_classes():
    named = [f"class {n}" for n in range(MOST_CLASSES)]
    state = replay([])
    check_change(state, named[1:], added("one more", "ann"))
    check_change(state, named, added("class 3", "ann"))
    check_change(state, named, renamed("class 3", "three", "ann"))
    with pytest.raises(RefusedError, match=r"^classes must be at most 50; got 'one more' as one"):
        check_change(state, named, added("one more", "ann"))


def test_a_change_is_made_after_all_before_it_whatever_the_clock_says(monkeypatch):
    monkeypatch.setattr(class_changes, "clock", lambda: 7)
    state = replay([Event("1", Kind.CLASS, "ann", 50, label="a")])
    assert stamped(state, added("b", "bob")).made == 51
    state.apply(Event("2", Kind.LABEL, "bob", 99, 0, "a"))
    assert stamped(state, added("b", "bob")).made == 100
    assert stamped(replay([]), added("b", "bob")).made == 7


@given(st.text(st.sampled_from("aA bB\t"), min_size=1), st.text(st.sampled_from("aA bB\t")))
def test_names_are_alike_if_case_and_blanks_are_all_the_difference(one, other):
    same = "".join(one.split()).lower() == "".join(other.split()).lower()
    assert alike_name(one, [other]) == (other if same and one != other else None)


def test_of_several_classes_those_that_are_new_are_added_or_none(state):
    events = added_all(state, NAMED, ["spam", "new", "other", "new"], "ann")
    assert [event.label for event in events] == ["new", "other"]
    assert state.classes(NAMED)[-2:] == ("new", "other")
    with pytest.raises(RefusedError, match=r"^class must differ from others .*; got 'Spam' beside"):
        added_all(state, NAMED, ["more", "Spam"], "ann")
