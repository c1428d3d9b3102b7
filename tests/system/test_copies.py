"""Rows that say the same, from a file to its page: asked once, labelled and undone together."""

import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect
from support.browser import NARROW, WIDE, counted, faultless, needs_browser, shot, visit
from support.served import Server, run

from possibal.cli import main
from possibal.data.copies import folded_text
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.store import Store

TEMPLATES = [
    "Win a prize of {} euros today",
    "See you at {} for lunch with the team",
    "Your parcel {} waits at the post office",
    "Could you send me the minutes, please?",
]
ENDS = ["", " Thanks.", " Bye!", " Sent on the way"]


def messages(path: Path, rows: int = 48) -> Path:
    """A file of messages, each of which comes in four forms and each form three times."""
    rng = np.random.default_rng(0)
    lines = [["id", "message"]]
    for row in range(rows):
        text = TEMPLATES[row % 4].format(rng.integers(1, 99)) + ENDS[row // 4 % 4]
        lines.append([f"m{row}", text.upper() if row % 5 == 0 else text])
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    return path


def scenes(folder: Path) -> Path:
    """A folder of eight pictures, each twice, and one of them with a white corner."""
    folder.mkdir()
    for number in range(8):
        rng = np.random.default_rng(number)
        coarse = Image.fromarray(rng.integers(0, 255, (6, 6, 3), dtype=np.uint8))
        scene = coarse.resize((96, 96), Image.Resampling.BICUBIC)
        scene.save(folder / f"{number}a.png")
        scene.save(folder / f"{number}b.jpg", quality=85)
        if not number:
            scene.paste((255, 255, 255), (0, 0, 6, 6))
            scene.save(folder / "0c.png")
    return folder


def labels(path: Path) -> dict[str, str]:
    """The labels that a file was exported with."""
    with path.open(encoding="utf-8") as file:
        return {line["id"]: line["final"] for line in csv.DictReader(file)}


# ---------------------------------------------------------------- without a browser
def test_a_label_is_that_of_all_copies_from_the_page_to_the_export_and_back(tmp_path):
    path = messages(tmp_path / "messages.csv")
    with Server("messages.csv", "--classes", "spam,ham", "--check", "4", folder=tmp_path) as server:
        assert "32 rows say the same as another (case and digits aside)" in server.log.read_text()
        ann = server.person("ann")
        question = ann.ask()
        assert question["copies"] == 2
        ann.say(question["item"]["row"], "ham", next=False)
        now = ann.get("progress")
        assert (now["rows"], now["answered"], now["copies"], now["left"]) == (48, 3, 2, 15)
        assert now["check"]["more"] == 4
        (entry,) = ann.get("history")["entries"]
        assert (entry["others"], entry["copies"]) == (2, 2)
        assert ann.undo()["said"] == "ham, and 2 other rows"
        assert ann.get("progress")["answered"] == 0
        while (question := ann.ask()) is not None:
            text = question["item"]["text"]
            ann.say(question["item"]["row"], "spam" if "prize" in text.lower() else "ham")
        assert ann.get("progress")["answered"] == 48
        assert ", 32 of them as copies." in server.stop()
    assert main.main(["export", f"{path}.possibal.db", "--to", str(tmp_path / "out.csv")]) == 0
    assert labels(tmp_path / "out.csv") == {
        f"m{row}": "ham" if row % 4 else "spam" for row in range(48)
    }
    assert main.main(["import", str(tmp_path / "out.csv"), f"{path}.possibal.db"]) == 0


def test_check_rows_never_share_a_text_with_rows_that_are_learnt_from(tmp_path):
    path = messages(tmp_path / "messages.csv")
    with Server(
        "messages.csv", "--classes", "spam,ham", "--check", "6", "--by", "words", folder=tmp_path
    ) as server:
        ann = server.person("ann")
        while (question := ann.ask()) is not None:
            ann.say(question["item"]["row"], "spam" if question["item"]["row"] % 2 else "ham")
    with Store.open(f"{path}.possibal.db", writes=False) as store:
        task, items = ReadModel(store).task(), store.items()
    said = defaultdict(set)
    for what, answers in (("learnt", task.answers), ("check", task.check)):
        said[what] = {folded_text(items[answer.row].cells[0]) for answer in answers}
    assert (len(said["learnt"]), len(said["check"])) == (10, 6)
    assert (len(task.answers), len(task.check)) == (10, 6)
    assert not said["learnt"] & said["check"]


@pytest.mark.long
def test_copies_may_be_asked_apart_and_that_stays(tmp_path):
    messages(tmp_path / "messages.csv")
    options = ["--classes", "spam,ham", "--by", "words"]
    with Server("messages.csv", *options, "--copies", "apart", folder=tmp_path) as server:
        assert "the same as another" not in server.log.read_text()
        ann = server.person("ann")
        assert ann.ask()["copies"] == 0
        assert ann.get("progress")["left"] == 48
    with Server("messages.csv", *options, folder=tmp_path) as server:
        assert server.person("ann").get("progress")["left"] == 48
    db = ["--db", "other.db"]
    with Server("messages.csv", *options, *db, folder=tmp_path):
        pass
    with Server("messages.csv", *options, *db, "--copies", "apart", folder=tmp_path) as server:
        assert "copies stay together, as when the campaign began." in server.log.read_text()
    done = run("label", "messages.csv", "--copies", "close", "--db", "new.db", folder=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "copies must be one of" in done.stderr
    assert not (tmp_path / "new.db").exists()


def test_new_rows_of_a_file_join_their_copies(tmp_path):
    path = messages(tmp_path / "messages.csv", rows=24)
    with Server(
        "messages.csv", "--classes", "spam,ham", "--by", "words", folder=tmp_path
    ) as server:
        ann = server.person("ann")
        ann.say(0, "spam", next=False)
    messages(path)
    with Server("messages.csv", folder=tmp_path) as server:
        said = server.log.read_text()
        assert "Rows since last time: 24 new." in said
        assert "32 rows say the same as another" in said
        ann = server.person("ann")
        assert ann.get("progress")["answered"] == 3
        assert json.loads(ann.client.get("/api/campaign").text)["rows"] == 48


# ---------------------------------------------------------------- in a browser
@pytest.fixture
def server(tmp_path):
    """A server of messages."""
    messages(tmp_path / "messages.csv")
    with Server(
        "messages.csv", "--classes", "spam,ham", "--by", "words", folder=tmp_path
    ) as server:
        yield server


def answer(page: Page, key: str = "1") -> None:
    """Answer the row that is shown by the keyboard."""
    shown = page.get_by_test_id("row-id").inner_text()
    page.keyboard.press(key)
    expect(page.get_by_test_id("row-id")).not_to_have_text(shown)


def is_offered(page: Page) -> bool:
    """Whether something is nearly the same as the row that is shown, which is answered."""
    with page.expect_response(lambda reply: "/near?" in reply.url) as asked:
        answer(page)
    if not asked.value.json()["items"]:
        return False
    expect(page.get_by_test_id("near-offer")).to_be_visible()
    return True


def offered(page: Page) -> None:
    """Answer until something is nearly the same as what was answered."""
    assert any(is_offered(page) for _ in range(12))


@needs_browser
def test_the_page_says_how_many_copies_a_row_stands_for_and_undoes_all(browser, server):
    page = visit(browser, server)
    expect(page.get_by_test_id("copies")).to_have_text("Stands for 2 copies")
    first = page.get_by_test_id("row-id").inner_text()
    answer(page)
    expect(page.get_by_test_id("status")).to_contain_text("Saved: spam, and 2 copies.")
    counted(page, 3)
    expect(page.get_by_test_id("rows")).to_contain_text("3 of 48 rows, 2 of them copies.")
    shot(page, "copies")
    faultless(page)
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("status")).to_contain_text("Undone: spam, and 2 copies.")
    expect(page.get_by_test_id("row-id")).to_have_text(first)
    counted(page, 0)
    answer(page, "2")
    page.goto(f"{server.base}/#history")
    expect(page.get_by_test_id("history-row").first).to_contain_text("ham, and 2 copies")
    faultless(page)


@needs_browser
def test_near_copies_are_offered_none_ticked_and_taken_as_one_action(browser, server):
    page, ann = visit(browser, server), server.person("Ann")
    offered(page)
    ticks, give = page.get_by_test_id("near-tick"), page.get_by_test_id("near-give")
    expect(give).to_be_disabled()
    assert 1 <= ticks.count() <= 6
    assert not any(tick.is_checked() for tick in ticks.all())
    for size in (NARROW, WIDE):
        page.set_viewport_size(size)
        faultless(page)
        shot(page, f"near-copies-{size['width']}")
    before = ann.get("progress")["answered"]
    for tick in ticks.all()[:2]:
        tick.focus()
        page.keyboard.press("Space")
    many = min(2, ticks.count())
    expect(give).to_have_text(f"Label {many} row{'s' * (many > 1)} as spam")
    give.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("near-offer")).to_be_hidden()
    counted(page, before + 3 * many)
    assert ann.get("history")["entries"][0]["others"] == 3 * many - 1
    page.keyboard.press("Backspace")
    counted(page, before)
    assert ann.get("progress")["answered"] == before


