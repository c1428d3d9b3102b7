"""The pool of a stored campaign as Python gives it: its rows, their names, types and encoding.

ingest_pool(frame, PoolSpec(ids="doc_id"), model) -> IngestedRows, SessionPool
resumed_pool(store, frame, PoolSpec(), model) -> SessionPool
"""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard

from possibal.arrays import Matrix
from possibal.campaign.encoding import ColumnChoice, RowEncoding, is_table, without_columns
from possibal.data.decoding import part_progress
from possibal.data.ingest import (
    READ,
    IngestedRows,
    SourceRows,
    ingest_file,
    ingest_frame,
    ingest_numbers,
    read_file_rows,
    read_frame_rows,
)
from possibal.data.name_types import name_type, written
from possibal.data.row_ids import Ids
from possibal.data.schema import clean
from possibal.data.source import SourceSpec
from possibal.estimators import validation
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.estimators.latent_gaussian import LatentGaussianClassifier
from possibal.estimators.pipeline import PossibilisticPipeline
from possibal.labelling import growth
from possibal.labelling.growth import pool_spec
from possibal.labelling.storage.store import Store
from possibal.progress import StageProgress, no_stages

_NOWHERE = Path()


@dataclass(frozen=True)
class PoolSpec:
    """What the user says about a pool.

    Attributes:
        ids: names of the rows, or the column that has them.
        roles: of the columns.
        classes: all labels there may be.
        accept_changes: whether rows that changed, or are missing, since the campaign was begun are
            taken in.
        cache: the file that keeps embeddings.
    """

    ids: Ids = None
    roles: ColumnChoice = field(default_factory=ColumnChoice)
    classes: Sequence[Hashable] = ()
    accept_changes: bool = False
    cache: Path | None = None

    @property
    def names(self) -> tuple[Hashable, ...] | None:
        """The names of the rows, if they are given one by one."""
        return None if self.ids is None or isinstance(self.ids, str) else tuple(self.ids)

    def spec(self, classes: tuple[str, ...] = (), source: Path = _NOWHERE) -> SourceSpec:
        """The same as a specification of rows, which may be in no file."""
        return replace(self.roles.spec(classes, source), cache=self.cache)


@dataclass(frozen=True, eq=False)
class SessionPool:
    """What a session knows of a pool beside what is stored.

    Attributes:
        frame: what the user gave, if it was a frame.
        ids: names of its rows, in an order that need not be that of the campaign.
        label: the column of labels in it.
        encoding: of new rows, where a pipeline of the user's own does it.
        encoder: of texts or pictures, of the user's own.
    """

    frame: object = None
    ids: tuple[Hashable, ...] = ()
    label: str | None = None
    encoding: RowEncoding | None = None
    encoder: object = None


def ingest_pool(
    pool: Any,  # noqa: ANN401 - frames of several libraries
    given: PoolSpec,
    model: LatentGaussianClassifier | PossibilisticPipeline | None,
    progress: StageProgress = no_stages,
) -> tuple[IngestedRows, SessionPool]:
    """The rows of a file, a frame or an array, with the names that the user gives them.

    Args:
        pool: the path of a file, a frame of any library, or a two-dimensional array.
        given: what is said about it.
        model: a classifier, or a pipeline whose transformers make the numbers.
        progress: told the stage and the share of all that is done.
    """
    kind, classes = name_type("classes", given.classes), tuple(map(written, given.classes))
    encoding = None
    if isinstance(pool, str | Path):
        _check_file(given, model)
        rows = ingest_file(given.spec(classes, Path(pool)), progress)
    elif _is_pipeline(model):
        source = read_frame_rows(pool, given.spec(classes), given.ids)
        encoding, X = _piped(model, pool, source)
        rows = ingest_numbers(source, X, given.spec(classes))
    else:
        rows = ingest_frame(pool, given.spec(classes), given.ids, progress)
    _check_ids(rows.source.ids)
    if given.classes:
        rows = replace(rows, source=replace(rows.source, label_type=kind))
    session = _session(pool, rows.source)
    return rows, replace(session, encoder=given.roles.encoder, encoding=encoding)


