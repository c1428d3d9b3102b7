"""Export and import of labels as files, round-trip safe.

exported_opinions(store) -> lines        export_file(lines, ".csv") -> bytes
read_labels(path, store) -> events

What was written and is read again says the same of each row, and is written the same again.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from possibal.data import readers, writers
from possibal.data.copies import CopyGroups
from possibal.data.label_sets import NONE, LabelSyntax
from possibal.data.name_types import NameType
from possibal.data.schema import LONGEST_LABEL, MOST_CLASSES
from possibal.data.source import ENDING, digest
from possibal.data.writers import SheetColumn
from possibal.errors import RefusedError
from possibal.files import check_not_read, check_place, write
from possibal.labelling.class_changes import alike_name
from possibal.labelling.create import FILE, copy_groups, imported_event
from possibal.labelling.remarks import check_text, text_detail, text_of
from possibal.labelling.storage.database import file_of
from possibal.labelling.storage.journal import (
    NAMING,
    TEXT,
    Event,
    JournalState,
    Kind,
    RowVerdict,
    places_detail,
)
from possibal.labelling.storage.store import Item, Store, clock

HEADS = ("id", "label", "kind", "who", "when", "necessity", "thought", "final")
"""What is said of each opinion; `final` is what holds of its row."""
COMMENT = "comment"
"""One more column, where somebody commented on a row: beside the first of their opinions on it."""
ATTRIBUTES = {"thought": "predicted_label"}
"""What a column is called here, where its name in files is another."""
KINDS = {
    "label": Kind.IMPORT,
    "unsure": Kind.UNSURE,
    "bad": Kind.BAD,
    "settle": Kind.SETTLE,
    COMMENT: Kind.COMMENT,
}
"""What an opinion is called in a file, and what it is when it comes back."""
TRUTHS = {"1": True, "true": True, "0": False, "false": False, "": None}
"""What the cells of a column of a class say."""
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MILLISECOND = dt.timedelta(milliseconds=1)
LAST = (dt.datetime.max.replace(tzinfo=dt.UTC) - EPOCH) // MILLISECOND
"""A moment beyond has no date: it is written as milliseconds."""
LATEST = 2**53
"""No clock of a page goes beyond."""
WHOLE = re.compile(r"\d{13,16}", re.ASCII)
"""A moment in milliseconds; fewer digits may be a date."""
Record: TypeAlias = tuple[str, Mapping[str, str | None]]
"""Where something stands in a file, and the cells there by the name of their column."""


# ---------------------------------------------------------------- values
@dataclass(frozen=True)
class ExportedOpinion:
    """An opinion that holds.

    Attributes:
        id: what the user calls the row.
        label: the class, if it names one.
        kind: a name of `KINDS`.
        who: the person.
        made: when, in milliseconds; None for what a file said.
        necessity: of the label that the model predicted then.
        predicted_label: that label.
        final: the label of the row, if it has one.
        cells: what is shown of the row, if that is wanted.
        comment: of the person on the row, beside the first of their opinions.
    """

    id: str
    label: str | None
    kind: str
    who: str
    made: int | None
    necessity: float | None
    predicted_label: str | None
    final: str | None
    cells: tuple[str | None, ...] = ()
    comment: str | None = None

    @property
    def when(self) -> str | None:
        """The moment as ISO 8601 has it, in UTC."""
        return None if self.made is None else timestamp(self.made)


def timestamp(made: int) -> str:
    """Milliseconds since 1970 as ISO 8601 has them, in UTC; as they are where there is no date."""
    if not 0 <= made <= LAST:
        return str(made)
    at = EPOCH + made * MILLISECOND
    return f"{at.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


# ---------------------------------------------------------------- out
def exported_opinions(
    store: Store, *, fields: bool = True, verdicts: Mapping[int, RowVerdict] | None = None
) -> list[ExportedOpinion]:
    """What holds of each row, one line per opinion, in an order that follows from what they say.

    Args:
        store: of the campaign.
        fields: whether each line also has what is shown of its row.
        verdicts: what holds, where that is known; otherwise the journal is replayed.
    """
    holding = store.state().verdicts if verdicts is None else verdicts
    rows = sorted(holding)
    items = store.items(rows)
    lost = [row for row in rows if row not in items]
    if lost:
        raise ValueError(
            f"db must be sound; got answers about row {lost[0]}, of which there is none. "
            "See what possibal doctor says, or restore a backup."
        )
    lines = list[ExportedOpinion]()
    for row in rows:
        verdict = holding[row]
        of_row = [_line(items[row], event, verdict, fields=fields) for event in _holding(verdict)]
        of_row.sort(key=lambda line: (line.made or 0, line.who, line.kind))
        lines += _commented(of_row, verdict.comments)
    return lines


def _commented(
    lines: Sequence[ExportedOpinion], comments: Mapping[str, str]
) -> Iterator[ExportedOpinion]:
    """The lines of a row, the first of each person with what they remarked on it."""
    waiting = dict(comments)
    for line in lines:
        yield replace(line, comment=waiting.pop(line.who, None))


def _holding(verdict: RowVerdict) -> list[Event]:
    """The events on a row that are exported: no skips, and no comment beside an opinion."""
    said = [event for event in verdict.opinions.values() if event.kind is not Kind.SKIP]
    said += [verdict.settled] if verdict.settled else []
    answered = {event.who for event in said}
    return [*said, *(verdict.remarks[who] for who in verdict.comments if who not in answered)]


def _kind(event: Event) -> str:
    """What an event is called in a file."""
    return "label" if event.kind in NAMING else str(event.kind)


def _line(item: Item, event: Event, verdict: RowVerdict, *, fields: bool) -> ExportedOpinion:
    """An opinion about a row.

    What a file said has no moment of its own: whoever reads the file has it from then on. Of an
    event on several rows only the first was predicted.
    """
    is_first = event.row == item.row
    return ExportedOpinion(
        id=item.id,
        label=event.label if _kind(event) in {"label", "settle"} else None,
        kind=_kind(event),
        who=event.who,
        made=None if event.who == FILE else event.made,
        necessity=event.necessity if is_first else None,
        predicted_label=event.predicted_label if is_first else None,
        final=verdict.label,
        cells=item.cells if fields else (),
    )


def field_names(store: Store, heads: Sequence[str] = HEADS) -> tuple[str, ...]:
    """Names of what is shown of a row, none of them that of something else in a line."""
    return free_names(store.setup().fields, heads)


def free_names(fields: Iterable[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Names of fields to write beside other columns: one that is taken gets another."""
    names = list[str]()
    for given in fields:
        name = given
        while name in {*taken, *names}:
            name = f"{writers.PREFIX}{name}"
        names.append(name)
    return tuple(names)


