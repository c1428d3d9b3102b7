"""Cache of thumbnails: made one at a time, and bounded by bytes."""

import warnings
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from possibal.data.thumbnails import Thumbnail, make_thumbnail

MOST_KEPT = 32_000_000
"""Bytes of thumbnails in memory."""

Version: TypeAlias = tuple[str, int, int]
"""A file as it is now: its path, when it was changed, and its size."""


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
