"""The map in a real browser: how it is coloured, and rows close to one labelled together."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from support.browser import NARROW, WIDE, faultless, needs_browser, shot, visit
from support.served import Server

pytestmark = needs_browser

TOPICS = {
    "weather": ("rain", "snow", "storm", "sunshine", "fog", "wind", "frost"),
    "food": ("bread", "cheese", "soup", "apples", "rice", "cake", "beans"),
    "money": ("loan", "salary", "invoice", "tax", "pension", "refund", "debt"),
}
ENDS = ("today", "this morning", "in the evening", "at home", "as always", "once more")


def sentences(path: Path) -> Path:
    """Sentences about three things, of each of which four say which."""
    lines = [["id", "text", "topic"]]
    for topic, words in TOPICS.items():
        pairs = itertools.product(words, ENDS)
        for place, (word, end) in enumerate(pairs):
            text = f"We had a lot of {word} {end}, and nobody minded the {word} at all."
            lines.append([f"{topic}-{place}", text, topic if place % 11 == 0 else ""])
    order = np.random.default_rng(0).permutation(np.arange(1, len(lines)))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([lines[0], *(lines[place] for place in order)])
    return path


@pytest.fixture
def server(tmp_path):
    sentences(tmp_path / "a.csv")
    with Server("a.csv", "--text", "text", "--label", "topic", folder=tmp_path) as server:
        yield server


def on_map(page: Page) -> None:
    """Go to the map, once it is coloured."""
    page.get_by_test_id("nav-map").click()
    page.wait_for_function("() => document.querySelector('canvas')?.width > 300")


def with_close_rows(page: Page) -> None:
    """Go from row to row by the keyboard until some are close to one."""
    page.get_by_test_id("map-canvas").focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown") * 4:
        with page.expect_response(lambda reply: "/close?" in reply.url) as asked:
            page.keyboard.press(key)
        said = asked.value.json()
        if said["rows"] and said["own"]:
            return
    raise AssertionError("no rows are close to each other")


def pixels(page: Page) -> str:
    """The map as it is drawn."""
    return page.get_by_test_id("map-canvas").evaluate("canvas => canvas.toDataURL()")


def test_the_map_is_coloured_by_class_or_chance_and_remembers_which(browser, server):
    page = visit(browser, server)
    server.person("Ann").await_ranking()
    on_map(page)
    expect(page.get_by_test_id("map-by-class")).to_be_checked()
    expect(page.get_by_test_id("map-class")).to_have_count(3)
    for chip in page.get_by_test_id("map-class").all():
        expect(chip).to_contain_text("42")
    by_class = pixels(page)
    page.get_by_test_id("map-class").first.press("Enter")
    expect(page.get_by_test_id("map-class").first).to_have_attribute("aria-pressed", "true")
    assert pixels(page) != by_class
    page.get_by_test_id("map-class").first.press("Enter")
    assert pixels(page) == by_class
    page.get_by_test_id("map-by-chance").check()
    expect(page.get_by_test_id("map-legend")).to_contain_text("very likely")
    assert pixels(page) != by_class
    page.reload()
    on_map(page)
    expect(page.get_by_test_id("map-by-chance")).to_be_checked()
    page.get_by_test_id("map-by-chance").press("ArrowLeft")
    expect(page.get_by_test_id("map-by-class")).to_be_checked()
    assert vars(page)["wrong"] == []


def test_looking_at_rows_close_to_one_labels_nothing(browser, server):
    page, ann = visit(browser, server), server.person("Ann")
    server.person("Ann").await_ranking()
    before = ann.get("progress")["answered"]
    on_map(page)
    with_close_rows(page)
    expect(page.get_by_test_id("close-offer")).to_contain_text("close to it")
    page.get_by_test_id("map-canvas").press("Space")
    expect(page.get_by_test_id("close-give")).to_be_disabled()
    assert not any(tick.is_checked() for tick in page.get_by_test_id("close-tick").all())
    page.get_by_test_id("close-tick").first.press("Space")
    faultless(page, "dialog")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("map-canvas")).to_be_focused()
    assert ann.get("progress")["answered"] == before


def test_rows_close_to_one_are_ticked_labelled_together_and_taken_back(browser, server):
    page, ann = visit(browser, server), server.person("Ann")
    server.person("Ann").await_ranking()
    before, entries = ann.get("progress")["answered"], len(ann.get("history")["entries"])
    on_map(page)
    with_close_rows(page)
    page.get_by_test_id("close-open").click()
    page.get_by_test_id("close-all").click()
    all_rows = page.get_by_test_id("close-tick").count()
    page.get_by_test_id("close-tick").last.press("Space")
    many = all_rows - 1
    expect(page.get_by_test_id("close-count")).to_have_text(f"{many} of {all_rows} ticked")
    page.get_by_test_id("close-class").select_option("money")
    page.get_by_test_id("close-give").press("Enter")
    others = f", and {many - 1} other row{'s' * (many > 2)}" if many > 1 else ""
    expect(page.get_by_test_id("status")).to_contain_text(f"Saved: money{others}.")
    assert ann.get("progress")["answered"] == before + many
    found = ann.get("history")["entries"]
    assert (len(found), found[0]["others"]) == (entries + 1, many - 1)
    shot(page, "map-together")
    page.get_by_test_id("map-undo").click()
    expect(page.get_by_test_id("status")).to_contain_text(f"Undone: money{others}.")
    assert ann.get("progress")["answered"] == before
    faultless(page)


def test_a_row_that_somebody_labelled_in_between_is_left_as_it_is(browser, server):
    page, bob = visit(browser, server), server.person("Bob")
    server.person("Ann").await_ranking()
    on_map(page)
    with_close_rows(page)
    page.get_by_test_id("close-open").click()
    row = int(page.get_by_test_id("close-row").last.get_attribute("data-row"))
    bob.say(row, "food", next=False)
    page.get_by_test_id("close-all").click()
    page.get_by_test_id("close-class").select_option("money")
    page.get_by_test_id("close-give").click()
    expect(page.get_by_test_id("status")).to_contain_text("1 row was left as it is")
    shown = bob.get("history", label="food", who="Bob")["entries"]
    assert [(one["row"], one["counts"]) for one in shown] == [(row, True)]
    assert vars(page)["wrong"] == []


def test_rows_close_to_the_row_in_question_are_labelled_with_it(browser, server):
    page, ann = visit(browser, server), server.person("Ann")
    server.person("Ann").await_ranking()
    before = ann.get("progress")["answered"]
    on_map(page)
    with_close_rows(page)
    shown = page.get_by_test_id("map-info").locator("strong").inner_text().removeprefix("Row ")
    page.get_by_test_id("map-canvas").press("Enter")
    expect(page.get_by_test_id("row-id")).to_have_text(shown)  # before, it is another's offer
    page.get_by_test_id("close-open").click()
    page.get_by_test_id("dialog").wait_for()
    many = page.get_by_test_id("close-tick").count()
    page.get_by_test_id("close-all").click()
    page.get_by_test_id("close-give").click()
    expect(page.get_by_test_id("row-id")).not_to_have_text(shown)
    assert ann.get("progress")["answered"] == before + many
    page.wait_for_timeout(300)
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("row-id")).to_have_text(shown)
    assert ann.get("progress")["answered"] == before
    faultless(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_map_has_no_serious_faults(scheme, browser, server):
    page = visit(browser, server, color_scheme=scheme)
    server.person("Ann").await_ranking()
    on_map(page)
    with_close_rows(page)
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        for way in ("chance", "class"):
            page.get_by_test_id(f"map-by-{way}").check()
            page.wait_for_timeout(200)
            shot(page, f"map-{way}-{scheme}-{size['width']}")
            faultless(page, way)
        page.get_by_test_id("close-open").click()
        page.get_by_test_id("close-all").click()
        shot(page, f"close-{scheme}-{size['width']}")
        faultless(page, "dialog")
        page.keyboard.press("Escape")
