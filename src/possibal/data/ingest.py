"""Ingestion pipeline: a source is parsed, its schema inferred, its features extracted.

    source = read_file_rows(wanted, progress)        ingest_file(wanted, progress) -> IngestedRows

Nothing is written here, and nothing is guessed without a note that says so.
"""

import datetime as dt
import functools
import hashlib
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import cast
from zlib import crc32

import numpy as np

from possibal.arrays import Matrix, Places
from possibal.data import archives, features, images, readers, schema
from possibal.data.comparison import (
    EmbedderChoice,
    check_comparisons,
    choose_embedder,
    user_embedders,
)
from possibal.data.copies import CopyGroups, PoolContents, find_copies
from possibal.data.decoding import Progress, no_progress, part_progress
from possibal.data.encoders import LARGEST, Cells, Encoder, Table, find_column, is_missing, mapped
from possibal.data.features import FeatureMatrix, FeatureRecipe, ImageFiles, pool_column
from possibal.data.frames import from_frame
from possibal.data.label_sets import LabelSyntax
from possibal.data.name_types import NameType
from possibal.data.row_ids import Ids, row_ids
from possibal.data.schema import Column, ColumnKind, ColumnRoles, Labels, clean, text_cells
from possibal.data.source import ZIP, SourceSpec, digest, is_pictures, picture_folder
from possibal.embedding.cache import EmbeddingCache
from possibal.embedding.computing import ProjectedRows
from possibal.embedding.embedder import Modality
from possibal.processes import collector_paused
from possibal.progress import StageProgress, no_stages

LEAST_ROWS = 2
SAME_MEANING = "texts were compared by words, for all have the same meaning to the encoder."
SHOWN_FAILURES = 3
"""Rows that cannot be read of which it is said why."""
FIRST, ENOUGH = {Modality.TEXT: 2500, Modality.IMAGE: 1000}, 2
"""Rows that a campaign begins with where there are more than so many times these."""
LONGEST_CELL = 10_000
"""Characters of a cell that is shown beside others; the text itself is shown whole."""
EFFORT = {Modality.IMAGE: 10, Modality.TEXT: 1}
"""How long a row takes to embed, compared with a text."""
EXACT = 1e15
"""Whole numbers below are shown with all their digits."""
READ, MADE, CLUSTERED = 0.4, 0.9, 0.95
"""Shares of the work that are done when the file is read, when its features are made, and when it
is known which rows form clusters."""
UNSORTED = frozenset(["unlabelled", "unlabeled", "unsorted", "unknown", "todo", "new"])
"""Names of sub-folders that are no classes, but hold pictures without a label."""
ENCODED = {
    "numbers": ColumnKind.NUMBER,
    "truths": ColumnKind.CATEGORY,
    "words": ColumnKind.CATEGORY,
    "dates": ColumnKind.DATE,
    "nothing": ColumnKind.LEFT_OUT,
}
"""What people call the kinds of encoders."""


