"""Pictures in a real browser: thumbnails in history and map, many at once, and a closer look."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from support.browser import NARROW, WIDE, faultless, needs_browser, shot, visit
from support.served import Server, pictures, table, truth
from support.services import until

from possibal.labelling.storage.journal import replay
from possibal.labelling.storage.store import Store

pytestmark = needs_browser


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A folder of pictures, half of them dark, and a campaign in which six are labelled."""
    folder = tmp_path_factory.mktemp("begun")
    pictures(folder / "shades", 40)
    with Server("shades", "--classes", "dark,light", folder=folder) as server:
        ann = server.person("Ann")
        for row in (0, 1, 2, 3, 20, 21):
            ann.say(row, "dark" if row % 2 else "light")
    return folder


@pytest.fixture
def server(begun, tmp_path):
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    with Server("shades", folder=tmp_path) as server:
        server.person("Ann").await_ranking()
        yield server


@pytest.fixture(scope="module")
def shared(begun, tmp_path_factory):
    """A server for those who only look."""
    folder = tmp_path_factory.mktemp("shared")
    shutil.copytree(begun, folder, dirs_exist_ok=True)
    with Server("shades", folder=folder) as server:
        server.person("Ann").await_ranking()
        yield server


def is_seen(page: Page, within: str) -> None:
    """Wait until a thumbnail is there."""
    page.wait_for_function(
        """(within) => [...document.querySelectorAll(`[data-testid=${within}] .thumbnail img`)]
          .some((one) => one.checkVisibility() && one.naturalWidth > 0)""",
        arg=within,
    )


# ---------------------------------------------------------------- thumbnails
def test_the_history_shows_what_each_answer_was_about(browser, shared):
    page = visit(browser, shared)
    page.get_by_test_id("nav-history").click()
    expect(page.get_by_test_id("history-row")).to_have_count(6)
    expect(page.get_by_test_id("thumbnail")).to_have_count(6)
    is_seen(page, "history-row")
    shot(page, "picture-history")
    faultless(page)


def test_rows_that_are_alike_are_shown_small(browser, shared):
    page = visit(browser, shared)
    expect(page.locator("ul.near > li").get_by_test_id("thumbnail")).to_have_count(3)
    is_seen(page, "near")


def test_a_picture_that_is_broken_leaves_the_name_of_its_row(browser, tmp_path):
    pictures(tmp_path / "shades", 22)
    with Server("shades", "--classes", "dark,light", folder=tmp_path) as server:
        server.person("Ann").say(21, "dark")
        (tmp_path / "shades/21.png").write_bytes(b"nothing")
        _see_a_broken_picture(visit(browser, server))


def _see_a_broken_picture(page: Page) -> None:
    page.get_by_test_id("nav-history").click()
    missing = page.locator(".thumbnail.missing")
    expect(missing).to_have_count(1)
    expect(missing).to_have_text("21.png")
    faultless(page)


def test_the_map_shows_the_picture_of_the_row_that_somebody_is_at(browser, shared):
    page = visit(browser, shared)
    page.get_by_test_id("nav-map").click()
    canvas = page.get_by_test_id("map-canvas")
    page.wait_for_function("() => document.querySelector('canvas')?.width > 300")  # it is drawn
    canvas.focus()
    expect(page.get_by_test_id("map-tip")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    is_seen(page, "map-tip")
    first = page.get_by_test_id("map-info").inner_text()
    for way in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        page.keyboard.press(way)
    shot(page, "picture-map")
    expect(page.get_by_test_id("live")).to_contain_text(re.compile(r"Row \d\d\.png"))
    assert first.startswith("Row ")
    page.get_by_test_id("map-row").nth(1).focus()
    name = page.get_by_test_id("map-row").nth(1).inner_text()
    expect(page.get_by_test_id("map-info")).to_contain_text(name)
    is_seen(page, "map-tip")
    faultless(page)
    canvas.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("row-id")).to_have_text(name.removeprefix("Row "))


# ---------------------------------------------------------------- many at once
def confirming(page: Page, label: str) -> None:
    """Go to the rows that the model takes for a class."""
    page.get_by_test_id("nav-confirm").click()
    page.locator(f"[data-testid=grid-group][data-label={label}]").click()
    expect(page.get_by_test_id("grid-told")).to_contain_text(f"for {label}")
    page.get_by_test_id("tile").first.wait_for()


def tiles(page: Page) -> list[int]:
    """The rows that are shown."""
    shown = page.get_by_test_id("tile").all()
    return [int(one.get_attribute("data-row") or "") for one in shown]


