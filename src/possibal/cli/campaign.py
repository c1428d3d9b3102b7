"""The commands about what a campaign came to: its labels, its model, its health.

What they do is imported when they run, so that help comes at once.
"""

import json
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from possibal.cli.campaign_here import Database
from possibal.cli.console import console, grid, mistakes
from possibal.files import check_not_read, check_place, write
from possibal.progress import shares

if TYPE_CHECKING:
    from possibal.labelling.saved_model import Predictions
    from possibal.labelling.storage.doctor import Finding
    from possibal.labelling.storage.store import Store

Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Write over a file that this command did not write; never over its input."
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Of the file's text, for example cp1252; UTF-8 if left out."),
]
PREDICTED = ("id", "label", "probability", "necessity")
"""What is said of each row that is predicted."""


# ---------------------------------------------------------------- labels
def export(  # noqa: PLR0913 - one argument per option
    db: Database,
    *,
    to: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Ends in .csv, .parquet or .jsonl; for label-studio in .json, for huggingface a "
            "folder.",
        ),
    ] = Path("labels.csv"),
    format: Annotated[  # noqa: A002 - the name of the option
        str | None,
        typer.Option(
            metavar="NAME",
            help="For another platform: label-studio, prodigy, doccano or huggingface. Every row, "
            "those that the model is least sure of first.",
        ),
    ] = None,
    fields: Annotated[
        bool, typer.Option(help="With the columns that people saw, or without.")
    ] = True,
    rows: Annotated[
        bool,
        typer.Option("--rows", help="Every row with what the model predicts, not every answer."),
    ] = False,
    by_class: Annotated[
        bool,
        typer.Option(
            "--by-class", help="With a column of 0 and 1 for each class, where rows have several."
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Write all labels to a file: who said what of which row, when, and what holds.

    Each line is one person's opinion; the column `final` is the label of the row: what was settled,
    else what most people said. With --rows, each line is a row: its label and who gave it, the
    class that the model predicts, the chance of that with its range, and in needs_look why
    somebody should look at it; the model is fitted for it. With --format, the rows are written as
    another labelling platform reads them, with labels and predictions (docs/adapters.md). Works
    while people label. An earlier export is written over, but no other file, and never the rows
    that are labelled.
    """
    from possibal.labelling import label_files
    from possibal.labelling.storage.store import Store

    with mistakes():
        if format is not None:
            _check_alone(rows=rows, fields=fields, by_class=by_class)
        with Store.open(db, writes=False) as store:
            if format is not None:
                said = _exchange(store, format, to, force=force)
            elif rows:
                said = _rows_export(store, to, (fields, by_class), force=force)
            else:
                answers, about = label_files.write_labels(
                    store, to, fields=fields, by_class=by_class, force=force
                )
                said = f"Wrote {answers} answers about {about} rows to {to}"
    _say(said)


def _check_alone(*, rows: bool, fields: bool, by_class: bool) -> None:
    """Refuse options that a format of another platform knows nothing of."""
    given = {"--rows": rows, "--no-fields": not fields, "--by-class": by_class}
    for option in (name for name, is_given in given.items() if is_given):
        raise ValueError(
            f"format must be given without {', '.join(given)}, as it has every row with what is "
            f"shown of it; got {option}. Leave it out."
        )


def _exchange(store: "Store", name: str, to: Path, *, force: bool) -> str:
    """Write all rows for another platform; what is said of it."""
    from possibal.labelling.exchange.formats import check_exchange, export_exchange
    from possibal.labelling.read_model import ReadModel
    from possibal.labelling.row_file import whole_predictions

    check_exchange(name, to, store, force=force)
    read_model = ReadModel(store)
    with shares() as tell:
        predictions = whole_predictions(read_model, lambda share: tell("predicting", share))
    return export_exchange(read_model, predictions, name, to)


def _rows_export(store: "Store", to: Path, columns: tuple[bool, bool], *, force: bool) -> str:
    """Write all rows to a file; what is said of it.

    Args:
        store: of the campaign.
        to: the file.
        columns: whether with what people saw, and with a column for each class.
        force: whether another file is written over.
    """
    from possibal.data import writers
    from possibal.labelling import label_files
    from possibal.labelling.read_model import ReadModel
    from possibal.labelling.row_file import ROW_HEADS, rows_file, whole_predictions

    ending = writers.ending_of(to, "to")
    check_place(to, "to")
    label_files.check_no_source(to, store)
    writers.check_overwritten(to, "to", ROW_HEADS, force=force)
    read_model = ReadModel(store)
    count = read_model.setup.rows
    with shares() as tell:
        predictions = whole_predictions(read_model, lambda share: tell("predicting", share))
    fields, by_class = columns
    content, needing = rows_file(read_model, predictions, ending, fields=fields, by_class=by_class)
    write(to, content)
    if predictions is None:
        few = "without predictions, as fewer than two classes have labels,"
        return f"Wrote {count} rows, {few} to {to}"
    return f"Wrote {count} rows, of which {needing} need a look, to {to}"


def import_labels(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A .csv, .parquet or .jsonl file with the columns id and label; or what Label "
            "Studio (JSON), Prodigy or doccano (JSONL) exported.",
        ),
    ],
    db: Database,
    *,
    encoding: Encoding = None,
) -> None:
    """Bring labels from a file into a campaign: all of them, or none and the line that is wrong.

    The file needs the columns `id` and `label`; `kind` (label, unsure, bad, settle or comment),
    `who`, `when`, `necessity` and `comment` are taken too, and what possibal export wrote can be
    read as it is. What is known already is not added again. A label that is no class yet becomes
    one.

    What another platform exported is told by itself: rows by the id that possibal export --format
    wrote, or by the column that names them; people by their names there; labels must be classes.
    """
    from possibal.labelling.exchange import formats
    from possibal.labelling.storage.store import Store

    with mistakes(), Store.open(db) as store:
        events = formats.read_labels(file, store, encoding)
        store.append(events)
    _say(f"Added {len(events)} answers from {file}" if events else f"Nothing in {file} is new")


# ---------------------------------------------------------------- status
def status(
    db: Database,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="For programs: print one JSON object.")
    ] = False,
) -> None:
    """Show how far a campaign is, and whether it may stop: what the page says of it.

    Nothing is learnt for it, so it comes at once; it works while people label. What the model says
    is from when the page was open last, or less than two minutes ago if it is.
    """
    from possibal.cli import status_session

    with mistakes():
        found = status_session.status(db)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    for sentence in status_session.sentences(found):
        _say(sentence)
    console().print(grid("", [("what", False), ("now", False)], status_session.lines(found)))


# ---------------------------------------------------------------- model
def model(
    db: Database,
    *,
    to: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="A new folder, or a file that ends in .skops."),
    ] = Path("model"),
    with_check: Annotated[
        bool,
        typer.Option(
            "--with-check", help="Learn from the check rows too, when nothing is left to measure."
        ),
    ] = False,
) -> None:
    """Keep what was learnt, to predict labels of new rows with possibal predict.

    The model is a folder of text and numbers that any machine can read and that runs no code; a
    file that ends in .skops is one for skops.io. Works while people label.
    """
    from possibal.labelling.saved_model import SavedModel
    from possibal.labelling.storage.store import Store

    with mistakes():
        with Store.open(db, writes=False) as store:
            kept = SavedModel.of(store, with_check=with_check)
        kept.save(to)
    classes = ", ".join(kept.classes)
    _say(f"The model of {len(kept.labels)} labelled rows ({classes}) is in {to}")


def predict(  # noqa: PLR0913 - one argument per option
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What possibal model wrote.")],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="New rows: a file like the one that was labelled, or a folder."
        ),
    ],
    *,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Ends in .csv, .parquet or .jsonl; CSV is printed if left out."
        ),
    ] = None,
    id: Annotated[  # noqa: A002 - the name of the option
        str | None, typer.Option(metavar="COLUMN", help="The column that names the rows.")
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Your own numbers, if the campaign had such: a .npy file."
        ),
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR_OR_FILE",
            help="Your own model for texts or pictures, if the campaign had one and it has moved.",
        ),
    ] = None,
    encoding: Encoding = None,
    fields: Annotated[
        bool, typer.Option(help="With the other columns of the file, or without.")
    ] = True,
    force: Force = False,
) -> None:
    """Predict labels of new rows: the likeliest, its probability, and its necessity.

    Necessity says how much speaks against all other labels: at 0 another one is as credible, near 1
    none is. Rows with a low necessity are worth a look by a person. Where rows may have several
    classes, label is the set of them, and each class has a probability and a necessity. Earlier
    predictions are written over, but no other file, and never the new rows.
    """
    from possibal.data import writers
    from possibal.data.ingest import SourceSpec, ingest_new_rows
    from possibal.embedding.cache import cache_beside, withdrawn_if_refused
    from possibal.labelling.saved_model import SavedModel

    with mistakes(), shares() as tell:
        read = {"the file that is predicted": file, "the file of features": features}
        ending = ".csv" if to is None else _checked_ending(to, read, force=force)
        known = SavedModel.load(model)
        wanted = SourceSpec(
            file,
            id=id,
            features=features,
            encoding=encoding,
            encoder=encoder,
            cache=cache_beside(file),
        )
        with withdrawn_if_refused(wanted.cache):
            rows = ingest_new_rows(
                known.recipe, wanted, lambda words, share: tell(words, share / 2), known.first
            )
        found = known.predict(rows.X, lambda share: tell("predicting", 0.5 + share / 2))
        columns = _columns(rows.ids, found)
        if fields:
            columns += writers.user_columns(rows.table, [column.name for column in columns])
        content = writers.write_sheet(columns, ending)
    for note in rows.notes:
        typer.echo(note, err=True)
    if to is None:
        typer.echo(content, nl=False)
        return
    write(to, content)
    _say(f"Wrote predictions for {len(rows.ids)} rows to {to}")


def _checked_ending(to: Path, read: Mapping[str, Path | None], *, force: bool) -> str:
    """The ending of a file for predictions, if it may be written."""
    from possibal.data import writers

    ending = writers.ending_of(to, "to")
    check_place(to, "to")
    check_not_read(to, "to", read)
    writers.check_overwritten(to, "to", PREDICTED, force=force)
    return ending


def _columns(ids: tuple[Hashable, ...], found: "Predictions") -> list[Any]:
    """Predictions as columns of a file."""
    from possibal.data.writers import SheetColumn

    cells = (ids, found.label, found.probability.tolist(), found.necessity.tolist())
    is_number = (False, False, True, True)
    each = [
        SheetColumn(f"{what} {name}", values.tolist(), is_number=True)
        for name, both in found.members.items()
        for what, values in zip(PREDICTED[2:], both, strict=True)
    ]
    return [*map(SheetColumn, PREDICTED, cells, is_number), *each]


# ---------------------------------------------------------------- health
def doctor(
    db: Annotated[
        str | None,
        typer.Argument(metavar="DB", help="A campaign; without one, this machine is looked at."),
    ] = None,
) -> None:
    """Look whether a campaign's database is well: its file or server, its journal, its pictures.

    Nothing is changed, and people may go on labelling. Exits with 1 if something needs care.
    """
    from possibal.labelling.storage import doctor as health

    with mistakes():
        found = health.machine() if db is None else health.doctor(db)
    for finding in found:
        _say(_told(finding))
    if not all(finding.ok for finding in found):
        raise typer.Exit(1)


def _told(finding: "Finding") -> str:
    """A finding as a line."""
    said = " ".join(finding.sentence.split())
    return f"{'ok  ' if finding.ok else 'look'}  {said[:1].upper()}{said[1:]}"


def backup(
    db: Database,
    *,
    to: Annotated[Path, typer.Option(metavar="FILE", help="A new file, for example safe.db.")],
) -> None:
    """Copy a campaign as of one moment into one new file, which possibal opens like any other.

    Works for files and for PostgreSQL, while people label. The copy is read again before it is put
    in place, and nothing is ever overwritten.
    """
    from possibal.labelling.storage import backup as copies

    with mistakes():
        held = copies.backup(db, to)
    _say(f"The copy is in {to}: {held}")


def _say(sentence: str) -> None:
    """Print a sentence as one line."""
    console().print(sentence, soft_wrap=True)
