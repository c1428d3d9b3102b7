"""What helps while one labels, from the first question to the last, by keyboard alone."""

import re

import pytest
from playwright.sync_api import Page, expect
from support.browser import NARROW, WIDE, faultless, needs_browser, shot, visit
from support.served import Server, table

pytestmark = needs_browser
WRONG = "“7” does nothing here. 1 and 2 name a class, and ? shows all keys."
LOOKS = [(WIDE, "light"), (WIDE, "dark"), (NARROW, "light")]


@pytest.fixture
def server(tmp_path):
    table(tmp_path / "cells.csv", rows=14, columns=4)
    (tmp_path / "how.md").write_text("- Yes if above nought.\n- No if not.\n", encoding="utf-8")
    line = ("cells.csv", "--classes", "yes,no", "--guidelines", "how.md")
    with Server(*line, folder=tmp_path) as server:
        yield server


def answer(page: Page, times: int = 1) -> None:
    """Answer as somebody who knows, by the keyboard."""
    for _ in range(times):
        first = page.locator(".row .fields td").first.inner_text()
        pressed(page, "2" if first.startswith("-") else "1")


def pressed(page: Page, key: str) -> None:
    """Answer once by a key, and wait for what comes next."""
    row = page.get_by_test_id("question").get_attribute("data-row")
    page.wait_for_timeout(100)  # a key counts once the question has been in sight
    page.keyboard.press(key)
    expect(page.get_by_test_id("question")).not_to_have_attribute("data-row", row)


def looked_at(page: Page, title: str) -> None:
    """See that a view has no faults, light and dark, wide and narrow."""
    for size, scheme in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        shot(page, f"{title}-{scheme}-{size['width']}")
        faultless(page, f"{title} {scheme} {size['width']}")
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")


def test_two_people_see_what_waits_to_be_settled_and_how_far_they_agree(browser, tmp_path):
    table(tmp_path / "cells.csv", rows=20)
    with Server("cells.csv", "--classes", "yes,no", "--people", "2", folder=tmp_path) as server:
        bob = server.person("Bob")
        for row in range(12):
            bob.say(row, "yes" if row else "no")
        page = visit(browser, server)
        for row in range(9):
            server.person("Ann").say(row, "no" if row < 2 else "yes")
        page.reload()
        expect(page.get_by_test_id("conflict-count")).to_have_text("1 (1 row to settle)")
        expect(page.get_by_test_id("pace")).to_contain_text("s an answer; all 11 rows left")
        page.get_by_test_id("nav-people").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("agreement")).to_contain_text("judged from 10 common rows on")
        expect(page.get_by_test_id("people")).to_contain_text("s an answer")
        server.person("Ann").say(9, "no")
        server.person("Ann").say(10, "yes")
        page.get_by_test_id("nav-history").click()
        page.get_by_test_id("nav-people").click()
        expect(page.get_by_test_id("alpha")).to_contain_text("over 11 rows: 0.")
        expect(page.get_by_test_id("conflict")).to_have_count(2)
        looked_at(page, "people")
        page.get_by_test_id("conflict").first.get_by_test_id("class-button").first.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("conflict-count")).to_have_text("1 (1 row to settle)")


def changed_in_history(page: Page) -> None:
    """The last answer is another, by the keys of the window that shows its row."""
    page.get_by_test_id("nav-history").click()
    page.get_by_test_id("history-open").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("dialog")).to_be_visible()
    page.keyboard.press("7")
    expect(page.get_by_test_id("edit-hint")).to_have_text(WRONG)
    page.keyboard.press("2")
    expect(page.get_by_test_id("history-row").first).to_contain_text("Changed: no")
    page.get_by_test_id("nav-label").click()