NOTHING_SAID = SourceSpec(Path())
"""What a user says of rows that are in no file, if it is nothing."""


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class SourceRows:
    """Rows of a source as people see them, before they are numbers.

    Attributes:
        name: the file's name without its ending, or the folder's.
        ids: unique names of the rows, of one type.
        table: all columns; none for a folder of pictures.
        roles: of these columns.
        pictures: where rows are pictures.
        labels: those that the source has already, as text; None where a row has none.
        classes: the labels that are known, as text, those found in order: numbers by size.
        label_type: of the labels.
        digest: SHA-256 of the file's content, or of the names and sizes of a folder's pictures.
        notes: plain sentences on what was done.
    """

    name: str
    ids: tuple[Hashable, ...]
    table: Table
    roles: ColumnRoles
    pictures: ImageFiles | None
    labels: Labels
    classes: tuple[str, ...]
    label_type: NameType
    digest: str
    notes: tuple[str, ...]

    @property
    def hides_folders(self) -> bool:
        """Whether the folder of a picture would give its class away."""
        in_folder = self.pictures is not None and self.roles.image is None
        return in_folder and images.folder_labels([str(name) for name in self.ids]) is not None

    @property
    def kind(self) -> str:
        """How a row is shown: "table", "text" or "image"."""
        return "image" if self.pictures else "text" if self.roles.texts else "table"

    @property
    def shown(self) -> list[int]:
        """Places of the columns that are shown: all but labels, names and paths."""
        hidden = {self.roles.label, self.roles.id, self.roles.image}
        return [place for place in range(len(self.table.names)) if place not in hidden]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of what is shown of a row."""
        return tuple(self.table.names[place] for place in self.shown)

    @property
    def text(self) -> str | None:
        """The field that is read as the text: of several the longest."""
        texts, columns = self.roles.texts, self.table.columns
        longest = max(texts, key=lambda place: _usual_length(columns[place]), default=None)
        return None if longest is None else self.table.names[longest]

    @functools.cached_property
    def cells(self) -> tuple[tuple[str | None, ...], ...]:
        """For each row what is shown, in the order of the fields; None where it is missing."""
        columns = [
            _shown(self.table.columns[place], whole=place in self.roles.texts)
            for place in self.shown
        ]
        return tuple(zip(*columns, strict=True)) if columns else ((),) * len(self.ids)

    def part(self, rows: Sequence[int]) -> "SourceRows":
        """Some of the rows."""
        columns = tuple([cells[row] for row in rows] for cells in self.table.columns)
        names = self.pictures and tuple(self.pictures.names[row] for row in rows)
        return replace(
            self,
            ids=tuple(self.ids[row] for row in rows),
            table=Table(self.table.names, columns),
            pictures=self.pictures and ImageFiles(self.pictures.folder, names or ()),
            labels=tuple(self.labels[row] for row in rows),
        )


@dataclass(frozen=True, eq=False)
class IngestedRows:
    """Rows to label, as people see them and as numbers.

    Attributes:
        source: the rows as people see them.
        X: (rows, features), finite.
        recipe: how X was made.
        columns: how each column of the source was understood.
        notes: plain sentences on what was done.
        failures: of rows that were left out because they cannot be read, by their places.
        whole: all rows of the source, where only the first of them were taken in.
        copies: which rows say the same; None where all are to be asked.
    """

    source: SourceRows
    X: Matrix
    recipe: FeatureRecipe
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    failures: Mapping[int, str] = field(default_factory=dict[int, str])
    whole: SourceRows | None = None
    copies: CopyGroups | None = None

    @property
    def ids(self) -> tuple[Hashable, ...]:
        """Unique names of the rows."""
        return self.source.ids


@dataclass(frozen=True)
class FirstRows:
    """How a campaign begins with a random sample of rows, while the others are still embedded.

    Attributes:
        seed: of the sample.
        least: how many rows it must have at least.
    """

    seed: int = 0
    least: int = 0

    def places(self, rows: int, modalities: Iterable[Modality]) -> Places | None:
        """Places of the sample, in order; None where all rows are soon embedded."""
        usual = min((FIRST[modality] for modality in modalities), default=rows)
        count = max(usual, self.least)
        if rows <= ENOUGH * count:
            return None
        rng = np.random.default_rng([self.seed, crc32(b"first")])
        return np.sort(rng.permutation(rows)[:count])


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows that were not in the pool, and their features by the pool's recipe.

    Attributes:
        ids: unique names of the rows.
        X: (rows, features).
        table: their other columns; none for a folder of pictures.
        notes: plain sentences on what was done.
    """

    ids: tuple[Hashable, ...]
    X: Matrix
    table: Table
    notes: tuple[str, ...]


# ---------------------------------------------------------------- the face
def ingest_file(
    wanted: SourceSpec, progress: StageProgress, first: FirstRows | None = None
) -> IngestedRows:
    """Everything that a campaign needs, or one sentence on what is wrong with the source.

    Args:
        wanted: the source, and what a user says of its columns.
        progress: told the stage and the share of all that is done.
        first: how to begin with some rows where embedding all takes long; all if left out.
    """
    with collector_paused(), archives.unpacking(wanted.source):
        intake = _ingested(read_file_rows(wanted, progress), wanted, progress, first)
    progress("done", 1.0)
    return intake


def ingest_frame(
    frame: object, wanted: SourceSpec, ids: Ids = None, progress: StageProgress = no_stages
) -> IngestedRows:
    """The same of a data frame of any library, of rows as dictionaries, or of an array.

    Args:
        frame: the rows.
        wanted: what a user says of the columns.
        ids: names of the rows, or the column that has them; if left out those of the id column
            that is wanted, else the index of a frame that has one, else 0 to m - 1.
        progress: told the stage and the share of all that is done.
    """
    rows = read_frame_rows(frame, wanted, ids)
    made = _ingested(rows, wanted, progress)
    for sentence in made.failures.values():  # a frame keeps its rows
        raise ValueError(sentence)
    return made