def export_file(
    store: Store,
    ending: str,
    *,
    fields: bool = True,
    by_class: bool = False,
    verdicts: Mapping[int, RowVerdict] | None = None,
) -> tuple[bytes, int, int]:
    """All opinions as a file of that ending; how many there are, and about how many rows.

    Ids and labels have the type that they were given in, where the format has types.

    Args:
        store: of the campaign.
        ending: one of `WRITERS`.
        fields: whether each line also has what people saw of its row.
        by_class: whether each class also has a column of 0 and 1, where rows have several.
        verdicts: what holds, where that is known; otherwise the journal is replayed.
    """
    lines, setup = exported_opinions(store, fields=fields, verdicts=verdicts), store.setup()
    heads = (*HEADS, COMMENT) if any(line.comment for line in lines) else HEADS
    read = {"id": NameType(setup.id_type).read} | dict.fromkeys(
        ("label", "thought", "final"), NameType(setup.label_type).read
    )
    columns = [
        SheetColumn(
            head,
            [
                cell if cell is None or head not in read else read[head](cell)
                for cell in (getattr(line, ATTRIBUTES.get(head, head)) for line in lines)
            ],
            is_number=head == "necessity",
        )
        for head in heads
    ]
    each = class_columns(store, [line.label for line in lines], heads) if by_class else []
    columns += each
    taken = (*heads, *(one.name for one in each))
    names = field_names(store, taken) if fields else ()
    columns += [
        SheetColumn(name, [line.cells[i] for line in lines]) for i, name in enumerate(names)
    ]
    content = writers.write_sheet(columns, ending)
    return content, len(lines), len({line.id for line in lines})


