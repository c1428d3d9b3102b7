"""Campaigns that are exchanged with other platforms, and what these say of them."""

import json
from contextlib import contextmanager
from pathlib import Path

from support.begun import campaign, clouds, source

from possibal.labelling.exchange import formats
from possibal.labelling.exchange.exchanged_rows import exchanged_pool
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import ReadModel
from possibal.labelling.row_file import whole_predictions
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.journal import replay
from possibal.labelling.storage.store import Store


def labelled(folder: Path, rows: int = 8, **options) -> str:
    """A campaign about thirty rows, the first of which have labels."""
    db = campaign(source(folder), folder / "a.db", **options)
    clouds(db, rows)
    return db


@contextmanager
def pool_of(db: str):
    """The rows of a campaign as they are handed over, and its read model."""
    with Store.open(db, writes=False) as store:
        read_model = ReadModel(store)
        yield exchanged_pool(read_model, whole_predictions(read_model)), read_model


def imported(db: str, path: Path, objects: list) -> int:
    """How many answers a file of these objects brought."""
    lines = "".join(f"{json.dumps(one)}\n" for one in objects)
    path.write_text(json.dumps(objects) if path.suffix == ".json" else lines)
    with Store.open(db) as store:
        events = formats.read_labels(path, store)
        store.append(events)
    return len(events)


def opinions(db: str) -> dict[str, dict[str, tuple[str, str | None]]]:
    """What each person says of each row."""
    with Store.open(db, writes=False) as store:
        names = {place: name for name, place in store.places().items()}
        verdicts = replay(store.events()).verdicts
    return {
        names[row]: {who: (str(one.kind), one.label) for who, one in verdict.opinions.items()}
        for row, verdict in verdicts.items()
        if verdict.opinions
    }


@contextmanager
def running(db: str):
    """A service of a campaign, which ranks when it is asked."""
    with Store.open(db) as store:
        read_model, setup = ReadModel(store), store.setup()
        ranker = InProcessRanker(read_model.X, setup.strategy, setup.seed, setup.geometry)
        scheduler = RankingScheduler(read_model, ranker, background=False)
        yield LabellingService(read_model, scheduler)
        scheduler.close()
