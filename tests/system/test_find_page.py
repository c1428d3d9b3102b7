"""A rare class in a real browser: found by its likeliest rows, until the page says to stop."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from support.browser import NARROW, counted, faultless, needs_browser, press, shot, visit
from support.served import HERE, Server

pytestmark = needs_browser
ROWS, RARE, DB = 240, 24, "a.csv.possibal.db"


def possibal(server: Server, *arguments: str) -> str:
    """What a command prints in the server's folder."""
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-m", "possibal", *arguments],
        cwd=server.log.parent,
        env=HERE,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout


@pytest.fixture
def server(tmp_path):
    """Readings of which one in ten is far out; one of each kind is known."""
    rng = np.random.default_rng(0)
    is_rare = np.arange(ROWS) % (ROWS // RARE) == 0
    X = rng.normal(size=(ROWS, 3)) + np.where(is_rare, 6.0, 0.0)[:, None] * [1, 0, 0]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["id", "heat", "noise", "drift", "state"])
        for row, (x, rare) in enumerate(zip(X.round(3).tolist(), is_rare, strict=True)):
            said = {0: "fault", 1: "fine"}.get(row, "")
            lines.writerow([f"{'fault' if rare else 'fine'}-{row}", *x, said])
    columns = ("--id", "id", "--label", "state")
    with Server("a.csv", *columns, "--find", "fault", folder=tmp_path) as server:
        yield server


def answered_until_it_says_stop(ann) -> dict:
    """The progress when the page says to stop, after truthful answers of a person."""
    for _ in range(ROWS):
        now = ann.get("progress")
        if now["advice"]["state"] == "stop" and not now["fitting"]:
            return now
        for _ in range(5):
            item = ann.ask()["item"]
            ann.say(item["row"], item["id"].partition("-")[0], next=False)
        ann.await_ranking()
    raise AssertionError("it never said so")


def check_ranked_rest(server: Server) -> None:
    """All rows can be had as a file: those that were found, then the others by their chances."""
    possibal(server, "export", DB, "--rows", "--to", "rows.csv")
    with (server.log.parent / "rows.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["label"] for line in lines[:RARE]] == ["fault"] * RARE
    rest = [line for line in lines if not line["label"]]
    assert lines[RARE : RARE + len(rest)] == rest
    chances = [float(line["sought_chance"]) for line in rest]
    assert chances == sorted(chances, reverse=True)


def check_words(page: Page, found: dict) -> None:
    """The page says what was found, and to stop; in light, dark and narrow windows."""
    page.reload()
    expect(page.get_by_test_id("advice")).to_have_attribute("data-state", "stop")
    expect(page.get_by_test_id("found")).to_contain_text(found["sentence"])
    expect(page.get_by_test_id("found-rows")).to_contain_text(f"{RARE} rows so far, none in the")
    faultless(page, "found")
    shot(page, "find-end")
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(NARROW)
    page.get_by_test_id("found").scroll_into_view_if_needed()
    faultless(page, "found, narrow and dark")
    shot(page, "find-end-narrow")


def test_nearly_all_rows_of_a_class_are_found_and_the_page_says_when_to_stop(browser, server):
    ann = server.person("Ann")
    ann.await_ranking()  # without a ranking the first question is any row
    page = visit(browser, server)
    expect(page.get_by_test_id("why-sentence")).to_contain_text("fault")
    expect(page.get_by_test_id("row-id")).to_contain_text("fault-")
    shot(page, "find-begin")
    press(page, "1")
    counted(page, 3)
    now = answered_until_it_says_stop(ann)
    found = now["recall"]
    assert (found["found"], now["sought"]) == (RARE, "fault")
    assert found["low"] >= 0.95
    assert now["answered"] < ROWS * 0.8
    check_words(page, found)
    server.stop()
    assert json.loads(possibal(server, "status", DB, "--json"))["recall"] == found
    check_ranked_rest(server)
