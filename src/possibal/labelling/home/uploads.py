"""Uploads: files that a browser sends in pieces, kept in a folder once they are whole.

uploads = UploadFolder(folder)        key = uploads.begin("reviews.csv")
uploads.add(key, "reviews.csv", 0, content)        uploads.finish(key) -> KeptSource

What is on its way stands in a hidden folder of its own, which a stop, a mistake or a long silence
takes away. Nothing that was in the folder before is ever written over.
"""

import errno
import hashlib
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePosixPath
from threading import RLock

from possibal.data import images, readers
from possibal.data.schema import CONTROLS, clean
from possibal.data.source import ENDING, ZIP
from possibal.errors import RefusedError

PIECE = 1_000_000
"""Bytes that one request brings at most."""
STAGED = ".possibal-upload"
"""What the names of folders end in that hold what is on its way."""
LONGEST_NAME = 180
"""Bytes of a name: that of its campaign is longer, and systems take 255."""
SILENCE = 120.0
"""Seconds after which an upload that brings nothing more is given up."""
FULL = frozenset([errno.ENOSPC, errno.EDQUOT])
"""What the system says where nothing more can be written."""


@dataclass(frozen=True)
class KeptSource:
    """A file or a folder of pictures that arrived whole.

    Attributes:
        path: where it is.
        note: what is to be said of its name; empty if it has the one that it came with.
        is_new: whether it was put there now; the same content may have been there before.
    """

    path: Path
    note: str
    is_new: bool


@dataclass(eq=False)
class _Upload:
    """What is on its way."""

    name: str
    is_folder: bool
    stage: Path
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    heard: float = field(default_factory=time.monotonic)

    @property
    def path(self) -> Path:
        """What will be kept."""
        return self.stage / self.name


class UploadFolder:
    """Takes uploads into a folder; one process at a time does."""

    def __init__(self, folder: Path) -> None:
        """Take away what another process left half done."""
        self._folder, self._running, self._lock = folder, dict[str, _Upload](), RLock()
        for left in folder.glob(f".*{STAGED}"):
            shutil.rmtree(left, ignore_errors=True)

    def begin(self, name: str, *, is_folder: bool = False) -> str:
        """The key of a new upload; what could not be labelled is refused before it is sent.

        Args:
            name: of the file, or of the folder of pictures.
            is_folder: whether it is one.
        """
        check_name(name)
        if not is_folder:
            _check_ending(name)
        with self._lock:
            self.give_up_silent()
            key = secrets.token_hex(16)
            upload = _Upload(name, is_folder, self._folder / f".{key}{STAGED}")
            upload.stage.mkdir()
            self._running[key] = upload
        return key

    def add(self, key: str, path: str, at: int, content: bytes) -> int:
        """Bytes of a file that have arrived; a piece that is sent again does no harm.

        Args:
            key: of the upload.
            path: of the file: its name, or from a folder on.
            at: how many bytes come before the piece.
            content: the piece.
        """
        with self._lock:
            upload = self._found(key)
            target = upload.path / _below(path) if upload.is_folder else upload.path
            arrived = upload.sizes.get(path, 0)
            if at > arrived or (not upload.is_folder and path != upload.name):
                raise RefusedError(
                    f"at must be the {arrived} bytes that have arrived of {path!r}; got {at}. "
                    "Send what is missing."
                )
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("r+b" if arrived else "wb") as file:
                    file.seek(at)
                    file.write(content)
            except OSError as error:
                self.cancel(key)
                raise _unwritten(error) from None
            upload.sizes[path], upload.heard = max(arrived, at + len(content)), time.monotonic()
            return upload.sizes[path]

    def finish(self, key: str) -> KeptSource:
        """Show what has arrived in the folder, under a name that nothing has yet."""
        with self._lock:
            upload = self._found(key)
            try:
                if not upload.sizes:
                    raise RefusedError(f"file must hold something; got {upload.name!r} empty.")
                return self._kept(upload)
            except OSError as error:
                raise _unwritten(error) from None
            finally:
                self.cancel(key)

    def cancel(self, key: str) -> None:
        """Take away what has arrived, if there is anything."""
        with self._lock:
            upload = self._running.pop(key, None)
            if upload is not None:
                shutil.rmtree(upload.stage, ignore_errors=True)

    def close(self) -> None:
        """Take away what is on its way."""
        for key in [*self._running]:
            self.cancel(key)

    def _kept(self, upload: _Upload) -> KeptSource:
        """Where an upload is kept, or the same content already is."""
        name = upload.name
        for place in self._places(name):
            if _is_same_content(place, upload.path):
                said = f"{place.name} was here already, with this content."
                return KeptSource(place, said, is_new=False)
            if place.exists() or place.with_name(place.name + ENDING).exists():
                continue
            if not _moved(upload.path, place):
                continue
            note = f"There is another {name} here, so this one is kept as {place.name}."
            return KeptSource(place, "" if place.name == name else note, is_new=True)
        raise AssertionError  # names are counted on for ever

    def _places(self, name: str) -> Iterator[Path]:
        """The name, and others like it with a number."""
        yield self._folder / name
        ending = readers.ending(Path(name)) or Path(name).suffix
        stem = name[: len(name) - len(ending)]
        for number in count(2):
            yield self._folder / f"{stem}-{number}{name[len(stem) :]}"

    def _found(self, key: str) -> _Upload:
        """An upload that is on its way."""
        self.give_up_silent()
        if key not in self._running:
            raise RefusedError("upload must be one that is on its way; got another. Begin again.")
        return self._running[key]

    def give_up_silent(self) -> None:
        """Give up those of which nothing was heard for long: whoever sent them is gone."""
        late = time.monotonic() - SILENCE
        with self._lock:
            for key in [key for key, upload in self._running.items() if upload.heard < late]:
                self.cancel(key)