def guided(page: Page) -> None:
    """The guidelines of the start are shown; the owner changes them, and takes that back."""
    page.keyboard.press("7")
    expect(page.get_by_test_id("status")).to_have_text(WRONG)
    read_closely(page)
    guide = page.get_by_test_id("guidelines-text")
    expect(guide.locator("li")).to_have_text(["Yes if above nought.", "No if not."])
    page.get_by_test_id("guidelines-edit").locator("visible=true").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+A")
    page.keyboard.type("# Signs\nPlus is yes.\nMinus is no.")
    looked_at(page, "guidelines-edit")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(guide.locator("h3")).to_have_text("Signs")
    expect(page.get_by_test_id("dialog")).to_have_count(0)
    page.keyboard.press("g")
    expect(page.get_by_test_id("dialog")).to_contain_text("Plus is yes.")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("dialog")).to_have_count(0)
    page.wait_for_timeout(300)
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("status")).to_have_text("Undone: guidelines changed.")
    expect(guide.locator("li")).to_have_count(2)


def read_closely(page: Page) -> None:
    """A row of words is read in a window of its own, as large as one likes."""
    page.keyboard.press("z")
    scale, words = page.get_by_test_id("zoom-scale"), page.get_by_test_id("reading")
    expect(words).to_be_focused()
    page.keyboard.press("+")
    expect(scale).to_contain_text("2.1")
    assert words.locator("td").first.evaluate("node => getComputedStyle(node).fontSize") == "33.6px"
    looked_at(page, "reading")
    page.keyboard.press("0")
    expect(scale).to_contain_text("1.5")
    page.keyboard.press("z")
    expect(page.get_by_test_id("zoom")).to_have_count(0)


def commented(page: Page) -> None:
    """A comment is written by the keys, taken back, written anew and kept with the answer."""
    row = page.get_by_test_id("question").get_attribute("data-row")
    page.keyboard.press("m")
    page.keyboard.type("Is 1 ")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("too small?")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("comments")).to_have_text("Ann: Is 1\ntoo small?")
    expect(page.get_by_test_id("status")).to_contain_text("Saved: comment on row")
    page.wait_for_timeout(300)
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("comments")).to_have_count(0)
    assert page.get_by_test_id("question").get_attribute("data-row") == row
    page.keyboard.press("m")
    page.keyboard.type("Odd.")
    looked_at(page, "comment")
    page.get_by_test_id("class-button").first.click()
    expect(page.get_by_test_id("question")).not_to_have_attribute("data-row", row)
    page.get_by_test_id("nav-history").click()
    expect(page.get_by_test_id("history-row").locator("td:nth-child(2)")).to_contain_text(
        ["yes", "Comment: Odd.", "Comment: Is 1"]
    )
    page.get_by_test_id("nav-label").click()


def answered_offline(page: Page) -> None:
    """An answer without a connection is counted apart from what the server knows."""
    page.wait_for_timeout(1500)  # the reserve is on its way
    page.context.set_offline(True)
    answer(page)
    said = page.get_by_test_id("as-before")
    expect(said).to_contain_text("before the connection was lost. 1 answer waits in this browser")
    expect(page.get_by_test_id("fitting")).to_have_count(0)
    page.context.set_offline(False)
    expect(said).to_have_count(0)


def test_somebody_alone_labels_a_table_by_keyboard_from_start_to_end(browser, server):
    page = visit(browser, server)
    status = page.get_by_test_id("status")
    page.get_by_test_id("row-id").wait_for()
    guided(page)
    commented(page)
    answer(page, 5)
    expect(page.get_by_test_id("important").first).to_be_visible()
    expect(page.locator(".row .fields th span[dir]")).to_have_text(["x0", "x1", "x2", "x3"])
    expect(page.locator(".fields tr").first.get_by_test_id("important")).to_have_count(1)
    looked_at(page, "important")
    changed_in_history(page)
    expect(page.get_by_test_id("unsure")).to_contain_text("ask again at the end")
    unsure = page.get_by_test_id("question").get_attribute("data-row")
    pressed(page, "u")
    expect(status).to_contain_text("Saved: not sure. It comes back at the end.")
    answered_offline(page)
    answer(page, 6)
    expect(page.get_by_test_id("mine")).to_have_text("You said: not sure")
    assert page.get_by_test_id("question").get_attribute("data-row") == unsure
    answer(page)
    said = re.compile("All rows are answered.*Every row has an answer: nothing is left to ask.")
    expect(page.get_by_test_id("no-question")).to_contain_text(said)
    expect(page.get_by_test_id("notice")).to_contain_text("nothing is left to label")
    looked_at(page, "end")
