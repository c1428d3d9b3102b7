"""The pool of a stored campaign as Python gives it: its rows, their names, types and encoding.

ingest_pool(frame, PoolSpec(ids="doc_id"), model) -> PoolIntake
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard

from possibal.campaign.encoding import ColumnChoice, RowEncoding, is_table, without_columns
from possibal.data.features import FeatureRecipe
from possibal.data.ingest import (
    IngestedRows,
    SourceRows,
    ingest_file,
    ingest_frame,
    read_file_rows,
    read_frame_rows,
)
from possibal.data.name_types import name_type, written
from possibal.data.row_ids import Ids
from possibal.data.schema import clean
from possibal.data.source import SourceSpec
from possibal.estimators import validation
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.pipeline import PossibilisticPipeline
from possibal.labelling import growth
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
        accept_changes: whether rows that changed, or are missing, since the campaign was begun are
            taken in.
    """

    ids: Ids = None
    roles: ColumnChoice = field(default_factory=ColumnChoice)
    classes: Sequence[Hashable] = ()
    accept_changes: bool = False

    def source_spec(self, pool: Any) -> SourceSpec:  # noqa: ANN401 - frames of several libraries
        """The same as a specification of the rows of a file, or of rows in memory."""
        spec = self.roles.spec(tuple(map(written, self.classes)))
        return replace(spec, source=Path(pool)) if is_file(pool) else spec


@dataclass(frozen=True, eq=False)
class PoolIntake:
    """A pool that was given in this session.

    Attributes:
        rows: as people see them and as numbers; None where the campaign has them already.
        source: the frame, if it was one.
        label: the column of labels in it.
        encoding: of new rows, where a pipeline of the user's own does it.
    """

    rows: IngestedRows | None
    source: object = None
    label: str | None = None
    encoding: RowEncoding | None = None

    @property
    def new_rows(self) -> IngestedRows:
        """The rows of a campaign that is begun."""
        if self.rows is None:
            raise ValueError("rows must be new to begin a campaign; got those of another.")
        return self.rows


def is_file(pool: object) -> TypeGuard[str | Path]:
    """Whether a pool is named by the path of a file or folder."""
    return isinstance(pool, str | Path)


# ---------------------------------------------------------------- beginning
def ingest_pool(
    pool: Any,  # noqa: ANN401 - frames of several libraries
    given: PoolSpec,
    model: PossibilisticGPClassifier | PossibilisticPipeline | None,
) -> PoolIntake:
    """The rows of a file, a frame or an array, with the names that the user gives them.

    Args:
        pool: the path of a file, a frame of any library, or a two-dimensional array.
        given: what is said about it.
        model: a classifier, or a pipeline whose transformers make the numbers.
    """
    spec = given.source_spec(pool)
    if is_file(pool):
        _check_file(given, model)
        intake = ingest_file(spec, _silent)
    else:
        intake = ingest_frame(pool, spec, given.ids)
        _check_kept(intake.ids)
    if given.classes:
        typed = replace(intake.source, label_type=name_type("classes", given.classes))
        intake = replace(intake, source=typed)
    piped = _piped(model, pool, given.roles) if _is_pipeline(model) else None
    if piped is not None:
        intake = replace(intake, X=piped[0], recipe=piped[1].recipe or intake.recipe)
    return PoolIntake(intake, _frame(pool), _label(intake.source), piped and piped[1])


def _is_pipeline(model: object) -> TypeGuard[PossibilisticPipeline]:
    """Whether rows are to be transformed by the user's own steps."""
    return isinstance(model, PossibilisticPipeline)


def _piped(
    model: PossibilisticPipeline,
    pool: Any,  # noqa: ANN401 - as above
    roles: ColumnChoice,
) -> tuple[Any, RowEncoding]:
    """The numbers that a pipeline makes of the rows, and how it makes them."""
    dropped = tuple(roles.named)
    pipeline, made = model.fitted_to_pool(without_columns(pool, dropped))
    X = validation.rows(PossibilisticGPClassifier(), made, reset=True)
    recipe = FeatureRecipe(OWN, tuple(f"feature {j + 1}" for j in range(X.shape[1])))
    return X, RowEncoding(recipe, pipeline, dropped)


def _frame(pool: Any) -> object:  # noqa: ANN401 - as above
    """The pool, if it is a frame."""
    return pool if not is_file(pool) and is_table(pool) else None


def _label(rows: SourceRows) -> str | None:
    """The column of labels."""
    return None if rows.roles.label is None else rows.table.names[rows.roles.label]


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


def _check_kept(names: Sequence[Hashable]) -> None:
    """Refuse names that a database could not give back as they are."""
    odd = next((one for one in names if isinstance(one, tuple)), None)
    if odd is not None:
        raise ValueError(
            f"ids must be text, numbers or dates to be kept; got {odd!r}. Use "
            "frame.reset_index(drop=True) to number the rows, or name a column with ids=."
        )
    texts = map(written, names)
    blank = next((text for text in texts if clean(text).strip() != text or not text), None)
    if blank is not None:
        raise ValueError(
            "ids must have no blanks around them, no null characters, and at least one letter; "
            f"got {blank!r}. Give the row another name."
        )


# ---------------------------------------------------------------- going on
def resume_pool(
    store: Store,
    pool: Any,  # noqa: ANN401 - as above
    given: PoolSpec,
    model: PossibilisticGPClassifier | PossibilisticPipeline | None,
) -> PoolIntake:
    """The pool of a campaign that was begun before; new rows join.

    Args:
        store: of the campaign.
        pool: a file, or rows in memory.
        given: what is said about it.
        model: a classifier, or a pipeline that is fitted to the pool again.
    """
    spec = growth.pool_spec(store.setup(), given.source_spec(pool))
    if is_file(pool):
        _check_file(given, model)
        rows = read_file_rows(spec, _silent)
    else:
        rows = read_frame_rows(pool, spec, given.ids)
    if rows.digest != store.setup().digest:
        changes = growth.compare(store, rows)
        if changes.needs_consent and not given.accept_changes:
            listed = " ".join(changes.sentences)
            raise ValueError(
                "pool must have the rows that the campaign was begun with; got changes: "
                f"{listed.removesuffix('.')}. Pass accept_changes=True to take them in, or begin "
                "another campaign in a new file."
            )
        growth.grow(store, rows, changes)
    encoding = _piped(model, pool, given.roles)[1] if _is_pipeline(model) else None
    return PoolIntake(None, _frame(pool), _label(rows), encoding)


def _silent(_words: str, _share: float) -> None:
    """Report no progress."""
