"""The pool of a stored campaign as Python gives it: its rows, their names, types and encoding.

ingest_pool(frame, PoolSpec(ids="doc_id"), model) -> PoolIntake
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard

from possibal.campaign.encoding import (
    ColumnChoice,
    RowEncoding,
    is_table,
    label_column,
    label_type,
    without_columns,
)
from possibal.campaign.row_ids import Ids, row_ids
from possibal.data.encoders import find_column
from possibal.data.features import FeatureRecipe
from possibal.data.frames import from_frame
from possibal.data.ingest import IngestedRows, ingest_file, ingest_frame
from possibal.data.name_types import NameType, name_type, written
from possibal.data.schema import clean
from possibal.data.source import digest
from possibal.estimators import validation
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.pipeline import PossibilisticPipeline
from possibal.labelling.storage.store import Store

OWN = "own"
"""The kind of a recipe whose numbers are the user's."""


@dataclass(frozen=True)
class PoolSpec:
    """What the user says about a pool.

    Attributes:
        ids: names of the rows, or the column that has them.
        roles: of the columns.
        classes: all labels there may be.
    """

    ids: Ids = None
    roles: ColumnChoice = field(default_factory=ColumnChoice)
    classes: Sequence[Hashable] = ()


@dataclass(frozen=True, eq=False)
class PoolIntake:
    """A pool that can be stored.

    Attributes:
        rows: as people see them and as numbers.
        id_type: of the names of rows.
        label_type: of the labels.
        source: the frame, if it was one.
        label: the column of labels in it.
        encoding: of new rows, where a pipeline of the user's own does it.
    """

    rows: IngestedRows
    id_type: NameType
    label_type: NameType
    source: object = None
    label: str | None = None
    encoding: RowEncoding | None = None


def ingest_pool(
    pool: Any,  # noqa: ANN401 - frames of several libraries
    given: PoolSpec,
    model: PossibilisticGPClassifier | PossibilisticPipeline,
) -> PoolIntake:
    """The rows of a file, a frame or an array, with the names that the user gives them.

    Args:
        pool: the path of a file, a frame of any library, or a two-dimensional array.
        given: what is said about it.
        model: a classifier, or a pipeline whose transformers make the numbers.
    """
    labels = name_type("classes", given.classes)
    spec = given.roles.spec(tuple(map(written, given.classes)))
    if isinstance(pool, str | Path):
        _check_file(given, model)
        intake = ingest_file(replace(spec, source=Path(pool)), _silent)
        return PoolIntake(intake, NameType.TEXT, labels)
    intake = ingest_frame(pool, spec)
    names = row_ids(pool, given.ids, len(intake.ids))
    rows = replace(intake, ids=_written_ids(names))
    label = label_column(pool, given.roles, intake.labels)
    if not given.classes and label is not None:
        labels = _column_type(pool, label)
    source = pool if is_table(pool) else None
    found = PoolIntake(rows, name_type("ids", names), labels, source, label)
    return _piped(found, model, pool, given.roles) if _is_pipeline(model) else found


def _is_pipeline(model: object) -> TypeGuard[PossibilisticPipeline]:
    """Whether rows are to be transformed by the user's own steps."""
    return isinstance(model, PossibilisticPipeline)


def _piped(
    intake: PoolIntake,
    model: PossibilisticPipeline,
    pool: Any,  # noqa: ANN401 - as above
    roles: ColumnChoice,
) -> PoolIntake:
    """The same rows with the numbers that a pipeline makes of them."""
    dropped = tuple(roles.named)
    pipeline, made = model.fitted_to_pool(without_columns(pool, dropped))
    X = validation.rows(PossibilisticGPClassifier(), made, reset=True)
    recipe = FeatureRecipe(OWN, tuple(f"feature {j + 1}" for j in range(X.shape[1])))
    rows = replace(intake.rows, X=X, recipe=recipe)
    return replace(intake, rows=rows, encoding=RowEncoding(recipe, pipeline, dropped))


def check_same_pool(store: Store, pool: Any, intake: PoolIntake | None) -> None:  # noqa: ANN401 - as above
    """Refuse a pool that is not the one that a campaign was begun with.

    Args:
        store: of the campaign.
        pool: a file, or what was ingested.
        intake: what was ingested; None for a file, which is compared by its content.
    """
    found = digest(Path(pool)) if intake is None else intake.rows.digest
    if found != store.setup().digest:
        raise _other_pool("other cells")
    if intake is None:
        return
    places = store.places()
    known = tuple(sorted(places, key=places.__getitem__))
    counted = tuple(str(row + 1) for row in range(len(known)))
    if known not in (intake.rows.ids, counted):  # campaigns begun before count from one
        raise _other_pool("other names of the rows")


def _other_pool(got: str) -> ValueError:
    """The sentence on another pool."""
    return ValueError(
        f"pool must be the one that the campaign was begun with; got {got}. "
        "Leave it out to go on with the campaign, or begin another one in a new file."
    )


def _check_file(given: PoolSpec, model: object) -> None:
    """Refuse what a file cannot have."""
    if _is_pipeline(model):
        raise TypeError(
            "pool must be a frame or an array where classifier is a pipeline; got a file. "
            "Read it into a frame first."
        )
    if given.ids is not None and not isinstance(given.ids, str):
        raise TypeError(
            f"ids must be the name of a column of a file; got {type(given.ids).__name__}. "
            "Read it into a frame first."
        )


def _written_ids(names: Sequence[Hashable]) -> tuple[str, ...]:
    """Names of rows as they are kept."""
    odd = next((one for one in names if isinstance(one, tuple)), None)
    if odd is not None:
        raise ValueError(
            f"ids must be text, numbers or dates to be kept; got {odd!r}. Use "
            "frame.reset_index(drop=True) to number the rows, or name a column with ids=."
        )
    texts = tuple(map(written, names))
    blank = next((text for text in texts if clean(text).strip() != text or not text), None)
    if blank is not None:
        raise ValueError(
            "ids must have no blanks around them, no null characters, and at least one letter; "
            f"got {blank!r}. Give the row another name."
        )
    return texts


def _column_type(pool: Any, label: str) -> NameType:  # noqa: ANN401 - as above
    """The type of the labels in a frame's column."""
    table = from_frame(pool)
    return label_type(table.columns[find_column("label", label, table.names)])


def _silent(_words: str, _share: float) -> None:
    """Report no progress."""