def write_labels(
    store: Store, to: Path, *, fields: bool = True, by_class: bool = False, force: bool = False
) -> tuple[int, int]:
    """Write all opinions to a file, if it may be; how many they are, and about how many rows.

    Args:
        store: of the campaign.
        to: the file, whose ending is its format.
        fields: whether each line also has what people saw of its row.
        by_class: whether each line also has a column for each class.
        force: whether to write over a file that was not written so.
    """
    ending = writers.ending_of(to, "to")
    check_place(to, "to")
    check_no_source(to, store)
    writers.check_overwritten(to, "to", HEADS, force=force)
    content, answers, about = export_file(store, ending, fields=fields, by_class=by_class)
    write(to, content)
    return answers, about


def check_no_source(to: Path, store: Store) -> None:
    """Refuse to write over a campaign, or over the rows that it is about.

    A campaign knows its source by its content, or by its name if it is beside it.
    """
    kept, setup = file_of(store.url), store.setup()
    named = None
    if kept is not None and kept.name.endswith(ENDING):
        named = kept.with_name(kept.name.removesuffix(ENDING))
    if to.is_file() and digest(to) in {setup.digest, setup.latest_digest}:
        named = to
    check_not_read(to, "to", {"the campaign": kept, "the file that is labelled": named})


def class_columns(
    store: Store, labels: Sequence[str | None], taken: Sequence[str]
) -> list[SheetColumn]:
    """A column of 0 and 1 for each class, empty where there is no label.

    Args:
        store: of a campaign whose rows have several labels; of another it is refused.
        labels: of the lines.
        taken: the columns that there are.
    """
    setup = store.setup()
    if not setup.multi:
        raise ValueError(
            "by_class must be left out where rows have one label; got it. Read the column label."
        )
    classes = store.state().classes(setup.classes)
    names = free_names(classes, taken)
    sets = [None if label is None else set(setup.syntax.members(label)) for label in labels]
    return [
        SheetColumn(name, [None if has is None else str(int(one in has)) for has in sets])
        for name, one in zip(names, classes, strict=True)
    ]


# ---------------------------------------------------------------- in
@dataclass(frozen=True, eq=False)
class _LabelImport:
    """A file that is read into a campaign.

    Attributes:
        path: the file.
        places: of the rows, by their ids.
        state: what holds already.
        now: from when on holds what has no moment of its own.
        keys: idempotency keys of what stands at some places, if that has its own.
    """

    path: Path
    places: Mapping[str, int]
    state: JournalState
    now: int
    keys: Mapping[str, str] = field(default_factory=dict[str, str])

    def refused(self, rule: str, got: object, place: str, remedy: str) -> ValueError:
        """The sentence on what cannot be imported."""
        return ValueError(f"{rule}; got {got} at {place} of {str(self.path)!r}. {remedy}")

    def is_news(self, event: Event) -> bool:
        """Whether an event is not in the journal, and the person does not hold it anyway."""
        verdict = self.state.verdict(-1 if event.row is None else event.row)
        held = verdict.opinions.get(event.who)
        if event.kind is Kind.SETTLE:
            held = verdict.settled
        if event.kind is Kind.COMMENT:
            same = verdict.comments.get(event.who) == text_of(event)
            return not same and event.key not in self.state.events
        if held is None or (held.who, _kind(held)) != (event.who, _kind(event)):
            return event.key not in self.state.events
        label = event.label and self.state.name_of(event.label)
        same = held.label == label and event.made in {held.made, self.now}
        return not same and event.key not in self.state.events


