"""The recording in the README: the page itself, on the built-in digits, from the first question on.

PYTHONPATH=tests python tools/recording.py       makes it (`make recording`)
"""
# ruff: noqa: INP001 - a script, not a package

from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, expect
from support.browser import launched, press, visit
from support.served import Server

from possibal.data.digits import CLASSES, truth

RECORDING = Path(__file__).parents[1] / "docs/recording.webp"
SIZE = {"width": 1120, "height": 760}
SCALE = 0.75
"""Of the recording, beside the page."""
ANSWERS = 14
MILLISECONDS, LAST = 750, 3000
"""How long each picture is shown, and the last."""


def frames(page: Page) -> list[Image.Image]:
    """A picture of each question, and of the map at the end."""
    known, found = truth(), list[Image.Image]()
    for _ in range(ANSWERS):
        name = page.get_by_test_id("row-id").inner_text().split()[-1]
        found.append(_picture(page))
        press(page, str(CLASSES.index(known[name]) + 1))
    found.append(_picture(page))
    page.get_by_test_id("nav-map").click()
    page.get_by_test_id("map-canvas").wait_for()
    return [*found, _picture(page)]


def _picture(page: Page) -> Image.Image:
    """What the page shows, once its pictures are there and the model has learnt the answers."""
    page.wait_for_timeout(500)
    expect(page.get_by_test_id("fitting")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    width, height = (round(SCALE * side) for side in picture.size)
    return picture.resize((width, height), Image.Resampling.LANCZOS)


def write(pictures: list[Image.Image], path: Path = RECORDING) -> None:
    """Keep pictures as one that moves."""
    first, *others = pictures
    lasting = [MILLISECONDS] * (len(others) - 1) + [LAST, LAST]
    first.save(
        path, save_all=True, append_images=others, duration=lasting, loop=0, quality=60, method=6
    )


def main() -> None:
    """Serve the digits, label some, and keep what was seen."""
    with TemporaryDirectory() as folder, Server(folder=Path(folder)) as server:
        with launched() as browser:
            page = visit(browser, server, viewport=SIZE)
            pictures = frames(page)
        server.stop()
    write(pictures)
    print(f"{RECORDING.name}: {len(pictures)} pictures, {RECORDING.stat().st_size / 1e3:.0f} kB")  # noqa: T201 - its job


if __name__ == "__main__":
    main()
