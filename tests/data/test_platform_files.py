import json

import pytest

from possibal.data.platform_files import (
    PlatformAnnotation,
    Said,
    annotation_key,
    label_studio_annotation,
    plain_rows,
    platform_of,
)
from possibal.data.readers import read_objects, read_table

WHEN = "2026-01-31T12:00:00.000001Z"


def chosen(*names, control="label", **more):
    value = {"choices": list(names)}
    return {"from_name": control, "to_name": "text", "type": "choices", "value": value, **more}


def annotation(*result, **more):
    given = {"id": 7, "project": 2, "completed_by": 3, "updated_at": WHEN, "was_cancelled": False}
    return {**given, "result": list(result), **more}


def task(*annotations, **data):
    return {"id": 1, "project": 2, "data": data, "annotations": list(annotations)}


def test_an_annotation_of_label_studio_says_who_chose_what_and_when():
    found = label_studio_annotation(annotation(chosen("good")), "line 1")
    assert found == PlatformAnnotation(
        Said.LABEL, "good", "label-studio-3", WHEN, f"{annotation_key(2, 7)}1769860800000001"
    )


def test_another_version_of_an_annotation_has_another_key():
    later = annotation(chosen("good"), updated_at="2026-01-31T12:00:00.000002Z")
    found = [label_studio_annotation(one, "line 1").key for one in (annotation(), later)]
    assert len(set(found)) == 2
    assert all(key.startswith(annotation_key(2, 7)) for key in found)
    assert not any(key.startswith(annotation_key(2, 70)) for key in found)


@pytest.mark.parametrize("given", [{"was_cancelled": True}, {"result": []}])
def test_whoever_skips_a_task_or_submits_no_choice_is_unsure(given):
    found = label_studio_annotation(annotation() | given, "line 1")
    assert (found.said, found.label) == (Said.UNSURE, None)


@pytest.mark.parametrize(
    ("by", "who"),
    [
        ({"id": 3, "email": "a@example.org"}, "label-studio-3"),
        ({"email": "a@example.org"}, "a@example.org"),
        (None, "label-studio"),
    ],
)
def test_people_are_called_by_their_numbers_or_else_by_their_addresses(by, who):
    assert label_studio_annotation(annotation(completed_by=by), "line 1").who == who


def test_of_several_controls_ours_counts():
    given = annotation(chosen("yes", control="fluent"), chosen("good"))
    assert label_studio_annotation(given, "line 1").label == "good"


def test_an_annotation_that_we_wrote_is_whose_it_was_until_another_class_is_chosen():
    origin = {"possibal": {"who": "ann", "label": "good", "when": WHEN}}
    found = label_studio_annotation(annotation(chosen("good", meta=origin)), "line 1")
    assert found == PlatformAnnotation(Said.LABEL, "good", "ann", WHEN)
    found = label_studio_annotation(annotation(chosen("bad", meta=origin)), "line 1")
    assert (found.who, found.label) == ("label-studio-3", "bad")


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ([chosen("a", "b")], r"must name one class; got 2 \(\['a', 'b'\]\) at line 1\. Keep"),
        ([chosen("a"), chosen("b")], "must name one class; got 2"),
        ([{"type": "rectanglelabels"}], "must be a choice of a class; got a result of type"),
        (["odd"], "must be a choice of a class"),
        ("odd", "must have a result; got 'odd'"),
    ],
)
def test_an_annotation_that_is_no_choice_of_one_class_is_refused(result, sentence):
    with pytest.raises(ValueError, match=f"^annotation {sentence}"):
        label_studio_annotation(annotation() | {"result": result}, "line 1")