def read_labels(path: Path, store: Store, encoding: str | None = None) -> list[Event]:
    """What a file says that is not known yet, all of it or one sentence on what is wrong.

    Args:
        path: a file with the columns id and label, and maybe kind, who, when, necessity, thought.
        store: of the campaign.
        encoding: of the file's text.
    """
    return labels_of_records(
        path, _records(path, encoding, _columns_of_classes(store, store.state())), store
    )


def labels_of_records(
    path: Path,
    records: Iterable[Record],
    store: Store,
    keys: Mapping[str, str] | None = None,
    *,
    is_open: bool = True,
) -> list[Event]:
    """What the records of a file say that is not known yet, all of it or one sentence.

    Args:
        path: the file.
        records: with the cells that :func:`read_labels` names.
        store: of the campaign.
        keys: idempotency keys of records by where they stand, of those that have their own.
        is_open: whether a label that is no class yet becomes one, where there are two classes.
    """
    reading = _LabelImport(path, store.places(), store.state(), clock(), keys or {})
    found = list[tuple[str, Event]]()
    for place, cells in records:
        said = [_comment(reading, place, cells)] if cells.get(COMMENT) else []
        if cells.get("label") or cells.get("kind") not in {None, "", COMMENT}:
            said.append(_event(reading, place, cells))
        found += [(place, event) for event in said]
    found = _without_cells(store, found)
    _check_one_each(reading, found)
    _check_classes(reading, store.setup().classes, found, is_open=is_open)
    events = {event.key: event for _, event in found if reading.is_news(event)}
    return _with_copies(copy_groups(store), [event for _, event in found], events)


def _without_cells(store: Store, found: Sequence[tuple[str, Event]]) -> list[tuple[str, Event]]:
    """What a file says, without cells of the rows themselves that are called as comments are."""
    fields = store.setup().fields
    if COMMENT not in fields:
        return list(found)
    at, rows = fields.index(COMMENT), {event.row or 0 for _, event in found}
    own = {row: (item.cells[at] or "").strip() for row, item in store.items(rows).items()}
    return [
        (place, event)
        for place, event in found
        if event.kind is not Kind.COMMENT or text_of(event) != own[event.row or 0]
    ]


def _with_copies(
    groups: CopyGroups, found: Sequence[Event], events: Mapping[str, Event]
) -> list[Event]:
    """Events of a file, said of copies too of which the file says nothing for that person.

    Args:
        groups: which rows say the same.
        found: all that the file says.
        events: what of it is new, by key.
    """
    opinions = [event for event in found if event.kind is not Kind.COMMENT]
    named = {(event.who, row) for event in opinions for row in event.rows}
    made = [event for event in events.values() if event.kind is Kind.COMMENT]
    for event in (one for one in events.values() if one.kind is not Kind.COMMENT):
        rows = groups.with_copies(event.rows)
        others = [row for row in rows if (event.who, row) not in named]
        made.append(replace(event, detail=places_detail(others)) if others else event)
    return made


def _columns_of_classes(store: Store, state: JournalState) -> tuple[str, ...]:
    """What the columns of classes are called, where rows have several."""
    is_several = state.syntax is LabelSyntax.SEVERAL
    return state.classes(store.setup().classes) if is_several else ()


