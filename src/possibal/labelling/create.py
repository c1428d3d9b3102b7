"""Creation of a stored campaign from ingested rows, all of it or nothing.

with create_campaign(db, intake, options) as store: ...    feature_recipe(store) -> FeatureRecipe
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from possibal.arguments import DEFAULT_STRATEGY, at_least, choice
from possibal.data.name_types import NameType
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Contents, Item, Setup, Store, clock
from possibal.processes import collector_paused

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from possibal.data.features import FeatureRecipe
    from possibal.data.ingest import IngestedRows

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
        at_least("seed", self.seed, 0)
        at_least("people", self.people, 1)
        at_least("check", self.check, 0)


def create_campaign(
    db: str,
    intake: "IngestedRows",
    options: Options,
    *,
    id_type: str = NameType.TEXT,
    label_type: str = NameType.TEXT,
) -> Store:
    """A new campaign of a file's rows, all of it or nothing."""
    if options.check > len(intake.ids) // 2:
        raise ValueError(
            f"check must be at most {len(intake.ids) // 2}, half of the rows; "
            f"got {options.check}. Check fewer."
        )
    setup = Setup(
        name=intake.name,
        kind=intake.kind,
        rows=len(intake.ids),
        fields=intake.fields,
        text=intake.text,
        folder=intake.folder,
        classes=intake.classes,
        strategy=options.strategy,
        seed=options.seed,
        people=options.people,
        check=options.check,
        recipe=intake.recipe.document(),
        digest=intake.digest,
        notes=intake.notes,
        id_type=id_type,
        label_type=label_type,
    )
    with collector_paused():
        return Store.create(db, setup, _contents(intake))


def _contents(intake: "IngestedRows") -> Contents:
    """The rows, the numbers and the labels of a file."""
    media = intake.media or [None] * len(intake.ids)
    rows = enumerate(zip(intake.ids, intake.cells, media, strict=True))
    items = [Item(row, name, cells, picture) for row, (name, cells, picture) in rows]
    kept = {f"{PART}{name}": array for name, array in intake.recipe.arrays().items()}
    labels = [(row, label) for row, label in enumerate(intake.labels) if label is not None]
    now = clock()
    events = [
        imported_event(intake.ids[row], Event("", Kind.IMPORT, FILE, now, row, to))
        for row, to in labels
    ]
    return Contents(items, {"X": intake.X, **kept}, events)


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
