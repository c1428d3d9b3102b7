"""JSON lines of Prodigy and doccano, which ask about rows in the order of their file."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from possibal.data.platform_files import ROW_ID
from possibal.labelling.exchange.exchanged_rows import ExchangedPool, ExchangedRow


def prodigy_files(pool: ExchangedPool) -> dict[str, bytes]:
    """Rows as tasks of Prodigy's choice interface; those with a label are answered."""
    options = [{"id": name, "text": name} for name in pool.classes]
    return {".jsonl": _lines(_prodigy_task(pool, row, options) for row in pool.rows)}


def doccano_files(pool: ExchangedPool) -> dict[str, bytes]:
    """Rows as texts of a doccano project for text classification, with their label in a list."""
    if pool.setup.folder:
        raise ValueError(
            "format must be one for pictures, such as label-studio, or prodigy; got 'doccano', "
            "which imports pictures from folders alone. Choose another."
        )
    return {".jsonl": _lines(_doccano_line(row) for row in pool.rows)}


def _lines(objects: Iterable[dict[str, Any]]) -> bytes:
    """Objects, one in each line."""
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects).encode()


def _told(row: ExchangedRow) -> dict[str, Any]:
    """What the model says of a row, in words that both show beside it."""
    one = row.predicted
    said = {} if one is None else {"predicted": one.label, "chance": round(one.chance.value, 3)}
    return said if row.necessity is None else said | {"necessity": row.necessity}


def _prodigy_task(
    pool: ExchangedPool, row: ExchangedRow, options: list[dict[str, str]]
) -> dict[str, Any]:
    """A row as a task."""
    found: dict[str, Any] = {ROW_ID: row.item.id}
    if row.item.media is not None and pool.setup.folder is not None:
        found["image"] = str(Path(pool.setup.folder) / row.item.media)
    else:
        found["text"] = row.plain_text
    found |= {"options": options, "meta": _told(row)}
    if row.label is None:
        return found
    return found | {"accept": [row.label], "answer": "accept", **_annotator(row)}


def _annotator(row: ExchangedRow) -> dict[str, Any]:
    """Whose the label of a row is, and since when, where one person gave it."""
    said = [one for one in row.opinions if one.label == row.label]
    if not said:
        return {}
    made = {} if said[0].made is None else {"_timestamp": said[0].made / 1000}
    return {"_annotator_id": said[0].who, **made}


def _doccano_line(row: ExchangedRow) -> dict[str, Any]:
    """A row as a line; what doccano does not know it keeps and gives back."""
    label = [] if row.label is None else [row.label]
    return {"text": row.plain_text, "label": label, ROW_ID: row.item.id, **_told(row)}