def labels(folder: Path) -> dict[int, str]:
    """The label of each row, as the journal has it."""
    (db,) = folder.glob("*.db")
    with Store.open(str(db), writes=False) as store:
        return dict(replay(store.events()).labels)


def test_many_are_ticked_confirmed_as_one_and_undone_as_one(browser, server, tmp_path):
    page = visit(browser, server)
    before = labels(tmp_path)
    confirming(page, "dark")
    confirm = page.get_by_test_id("grid-confirm")
    assert page.locator("input:checked").count() == 0  # nobody is led to agree
    expect(confirm).to_be_disabled()
    shown = tiles(page)
    page.get_by_test_id("tile").nth(0).click()
    page.get_by_test_id("tile").nth(4).click(modifiers=["Shift"])
    page.get_by_test_id("tile").nth(2).click()
    expect(page.get_by_test_id("grid-count")).to_have_text(f"4 of {len(shown)} ticked")
    expect(confirm).to_have_text("These 4 are dark")
    shot(page, "confirm")
    faultless(page)
    confirm.click()
    expect(page.get_by_test_id("grid-said")).to_have_text("Saved: 4 rows are dark.")
    sent = [shown[place] for place in (0, 1, 3, 4)]
    assert tiles(page)[: len(shown) - 4] == [row for row in shown if row not in sent]
    assert labels(tmp_path) == {**before, **dict.fromkeys(sent, "dark")}
    page.get_by_test_id("grid-undo").click()
    expect(page.get_by_test_id("grid-said")).to_contain_text("Undone: dark, and 3 other rows.")
    assert tiles(page)[: len(shown)] == shown
    assert labels(tmp_path) == before


def test_one_of_many_is_changed_later_in_the_history(browser, server, tmp_path):
    page = visit(browser, server)
    confirming(page, "dark")
    shown = tiles(page)
    for place in (0, 1, 2):
        page.get_by_test_id("tile").nth(place).click()
    page.get_by_test_id("grid-confirm").click()
    expect(page.get_by_test_id("grid-said")).to_contain_text("Saved")
    page.get_by_test_id("nav-history").click()
    page.get_by_test_id("history-rows").click()
    expect(page.get_by_test_id("event-row")).to_have_count(3)
    is_seen(page, "event-row")
    shot(page, "history-rows")
    faultless(page)
    page.get_by_test_id("event-row").nth(1).click()
    page.get_by_test_id("dialog").get_by_test_id("class-button").nth(1).click()
    expect(page.get_by_test_id("history-row")).to_have_count(8)
    found = labels(tmp_path)
    assert [found[row] for row in shown[:3]] == ["dark", "light", "dark"]


def test_actions_are_undone_one_after_the_other(browser, server, tmp_path):
    page = visit(browser, server)
    before = labels(tmp_path)
    confirming(page, "dark")
    shown = tiles(page)
    for _ in range(2):
        page.get_by_test_id("tile").nth(1).click()
        page.get_by_test_id("grid-confirm").click()
        expect(page.get_by_test_id("grid-said")).to_contain_text("Saved")
    assert labels(tmp_path) == {**before, shown[1]: "dark", shown[2]: "dark"}
    for _ in range(2):
        page.get_by_test_id("grid-undo").click()
        expect(page.get_by_test_id("grid-said")).to_contain_text("Undone")
    expect(page.get_by_test_id("grid-undo")).to_be_hidden()
    assert tiles(page) == shown
    assert labels(tmp_path) == before


def test_undo_shows_no_row_twice_where_the_class_was_left_in_between(browser, server, tmp_path):
    page = visit(browser, server)
    before = labels(tmp_path)
    confirming(page, "dark")
    shown = tiles(page)
    page.get_by_test_id("tile").nth(1).click()
    page.get_by_test_id("grid-confirm").click()
    expect(page.get_by_test_id("grid-said")).to_contain_text("Saved")
    for label in ("light", "dark"):
        page.locator(f"[data-testid=grid-group][data-label={label}]").click()
        expect(page.get_by_test_id("grid-told")).to_contain_text(f"for {label}")
        page.get_by_test_id("tile").first.wait_for()
    now = tiles(page)
    assert shown[1] not in now
    page.get_by_test_id("grid-undo").click()
    expect(page.get_by_test_id("grid-said")).to_contain_text("Undone")
    assert tiles(page) == [shown[1], *now]
    assert labels(tmp_path) == before


