"""Every row as a file: what is said of each, and which of them need a look."""

import csv
import io
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from support.services import answer, campaign, event, new_service, rows, serving, truth, walk

from possibal.data.name_types import NameType
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.row_file import (
    DIFFER,
    DOUBTFUL,
    MISTAKEN,
    ROW_HEADS,
    SOUGHT_HEADS,
    UNKNOWN,
    rows_file,
    whole_predictions,
)
from possibal.labelling.storage.journal import Kind
from possibal.labelling.storage.store import Store

X = rows(40)


@pytest.fixture(name="at")
def _at(tmp_path):
    with new_service(tmp_path, X, check=5) as service:
        walk(service, "ann", 10)
        service.scheduler.rank()
        yield service


def lines(at, predictions: RankingPredictions | None, **options) -> list[dict[str, str]]:
    content, _ = rows_file(at.read_model, predictions, ".csv", **options)
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_there_is_a_line_for_each_row_with_its_label_and_what_is_predicted(at):
    known, labels = whole_predictions(at.read_model), at.read_model.state.labels
    told = lines(at, known)
    assert len(told) == 40
    check = set(at.read_model.check_rows)
    for row, line in enumerate(told):
        one = known.of_row(row)
        assert line["label"] == labels.get(row, "")
        assert line["by"] == ("ann" if row in labels else "")
        assert line["predicted"] == one.label
        numbers = [float(line[name]) for name in ("chance", "chance_low", "chance_high")]
        assert numbers == [one.chance.value, one.chance.low, one.chance.high]
        assert float(line["necessity"]) == one.necessity
        assert line["check"] == ("yes" if row in check else "")
        doubted = row not in labels and one.chance.value < 0.95
        assert line["needs_look"] == (DOUBTFUL if doubted else "")
    _, needing = rows_file(at.read_model, known, ".csv")
    assert needing == sum(line["needs_look"] != "" for line in told)
    assert list(told[0])[: len(ROW_HEADS)] == list(ROW_HEADS)
    assert set(lines(at, known, fields=False)[0]) == set(ROW_HEADS)


def test_what_is_predicted_is_what_the_page_says(at):
    known, served = whole_predictions(at.read_model), at.scheduler.predictions
    assert known.of(range(40)) == served.of(range(40))


def test_rows_need_a_look_for_what_people_said_too(tmp_path):
    labels, other = truth(X), {"yes": "no", "no": "yes"}
    with new_service(tmp_path, X) as at:
        asked = np.argsort(-np.abs(X[:, 0])).tolist()
        wrong, differ, bad = asked[3], *asked[26:28]
        for row in asked[:25]:
            answer(at, "ann", row, other[labels[row]] if row == wrong else labels[row])
        answer(at, "ben", differ, "yes")
        answer(at, "cy", differ, "no")
        at.answer(event("ben", bad, kind=Kind.BAD))
        at.scheduler.rank()
        told = lines(at, whole_predictions(at.read_model))
        looks = {row: line["needs_look"] for row, line in enumerate(told)}
        assert (looks[wrong], looks[differ], looks[bad]) == (MISTAKEN, DIFFER, "")
        assert set(told[differ]["by"].split(", ")) == {"ben", "cy"}


def test_before_two_classes_have_labels_nothing_is_predicted(tmp_path):
    with new_service(tmp_path, X) as at:
        answer(at, "ann", 3, "yes")
        assert whole_predictions(at.read_model) is None
        told = lines(at, None)
        assert {line["predicted"] for line in told} == {""}
        assert [line["needs_look"] for line in told] == [
            "" if row == 3 else UNKNOWN for row in range(40)
        ]


def test_a_model_looks_at_every_row_of_a_large_pool(tmp_path, monkeypatch):
    monkeypatch.setattr("possibal.campaign.pool.LARGE_POOL", 30)
    monkeypatch.setattr("possibal.labelling.ranking.OVERVIEW_SAMPLE", 5)
    monkeypatch.setattr("possibal.labelling.ranker.BLOCK", 16)
    monkeypatch.setattr("possibal.labelling.ranker.BATCH_CANDIDATES", 5)
    shares = list[float]()
    with new_service(tmp_path, X) as at:
        walk(at, "ann", 8)
        at.scheduler.rank()
        assert len(at.scheduler.ranking.looked_at) < 40
        known = whole_predictions(at.read_model, shares.append)
        assert len(known.ranking.looked_at) == 40
        assert None not in known.of(range(40))
    assert shares == [0.4, 0.8, 1.0]


def test_names_keep_their_type_where_the_format_has_types(tmp_path):
    setup, contents = campaign(X, id_type=NameType.WHOLE)
    items = [replace(one, id=str(one.row + 7)) for one in contents.items]
    made = Store.create(str(tmp_path / "a.db"), setup, replace(contents, items=items))
    with made as store, serving(store) as at:
        walk(at, "ann", 6)
        content, _ = rows_file(at.read_model, at.scheduler.predictions, ".parquet")
        frame = pl.read_parquet(io.BytesIO(content))
        assert frame.schema["chance"] == pl.Float64
        assert frame["id"].to_list() == list(range(7, 47))


def test_where_a_class_is_sought_its_rows_come_first_then_the_likeliest_without_a_label(tmp_path):
    with new_service(tmp_path, X, find="yes") as at:
        cold = lines(at, None)
        assert [line["id"] for line in cold] == [f"id-{row}" for row in range(40)]
        walk(at, "ann", 10)
        at.answer(event("ann", at.rows("ann", 1)[0], kind=Kind.BAD))
        known, state = whole_predictions(at.read_model), at.read_model.state
        told = lines(at, known)
    order = [int(line["id"].removeprefix("id-")) for line in told]
    assert sorted(order) == list(range(40))
    found = [row for row in range(40) if state.labels.get(row) == "yes"]
    rest = [one.row for one in known.sought_first(set(range(40)) - set(state.verdicts))]
    assert order[: len(found)] == found
    assert order[len(found) :][: len(rest)] == rest
    assert list(told[0])[len(ROW_HEADS) :][:3] == list(SOUGHT_HEADS)
    chances = [line["sought_chance"] for line in told]
    assert set(chances[: len(found)]) == set(chances[len(found) + len(rest) :]) == {""}
    numbers = [float(one) for one in chances[len(found) :][: len(rest)]]
    assert numbers == sorted(numbers, reverse=True)
