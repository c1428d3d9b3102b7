"""Creation of a stored campaign from ingested rows, all of it or nothing.

with create_campaign(db, intake, options) as store: ...    feature_recipe(store) -> FeatureRecipe
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from possibal.arguments import DEFAULT_STRATEGY, choice, whole
from possibal.data.name_types import name_type, written
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Contents, Item, Setup, Store, clock
from possibal.processes import collector_paused

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from possibal.data.features import FeatureRecipe
    from possibal.data.ingest import IngestedRows, SourceRows

FILE = "file"
"""Who gave the labels that a file came with."""
PART = "recipe."
"""What the names of a recipe's arrays begin with."""


@dataclass(frozen=True)
class Options:
    """How a campaign is to be run; bad values are refused at once.

    Attributes:
        strategy: what is asked first.
        seed: the same seed asks the same questions.
        people: how many are to answer each row.
        check: how many rows, drawn at random, only measure the model.
    """

    strategy: str = DEFAULT_STRATEGY
    seed: int = 0
    people: int = 1
    check: int = 0

    def __post_init__(self) -> None:
        """Check what can be known before any file is read."""
        if self.strategy != DEFAULT_STRATEGY:  # SciPy takes half a second to import
            from possibal.acquisition.registry import STRATEGIES

            choice("strategy", self.strategy, STRATEGIES)
        whole("seed", self.seed, 0)
        whole("people", self.people, 1)
        whole("check", self.check, 0)


def create_campaign(db: str, intake: "IngestedRows", options: Options) -> Store:
    """A new campaign of a file's rows, all of it or nothing."""
    if options.check > len(intake.ids) // 2:
        raise ValueError(
            f"check must be at most {len(intake.ids) // 2}, half of the rows; "
            f"got {options.check}. Check fewer."
        )
    with collector_paused():
        return Store.create(db, _setup(intake, options), _contents(intake))


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
        recipe=intake.recipe.document(),
        digest=rows.digest,
        notes=intake.notes,
        columns=tuple((one.name, str(one.kind), one.note) for one in intake.columns),
        id_type=name_type("ids", rows.ids),
        label_type=rows.label_type,
        hidden_folders=rows.hides_folders,
    )


def _contents(intake: "IngestedRows") -> Contents:
    """The rows, the numbers and the labels of a file."""
    kept = {f"{PART}{name}": array for name, array in intake.recipe.arrays().items()}
    items, events = items_and_labels(intake.source)
    return Contents(items, {"X": intake.X, **kept}, events)


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

    arrays = {name.removeprefix(PART): a for name, a in store.arrays().items() if name != "X"}
    return FeatureRecipe.restored(store.setup().recipe, arrays)
