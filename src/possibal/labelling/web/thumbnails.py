"""Thumbnails: small upright copies of pictures, made one at a time, in a bounded cache."""

import hashlib
import io
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from PIL import Image

from possibal.data import images

SIDE = 240
"""Points on the longer side: half of them suffice for most screens."""
TINY = 100
"""Points on the longer side of pictures that are kept point by point."""
QUALITY = 82
"""Of a JPEG."""
BROKEN = "The picture of this row cannot be shown: it is broken, too large, or none."
MOST_KEPT = 32_000_000
"""Bytes of thumbnails in memory."""

Version: TypeAlias = tuple[str, int, int]
"""A file as it is now: its path, when it was changed, and its size."""


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


class ThumbnailCache:
    """Least-recently-used cache of thumbnails, bounded by bytes; threads may share it."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        """Keep so many bytes at most."""
        self._most, self._size = most, 0
        self._kept = OrderedDict[Version, Thumbnail]()
        self._lock, self._turn = Lock(), Lock()

    def thumbnail(self, path: Path) -> Thumbnail:
        """The thumbnail of a picture as it is now, or one sentence if it cannot be shown."""
        stat = path.stat()
        version = str(path), stat.st_mtime_ns, stat.st_size
        with self._lock:
            if version in self._kept:
                self._kept.move_to_end(version)
                return self._kept[version]
        with self._turn, warnings.catch_warnings():  # one at a time: a large one takes much memory
            warnings.simplefilter("ignore")  # what matters is refused
            made = make_thumbnail(path)
        with self._lock:
            self._keep(version, made)
        return made

    def _keep(self, version: Version, made: Thumbnail) -> None:
        """Keep a thumbnail in place of those that were not asked for for longest."""
        if version not in self._kept:
            self._kept[version] = made
            self._size += len(made.content)
        while self._size > self._most:
            _, gone = self._kept.popitem(last=False)
            self._size -= len(gone.content)


def make_thumbnail(path: Path) -> Thumbnail:
    """A small copy of a picture, upright; what is transparent is white."""
    try:
        small = images.shrink(path, path.name, SIDE)
    except ValueError:
        raise ValueError(BROKEN) from None  # why may tell its path, and that its label
    is_tiny = max(small.size) <= TINY
    kind, options = ("PNG", {"optimize": True}) if is_tiny else ("JPEG", {"quality": QUALITY})
    bare, out = Image.new("RGB", small.size), io.BytesIO()
    bare.paste(small)  # its points, and nothing else of what the file said
    bare.save(out, kind, **options)
    return Thumbnail(out.getvalue(), f"image/{kind.lower()}")
