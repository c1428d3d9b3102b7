"""What the service says arrives as the schemas have it."""

import re
from dataclasses import replace
from uuid import uuid4

import numpy as np
import pytest
from support.served import get, pictures, post, secured, service_of, table, truth
from support.services import campaign, new_service, rows, serving

from possibal.data.copies import CopyGroups
from possibal.data.ingest import SourceSpec
from possibal.labelling.create import COPIES, Options
from possibal.labelling.explanation import UNRANKED
from possibal.labelling.overview import Overview
from possibal.labelling.service import LEASE
from possibal.labelling.storage.store import Item, Store, clock
from possibal.labelling.web.serializers import Serializer

REVIEWS = [
    "Fine and friendly, and the soup was hot, so that all of us came back the week after.",
    "Nobody came for an hour, then the wrong plate, and in the end a bill for another table.",
]


@pytest.fixture
def service(tmp_path):
    wanted = SourceSpec(table(tmp_path / "a.csv"), classes=("yes", "no"))
    with service_of(wanted, tmp_path / "a.db", Options(people=2, check=5, blind=False)) as made:
        yield made


def answer(app, who: str, row: int, label: str, kind: str = "label"):
    """What happens when somebody answers."""
    body = {"key": uuid4().hex, "who": who, "made": clock(), "row": row, "kind": kind}
    body["label"] = label
    reply = post(app, "answer", body)
    assert reply.status == 200, reply.body
    return reply.json()


def test_a_question_tells_its_row_and_why(service):
    views = Serializer(service, Overview(service.read_model, service.scheduler))
    asked = views.asked("ann")
    assert asked.reason is None
    question = asked.question
    assert question is not None
    assert (question.lease, question.mine, question.item.text) == (LEASE, None, None)
    assert question.item.image is None
    assert [field.name for field in question.item.fields] == ["x0", "x1", "x2"]
    assert question.why.sentence.endswith(".")
    assert views.again(question.item.row, "ann").item == question.item


def test_before_the_first_ranking_nothing_is_known(service):
    said = get(secured(service), "/api/progress").json()
    assert said["advice"] == {"state": "go on", "reason": UNRANKED, "gain": None}
    assert (said["answered"], said["left"], said["fitting"]) == (0, 40, True)
    assert (said["saving"], said["curve"], said["trouble"]) == (None, [], None)
    assert said["check"] == {"answered": 0, "size": 5, "more": 15}
    assert said["balance"] == [{"label": "yes", "count": 0}, {"label": "no", "count": 0}]


def test_fields_stay_in_the_order_of_the_file_and_the_important_ones_are_marked(tmp_path):
    wide = table(tmp_path / "wide.csv", columns=12)
    wide.write_text(re.sub("^(.*?),(.*)$", r"\2,\1", wide.read_text(), flags=re.MULTILINE))
    with service_of(SourceSpec(wide, classes=("yes", "no")), tmp_path / "a.db") as service:
        app, read = secured(service), [*(f"x{place}" for place in range(1, 12)), "x0"]
        question = post(app, "ask", {"who": "ann"}).json()["question"]
        assert [field["name"] for field in question["item"]["fields"]] == read
        assert not any(field["important"] for field in question["item"]["fields"])
        for _ in range(14):
            question = answer(app, "ann", question["item"]["row"], truth(question))["question"]
        service.scheduler.rank()
        fields = get(app, "/api/rows/0").json()["question"]["item"]["fields"]
        assert [field["name"] for field in fields] == read
        assert "x0" in [field["name"] for field in fields if field["important"]]
        shown = get(app, "/api/confirm?who=ann").json()["rows"][0]["item"]["fields"]
        names = [field["name"] for field in shown]
        assert len(names) == 8
        assert "x0" in names
        assert names == [name for name in read if name in names]