def ingest_numbers(rows: SourceRows, X: Matrix, wanted: SourceSpec) -> IngestedRows:
    """Rows whose numbers a pipeline of the user's own made: their columns are only shown.

    Args:
        rows: as people see them.
        X: (rows, features), what is learnt from.
        wanted: what a user says of the columns.
    """
    recipe = FeatureRecipe("own", tuple(f"feature {j + 1}" for j in range(X.shape[1])))
    return _with_copies(rows, FeatureMatrix(recipe, X, ()), wanted)


def read_file_rows(wanted: SourceSpec, progress: StageProgress) -> SourceRows:
    """The rows of a file, a folder of pictures or a zip file of them, before they are numbers."""
    schema.check_classes(wanted.classes, multi=wanted.multi)
    if not is_pictures(wanted.source):
        return replace(_from_file(wanted, progress), digest=digest(wanted.source))
    words = f"unpacking {wanted.source.name}"
    folder = picture_folder(wanted.source, lambda share: progress(words, share * READ))
    rows = _from_folder(replace(wanted, source=folder))
    return replace(rows, name=_stem(wanted.source.name), digest=digest(folder))


def with_roles(rows: SourceRows, wanted: SourceSpec) -> SourceRows:
    """The same rows with other roles of their columns; the source is not read again.

    Args:
        rows: of a source.
        wanted: what a user says of its columns.
    """
    if not rows.table.names:  # a folder of pictures
        return rows
    anew = _from_table(rows.table, wanted, None)
    read = rows.notes[: len(rows.notes) - len(rows.roles.notes)]
    return replace(anew, name=rows.name, digest=rows.digest, notes=(*read, *anew.notes))


def understood_columns(rows: SourceRows) -> tuple[Column, ...]:
    """How each column is understood, before texts and pictures are embedded.

    A source from which nothing could be learnt is refused, as it would be later.
    """
    of_table = _table_features(rows)
    if rows.pictures is None and not rows.roles.texts:
        features.check_helpful(of_table)
    return _columns(rows, of_table)


def read_frame_rows(frame: object, wanted: SourceSpec, ids: Ids = None) -> SourceRows:
    """The rows of a frame, before they are numbers; see :func:`ingest_frame`."""
    schema.check_classes(wanted.classes, multi=wanted.multi)
    table = from_frame(frame)
    count = len(table.columns[0]) if table.columns else 0
    _check_rows(count, LEAST_ROWS)
    if isinstance(ids, str):
        wanted = replace(wanted, id=ids)
    named = [name for name, kind in wanted.kinds.items() if kind == ColumnKind.ID]
    column = next(iter([wanted.id, *named] if wanted.id else named), None)
    rows = _from_table(table, wanted, row_ids(frame, column if ids is None else ids, count))
    said = repr((rows.ids, rows.fields, rows.cells, rows.labels)).encode(errors="surrogatepass")
    return replace(rows, name="pool", digest=hashlib.sha256(said).hexdigest())


def ingest_new_rows(
    recipe: FeatureRecipe, wanted: SourceSpec, progress: StageProgress, first: int = 0
) -> NewRows:
    """Features of new rows of a file or folder, by a fitted recipe; labels are not looked at.

    Args:
        recipe: of the pool.
        wanted: the source, and the column of its names.
        progress: told the stage and the share of all that is done.
        first: the number of the first row, where rows have no names.
    """
    folder = is_pictures(wanted.source)
    _check_source(recipe, wanted, folder=folder)
    if folder:
        pictures, notes = _pictures(picture_folder(wanted.source))
        table, rows, ids = Table((), ()), pictures, pictures.names
    else:
        table, notes = _read(wanted, progress, least=1)
        place = _new_id(recipe, wanted, table)
        rows, ids = _rows(recipe, wanted.source, table), schema.row_ids(table, place, first)
        others = [i for i in range(len(table.names)) if i != place]
        table = Table(
            tuple(table.names[i] for i in others), tuple(table.columns[i] for i in others)
        )
    if wanted.features is not None:
        rows = features.given_features(wanted.features, len(ids), as_they_are=True).X
    embedders = user_embedders(wanted, recipe_modalities(recipe))
    made = recipe.apply(rows, _rated(progress, len(ids), 1.0), embedders)
    sound = [place for place in range(len(ids)) if place not in made.failures]
    if not sound:
        raise ValueError(next(iter(made.failures.values())))
    kept = Table(table.names, tuple([cells[row] for row in sound] for cells in table.columns))
    said = (*notes, *left_out_notes(made.failures), *_not_kept(embedders.cache))
    return NewRows(tuple(ids[row] for row in sound), made.X[sound], kept, said)


