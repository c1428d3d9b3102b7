from dataclasses import replace

import pytest
from support.begun import campaign, source
from support.exchanged import labelled, opinions, running

from possibal.errors import RefusedError
from possibal.labelling.exchange.label_studio_backend import LabelStudioBackend

WHEN = "2026-01-31T12:00:00.000001Z"
LATER = "2026-01-31T12:00:02Z"


@pytest.fixture(name="db")
def _db(tmp_path):
    return labelled(tmp_path)


@pytest.fixture(name="service")
def _service(db):
    with running(db) as made:
        made.scheduler.rank()
        yield made


@pytest.fixture(name="backend")
def _backend(service):
    return LabelStudioBackend(service)


def payload(name="r20", label="small", number=1, when=WHEN, **more):
    value = {"choices": [label]}
    result = [{"from_name": "label", "to_name": "row", "type": "choices", "value": value}]
    made = {"id": number, "project": 2, "completed_by": 4, "task": 9, "updated_at": when}
    return {
        "annotation": {**made, "result": result, "was_cancelled": False, **more},
        "task": {"id": 9, "data": {"possibal_id": name}},
        "project": {"id": 2, "model_version": "possibal"},
    }


def deleted(*numbers, project=2):
    return {"annotations": [{"id": one} for one in numbers], "project": {"id": project}}


def row(name, **more):
    return {"id": 1, "data": {"possibal_id": name, **more}}


def test_rows_are_predicted_as_on_the_page(backend, service):
    found = backend.predict([row("r20"), row("r21")])
    predictions = service.scheduler.predictions.of([20, 21])
    for one, prediction in zip(found, predictions, strict=True):
        assert one["score"] == prediction.necessity
        assert one["result"][0]["value"] == {"choices": [prediction.label]}
        assert one["result"][0]["to_name"] == "row"
        assert one["model_version"] == backend.version


def test_another_answer_is_another_version(backend, service):
    before = backend.version
    assert before.startswith("possibal-8-")
    backend.receive("ANNOTATION_CREATED", payload())
    service.scheduler.rank()
    assert backend.version.startswith("possibal-9-")


def test_a_task_that_is_no_row_is_predicted_from_its_data_or_not_at_all(backend, caplog):
    cells = {"width": "4.1", "height": "3.9", "colour": "red"}
    found = backend.predict(
        [{"id": 5, "data": {"row": cells}}, {"id": 6, "data": cells}, {"id": 7, "data": {"x": 1}}]
    )
    assert found[0]["result"][0]["value"] == {"choices": ["large"]}
    assert found[0]["result"] == found[1]["result"]
    assert 0 <= found[0]["score"] <= 1
    assert (found[2]["result"], found[2]["score"]) == ([], 1.0)  # asked last
    assert "task 7 of Label Studio is no row of the campaign" in caplog.text


@pytest.mark.parametrize("task", [{}, {"data": "odd"}, {"data": None}, row("r99")])
def test_an_odd_task_is_predicted_nothing(backend, task):
    assert backend.predict([task, row("r20")])[0]["result"] == []


def test_before_there_are_two_classes_nothing_is_predicted(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "b.db", classes=())
    with running(db) as service:
        backend = LabelStudioBackend(service)
        assert backend.predict([row("r1"), row("none")])[0]["result"] == []
        assert backend.receive("ANNOTATION_CREATED", payload("r1", "new")) == 1
        assert service.read_model.classes == ("new",)
    assert opinions(db)["r1"] == {"label-studio-4": ("label", "new")}


def test_pictures_that_are_no_rows_are_predicted_nothing(backend, service, monkeypatch, caplog):
    at = service.read_model
    monkeypatch.setattr(at, "setup", replace(at.setup, folder="/shots"))
    (found,) = backend.predict([{"id": 5, "data": {"image": "/etc/passwd"}}])
    assert found["result"] == []
    assert "pictures must be rows" in caplog.text


