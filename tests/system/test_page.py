"""The labelling page in a real browser: Debian's chromium, driven by Playwright."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from support.browser import NARROW, WIDE, counted, faultless, needs_browser, shot, visit
from support.served import Server, pictures, table

from possibal.data import digits
from possibal.labelling.storage.journal import replay
from possibal.labelling.storage.store import Store

TRUTH = digits.truth()
VIEWS = ("label", "map", "history", "people")

pytestmark = needs_browser


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A folder with the built-in pictures and a campaign that nobody has answered yet."""
    folder = tmp_path_factory.mktemp("begun")
    with Server("--check", "10", folder=folder):
        pass
    return folder


@pytest.fixture
def server(begun, tmp_path):
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    with Server("--check", "10", folder=tmp_path) as server:
        yield server


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server for those who only look."""
    with Server("--check", "10", folder=tmp_path_factory.mktemp("shared")) as server:
        yield server


def name(page: Page) -> str:
    """The row on the page."""
    said = page.get_by_test_id("row-id").inner_text()
    return next(one for one in TRUTH if one in said)


def answer(page: Page, times: int = 1) -> list[str]:
    """Answer as somebody who knows, by the keyboard; the rows that were answered."""
    done = list[str]()
    for _ in range(times):
        asked = name(page)
        page.wait_for_timeout(30)
        page.keyboard.press("1" if TRUTH[asked] == "3" else "2")
        expect(page.get_by_test_id("row-id")).not_to_contain_text(asked)
        done.append(asked)
    return done


def stored(folder: Path) -> dict[str, str]:
    """The label of each picture, as the journal has it."""
    with Store.open(str(folder / "possibal-digits.possibal.db"), writes=False) as store:
        state, items = replay(store.events()), store.items()
    return {items[row].id: label for row, label in state.labels.items()}


# ---------------------------------------------------------------- one person
@pytest.mark.long
def test_somebody_labels_the_built_in_pictures_until_the_page_says_stop(browser, server, tmp_path):
    page = visit(browser, server)
    shot(page, "first-question")
    done = answer(page, 12)
    shot(page, "after-12")
    undone = [done.pop(), done.pop()]
    for back in undone:
        page.keyboard.press("Backspace")
        expect(page.get_by_test_id("row-id")).to_contain_text(back)
    counted(page, 10)
    done += answer(page, 1)
    page.reload()
    page.get_by_test_id("question").wait_for()
    counted(page, len(done))
    while page.get_by_test_id("advice").get_attribute("data-state") == "go on" and len(done) < 150:
        done += answer(page, 5)
        page.wait_for_timeout(400)
    shot(page, "may-stop")
    assert page.get_by_test_id("advice").get_attribute("data-state") in {"may stop", "stop"}
    assert len(set(done)) == len(done)
    counted(page, len(done))
    assert stored(tmp_path) == {one: TRUTH[one] for one in done}
    assert not vars(page)["wrong"]


def test_the_reasons_name_a_label_how_certain_it_is_and_rows_like_it(browser, server):
    page = visit(browser, server)
    answer(page, 12)  # the next is about no check row, unless the model is slow
    ann, said = server.person("Ann"), page.get_by_test_id("certainty")
    for _ in range(12):
        ann.await_ranking()
        page.reload()
        page.get_by_test_id("why-sentence").wait_for()
        if said.count():
            break
        answer(page, 1)
    said.scroll_into_view_if_needed()
    expect(said).to_contain_text(re.compile(r"Chance that it is [38]\s*\d+% \(\d+% to \d+%\)"))
    expect(page.locator("ul.near > li")).to_have_count(3)
    shot(page, "reasons")
    assert not vars(page)["wrong"]


def test_twenty_answers_without_a_connection_arrive_when_it_is_back(browser, server, tmp_path):
    page = visit(browser, server)
    done = answer(page, 3)
    page.wait_for_timeout(1500)  # the reserve is on its way
    page.context.set_offline(True)
    for _ in range(20):
        done += answer(page, 1)
    expect(page.get_by_test_id("offline")).to_be_visible()
    expect(page.get_by_test_id("offline")).to_contain_text("20")
    shot(page, "offline")
    assert len(stored(tmp_path)) == 3
    page.context.set_offline(False)
    expect(page.get_by_test_id("offline")).to_be_hidden()
    counted(page, 23)
    assert stored(tmp_path) == {one: TRUTH[one] for one in done}


def test_answers_made_while_the_server_is_dead_survive_its_return(browser, tmp_path):
    with Server("--port", "0", folder=tmp_path) as first:
        page = visit(browser, first)
        done = answer(page, 2)
        page.wait_for_timeout(1500)
        first.kill()
        done += answer(page, 4)
        expect(page.get_by_test_id("offline")).to_contain_text("4")
    assert len(stored(tmp_path)) == 2
    kept = page.evaluate("JSON.stringify(localStorage)")
    assert all(label in kept for label in ('\\"label\\"',))


def test_skip_unsure_and_bad_have_keys_and_buttons_of_their_own(browser, server, tmp_path):
    page = visit(browser, server)
    seen = list[str]()
    for way in (lambda: page.keyboard.press("s"), lambda: page.get_by_test_id("unsure").click()):
        seen.append(name(page))
        page.wait_for_timeout(300)
        way()
        expect(page.get_by_test_id("row-id")).not_to_contain_text(seen[-1])
    seen.append(name(page))
    page.wait_for_timeout(300)
    page.keyboard.press("b")
    expect(page.get_by_test_id("row-id")).not_to_contain_text(seen[-1])
    with Store.open(str(tmp_path / "possibal-digits.possibal.db"), writes=False) as store:
        kinds = [event.kind.value for event in store.events()]
    assert kinds == ["skip", "unsure", "bad"]
    assert not stored(tmp_path)


def test_an_answer_is_changed_in_the_history(browser, server, tmp_path):
    page = visit(browser, server)
    (done,) = answer(page, 1)
    page.get_by_test_id("nav-history").click()
    page.get_by_test_id("history-open").first.click()
    page.get_by_test_id("dialog").get_by_test_id("class-button").nth(
        1 if TRUTH[done] == "3" else 0
    ).click()
    other = "8" if TRUTH[done] == "3" else "3"
    expect(page.get_by_test_id("history-row")).to_have_count(2)
    shot(page, "history")
    assert stored(tmp_path) == {done: other}


def test_a_row_is_chosen_on_the_map(browser, shared):
    page = visit(browser, shared)
    answer(page, 6)
    ann = shared.person("Ann")
    while all(point["chance"] is None for point in ann.get("map")["points"]):
        answer(page, 1)  # check rows are asked first where the model is slow
        ann.await_ranking()
    page.get_by_test_id("nav-map").click()
    page.get_by_test_id("map-canvas").wait_for()
    page.wait_for_timeout(300)
    shot(page, "map")
    expect(page.get_by_test_id("map-row").first).to_contain_text("Row picture-")
    page.get_by_test_id("go-row").fill("picture-43")
    page.get_by_test_id("go-submit").click()
    expect(page.get_by_test_id("go-near")).to_contain_text("No row is called “picture-43”")
    expect(page.get_by_test_id("go-near")).to_contain_text("picture-143.png")
    page.get_by_test_id("go-row").fill("picture-043.png")
    page.get_by_test_id("go-submit").click()
    expect(page.get_by_test_id("row-id")).to_have_text("picture-043.png")
    expect(page.get_by_test_id("why-sentence")).to_contain_text("You picked it")


def test_the_reason_can_be_hidden_and_stays_hidden(browser, shared):
    page = visit(browser, shared)
    answer(page, 3)
    expect(page.get_by_test_id("why-sentence")).to_be_visible()
    page.keyboard.press("w")
    expect(page.get_by_test_id("why-sentence")).to_have_count(0)
    page.reload()
    page.get_by_test_id("question").wait_for()
    expect(page.get_by_test_id("why-sentence")).to_have_count(0)
    expect(page.get_by_test_id("near")).to_have_count(0)


def test_two_people_disagree_and_a_third_settles_it(browser, tmp_path):
    with Server("--people", "2", folder=tmp_path) as server:
        one, other = visit(browser, server, "Ann"), visit(browser, server, "Bob")
        assert name(one) != name(other)
        (row,) = answer(one, 1)
        other.get_by_test_id("nav-map").click()
        other.get_by_test_id("go-row").fill(row)
        other.get_by_test_id("go-submit").click()
        expect(other.get_by_test_id("row-id")).to_contain_text(row)
        other.wait_for_timeout(300)
        other.keyboard.press("2" if TRUTH[row] == "3" else "1")
        expect(other.get_by_test_id("row-id")).not_to_contain_text(row)
        assert stored(tmp_path) == {}
        third = visit(browser, server, "Cid")
        third.get_by_test_id("nav-people").click()
        third.get_by_test_id("conflict").get_by_test_id("class-button").first.click()
        expect(third.get_by_test_id("conflict")).to_contain_text("settled", ignore_case=True)
        shot(third, "people")
        assert stored(tmp_path) == {row: "3"}


# ---------------------------------------------------------------- classes
def line(page: Page, name: str):
    """A class in the list of all."""
    return page.locator(f"[data-testid=class-line][data-label='{name}']")


def renamed(page: Page, old: str, new: str, description: str, colour: str = "") -> None:
    """Change a class by its line in the list, by keyboard."""
    page.get_by_test_id("edit-classes").click()
    line(page, old).get_by_test_id("class-edit").press("Enter")
    expect(page.get_by_test_id("class-name")).to_be_focused()
    if colour:
        page.get_by_test_id("class-colour").fill(colour)
    page.get_by_test_id("class-name").fill(new)
    page.get_by_test_id("class-description").fill(description)
    page.keyboard.press("Enter")
    expect(line(page, new)).to_contain_text(description)
    page.keyboard.press("Escape")


def settled(page: Page, *names: str) -> None:
    """Wait until the buttons are these."""
    expect(page.locator(".answers .class-name")).to_have_text(list(names))


def test_classes_typed_with_commas_are_several_and_a_wrong_one_goes(browser, tmp_path):
    table(tmp_path / "a.csv")
    with Server("a.csv", folder=tmp_path) as server:
        page = browser.new_context(viewport=NARROW).new_page()
        page.goto(server.url)
        page.get_by_test_id("name-input").fill("Ann")
        page.get_by_test_id("name-save").click()
        page.get_by_test_id("class-input").fill(f"spam, ham,unsure,{'x' * 80}")
        page.get_by_test_id("class-input").press("Enter")
        expect(page.get_by_test_id("class-line")).to_have_count(4)
        shot(page, "classes-typed")
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
        page.get_by_test_id("class-input").fill("Spam ")
        page.get_by_test_id("class-save").click()
        expect(page.get_by_test_id("class-problem")).to_have_text(
            "There is already a class “spam”."
        )
        line(page, "x" * 80).get_by_test_id("class-remove").click()
        expect(page.get_by_test_id("class-line")).to_have_count(3)
        line(page, "unsure").get_by_test_id("class-remove").click()
        expect(page.get_by_test_id("class-line")).to_have_count(2)
        page.get_by_test_id("class-undo").click()
        expect(page.get_by_test_id("class-said")).to_have_text("Undone: class “unsure” removed.")
        expect(page.get_by_test_id("class-line")).to_have_count(3)
        page.get_by_test_id("classes-done").click()
        settled(page, "spam", "ham", "unsure")


def test_a_class_is_renamed_described_and_coloured_and_others_see_it(browser, server, tmp_path):
    page, other = visit(browser, server), visit(browser, server, "Bob")
    done = answer(page, 4)
    renamed(page, "3", "three", "Two open bows.", "#1c7a45")
    settled(page, "three", "8")
    button = page.get_by_test_id("class-button").first
    expect(page.get_by_test_id("meaning")).to_have_text("Two open bows.")
    expect(button).to_have_attribute("title", "three: Two open bows.")
    assert button.evaluate("node => getComputedStyle(node).borderLeftColor") == "rgb(28, 122, 69)"
    (late,) = answer(other, 1)  # whoever has the old names still may answer by them
    settled(other, "three", "8")
    names = {"3": "three", "8": "8"}
    assert stored(tmp_path) == {one: names[TRUTH[one]] for one in [*done, late]}
    expect(page.locator("[data-testid=balance] .label").first).to_have_text("three")
    shot(page, "class-renamed")
    assert not vars(page)["wrong"]


def test_changes_of_classes_are_undone_by_backspace_one_after_the_other(browser, server, tmp_path):
    page = visit(browser, server)
    (done,) = answer(page, 1)
    renamed(page, "3", "three", "Two open bows.")
    settled(page, "three", "8")
    for said in ("class “three” described", "class “3” renamed to “three”"):
        page.wait_for_timeout(300)
        page.keyboard.press("Backspace")
        expect(page.get_by_test_id("status")).to_have_text(f"Undone: {said}.")
    settled(page, "3", "8")
    page.wait_for_timeout(300)
    assert stored(tmp_path) == {done: TRUTH[done]}
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("row-id")).to_have_text(done)


def test_a_class_that_rows_have_is_merged_after_a_question(browser, server, tmp_path):
    page = visit(browser, server)
    done = answer(page, 3)
    page.get_by_test_id("add-class").click()
    page.get_by_test_id("class-input").fill("eight,nine")
    page.get_by_test_id("class-save").click()
    settled(page, "3", "8", "eight", "nine")
    page.get_by_test_id("edit-classes").click()
    line(page, "8").get_by_test_id("class-edit").click()
    page.get_by_test_id("class-name").fill("eight")
    page.get_by_test_id("class-done").click()
    expect(page.get_by_test_id("class-why")).to_contain_text("There is a class “eight” already.")
    expect(page.get_by_test_id("class-into")).to_have_value("eight")
    page.get_by_test_id("class-merge").click()
    expect(page.get_by_test_id("class-line")).to_have_count(3)
    names = {"3": "3", "8": "eight"}
    assert stored(tmp_path) == {one: names[TRUTH[one]] for one in done}


def test_a_class_that_rows_have_is_not_removed_but_may_be_merged(browser, server, tmp_path):
    page = visit(browser, server)
    done = answer(page, 1)
    used = TRUTH[done[0]]
    page.get_by_test_id("edit-classes").click()
    page.get_by_test_id("class-input").fill("nine")
    page.get_by_test_id("class-save").click()
    expect(line(page, used)).to_contain_text("1 row")
    line(page, used).get_by_test_id("class-remove").click()
    expect(page.get_by_test_id("class-why")).to_contain_text(f"“{used}”, so it cannot be removed")
    page.get_by_test_id("class-into").select_option("nine")
    page.get_by_test_id("class-merge").click()
    expect(line(page, used)).to_have_count(0)
    assert stored(tmp_path)[done[0]] == "nine"
    page.get_by_test_id("class-undo").click()
    expect(line(page, used)).to_have_count(1)
    assert stored(tmp_path)[done[0]] == used


def test_an_unused_class_is_removed_and_comes_back_by_undo(browser, server):
    page = visit(browser, server)
    answer(page, 1)
    page.get_by_test_id("add-class").click()
    page.get_by_test_id("class-input").fill("odd")
    page.get_by_test_id("class-input").press("Enter")
    settled(page, "3", "8", "odd")
    page.get_by_test_id("edit-classes").click()
    line(page, "odd").get_by_test_id("class-remove").click()
    expect(page.get_by_test_id("class-said")).to_contain_text("class “odd” removed")
    page.keyboard.press("Escape")
    settled(page, "3", "8")
    page.reload()
    page.get_by_test_id("question").wait_for()
    page.wait_for_timeout(300)
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("status")).to_have_text("Undone: class “odd” removed.")
    settled(page, "3", "8", "odd")


def test_a_class_renamed_without_a_connection_is_renamed_when_it_is_back(browser, server, tmp_path):
    page = visit(browser, server)
    (done,) = answer(page, 1)
    page.wait_for_timeout(1500)  # the reserve is on its way
    page.context.set_offline(True)
    page.get_by_test_id("edit-classes").click()
    line(page, "3").get_by_test_id("class-edit").click()
    page.get_by_test_id("class-name").fill("three")
    page.get_by_test_id("class-done").click()
    expect(page.get_by_test_id("class-said")).to_contain_text("Kept in this browser: class “3” ren")
    page.keyboard.press("Escape")
    page.context.set_offline(False)
    expect(page.get_by_test_id("offline")).to_be_hidden()
    expect(page.locator(".answers .class-name").first).to_have_text("three", timeout=20_000)
    assert stored(tmp_path) == {done: {"3": "three", "8": "8"}[TRUTH[done]]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_list_of_classes_has_no_serious_faults(size, scheme, browser, server):
    page = visit(browser, server, color_scheme=scheme)
    page.get_by_test_id("row-id").wait_for()
    page.set_viewport_size(size)
    long = "a class with a long name and words that go on for eighty letters and a few more"
    page.get_by_test_id("edit-classes").click()
    page.get_by_test_id("class-input").fill(f"{long},{'y' * 200}")
    page.get_by_test_id("class-save").click()
    line(page, long).get_by_test_id("class-edit").click()
    page.get_by_test_id("class-description").fill("What it is. " * 25)
    page.get_by_test_id("class-colour").fill("#000000" if scheme == "light" else "#ffff00")
    for step in ("open", "closed", "buttons"):
        shot(page, f"classes-{step}-{scheme}-{size['width']}")
        faultless(page, step)
        if step == "open":
            page.get_by_test_id("class-done").click()
            expect(line(page, long)).to_contain_text("What it is.")
        elif step == "closed":
            page.keyboard.press("Escape")
            settled(page, "3", "8", long, "y" * 200)


# ---------------------------------------------------------------- measuring
@pytest.mark.long
def test_the_model_is_measured_by_more_rows_at_any_time(browser, tmp_path):
    with Server(folder=tmp_path) as server:
        page = visit(browser, server)
        done = answer(page, 8)
        expect(page.get_by_test_id("no-curve")).to_contain_text("drawn at random")
        page.get_by_test_id("measure").click()
        expect(page.get_by_test_id("status")).to_contain_text("20 rows drawn at random")
        expect(page.get_by_test_id("progress")).to_contain_text(re.compile(r"Check rows: \d of 20"))
        answer(page, 1)
        expect(page.get_by_test_id("why-sentence")).to_contain_text("It was drawn at random")
        answer(page, 6)
        expect(page.get_by_test_id("curve")).to_be_visible()
        expect(page.get_by_test_id("measure")).to_have_text("Measure with 20 more rows")
        shot(page, "measured")
        page.get_by_test_id("results").click()
        expect(page.get_by_test_id("results-accuracy")).to_contain_text(
            re.compile(r"Right on \d+% \(\d+% to \d+%\) of 7 check rows")
        )
        expect(page.get_by_test_id("result-class")).to_have_count(2)
        for width, scheme in ((WIDE, "light"), (WIDE, "dark"), (NARROW, "light")):
            page.set_viewport_size(width)
            page.emulate_media(color_scheme=scheme)
            shot(page, f"results-{scheme}-{width['width']}")
            faultless(page)
        page.set_viewport_size(WIDE)
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("results")).to_be_focused()
        assert len(stored(tmp_path)) == len(done) + 7
        assert not vars(page)["wrong"]


# ---------------------------------------------------------------- how the file was read
def test_the_page_says_how_columns_were_read_and_hides_folders(browser, tmp_path):
    pictures(tmp_path / "shades")
    db = tmp_path / "shades.possibal.db"
    with Server("shades", "--classes", "dark,light", folder=tmp_path):
        pass
    with closing(sqlite3.connect(db)) as raw, raw:
        (kept,) = raw.execute("SELECT value FROM facts WHERE name = 'setup'").fetchone()
        columns = [["age", "number", ""], ["no", "left out", "a running number"]]
        setup = json.loads(kept) | {"columns": columns, "hidden_folders": True}
        raw.execute("UPDATE facts SET value = ? WHERE name = 'setup'", [json.dumps(setup)])
        raw.execute("UPDATE items SET id = 'shady/' || id")
    with Server("shades", folder=tmp_path) as server:
        page = visit(browser, server)
        expect(page.get_by_test_id("row-id")).to_have_text(re.compile(r"^\d\d\.png$"))
        name_of = page.get_by_test_id("row-id").inner_text()
        page.get_by_text("How the columns were read").click()
        expect(page.get_by_test_id("columns")).to_contain_text("a running number")
        shot(page, "columns")
        page.keyboard.press("1")
        expect(page.get_by_test_id("row-id")).not_to_have_text(name_of)
        page.get_by_test_id("nav-history").click()
        expect(page.get_by_test_id("history-open")).to_have_text(f"shady/{name_of}")


# ---------------------------------------------------------------- how it looks
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_view_has_serious_faults_or_runs_off_the_side(size, scheme, browser, shared):
    page = visit(browser, shared, color_scheme=scheme)
    answer(page, 6)
    page.set_viewport_size(size)
    for view in VIEWS:
        page.get_by_test_id(f"nav-{view}").click()
        page.wait_for_timeout(600)
        shot(page, f"{view}-{scheme}-{size['width']}")
        faultless(page, view)


def test_all_keys_are_listed(browser, shared):
    page = visit(browser, shared)
    page.keyboard.press("?")
    said = page.get_by_test_id("dialog").inner_text().lower()
    for word in ("skip", "not sure", "bad", "undo", "1"):
        assert word in said
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("dialog")).to_be_hidden()
