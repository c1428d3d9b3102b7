"""Formats of other labelling platforms: a campaign written for them, and what comes back.

    write_exchange(pool, "label-studio", Path("tasks.json"))
    read_labels(Path("export.json"), store) -> events

Rows are told apart by their ids alone. A file comes in whole, or not at all.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from possibal.arguments import choice
from possibal.data import readers
from possibal.data.encoders import cell_text
from possibal.data.platform_files import (
    ROW_ID,
    JsonObject,
    Platform,
    PlatformAnnotation,
    Said,
    platform_of,
)
from possibal.files import check_place, folder, write
from possibal.labelling import label_files
from possibal.labelling.exchange import hugging_face, label_studio, line_files
from possibal.labelling.exchange.exchanged_rows import (
    ExchangedPool,
    exchanged_pool,
    id_column,
)
from possibal.labelling.label_files import Record
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.read_model import ReadModel
from possibal.labelling.remarks import LONGEST
from possibal.labelling.storage.journal import Event, Kind, check_who
from possibal.labelling.storage.store import Setup, Store

MARK_WITHIN = 2000
"""Bytes at the start of a file in which one of ours shows that it is."""
UNKNOWN_FILE = (
    "file must be tasks of Label Studio, Prodigy or doccano, or end in .csv, .parquet or .jsonl "
    "and have the columns id and label; got {got} in {path!r}. {remedy}"
)


# ---------------------------------------------------------------- out
@dataclass(frozen=True)
class ExchangeFormat:
    """A format that another platform reads.

    Attributes:
        files: of a campaign, by what their names end in, or by their names in a folder.
        ending: of the file that is named; empty for a folder.
        mark: what the file that is named, or a card in the folder, has if it is ours.
    """

    files: Callable[[ExchangedPool], dict[str, bytes]]
    ending: str
    mark: str = f'"{ROW_ID}"'


FORMATS: dict[str, ExchangeFormat] = {
    "label-studio": ExchangeFormat(label_studio.to_files, ".json"),
    "prodigy": ExchangeFormat(line_files.prodigy_files, ".jsonl"),
    "doccano": ExchangeFormat(line_files.doccano_files, ".jsonl"),
    "huggingface": ExchangeFormat(hugging_face.folder_files, "", "labelled with possibal."),
}
"""By the name that users give."""


def check_exchange(name: str, to: Path, store: Store, *, force: bool = False) -> None:
    """Refuse a place where a format cannot be written, before any model is fitted.

    Args:
        name: of the format.
        to: the file, or the folder.
        store: of the campaign, none of whose files is to be lost.
        force: whether other files may be written over.
    """
    known = choice("format", name, FORMATS)
    _check_one_label("format", name, store)
    if known.ending:
        if not to.name.lower().endswith(known.ending):
            raise ValueError(
                f"to must end in {known.ending} for {name}; got {str(to)!r}. Name such a file."
            )
        check_place(to, "to")
    elif to.exists() and not to.is_dir():
        raise ValueError(
            f"to must be a folder for {name}; got the file {str(to)!r}. Name a new folder."
        )
    for path in _written(known, to):
        label_files.check_no_source(path, store)
    is_there = (to / hugging_face.CARD).exists() or (to.is_dir() and any(to.iterdir()))
    others = [path for path in _written(known, to) if path.exists()]
    if (others or (not known.ending and is_there)) and not (force or _is_ours(known, to)):
        raise ValueError(
            f"to must be new, or what this command wrote; got {str((others or [to])[0])!r}, which "
            "exists and is another. Choose another, or write over it with --force."
        )


def _check_one_label(argument: str, got: str, store: Store) -> None:
    """Refuse a campaign whose rows may have several labels, which no format carries yet."""
    if store.setup().multi:
        raise ValueError(
            f"{argument} must be left to campaigns of one label a row; got {got}. Use CSV, Parquet "
            "or JSON lines, whose column label lists all of a row."
        )


def write_exchange(pool: ExchangedPool, name: str, to: Path) -> list[Path]:
    """Write a campaign in a format, where that was checked; the files that were written."""
    known = choice("format", name, FORMATS)
    label_studio.check_classes(pool.classes)
    found = known.files(pool)
    if not known.ending:
        folder(to, "to")
    placed = {_place(known, to, part): content for part, content in found.items()}
    for path, content in placed.items():
        write(path, content)
    for path in set(_written(known, to)) - set(placed):  # a split that has no rows any more
        path.unlink(missing_ok=True)
    return list(placed)


def export_exchange(
    read_model: ReadModel, predictions: RankingPredictions | None, name: str, to: Path
) -> str:
    """Write a campaign in a format, where that was checked; what was written, in one sentence."""
    pool = exchanged_pool(read_model, predictions)
    files = write_exchange(pool, name, to)
    labelled = sum(row.label is not None for row in pool.rows)
    said = f"Wrote {len(pool.rows)} rows, {labelled} of them with labels, "
    said += "" if pool.version else "without predictions, as fewer than two classes have labels, "
    said += f"to {' and '.join(map(str, files if known_ending(name) else [to]))}"
    left = f"; {pool.dropped} that were dropped are left out" if pool.dropped else ""
    tells = pool.setup.hidden_folders
    return said + left + ("; ids begin with folders that tell labels" if tells else "")


def known_ending(name: str) -> str:
    """What a file of a format ends in; empty for a folder."""
    return FORMATS[name].ending


def _written(known: ExchangeFormat, to: Path) -> list[Path]:
    """All files that a format may write."""
    if known.ending:
        parts = [known.ending, *([".xml"] if known is FORMATS["label-studio"] else [])]
    else:
        parts = [hugging_face.CARD, *(f"{split}.parquet" for split in hugging_face.SPLITS)]
    return [_place(known, to, part) for part in parts]


def _place(known: ExchangeFormat, to: Path, part: str) -> Path:
    """Where a file of a format is written."""
    if not known.ending:
        return to / part
    return to if part == known.ending else to.with_suffix(part)


def _is_ours(known: ExchangeFormat, to: Path) -> bool:
    """Whether we wrote what is there."""
    try:
        with (to if known.ending else to / hugging_face.CARD).open("rb") as file:
            content = file.read(MARK_WITHIN) if known.ending else file.read()
    except OSError:
        return False
    return known.mark.encode() in content


# ---------------------------------------------------------------- in
def read_labels(path: Path, store: Store, encoding: str | None = None) -> list[Event]:
    """What a file of labels or of a platform says that is not known yet, or one sentence.

    Args:
        path: a file that :func:`possibal.labelling.label_files.read_labels` reads, or one of a
            platform.
        store: of the campaign.
        encoding: of the file's text.
    """
    if path.name.lower().endswith(readers.OBJECT_FILES):
        placed = readers.read_objects(path, encoding)
        platform = platform_of([one for _, one in placed])
        if platform is not None:
            _check_one_label("labels", f"those of {platform.name}", store)
            records, keys = _platform_records(path, placed, platform, store)
            return label_files.labels_of_records(path, records, store, keys, is_open=False)
        if not path.name.lower().endswith(".jsonl"):
            raise _unknown(path, placed)
    return label_files.read_labels(path, store, encoding)


def _unknown(path: Path, placed: list[readers.JsonRow]) -> ValueError:
    """The sentence on a file that is of no platform."""
    is_flat = any("annotation_id" in one for _, one in placed)
    got = "Label Studio's JSON-MIN, which says too little," if is_flat else "other objects"
    remedy = "Export the project as JSON." if is_flat else "Export it anew."
    return ValueError(UNKNOWN_FILE.format(got=got, path=str(path), remedy=remedy))


def _platform_records(
    path: Path, placed: list[readers.JsonRow], platform: Platform, store: Store
) -> tuple[list[Record], dict[str, str]]:
    """What people said in the tasks of a file, and the keys of what has its own."""
    setup = store.setup()
    classes = store.state().classes(setup.classes)
    records, keys = list[Record](), dict[str, str]()
    for place, one in placed:
        at = f"{place} of {str(path)!r}"
        task = platform.task(one, at)
        if task.annotations:
            name = task_row_id(task.data, setup, at, is_counted=platform.name == "doccano")
            for where, said in _numbered(place, task.annotations):
                records.append((where, {"id": name, **_cells(said, classes)}))
                keys |= {where: said.key} if said.key else {}
    return records, keys


def _numbered(
    place: str, said: tuple[PlatformAnnotation, ...]
) -> Iterator[tuple[str, PlatformAnnotation]]:
    """Annotations, each with a place of its own."""
    for number, one in enumerate(said, start=1):
        yield place if len(said) == 1 else f"{place}, annotation {number},", one


def task_row_id(data: JsonObject, setup: Setup, place: str, *, is_counted: bool = False) -> str:
    """The id of the row that a task is about, or one sentence where it names none.

    Args:
        data: of the task.
        setup: of the campaign.
        place: where the task stands.
        is_counted: whether the platform calls a number of its own id.
    """
    column = id_column(setup)
    names = [ROW_ID, *([column] if column and not (is_counted and column == "id") else [])]
    found = next((data[name] for name in names if data.get(name) is not None), None)
    if found is None:
        raise ValueError(
            f"task must name its row as {' or '.join(names)} in its data; got none at {place}. "
            "Begin the project with what possibal export writes."
        )
    return cell_text(found)


def _cells(said: PlatformAnnotation, classes: tuple[str, ...]) -> Mapping[str, str | None]:
    """What a person said, as the cells of a file of labels."""
    check_who(said.who)
    cells: dict[str, str | None] = {
        "label": said.label,
        "kind": said.said.value,
        "who": said.who,
        "when": said.when,
    }
    if said.said is not Said.NOT:
        return cells
    others = [name for name in classes if name != said.label]
    if len(classes) == 2 and len(others) == 1:  # noqa: PLR2004 - what is not the one is the other
        return cells | {"label": others[0], "kind": Said.LABEL.value}
    remark = f"not {said.label}"[: LONGEST[Kind.COMMENT]]
    return cells | {"label": "", "kind": Said.UNSURE.value, "comment": remark}