def recipe_modalities(recipe: FeatureRecipe) -> list[Modality]:
    """What a recipe embeds: texts, pictures, both or neither."""
    parts = recipe.parts or (recipe,)
    return [Modality(part.kind) for part in parts if part.embedder is not None]


def frame_features(
    recipe: FeatureRecipe,
    frame: object,
    wanted: SourceSpec = NOTHING_SAID,
    progress: StageProgress = no_stages,
) -> Matrix:
    """(rows, features): rows of a frame of any library, or of a file or folder, by its recipe.

    Args:
        recipe: fitted.
        frame: the rows, or the path of what holds them.
        wanted: the user's own encoder, if the recipe was fitted with one, and the cache of
            embeddings.
        progress: told the stage and the share of all that is done.
    """
    if isinstance(frame, str | Path):
        return ingest_new_rows(recipe, replace(wanted, source=Path(frame)), progress).X
    if recipe.kind == "image" and not recipe.columns:
        raise ValueError(
            "rows must be a folder of pictures, as for the pool; "
            f"got {type(frame).__name__}. Pass the folder's path."
        )
    table = from_frame(frame)
    report = _rated(progress, len(table.columns[0]) if table.columns else 0, 1.0)
    embedders = user_embedders(wanted, recipe_modalities(recipe))
    made = recipe.apply(_rows(recipe, Path(), table), report, embedders)
    for sentence in made.failures.values():
        raise ValueError(sentence)
    return made.X


def source_features(
    recipe: FeatureRecipe, rows: SourceRows, wanted: SourceSpec, progress: Progress = no_progress
) -> ProjectedRows:
    """Rows of a source by a fitted recipe, and which of them cannot be read.

    Args:
        recipe: of the pool.
        rows: of the source.
        wanted: the user's own encoder, and the cache of embeddings.
        progress: given the share done.
    """
    embedders = user_embedders(wanted, recipe_modalities(recipe))
    if recipe.kind == "image" and rows.pictures is not None:
        return recipe.apply(rows.pictures, progress, embedders)
    folder = rows.pictures.folder / "table" if rows.pictures else Path()
    return recipe.apply(_rows(recipe, folder, rows.table), progress, embedders)


def _check_source(recipe: FeatureRecipe, wanted: SourceSpec, *, folder: bool) -> None:
    """Refuse new rows of another kind than those of the pool."""
    own = recipe.kind == "own"
    if own != (wanted.features is not None):
        raise ValueError(
            f"features must be {'given' if own else 'left out'}, as for the pool; "
            f"got {wanted.features and wanted.features.name!r}. Do as you did for the pool."
        )
    if not own and folder != (recipe.kind == "image" and not recipe.columns):
        raise ValueError(
            f"file must be a {'table' if folder else 'folder of pictures'}, as for the pool; "
            f"got {str(wanted.source)!r}. Name another one."
        )


def _rows(recipe: FeatureRecipe, source: Path, table: Table) -> features.Rows:
    """What a recipe takes of a table, whose pictures are in the folder of its source."""
    if recipe.parts:
        return tuple(_rows(part, source, table) for part in recipe.parts)
    named = Table(recipe.columns, tuple(pool_column(table, name) for name in recipe.columns))
    if recipe.kind == "text" and named.names:
        return _joined(named, range(len(named.names)))
    if recipe.kind == "image" and named.names:
        return _media(source, named, 0)
    return table


def _new_id(recipe: FeatureRecipe, wanted: SourceSpec, table: Table) -> int | None:
    """The place of the column that names new rows: none that the recipe learns from."""
    if wanted.id is not None:
        return find_column("id", wanted.id, table.names)
    parts = recipe.parts or (recipe,)
    learnt = {one.name for part in parts for one in part.encoders if one.features}
    learnt |= {name for part in parts for name in part.columns}
    taken = {place for place, name in enumerate(table.names) if name in learnt}
    return schema.usual_id(table, {*taken})[0]