def resumed_pool(
    store: Store,
    pool: Any,  # noqa: ANN401 - as above
    given: PoolSpec,
    model: LatentGaussianClassifier | PossibilisticPipeline | None,
    progress: StageProgress = no_stages,
) -> SessionPool:
    """The pool of a campaign that goes on: new rows join, and another pool is refused."""
    is_file = isinstance(pool, str | Path)
    spec = pool_spec(store.setup(), given.spec(source=Path(pool) if is_file else Path()))
    if is_file:
        _check_file(given, model)
        rows = read_file_rows(spec, progress)
    else:
        rows = read_frame_rows(pool, spec, given.ids)
    if rows.digest != store.setup().known_digest:
        _take_in(store, rows, (given, spec), progress)
    session = _session(pool, rows)
    return (
        replace(session, encoding=_piped(model, pool, rows)[0]) if _is_pipeline(model) else session
    )


def _take_in(
    store: Store, rows: SourceRows, wanted: tuple[PoolSpec, SourceSpec], progress: StageProgress
) -> None:
    """Let new rows join a campaign; rows that changed or are missing only if the user agrees."""
    given, spec = wanted
    changes = growth.compare(store, rows, spec)
    if changes.needs_consent and not given.accept_changes:
        raise ValueError(
            "pool must have the rows that the campaign was begun with; got changes: "
            f"{' '.join(changes.sentences).removesuffix('.')}. Pass accept_changes=True to take "
            "them in, or begin another campaign in a new file."
        )
    report = part_progress(lambda share: progress("taking rows in", share), READ, 1.0)
    said = growth.grow(store, rows, changes, spec, report)
    for sentence in (*said, changes.labels_not_taken):
        if sentence:
            warnings.warn(sentence, stacklevel=5)


def _session(pool: object, rows: SourceRows) -> SessionPool:
    """What a session knows of rows."""
    place = rows.roles.label
    label = None if place is None else rows.table.names[place]
    is_frame = not isinstance(pool, str | Path) and is_table(pool)
    return SessionPool(pool if is_frame else None, rows.ids, label)


# ---------------------------------------------------------------- pipelines
def _is_pipeline(model: object) -> TypeGuard[PossibilisticPipeline]:
    """Whether rows are to be transformed by the user's own steps."""
    return isinstance(model, PossibilisticPipeline)


def _piped(
    model: PossibilisticPipeline,
    pool: Any,  # noqa: ANN401 - as above
    rows: SourceRows,
) -> tuple[RowEncoding, Matrix]:
    """How a pipeline encodes rows without their names and labels, and what it makes of these."""
    places = (rows.roles.id, rows.roles.label)
    dropped = tuple(rows.table.names[place] for place in places if place is not None)
    pipeline, made = model.fitted_to_pool(without_columns(pool, dropped))
    X = validation.rows(PossibilisticGPClassifier(), made, reset=True)
    return RowEncoding(None, pipeline, dropped), X


# ---------------------------------------------------------------- checks
def _check_file(given: PoolSpec, model: object) -> None:
    """Refuse what a file cannot have."""
    if _is_pipeline(model):
        raise TypeError(
            "pool must be a frame or an array where classifier is a pipeline; got a file. "
            "Read it into a frame first."
        )
    if given.names is not None:
        raise TypeError(
            f"ids must be the name of a column of a file; got {type(given.ids).__name__}. "
            "Read it into a frame first."
        )


def _check_ids(names: Sequence[Hashable]) -> None:
    """Refuse names that cannot be kept as text, and be found again by it."""
    odd = next((one for one in names if isinstance(one, tuple)), None)
    if odd is not None:
        raise ValueError(
            f"ids must be text, numbers or dates to be kept; got {odd!r}. Use "
            "frame.reset_index(drop=True) to number the rows, or name a column with ids=."
        )
    name_type("ids", names)
    texts = map(written, names)
    blank = next((text for text in texts if clean(text).strip() != text or not text), None)
    if blank is not None:
        raise ValueError(
            "ids must have no blanks around them, no null characters, and at least one letter; "
            f"got {blank!r}. Give the row another name."
        )
