"""Several labels a row in a real browser: by keyboard alone, over a restart, in light and dark."""

import csv
import subprocess
import sys

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from support.browser import NARROW, WIDE, counted, faultless, needs_browser, press, shot, visit
from support.served import HERE, Server

pytestmark = needs_browser
ROWS, DB, CLASSES = 120, "news.csv.possibal.db", ("health", "politics", "sport")


def has(row: int) -> list[str]:
    """The classes of a row, by its place."""
    return [name for place, name in enumerate(CLASSES) if row >> place & 1]


@pytest.fixture
def folder(tmp_path):
    """Readings, each of which tells of one class; rows have none, one or several."""
    rng = np.random.default_rng(0)
    with (tmp_path / "news.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["id", "doctors", "votes", "goals"])
        for row in range(ROWS):
            at = [2.0 * (row >> place & 1) for place in range(3)]
            lines.writerow([f"n{row}", *(rng.normal(scale=0.3, size=3) + at).round(3).tolist()])
    return tmp_path


def begin(folder):
    """The page of the campaign, begun or gone on with."""
    return Server(
        *("news.csv", "--id", "id", "--multi", "--classes", ",".join(CLASSES), "--check", "10"),
        folder=folder,
    )


def asked(page: Page) -> int:
    """The row in question."""
    return int(page.get_by_test_id("row-id").inner_text()[1:])


def answer(page: Page, number: int) -> int:
    """Answer the row in question truly, by keys; the row."""
    row = asked(page)
    for name in has(row):
        page.keyboard.press(str(CLASSES.index(name) + 1))
        button = page.locator(f"[data-label={name}]")
        expect(button).to_have_attribute("aria-pressed", "true")
    press(page, "Enter")
    counted(page, number)
    return row


def exported(folder) -> dict[str, str]:
    """What was said of each row."""
    subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-m", "possibal", "export", DB, "--to", "labels.csv"],
        cwd=folder,
        env=HERE,
        capture_output=True,
        check=True,
    )
    with (folder / "labels.csv").open(newline="") as file:
        return {line["id"]: line["label"] for line in csv.DictReader(file)}


def check_narrow(page: Page) -> None:
    """What is said of each class fits a phone."""
    page.set_viewport_size(NARROW)
    page.get_by_test_id("member").first.scroll_into_view_if_needed()
    faultless(page, "labels, narrow")
    shot(page, "labels-narrow")
    page.set_viewport_size(WIDE)


def check_undo(page: Page, last: int) -> None:
    """A key pressed twice takes its class out again, and Backspace brings the last row back."""
    page.keyboard.press("1")
    page.keyboard.press("1")
    expect(page.locator("[data-label=health]")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Backspace")
    counted(page, 11)
    expect(page.get_by_test_id("row-id")).to_have_text(f"n{last}")
    answer(page, 12)


def test_rows_get_several_labels_by_keys_over_a_restart(browser, folder):
    with begin(folder) as server:
        page = visit(browser, server)
        expect(page.get_by_test_id("confirm-set")).to_contain_text("none of these")
        rows = [answer(page, number) for number in range(1, 13)]
        expect(page.get_by_test_id("fitting")).to_have_count(0, timeout=120_000)
        page.reload()
        expect(page.get_by_test_id("member")).to_have_count(3)
        faultless(page, "labels")
        shot(page, "labels")
        check_narrow(page)
        check_undo(page, rows[-1])
        check_views(page)
        page.context.close()
    with begin(folder) as server:
        page = visit(browser, server, color_scheme="dark", viewport=NARROW)
        counted(page, 12)
        rows.append(answer(page, 13))
        page.keyboard.press("2")
        faultless(page, "labels-dark")
        shot(page, "labels-dark-narrow")
        page.context.close()
    expected = {f"n{row}": "|".join(has(row)) or "none" for row in rows}
    assert exported(folder) == expected


def check_views(page: Page) -> None:
    """History, rows, confirmation, map and results tell of sets in words."""
    page.goto(page.url.partition("#")[0] + "#history")
    page.get_by_test_id("history-open").first.click()
    dialog = page.locator("dialog[open]")
    expect(dialog.get_by_test_id("confirm-set")).to_be_visible()
    faultless(page, "labels-change")
    page.keyboard.press("Escape")
    for view in ("rows", "confirm", "map"):
        page.goto(page.url.partition("#")[0] + f"#{view}")
        expect(page.locator("#view h1")).to_be_visible()
        page.wait_for_timeout(500)
        expect(page.locator("#view")).not_to_contain_text("|")
        faultless(page, f"labels-{view}")
        shot(page, f"labels-{view}")
    page.goto(page.url.partition("#")[0] + "#label")