def test_a_refusal_brings_back_its_rows_and_none_confirmed_since(browser, server, tmp_path):
    page, held = visit(browser, server), list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    before = labels(tmp_path)
    confirming(page, "dark")
    shown = tiles(page)
    page.route("**/api/answer", hold, times=1)
    with page.expect_request("**/api/answer"):
        page.get_by_test_id("tile").nth(0).click()
        page.get_by_test_id("grid-confirm").click()
    page.get_by_test_id("tile").nth(0).click()
    page.get_by_test_id("grid-confirm").click()
    held[0].fulfill(status=409, json={"detail": "Not now."})
    expect(page.get_by_test_id("grid-said")).to_contain_text("Saved")
    assert tiles(page) == [shown[0], *shown[2:]]
    assert labels(tmp_path) == {**before, shown[1]: "dark"}
    assert vars(page)["wrong"] == []


def test_many_are_confirmed_by_keys_alone(browser, server, tmp_path):
    page = visit(browser, server)
    before = labels(tmp_path)
    confirming(page, "light")
    shown = tiles(page)
    page.get_by_test_id("tile-box").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_test_id("grid-confirm")).to_have_text("These 3 are light")
    page.get_by_test_id("grid-confirm").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("grid-said")).to_contain_text("Saved: 3 rows are light.")
    assert labels(tmp_path) == {**before, **dict.fromkeys(shown[:3], "light")}
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("grid-said")).to_contain_text("Undone")
    assert labels(tmp_path) == before
    assert not vars(page)["wrong"]


def test_keys_go_through_the_rows_and_look_closer(browser, shared):
    page = visit(browser, shared)
    confirming(page, "light")
    page.get_by_test_id("tile-box").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("z")
    expect(page.get_by_test_id("zoom")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("tile-box").nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_test_id("tile-box").last).to_be_focused()
    page.keyboard.press("Home")
    expect(page.get_by_test_id("tile-box").first).to_be_focused()
    page.keyboard.press("Control+a")
    expect(page.get_by_test_id("tick-all")).to_have_text("Untick all")
    page.get_by_test_id("tile").nth(3).hover()
    page.get_by_test_id("tile-zoom").nth(3).click()
    expect(page.get_by_test_id("zoom")).to_be_visible()
    assert not vars(page)["wrong"]


def test_a_row_that_is_wrong_gets_another_class(browser, server, tmp_path):
    page = visit(browser, server)
    confirming(page, "dark")
    (row, *_) = tiles(page)
    page.get_by_test_id("tile").first.click()
    page.get_by_test_id("grid-class").select_option("light")
    expect(page.get_by_test_id("grid-confirm")).to_have_text("This one is light")
    page.get_by_test_id("grid-confirm").click()
    expect(page.get_by_test_id("grid-said")).to_contain_text("Saved: 1 row is light.")
    assert labels(tmp_path)[row] == "light"
    assert page.get_by_test_id("grid-class").input_value() == "dark"


def test_what_is_confirmed_without_a_connection_arrives_when_it_is_back(browser, server, tmp_path):
    page = visit(browser, server)
    before = labels(tmp_path)
    confirming(page, "dark")
    shown = tiles(page)
    page.context.set_offline(True)
    page.get_by_test_id("tick-all").click()
    page.get_by_test_id("grid-confirm").click()
    expect(page.get_by_test_id("grid-said")).to_contain_text("Kept in this browser")
    expect(page.get_by_test_id("tile")).to_have_count(0)
    assert labels(tmp_path) == before
    page.context.set_offline(False)
    expect(page.get_by_test_id("offline")).to_be_hidden()
    until(lambda: labels(tmp_path) == {**before, **dict.fromkeys(shown, "dark")})
    page.get_by_test_id("nav-label").click()
    page.get_by_test_id("row-id").wait_for()
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("status")).to_contain_text("Undone: dark, and")
    assert labels(tmp_path) == before