# ---------------------------------------------------------------- names
def check_name(name: str) -> None:
    """Refuse a name that is no plain name of a file in the folder that we are in."""
    is_plain = not set(name) & {"/", "\\"} and not name.startswith(".") and clean(name) == name
    if not name.strip() or not is_plain or CONTROLS.search(name):
        raise RefusedError(
            f"file must have a plain name that begins with no dot; got {name[:80]!r}. Rename it."
        )
    if len(name.encode()) > LONGEST_NAME:
        raise RefusedError(
            f"file must have a name of at most {LONGEST_NAME} bytes; got {len(name.encode())}. "
            "Shorten it."
        )


def _check_ending(name: str) -> None:
    """Refuse a file that nothing reads."""
    if readers.ending(Path(name)) is None and not name.lower().endswith(ZIP):
        raise RefusedError(
            f"file must end in {', '.join([*readers.endings(), ZIP])}, or be a folder of pictures; "
            f"got {name!r}. Save it as one of these."
        )


def _below(path: str) -> PurePosixPath:
    """The path of a picture from its folder on."""
    found = PurePosixPath(path)
    for part in path.split("/"):
        check_name(part)
    if found.suffix.lower() not in images.TYPES:
        raise RefusedError(
            f"pictures must end in {', '.join(images.TYPES)}; got {path!r}. Leave it out."
        )
    return found


# ---------------------------------------------------------------- files
def _is_same_content(one: Path, other: Path) -> bool:
    """Whether two files, or two folders of pictures, hold the same; not if one is not there."""
    if one.is_dir() and other.is_dir():
        first, second = (_files(path) for path in (one, other))
        return first.keys() == second.keys() and all(
            _is_same_content(first[name], second[name]) for name in first
        )
    if not (one.is_file() and other.is_file()) or one.stat().st_size != other.stat().st_size:
        return False
    return _digest(one) == _digest(other)


def _files(folder: Path) -> dict[str, Path]:
    """All files of a folder, by their paths from it."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in found}


def _digest(path: Path) -> bytes:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _moved(source: Path, place: Path) -> bool:
    """Whether a file or folder now has a name that nothing had, not even a moment ago."""
    if source.is_dir():
        source.rename(place)  # onto a folder that holds something, the system refuses it
        return True
    try:
        place.touch(exist_ok=False)
    except FileExistsError:
        return False
    try:
        source.replace(place)
    except OSError:
        with suppress(OSError):
            place.unlink()
        raise
    return True


def _unwritten(error: OSError) -> RefusedError:
    """The sentence on a file that cannot be written."""
    if error.errno in FULL:
        return RefusedError(
            "The disk is full: nothing of the file was kept. Make room, or take less."
        )
    return RefusedError(f"The file could not be kept ({error.strerror}). Nothing of it is left.")