def test_what_a_person_said_before_is_told_to_them_alone(service):
    app = secured(service)
    answer(app, "ann", 3, "yes")
    mine = get(app, "/api/rows/3?who=ann").json()["question"]["mine"]
    assert mine == {"kind": "label", "label": "yes"}
    assert get(app, "/api/rows/3?who=ben").json()["question"]["mine"] is None
    assert get(app, "/api/rows/3").json()["question"]["mine"] is None


def test_nearby_rows_come_with_their_labels(service):
    app = secured(service)
    free = [row for row in range(40) if row not in service.read_model.check_rows]
    for row in free[:4]:
        answer(app, "ann", row, "yes")
    near = get(app, f"/api/rows/{free[5]}").json()["question"]["why"]["near"]
    assert [one["label"] for one in near] == ["yes"] * 3
    assert {one["item"]["row"] for one in near} <= set(free[:4])


def test_when_nothing_is_left_the_reason_is_told(tmp_path):
    wanted = SourceSpec(table(tmp_path / "a.csv", rows=3), classes=("yes", "no"))
    with service_of(wanted, tmp_path / "a.db") as service:
        app = secured(service)
        for row in range(3):
            last = answer(app, "ann", row, "yes")
        assert (last["question"], last["complete"]) == (None, True)
        assert last["reason"] == "Every row has an answer: nothing is left to ask."


def test_whoever_answers_alone_is_asked_again_at_the_end_what_they_were_not_sure_of(tmp_path):
    wanted = SourceSpec(table(tmp_path / "a.csv", rows=3), classes=("yes", "no"))
    with service_of(wanted, tmp_path / "a.db") as service:
        app = secured(service)
        assert get(app, "/api/progress").json()["participants"] == []
        first = post(app, "ask", {"who": "ann"}).json()["question"]["item"]["row"]
        reply = answer(app, "ann", first, None, "unsure")
        assert get(app, "/api/progress").json()["participants"] == ["ann"]
        while (row := reply["question"]["item"]["row"]) != first:
            reply = answer(app, "ann", row, "yes")
        assert reply["question"]["mine"] == {"kind": "unsure", "label": None}
        last = answer(app, "ann", first, None, "unsure")
        assert (last["question"], last["complete"]) == (None, False)
        assert last["reason"] == (
            "You have answered all that there is for you. "
            "You were not sure about 1 row; see History."
        )


def test_history_has_what_is_needed_to_find_a_row(service):
    app = secured(service)
    answer(app, "ann", 3, "yes")
    (entry,) = get(app, "/api/history").json()["entries"]
    assert (entry["row"], entry["id"], entry["who"], entry["label"]) == (3, "3", "ann", "yes")
    assert (entry["kind"], entry["holds"], entry["number"]) == ("label", True, 1)
    cells = get(app, "/api/rows/3").json()["question"]["item"]["fields"]
    assert entry["preview"] == " · ".join(cell["value"] for cell in cells)


def test_people_who_disagree_are_shown_until_it_is_settled(service):
    app = secured(service)
    for row, others in enumerate(["yes", "no", "yes", "no"]):
        answer(app, "ann", row, "yes" if row != 1 else "no")
        answer(app, "ben", row, others)
    said = get(app, "/api/agreement").json()
    assert said["rows"] == 4
    ((pair),) = said["pairs"]
    assert (pair["one"], pair["other"], pair["rows"]) == ("ann", "ben", 4)
    assert pair["kappa"] == pytest.approx(0.5)
    (conflict,) = get(app, "/api/conflicts").json()["rows"]
    assert (conflict["item"]["row"], conflict["settled"]) == (3, None)
    assert conflict["opinions"] == [
        {"who": "ann", "label": "yes"},
        {"who": "ben", "label": "no"},
    ]
    answer(app, "cleo", 3, "no", "settle")
    (conflict,) = get(app, "/api/conflicts").json()["rows"]
    assert conflict["settled"] == "no"


