"""Ingestion pipeline: a source is parsed, its schema inferred, its features extracted.

Nothing is written here, and nothing is guessed without a note that says so.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np

from possibal.arrays import Matrix
from possibal.data import features, images, readers, schema
from possibal.data.encoders import LARGEST, Cells, Table, find_column, is_missing, mapped
from possibal.data.features import FeatureMatrix, FeatureRecipe, ImageFiles
from possibal.data.frames import from_frame
from possibal.data.schema import Labels, clean, text_cells
from possibal.data.source import SourceSpec, digest, is_folder
from possibal.processes import collector_paused

StageProgress: TypeAlias = Callable[[str, float], None]
"""Callback that is given the stage, in words, and the share of all the work done, from 0 to 1."""

LEAST_ROWS = 2
LONGEST_CELL = 10_000
"""Characters of a cell that is shown beside others; the text itself is shown whole."""
EXACT = 1e15
"""Whole numbers below are shown with all their digits."""
READ, MADE = 0.4, 0.9
"""Shares of the work that are done when the file is read, and when its features are made."""


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class IngestedRows:
    """Rows to label, as people see them and as numbers.

    Attributes:
        name: the file's name without its ending, or the folder's.
        kind: how a row is shown: "table", "text" or "image".
        ids: unique names of the rows.
        fields: names of what is shown of a row.
        cells: for each row what is shown, in the order of the fields; None where it is missing.
        text: the field that is the text.
        media: for each row the path of its picture from the folder; empty unless pictures.
        folder: where the pictures are, as an absolute path.
        X: (rows, features), finite.
        labels: those that the source has already; None where a row has none.
        classes: the labels that are known, those found in order: numbers by size.
        recipe: how X was made.
        digest: SHA-256 of the file's content, or of the names and sizes of a folder's pictures.
        notes: plain sentences on what was done.
    """

    name: str
    kind: str
    ids: tuple[str, ...]
    fields: tuple[str, ...]
    cells: tuple[tuple[str | None, ...], ...]
    text: str | None
    media: tuple[str, ...]
    folder: str | None
    X: Matrix
    labels: Labels
    classes: tuple[str, ...]
    recipe: FeatureRecipe
    digest: str
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows that were not in the pool, and their features by the pool's recipe."""

    ids: tuple[str, ...]
    X: Matrix
    notes: tuple[str, ...]


# ---------------------------------------------------------------- the face
def ingest_file(wanted: SourceSpec, progress: StageProgress) -> IngestedRows:
    """Everything that a campaign needs, or one sentence on what is wrong with the source."""
    schema.check_classes(wanted.classes)
    with collector_paused():
        intake = (_from_folder if is_folder(wanted.source) else _from_file)(wanted, progress)
    progress("done", 1.0)
    return intake


def ingest_frame(frame: object, wanted: SourceSpec) -> IngestedRows:
    """The same of a data frame of pandas, polars or pyarrow, or of a two-dimensional array."""
    schema.check_classes(wanted.classes)
    table = from_frame(frame)
    _check_rows(len(table.columns[0]) if table.columns else 0, LEAST_ROWS)
    intake = _from_table(table, wanted, lambda _words, _share: None)
    said = repr((intake.ids, intake.fields, intake.cells)).encode(errors="surrogatepass")
    return replace(intake, name="pool", digest=hashlib.sha256(said).hexdigest())


def ingest_new_rows(recipe: FeatureRecipe, wanted: SourceSpec, progress: StageProgress) -> NewRows:
    """Features of new rows of a file or folder, by a fitted recipe; labels are not looked at."""
    folder = is_folder(wanted.source)
    _check_source(recipe, wanted, folder=folder)
    if folder:
        rows, notes = _pictures(wanted)
        ids = rows.names
    else:
        table, notes = _read(wanted, progress, least=1)
        rows, ids = _rows(recipe, wanted, table), _new_ids(wanted, table)
    if wanted.features is not None:
        rows = features.given_features(wanted.features, len(ids)).X
    X = recipe.apply(rows, lambda share: progress("making features", READ + share * (1 - READ)))
    return NewRows(ids, X, notes)


def frame_features(recipe: FeatureRecipe, frame: object) -> Matrix:
    """(rows, features): the rows of a frame, of whatever library, by a fitted recipe."""
    return recipe.apply(_rows(recipe, SourceSpec(Path()), from_frame(frame)))


def _check_source(recipe: FeatureRecipe, wanted: SourceSpec, *, folder: bool) -> None:
    """Refuse new rows of another kind than those of the pool."""
    own = recipe.kind == "own"
    if own != (wanted.features is not None):
        raise ValueError(
            f"features must be {'given' if own else 'left out'}, as for the pool; "
            f"got {wanted.features and wanted.features.name!r}. Do as you did for the pool."
        )
    if not own and folder != (recipe.kind == "image" and recipe.column is None):
        raise ValueError(
            f"file must be a {'table' if folder else 'folder of pictures'}, as for the pool; "
            f"got {str(wanted.source)!r}. Name another one."
        )


def _rows(recipe: FeatureRecipe, wanted: SourceSpec, table: Table) -> features.Rows:
    """What the recipe takes of a table."""
    if recipe.kind == "text" and recipe.column is not None:
        return text_cells(table.columns[find_column("text", recipe.column, table.names)])
    if recipe.kind == "image" and recipe.column is not None:
        return _media(wanted, table, find_column("image", recipe.column, table.names))
    return table


