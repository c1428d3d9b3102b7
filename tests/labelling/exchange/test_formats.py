import json
from pathlib import Path

import pytest
from support.begun import campaign, said, source, told
from support.exchanged import imported, labelled, opinions

from possibal import open_campaign
from possibal.labelling.exchange import formats
from possibal.labelling.storage.store import Store

WHEN = "2026-01-31T12:00:00Z"
ENDINGS = {
    "label-studio": "a.json",
    "prodigy": "a.jsonl",
    "doccano": "b.jsonl",
    "huggingface": "hf",
}


@pytest.fixture(name="db")
def _db(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return labelled(tmp_path)


def task(name, label, number=1, **more):
    value = {"choices": [label]}
    result = [{"from_name": "label", "to_name": "row", "type": "choices", "value": value}]
    given = {"id": number, "completed_by": 4, "updated_at": WHEN, "result": result, **more}
    return {"id": number, "project": 2, "data": {"possibal_id": name}, "annotations": [given]}


def test_every_format_is_written_and_written_again(db):
    assert set(ENDINGS) == set(formats.FORMATS)
    with open_campaign(db) as campaign:
        for name, to in ENDINGS.items():
            for _ in range(2):
                assert campaign.export(to, name) is campaign
    assert Path("a.xml").read_text().startswith("<View>")
    assert {path.name for path in Path("hf").iterdir()} == {
        "README.md",
        "train.parquet",
        "unlabelled.parquet",
    }


def test_a_split_without_rows_any_more_is_taken_away(db):
    with open_campaign(db, who="ann") as campaign:
        campaign.export("hf", "huggingface")
        for row in campaign.left:
            campaign.tell(row, "small")
        campaign.export("hf", "huggingface")
    assert not Path("hf/unlabelled.parquet").exists()


@pytest.mark.parametrize("name", ENDINGS)
def test_another_file_is_written_over_by_force_alone(db, name):
    to = Path(ENDINGS[name])
    other = to / "README.md" if name == "huggingface" else to
    other.parent.mkdir(exist_ok=True)
    other.write_text("mine")
    with open_campaign(db) as campaign:
        with pytest.raises(ValueError, match="to must be new, or what this command wrote; got"):
            campaign.export(to, name)
        assert other.read_text() == "mine"
        campaign.export(to, name, force=True)
        assert other.read_text() != "mine"


@pytest.mark.parametrize(
    ("to", "name", "sentence"),
    [
        ("a.json", "argilla", "format must be one of"),
        ("a.csv", "label-studio", "to must end in .json for label-studio"),
        ("none/a.json", "label-studio", "to must be in a folder that exists"),
        ("a.db", "huggingface", "to must be a folder for huggingface"),
        ("folder", "huggingface", "to must be new"),
        ("linked.json", "label-studio", "to must not be the campaign"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_fitted(
    db, to, name, sentence
):
    Path("folder").mkdir()
    Path("folder/thesis.txt").touch()
    Path("linked.json").symlink_to(db)
    with Store.open(db, writes=False) as store, pytest.raises(ValueError, match=sentence):
        formats.check_exchange(name, Path(to), store, force=False)


def test_labels_alone_are_written_as_the_command_does(db):
    with open_campaign(db) as campaign:
        campaign.export("labels.csv")
        assert campaign.import_labels("labels.csv") == 0
    assert Path("labels.csv").read_text().startswith("id,label,kind,who")


# ---------------------------------------------------------------- in
def test_annotations_of_several_people_are_kept_once_and_their_later_versions_too(db, tmp_path):
    one = task("r20", "small")
    other = task("r20", "large", 2, completed_by=5)["annotations"]
    one["annotations"] += other
    path = tmp_path / "back.json"
    assert imported(db, path, [one, task("r21", "", 3, was_cancelled=True)]) == 3
    assert opinions(db)["r20"] == {
        "label-studio-4": ("import", "small"),
        "label-studio-5": ("import", "large"),
    }
    assert opinions(db)["r21"] == {"label-studio-4": ("unsure", None)}
    assert imported(db, path, [one]) == 0
    later = task("r20", "large", updated_at="2026-01-31T12:00:01Z")
    assert imported(db, path, [later]) == 1
    assert opinions(db)["r20"]["label-studio-4"] == ("import", "large")


def test_rows_are_known_by_the_column_that_names_them(db, tmp_path):
    one = task("r20", "small")
    one["data"] = {"name": "r20"}
    assert imported(db, tmp_path / "back.json", [one]) == 1
    line = {"name": "r21", "text": "a", "answer": "accept", "accept": ["large"]}
    assert imported(db, tmp_path / "back.jsonl", [line]) == 1
    assert opinions(db)["r21"] == {"prodigy": ("import", "large")}


def test_what_prodigy_rejects_is_the_other_of_two_classes(db, tmp_path):
    path = tmp_path / "back.jsonl"
    lines = [
        {"possibal_id": "r20", "text": "a", "label": "small", "answer": "reject"},
        {"possibal_id": "r21", "text": "a", "answer": "ignore"},
        {"possibal_id": "r22", "text": "a", "accept": ["small"], "answer": "reject"},
    ]
    assert imported(db, path, lines) == 3
    assert [opinions(db)[name]["prodigy"] for name in ("r20", "r21", "r22")] == [
        ("import", "large"),
        ("unsure", None),
        ("bad", None),
    ]


def test_what_prodigy_rejects_of_three_classes_is_unsure_with_a_remark(db, tmp_path):
    told(db, said(9, "huge"))
    line = {"possibal_id": "r20", "text": "a", "label": "small", "answer": "reject"}
    imported(db, tmp_path / "back.jsonl", [line])
    assert opinions(db)["r20"] == {"prodigy": ("unsure", None)}
    with open_campaign(db) as campaign:
        assert campaign.comments("r20") == {"prodigy": "not small"}


@pytest.mark.parametrize(
    ("name", "objects", "sentence"),
    [
        ("b.json", [task("r99", "small")], "id must be that of a row .* got 'r99' at entry 1 of"),
        (
            "b.json",
            [task("r20", "small"), task("r21", "Huge", 2)],
            "label must be one of the classes, large, small; got 'Huge' at entry 2 of",
        ),
        ("b.json", [{**task("", "small"), "data": {"id": 1}}], "task must name its row as possi"),
        ("b.json", [{"annotation_id": 1, "annotator": 1}], "file must be tasks .*JSON-MIN"),
        ("b.json", [{"a": 1}], "file must be tasks of Label Studio.*got other objects in"),
        ("b.jsonl", [{"id": 1, "text": "a", "label": ["small"]}], "task must name its row"),
        (
            "b.jsonl",
            [{"possibal_id": "r1", "text": "", "_annotator_id": "a" * 61, "answer": "ignore"}],
            "who must be a name",
        ),
    ],
)
def test_what_cannot_be_told_is_refused_and_nothing_is_imported(
    db, tmp_path, name, objects, sentence
):
    before = opinions(db)
    with pytest.raises(ValueError, match=f"^{sentence}"):
        imported(db, tmp_path / name, objects)
    assert opinions(db) == before


def test_where_classes_are_learnt_a_label_becomes_one(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "b.db", classes=())
    assert imported(db, tmp_path / "b.json", [task("r1", "x"), task("r2", "y", 2)]) == 2
    with open_campaign(db) as begun:
        assert begun.classes == ("x", "y")


def test_a_number_of_doccano_is_never_the_id_of_a_row(tmp_path):
    path = tmp_path / "things.csv"
    path.write_text("id,x\n" + "".join(f"{n},{n * n % 7}\n" for n in range(1, 9)))
    with open_campaign(tmp_path / "c.db", path, id="id", classes=["a", "b"]) as campaign:
        file = tmp_path / "d.jsonl"
        file.write_text(json.dumps({"id": 3, "text": "-", "label": ["a"]}) + "\n")
        with pytest.raises(ValueError, match="task must name its row as possibal_id in its data"):
            campaign.import_labels(file)
        assert len(campaign) == 0