def test_the_map_has_all_rows_inside_a_square(service):
    app = secured(service)
    answer(app, "ann", 3, "yes")
    said = get(app, "/api/map").json()
    assert said["classes"] == ["yes", "no"]
    assert sorted(point["row"] for point in said["points"]) == list(range(40))
    for point in said["points"]:
        for name in ("x", "y"):
            assert 0 <= point[name] <= 1
        assert point["label"] == ("yes" if point["row"] == 3 else None)


def test_the_check_rows_make_a_curve(service):
    app = secured(service)
    question = post(app, "ask", {"who": "ann"}).json()["question"]
    for _ in range(24):
        row = question["item"]["row"]
        question = answer(app, "ann", row, truth(question))["question"]
    said = get(app, "/api/progress").json()
    assert said["check"]["answered"] in {4, 5}
    assert said["curve"]
    for point in said["curve"]:
        assert 0 <= point["low"] <= point["accuracy"] <= point["high"] <= 1
    (person,) = said["people"]
    assert (person["who"], person["answers"], said["conflicts"]) == ("ann", 24, 0)
    assert 0 <= person["pace"] < 60


def test_a_text_stands_apart_from_the_other_fields(tmp_path):
    lines = [f'{number},"{REVIEWS[number % 2]} {number}"' for number in range(12)]
    path = tmp_path / "reviews.csv"
    path.write_text("\n".join(["stars,review", *lines]), encoding="utf-8")
    with service_of(SourceSpec(path, text="review"), tmp_path / "a.db") as service:
        app = secured(service)
        item = get(app, "/api/rows/1").json()["question"]["item"]
        assert get(app, "/api/campaign").json()["kind"] == "text"
    assert item["text"] == f"{REVIEWS[1]} 1"
    assert item["fields"] == [{"name": "stars", "value": "1", "important": False}]


def test_a_picture_has_no_fields(tmp_path):
    with service_of(SourceSpec(pictures(tmp_path / "shades")), tmp_path / "a.db") as service:
        app = secured(service)
        item = get(app, "/api/rows/2").json()["question"]["item"]
        said = get(app, "/api/campaign").json()
    assert item == {"row": 2, "id": "02.png", "fields": [], "text": None, "image": "/media/2"}
    assert (said["name"], said["kind"], said["classes"]) == ("shades", "image", [])


def test_the_campaign_is_described(service):
    app = secured(service)
    answer(app, "ann", 3, "yes")
    said = get(app, "/api/campaign").json()
    assert said == {
        "id": said["id"],
        "name": "a",
        "kind": "table",
        "classes": ["yes", "no"],
        "catalogue": [
            {"name": "yes", "description": "", "colour": "", "rows": 1},
            {"name": "no", "description": "", "colour": "", "rows": 0},
        ],
        "columns": [{"name": f"x{place}", "kind": "number", "note": ""} for place in range(3)],
        "strategy": "herding",
        "answers_per_row": 2,
        "blind": False,
        "multi": False,
        "check": 5,
        "rows": 40,
        "notes": said["notes"],
        "people": ["ann"],
        "participants": ["ann"],
        "guidelines": {"key": None, "who": None, "text": ""},
    }


def test_comments_and_guidelines_reach_the_page_and_come_back(service):
    app = secured(service)
    body = {"key": "1" * 32, "who": "ann", "made": clock(), "row": 3, "text": " odd\r\n"}
    said = {"repeated": False, "counts": True, "comments": [{"who": "ann", "text": "odd"}]}
    assert post(app, "comment", body).json() == said
    assert get(app, "/api/rows/3").json()["question"]["comments"] == said["comments"]
    assert get(app, "/api/history").json()["entries"][0]["comment"] == "odd"
    answer(app, "ann", 3, "yes")
    answer(app, "ben", 3, "no")
    (conflict,) = get(app, "/api/conflicts").json()["rows"]
    assert conflict["comments"] == said["comments"]
    long = post(app, "comment", {**body, "key": "2" * 32, "text": "a" * 2001})
    assert (long.status, long.json()["detail"][:44]) == (
        409,
        "comment must be of at most 2,000 characters;",
    )
    assert get(app, "/api/campaign").json()["guidelines"] == {"key": None, "who": None, "text": ""}
    how = {"key": "3" * 32, "who": "ann", "made": clock(), "text": "Look twice."}
    told = {"key": "3" * 32, "who": "ann", "text": "Look twice."}
    assert post(app, "guidelines", how).json() == told
    assert get(app, "/api/progress").json()["guidelines"] == "3" * 32