def test_an_annotation_is_kept_once_in_each_version(backend, db):
    assert backend.receive("ANNOTATION_CREATED", payload()) == 1
    assert backend.receive("ANNOTATION_CREATED", payload()) == 0
    assert opinions(db)["r20"] == {"label-studio-4": ("label", "small")}
    assert backend.receive("ANNOTATION_UPDATED", payload(label="large", when=LATER)) == 1
    assert opinions(db)["r20"] == {"label-studio-4": ("label", "large")}
    assert backend.receive("ANNOTATION_CREATED", payload("r21", "", 2, was_cancelled=True)) == 1
    assert opinions(db)["r21"] == {"label-studio-4": ("unsure", None)}


def test_many_annotations_come_at_once_each_with_its_own_task(backend, db):
    one, other = payload(), payload("r21", "large", 2)
    other["task"]["id"] = other["annotation"]["task"] = 10
    both = {name: [other[name], one[name]] for name in ("annotation", "task")}
    both["task"].reverse()
    assert backend.receive("ANNOTATIONS_CREATED", both) == 2
    found = opinions(db)
    assert [found[name]["label-studio-4"][1] for name in ("r20", "r21")] == ["small", "large"]


def test_deleting_an_annotation_undoes_all_its_versions_and_no_other(backend, db):
    backend.receive("ANNOTATION_CREATED", payload())
    backend.receive("ANNOTATION_UPDATED", payload(label="large", when=LATER))
    backend.receive("ANNOTATION_CREATED", payload("r21", "large", 12))
    assert backend.receive("ANNOTATIONS_DELETED", deleted(1, project=3)) == 0
    assert backend.receive("ANNOTATIONS_DELETED", deleted(1)) == 2
    assert backend.receive("ANNOTATIONS_DELETED", deleted(1)) == 0
    found = opinions(db)
    assert "r20" not in found
    assert found["r21"] == {"label-studio-4": ("label", "large")}
    assert backend.receive("ANNOTATION_CREATED", payload()) == 0  # it was on its way for long


def test_a_clock_that_is_ahead_makes_no_answer_of_tomorrow(backend, service):
    backend.receive("ANNOTATION_CREATED", payload(when="2999-01-01T00:00:00Z"))
    (event,) = service.read_model.state.verdict(20).opinions.values()
    assert event.made <= service.store.clock()


def test_an_annotation_that_we_wrote_is_nobody_else_s(backend, db):
    given = payload()
    origin = {"possibal": {"who": "ann", "label": "small"}}
    given["annotation"]["result"][0]["meta"] = origin
    assert backend.receive("ANNOTATIONS_CREATED", given) == 0
    assert "r20" not in opinions(db)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"task": {"id": 9, "data": {"possibal_id": "r99"}}}, "task must be a row of the campaign"),
        ({"task": {"id": 9, "data": {}}}, "task must name its row as possibal_id or name"),
        ({"task": {"id": 8, "data": {"possibal_id": "r20"}}}, "task must name its row"),
        ({"label": "huge"}, "label must be one of"),
        ({"when": None}, "updated_at must be the moment of the annotation; got None"),
        ({"completed_by": "a\nb"}, "who must be a name"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_no_row_has_it(backend, db, change, sentence):
    before = opinions(db)
    task = change.pop("task", None)
    given = payload(**change)
    with pytest.raises(RefusedError, match=f"^{sentence}"):
        backend.receive("ANNOTATION_CREATED", given | ({"task": task} if task else {}))
    assert opinions(db) == before


@pytest.mark.parametrize("action", ["TASKS_CREATED", "START_TRAINING", "PROJECT_UPDATED", ""])
def test_other_events_change_nothing(backend, action):
    assert backend.receive(action, payload()) == 0


@pytest.mark.parametrize("given", [{}, {"annotation": None}, {"annotations": None}])
def test_an_event_without_its_payload_changes_nothing(backend, given):
    assert backend.receive("ANNOTATION_CREATED", given) == 0
    assert backend.receive("ANNOTATIONS_DELETED", given) == 0