def test_texts_and_tables_are_confirmed_too_once_something_is_known(browser, tmp_path):
    table(tmp_path / "a.csv", 400)
    with Server("a.csv", "--classes", "no,yes", folder=tmp_path) as server:
        page = visit(browser, server)
        page.get_by_test_id("nav-confirm").click()
        expect(page.get_by_test_id("grid-told")).to_contain_text("Answer a few questions first.")
        ann = server.person("Ann")
        for _ in range(10):
            question = ann.ask()
            ann.say(question["item"]["row"], truth(question), next=False)
        ann.await_ranking()
        page.get_by_test_id("nav-label").click()
        confirming(page, "yes")
        expect(page.get_by_test_id("tile")).to_have_count(48)
        page.get_by_test_id("grid-more").click()
        page.wait_for_function("() => document.querySelectorAll('.tile').length > 48")
        assert len(set(tiles(page))) == len(tiles(page))
        expect(page.get_by_test_id("tile").first).to_contain_text("x0: ")
        shot(page, "confirm-table")
        faultless(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_confirming_has_no_serious_faults(size, scheme, browser, shared):
    page = visit(browser, shared, viewport=size, color_scheme=scheme)
    confirming(page, "light")
    page.get_by_test_id("tile").nth(1).click()
    is_seen(page, "tile")
    shot(page, f"confirm-{size['width']}-{scheme}")
    faultless(page)


# ---------------------------------------------------------------- a closer look
DRAWN = "document.querySelector('.stage img').getBoundingClientRect().toJSON()"
"""Where a picture is on the screen."""


def scale(page: Page) -> float:
    return float(page.get_by_test_id("zoom-scale").inner_text().split()[0])


def at_rest(page: Page) -> None:
    """Wait until the picture has come to rest."""
    page.wait_for_function("() => !document.querySelector('.stage img').getAnimations().length")


def across(page: Page) -> float:
    """Where the picture begins, once it has come to rest."""
    at_rest(page)
    box = page.get_by_test_id("zoom-stage").locator("img").bounding_box()
    assert box is not None
    return box["x"]


def test_a_picture_is_looked_at_closely_by_keys_alone(browser, shared):
    page = visit(browser, shared)
    asked = page.get_by_test_id("row-id").inner_text()
    page.get_by_test_id("picture").focus()
    page.keyboard.press("Enter")
    box = page.get_by_test_id("zoom")
    expect(box).to_contain_text(f"Row {asked}")
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert scale(page) == 2.0
    before = across(page)
    page.keyboard.press("ArrowLeft")
    assert across(page) > before
    shot(page, "zoom")
    faultless(page)
    page.keyboard.press("-")
    assert scale(page) == 1.4
    page.keyboard.press("0")
    assert scale(page) == 1.0
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(page.get_by_test_id("picture")).to_be_focused()
    expect(page.get_by_test_id("row-id")).to_have_text(asked)


def test_a_picture_keeps_its_shape(browser, shared):
    page = visit(browser, shared)
    page.get_by_test_id("picture").click()
    page.keyboard.press("+")
    page.keyboard.press("+")
    at_rest(page)
    stage, drawn = page.get_by_test_id("zoom-stage").bounding_box(), page.evaluate(DRAWN)
    assert stage is not None
    assert drawn["width"] / stage["width"] == pytest.approx(1.4**2)
    assert drawn["height"] / stage["height"] == pytest.approx(1.4**2)


def test_nothing_is_answered_behind_a_picture(browser, shared):
    page = visit(browser, shared)
    asked, box = page.get_by_test_id("row-id").inner_text(), page.get_by_test_id("zoom")
    page.keyboard.press("z")
    expect(box).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("z")
    expect(box).to_have_count(0)
    expect(page.get_by_test_id("row-id")).to_have_text(asked)


def test_a_picture_is_looked_at_closely_with_the_mouse(browser, shared):
    page = visit(browser, shared)
    page.get_by_test_id("picture").click()
    stage = page.get_by_test_id("zoom-stage")
    stage.hover()
    page.mouse.wheel(0, -400)
    page.wait_for_function("() => !document.querySelector('output').textContent.startsWith('1.0')")
    before = across(page)
    page.mouse.down()
    page.mouse.move(500, 300, steps=4)
    page.mouse.up()
    assert across(page) < before
    page.get_by_test_id("zoom-fit").click()
    assert scale(page) == 1.0
    stage.dblclick()
    assert scale(page) > 2
    page.get_by_test_id("zoom-close").click()
    expect(page.get_by_test_id("zoom")).to_have_count(0)
    assert not vars(page)["wrong"]


def test_two_fingers_zoom(browser, shared):
    page = visit(browser, shared, viewport=NARROW, has_touch=True)
    page.get_by_test_id("picture").tap()
    page.get_by_test_id("zoom-stage").wait_for()
    shot(page, "zoom-narrow")
    faultless(page)
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *xs: int) -> None:
        points = [{"x": x, "y": 300, "id": place} for place, x in enumerate(xs)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 160, 200)
    touch("touchMove", 120, 240)
    touch("touchMove", 80, 280)
    touch("touchEnd")
    page.wait_for_function("() => parseFloat(document.querySelector('output').textContent) > 3")
