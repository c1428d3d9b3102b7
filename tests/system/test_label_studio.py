"""A campaign and a real Label Studio: tasks and predictions there, annotations back here.

`make label-studio` installs it into an environment of its own and runs this file.
"""

import json
import os
import random
import re
import time
from pathlib import Path

import pytest
from support.label_studio import PROGRAM, LabelStudio, choice
from support.served import Server

from possibal import open_campaign
from possibal.cli import main
from possibal.labelling.storage.journal import Kind, replay
from possibal.labelling.storage.store import Store

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PROGRAM.exists(), reason="make label-studio installs Label Studio"),
]
GOOD = ("great", "lovely", "perfect", "excellent", "comfortable")
BAD = ("awful", "poor", "broken", "terrible", "disappointing")
ADDRESS = re.compile(r"Label Studio connects to (\S+)")


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with LabelStudio(tmp_path_factory.mktemp("studio")) as started:
        yield started


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with reviews, eight of which have a label."""
    rng = random.Random(3)  # noqa: S311 - words of a test
    lines = ["doc,review,stars"]
    for row in range(40):
        a, b = rng.sample(GOOD if row % 2 else BAD, 2)
        lines.append(f"d{row},Article {row} was {a} and rather {b} for me.,{rng.randint(1, 5)}")
    (tmp_path / "reviews.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with open_campaign(
        "reviews.db", "reviews.csv", id="doc", text="review", classes=["good", "bad"], who="ann"
    ) as campaign:
        for row in range(8):
            campaign.tell(f"d{row}", "good" if row % 2 else "bad")
    return tmp_path


def run(*line: str) -> None:
    assert main.main(list(line)) == 0


def exported() -> list[dict]:
    """The tasks that possibal writes, the first of which is to be asked first."""
    run("export", "reviews.db", "--format", "label-studio", "--to", "tasks.json")
    return json.loads(Path("tasks.json").read_text())


def journal() -> dict[str, dict[str, tuple[Kind, str | None]]]:
    """What each person says of each row."""
    with Store.open("reviews.db", writes=False) as store:
        names = {place: name for name, place in store.places().items()}
        verdicts = replay(store.events()).verdicts
    return {
        names[row]: {who: (one.kind, one.label) for who, one in verdict.opinions.items()}
        for row, verdict in verdicts.items()
    }


def begun(studio: LabelStudio, tasks: list[dict]) -> int:
    """A project as the guide says to begin one."""
    project = studio.project(Path("tasks.xml").read_text())
    found = studio.ask("POST", f"/projects/{project}/import", json=tasks)
    assert (found["task_count"], found["prediction_count"]) == (40, 40)
    return project


def test_label_studio_asks_about_the_row_with_the_least_necessity(studio, folder):
    tasks = exported()
    scores = [one["predictions"][0]["score"] for one in tasks if "annotations" not in one]
    assert scores == sorted(scores)
    random.Random(1).shuffle(tasks)  # noqa: S311 - so that the order is not that of the file
    project = begun(studio, tasks)
    found = studio.next_task(project)
    assert found["predictions"][0]["score"] == pytest.approx(scores[0])
    studio.annotate(found["id"], choice("good"))
    assert studio.next_task(project)["predictions"][0]["score"] == pytest.approx(scores[1])


def test_annotations_of_label_studio_come_back_once_under_their_own_names(studio, folder, capsys):
    before = journal()
    project = begun(studio, exported())
    by_id = {one["data"]["possibal_id"]: one["id"] for one in studio.tasks(project)}
    studio.annotate(by_id["d20"], choice("bad"))
    studio.annotate(by_id["d21"], [], was_cancelled=True)
    changed = studio.annotate(by_id["d22"], choice("bad"))
    studio.ask("PATCH", f"/annotations/{changed['id']}", json={"result": choice("good")})
    Path("back.json").write_bytes(studio.exported(project))
    run("import", "back.json", "reviews.db")
    assert "Added 3 answers" in capsys.readouterr().out
    (person,) = journal()["d20"]
    assert re.fullmatch(r"label-studio-\d+", person)
    expected = {
        "d20": {person: (Kind.IMPORT, "bad")},
        "d21": {person: (Kind.UNSURE, None)},
        "d22": {person: (Kind.IMPORT, "good")},
    }
    assert journal() == before | expected  # what ann said there is still hers alone
    run("import", "back.json", "reviews.db")
    assert "is new" in capsys.readouterr().out
    assert journal() == before | expected


def test_an_export_of_label_studio_is_a_pool_with_its_labels(studio, folder):
    project = begun(studio, exported())
    Path("pool.json").write_bytes(studio.exported(project))  # of tasks with annotations alone
    with open_campaign("pool.db", "pool.json", text="text") as campaign:
        assert campaign.labels == {f"d{row}": "good" if row % 2 else "bad" for row in range(8)}


# ---------------------------------------------------------------- the backend
@pytest.fixture
def served(folder):
    """The page of the campaign, open for Label Studio."""
    with Server("reviews.csv", "--db", "reviews.db", "--label-studio", folder=folder) as page:
        yield page


def connected(studio: LabelStudio, page: Server, project: int) -> int:
    """The number of the backend, connected by the address that the terminal shows."""
    (address,) = ADDRESS.findall(page.log.read_text())
    given = {"project": project, "url": address, "title": "possibal"}
    found = studio.ask("POST", "/ml", json=given)
    assert (found["state"], found["error_message"]) == ("CO", None)
    return found["id"]


def retrieved(studio: LabelStudio, project: int) -> str:
    """Predictions of all tasks from the backend; the version that is then chosen."""
    given = {"selectedItems": {"all": True, "excluded": []}}
    path = f"/dm/actions?id=retrieve_tasks_predictions&project={project}"
    studio.ask("POST", path, json=given)
    known = studio.ask("GET", f"/projects/{project}/model-versions")
    version = max(known, key=lambda one: (one.startswith("possibal-"), int(one.split("-")[1])))
    studio.ask("PATCH", f"/projects/{project}", json={"model_version": version})
    return version


def until(page: Server, wanted) -> list[dict]:
    """The last answers on the page, once they are as wanted."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        found = page.client().get("/api/history").json()["events"]
        if wanted(found):
            return found
        time.sleep(0.2)
    raise AssertionError(found[:3])


