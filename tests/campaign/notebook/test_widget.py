"""The widget in a real browser, without a notebook around it; see tests/support/notebooks.py."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import Page, expect
from support.browser import NARROW, faultless, launched, needs_browser, shot
from support.notebooks import answered, row_shown, shown

from possibal import Campaign, open_campaign
from possibal.campaign.notebook.widget import HERE, LabellingWidget

TEXTS = HERE.parents[1] / "labelling/web/static/texts/en.js"
CLASSES = ["complaint", "praise"]


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture
def campaign(tmp_path):
    with open_campaign(tmp_path / "a.db", letters(), ids="id", **LOOKS) as campaign:
        yield campaign


LOOKS = {"text": "text", "by": "words", "classes": CLASSES}


def letters(rows: int = 24) -> pd.DataFrame:
    """Letters about two things, with something of each that is in a column."""
    words = [("late and cold", "lovely and warm")[place % 2] for place in range(rows)]
    return pd.DataFrame(
        {
            "id": [f"letter {place}" for place in range(rows)],
            "text": [
                f"Dear all, the soup number {at} was {word}." for at, word in enumerate(words)
            ],
            "stars": [place % 5 + 1 for place in range(rows)],
        }
    )


def focused(page: Page) -> Page:
    """The page with the widget in focus, as after a click into it."""
    page.get_by_test_id("widget").focus()
    return page


# ---------------------------------------------------------------- Python's side
def test_a_widget_is_the_same_for_both_campaigns(campaign):
    memory = Campaign.start(letters(), ids="id", **LOOKS)
    for one in (campaign, memory):
        widget = one.widget()
        assert isinstance(widget, LabellingWidget)
        assert widget.view["labels"] == 0
        assert [field["name"] for field in widget.view["question"]["fields"]] == ["stars"]
        assert widget.view["question"]["text"].startswith("Dear all")
        widget._handle_custom_msg("no action", [])  # noqa: SLF001 - as ipywidgets does
        assert one.labels == {}


def test_a_widget_shows_what_other_cells_did_once_it_is_told(campaign):
    widget = campaign.widget()
    first = widget.view["question"]["name"]
    campaign.tell(first, "praise")
    widget.refresh()
    assert widget.view["labels"] == 1
    campaign.tell(widget.view["question"]["name"], "praise")
    widget.refresh()
    assert widget.view["labels"] == 2


def test_the_module_needs_nothing_from_elsewhere():
    source = (HERE / "widget.js").read_text() + (HERE / "widget.css").read_text()
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|\bimport\b", source)
    assert "innerHTML" not in source


def test_the_widgets_words_are_those_of_the_page():
    lines = re.compile(r"^  (\w+): (.*),$", re.MULTILINE)
    own = dict(lines.findall((HERE / "widget.js").read_text().partition("\n};\n")[0]))
    page = dict(lines.findall(TEXTS.read_text()))
    same = {name for name in own if name in page}
    assert len(same) > 40
    assert {name: own[name] for name in same} == {name: page[name] for name in same}


# ---------------------------------------------------------------- in a browser
@needs_browser
def test_keys_and_buttons_answer_and_what_is_seen_is_kept(browser, campaign):
    page, told = focused(shown(browser, campaign.widget())), {}
    for number, key in enumerate("1221", start=1):
        told[row_shown(page)] = CLASSES[int(key) - 1]
        page.keyboard.press(key)
        answered(page, number)
    told[row_shown(page)] = "praise"
    page.get_by_test_id("class").nth(1).click()
    answered(page, 5)
    assert campaign.labels == told
    expect(page.get_by_test_id("said")).to_have_text("Saved: praise.")
    expect(page.get_by_test_id("advice")).to_contain_text(campaign.advice.reason)
    expect(page.get_by_test_id("chance")).to_contain_text("Chance that it is")
    page.keyboard.press("Backspace")
    answered(page, 4)
    assert row_shown(page) == list(told)[-1]
    page.keyboard.press("s")
    expect(page.get_by_test_id("said")).to_have_text("Saved: skipped for now.")
    assert vars(page)["wrong"] == []


@needs_browser
def test_a_key_outside_of_the_widget_is_not_its_own(browser, campaign):
    page = shown(browser, campaign.widget())
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("textarea").focus()
    page.keyboard.press("1")
    assert page.locator("textarea").input_value() == "1"
    page.evaluate("window.seen = []; document.addEventListener('keydown', (e) => seen.push(e.key))")
    focused(page)
    for key in ("1", "Control+c", "Shift"):
        page.keyboard.press(key)
    answered(page, 1)
    assert page.evaluate("seen.includes('1')") is False  # and does not reach the notebook either
    assert page.evaluate("seen.includes('c')") is True
    page.keyboard.press("9")
    expect(page.get_by_test_id("problem")).to_contain_text("“9” does nothing here.")
    assert len(campaign.labels) == 1


@needs_browser
def test_a_double_click_and_a_held_key_answer_once(browser, campaign):
    page = shown(browser, campaign.widget())
    row = row_shown(page)
    page.get_by_test_id("class").first.dblclick()
    answered(page, 1)
    page.wait_for_timeout(300)
    assert campaign.labels == {row: "complaint"}
    second = row_shown(page)
    page.evaluate("window.hold = true")
    for key in "1212":
        page.keyboard.press(key)
    assert page.evaluate("sent.length") == 1
    page.evaluate("release()")
    answered(page, 2)
    assert campaign.labels[second] == "complaint"


@needs_browser
def test_while_python_says_nothing_the_person_is_told_and_nothing_is_lost(browser, campaign):
    page = shown(browser, campaign.widget())
    page.clock.install()
    focused(page)
    row = row_shown(page)
    page.evaluate("window.hold = true")
    page.keyboard.press("2")
    expect(page.get_by_test_id("widget")).to_have_attribute("aria-busy", "true")
    page.clock.run_for(5000)
    expect(page.get_by_test_id("problem")).to_contain_text("Python has not answered yet.")
    page.evaluate("release()")
    answered(page, 1)
    expect(page.get_by_test_id("problem")).to_be_empty()
    assert campaign.labels == {row: "praise"}


@needs_browser
@pytest.mark.parametrize("how", ["hold = true; fire('comm_live_update')", "dead = true"])
def test_after_a_restart_it_says_that_nothing_more_is_kept(browser, campaign, how):
    page = focused(shown(browser, campaign.widget()))
    page.evaluate(how)
    page.keyboard.press("1")
    expect(page.get_by_test_id("problem")).to_contain_text("Python was restarted or closed.")
    page.keyboard.press("2")
    assert page.evaluate("sent.map(({ act }) => act)") in ([], ["look"])
    assert campaign.labels == {}


@needs_browser
def test_a_connection_that_comes_back_goes_on(browser, campaign):
    page = focused(shown(browser, campaign.widget()))
    page.evaluate("fire('comm_live_update')")
    answered(page, 0)
    expect(page.get_by_test_id("problem")).to_be_empty()
    page.keyboard.press("1")
    answered(page, 1)


@needs_browser
def test_what_cannot_be_shown_is_told_in_the_widget(browser, campaign):
    page = shown(browser, campaign.widget(lambda _: 3))
    expect(page.get_by_test_id("problem")).to_contain_text("show must return text, a dict,")
    expect(page.get_by_test_id("no-question")).to_be_visible()


@needs_browser
def test_an_answer_to_a_row_of_another_cell_is_told(browser, campaign):
    page = focused(shown(browser, campaign.widget()))
    row = row_shown(page)
    campaign.tell(row, "praise")
    page.keyboard.press("1")
    answered(page, 1)
    expect(page.get_by_test_id("problem")).to_contain_text(f"Row {row} is labelled praise already")
    assert row_shown(page) != row


@needs_browser
def test_a_class_is_added_and_keys_typed_there_label_nothing(browser, campaign):
    page = focused(shown(browser, campaign.widget()))
    page.get_by_test_id("add-class").click()
    page.keyboard.type("12 neither")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("class")).to_have_count(3)
    assert campaign.classes == (*CLASSES, "12 neither")
    assert campaign.labels == {}
    row = row_shown(page)
    page.keyboard.press("3")
    answered(page, 1)
    assert campaign.labels == {row: "12 neither"}


@needs_browser
def test_the_map_leads_to_a_row_by_mouse_and_by_keys(browser, campaign):
    page = focused(shown(browser, campaign.widget()))
    for number in (1, 2, 3):
        page.keyboard.press("12"[number % 2])
        answered(page, number)
    page.locator("summary").click()
    page.wait_for_function("document.querySelector('.legend').children.length > 0")
    canvas = page.get_by_test_id("map-canvas")
    expect(canvas).to_have_attribute("aria-label", re.compile("Map of 24 rows"))
    canvas.focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown") * 3:
        page.keyboard.press(key)
        if page.get_by_test_id("map-ask").is_visible():
            break
    name = page.get_by_test_id("map-info").locator("strong").inner_text().removeprefix("Row ")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("row-id")).to_have_text(name)
    page.get_by_test_id("widget").focus()
    page.keyboard.press("1")
    answered(page, 4)
    assert campaign.labels[name] == "complaint"


@needs_browser
def test_keys_alone_reach_everything(browser, campaign):
    page, reached = focused(shown(browser, campaign.widget())), []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.dataset?.testid ?? ''"))
    assert [one for one in reached if one in {"class", "skip", "unsure", "bad", "undo"}] == [
        *("class", "class", "skip", "unsure", "bad", "undo"),
    ]
    assert "add-class" in reached
    page.get_by_test_id("class").first.focus()
    page.keyboard.press("Enter")
    answered(page, 1)
    assert page.evaluate("document.activeElement.dataset.testid") == "class"


def sights(folder: Path) -> dict[str, LabellingWidget]:
    """A widget with each kind of row: a text, cells of a table, and a picture."""
    rng = np.random.default_rng(0)
    cells = letters(12).drop(columns="text").assign(town=["Oslo", None, "Rome"] * 4)
    picture = rng.integers(0, 256, (60, 90, 3), dtype=np.uint8)
    Image.fromarray(picture).resize((900, 600)).save(folder / "a.png")
    campaigns = {
        "text": (Campaign.start(letters(12), ids="id", **LOOKS), None),
        "table": (Campaign.start(cells, ids="id", classes=["low", "high"]), None),
        "picture": (
            Campaign.start(rng.normal(size=(12, 3)), classes=["cat", "dog"]),
            lambda _: folder / "a.png",
        ),
    }
    found = {}
    for name, (campaign, show) in campaigns.items():
        for label in campaign.classes:
            campaign.tell(campaign.ask()[0], label)
        found[name] = campaign.widget(show)
    return found


@needs_browser
@pytest.mark.parametrize("looks", ["light", "dark", "narrow"])
def test_nothing_keeps_people_out_in_light_in_dark_and_on_a_telephone(browser, looks, tmp_path):
    options = {"viewport": NARROW} if looks == "narrow" else {"color_scheme": looks}
    for name, widget in sights(tmp_path).items():
        page = shown(browser, widget, **options)
        page.locator("summary").click()
        page.wait_for_function("document.querySelector('.legend').children.length > 0")
        theme = "dark" if looks == "dark" else "light"
        expect(page.get_by_test_id("widget")).to_have_attribute("data-theme", theme)
        page.wait_for_function("[...document.images].every((one) => one.complete)")
        faultless(page, name)
        shot(page, f"widget-{name}-{looks}")
        page.context.close()


@needs_browser
def test_it_follows_the_theme_of_the_notebook_when_that_changes(browser, campaign):
    page = shown(browser, campaign.widget())
    widget = page.get_by_test_id("widget")
    expect(widget).to_have_attribute("data-theme", "light")
    page.evaluate("document.body.style.background = '#111'")
    expect(widget).to_have_attribute("data-theme", "dark")
    page.evaluate("window.stop()")
    page.evaluate("document.body.style.background = '#fff'")
    page.wait_for_timeout(200)
    expect(widget).to_have_attribute("data-theme", "dark")  # one that is closed listens no more
