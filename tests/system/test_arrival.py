"""A file of many texts: the page opens with some of them, and the others join behind it."""

import csv
import itertools
import time
from pathlib import Path

import pytest
from support.served import Person, Server

from possibal.labelling.storage.store import Store

ROWS = 5200
PATIENCE = 300.0
WHO = ["My brother", "A neighbour", "The teacher", "Our doctor", "An old friend", "The driver"]
DID = ["lost", "found", "sold", "painted", "repaired", "borrowed", "described", "hid"]
WHAT = ["a card", "the house", "some bread", "a blue car", "the letter", "two dogs", "a garden"]
WHERE = ["in town", "at school", "near the river", "on the train", "after lunch", "in winter"]
WHY = ["for fun", "by mistake", "without a word", "for money"]


def texts(path: Path) -> Path:
    sentences = itertools.product(WHO, DID, WHAT, WHERE, WHY)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["doc_id", "text"])
        for number, words in enumerate(itertools.islice(sentences, ROWS)):
            writer.writerow([f"d{number}", " ".join(words)])
    return path


def arriving(person: Person) -> dict | None:
    return person.client.get("/api/progress").json()["arriving"]


@pytest.mark.long
def test_people_label_while_rows_join_and_a_loss_of_power_loses_nothing(tmp_path):
    texts(tmp_path / "many.csv")
    with Server("many.csv", "--classes", "yes,no", folder=tmp_path, patience=PATIENCE) as server:
        assert f"2,500 of {ROWS:,} rows are ready" in server.log.read_text(encoding="utf-8")
        ann = server.person("ann")
        question = ann.ask()
        ann.say(question["item"]["row"], "yes")
        known = arriving(ann)
        assert known is None or (known["total"], known["trouble"]) == (ROWS, None)
        server.kill()
    with Server("many.csv", folder=tmp_path, patience=PATIENCE) as server:
        ann = server.person("ann")
        until = time.monotonic() + PATIENCE
        while (known := arriving(ann)) is not None:
            assert known["trouble"] is None
            assert time.monotonic() < until
            time.sleep(0.2)
        assert ann.client.get("/api/progress").json()["rows"] == ROWS
        ann.say(ann.ask()["item"]["row"], "no")
        assert server.stop().count("Traceback") == 0
    with Store.open(str(tmp_path / "many.csv.possibal.db"), writes=False) as store:
        ids, events = {row: name for name, row in store.places().items()}, store.events()
        assert sorted(ids.values(), key=lambda name: int(name[1:])) == [
            f"d{number}" for number in range(ROWS)
        ]
        first = next(event for event in events if event.label == "yes")
        assert ids[first.row] == question["item"]["id"]
        assert store.setup().is_complete
