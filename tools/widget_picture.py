"""The picture of docs/notebooks.md: the widget after some answers, in a real browser.

PYTHONPATH=tests python tools/widget_picture.py       draws it
"""
# ruff: noqa: INP001 - a script, not a package

from pathlib import Path

import pandas as pd
from support.browser import launched
from support.notebooks import shown

from possibal import Campaign

PICTURE = Path(__file__).parents[1] / "docs/notebook.png"
TOPICS = {
    "weather": ("rain", "snow", "storm", "sunshine", "fog", "wind", "frost"),
    "food": ("bread", "cheese", "soup", "apples", "rice", "cake", "beans"),
    "money": ("loan", "salary", "invoice", "tax", "pension", "refund", "debt"),
}
ENDS = ("today", "this morning", "in the evening", "at home", "as always", "once more")
SIZE = {"width": 1000, "height": 900}
ANSWERS = 12


def sentences() -> tuple[pd.DataFrame, dict[str, str]]:
    """Sentences about three things, and which of them each is about."""
    told = {
        f"{word} {end}": (topic, f"We had a lot of {word} {end}, and nobody minded the {word}.")
        for topic, words in TOPICS.items()
        for word in words
        for end in ENDS
    }
    frame = pd.DataFrame({"id": list(told), "text": [text for _, text in told.values()]})
    return frame, {name: topic for name, (topic, _) in told.items()}


def draw(path: Path = PICTURE) -> None:
    """Draw the widget with its map."""
    frame, truth = sentences()
    campaign = Campaign.start(frame, ids="id", text="text", classes=list(TOPICS))
    for _ in range(ANSWERS):
        (row,) = campaign.ask()
        campaign.tell(row, truth[str(row)])
    with launched() as browser:
        page = shown(browser, campaign.widget(), viewport=SIZE)
        page.locator("summary").click()
        page.wait_for_function("document.querySelector('.legend').children.length > 0")
        page.get_by_test_id("widget").focus()
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.style.outline = 'none'")
        page.get_by_test_id("widget").screenshot(path=path)


if __name__ == "__main__":
    draw()
