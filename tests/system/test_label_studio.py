"""A campaign and a real Label Studio: tasks and predictions there, annotations back here.

`make label-studio` installs it into an environment of its own and runs this file.
"""

import json
import random
import re
import time
from pathlib import Path

import pytest
from support.label_studio import LabelStudio, choice, is_there
from support.served import Server

from possibal import open_campaign
from possibal.cli import main
from possibal.labelling.storage.journal import Kind, replay
from possibal.labelling.storage.store import Store

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not is_there(), reason="make label-studio installs Label Studio"),
]
GOOD = ("great", "lovely", "perfect", "excellent", "comfortable")
BAD = ("awful", "poor", "broken", "terrible", "disappointing")
PATIENCE = 90.0
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
        "reviews.db",
        "reviews.csv",
        id="doc",
        text="review",
        classes=["good", "bad"],
        who="ann",
        copies=False,
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


@pytest.mark.usefixtures("folder")
@pytest.mark.works_with(
    "Label Studio",
    "tasks and predictions out; it asks about the row with the least necessity",
    "label-studio",
)
def test_label_studio_asks_about_the_row_with_the_least_necessity(studio):
    tasks = exported()
    scores = [one["predictions"][0]["score"] for one in tasks if "annotations" not in one]
    assert scores == sorted(scores)
    random.Random(1).shuffle(tasks)  # noqa: S311 - so that the order is not that of the file
    project = begun(studio, tasks)
    found = studio.next_task(project)
    assert found["predictions"][0]["score"] == pytest.approx(scores[0])
    studio.annotate(found["id"], choice("good"))
    assert studio.next_task(project)["predictions"][0]["score"] == pytest.approx(scores[1])


@pytest.mark.usefixtures("folder")
def test_in_the_order_of_tasks_the_row_with_the_least_necessity_is_first_too(studio):
    tasks = exported()
    project = begun(studio, tasks)
    studio.ask("PATCH", f"/projects/{project}", json={"sampling": "Sequential sampling"})
    shown = {
        "ordering": ["tasks:predictions_score"],
        "selectedItems": {"all": True, "excluded": []},
    }
    found = studio.ask("POST", f"/dm/actions?id=next_task&project={project}", json=shown)
    assert found["data"] == tasks[0]["data"]  # as the table is ordered
    for task in tasks[:2]:
        found = studio.next_task(project)
        assert found["data"] == task["data"]
        studio.annotate(found["id"], choice("good"))


@pytest.mark.usefixtures("folder")
@pytest.mark.works_with("Label Studio", "annotations in", "label-studio")
def test_annotations_of_label_studio_come_back_once_under_their_own_names(studio, capsys):
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


@pytest.mark.usefixtures("folder")
def test_an_export_of_label_studio_is_a_pool_with_its_labels(studio):
    project = begun(studio, exported())
    Path("pool.json").write_bytes(studio.exported(project))  # of tasks with annotations alone
    with open_campaign("pool.db", "pool.json", text="text") as campaign:
        assert campaign.labels == {f"d{row}": "good" if row % 2 else "bad" for row in range(8)}


# ---------------------------------------------------------------- the backend
FOREIGN, ODD = "This was great and lovely, perfect.", "of another kind"
INTERFACE = (
    '<View><Text name="text" value="$text"/><Choices name="label" toName="text">'
    '<Choice value="good"/><Choice value="bad"/></Choices></View>'
)


@pytest.fixture
def served(folder):
    """The page of the campaign, open for Label Studio."""
    with Server("reviews.csv", "--db", "reviews.db", "--label-studio", folder=folder) as page:
        settled(page)
        yield page


def settled(page: Server) -> None:
    """Wait until the model knows of all answers."""
    end = time.monotonic() + PATIENCE
    while page.client().get("/api/rows").json()["fitting"]:
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.fixture
def project(studio, served):
    """A project with the rows, two other tasks, and the backend that the terminal names."""
    made = studio.project(INTERFACE)
    tasks = [{"data": {"possibal_id": f"d{row}", "text": "-"}} for row in reversed(range(40))]
    tasks += [{"data": {"text": FOREIGN, "stars": "5"}}, {"data": {"text": ODD}}]
    studio.ask("POST", f"/projects/{made}/import", json=tasks)
    (address,) = ADDRESS.findall(served.log.read_text())
    found = studio.ask("POST", "/ml", json={"project": made, "url": address, "title": "possibal"})
    assert (found["state"], found["error_message"]) == ("CO", None)
    return made


