"""Preprocessing of pictures as a model's own file says: what is kept, its size, and its scale.

preprocessor_config.json is of Hugging Face's image processors; config.json with a pretrained_cfg is
of timm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from possibal.embedding.embedder import ImageInput
from possibal.embedding.model_files import ModelFiles
from possibal.errors import summary

FILES = ("preprocessor_config.json", "config.json")
MOST_SIDE = 4096
"""Points along a side that a model may want."""
BICUBIC = 3
"""Pillow's number."""
WHITE = 255.0
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Preprocessing:
    """What is done to a picture before a network sees it.

    Attributes:
        image_input: its size, and what of it is kept.
        mean: of each channel, in values from 0 to 255, subtracted first.
        scale: of each channel, divided by next.
    """

    image_input: ImageInput
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    def pixels(self, pictures: Sequence[Image.Image]) -> NDArray[np.float32]:
        """(n, height, width, 3): pictures of one size as the network wants them."""
        found = np.stack([np.asarray(picture, dtype=np.float32) for picture in pictures])
        found -= np.array(self.mean, dtype=np.float32)
        found /= np.array(self.scale, dtype=np.float32)
        return found


def read_preprocessing(files: ModelFiles) -> Preprocessing | None:
    """The preprocessing that a model's files name; None where they name none."""
    own, config = (files.document(name) for name in FILES)
    trained = config.get("pretrained_cfg")
    try:
        if own:
            return _of_processor(own)
        return _of_timm(cast("Document", trained)) if isinstance(trained, dict) else None
    except (TypeError, ValueError, KeyError, ArithmeticError) as error:
        name = FILES[0 if own else 1]
        raise files.refused(
            f"have a {name} that can be followed",
            f"where it cannot ({summary(error)})",
            "Write it as its library does.",
        ) from None


# ---------------------------------------------------------------- Hugging Face
def _of_processor(document: Document) -> Preprocessing:
    """The preprocessing of an image processor."""
    if document.get("do_flip_channel_order"):
        raise ValueError("it wants blue, green, red")
    size, crop = _frame(document)
    image_input = ImageInput(size, crop, bicubic=document.get("resample") == BICUBIC)
    factor = document.get("rescale_factor", 1 / WHITE) if document.get("do_rescale", True) else 1.0
    mean, deviation = _channels(0.0), _channels(1.0)
    if document.get("do_normalize", True):
        mean, deviation = _channels(document["image_mean"]), _channels(document["image_std"])
    shift = 1.0 if document.get("rescale_offset") else 0.0
    return _checked(
        image_input,
        tuple((value + shift) / factor for value in mean),
        tuple(value / factor for value in deviation),
    )


def _frame(document: Document) -> tuple[int, float | None]:
    """The side of the square that is seen, and the share of the shorter side that it keeps."""
    size = document.get("size", document.get("crop_size"))
    if document.get("do_center_crop"):
        seen = _side(document.get("crop_size", size))
        return seen, min(seen / _side(size), 1.0) if document.get("do_resize", True) else 1.0
    share = document.get("crop_pct")
    if share is None and isinstance(size, dict) and "shortest_edge" in size:
        return _side(cast("object", size)), 1.0
    return _side(size), None if share is None else float(share)


def _side(size: object) -> int:
    """The side of a square: a number, the shortest edge, or height and width that are the same."""
    if not isinstance(size, dict):
        return int(cast("int", size))
    named = cast("dict[str, int]", size)
    if "shortest_edge" in named:
        return int(named["shortest_edge"])
    if named["height"] != named["width"]:
        raise ValueError(f"{named['height']} x {named['width']} is no square")
    return int(named["height"])


# ---------------------------------------------------------------- timm
def _of_timm(document: Document) -> Preprocessing:
    """The preprocessing of a model of timm."""
    channels, height, width = cast("list[int]", document["input_size"])
    if channels != 3 or height != width:  # noqa: PLR2004 - red, green, blue
        raise ValueError(f"{channels} x {height} x {width} is no square in colours")
    squeezed = document.get("crop_mode") == "squash"
    crop = None if squeezed else float(document.get("crop_pct") or 1)
    image_input = ImageInput(height, crop, bicubic=document.get("interpolation") == "bicubic")
    mean, deviation = (
        tuple(WHITE * value for value in _channels(document[name])) for name in ("mean", "std")
    )
    return _checked(image_input, mean, deviation)


# ---------------------------------------------------------------- both
def _channels(values: object) -> tuple[float, ...]:
    """A number for red, green and blue each; one counts for all."""
    if not isinstance(values, list | tuple):
        return (float(cast("float", values)),) * 3
    found = tuple(float(value) for value in cast("list[float]", values))
    if len(found) != 3:  # noqa: PLR2004 - red, green, blue
        raise ValueError(f"{len(found)} channels are not red, green and blue")
    return found


def _checked(
    image_input: ImageInput, mean: tuple[float, ...], scale: tuple[float, ...]
) -> Preprocessing:
    """The preprocessing, if its numbers can be meant."""
    size, crop = image_input.size or 0, image_input.crop
    if not 0 < size <= MOST_SIDE:
        raise ValueError(f"a side of {size} points")
    if crop is not None and not 0 < crop <= 1:
        raise ValueError(f"a crop of {crop:g}")
    if not all(abs(value) < 1e9 for value in mean) or not all(0 < value < 1e9 for value in scale):  # noqa: PLR2004 - far beyond any
        raise ValueError("means and deviations that are none")
    return Preprocessing(image_input, mean, scale)
