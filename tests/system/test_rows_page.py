"""All rows in a real browser: found, confirmed, corrected and looked at again, many at once."""

import csv
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect
from support.browser import NARROW, WIDE, counted, faultless, needs_browser, shot, visit
from support.served import Server

pytestmark = needs_browser
WRONG = (5, 11, 17)
"""Labelled rows whose label is mistaken."""


def letters(path: Path) -> Path:
    """Two hundred letters of two kinds; every fifth is labelled, three of them mistakenly."""
    rng = np.random.default_rng(3)
    is_prize = rng.random(200) < 0.4
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["mail", "links", "capitals", "kind"])
        for row, prize in enumerate(is_prize):
            links, capitals = rng.normal((8, 30) if prize else (2, 10), (1.2, 4))
            said = bool(prize) != (row // 5 in WRONG)
            label = ("prize" if said else "plain") if row % 5 == 0 else ""
            lines.writerow([f"mail-{row:03d}", f"{links:.2f}", f"{capitals:.1f}", label])
    return path


@pytest.fixture
def server(tmp_path):
    letters(tmp_path / "a.csv")
    options = ("--id", "mail", "--label", "kind", "--check", "10")
    with Server("a.csv", *options, folder=tmp_path) as server:
        server.person("Ann").await_ranking()
        yield server


def on_rows(page: Page) -> None:
    page.get_by_test_id("nav-rows").click()
    page.get_by_test_id("table-row").first.wait_for()


def names(page: Page) -> list[str]:
    return page.get_by_test_id("row-open").all_inner_texts()


def row_named(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=f"Open row {name}", exact=True)


def told(page: Page, words: str) -> None:
    expect(page.get_by_test_id("rows-told")).to_contain_text(words)


def test_labels_that_others_contradict_are_corrected_at_once_and_undone_as_one(browser, server):
    page = visit(browser, server, viewport=WIDE)
    counted(page, 40)
    on_rows(page)
    told(page, "200 rows.")
    assert names(page) == [f"mail-{row:03d}" for row in range(50)]
    faultless(page, "rows")
    page.get_by_test_id("rows-state").select_option("again")
    told(page, "All other labels speak against these")
    assert set(names(page)) == {f"mail-{5 * row:03d}" for row in WRONG}
    shot(page, "rows-again")
    page.get_by_test_id("rows-all").click()
    expect(page.get_by_test_id("rows-count")).to_have_text("3 of 3 shown ticked")
    page.get_by_test_id("rows-all").click()  # they are of two classes
    first, name = page.get_by_test_id("table-row").first, names(page)[0]
    label = first.get_by_test_id("row-label").inner_text().split()[0]
    first.get_by_test_id("row-box").check()
    expect(page.get_by_test_id("rows-give")).not_to_contain_text(label)
    page.get_by_test_id("rows-give").click()
    expect(page.get_by_test_id("table-row")).to_have_count(2)
    page.get_by_test_id("rows-undo").click()
    expect(page.get_by_test_id("table-row")).to_have_count(3)
    page.get_by_test_id("rows-state").select_option("")
    page.get_by_test_id("rows-text").fill(name.upper())
    told(page, "1 of 200 rows")
    expect(page.get_by_test_id("row-label")).to_contain_text(label)


def test_rows_are_confirmed_by_keyboard_and_leave_those_without_a_label(browser, server):
    page = visit(browser, server, viewport=NARROW, color_scheme="dark")
    counted(page, 40)
    on_rows(page)
    page.get_by_test_id("rows-state").select_option("open")
    page.get_by_test_id("rows-label").select_option("prize")
    page.get_by_test_id("rows-sort").select_option("likely")
    expect(page.get_by_test_id("table-rows")).to_have_attribute("aria-busy", "false")
    expect(page.get_by_test_id("row-predicted").first).to_contain_text("prize")
    shot(page, "rows-narrow-dark")
    faultless(page, "rows, narrow and dark")
    page.get_by_test_id("row-box").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.get_by_test_id("rows-give")).to_have_text("These 3 are prize")
    ticked = page.locator(".table-row.ticked").get_by_test_id("row-open").all_inner_texts()
    page.get_by_test_id("rows-give").press("Enter")
    expect(page.get_by_test_id("status")).to_contain_text("Saved: prize, and 2 other rows")
    for name in ticked:  # the model has learnt meanwhile, so that others may be likeliest now
        expect(row_named(page, name)).to_have_count(0)
    page.keyboard.press("Backspace")
    expect(row_named(page, ticked[0])).to_have_count(1)
    row_named(page, ticked[0]).press("Enter")
    page.get_by_test_id("dialog").get_by_role("button", name="prize").click()
    expect(row_named(page, ticked[0])).to_have_count(0)
