"""Campaigns in files, begun as users begin them, with answers of a few people."""

from itertools import count
from pathlib import Path

import numpy as np

from possibal.data.ingest import SourceSpec, ingest_file
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.storage.journal import LABELLED, Event, Kind
from possibal.labelling.storage.store import Store

CLOCK = count(1_700_000_000_000, 1234)
"""Moments, in milliseconds."""


def source(folder: Path, rows: int = 30, labels: bool = False) -> Path:  # noqa: FBT001, FBT002 - a fixture
    """A CSV file of two clouds of rows, some of them labelled if that is wanted."""
    rng = np.random.default_rng(7)
    cloud = np.arange(rows) % 2
    X = rng.normal(size=(rows, 2)) + 4 * cloud[:, None]
    lines = ["name,width,height,colour,label" if labels else "name,width,height,colour"]
    for row in range(rows):
        known = ["", "small", "large"][1 + cloud[row] if row < 4 else 0]
        cells = [f"r{row}", *(f"{x:.4f}" for x in X[row]), ["red", "blue"][row % 3 == 0]]
        lines.append(",".join([*cells, known] if labels else cells))
    path = folder / "things.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def campaign(path: Path, db: str | Path, classes=("small", "large"), **options) -> str:
    """The address of a campaign that is begun from a file and closed again."""
    wanted = SourceSpec(path, id=None if path.is_dir() else "name", classes=tuple(classes))
    with create_campaign(str(db), ingest_file(wanted, lambda *_: None), Options(**options)):
        return str(db)


def said(row, label="small", who="ann", kind=Kind.LABEL, **more) -> Event:
    """Somebody's word about a row, made after all those before."""
    made = more.pop("made", None) or next(CLOCK)
    key = more.pop("key", f"{made + 1:032x}")
    return Event(key, kind, who, made, row, label if kind in LABELLED else None, **more)


def told(db: str, *events: Event) -> None:
    """Let these events be in the journal."""
    with Store.open(db) as store:
        store.append(events)


def clouds(db: str, rows: int = 12, who: str = "ann") -> None:
    """Label the first rows by the cloud that they are of."""
    told(db, *(said(row, ("small", "large")[row % 2], who) for row in range(rows)))
