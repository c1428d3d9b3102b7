"""Creation of a stored campaign from ingested rows, all of it or nothing.

with create_campaign(db, intake, options) as store: ...    feature_recipe(store) -> FeatureRecipe
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from possibal.arguments import DEFAULT_STRATEGY, suggest, whole
from possibal.arrays import Places
from possibal.data.copies import CopyGroups
from possibal.data.label_sets import LabelSyntax, check_texts
from possibal.data.name_types import name_type, written
from possibal.errors import PluginError
from possibal.labelling.storage.journal import (
    COPY_OF,
    NAMING,
    Event,
    JournalState,
    Kind,
    replay,
)
from possibal.labelling.storage.store import INCOMPLETE, Contents, Item, Setup, Store, clock
from possibal.processes import collector_paused

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from possibal.data.features import FeatureRecipe
    from possibal.data.ingest import IngestedRows, SourceRows

FILE = "file"
"""Who gave the labels that a file came with."""
PART = "recipe."
"""What the names of a recipe's arrays begin with."""
COPIES, CHECK = "copies", "check"
"""Arrays: the row that is asked in the stead of each, and the check rows of the start."""


@dataclass(frozen=True)
class Options:
    """How a campaign is to be run; bad values are refused at once.

    Attributes:
        strategy: what is asked first.
        seed: the same seed asks the same questions.
        people: how many are to answer each row.
        check: how many rows, drawn at random, only measure the model.
        blind: whether people answer without seeing what others or the model say of a row; None
            for where several answer each row, so that their agreement means something.
        find: the class of which nearly all rows are to be found; empty for none.
        multi: whether a row may have several of the classes, one or none.
    """

    strategy: str = DEFAULT_STRATEGY
    seed: int = 0
    people: int = 1
    check: int = 0
    blind: bool | None = None
    find: str = ""
    multi: bool = False

    def __post_init__(self) -> None:
        """Check what can be known before any file is read."""
        if self.multi and self.find:
            raise ValueError(
                "find must be left out where rows have several labels; "
                f"got {self.find!r}. Label with one label a row to find a class."
            )
        check_strategy(self.strategy)
        whole("seed", self.seed, 0)
        whole("people", self.people, 1)
        whole("check", self.check, 0)


def check_strategy(name: str) -> None:
    """Refuse a strategy that is neither ours nor a plug-in's that is installed."""
    if name != DEFAULT_STRATEGY:  # SciPy takes half a second to import
        from possibal.acquisition.registry import find_strategy

        find_strategy(name)


def check_kept_strategy(setup: Setup) -> None:
    """Refuse to go on with a campaign whose strategy is a plug-in's that is gone."""
    try:
        check_strategy(setup.strategy)
    except PluginError:
        raise
    except ValueError:
        raise ValueError(
            f"strategy must be installed, as when the campaign began; got {setup.strategy!r}. "
            "Install the distribution that has it (possibal plugins lists what there is)."
        ) from None


def create_campaign(db: str, intake: "IngestedRows", options: Options) -> Store:
    """A new campaign of a file's rows, all of it or nothing."""
    copies = intake.copies.copies if intake.copies else ()
    most = (len(intake.ids) - len(copies)) // 2
    if options.check > most:  # the first rows of many are enough for all of them
        asked = " that are asked" if copies else ""
        raise ValueError(
            f"check must be at most {most}, half of the rows{asked}; "
            f"got {options.check}. Check fewer."
        )
    check_sought(options.find, intake.source.classes)
    if options.multi:
        check_texts("classes", intake.source.classes)
    with collector_paused():
        return Store.create(db, _setup(intake, options), _contents(intake, options))


def check_sought(find: str, classes: Sequence[str]) -> None:
    """Refuse a class to find that is none of those that are named.

    Args:
        find: the class; empty for none.
        classes: those that there are; fewer than two are learnt from the answers.
    """
    if find and len(classes) > 1 and find not in classes:  # others may be added by an answer
        known = ", ".join(classes)
        remedy = suggest(find, classes, "Name one of these.")
        raise ValueError(f"find must be one of the classes, {known}; got {find!r}. {remedy}")


def _setup(intake: "IngestedRows", options: Options) -> Setup:
    """What a campaign is begun with."""
    rows = intake.source
    return Setup(
        name=rows.name,
        kind=rows.kind,
        rows=len(rows.ids),
        fields=rows.fields,
        text=rows.text,
        folder=str(rows.pictures.folder) if rows.pictures else None,
        classes=rows.classes,
        strategy=options.strategy,
        seed=options.seed,
        people=options.people,
        check=options.check,
        blind=options.people > 1 if options.blind is None else options.blind,
        recipe=intake.recipe.document(),
        digest=rows.digest,
        notes=intake.notes,
        columns=tuple((one.name, str(one.kind), one.note) for one in intake.columns),
        id_type=name_type("ids", rows.ids),
        label_type=rows.label_type,
        hidden_folders=rows.hides_folders,
        find=options.find,
        multi=options.multi,
        begun=0 if intake.whole is None else len(rows.ids),
        latest_digest="" if intake.whole is None else INCOMPLETE,
    )


