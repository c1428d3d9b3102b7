import json

import pytest
from support.exchanged import labelled, running
from support.served import HOST, let_in, secured, send

WHEN = "2026-01-31T12:00:00Z"


@pytest.fixture(name="service")
def _service(tmp_path):
    with running(labelled(tmp_path)) as made:
        made.scheduler.rank()
        yield made


@pytest.fixture(name="call")
def _call(service):
    """What Label Studio is answered."""
    session = let_in(service).admit_platform("Label Studio")
    app = secured(service)
    known = [
        ("Host", HOST),
        ("Authorization", f"Bearer {session}"),
        ("Content-Type", "application/json"),
    ]

    def called(route, given=None, status=200):
        body = b"" if given is None else json.dumps(given).encode()
        method = "GET" if given is None else "POST"
        reply = send(app, method, f"/label-studio/{route}", known, (body,))
        assert reply.status == status, reply.body
        return reply.json()

    return called


def event(label, name="r20"):
    value = {"choices": [label]}
    result = [{"from_name": "label", "to_name": "row", "type": "choices", "value": value}]
    made = {"id": 1, "project": 2, "completed_by": 4, "task": 9, "updated_at": WHEN}
    return {
        "action": "ANNOTATION_CREATED",
        "annotation": {**made, "result": result},
        "task": {"id": 9, "data": {"possibal_id": name}},
        "project": {"id": 2},
    }


def test_the_backend_is_up_and_tells_its_version(call):
    assert call("health")["status"] == "UP"
    given = {"project": "2.17", "schema": "<View/>", "access_token": "secret", "hostname": "x"}
    assert call("setup", given)["model_version"].startswith("possibal-8-")


def test_there_is_a_prediction_for_each_task_in_their_order(call):
    tasks = [{"id": n, "data": {"possibal_id": f"r{n}"}} for n in (21, 20, 99)]
    found = call("predict", {"tasks": tasks, "project": "2.17", "params": {}})["results"]
    labels = [one["result"] and one["result"][0]["value"]["choices"] for one in found]
    assert labels == [["large"], ["small"], []]


def test_an_annotation_is_kept_and_a_second_time_is_not(call, service):
    assert call("webhook", event("small")) == {"status": "ok", "kept": 1}
    assert call("webhook", event("small")) == {"status": "ok", "kept": 0}
    assert service.read_model.label(20) == "small"
    assert call("webhook", {"action": "PROJECT_UPDATED"})["kept"] == 0


def test_what_is_not_kept_is_told_and_logged(call, service, caplog):
    assert "label must be one of" in call("webhook", event("huge"), 409)["detail"]
    assert "Label Studio: not kept: label must be one of" in caplog.text
    assert "r99" in call("webhook", event("small", "r99"), 409)["detail"]
    assert service.read_model.label(20) is None


@pytest.mark.parametrize(
    ("route", "given"),
    [("predict", {}), ("predict", {"tasks": "all"}), ("predict", {"tasks": [1]}), ("webhook", {})],
)
def test_what_is_no_call_of_label_studio_is_refused(call, route, given):
    assert " must " in call(route, given, 422)["detail"]