@needs_browser
def test_an_offer_can_be_declined_and_goes_with_the_next_answer(browser, server):
    page = visit(browser, server)
    offered(page)
    page.get_by_test_id("near-look").click()
    expect(page.get_by_test_id("near-tick").first).to_be_focused()
    page.get_by_test_id("near-no").click()
    expect(page.get_by_test_id("near-offer")).to_be_hidden()
    offered(page)
    page.get_by_test_id("near-tick").first.check()
    answer(page, "s")
    expect(page.get_by_test_id("near-offer")).to_be_hidden()
    assert vars(page)["wrong"] == []


@needs_browser
def test_nothing_is_offered_after_an_answer_that_was_refused(browser, server):
    page, asked = visit(browser, server), list[str]()
    page.on("request", lambda request: "/near?" in request.url and asked.append(request.url))
    shown = page.get_by_test_id("row-id").element_handle()
    page.route(
        "**/api/answer", lambda route: route.fulfill(status=409, json={"detail": "No."}), times=1
    )
    page.keyboard.press("1")
    page.wait_for_function("shown => !shown.isConnected", arg=shown)  # it is asked again
    is_offered(page)
    assert len(asked) == 1
    assert vars(page)["wrong"] == []


@needs_browser
def test_pictures_that_look_the_same_are_labelled_together(browser, tmp_path):
    scenes(tmp_path / "scenes")
    with Server("scenes", "--classes", "day,night", "--by", "colours", folder=tmp_path) as server:
        assert "8 rows say the same as another" in server.log.read_text()
        ann = server.person("Ann")
        assert ann.ask(row=0)["item"]["id"] == "0a.png"  # what is asked first is up to the model
        page = visit(browser, server)
        expect(page.get_by_test_id("row-id")).to_have_text("0a.png")
        assert is_offered(page)
        expect(page.get_by_test_id("near-offer").locator("img")).to_be_visible()
        expect(page.get_by_test_id("near-offer")).to_contain_text("Row 0c.png")
        shot(page, "near-pictures")
        faultless(page)
        entries = ann.get("history")["entries"]
        assert [(one["id"], one["others"], one["copies"]) for one in entries] == [("0a.png", 1, 1)]
        given = csv.DictReader(ann.client.get("/api/labels.csv").text.splitlines())
        assert {one["id"]: one["final"] for one in given} == {"0a.png": "day", "0b.jpg": "day"}
