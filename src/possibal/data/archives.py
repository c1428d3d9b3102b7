"""Pictures in a zip file, unpacked beside it into a folder that its content names.

unpack_pictures(Path("ants.zip")) -> UnpackedPictures(Path("ants.0f3b6a2c91de.pictures"), others=0)
"""

import hashlib
import posixpath
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple
from unicodedata import normalize
from zipfile import BadZipFile, ZipFile, ZipInfo

from possibal.data.decoding import MOST_RATIO, SMALL, Progress, check_folder, no_progress, throttled
from possibal.data.images import MOST_BYTES, TYPES
from possibal.errors import summary
from possibal.files import part_of, write

ENDING = ".zip"
MOST_UNPACKED = 20_000_000_000
"""Bytes of all pictures in a zip file."""
DIGITS = 12
"""Of the content's SHA-256, in the name of the folder."""
UTF8 = 0x800
"""The flag of a name that is in UTF-8; some programs write such names without it."""
LOCKED = 0x1
"""The flag of an entry that a password protects."""
MACOS = "__MACOSX"
"""The folder in which a Mac keeps what it knows of the others."""


class UnpackedPictures(NamedTuple):
    """The folder of a zip file's pictures, and how many files in it are no pictures."""

    folder: Path
    others: int


@dataclass(frozen=True)
class _Member:
    """A picture in a zip file, and its path from the folder that it is unpacked to."""

    entry: ZipInfo
    path: PurePosixPath


# ---------------------------------------------------------------- the face
def unpack_pictures(
    path: Path, place: Path | None = None, progress: Progress = no_progress
) -> UnpackedPictures:
    """The pictures of a zip file, unpacked once: the same content is found again.

    Hidden files and those of `__MACOSX` do not count. If all pictures lie in one folder, it is
    as if that folder had been zipped.

    Args:
        path: the zip file.
        place: the folder to unpack in; if left out, that of the zip file.
        progress: given the share done, the last time 1.0.
    """
    check_folder(path)
    with _opened(path) as (pack, digest):
        members, others = _members(path, pack)
        folder = (place or path.parent).resolve() / f"{path.stem}.{digest[:DIGITS]}.pictures"
        try:
            _unpack(pack, members, folder, throttled(progress))
        except Exception as error:  # noqa: BLE001 - methods of packing fail in ways of their own
            remedy = "Mend that, or unpack it by hand."
            raise _refused(path, "unpack without a fault", summary(error), remedy) from None
    return UnpackedPictures(folder, others)


@contextmanager
def unpacking(path: Path) -> Generator[None]:
    """Take the pictures of a zip file away again if they were unpacked for nothing."""
    pattern = f"{escape(path.stem)}.*.pictures"
    before = set(path.parent.glob(pattern))
    try:
        yield
    except Exception:
        for folder in set(path.parent.glob(pattern)) - before:
            shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def _opened(path: Path) -> Generator[tuple[ZipFile, str]]:
    """The zip file, and the SHA-256 of its bytes."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        pack = ZipFile(path)
    except FileNotFoundError:
        raise ValueError(
            f"file must exist; got {str(path)!r}. Check its name and folder."
        ) from None
    except (BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise _refused(path, "be a sound zip file", summary(error), "Pack it anew.") from None
    with pack:
        yield pack, digest


def _refused(path: Path, rule: str, got: str, remedy: str) -> ValueError:
    """The sentence on a zip file that cannot be used."""
    return ValueError(f"file must {rule}; got {got} in {str(path)!r}. {remedy}")


# ---------------------------------------------------------------- members
def _members(path: Path, pack: ZipFile) -> tuple[list[_Member], int]:
    """The pictures, without the folders that all of them lie in, and the number of other files."""
    found, folded, others = dict[PurePosixPath, ZipInfo](), set[str](), 0
    for entry in pack.infolist():
        name = _name(path, entry)
        if entry.is_dir() or any(part.startswith(".") or part == MACOS for part in name.parts):
            continue
        if name.suffix.lower() not in TYPES:
            others += 1
            continue
        _check_entry(path, entry, name)
        # Some systems do not tell A from a, nor the ways to write é.
        plain = normalize("NFC", str(name)).casefold()
        if plain in folded:
            raise _refused(path, "name each picture once", f"{str(name)!r} twice", "Rename one.")
        folded.add(plain)
        found[name] = entry
    if not found:
        rule = f"hold pictures that end in {', '.join(TYPES)}"
        raise _refused(path, rule, "none", "Name another one.")
    _check_total(path, sum(entry.file_size for entry in found.values()))
    common = posixpath.commonpath([name.parent for name in found])
    return [_Member(entry, name.relative_to(common)) for name, entry in found.items()], others


def _name(path: Path, entry: ZipInfo) -> PurePosixPath:
    """The path of an entry, which leads nowhere but into the folder it is unpacked to."""
    name = entry.filename
    if not entry.flag_bits & UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    found = PurePosixPath(name.replace("\\", "/"))
    if found.is_absolute() or ".." in found.parts or PureWindowsPath(name).drive:
        rule = "hold names that stay in its folder"
        raise _refused(path, rule, repr(name), "Unpack it by hand if you trust it.")
    return found


def _check_entry(path: Path, entry: ZipInfo, name: PurePosixPath) -> None:
    """Refuse what is no plain file, or one that cannot be a picture for its size."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in {0, stat.S_IFREG}:
        got = f"{str(name)!r}, a link or device,"
        raise _refused(path, "hold plain files", got, "Pack what it leads to.")
    if entry.flag_bits & LOCKED:
        raise _refused(path, "be open to all", "a password", "Pack it without one.")
    if entry.file_size > MOST_BYTES:
        rule, got = f"hold pictures of at most {MOST_BYTES // 10**6} MB", f"{entry.file_size} bytes"
        raise _refused(path, rule, f"{got} for {str(name)!r}", "Make it smaller.")


def _check_total(path: Path, size: int) -> None:
    """Refuse what would fill the disk."""
    packed = path.stat().st_size
    if size > MOST_UNPACKED or size > max(SMALL, MOST_RATIO * packed):
        rule = f"unpack to at most {MOST_UNPACKED // 10**9} GB and {MOST_RATIO} times its size"
        got = f"{size} bytes of {packed}"
        raise _refused(path, rule, got, "Pack fewer pictures at a time.")


# ---------------------------------------------------------------- unpacking
def _unpack(pack: ZipFile, members: list[_Member], folder: Path, progress: Progress) -> None:
    """Write the pictures that are not in the folder yet; a new folder appears when it is whole."""
    lost = [member for member in members if not _is_there(folder, member)]
    if folder.exists() or not lost:
        _write(pack, lost, folder, progress)
        return
    part = part_of(folder)
    try:
        _write(pack, lost, part, progress)
        part.rename(folder)
    except OSError:  # maybe another process was quicker
        if not all(_is_there(folder, member) for member in members):
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _is_there(folder: Path, member: _Member) -> bool:
    """Whether a picture was unpacked before."""
    path = folder / member.path
    return path.is_file() and path.stat().st_size == member.entry.file_size


def _write(pack: ZipFile, members: list[_Member], folder: Path, progress: Progress) -> None:
    """Write pictures into a folder."""
    total, done = sum(member.entry.file_size for member in members), 0
    for member in members:
        path = folder / member.path
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, pack.read(member.entry))
        done += member.entry.file_size
        progress(done / max(total, 1))
    progress(1.0)