def settled(page: Server) -> None:
    """Wait until the model knows of all answers."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if page.client().get("/api/rows").json()["is_behind"] is False:
            return
        time.sleep(0.2)
    raise AssertionError


def test_a_live_label_studio_is_predicted_for_and_what_it_keeps_is_kept_here(studio, served):
    settled(served)
    interface = (
        '<View><Text name="text" value="$text"/><Choices name="label" toName="text">'
        '<Choice value="good"/><Choice value="bad"/></Choices></View>'
    )
    project = studio.project(interface)
    tasks = [{"data": {"possibal_id": f"d{row}", "text": "-"}} for row in reversed(range(40))]
    tasks.append({"data": {"text": "This was great and lovely.", "stars": "5"}})  # no row of ours
    tasks.append({"data": {"text": "of another kind"}})
    studio.ask("POST", f"/projects/{project}/import", json=tasks)
    connected(studio, served, project)
    assert retrieved(studio, project).startswith("possibal-8-")
    found = {one["data"].get("possibal_id", one["data"]["text"]): one for one in studio.tasks(project)}
    known = {name: one["predictions"][0] for name, one in found.items()}
    shown = {one["id"]: one for one in served.client().get("/api/rows").json()["rows"]}
    for name in ("d20", "d33"):
        assert known[name]["result"][0]["value"]["choices"] == [shown[name]["prediction"]["label"]]
        assert known[name]["score"] == pytest.approx(shown[name]["prediction"]["necessity"])
    assert known["This was great and lovely."]["result"][0]["value"]["choices"] == ["good"]
    assert known["of another kind"]["result"] == []

    open_rows = [f"d{row}" for row in range(8, 40)]
    least = min(open_rows, key=lambda name: known[name]["score"])
    assert known[least]["score"] <= studio.next_task(project)["predictions"][0]["score"]

    made = studio.annotate(found["d20"]["id"], choice("bad"))
    (said,) = until(served, lambda events: events[0]["label"] == "bad" and events[0])[:1]
    assert (said["id"], said["who"]) == ("d20", f"label-studio-{made['completed_by']}")
    studio.ask("PATCH", f"/annotations/{made['id']}", json={"result": choice("good")})
    until(served, lambda events: (events[0]["id"], events[0]["label"]) == ("d20", "good"))
    studio.ask("DELETE", f"/annotations/{made['id']}")
    end = time.monotonic() + 30
    while journal()["d20"] and time.monotonic() < end:
        time.sleep(0.2)
    assert journal()["d20"] == {}
    studio.annotate(found["of another kind"]["id"], choice("good"))
    studio.annotate(found["d21"]["id"], [], was_cancelled=True)
    until(served, lambda events: events[0]["id"] == "d21" and events[0]["kind"] == "unsure")
    assert len(journal()) == 10  # the eight of the start, d20 and d21
    assert "task must name its row" in served.log.read_text()
    settled(served)
    assert retrieved(studio, project).startswith("possibal-8-")


def test_without_its_password_label_studio_is_told_nothing(studio, served):
    (address,) = ADDRESS.findall(served.log.read_text())
    bare = re.sub(r"//.*@", "//", address)
    project = studio.project("<View><Text name='text' value='$text'/></View>", "closed")
    given = {"project": project, "url": bare, "title": "possibal"}
    reply = studio.client.post("/api/ml", json=given)
    assert reply.status_code == 400
    assert "authentication" in reply.text
    _, _, password = re.search(r"//(.*):(.*)@", address).group(0).partition(":")
    basic = {"auth_method": "BASIC_AUTH", "basic_auth_user": "x", "basic_auth_pass": password[:-1]}
    assert studio.client.post("/api/ml", json=given | basic).is_success
    assert os.environ.get("POSSIBAL_SHOTS") is None or True
