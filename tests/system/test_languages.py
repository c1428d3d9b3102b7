"""The page in other languages, in a real browser."""

import pytest
from playwright.sync_api import Page, expect
from support.browser import NARROW, faultless, needs_browser, press, shot, visit
from support.served import Server

pytestmark = needs_browser
VIEWS = {
    "label": "question",
    "confirm": "grid",
    "rows": "table-rows",
    "map": "map-canvas",
    "history": "filter-text",
    "people": "agreement",
}
"""The views, each with what only it has."""
ENGLISH = """() => {
    const page = document.body.cloneNode(true);
    for (const node of page.querySelectorAll("[lang=en], noscript, [hidden]")) node.remove();
    const named = [...page.querySelectorAll("[aria-label], [title]")]
        .flatMap((node) => [node.getAttribute("aria-label"), node.title]);
    const words = [page.textContent, ...named].join(" ").match(/[a-z']+/gi);
    const known = /^(the|rows?|your?|and|of|not|all|chance|show)$/i;
    return words.filter((word) => known.test(word));
}"""
"""What is left of English besides what is marked as such, which the server said."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The built-in pictures, to which one person after the other comes."""
    with Server("--check", "10", folder=tmp_path_factory.mktemp("languages")) as server:
        yield server


def looked_through(page: Page, language: str) -> None:
    """Open each view, and see that it is in the language and as narrow as the window."""
    expect(page.locator("html")).to_have_attribute("lang", language)
    for view, shown in VIEWS.items():
        page.evaluate("(view) => { location.hash = view; }", view)
        page.get_by_test_id(shown).wait_for()
        expect(page.get_by_test_id(f"nav-{view}")).to_have_attribute("aria-current", "page")
        assert page.evaluate(ENGLISH) == []
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.viewport_size["width"]
        shot(page, f"{language}-{view}")


def test_the_page_is_german_where_the_browser_is_until_somebody_chooses_english(browser, server):
    page = visit(browser, server, locale="de-CH", viewport=NARROW)
    for key in "121212":
        press(page, key)
    expect(page.get_by_test_id("status")).to_contain_text("Gespeichert: ")
    expect(page.locator("#why-title")).to_have_text("Warum diese?")
    faultless(page)
    looked_through(page, "de")
    page.get_by_test_id("keys-button").click()
    shot(page, "de-keys")
    assert page.evaluate(ENGLISH) == []
    page.get_by_test_id("language").select_option("English")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.goto(server.base)
    expect(page.locator("#why-title")).to_have_text("Why this one?")
    expect(page.get_by_test_id("nav-rows")).to_have_text("Rows")
    assert not vars(page)["wrong"]


def test_the_page_is_french_where_the_browser_is(browser, server):
    page = visit(browser, server, who="Zoé", locale="fr-FR")
    press(page, "1")
    expect(page.get_by_test_id("nav-rows")).to_have_text("Lignes")
    looked_through(page, "fr")
    assert not vars(page)["wrong"]
