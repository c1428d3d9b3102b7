"""Growth of a pool: what a source has that a campaign has not, and the campaign that takes it in.

    changes = compare(store, rows)        grow(store, rows, changes)

Rows are compared by their ids. New ones join at the end, changed ones are read anew, and those that
are missing are not asked about any more; labels stay.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from possibal.data.name_types import NameType, written
from possibal.data.schema import ColumnKind
from possibal.data.source import SourceSpec
from possibal.labelling.create import FILE, feature_recipe, imported_event, items_and_labels
from possibal.labelling.storage.journal import Event, Kind, replay
from possibal.labelling.storage.store import Contents, Item, Setup, Store, clock

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from possibal.data.ingest import SourceRows

SHOWN = 5
"""Rows of each kind that are listed."""
SAME_PICTURE = 1e-6
"""Features of a picture differ by less where it is the same."""


@dataclass(frozen=True)
class PoolChanges:
    """What a source has that a campaign has not, and the other way round.

    Attributes:
        new: places in the source of rows that join.
        changed: places in the source of rows whose cells or picture changed, by their places in
            the campaign.
        missing: places in the campaign of rows that the source has no more.
        returned: places in the campaign of rows that were missing, and are there again.
        sentences: what changed or is missing, a line for each of the first rows.
        relabelled: how many rows the campaign knows have another label in the source, or only
            there; these labels are not taken.
    """

    new: tuple[int, ...] = ()
    changed: dict[int, int] = field(default_factory=dict[int, int])
    missing: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()
    sentences: tuple[str, ...] = ()
    relabelled: int = 0

    @property
    def needs_consent(self) -> bool:
        """Whether rows changed or are missing; that some are new needs none."""
        return bool(self.changed or self.missing)

    @property
    def summary(self) -> str:
        """How many rows are new, changed, missing and back."""
        counts = {
            "new": len(self.new),
            "changed": len(self.changed),
            "missing": len(self.missing),
            "back": len(self.returned),
        }
        said = [f"{count} {what}" for what, count in counts.items() if count]
        return f"Rows since last time: {', '.join(said) or 'the same'}."

    @property
    def labels_not_taken(self) -> str:
        """What is to be said of labels that the source has and the campaign has not; else empty."""
        if not self.relabelled:
            return ""
        rows = "1 row has" if self.relabelled == 1 else f"{self.relabelled} rows have"
        return (
            f"{rows} another label in the source than in the campaign, whose labels stay. "
            "Bring them in with possibal import."
        )


# ---------------------------------------------------------------- reading
def pool_spec(setup: Setup, wanted: SourceSpec) -> SourceSpec:
    """How a source is to be read so that its columns are those that the campaign began with."""
    if not setup.columns:
        return _old_spec(setup, wanted)
    by_kind = {kind: [n for n, k, _ in setup.columns if k == kind] for _, kind, _ in setup.columns}
    one = {kind: (by_kind.get(kind) or [None])[0] for kind in ("label", "id", "picture")}
    texts = tuple(by_kind.get("text", ()))
    return replace(
        SourceSpec(wanted.source, one["label"], one["id"], texts, one["picture"]),
        encoding=wanted.encoding,
        features=wanted.features,
        no_ids=tuple(name for name, kind, _ in setup.columns if kind != "id"),
    )


def _old_spec(setup: Setup, wanted: SourceSpec) -> SourceSpec:
    """The same for a campaign that was begun before columns were kept, but for that of texts.

    What was shown then was neither a name nor a label, whatever would be made of it today.
    """
    texts = wanted.text or (() if setup.text is None else (setup.text,))
    shown = [name for name in setup.fields if name not in texts]
    kinds = dict.fromkeys(shown, str(ColumnKind.LEFT_OUT))
    return replace(wanted, text=texts, use=(), leave_out=(), kinds=kinds)


# ---------------------------------------------------------------- comparing
def compare(store: Store, rows: "SourceRows") -> PoolChanges:
    """What changed between a campaign and a source, or one sentence on a source of other rows."""
    setup, items = store.setup(), store.items()
    if rows.fields != setup.fields or rows.kind != setup.kind:
        raise _other(rows, f"the columns {', '.join(map(repr, rows.fields[:8])) or 'of pictures'}")
    places = {item.id: row for row, item in items.items()}
    names = _names(setup, places, rows)
    known = {places[name]: place for place, name in enumerate(names) if name in places}
    if not known:
        raise _other(rows, "no row of it")
    state = replay(store.events())
    gone = {row for row, verdict in state.verdicts.items() if verdict.is_gone}
    said = {row: rows.labels[place] for row, place in known.items()}
    other = [
        row
        for row, label in said.items()
        if label is not None and state.name_of(label) != state.labels.get(row)
    ]
    changed = _changed(store, items, rows, known)
    missing = [row for row in items if row not in known and row not in gone]
    return PoolChanges(
        tuple(place for place, name in enumerate(names) if name not in places),
        {row: known[row] for row in changed},
        tuple(missing),
        tuple(sorted(gone & known.keys())),
        (*_told_changes(setup, items, rows, changed, known), *_told_missing(items, missing)),
        len(other),
    )


def _names(setup: Setup, places: dict[str, int], rows: "SourceRows") -> list[str]:
    """What rows of a source are called in a campaign."""
    counts = rows.roles.id is None and rows.ids == tuple(range(len(rows.ids)))
    if counts and counts_from_one(setup, places):
        return [str(place + 1) for place in range(len(rows.ids))]
    return [written(name) for name in rows.ids]


def counts_from_one(setup: Setup, places: Mapping[str, int]) -> bool:
    """Whether rows are called by their places from 1 on, as before they were counted from 0."""
    is_text = setup.id_type == NameType.TEXT
    return is_text and all(name == str(row + 1) for name, row in places.items())


def _changed(
    store: Store, items: dict[int, Item], rows: "SourceRows", known: dict[int, int]
) -> list[int]:
    """Places in the campaign of rows whose cells or picture changed."""
    changed = {row for row, place in known.items() if items[row].cells != rows.cells[place]}
    if rows.pictures is not None and known:
        from possibal.data.ingest import source_features

        X, recipe = store.array("X"), feature_recipe(store)
        found = source_features(recipe, rows.part(list(known.values())))
        differ = np.abs(found - X[list(known)]).max(axis=1) > SAME_PICTURE
        changed |= {row for row, differs in zip(known, differ, strict=True) if differs}
    return sorted(changed)


def _told_changes(
    setup: Setup,
    items: dict[int, Item],
    rows: "SourceRows",
    changed: Sequence[int],
    known: dict[int, int],
) -> list[str]:
    """The first changed rows, each with the first cell that changed."""
    told = list[str]()
    for row in changed[:SHOWN]:
        pairs = zip(setup.fields, items[row].cells, rows.cells[known[row]], strict=True)
        differ = next(((name, old, new) for name, old, new in pairs if old != new), None)
        what = "its picture" if differ is None else "{}: {!r} is now {!r}".format(*differ)
        told.append(f"row {items[row].id} changed, {what}.")
    return [*told, *_and_more(len(changed), "changed")]


def _told_missing(items: dict[int, Item], missing: Sequence[int]) -> list[str]:
    """The first missing rows."""
    told = [f"row {items[row].id} is missing." for row in missing[:SHOWN]]
    return [*told, *_and_more(len(missing), "are missing")]


def _and_more(count: int, what: str) -> list[str]:
    """How many are not listed."""
    return [f"{count - SHOWN} more {what}."] if count > SHOWN else []


def _other(rows: "SourceRows", got: str) -> ValueError:
    """The sentence on a source that is another one."""
    return ValueError(
        "pool must be the one that the campaign was begun with, or have its rows and more; "
        f"got {got} in {rows.name!r}. Name its columns as then, or choose another place for "
        "its answers."
    )


# ---------------------------------------------------------------- growing
def grow(store: Store, rows: "SourceRows", changes: PoolChanges) -> None:
    """Take the rows of a source into a campaign, all of it or nothing."""
    from possibal.data.ingest import source_features

    setup, X, recipe = store.setup(), store.array("X"), feature_recipe(store)
    if recipe.kind == "own":
        raise ValueError(
            "file must be the one that the campaign was begun with, because its numbers are your "
            f"own; got {changes.summary[:-1]!r}. Begin another campaign, and import the labels."
        )
    joining = rows.part(changes.new)
    items, labels = items_and_labels(joining, first=len(X))
    names = _names(setup, store.places(), rows)
    items = [replace(item, id=names[place]) for item, place in zip(items, changes.new, strict=True)]
    changed = changes.changed
    renewed = [
        replace(item, row=row, id=names[place])
        for (row, place), item in zip(
            changed.items(), items_and_labels(rows.part(list(changed.values())))[0], strict=True
        )
    ]
    new = source_features(recipe, joining) if changes.new else np.empty((0, X.shape[1]))
    grown = np.vstack([X, new])
    if changed:
        grown[list(changed)] = source_features(recipe, rows.part(list(changed.values())))
    later = replace(
        setup,
        rows=len(grown),
        begun=setup.begun or setup.rows,
        latest_digest=rows.digest,
        folder=str(rows.pictures.folder) if rows.pictures else setup.folder,
    )
    events = [*labels, *_absences(store, changes)]
    store.extend(later, Contents(items, {"X": grown}, events), renewed)


def _absences(store: Store, changes: PoolChanges) -> list[Event]:
    """Events that say which rows are gone, and which are back."""
    now, names, state = clock(), store.items(), replay(store.events())
    events = [
        imported_event(names[row].id, Event("", Kind.GONE, FILE, now, row))
        for row in changes.missing
    ]
    for row in changes.returned:
        target = state.verdict(row).gone
        if target is not None:
            back = Event("", Kind.UNDO, FILE, now, target=target.key)
            events.append(replace(imported_event(names[row].id, back), target=target.key))
    return events