# ---------------------------------------------------------------- folders
def _from_folder(wanted: SourceSpec) -> SourceRows:
    """The pictures of a folder; sub-folders that may be classes give labels."""
    for option in ("label", "id", "text", "image", "encoding", "use", "leave_out"):
        if getattr(wanted, option):
            raise ValueError(
                f"{option} must be left out for a folder of pictures; "
                f"got {_first(getattr(wanted, option))!r}. "
                "Name a file that lists the pictures instead."
            )
    pictures, notes = _pictures(wanted.source)
    _check_rows(len(pictures.names), LEAST_ROWS)
    labels, classes, said = _folder_labels(pictures.names, wanted.classes)
    return SourceRows(
        name=pictures.folder.name,
        ids=pictures.names,
        table=Table((), ()),
        roles=ColumnRoles(None, None, (), None, (), {}, ()),
        pictures=pictures,
        labels=labels,
        classes=classes,
        label_type=NameType.TEXT,
        digest="",
        notes=(*notes, *said),
    )


def _folder_labels(
    names: Sequence[str], classes: tuple[str, ...]
) -> tuple[Labels, tuple[str, ...], list[str]]:
    """The label of each picture by its sub-folder, the classes, and what is to be said.

    Sub-folders are classes unless they are none of the classes that are named: a folder that is
    called unlabelled, or unsorted, holds what is to be labelled.
    """
    found = images.folder_labels(names)
    if found is None:
        return (None,) * len(names), classes, []
    labels = tuple(None if label.lower() in UNSORTED else label for label in found)
    known = tuple(dict.fromkeys(label for label in labels if label is not None))
    if classes and not set(known) <= set(classes):
        return (None,) * len(names), classes, []
    said = f"the {len(known)} sub-folders {', '.join(known)} were taken as labels."
    return labels, classes or known, [said]


def _first(given: str | tuple[str, ...]) -> str:
    """An option, or the first of several."""
    return given if isinstance(given, str) else given[0]


def _pictures(source: Path) -> tuple[ImageFiles, tuple[str, ...]]:
    """The pictures of a folder, and what was left out."""
    folder = source.resolve()
    found = images.list_images(folder)
    if not found.names:
        raise ValueError(
            f"file must be a table, or a folder of pictures that end in {', '.join(images.TYPES)}; "
            f"got the folder {str(source)!r} without any. Name another one."
        )
    odd = next((name for name in found.names if clean(name) != name), None)
    if odd is not None:
        raise ValueError(
            f"file must be a folder of pictures with names in UTF-8; got {odd!r}. Rename it."
        )
    others = _counted(found.others, "file is no picture", "files are no pictures")
    links = "lead nowhere, or out of the folder,"
    leaving = _counted(found.leaving, f"link {links.replace('lead', 'leads')}", f"links {links}")
    return ImageFiles(folder, found.names), (*others, *leaving)


def _counted(count: int, one: str, many: str) -> tuple[str, ...]:
    """The note on what was left out, if anything was."""
    if count < 2:  # noqa: PLR2004 - one, or none at all
        return (f"1 {one} and was left out.",) if count else ()
    return (f"{count} {many} and were left out.",)


# ---------------------------------------------------------------- files
def _from_file(wanted: SourceSpec, progress: StageProgress) -> SourceRows:
    """The rows of a file."""
    table, notes = _read(wanted, progress, LEAST_ROWS)
    rows = _from_table(table, wanted, None)
    return replace(rows, name=_stem(wanted.source.name), notes=(*notes, *rows.notes))


def _from_table(table: Table, wanted: SourceSpec, ids: tuple[Hashable, ...] | None) -> SourceRows:
    """The rows of a table that has no name yet."""
    roles = schema.infer_roles(table, wanted, has_index=ids is not None)
    syntax = LabelSyntax.of(multi=wanted.multi)
    labels, classes = schema.row_labels(table, roles.label, wanted.classes, syntax)
    kind = NameType.TEXT if roles.label is None else schema.cell_type(table.columns[roles.label])
    kind = NameType.TEXT if wanted.multi else kind
    return SourceRows(
        name="",
        ids=schema.row_ids(table, roles.id) if ids is None else ids,
        table=table,
        roles=roles,
        pictures=None if roles.image is None else _media(wanted.source, table, roles.image),
        labels=labels,
        classes=classes,
        label_type=kind,
        digest="",
        notes=roles.notes,
    )


def _stem(name: str) -> str:
    """A file's name without its ending."""
    ending = readers.ending(Path(name)) or (ZIP if name.lower().endswith(ZIP) else "")
    return name[: len(name) - len(ending)] or name


