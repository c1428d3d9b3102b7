"""Thumbnails: small upright copies of pictures, without anything else that their files say."""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from possibal.data import images

SIDE = 240
"""Points on the longer side: half of them suffice for most screens."""
TINY = 100
"""Points on the longer side of pictures that are kept point by point."""
QUALITY = 82
"""Of a JPEG."""
BROKEN = "The picture of this row cannot be shown: it is broken, too large, or none."


@dataclass(frozen=True)
class Thumbnail:
    """A small copy of a picture.

    Attributes:
        content: the bytes of the file.
        media_type: PNG of a tiny picture, else JPEG.
    """

    content: bytes
    media_type: str

    @property
    def tag(self) -> str:
        """HTTP entity tag: it tells what is in the file and nothing of its name."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


def make_thumbnail(path: Path, side: int = SIDE) -> Thumbnail:
    """A small copy of a picture, upright; what is transparent is white.

    Args:
        path: of its file.
        side: points on the longer side at most.
    """
    try:
        small = images.shrink(path, path.name, side)
    except ValueError:
        raise ValueError(BROKEN) from None  # why may tell its path, and that its label
    is_tiny = max(small.size) <= TINY
    kind, options = ("PNG", {"optimize": True}) if is_tiny else ("JPEG", {"quality": QUALITY})
    bare, out = Image.new("RGB", small.size), io.BytesIO()
    bare.paste(small)  # its points, and nothing else of what the file said
    bare.save(out, kind, **options)
    return Thumbnail(out.getvalue(), f"image/{kind.lower()}")