def _joined(
    place: str, cells: Mapping[str, str | None], classes: Sequence[str]
) -> dict[str, str | None]:
    """The cells of a row whose classes are columns of 0 and 1, joined to a label."""
    given = {name: (cells[name] or "").strip().lower() for name in classes}
    for name, cell in given.items():
        if cell not in TRUTHS:
            raise ValueError(
                f"columns of classes must hold 0 and 1; got {cell[:40]!r} in {name!r} at {place}. "
                "Correct it, or name a column label."
            )
    said = [TRUTHS[cell] for cell in given.values()]
    if None in said and any(one is not None for one in said):
        raise ValueError(
            f"columns of classes must all be filled in a row, or none; got some at {place}. "
            "Fill them in."
        )
    members = (name for name in classes if TRUTHS[given[name]])
    label = None if None in said else LabelSyntax.SEVERAL.text(members)
    return {**cells, "label": label}


def _records(path: Path, encoding: str | None, classes: Sequence[str] = ()) -> Iterator[Record]:
    """Where something stands in a file that has the columns that are needed, and what.

    Args:
        path: of the file.
        encoding: of its text.
        classes: columns of 0 and 1 that may stand for the label, where rows have several.
    """
    found = readers.read_sheet(path, encoding)
    if classes and "label" not in found.names and {"id", *classes} <= set(found.names):
        for place, cells in found.rows:
            yield place, _joined(place, dict(zip(found.names, cells, strict=True)), classes)
        return
    if not {"id", "label"} <= set(found.names):
        shown = ", ".join(repr(name) for name in found.names[:8])
        raise ValueError(
            f"file must have the columns 'id' and 'label'; got {shown} in {str(path)!r}. "
            "Rename the columns."
        )
    for place, cells in found.rows:
        yield place, dict(zip(found.names, cells, strict=True))


def _event(reading: _LabelImport, place: str, cells: Mapping[str, str | None]) -> Event:
    """What a row of a file says."""
    kind = cells.get("kind") or "label"
    if kind not in KINDS:
        rule = f"kind must be one of {', '.join(KINDS)}"
        raise reading.refused(rule, repr(kind), place, "Correct it, or leave it empty.")
    name = _named(reading, place, cells)
    said = Event(
        key="",
        kind=KINDS[kind],
        who=(cells.get("who") or "").strip() or FILE,
        made=_moment(reading, place, cells.get("when") or ""),
        row=reading.places[name],
        label=_label(reading, place, kind, (cells["label"] or "").strip()),
        necessity=_share(reading, place, cells.get("necessity") or ""),
    )
    event = replace(imported_event(name, said), predicted_label=cells.get("thought") or None)
    return replace(event, key=reading.keys.get(place) or event.key)


def _named(reading: _LabelImport, place: str, cells: Mapping[str, str | None]) -> str:
    """The id in a row of a file."""
    name = cells["id"] or ""
    name = name if name in reading.places else name.strip()
    if name not in reading.places:
        rule = "id must be that of a row of the campaign"
        raise reading.refused(rule, repr(name), place, "Correct it, or take the line out.")
    return name


def _comment(reading: _LabelImport, place: str, cells: Mapping[str, str | None]) -> Event:
    """The comment in a row of a file."""
    name, who = _named(reading, place, cells), (cells.get("who") or "").strip() or FILE
    detail = text_detail(cells[COMMENT] or "")
    made = _moment(reading, place, cells.get("when") or "")
    said = Event("", Kind.COMMENT, who, made, reading.places[name], detail[TEXT])
    event = replace(imported_event(name, said), label=None, detail=detail)
    try:
        check_text(event)
    except RefusedError as error:
        raise ValueError(f"{error} It is at {place} of {str(reading.path)!r}.") from None
    return event


def _label(reading: _LabelImport, place: str, kind: str, label: str) -> str | None:
    """The class that a row of a file names, where its kind names one."""
    if kind in {"unsure", "bad"}:
        if label:
            rule = f"label must be empty where kind is {kind}"
            raise reading.refused(rule, repr(label[:LONGEST_LABEL]), place, "Take it out.")
        return None
    syntax = reading.state.syntax
    for name in syntax.members(label) if label else ("",):
        if not 0 < len(name) <= LONGEST_LABEL:
            rule = f"label must be of 1 to {LONGEST_LABEL} characters"
            raise reading.refused(rule, f"{len(name)}", place, "Correct it.")
    return syntax.clean(label)


