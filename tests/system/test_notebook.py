"""The widget in real notebooks: JupyterLab and marimo, driven by keys and mouse in a browser."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from support.browser import WIDE, needs_browser
from support.notebooks import answered, row_shown
from support.served import free_port

from possibal import open_campaign
from possibal.labelling.storage.journal import Kind
from possibal.labelling.storage.store import Store

pytestmark = [
    needs_browser,
    pytest.mark.long,
    pytest.mark.skipif(find_spec("jupyterlab") is None, reason="needs jupyterlab: make notebook"),
]
PATIENCE = 120
BEGIN = """\
import pandas as pd, possibal
names = [f"r{place}" for place in range(60)]
frame = pd.DataFrame({"id": names, "age": range(60), "town": ["Oslo", "Rome", "Bern"] * 20})
campaign = possibal.open_campaign("a.db", frame, ids="id", classes=["old", "young"])
"""
WIDGET = "campaign.widget()"
LABELS = "print(campaign.labels)"
SLEEP = "import time; time.sleep(8); print('slept')"
MARIMO = """\
import marimo

app = marimo.App()


@app.cell
def _():
    {begin}
    return (campaign,)


@app.cell
def _(campaign):
    campaign.widget()
    return


if __name__ == "__main__":
    app.run()
"""


@contextmanager
def served(command: list[str], ready: str, folder: Path) -> Generator[None]:
    """A notebook server with settings of its own, for this machine alone."""
    own = {"HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"}
    own |= {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"}
    env = {**os.environ, **{name: str(folder / "settings" / name) for name in own}}
    for name in own:
        (folder / "settings" / name).mkdir(parents=True)
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - a notebook
            [sys.executable, "-m", *command],
            cwd=folder,
            env=env,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _await(ready, process)
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)


def _await(url: str, process: subprocess.Popen) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(url, trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise RuntimeError(f"{url} does not answer")


def opened(browser: Browser, url: str) -> Page:
    """A page of a notebook."""
    page = browser.new_context(viewport=WIDE).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(url)
    return page


def answers(page: Page, keys: str, known: int = 0) -> dict[str, str]:
    """Answer by keys, after a click into the widget; what was answered."""
    page.get_by_test_id("widget").click(position={"x": 60, "y": 20})
    told = {}
    for number, key in enumerate(keys, start=known + 1):
        told[row_shown(page)] = ["old", "young"][int(key) - 1]
        page.keyboard.press(key)
        answered(page, number)
        expect(page.get_by_test_id("said")).to_contain_text("Saved: ")
    return told


# ---------------------------------------------------------------- JupyterLab
@pytest.fixture
def lab(browser, tmp_path):
    """A notebook of four cells in JupyterLab."""
    import nbformat

    cells = [nbformat.v4.new_code_cell(one) for one in (BEGIN, WIDGET, LABELS, SLEEP)]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})
    nbformat.write(book, tmp_path / "a.ipynb")
    base = f"http://127.0.0.1:{(port := free_port())}"
    command = ["jupyter", "lab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--IdentityProvider.token=", "--allow-root", "--ServerApp.root_dir=."]
    with served(command, f"{base}/api", tmp_path):
        page = opened(browser, f"{base}/lab/tree/a.ipynb?reset")
        page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
        yield page


def prompt(page: Page, place: int) -> Locator:
    """What stands beside a cell: its number, or * while it is running."""
    return page.locator(".jp-CodeCell").nth(place).locator(".jp-InputPrompt").first


def run(page: Page, place: int) -> None:
    """Run a cell, by its place; a page that is still loading takes no keys."""
    before = prompt(page, place).inner_text().strip()
    for _ in range(PATIENCE // 5):
        page.locator(".jp-CodeCell .cm-content").nth(place).click()
        page.keyboard.press("Control+Enter")
        for _ in range(100):
            now = prompt(page, place).inner_text().strip()
            if "*" in now or (now != before and re.search(r"\d", now)):
                return
            page.wait_for_timeout(50)
    raise AssertionError(f"cell {place} does not run")


def ran(page: Page, place: int) -> None:
    """Run a cell, and wait until it is through."""
    run(page, place)
    expect(prompt(page, place)).to_have_text(re.compile(r"\[\d+\]:"), timeout=1000 * PATIENCE)


def output(page: Page, place: int) -> Locator:
    """What a cell printed."""
    return page.locator(".jp-CodeCell").nth(place).locator(".jp-OutputArea-output")


def begun(page: Page) -> None:
    """Run the cells that begin, or go on with, a campaign and show its widget."""
    ran(page, 0)
    ran(page, 1)
    page.get_by_test_id("widget").wait_for()


def restarted(page: Page) -> None:
    """Restart the kernel, as people do."""
    page.locator("[data-jp-item-name=restart]").locator("button, jp-button").first.click()
    page.locator(".jp-Dialog .jp-mod-accept").click()


def kept(folder: Path) -> dict[str, str]:
    """The labels that the journal of a campaign has."""
    with Store.open(str(folder / "a.db"), writes=False) as store:
        names = {place: name for name, place in store.places().items()}
        told = [event for event in store.events() if event.kind is Kind.LABEL]
    assert len({event.row for event in told}) == len(told)
    return {names[event.row]: event.label for event in told}


@pytest.mark.works_with("JupyterLab", "labelling in a notebook, by keys and mouse", "jupyterlab")
def test_in_jupyterlab_keys_and_mouse_answer_and_python_has_the_labels(lab, tmp_path):
    begun(lab)
    told = answers(lab, "1221")
    told[row_shown(lab)] = "young"
    lab.locator("[data-label=young]").click()
    answered(lab, 5)
    for key in "ddb":  # which delete a cell, and make a new one, where they are JupyterLab's
        lab.keyboard.press(key)
    expect(lab.get_by_test_id("said")).to_have_text("Saved: row dropped.")
    assert lab.locator(".jp-CodeCell").count() == lab.locator(".jp-Cell").count() == 4
    ran(lab, 2)
    expect(output(lab, 2)).to_have_text(str(told))
    assert kept(tmp_path) == told


@pytest.mark.works_with("JupyterLab", "no answer is lost to a long cell or a restart", "jupyterlab")
def test_in_jupyterlab_no_answer_is_lost_to_a_long_cell_or_a_restart(lab, tmp_path):
    begun(lab)
    run(lab, 3)
    lab.wait_for_timeout(1000)
    told = answers(lab, "12")  # while the cell is running, or after it
    expect(output(lab, 3)).to_have_text("slept")
    row = row_shown(lab)
    restarted(lab)
    expect(lab.get_by_test_id("problem")).to_contain_text("Python was restarted or closed.")
    lab.get_by_test_id("widget").click(position={"x": 60, "y": 20})
    lab.keyboard.press("1")
    begun(lab)
    answered(lab, 2)
    assert row_shown(lab) == row
    assert kept(tmp_path) == told


# ---------------------------------------------------------------- marimo
@pytest.mark.skipif(find_spec("marimo") is None, reason="needs marimo: make notebook")
@pytest.mark.works_with("marimo", "labelling in an app", "marimo")
def test_in_marimo_answers_are_kept_too(browser, tmp_path):
    body = BEGIN.rstrip().replace("\n", "\n    ")
    (tmp_path / "a.py").write_text(MARIMO.format(begin=body))
    base = f"http://127.0.0.1:{(port := free_port())}"
    command = ["marimo", "-q", "run", "a.py", "--headless", "--no-token", "--host", "127.0.0.1"]
    with served([*command, "--port", str(port)], f"{base}/health", tmp_path):
        page = opened(browser, base)
        page.get_by_test_id("widget").wait_for()
        told = answers(page, "1221")
        page.keyboard.press("Backspace")
        answered(page, 3)
        del told[row_shown(page)]
        page.context.close()
    with open_campaign(tmp_path / "a.db") as campaign:
        assert campaign.labels == told
