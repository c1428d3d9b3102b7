"""A folder that Hugging Face `datasets` loads: Parquet files, and a card that names the classes.

`load_dataset(folder)` gives the splits train (labelled rows), test (check rows, which the model
never learns from) and unlabelled, with labels and predictions as ClassLabel.
"""

import json
from collections.abc import Sequence

from possibal.data import writers
from possibal.data.writers import SheetColumn
from possibal.labelling.exchange.exchanged_rows import ExchangedPool, ExchangedRow
from possibal.labelling.label_files import free_names

HEADS = ("id", "label", "predicted", "chance", "necessity")
"""What is said of each row, before what is shown of it."""
CLASSES, NUMBERS = frozenset(["label", "predicted"]), frozenset(["chance", "necessity"])
SPLITS = ("train", "test", "unlabelled")
CARD = "README.md"
"""The file that tells `datasets` what there is."""


def folder_files(pool: ExchangedPool) -> dict[str, bytes]:
    """The files of the folder, by their names."""
    image = ["image"] * bool(pool.setup.folder)
    taken = [*HEADS, *image]
    names = [*taken, *free_names(pool.setup.fields, taken)]
    found = dict[str, bytes]()
    for split in SPLITS:
        rows = [row for row in pool.rows if _split(row) == split]
        if rows:
            columns = _columns(pool, rows, names)
            found[f"{split}.parquet"] = writers.write_sheet(columns, ".parquet")
    return {CARD: _card(pool, names, list(found)).encode(), **found}


def _split(row: ExchangedRow) -> str:
    """The split that a row is in."""
    if row.label is None:
        return "unlabelled"
    return "test" if row.is_check else "train"


def _columns(
    pool: ExchangedPool, rows: Sequence[ExchangedRow], names: Sequence[str]
) -> list[SheetColumn]:
    """Rows as columns; classes by their numbers, pictures by their paths."""
    number = {name: place for place, name in enumerate(pool.classes)}
    said = [_cells(row, number, pool.setup.folder) for row in rows]
    columns = zip(*said, strict=True)
    return [
        SheetColumn(name, cells, name in NUMBERS)
        for name, cells in zip(names, columns, strict=True)
    ]


def _cells(
    row: ExchangedRow, number: dict[str, int], folder: str | None
) -> tuple[str | float | None, ...]:
    """What is said and shown of a row."""
    label = None if row.label is None else number[row.label]
    one = row.predicted
    told = (None, None) if one is None else (number.get(one.label), one.chance.value)
    image = () if folder is None else (row.item.media and f"{folder}/{row.item.media}",)
    return row.item.id, label, *told, row.necessity, *image, *row.item.cells


def _card(pool: ExchangedPool, names: Sequence[str], files: Sequence[str]) -> str:
    """The card: which file is which split, and what each column is."""
    lines = ["---", "configs:", "- config_name: default", "  data_files:"]
    for file in files:
        lines += [f"  - split: {file.removesuffix('.parquet')}", f"    path: {file}"]
    lines += ["dataset_info:", "  config_name: default", "  features:"]
    for name in names:
        lines += [f"  - name: {json.dumps(name, ensure_ascii=False)}", *_feature(pool, name)]
    about = f"{pool.setup.name}: {len(pool.rows)} rows, labelled with possibal."
    return "\n".join([*lines, "---", "", about, ""])


def _feature(pool: ExchangedPool, name: str) -> list[str]:
    """The type of a column."""
    if name not in CLASSES:
        return [f"    dtype: {'float64' if name in NUMBERS else 'string'}"]
    quoted = [json.dumps(one, ensure_ascii=False) for one in pool.classes]
    numbered = [f"          '{place}': {one}" for place, one in enumerate(quoted)]
    return ["    dtype:", "      class_label:", "        names:", *numbered]
