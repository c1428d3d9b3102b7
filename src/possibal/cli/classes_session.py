"""Session of `possibal classes` and `possibal check`: all that is asked for is done, or nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from possibal.labelling import class_changes as to
from possibal.labelling.explanation import action
from possibal.labelling.overview import ClassEntry, Overview
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.journal import (
    ON_CLASSES,
    Event,
    JournalState,
    Kind,
    check_who,
    places_detail,
)
from possibal.labelling.storage.store import Store


@dataclass(frozen=True)
class ClassRequest:
    """What is to be done to classes, as a user asks for it, in this order.

    Attributes:
        undo: whether to take back the person's last change first.
        add: names.
        rename: pairs such as old=new.
        merge: pairs of a class and the one that it joins.
        describe: pairs of a class and a sentence.
        colour: pairs of a class and a colour.
        remove: names.
        who: the person.
    """

    undo: bool
    add: Sequence[str]
    rename: Sequence[str]
    merge: Sequence[str]
    describe: Sequence[str]
    colour: Sequence[str]
    remove: Sequence[str]
    who: str

    @property
    def is_empty(self) -> bool:
        """Whether the classes are only to be listed."""
        named = (self.add, self.rename, self.merge, self.describe, self.colour, self.remove)
        return not self.undo and not any(named)


# ---------------------------------------------------------------- classes
def changed(db: str, wanted: ClassRequest) -> tuple[list[str], list[ClassEntry]]:
    """What was done, in sentences, and the classes after it; one mistake, and nothing is done."""
    check_who(wanted.who)
    with Store.open(db, writes=not wanted.is_empty) as store:
        state, named = store.state(), store.setup().classes
        said, done = list[str](), list[Event]()
        for draft in _events(state, named, wanted):
            event = to.stamped(state, draft)
            if event.kind in ON_CLASSES:
                to.check_change(state, named, event)
            said.append(_sentence(state, event))
            state.apply(event)
            done.append(event)
        if done:
            store.append(done)
        return said, Overview(ReadModel(store)).classes()


def _events(state: JournalState, named: Sequence[str], wanted: ClassRequest) -> Iterator[Event]:
    """What is asked for, one after the other, each as things are when it is its turn."""
    if wanted.undo:
        yield _undo(state, wanted.who)
    for name in wanted.add:
        to.check_new(state.classes(named), name)
        yield to.added(name, wanted.who)
    for text in wanted.rename:
        yield to.renamed(*_pair("rename", text, state.classes(named)), wanted.who)
    for text in wanted.merge:
        yield to.merged(*_pair("merge", text, state.classes(named)), wanted.who)
    for text in wanted.describe:
        name, words = _pair("describe", text, state.classes(named))
        yield to.described(name, wanted.who, description=words)
    for text in wanted.colour:
        name, words = _pair("colour", text, state.classes(named))
        yield to.described(name, wanted.who, colour=words.lower())
    for name in wanted.remove:
        yield to.removed(name, wanted.who)


def _undo(state: JournalState, who: str) -> Event:
    """The event that takes the last change of a person back."""
    last = state.last_change(who)
    if last is None:
        raise ValueError(
            f"undo must have a change to take back; got none by {who!r}. "
            "Name another person with --who."
        )
    return replace(to.change_event(Kind.UNDO, None, who, None), target=last.key)


def _sentence(state: JournalState, event: Event) -> str:
    """What was done."""
    if event.target is not None:
        return f"Undone: {action(state.events[event.target])}."
    said = action(event)
    return f"{said[:1].upper()}{said[1:]}."


def _pair(option: str, text: str, classes: Sequence[str]) -> tuple[str, str]:
    """What stands before and after the equals sign; a class may have one in its name too."""
    parts = text.split("=")
    pairs = [("=".join(parts[:n]), "=".join(parts[n:])) for n in range(1, len(parts))]
    stripped = [(name.strip(), given.strip()) for name, given in pairs]
    if not stripped:
        raise ValueError(
            f"{option} must be a class, the sign = and what it gets; got {text!r}. "
            f"Write it like --{option} spam=..."
        )
    return next((pair for pair in stripped if pair[0] in classes), stripped[0])


# ---------------------------------------------------------------- check rows
def drawn(db: str, rows: int, who: str) -> tuple[int, int]:
    """How many check rows there are after so many more were drawn, and how many have a label."""
    check_who(who)
    with Store.open(db) as store:
        read_model = ReadModel(store)
        detail = places_detail(read_model.draw_check_rows(rows))
        event = to.stamped(read_model.state, to.change_event(Kind.CHECK, None, who, detail))
        read_model.apply(store.append([event]))
        check, labels = read_model.check_rows, read_model.state.labels
        return len(check), sum(row in labels for row in check)
