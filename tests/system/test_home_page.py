"""The home page: from an empty folder to a campaign and back, by drop, keyboard and touch."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect
from support.browser import NARROW, WIDE, counted, faultless, launched, needs_browser, press, shot
from support.served import HERE, PATIENCE, pictures, table

from possibal.labelling.home.uploads import PIECE

pytestmark = needs_browser
LINES = ["visit_id,age,city,note,code", *(
    f"{n + 10},{20 + n * 7 % 50},{'Rome' if n % 3 else 'Oslo'},"
    f"the patient said that it was fine today number {n},k{n * n}x"
    for n in range(30)
)]  # fmt: skip
DROP = """([content, name]) => {
    const found = new DataTransfer();
    found.items.add(new File([content], name));
    return found;
}"""


class Home:
    """``possibal`` alone, in a folder, without a terminal or a browser."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder.with_suffix(".log")
        arguments = ("home", "--no-browser", "--port", "0")
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(  # noqa: S603 - our own code
                [sys.executable, "-m", "possibal", *arguments],
                cwd=folder,
                env=HERE,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        until = time.monotonic() + PATIENCE
        while "Stop with Ctrl-C." not in self.said:
            assert time.monotonic() < until
            assert self.process.poll() is None, self.said
            time.sleep(0.05)
        self.url = re.findall(r"Home at (\S+)", self.said)[0]
        self.base = self.url.partition("/#")[0]

    @property
    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def stop(self) -> str:
        """What was said until its end, by Ctrl-C."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(PATIENCE)
        return self.said

    def foreign(self, url: str) -> list[str]:
        """An address that is elsewhere."""
        return [] if url.startswith(self.base) else [url]

    def files(self) -> list[str]:
        kept = (".possibal-home", ".embeddings")
        names = (path.name for path in self.folder.iterdir())
        return sorted(name for name in names if not name.endswith(kept))


@pytest.fixture(name="home")
def _home(tmp_path):
    folder = tmp_path / "campaigns"
    folder.mkdir()
    home = Home(folder)
    yield home
    home.stop()


@pytest.fixture(name="page")
def _page(home):
    with launched() as browser:
        page = browser.new_context(viewport=WIDE).new_page()
        page.set_default_timeout(PATIENCE * 1000)
        wrong = vars(page)["wrong"] = list[str]()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: wrong.extend(home.foreign(one.url)))
        page.goto(home.url)
        page.get_by_test_id("drop").wait_for()
        yield page


def dropped(page: Page, name: str, content: str) -> None:
    """Drop a file on the page."""
    transfer = page.evaluate_handle(DROP, [content, name])
    page.dispatch_event("main", "drop", {"dataTransfer": transfer})


def seen(page: Page, name: str) -> None:
    """Nothing is wrong with what is shown: light, dark, and as narrow as a telephone."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size, how in ((NARROW, "narrow"), (WIDE, "wide")):
            page.set_viewport_size(size)
            shot(page, f"home-{name}-{scheme}-{how}")
            if (scheme, how) != ("light", "narrow"):
                faultless(page, f"{name} {scheme} {how}")
    page.emulate_media(color_scheme="light")


def labelled(page: Page, count: int) -> None:
    """Label rows by the keyboard alone."""
    for number in range(count):
        press(page, str(1 + number % 2))


def understood(page: Page) -> None:
    """Drop a table, and see how its columns are understood."""
    dropped(page, "visits.csv", "\n".join(LINES))
    page.get_by_test_id("draft").wait_for()
    expect(page.get_by_test_id("summary")).to_have_text(
        "The model learns from 3 columns: age, city, note. Left out: code. People still see it."
    )
    expect(page.get_by_test_id("column").nth(4)).to_contain_text("another word in every row")
    seen(page, "draft")


def begun_by_keyboard(page: Page) -> None:
    """Change a column, name the classes and oneself, and begin: by keyboard alone."""
    page.get_by_test_id("kind-1").focus()
    page.keyboard.type("cat")
    expect(page.get_by_test_id("column").nth(1)).to_contain_text("different words")
    expect(page.get_by_test_id("kind-1")).to_be_focused()
    expect(page.get_by_test_id("kind-1")).to_have_value("category")
    page.get_by_test_id("classes").focus()
    page.keyboard.type("well, ill")
    page.keyboard.press("Enter")
    page.get_by_test_id("name-input").wait_for()
    assert page.url.endswith("/campaigns/visits.csv.possibal.db/")
    page.keyboard.type("Ann")
    page.keyboard.press("Enter")


def back_home(page: Page, words: str) -> None:
    """Go home, where the campaign is listed."""
    page.get_by_test_id("home-link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("campaign")).to_contain_text(words)
    expect(page.get_by_test_id("campaign")).to_contain_text("used just now, open now")


def test_from_an_empty_folder_to_a_campaign_and_back(home, page):
    seen(page, "empty")
    understood(page)
    begun_by_keyboard(page)
    labelled(page, 3)
    counted(page, 3)
    assert home.files() == ["visits.csv", "visits.csv.possibal.db"]
    back_home(page, "3 of 30 rows labelled, 10%")
    seen(page, "list")
    page.get_by_test_id("open-0").focus()
    page.keyboard.press("Enter")
    counted(page, 3)  # still as Ann, still in
    labelled(page, 1)
    counted(page, 4)
    faultless(page)
    assert page.context.cookies() == []
    assert "visits: 4 of 30 rows have a label" in home.stop()
    again = Home(home.folder)
    page.goto(again.url)
    expect(page.get_by_test_id("campaign")).to_contain_text("4 of 30 rows labelled, 13%")
    again.stop()


def chosen(page: Page, button: str, path: Path) -> None:
    """Choose a file or a folder."""
    page.get_by_test_id(f"{button}-input").set_input_files(path)
    page.get_by_test_id("draft").wait_for()


def left(home: Home, page: Page) -> None:
    """Want it no more: nothing of it stays."""
    page.get_by_test_id("leave").click()
    page.get_by_test_id("choose-file").wait_for()
    assert home.files() == []


def begun_after_a_mistake(page: Page) -> None:
    """Ask for too many check rows, then for none."""
    page.get_by_test_id("check").evaluate("(node) => node.removeAttribute('max')")
    page.get_by_test_id("check").fill("9")
    page.get_by_test_id("people").fill("2")
    page.get_by_test_id("classes").fill("dark,light")
    page.get_by_test_id("start").click()
    expect(page.get_by_test_id("start-problem")).to_contain_text("check must be at most 4")
    page.get_by_test_id("check").fill("0")
    page.get_by_test_id("start").click()
    page.get_by_test_id("name-input").fill("Ann")
    page.get_by_test_id("name-save").click()


def test_files_pictures_and_mistakes(home, page, tmp_path):
    dropped(page, "a.doc", "words")
    expect(page.get_by_test_id("problem")).to_contain_text("This file cannot be labelled: a.doc.")
    dropped(page, "a.csv", "x,y\n1\n")
    expect(page.get_by_test_id("problem")).to_contain_text("file must")
    faultless(page)
    assert home.files() == []
    large = table(tmp_path / "large.csv", rows=PIECE // 10)
    assert large.stat().st_size > 2 * PIECE
    chosen(page, "file", large)
    assert (home.folder / "large.csv").read_bytes() == large.read_bytes()
    left(home, page)
    packed = tmp_path / "shades.zip"
    with ZipFile(packed, "w") as pack:
        for path in pictures(tmp_path / "shades").iterdir():
            pack.write(path, path.name)
    chosen(page, "file", packed)
    left(home, page)
    chosen(page, "folder", tmp_path / "shades")
    expect(page.get_by_test_id("draft")).to_contain_text("8 pictures.")
    begun_after_a_mistake(page)
    picture = page.locator("[data-testid=question] img")
    assert picture.evaluate("(node) => node.decode().then(() => node.naturalWidth)") == 16
    assert home.files() == ["shades", "shades.possibal.db"]
    faultless(page)
