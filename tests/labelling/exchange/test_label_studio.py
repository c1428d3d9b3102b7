import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from support.begun import said, told
from support.exchanged import imported, labelled, opinions, pool_of

from possibal.labelling.exchange import label_studio
from possibal.labelling.storage.journal import Kind


@pytest.fixture(name="db")
def _db(tmp_path):
    return labelled(tmp_path)


def test_a_task_has_its_row_and_a_prediction_whose_score_is_the_necessity(db):
    with pool_of(db) as (pool, _):
        first, last = label_studio.tasks(pool)[0], label_studio.tasks(pool)[-1]
        row = pool.rows[0]
        assert first["data"] == {"possibal_id": row.item.id, "row": row.cells}
        (prediction,) = first["predictions"]
        assert prediction["score"] == row.necessity
        assert prediction["model_version"] == pool.version
        assert prediction["result"][0]["value"] == {"choices": [row.predicted.label]}
        assert "annotations" not in first
        assert last["annotations"][0]["result"][0]["value"] == {"choices": ["large"]}


def test_what_was_settled_is_ground_truth(db):
    told(db, said(0, "large", "bob", Kind.SETTLE))
    with pool_of(db) as (pool, _):
        tasks = {one["data"]["possibal_id"]: one for one in label_studio.tasks(pool)}
    assert [one["ground_truth"] for one in tasks["r0"]["annotations"]] == [False, True]


def test_what_was_written_and_comes_back_is_not_new(db, tmp_path):
    with pool_of(db) as (pool, _):
        tasks = label_studio.tasks(pool)
    for number, one in enumerate(tasks, start=1):
        for annotation in one.setdefault("annotations", []):  # as Label Studio fills them in
            now = {"id": number, "completed_by": 1, "updated_at": "2026-01-31T12:00:00Z"}
            annotation |= {**now, "was_cancelled": False}
    before = opinions(db)
    assert imported(db, tmp_path / "back.json", tasks) == 0
    assert opinions(db) == before


def test_the_interface_offers_every_class_with_its_key_and_description(db):
    with pool_of(db) as (pool, _):
        names = ("<&>", '"a"', *map(str, range(9)))
        root = ET.fromstring(  # noqa: S314 - our own
            label_studio.interface(replace(pool, classes=names, descriptions={"<&>": "a < b"}))
        )
    (choices,) = root.findall("Choices")
    assert choices.attrib["toName"] == "row"
    found = [one.attrib for one in choices]
    assert [one["value"] for one in found] == list(names)
    assert found[0] == {"value": "<&>", "hotkey": "1", "hint": "a < b"}
    assert [one.get("hotkey") for one in found] == [*"123456789", None, None]


def test_texts_and_pictures_are_shown_as_such(db):
    with pool_of(db) as (pool, _):
        setup = replace(pool.setup, text="colour", folder="/home/me/shots")
        row = replace(pool.rows[0], item=replace(pool.rows[0].item, media="a b/1.png"), text="red")
        shown = replace(pool, setup=setup, rows=(row,))
    (task,) = label_studio.tasks(shown)
    assert task["data"]["image"] == "/data/local-files/?d=shots/a%20b/1.png"
    assert task["data"]["text"] == "red"
    interface = label_studio.interface(shown)
    assert interface.index("<Image") < interface.index("<Text") < interface.index("<Table")
    assert 'toName="image"' in interface
    assert task["predictions"][0]["result"][0]["to_name"] == "image"


def test_without_classes_there_is_no_interface():
    with pytest.raises(ValueError, match="classes must be known to choose from; got none"):
        label_studio.check_classes(())


def test_files_are_json_and_xml(db):
    with pool_of(db) as (pool, _):
        found = label_studio.to_files(pool)
        assert json.loads(found[".json"]) == label_studio.tasks(pool)
        assert found[".xml"].decode() == label_studio.interface(pool)
