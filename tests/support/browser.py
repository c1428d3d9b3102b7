"""The page as somebody sees it, in Debian's chromium driven by Playwright."""

import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright
from support.served import Server

ELSEWHERE = os.environ.get("CI") != "true"
"""Whether a missing browser may skip a test; where all is checked, it fails."""
CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SHOTS = os.environ.get("POSSIBAL_SHOTS")
"""A folder to keep pictures of the page in."""
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
PATIENCE = 60_000
"""Milliseconds that a busy machine may take over what is expected."""
SECOND_PRESS = 5_000
"""Milliseconds after which a key that did nothing is pressed again."""

needs_browser = pytest.mark.skipif(ELSEWHERE and CHROMIUM is None, reason="needs chromium")
expect.set_options(timeout=PATIENCE)


@contextmanager
def launched() -> Generator[Browser]:
    """A browser without a window."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def signed_in(server: Server) -> dict:
    """What a browser keeps that is in as the owner."""
    session, pictures = server.session
    campaign = httpx.get(f"{server.base}/api/session", trust_env=False).json()["campaign"]
    kept = json.dumps({"session": session, "pictures": pictures})
    item = {"name": f"possibal/access/{campaign}/session", "value": kept}
    return {"cookies": [], "origins": [{"origin": server.base, "localStorage": [item]}]}


def watched(browser: Browser, server: Server, **options) -> Page:
    """A page of a browser; whatever goes wrong in it is kept."""
    page = browser.new_context(**{"viewport": WIDE, **options}).new_page()
    page.set_default_timeout(PATIENCE)
    wrong = list[str]()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.extend(_foreign(request.url, server)))
    vars(page)["wrong"] = wrong
    return page


def visit(browser: Browser, server: Server, who: str = "Ann", **options) -> Page:
    """The page, opened by somebody who has given a name; whatever goes wrong in it is kept."""
    page = watched(browser, server, storage_state=signed_in(server), **options)
    page.goto(server.base)
    page.get_by_test_id("name-input").fill(who)
    page.get_by_test_id("name-save").click()
    page.get_by_test_id("question").wait_for()
    return page


def _foreign(url: str, server: Server) -> list[str]:
    """A request that leaves for somewhere else."""
    return [] if url.startswith((server.base, "data:", "blob:")) else [url]


def counted(page: Page, number: int) -> None:
    """Wait until the page counts so many labels."""
    expect(page.get_by_test_id("count-answers")).to_have_text(str(number))


def press(page: Page, key: str) -> None:
    """Answer the question that is shown; a key counts once the question has been in sight."""
    page.get_by_test_id("row-id").wait_for()
    row = page.get_by_test_id("question").get_attribute("data-row")
    for _ in range(PATIENCE // SECOND_PRESS):
        page.wait_for_timeout(100)
        page.keyboard.press(key)
        for _ in range(SECOND_PRESS // 50):  # one that is pressed twice answers the next row, too
            if page.get_by_test_id("question").get_attribute("data-row") != row:
                return
            page.wait_for_timeout(50)
    raise AssertionError(f"{key} was not taken")


def faultless(page: Page, where: str = "") -> None:
    """Nothing keeps people out, nothing runs off the side, and nothing went wrong."""
    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in {"serious", "critical"}]
    assert not [(one["id"], one["nodes"][0]["html"]) for one in serious], where
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
    assert vars(page)["wrong"] == [], where


def shot(page: Page, title: str) -> None:
    """Keep a picture of the page, if somebody wants to look."""
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{title}.png")