def test_the_campaign_says_how_its_columns_were_read(tmp_path):
    columns = (("age", "number", ""), ("no", "left out", "a running number"))
    with new_service(tmp_path, rows(8), columns=columns, recipe={"owners": []}) as service:
        said = get(secured(service), "/api/campaign").json()
    assert said["columns"] == [
        {"name": "age", "kind": "number", "note": ""},
        {"name": "no", "kind": "left out", "note": "a running number"},
    ]


def test_a_folder_that_tells_the_label_is_not_shown_to_whoever_is_to_answer(tmp_path):
    chosen = {"hidden_folders": True, "fields": (), "recipe": {"owners": []}, "people": 2}
    setup, contents = campaign(rows(6), **chosen)
    items = [Item(row, f"ants/{row}.jpg", (), f"ants/{row}.jpg") for row in range(6)]
    begun = Store.create(str(tmp_path / "a.db"), setup, replace(contents, items=items))
    with begun as store, serving(store) as service:
        app = secured(service)
        reply = post(app, "ask", {"who": "ann", "row": 2})
        assert b"ants" not in reply.body
        assert reply.json()["question"]["item"]["id"] == "2.jpg"
        assert b"ants" not in get(app, "/api/map").body
        answer(app, "ann", 2, "yes")
        assert get(app, "/api/history").json()["entries"][0]["id"] == "ants/2.jpg"
        assert get(app, "/api/rows/2?who=ann").json()["question"]["item"]["id"] == "ants/2.jpg"
        assert get(app, "/api/rows/2?who=ben").json()["question"]["item"]["id"] == "2.jpg"
        assert b"ants/2.jpg" in get(app, "/api/labels.csv").body
        assert b"ants" not in post(app, "ask", {"who": "ben", "row": 2}).body


# ---------------------------------------------------------------- many at once
def test_rows_to_confirm_show_the_beginning_of_their_text_and_no_folder(tmp_path):
    setup, contents = campaign(rows(12), text="words", hidden_folders=True, recipe={"owners": ()})
    long = [Item(i, f"yes/{i}.png", (str(i), "word " * 500), f"yes/{i}.png") for i in range(12)]
    leaders = np.array([*range(10), 9, 9])
    contents = replace(contents, items=long, arrays={**contents.arrays, COPIES: leaders})
    with Store.create(str(tmp_path / "a.db"), setup, contents) as store, serving(store) as at:
        app = secured(at)
        answer(app, "ann", 0, "yes")
        answer(app, "ann", 1, "no")
        found = get(app, "/api/confirm?who=ann&label=yes").json()["rows"]
        found += get(app, "/api/confirm?who=ann&label=no").json()["rows"]
    assert len(found) == 8
    for one in found:
        assert one["copies"] == (2 if one["item"]["row"] == 9 else 0)
        item = one["item"]
        assert item["id"] == f"{item['row']}.png"
        assert len(item["text"]) == 300
        assert item["image"] == f"/media/{item['row']}"


def test_the_history_says_which_labels_came_to_copies_later(tmp_path):
    with new_service(tmp_path, rows(12), recipe={"owners": ()}) as at:
        app = secured(at)
        answer(app, "ann", 0, "yes")
        at.read_model.copies = CopyGroups(np.array([0, 1, 0, *range(3, 12)]))
        post(app, "ask", {"who": "ann"})
        entries = get(app, "/api/history").json()["entries"]
    assert [(one["row"], one["copied"]) for one in entries] == [(2, True), (0, False)]
