import json
from dataclasses import replace

import pytest
from support.begun import said, told
from support.exchanged import imported, labelled, opinions, pool_of

from possibal.labelling.exchange import line_files


def lines(files: dict[str, bytes]) -> list[dict]:
    return [json.loads(line) for line in files[".jsonl"].decode().splitlines()]


@pytest.fixture(name="db")
def _db(tmp_path):
    return labelled(tmp_path)


def test_a_task_of_prodigy_has_its_options_and_is_answered_where_there_is_a_label(db):
    with pool_of(db) as (pool, _):
        found, row = lines(line_files.prodigy_files(pool)), pool.rows[0]
    assert found[0]["text"] == row.plain_text
    assert [one["id"] for one in found[0]["options"]] == ["small", "large"]
    assert found[0]["meta"]["necessity"] == row.necessity
    assert "answer" not in found[0]
    assert (found[-1]["accept"], found[-1]["answer"]) == (["large"], "accept")
    assert found[-1]["_annotator_id"] == "ann"


@pytest.mark.works_with(
    "Prodigy's format", "tasks out and answers in (its files; Prodigy was not run)"
)
def test_what_went_to_prodigy_and_comes_back_is_not_new(db, tmp_path):
    with pool_of(db) as (pool, _):
        given = lines(line_files.prodigy_files(pool))
    assert imported(db, tmp_path / "back.jsonl", given) == 0


def test_a_settled_label_of_nobody_s_has_no_annotator(db):
    told(db, said(0, "large", "bob"), said(0, "large", "cy"))
    with pool_of(db) as (pool, _):
        row = next(one for one in pool.rows if one.item.id == "r0")
        alone = replace(pool, rows=(replace(row, opinions=()),))
        assert "_annotator_id" not in lines(line_files.prodigy_files(alone))[0]


@pytest.mark.works_with(
    "doccano's format", "rows and labels out and in again (its files; doccano was not run)"
)
def test_a_line_of_doccano_keeps_what_it_needs_to_come_back(db, tmp_path):
    with pool_of(db) as (pool, _):
        given = lines(line_files.doccano_files(pool))
    assert given[0]["label"] == []
    assert given[-1]["label"] == ["large"]
    given[0]["label"], given[0]["id"] = ["small"], 99  # a number of doccano's own
    assert imported(db, tmp_path / "back.jsonl", given[:1]) == 1
    assert opinions(db)[given[0]["possibal_id"]] == {"doccano": ("import", "small")}


def test_pictures_go_to_prodigy_by_their_paths_and_not_to_doccano(db):
    with pool_of(db) as (pool, _):
        row = replace(pool.rows[0], item=replace(pool.rows[0].item, media="1.png"))
        shown = replace(pool, setup=replace(pool.setup, folder="/shots"), rows=(row,))
    assert lines(line_files.prodigy_files(shown))[0]["image"] == "/shots/1.png"
    with pytest.raises(ValueError, match="format must be one for pictures"):
        line_files.doccano_files(shown)