def retrieved(studio: LabelStudio, project: int) -> str:
    """Predictions of all tasks from the backend; the last version, which is then chosen."""
    given = {"selectedItems": {"all": True, "excluded": []}}
    path = f"/dm/actions?id=retrieve_tasks_predictions&project={project}"
    studio.ask("POST", path, json=given)
    known = [one for task in studio.tasks(project) for one in task["predictions"]]
    version = max(known, key=lambda one: one["id"])["model_version"]
    studio.ask("PATCH", f"/projects/{project}", json={"model_version": version})
    return version


def named(studio: LabelStudio, project: int) -> dict[str, dict]:
    """The tasks of a project by the ids of their rows, or by their texts."""
    tasks = studio.tasks(project)
    return {one["data"].get("possibal_id", one["data"]["text"]): one for one in tasks}


def until(row: str, wanted: dict) -> None:
    """Wait until the journal says this of a row."""
    end = time.monotonic() + PATIENCE
    while journal().get(row, {}) != wanted:
        assert time.monotonic() < end, journal().get(row)
        time.sleep(0.2)


@pytest.mark.works_with(
    "Label Studio", "a machine-learning backend: live predictions", "label-studio"
)
def test_a_connected_label_studio_is_told_what_the_page_says(studio, served, project):
    assert retrieved(studio, project).startswith("possibal-8-")
    known = {name: one["predictions"][0] for name, one in named(studio, project).items()}
    for row in (20, 33):
        shown = served.client().get(f"/api/rows/{row}").json()["question"]["why"]["predicted"]
        assert known[f"d{row}"]["score"] == pytest.approx(shown["necessity"])
        assert known[f"d{row}"]["result"][0]["value"]["choices"] == [shown["label"]]
    assert known[FOREIGN]["result"][0]["value"]["choices"] == ["good"]
    assert (known[ODD]["result"], known[ODD]["score"]) == ([], 1.0)
    least = min(one["score"] for one in known.values())
    assert studio.next_task(project)["predictions"][0]["score"] == pytest.approx(least)


@pytest.mark.works_with(
    "Label Studio",
    "a machine-learning backend: annotations kept, changed and taken back",
    "label-studio",
)
def test_what_is_annotated_there_is_kept_here_changed_and_taken_back(studio, served, project):
    tasks = named(studio, project)
    made = studio.annotate(tasks["d20"]["id"], choice("bad"))
    who = f"label-studio-{made['completed_by']}"
    until("d20", {who: (Kind.LABEL, "bad")})
    studio.ask("PATCH", f"/annotations/{made['id']}", json={"result": choice("good")})
    until("d20", {who: (Kind.LABEL, "good")})
    studio.annotate(tasks["d21"]["id"], [], was_cancelled=True)
    until("d21", {who: (Kind.UNSURE, None)})
    Path("back.json").write_bytes(studio.exported(project))
    studio.ask("DELETE", f"/annotations/{made['id']}")
    until("d20", {})
    settled(served)
    assert retrieved(studio, project).startswith("possibal-8-")
    served.stop()
    run("import", "back.json", "reviews.db")  # as it was before
    assert journal()["d20"] == {}


def test_an_annotation_of_a_task_that_is_no_row_is_told_and_kept_nowhere(studio, served, project):
    before = journal()
    studio.annotate(named(studio, project)[ODD]["id"], choice("good"))
    end = time.monotonic() + PATIENCE
    while "not kept: task must name its row" not in served.log.read_text():
        assert time.monotonic() < end
        time.sleep(0.2)
    assert journal() == before


def test_without_its_password_label_studio_is_told_nothing(studio, served):
    (address,) = ADDRESS.findall(served.log.read_text())
    bare = re.sub(r"//.*@", "//", address)
    made = studio.project(INTERFACE, "closed")
    reply = studio.client.post("/api/ml", json={"project": made, "url": bare, "title": "x"})
    assert reply.status_code == 400
    assert "authentication" in reply.text
    password = re.search(r":(\w+)@", address).group(1)
    for given, status in ((password, 201), (password[:-1], 400)):
        basic = {"auth_method": "BASIC_AUTH", "basic_auth_user": "x", "basic_auth_pass": given}
        found = {"project": made, "url": bare, "title": "x", **basic}
        assert studio.client.post("/api/ml", json=found).status_code == status