def prodigy(**more):
    return {"text": "a", "_input_hash": 1, "_task_hash": 2, "_timestamp": 0, **more}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"answer": "accept", "accept": ["good"]}, (Said.LABEL, "good")),
        ({"answer": "accept", "label": "good"}, (Said.LABEL, "good")),
        ({"answer": "accept", "accept": []}, (Said.UNSURE, None)),
        ({"answer": "ignore", "accept": ["good"]}, (Said.UNSURE, None)),
        ({"answer": "reject", "accept": ["good"]}, (Said.BAD, None)),
        ({"answer": "reject"}, (Said.BAD, None)),
        ({"answer": "reject", "label": "good"}, (Said.NOT, "good")),
    ],
)
def test_an_answer_of_prodigy(given, expected):
    one = prodigy(**given)
    platform = platform_of([one])
    found = platform.task(one, "line 1")
    assert platform.name == "Prodigy"
    assert found.data == {"text": "a"}
    (only,) = found.annotations
    assert (only.said, only.label) == expected
    assert (only.who, only.when) == ("prodigy", "1970-01-01T00:00:00+00:00")


def test_a_task_of_prodigy_that_waits_for_its_answer_says_nothing():
    one = {"text": "a", "options": [{"id": "good", "text": "good"}]}
    assert platform_of([one]).task(one, "line 1").annotations == ()


def test_a_line_of_doccano_has_one_class_or_none():
    lines = [{"id": 4, "text": "a", "label": ["good"]}, {"id": 5, "text": "b", "label": []}]
    platform = platform_of(lines)
    found = [platform.task(one, "line 1") for one in lines]
    assert [one.agreed for one in found] == ["good", None]
    with pytest.raises(ValueError, match="annotation must name one class; got 2"):
        platform.task({"text": "a", "label": ["good", "bad"]}, "line 1")


@pytest.mark.parametrize(
    "objects",
    [
        [],
        [{"text": "a", "label": "good"}],
        [{"text": "a", "label": [[0, 1, "PER"]]}],
        [{"data": {"a": 1}}],
        [{"data": [1], "annotations": []}],
        [{"text": "a", "label": ["good"]}, {"text": "a", "label": "good"}],
    ],
)
def test_other_objects_are_of_no_platform(objects):
    assert platform_of(objects) is None
    assert plain_rows(objects, [""] * len(objects)) == (objects, ())


def test_a_pool_of_label_studio_has_its_data_and_labels_as_columns(tmp_path):
    path = tmp_path / "a.json"
    good, bad = annotation(chosen("good")), annotation(chosen("bad"), completed_by=4)
    path.write_text(
        json.dumps(
            [
                task(good, possibal_id="r1", text="one", row={"stars": "5"}),
                task(good, bad, possibal_id="r2", text="two", row={"stars": "1"}),
                task(possibal_id="r3", text="three", row={"stars": "1"}, label="old"),
            ]
        )
    )
    found = read_table(path)
    assert found.table.names == ("id", "text", "stars", "label")
    assert list(found.table.columns[0]) == ["r1", "r2", "r3"]
    assert list(found.table.columns[3]) == ["good", None, "old"]
    assert found.notes == (
        "the file was read as tasks of Label Studio, with labels as column label.",
        "1 tasks that people labelled differently have no label.",
    )


def test_a_pool_of_doccano_and_of_prodigy_has_its_labels(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "label": ["good"]}\n{"text": "b", "label": []}\n')
    assert list(read_table(path).table.columns[1]) == ["good", None]
    given = [prodigy(answer="accept", accept=["good"]), prodigy(answer="ignore")]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in given))
    found = read_table(path).table
    assert found.names == ("text", "label")
    assert list(found.columns[1]) == ["good", None]


def test_a_pool_whose_rows_have_several_classes_is_refused_by_its_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "label": ["good"]}\n\n{"text": "b", "label": ["x", "y"]}\n')
    with pytest.raises(ValueError, match=r"got 2 \(\['x', 'y'\]\) at line 3 of '.*a.jsonl'"):
        read_table(path)


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("a.json", '[{"a": 1}, {"a": 2}]', ["entry 1", "entry 2"]),
        ("a.json", '\n{"a": 1}\n{"a": 2}\n', ["line 2", "line 3"]),
        ("a.jsonl", '\n{"a": 1}\n{"a": 2}\n', ["line 2", "line 3"]),
    ],
)
def test_objects_are_read_each_with_a_place_of_its_own(tmp_path, name, content, places):
    (tmp_path / name).write_text(content)
    assert read_objects(tmp_path / name) == list(zip(places, [{"a": 1}, {"a": 2}], strict=True))
