"""Label Studio: the tasks of a campaign as it imports them, and its labelling interface.

    tasks(pool) -> [{"data": ..., "predictions": ..., "annotations": ...}]        interface(pool)

The score of a prediction is the necessity of its label. Label Studio's uncertainty sampling takes
the least score first, which is the row that the model is least sure of.
"""

import json
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from possibal.data.platform_files import CHOICE, ORIGIN, ROW, ROW_ID
from possibal.labelling.exchange.exchanged_rows import ExchangedPool, ExchangedRow
from possibal.labelling.label_files import ExportedOpinion
from possibal.labelling.storage.store import Setup

TEXT, IMAGE = "text", "image"
"""What the text and the picture of a row are called in the data of a task."""
LOCAL_FILES = "/data/local-files/?d="
"""Where Label Studio serves files of its own machine, by their path in its document root."""
KEYS = "123456789"
"""Keys of the first classes, as on our own page."""


def to_files(pool: ExchangedPool) -> dict[str, bytes]:
    """The files of a campaign by what their names end in: its tasks, and the interface."""
    content = json.dumps(tasks(pool), ensure_ascii=False, indent=1)
    return {".json": f"{content}\n".encode(), ".xml": interface(pool).encode()}


def tasks(pool: ExchangedPool) -> list[dict[str, Any]]:
    """The rows as tasks: labels as annotations, and what is predicted as a prediction."""
    shown = control_of(pool.setup)
    return [_task(pool, row, shown) for row in pool.rows]


def control_of(setup: Setup) -> str:
    """What the classes are chosen for: the first of what is shown."""
    shown = [IMAGE] * bool(setup.folder) + [TEXT] * bool(setup.text)
    return (shown or [ROW])[0]


def prediction(
    shown: str, label: str | None, necessity: float | None, version: str
) -> dict[str, Any]:
    """A prediction, without a choice where there is no label to show."""
    result = [] if label is None else [_choice(shown, label)]
    scored = {} if necessity is None else {"score": necessity}
    return {"model_version": version, **scored, "result": result}


def _choice(shown: str, label: str) -> dict[str, Any]:
    """A class as a choice in the interface."""
    value = {"choices": [label]}
    return {"from_name": CHOICE, "to_name": shown, "type": "choices", "value": value}


def _task(pool: ExchangedPool, row: ExchangedRow, shown: str) -> dict[str, Any]:
    """A row as a task."""
    data: dict[str, Any] = {ROW_ID: row.item.id}
    if row.item.media is not None and pool.setup.folder is not None:
        data[IMAGE] = picture_address(pool.setup.folder, row.item.media)
    if pool.setup.text:
        data[TEXT] = row.text or ""
    data[ROW] = dict(row.cells)
    found: dict[str, Any] = {"data": data}
    if pool.version:
        label = row.predicted and row.predicted.label
        found["predictions"] = [prediction(shown, label, row.necessity, pool.version)]
    if row.opinions:
        found["annotations"] = [_annotation(one, shown) for one in row.opinions]
    return found


def _annotation(opinion: ExportedOpinion, shown: str) -> dict[str, Any]:
    """An opinion as an annotation that says whose it is: importing it makes it the importer's."""
    origin = {"who": opinion.who, "label": opinion.label, "when": opinion.when}
    choice = _choice(shown, opinion.label or "") | {"meta": {ORIGIN: origin}}
    return {"result": [choice], "ground_truth": opinion.kind == "settle"}


def picture_address(folder: str, media: str) -> str:
    """Where Label Studio shows a picture: below the folder in which the pictures' folder is."""
    return LOCAL_FILES + quote(str(PurePosixPath(folder).name / PurePosixPath(media)))


# ---------------------------------------------------------------- the interface
def interface(pool: ExchangedPool) -> str:
    """The labelling interface of a project: what is shown of a row, and its classes."""
    setup = pool.setup
    shown = [f'  <Image name="{IMAGE}" value="${IMAGE}"/>'] * bool(setup.folder)
    shown += [f'  <Text name="{TEXT}" value="${TEXT}"/>'] * bool(setup.text)
    if not shown or any(row.cells for row in pool.rows):
        shown.append(f'  <Table name="{ROW}" value="${ROW}"/>')
    head = f'  <Choices name="{CHOICE}" toName="{control_of(setup)}" choice="single-radio"'
    choices = [_offered(pool, place, name) for place, name in enumerate(pool.classes)]
    lines = ["<View>", *shown, f'{head} required="true">', *choices, "  </Choices>", "</View>", ""]
    return "\n".join(lines)


def _offered(pool: ExchangedPool, place: int, name: str) -> str:
    """A class to choose."""
    key = f' hotkey="{KEYS[place]}"' if place < len(KEYS) else ""
    told = pool.descriptions.get(name)
    hint = f" hint={quoteattr(told)}" if told else ""
    return f"    <Choice value={quoteattr(name)}{key}{hint}/>"


def check_classes(classes: Sequence[str]) -> None:
    """Refuse a campaign without classes, of which there is no interface."""
    if not classes:
        raise ValueError(
            "classes must be known to choose from; got none. Label a row of each, or add them with "
            "possibal classes --add."
        )