def _moment(reading: _LabelImport, place: str, when: str) -> int:
    """Milliseconds since 1970; a moment without a zone is one in UTC."""
    if not when.strip():
        return reading.now
    made = moment(when.strip())
    if made is None:
        rule = "when must be a moment since 1970 such as 2025-01-31T12:00:00Z"
        raise reading.refused(rule, repr(when[:40]), place, "Correct it.")
    return made


def moment(when: str) -> int | None:
    """Milliseconds since 1970 of a moment in a file; None if it is none."""
    made = int(when) if WHOLE.fullmatch(when) else _parsed(when)
    return made if made is not None and 0 <= made <= LATEST else None


def _parsed(when: str) -> int | None:
    """Milliseconds since 1970 of what ISO 8601 has for a moment; None if it is none."""
    try:
        found = dt.datetime.fromisoformat(when)
    except ValueError:
        return None
    return ((found if found.tzinfo else found.replace(tzinfo=dt.UTC)) - EPOCH) // MILLISECOND


def _share(reading: _LabelImport, place: str, text: str) -> float | None:
    """A number from 0 to 1, if there is one."""
    if not text.strip():
        return None
    value = float(text) if writers.NUMBER.fullmatch(text.strip()) else -1.0
    if not 0.0 <= value <= 1.0:
        rule = "necessity must be a number from 0 to 1"
        raise reading.refused(rule, repr(text[:40]), place, "Correct it, or leave it empty.")
    return value


def _check_one_each(reading: _LabelImport, found: Sequence[tuple[str, Event]]) -> None:
    """Refuse two things that a person says of a row at once."""
    first = dict[object, tuple[str, Event]]()
    for place, event in found:
        apart = event.kind if event.kind in {Kind.SETTLE, Kind.COMMENT} else None
        what = event.row, event.who, event.made, apart
        before, known = first.setdefault(what, (place, event))
        if known.key != event.key:
            rule = f"file must say one thing of a row for each person, as it does at {before}"
            remedy = "Take one out, or say when in a column."
            raise reading.refused(rule, "another", place, remedy)


def _check_classes(
    reading: _LabelImport,
    named: Sequence[str],
    found: Sequence[tuple[str, Event]],
    *,
    is_open: bool,
) -> None:
    """Refuse labels that are too many to be classes, or hardly differ from one another.

    Where classes are closed, and there are two to choose from, all other labels are refused.
    """
    known, name_of = set(reading.state.classes(named)), reading.state.name_of
    members = reading.state.syntax.members
    labels = {
        one: place
        for place, event in reversed(found)
        if event.label
        for one in members(name_of(event.label))
    }
    new = labels.keys() - known
    if new and not is_open and len(known) > 1:
        name = min(new, key=lambda one: (labels[one], one))
        rule = f"label must be one of the classes, {', '.join(sorted(known))}"
        remedy = "Correct it, or add it with possibal classes --add."
        raise reading.refused(rule, repr(name), labels[name], remedy)
    for name in sorted(new):
        if reading.state.syntax is LabelSyntax.SEVERAL and name.casefold() == NONE:
            rule = f"label must not be another writing of {NONE!r}, which says that none holds"
            raise reading.refused(rule, repr(name), labels[name], "Correct it.")
        alike = alike_name(name, [*known, *sorted(new)])
        if alike is not None:
            rule = "label must differ from other classes by more than case and blanks"
            got = f"{name!r} beside {alike!r}"
            raise reading.refused(rule, got, labels[name], "Correct one of them.")
    if new and len(known | new) > MOST_CLASSES:
        raise ValueError(
            f"label must be a column of at most {MOST_CLASSES} classes, with those that the "
            f"campaign has; got {len(known | new)} in {str(reading.path)!r}. "
            "Name the right column label."
        )
