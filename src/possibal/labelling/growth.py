"""Growth of a pool: what a source has that a campaign has not, and the campaign that takes it in.

    changes = compare(store, rows)        grow(store, rows, changes)

Rows are compared by their ids. New ones join at the end, changed ones are read anew, and those that
are missing are not asked about any more; labels stay.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from possibal.data.copies import CopyGroups, is_copy_note
from possibal.data.decoding import Progress, no_progress
from possibal.data.name_types import NameType, written
from possibal.data.schema import ColumnKind
from possibal.data.source import SourceSpec
from possibal.labelling.create import (
    COPIES,
    FILE,
    copy_groups,
    feature_recipe,
    imported_event,
    items_and_labels,
    shared_events,
)
from possibal.labelling.storage.journal import Event, Kind, replay
from possibal.labelling.storage.store import Contents, Item, Setup, Store, clock

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from possibal.data.features import FeatureRecipe
    from possibal.data.ingest import SourceRows
    from possibal.embedding.computing import ProjectedRows

ROLES = {
    "label": "label",
    "id": "id",
    "text": "text",
    "image": "picture",
    "leave_out": "left out",
}
"""What users say of columns, and the kind that a column then has."""
NOT_LEARNT = {"label", "id", "left out"}
"""Kinds of columns that are not learnt from."""
SHOWN = 5
"""Rows of each kind that are listed."""
SAME_PICTURE = 1e-6
"""Features of a picture differ by less where it is the same."""
SAME_EMBEDDING = 1e-3
"""The same of embeddings, of which machines round the last digits in different ways."""


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
        encoder=wanted.encoder,
        cache=wanted.cache,
        no_roles=tuple(name for name, kind, _ in setup.columns if kind not in {"id", "label"}),
        multi=setup.multi,
    )


def _old_spec(setup: Setup, wanted: SourceSpec) -> SourceSpec:
    """The same for a campaign that was begun before columns were kept, but for that of texts.

    What was shown then was neither a name nor a label, whatever would be made of it today.
    """
    texts = wanted.text or (() if setup.text is None else (setup.text,))
    shown = [name for name in setup.fields if name not in texts]
    kinds = dict.fromkeys(shown, str(ColumnKind.LEFT_OUT))
    return replace(wanted, text=texts, use=(), leave_out=(), kinds=kinds)


# ---------------------------------------------------------------- what stays
def kept_roles(setup: Setup, wanted: SourceSpec) -> Iterator[str]:
    """What is said of roles of columns that stay as when the campaign began, a line for each."""
    if not setup.columns:  # begun before columns were kept, so that nobody knows
        return
    kinds = {column: kind for column, kind, _ in setup.columns}
    for name, kind in ROLES.items():
        given = getattr(wanted, name)
        columns = _split((given,) if isinstance(given, str) else given or ())
        if any(kinds.get(column) != kind for column in columns):
            yield f"{name} stays as when the campaign began; {', '.join(columns)} is not taken."
    others = [name for name, kind in wanted.kinds.items() if kinds.get(name) != kind]
    learnt = {name for name, kind in kinds.items() if kind not in NOT_LEARNT}
    named = {*_split(wanted.use), *_split(wanted.text), wanted.image}
    others += sorted(learnt - named) if wanted.use else []
    if others:
        yield f"columns stay as when the campaign began; so do {', '.join(others)}."


def kept_copies(store: Store, wanted: SourceSpec) -> list[str]:
    """That copies stay together, where somebody wants them apart now."""
    is_kept = not wanted.copies and COPIES in store.array_names()
    return ["copies stay together, as when the campaign began."] if is_kept else []


def _split(names: Sequence[str]) -> list[str]:
    """Names of columns, of which one entry may hold several."""
    return [part.strip() for one in names for part in one.split(",")]


# ---------------------------------------------------------------- comparing
def compare(store: Store, rows: "SourceRows", wanted: SourceSpec) -> PoolChanges:
    """What changed between a campaign and a source, or one sentence on a source of other rows.

    Args:
        store: of the campaign.
        rows: of the source.
        wanted: the user's own encoder, and the cache of embeddings.
    """
    setup, items = store.setup(), store.items()
    if rows.fields != setup.fields or rows.kind != setup.kind:
        raise _other(rows, f"the columns {', '.join(map(repr, rows.fields[:8])) or 'of pictures'}")
    places = {item.id: row for row, item in items.items()}
    names = _names(setup, places, rows)
    known = {places[name]: place for place, name in enumerate(names) if name in places}
    if not known:
        raise _other(rows, "no row of it")
    state = store.state()
    gone = {row for row, verdict in state.verdicts.items() if verdict.is_gone}
    said = {row: rows.labels[place] for row, place in known.items()}
    other = [
        row
        for row, label in said.items()
        if label is not None and state.name_of(label) != state.labels.get(row)
    ]
    changed = _changed(store, items, (rows, wanted), known)
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
    store: Store,
    items: dict[int, Item],
    source: tuple["SourceRows", SourceSpec],
    known: dict[int, int],
) -> list[int]:
    """Places in the campaign of rows whose cells or picture changed."""
    rows, wanted = source
    changed = {row for row, place in known.items() if items[row].cells != rows.cells[place]}
    if rows.pictures is not None and known:
        from possibal.data.ingest import source_features

        X, recipe = store.array("X"), feature_recipe(store)
        found = source_features(recipe, rows.part(list(known.values())), wanted)
        _check_sound(found)
        is_embedded = any(part.embedder for part in recipe.parts or (recipe,))
        least = SAME_EMBEDDING if is_embedded else SAME_PICTURE
        differ = np.abs(found.X - X[list(known)]).max(axis=1) > least
        changed |= {row for row, differs in zip(known, differ, strict=True) if differs}
    return sorted(changed)


def _check_sound(found: "ProjectedRows") -> None:
    """Refuse rows of a campaign whose picture cannot be read any more."""
    for sentence in found.failures.values():
        raise ValueError(sentence)


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
def grow(
    store: Store,
    rows: "SourceRows",
    changes: PoolChanges,
    wanted: SourceSpec,
    progress: Progress = no_progress,
) -> tuple[str, ...]:
    """Take the rows of a source into a campaign, all of it or nothing; what is to be said of it.

    Args:
        store: of the campaign.
        rows: of the source.
        changes: what it has that the campaign has not.
        wanted: the user's own encoder, and the cache of embeddings.
        progress: given the share done.
    """
    from possibal.data.ingest import left_out_notes, source_features

    setup, X, recipe = store.setup(), store.array("X"), feature_recipe(store)
    if recipe.kind == "own":
        raise ValueError(
            "file must be the one that the campaign was begun with, because its numbers are your "
            f"own; got {changes.summary[:-1]!r}. Begin another campaign, and import the labels."
        )
    new = np.empty((0, X.shape[1]))
    places, failures, changed = list(changes.new), dict[int, str](), changes.changed
    if places:
        found = source_features(recipe, rows.part(places), wanted, progress)
        sound, failures = [i for i in range(len(places)) if i not in found.failures], found.failures
        places, new = [places[i] for i in sound], found.X[sound]
    items, labels = items_and_labels(rows.part(places), first=len(X))
    names = _names(setup, store.places(), rows)
    items = [replace(item, id=names[place]) for item, place in zip(items, places, strict=True)]
    renewed = [
        replace(item, row=row, id=names[place])
        for (row, place), item in zip(
            changed.items(), items_and_labels(rows.part(list(changed.values())))[0], strict=True
        )
    ]
    grown = np.vstack([X, new])
    if changed:
        found = source_features(recipe, rows.part(list(changed.values())), wanted)
        _check_sound(found)
        grown[list(changed)] = found.X
    later = replace(
        setup,
        rows=len(grown),
        begun=setup.begun or setup.rows,
        latest_digest=rows.digest,
        folder=str(rows.pictures.folder) if rows.pictures else setup.folder,
    )
    joining = Contents(items, {"X": grown}, [*labels, *_absences(store, changes)])
    joining, notes = _with_copies(store, (rows, recipe), joining, renewed)
    store.extend(replace(later, notes=notes), joining, renewed)
    return left_out_notes(failures)


def _with_copies(
    store: Store,
    source: tuple["SourceRows", "FeatureRecipe"],
    contents: Contents,
    renewed: Sequence[Item],
) -> tuple[Contents, tuple[str, ...]]:
    """Rows that join with what others that say the same have, and the notes of the campaign.

    Args:
        store: of the campaign.
        source: its rows, and how they become numbers.
        contents: the rows that join, and what is known of rows.
        renewed: rows that changed.
    """
    from possibal.data.ingest import source_copies

    if COPIES not in store.array_names():
        return contents, store.setup().notes
    state = replay([*store.events(), *contents.events], store.setup().syntax)
    items = store.items() | {item.row: item for item in contents.items}
    places = {item.id: row for row, item in items.items()}
    names = _names(store.setup(), store.places(), source[0])
    there = [place for place, name in enumerate(names) if name in places]
    found = source_copies(source[0].part(there), source[1], np.empty((0, 0)))
    same, first = np.arange(len(places)), dict[int, int]()
    for at, place in enumerate(there if found else ()):
        row = places[names[place]]
        same[row] = first.setdefault(found.leader(at) if found else at, row)
    joining = {item.row for item in (*contents.items, *renewed)}
    lost = {row for row, verdict in state.verdicts.items() if verdict.is_gone}
    now = CopyGroups(same) if found is None else replace(found, leaders=same)
    groups = copy_groups(store).grown(now, joining, lost, state.labels)
    leaders = {groups.leader(row) for row in joining}  # each once: a group may be very large
    touched = [items[row] for row in sorted(groups.whole_groups(leaders))]
    shared = shared_events(state, groups, touched, joining)
    arrays = {**contents.arrays, COPIES: groups.leaders}
    kept = tuple(note for note in store.setup().notes if not is_copy_note(note))
    joined = Contents(contents.items, arrays, [*contents.events, *shared])
    return joined, (*kept, *groups.notes)


def _absences(store: Store, changes: PoolChanges) -> list[Event]:
    """Events that say which rows are gone, and which are back."""
    now, names, state = clock(), store.items(), store.state()
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