def _new_ids(wanted: SourceSpec, table: Table) -> tuple[str, ...]:
    """Names of new rows, found as those of the pool were."""
    if wanted.id is not None:
        return schema.row_ids(table, find_column("id", wanted.id, table.names))
    return schema.row_ids(table, schema.usual_id(table, set())[0])


# ---------------------------------------------------------------- folders
def _from_folder(wanted: SourceSpec, progress: StageProgress) -> IngestedRows:
    """The pictures of a folder."""
    for option in ("label", "id", "text", "image", "encoding"):
        if getattr(wanted, option) is not None:
            raise ValueError(
                f"{option} must be left out for a folder of pictures; "
                f"got {getattr(wanted, option)!r}. Name a file that lists the pictures instead."
            )
    pictures, notes = _pictures(wanted)
    _check_rows(len(pictures.names), LEAST_ROWS)
    made = _made(wanted, pictures, len(pictures.names), None, progress)
    return IngestedRows(
        name=pictures.folder.name,
        kind="image",
        ids=pictures.names,
        fields=(),
        cells=((),) * len(pictures.names),
        text=None,
        media=pictures.names,
        folder=str(pictures.folder),
        X=made.X,
        labels=(None,) * len(pictures.names),
        classes=wanted.classes,
        recipe=made.recipe,
        digest=digest(wanted.source),
        notes=(*notes, *made.notes),
    )


def _pictures(wanted: SourceSpec) -> tuple[ImageFiles, tuple[str, ...]]:
    """The pictures of a folder, and what was left out."""
    folder = wanted.source.resolve()
    found = images.list_images(folder)
    if not found.names:
        raise ValueError(
            f"file must be a table, or a folder of pictures that end in {', '.join(images.TYPES)}; "
            f"got the folder {str(wanted.source)!r} without any. Name another one."
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
def _from_file(wanted: SourceSpec, progress: StageProgress) -> IngestedRows:
    """The rows of a file."""
    table, notes = _read(wanted, progress, LEAST_ROWS)
    intake = _from_table(table, wanted, progress)
    name, content = _stem(wanted.source.name), digest(wanted.source)
    return replace(intake, name=name, digest=content, notes=(*notes, *intake.notes))


def _from_table(table: Table, wanted: SourceSpec, progress: StageProgress) -> IngestedRows:
    """The rows of a table that has no name yet."""
    asked = {role: getattr(wanted, role) for role in ("label", "id", "text", "image")}
    role = schema.infer_roles(table, asked)
    ids = schema.row_ids(table, role.id)
    labels, classes = schema.row_labels(table, role.label, wanted.classes)
    shown = [i for i in range(len(table.names)) if i not in (role.label, role.id, role.image)]
    fields = Table(tuple(table.names[i] for i in shown), tuple(table.columns[i] for i in shown))
    name = None if role.text is None else table.names[role.text]
    pictures = None if role.image is None else _media(wanted, table, role.image)
    made = _made(wanted, pictures or fields, len(ids), name or wanted.image, progress)
    progress("preparing rows", MADE)
    cells = [_shown(table.columns[i], whole=i == role.text) for i in shown]
    return IngestedRows(
        name="",
        kind="image" if pictures else "table" if name is None else "text",
        ids=ids,
        fields=fields.names,
        cells=tuple(zip(*cells, strict=True)) if cells else ((),) * len(ids),
        text=name,
        media=pictures.names if pictures else (),
        folder=str(pictures.folder) if pictures else None,
        X=made.X,
        labels=labels,
        classes=classes,
        recipe=made.recipe,
        digest="",
        notes=(*role.notes, *made.notes),
    )


def _stem(name: str) -> str:
    """A file's name without its ending."""
    ending = next((one for one in readers.READERS if name.lower().endswith(one)), "")
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


def _made(
    wanted: SourceSpec,
    rows: ImageFiles | Table,
    count: int,
    column: str | None,
    progress: StageProgress,
) -> FeatureMatrix:
    """A recipe fitted to so many rows, and their feature matrix."""

    def report(share: float) -> None:
        progress("making features", READ + share * (MADE - READ))

    report(0.0)
    if wanted.features is not None:
        return features.given_features(wanted.features, count)
    if isinstance(rows, ImageFiles):
        return features.image_features(rows, column, report)
    if column is None:
        return features.table_features(rows)
    made = features.text_features(
        text_cells(rows.columns[rows.names.index(column)]), column, report
    )
    alone = f"column {column} alone makes features; the other columns are only shown."
    return made if len(rows.names) == 1 else replace(made, notes=(alone, *made.notes))


def _media(wanted: SourceSpec, table: Table, place: int) -> ImageFiles:
    """The pictures that a column names, all of them in the file's folder."""
    folder, column = wanted.source.resolve().parent, table.names[place]
    names = text_cells(table.columns[place])
    for row, name in enumerate(names, start=1):
        where = f"row {row} of column {column!r}"
        if name is None:
            raise ValueError(f"image must be the path of a picture; got none in {where}. Add it.")
        images.resolve_image(folder, name, where)
    return ImageFiles(folder, cast("tuple[str, ...]", names))


# ---------------------------------------------------------------- what is shown
def _shown(cells: Cells, *, whole: bool) -> list[str | None]:
    """Cells as people read them, missing ones None; long ones cut unless they are wanted whole."""
    kinds = set(map(type, cells))
    if kinds == {float} and (plain := _all_digits(cells)) is not None:
        return plain
    if kinds <= {float, type(None)}:  # most columns, and worth being quick
        return [None if cell is None else _digits(cell) for cell in cells]
    longest = None if whole else LONGEST_CELL
    return mapped(cells, lambda cell: _readable(cell, longest))


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