def _read(wanted: SourceSpec, progress: StageProgress, least: int) -> tuple[Table, tuple[str, ...]]:
    """The table of a file that has enough rows."""
    words = f"reading {wanted.source.name}"
    read = readers.read_table(
        wanted.source, wanted.encoding, lambda share: progress(words, share * READ)
    )
    _check_rows(len(read.table.columns[0]), least)
    return read.table, read.notes


def _check_rows(rows: int, least: int) -> None:
    """Refuse a pool that leaves no choice."""
    if rows < least:
        raise ValueError(f"file must have at least {least} rows; got {rows}. Add rows.")


def _media(source: Path, table: Table, place: int) -> ImageFiles:
    """The pictures that a column names, in the file's folder, or that we are in without a file."""
    folder = source.resolve() if source == Path() else source.resolve().parent
    column = table.names[place]
    names = text_cells(table.columns[place])
    for row, name in enumerate(names, start=1):
        where = f"row {row} of column {column!r}"
        if name is None:
            raise ValueError(f"image must be the path of a picture; got none in {where}. Add it.")
        images.resolve_image(folder, name, where)
    return ImageFiles(folder, cast("tuple[str, ...]", names))


# ---------------------------------------------------------------- numbers
def _ingested(
    rows: SourceRows,
    wanted: SourceSpec,
    progress: StageProgress,
    first: FirstRows | None = None,
) -> IngestedRows:
    """Rows with the features of a recipe that is fitted to them."""
    choices, whole = _choices(rows, wanted), None
    of_table = None if wanted.features else _table_features(rows)  # of all rows: it takes no time
    sample = first and first.places(len(rows.ids), _embedded(choices))
    if sample is not None and of_table is not None and wanted.cache is not None:
        whole, rows = rows, rows.part(sample.tolist())
        of_table = replace(of_table, X=of_table.X[sample] if len(of_table.X) else of_table.X)
    report = _rated(progress, len(rows.ids), MADE)
    report(0.0)
    if of_table is None:
        made = _own_features(rows, wanted)
    else:
        made = _features(rows, choices, of_table, (EmbeddingCache(wanted.cache), report))
    progress("preparing rows", MADE)
    if made.failures:
        rows, made = _sound(rows, made)
    progress("looking for clusters", MADE)
    recipe, X = replace(made.recipe, kernel=wanted.kernel).with_diffusion(made.X)
    made = replace(made, recipe=recipe, X=X)
    progress("looking for copies", CLUSTERED)
    return replace(_with_copies(rows, made, wanted), whole=whole)


def _with_copies(rows: SourceRows, made: FeatureMatrix, wanted: SourceSpec) -> IngestedRows:
    """Rows with their features, how columns were understood, and which rows say the same."""
    notes = (*rows.notes, *made.notes, *left_out_notes(made.failures))
    columns = _columns(rows, made)
    copies = source_copies(rows, made.recipe, made.X) if wanted.copies else None
    if copies is not None:
        copies = copies.agreeing(rows.labels)
        notes = (*notes, *copies.notes)
    return IngestedRows(rows, made.X, made.recipe, columns, notes, made.failures, copies=copies)


def source_copies(rows: SourceRows, recipe: FeatureRecipe, X: Matrix) -> CopyGroups | None:
    """The rows of a source that say the same; None where they have neither texts nor pictures.

    Args:
        rows: of the source.
        recipe: how they become numbers: all that it learns from must be the same.
        X: these numbers, which count where they are the user's own.
    """
    table, texts, pictures = rows.table, rows.roles.texts, rows.pictures
    if not texts and pictures is None:
        return None
    encoders = {one.name: one for part in (recipe, *recipe.parts) for one in part.encoders}
    learnt = [name for name, encoder in encoders.items() if encoder.features]
    cells: list[Cells] = [table.columns[table.names.index(name)] for name in learnt]
    if recipe.kind == "own":
        cells.append([line.tobytes() for line in X])
    return find_copies(
        PoolContents(
            len(rows.ids),
            _joined(table, texts) if texts else (),
            pictures.folder if pictures else Path(),
            pictures.names if pictures else (),
            cells,
        )
    )


def _rated(progress: StageProgress, rows: int, whole: float) -> Progress:
    """Progress of features as part of the whole, with the rows that are done in a second."""
    begun = time.monotonic()

    def report(share: float) -> None:
        """Tell the stage, how fast it goes, and how far it is."""
        rate = share * rows / max(time.monotonic() - begun, 1e-3)
        words = f", {rate:,.0f} rows a second" if share else ""
        progress(f"making features{words}", READ + share * (whole - READ))

    return report


