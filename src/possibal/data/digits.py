"""Built-in demonstration data: a folder of handwritten threes and eights as PNG files."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from possibal.files import folder, write

NAME = "possibal-digits"
"""The folder that is made."""
CLASSES = ("3", "8")
COUNT = 357
"""How many pictures there are."""
WIDTH, MARGIN = 96, 1
"""Pixels along the side of a picture, and padding of the eight of the originals."""


def digits(place: Path) -> Path:
    """The folder of pictures in a place, made if it is not there yet.

    Their names do not tell what they show.
    """
    made = folder(place / NAME, "folder")
    if len(list(made.glob("picture-*.png"))) == COUNT:
        return made
    for name, content in _pictures():
        if not (made / name).exists():
            write(made / name, content)
    return made


def truth() -> dict[str, str]:
    """Ground truth: the digit of each picture, by its name."""
    return {name: str(digit) for name, digit, _ in _drawn()}


def _pictures() -> list[tuple[str, bytes]]:
    """Each picture as a PNG file."""
    from PIL import Image

    found = list[tuple[str, bytes]]()
    for name, _, drawn in _drawn():
        ink = (255 - np.pad(drawn, MARGIN) * 15.9375).round().astype(np.uint8)
        large = Image.fromarray(ink).resize((WIDTH, WIDTH), Image.Resampling.BICUBIC)
        buffer = BytesIO()
        large.save(buffer, "PNG")
        found.append((name, buffer.getvalue()))
    return found


def _drawn() -> list[tuple[str, int, np.ndarray]]:
    """Name, digit and 8x8 pixels of each picture."""
    from sklearn.datasets import load_digits

    data: Any = load_digits()  # a Bunch, whose attributes have no types
    wanted = np.flatnonzero(np.isin(data.target, [int(name) for name in CLASSES]))
    return [
        (f"picture-{number:03}.png", int(data.target[row]), data.images[row])
        for number, row in enumerate(wanted, start=1)
    ]