def _contents(intake: "IngestedRows", options: Options) -> Contents:
    """The rows, the numbers and the labels of a file, which copies share."""
    kept = {f"{PART}{name}": array for name, array in intake.recipe.arrays().items()}
    items, events = items_and_labels(intake.source)
    groups = intake.copies
    if groups is not None:
        check = first_check_rows(groups, options.seed, options.check)
        kept |= {COPIES: groups.leaders, CHECK: check}
        grouped = groups.grouped
        copied = [items[row] for row in grouped]
        state = replay(events, LabelSyntax.of(multi=options.multi))
        events += shared_events(state, groups, copied, set(grouped))
    return Contents(items, {"X": intake.X, **kept}, events)


def first_check_rows(groups: CopyGroups, seed: int, count: int) -> Places:
    """Places of so many check rows, drawn at random from the rows that are asked."""
    order = np.random.default_rng([seed, crc32(b"check")]).permutation(len(groups.leaders))
    return order[groups.leaders[order] == order][:count]


def shared_events(
    state: JournalState, groups: CopyGroups, items: Iterable[Item], sources: Container[int]
) -> list[Event]:
    """What was said of rows, said of those too that say the same and of which nothing was said.

    Args:
        state: what holds.
        groups: which rows say the same.
        items: rows that may get what others have.
        sources: these others, beside the rows that are asked.
    """
    made, known = list[Event](), dict[int, int | None]()
    for item in items:
        leader = groups.leader(item.row)
        if leader not in known:  # a group may have very many rows
            others = (row for row in groups.others(leader) if row in sources)
            said = (row for row in (leader, *others) if state.verdict(row).opinions)
            known[leader] = next(said, None)
        source = known[leader]
        if source is not None and not state.verdict(item.row).opinions:
            made += _copied_events(state, item, source)
    return made


def _copied_events(state: JournalState, item: Item, source: int) -> list[Event]:
    """What was said of a row, but for skips, said of another in the same person's name.

    Whoever takes back the one takes back the other.
    """
    verdict, made = state.verdict(source), list[Event]()
    said = [event for event in verdict.opinions.values() if event.kind is not Kind.SKIP]
    for event in (*said, *filter(None, [verdict.settled])):
        kind = Kind.IMPORT if event.kind in NAMING else event.kind
        copy = imported_event(item.id, replace(event, kind=kind, row=item.row, necessity=None))
        made.append(replace(copy, detail={COPY_OF: (event.detail or {}).get(COPY_OF, event.key)}))
    return made


def copy_groups(store: Store) -> CopyGroups:
    """Which rows of a campaign say the same; none where it was begun without."""
    if COPIES not in store.array_names():
        return CopyGroups.apart(store.setup().rows)
    return CopyGroups(store.array(COPIES))


def items_and_labels(rows: "SourceRows", first: int = 0) -> tuple[list[Item], list[Event]]:
    """Rows of a source as a campaign keeps them, and the labels that they came with.

    Args:
        rows: of a source.
        first: the place of the first of them.
    """
    names = [written(name) for name in rows.ids]
    media = rows.pictures.names if rows.pictures else [None] * len(names)
    parts = enumerate(zip(names, rows.cells, media, strict=True), start=first)
    items = [Item(row, name, cells, picture) for row, (name, cells, picture) in parts]
    now = clock()
    events = [
        imported_event(item.id, Event("", Kind.IMPORT, FILE, now, item.row, label))
        for item, label in zip(items, rows.labels, strict=True)
        if label is not None
    ]
    return items, events


def imported_event(name: str, event: Event) -> Event:
    """An event of a file; its idempotency key is a hash of what it says."""
    said = "\0".join([name, event.kind, event.who, str(event.made), event.label or ""])
    key = sha256(said.encode()).hexdigest()[:32]
    return Event(
        key, event.kind, event.who, event.made, event.row, event.label, None, event.necessity
    )


def feature_recipe(store: Store) -> "FeatureRecipe":
    """How the rows of a campaign became numbers, and how new ones do."""
    from possibal.data.features import FeatureRecipe

    arrays = {name.removeprefix(PART): a for name, a in store.arrays(PART).items()}
    return FeatureRecipe.restored(store.setup().recipe, arrays)