def _sound(rows: SourceRows, made: FeatureMatrix) -> tuple[SourceRows, FeatureMatrix]:
    """Rows without those that cannot be read."""
    kept = [place for place in range(len(rows.ids)) if place not in made.failures]
    if len(kept) < LEAST_ROWS:
        raise ValueError(next(iter(made.failures.values())))
    return rows.part(kept), replace(made, X=made.X[kept])


def left_out_notes(failures: Mapping[int, str]) -> tuple[str, ...]:
    """The notes on rows that cannot be read: the first ones, and how many there are."""
    if not failures:
        return ()
    more = len(failures) - SHOWN_FAILURES
    said = tuple(f"a row was left out: {one}" for one in [*failures.values()][:SHOWN_FAILURES])
    return (*said, f"{more} more rows were left out for the like.") if more > 0 else said


def _choices(rows: SourceRows, wanted: SourceSpec) -> dict[Modality, EmbedderChoice]:
    """The embedder of each modality that rows have."""
    modalities = [Modality.IMAGE] * (rows.pictures is not None)
    modalities += [Modality.TEXT] * bool(rows.roles.texts)
    check_comparisons(wanted, modalities)
    if wanted.features is not None:
        _check_not_used(wanted)
        return {}
    embedders, texts = user_embedders(wanted, modalities), _joined(rows.table, rows.roles.texts)
    return {one: choose_embedder(one, wanted, embedders, texts) for one in modalities}


def _embedded(choices: Mapping[Modality, EmbedderChoice]) -> list[Modality]:
    """The modalities that a model embeds."""
    return [modality for modality, one in choices.items() if one.embedder is not None]


def _own_features(rows: SourceRows, wanted: SourceSpec) -> FeatureMatrix:
    """The user's own numbers."""
    path = cast("Path", wanted.features)
    return features.given_features(path, len(rows.ids), as_they_are=bool(wanted.by))


def _features(
    rows: SourceRows,
    choices: Mapping[Modality, EmbedderChoice],
    of_table: FeatureMatrix,
    work: tuple[EmbeddingCache, Progress],
) -> FeatureMatrix:
    """The features of texts and pictures beside those of other columns, a block for each."""
    table, roles, parts, (cache, progress) = rows.table, rows.roles, list[FeatureMatrix](), work
    seen = _share_of_pictures(choices)
    if rows.pictures is not None:
        column = None if roles.image is None else table.names[roles.image]
        by, report = choices[Modality.IMAGE], part_progress(progress, 0.0, seen)
        made = features.image_features(rows.pictures, column, report, by.embedder, cache)
        parts.append(replace(made, notes=(by.note, *made.notes)))
    if roles.texts:
        report = part_progress(progress, seen, 1.0)
        parts.append(_text_features(rows, choices[Modality.TEXT], (cache, report)))
    if not parts:
        features.check_helpful(of_table)
    mixed = features.mixed_features([*parts, of_table])
    return replace(mixed, notes=(*mixed.notes, *_not_kept(cache)))


def _share_of_pictures(modalities: Iterable[Modality]) -> float:
    """The share of the work that pictures are, where rows have some and perhaps texts."""
    effort = {one: EFFORT[one] for one in modalities}
    return effort.get(Modality.IMAGE, 0) / (sum(effort.values()) or 1)


def _text_features(
    rows: SourceRows, by: EmbedderChoice, work: tuple[EmbeddingCache, Progress]
) -> FeatureMatrix:
    """The features of texts, by their words where an encoder cannot tell any two apart."""
    texts, (cache, report) = _joined(rows.table, rows.roles.texts), work
    names = [rows.table.names[place] for place in rows.roles.texts]
    made = features.text_features(texts, names, report, by.embedder, cache)
    if made.recipe.features:
        return replace(made, notes=(by.note, *made.notes))
    if by.is_own:
        raise ValueError(
            f"encoder must tell texts apart; got the same vector for all {len(texts)} rows. "
            "Take another, or leave it out."
        )
    made = features.text_features(texts, names)
    return replace(made, notes=(SAME_MEANING, *made.notes))


def _not_kept(cache: EmbeddingCache) -> tuple[str, ...]:
    """The note on embeddings that could not be kept."""
    trouble = cache.trouble
    return (f"embeddings could not be kept for the next time ({trouble}).",) if trouble else ()


