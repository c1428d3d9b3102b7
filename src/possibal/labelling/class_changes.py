"""Changes of a campaign's classes: the events that make them, and the rules that they keep.

    event = renamed("spam", "junk", who="ann")        check_change(state, setup.classes, event)

A class is added, renamed, merged with another, removed while nobody uses it, or described. All of
it is in the journal, so that it can be undone, and answers given under an old name count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from possibal.data.label_sets import LabelSyntax, check_member_name
from possibal.data.schema import (
    CONTROLS,
    LONGEST_LABEL,
    MOST_CLASSES,
    clean,
    is_class_name,
    same_class,
)
from possibal.errors import RefusedError
from possibal.labelling.storage.journal import (
    COLOUR,
    DESCRIPTION,
    MERGE,
    TO,
    Event,
    JournalState,
    Kind,
)
from possibal.labelling.storage.store import clock

LONGEST_DESCRIPTION = 300
"""Characters of the sentence that is shown beside a class."""
COLOURS = re.compile(r"#[0-9a-f]{6}", re.ASCII | re.IGNORECASE)
"""A colour as browsers write it."""


# ---------------------------------------------------------------- events
def change_event(kind: Kind, name: str | None, who: str, detail: Mapping[str, str] | None) -> Event:
    """An event of now on a class or, without its name, on the campaign."""
    return Event(uuid4().hex, kind, who, clock(), label=name, detail=detail)


def added(name: str, who: str) -> Event:
    """A new class."""
    return change_event(Kind.CLASS, name, who, None)


def added_all(
    state: JournalState, named: Sequence[str], names: Sequence[str], who: str
) -> list[Event]:
    """Those of some classes that are new, as events; or one sentence if any of them cannot be.

    Args:
        state: before; it has the classes afterwards.
        named: the classes that the campaign was begun with.
        names: of classes, new or not.
        who: the person.
    """
    events = list[Event]()
    for name in names:
        if name not in state.classes(named):
            event = stamped(state, added(name, who))
            check_change(state, named, event)
            state.apply(event)
            events.append(event)
    return events


def renamed(old: str, new: str, who: str) -> Event:
    """Another name for a class."""
    return change_event(Kind.RENAME, old, who, {TO: new})


def merged(name: str, into: str, who: str) -> Event:
    """A class that counts as another from now on."""
    return change_event(Kind.RENAME, name, who, {TO: into, MERGE: "yes"})


def removed(name: str, who: str) -> Event:
    """A class fewer."""
    return change_event(Kind.REMOVE, name, who, None)


def described(
    name: str, who: str, description: str | None = None, colour: str | None = None
) -> Event:
    """What people are told of a class; None leaves it as it is, and empty text takes it away."""
    given = {DESCRIPTION: description, COLOUR: colour}
    detail = {what: words for what, words in given.items() if words is not None}
    return change_event(Kind.DESCRIBE, name, who, detail)


def stamped(state: JournalState, event: Event) -> Event:
    """The event as made after all changes so far, and after all that the person did."""
    last = max(state.latest_change, state.latest_of(event.who))
    return replace(event, made=max(event.made, last + 1))


# ---------------------------------------------------------------- rules
def check_change(state: JournalState, named: Sequence[str], event: Event) -> None:
    """Refuse a change that breaks a rule.

    Args:
        state: before the change.
        named: the classes that the campaign was begun with.
        event: the change.
    """
    classes = state.classes(named)
    if event.kind is Kind.CLASS:
        _check_added(state, classes, event.label or "")
        return
    name = state.name_of(event.label or "")
    if name not in classes:
        raise RefusedError(
            f"class must be one of {list(classes)}; got {event.label!r}. Choose one of these."
        )
    if event.kind is Kind.RENAME:
        _check_renamed(state, classes, name, event.detail or {})
    elif event.kind is Kind.REMOVE:
        _check_unused(state, name)
    else:
        _check_described(event.detail or {})


def _check_added(state: JournalState, classes: Sequence[str], name: str) -> None:
    """Refuse a class that cannot be added; one that is there already is fine."""
    if name in classes:
        return
    _check_name(state, classes, name)
    if len(classes) >= MOST_CLASSES:
        raise RefusedError(
            f"classes must be at most {MOST_CLASSES}; got {name!r} as one more. "
            "Merge or remove some first."
        )


def check_new(classes: Sequence[str], name: str) -> None:
    """Refuse a class that is there already, where somebody means a new one."""
    if name in classes:
        raise RefusedError(f"class must be new; got {name!r}, which is there. Choose another name.")


def _check_renamed(
    state: JournalState, classes: Sequence[str], name: str, detail: Mapping[str, str]
) -> None:
    """Refuse a name that a class cannot get."""
    new, is_merge = detail.get(TO, ""), MERGE in detail
    if new == name:
        raise RefusedError(f"to must be another name; got {new!r} again. Choose another.")
    if is_merge and new not in classes:
        raise RefusedError(
            f"into must be one of {list(classes)}; got {new!r}. Choose one of these, or rename."
        )
    if new in classes and not is_merge:
        raise RefusedError(
            f"to must be a new name; got {new!r}, which is another class. "
            "Merge the two if that is what you mean, or choose another name."
        )
    if not is_merge:
        _check_name(state, [one for one in classes if one != name], new, name)


def _check_name(state: JournalState, others: Sequence[str], new: str, old: str = "") -> None:
    """Refuse a name that is none, that is taken, or that people would take for another."""
    if not is_class_name(new):
        raise RefusedError(
            f"class must be of 1 to {LONGEST_LABEL} characters, with no blanks around them; "
            f"got {new[:LONGEST_LABEL]!r}. Shorten or mend it."
        )
    if state.syntax is LabelSyntax.SEVERAL:
        try:
            check_member_name(new)
        except ValueError as error:
            raise RefusedError(str(error)) from None
    now = state.name_of(new)
    if now not in {new, old}:
        raise RefusedError(
            f"class must not be a name that was given up; got {new!r}, which is called {now!r} "
            "now. Undo that, or choose another name."
        )
    alike = alike_name(new, others)
    if alike is not None:
        raise RefusedError(
            f"class must differ from others by more than case and blanks; got {new!r} beside "
            f"{alike!r}. Use that one, or choose another name."
        )


def alike_name(name: str, others: Sequence[str]) -> str | None:
    """Which of the others differs from a name by case and blanks alone, if one does."""
    return next((one for one in others if one != name and same_class(one, name)), None)


def _check_unused(state: JournalState, name: str) -> None:
    """Refuse to remove a class that somebody uses."""
    rows = state.uses[name]
    if rows:
        have = "1 row has" if rows == 1 else f"{rows} rows have"
        raise RefusedError(
            f"class must be unused to be removed; got {name!r}, which {have}. "
            "Merge it with another class."
        )


def _check_described(detail: Mapping[str, str]) -> None:
    """Refuse what cannot be said of a class."""
    if not detail:
        raise RefusedError(
            "description or colour must be given; got neither. Say what is to be shown."
        )
    words, colour = detail.get(DESCRIPTION, ""), detail.get(COLOUR, "")
    if len(words) > LONGEST_DESCRIPTION or CONTROLS.search(words) or clean(words) != words:
        raise RefusedError(
            f"description must be one line of at most {LONGEST_DESCRIPTION} characters; "
            f"got {len(words)} characters, first {words[:30]!r}. Shorten or mend it."
        )
    if colour and not COLOURS.fullmatch(colour):
        raise RefusedError(
            f"colour must be like #3366cc, or empty; got {colour[:30]!r}. Correct it."
        )
