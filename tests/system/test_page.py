"""The labelling page in a real browser: Debian's chromium, driven by Playwright."""

import os
import re
import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright
from support.served import Server

from possibal.data import digits
from possibal.labelling.storage.journal import replay
from possibal.labelling.storage.store import Store

ELSEWHERE = os.environ.get("CI") != "true"
CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SHOTS = os.environ.get("POSSIBAL_SHOTS")
"""A folder to keep pictures of the page in."""
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
TRUTH = digits.truth()
VIEWS = ("label", "map", "history", "people")

pytestmark = pytest.mark.skipif(ELSEWHERE and CHROMIUM is None, reason="needs chromium")


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


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


def visit(browser: Browser, server: Server, who: str = "Ann", **options) -> Page:
    """The page, opened by somebody who has given a name; whatever goes wrong in it fails."""
    page = browser.new_context(viewport=WIDE, **options).new_page()
    page.set_default_timeout(20_000)
    wrong = list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.extend(_foreign(request.url, server)))
    vars(page)["wrong"] = wrong
    page.goto(server.url)
    page.get_by_test_id("name-input").fill(who)
    page.get_by_test_id("name-save").click()
    page.get_by_test_id("question").wait_for()
    return page


def _foreign(url: str, server: Server) -> list[str]:
    """A request that leaves for somewhere else."""
    return [] if url.startswith((server.base, "data:", "blob:")) else [url]


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


def counted(page: Page, number: int) -> None:
    """Wait until the page counts so many labels."""
    expect(page.get_by_test_id("count-answers")).to_have_text(str(number))


def shot(page: Page, title: str) -> None:
    """Keep a picture of the page, if somebody wants to look."""
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{title}.png")


def stored(folder: Path) -> dict[str, str]:
    """The label of each picture, as the journal has it."""
    with Store.open(str(folder / "possibal-digits.possibal.db"), writes=False) as store:
        state, items = replay(store.events()), store.items()
    return {items[row].id: label for row, label in state.labels.items()}


# ---------------------------------------------------------------- one person
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
    answer(page, 12)  # the next is about no check row
    said = page.get_by_test_id("certainty")
    said.scroll_into_view_if_needed()
    expect(said).to_contain_text(re.compile(r"The model leans to [38], certainty\s*\d+\s*%"))
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
    expect(page.get_by_test_id("offline")).to_be_hidden(timeout=30_000)
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
    page.get_by_test_id("nav-map").click()
    page.get_by_test_id("map-canvas").wait_for()
    page.wait_for_timeout(300)
    shot(page, "map")
    page.get_by_test_id("go-row").fill("42")
    page.get_by_test_id("go-submit").click()
    expect(page.get_by_test_id("row-id")).to_contain_text("picture-043.png")
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
        place = int(row.removeprefix("picture-").removesuffix(".png")) - 1
        other.get_by_test_id("nav-map").click()
        other.get_by_test_id("go-row").fill(str(place))
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
        found = Axe().run(page).response["violations"]
        serious = [one["id"] for one in found if one["impact"] in {"serious", "critical"}]
        assert not serious, view
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"], view
    assert not vars(page)["wrong"]


def test_all_keys_are_listed(browser, shared):
    page = visit(browser, shared)
    page.keyboard.press("?")
    said = page.get_by_test_id("dialog").inner_text().lower()
    for word in ("skip", "not sure", "bad", "undo", "1"):
        assert word in said
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("dialog")).to_be_hidden()