def _table_features(rows: SourceRows) -> FeatureMatrix:
    """The features of columns that are neither texts nor pictures, owned by the fields shown."""
    table, places = rows.table, rows.roles.table
    part = Table(tuple(table.names[i] for i in places), tuple(table.columns[i] for i in places))
    made = features.table_features(part, rows.roles.kinds)
    owners = tuple(rows.shown.index(places[owner]) for owner in made.recipe.owners)
    return replace(made, recipe=replace(made.recipe, owners=owners))


def _joined(table: Table, places: Sequence[int]) -> tuple[str | None, ...]:
    """The texts of several columns as one for each row."""
    columns = [text_cells(table.columns[place]) for place in places]
    if len(columns) == 1:
        return columns[0]
    rows = zip(*columns, strict=True)
    return tuple("\n".join(text for text in row if text) or None for row in rows)


# ---------------------------------------------------------------- what was understood
def _columns(rows: SourceRows, made: FeatureMatrix) -> tuple[Column, ...]:
    """How each column was understood."""
    roles, table, is_own = rows.roles, rows.table, made.recipe.kind == "own"
    settled = {
        **dict.fromkeys(roles.texts, ColumnKind.TEXT),
        roles.image: ColumnKind.PICTURE,
        roles.id: ColumnKind.ID,
        roles.label: ColumnKind.LABEL,
    }
    encoders = {one.name: one for one in made.encoders}
    return tuple(
        Column(name, settled[place]) if place in settled else _column(name, encoders, is_own=is_own)
        for place, name in enumerate(table.names)
    )


def _column(name: str, encoders: Mapping[str, Encoder], *, is_own: bool) -> Column:
    """How a column without a role was understood, and what was done to it."""
    if name not in encoders:
        asked = "only shown, for your own numbers are learnt from" if is_own else "as you asked"
        return Column(name, ColumnKind.LEFT_OUT, asked)
    encoder = encoders[name]
    note = encoder.note.removeprefix(f"column {name} ").removesuffix("and was left out.")
    note = note.replace(f" of column {name}", "")
    return Column(name, ENCODED[encoder.kind], note.rstrip(" ,."))


def _check_not_used(wanted: SourceSpec) -> None:
    """Refuse columns to learn from beside the user's own numbers, which are learnt from instead."""
    if wanted.use:
        raise ValueError(
            "use must be left out where features are given, which are learnt from instead; "
            f"got {_first(wanted.use)!r}. Leave one of them out."
        )


# ---------------------------------------------------------------- what is shown
def _usual_length(cells: Cells) -> float:
    """Characters that half of the texts of a column have at least."""
    return median(len(str(cell)) for cell in cells if cell is not None)


def _shown(cells: Cells, *, whole: bool) -> list[str | None]:
    """Cells as people read them, missing ones None; long ones cut unless they are wanted whole."""
    kinds = set(map(type, cells))
    if kinds == {float} and (plain := _all_digits(cells)) is not None:
        return plain
    if kinds <= {float, type(None)}:  # most columns, and worth being quick
        return [None if cell is None else _digits(cell) for cell in cells]
    if all(issubclass(kind, dt.datetime) for kind in kinds - {type(None)}) and _are_days(cells):
        return [None if is_missing(cell) else cell.date().isoformat() for cell in cells]
    longest = None if whole else LONGEST_CELL
    return mapped(cells, lambda cell: _readable(cell, longest))


def _are_days(cells: Cells) -> bool:
    """Whether all moments are midnights, as days are kept by some libraries."""
    return all(is_missing(cell) or cell.time() == dt.time() for cell in cells)


def _readable(cell: object, longest: int | None) -> str | None:
    """One cell as people read it."""
    if is_missing(cell):
        return None
    if isinstance(cell, float | np.floating | Decimal):
        return _digits(float(cell))
    return clean(str(cell))[:longest] or None


def _all_digits(cells: Cells) -> list[str | None] | None:
    """The numbers of a column with six digits, in one go; None where some are written otherwise."""
    values = np.array(cells) + 0.0  # -0 is 0
    if not (np.abs(values) < np.where(values == np.floor(values), 1e6, LARGEST)).all():
        return None
    return list(("%.6g\n" * len(values) % tuple(values.tolist())).split("\n")[:-1])


def _digits(number: float) -> str | None:
    """A whole number as it is, any other with six digits; None if it is infinite."""
    if number.is_integer() and -EXACT < number < EXACT:
        return str(int(number))
    return f"{number:.6g}" if -LARGEST < number < LARGEST else None
