"""Raw bytes of a file and their decoding to text, by byte order mark, given encoding or UTF-8."""

import codecs
import gzip
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from reprlib import repr as brief
from typing import TypeAlias

from possibal.errors import summary

CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
"""Characters that no text has: controls, and halves of pairs that JSON can spell."""
LINE_END = re.compile(r"\r\n|\r|\n")
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks, and the encodings they stand for."""
PARSED = 0.6
"""Share of the work that is done when all lines are split into cells."""
STEP = 0.01
"""Progress is reported when at least this share came to it."""
MOST_UNPACKED = 1_000_000_000
"""Bytes that a packed file may unpack to."""
MOST_RATIO, SMALL = 200, 100_000_000
"""More bytes than so many times the file, beyond some, are a trap: text shrinks tenfold."""
SAVE = "Save it as UTF-8, or name its encoding with --encoding, for example"


# ---------------------------------------------------------------- values
Progress: TypeAlias = Callable[[float], None]
"""Callback that is given the share of the work done, from 0 to 1."""


def no_progress(share: float) -> None:
    """A callback that does nothing."""


def part_progress(progress: Progress, begins: float, ends: float) -> Progress:
    """The progress of a part of the work, told as that of the whole.

    Args:
        progress: of the whole.
        begins: the share of the whole that is done when the part begins.
        ends: the same when it ends.
    """
    return lambda share: progress(begins + share * (ends - begins))


@dataclass(frozen=True, eq=False)
class RawFile:
    """The bytes of a file, before any format is parsed.

    Attributes:
        path: the file.
        raw: its content, decompressed.
        encoding: of its text, if the caller named one.
        progress: callback for the share done.
    """

    path: Path
    raw: bytes
    encoding: str | None
    progress: Progress

    def refused(self, rule: str, got: str, remedy: str) -> ValueError:
        """The sentence on a file that breaks a rule."""
        return ValueError(f"file must {rule}; got {got} in {str(self.path)!r}. {remedy}")

    def empty(self) -> ValueError:
        """The sentence on a file that says nothing."""
        return self.refused("hold a table", "nothing", "Add a line of names and rows below it.")


def throttled(progress: Progress) -> Progress:
    """Rate-limited callback: called only after at least one step of progress."""
    reported = 0.0

    def tell(share: float) -> None:
        """Pass on what is new."""
        nonlocal reported
        if share >= reported + STEP or reported < share == 1:
            reported = share
            progress(share)

    return tell


# ---------------------------------------------------------------- bytes
def read_file(path: Path, encoding: str | None, progress: Progress) -> RawFile:
    """The bytes of a file, decompressed if it ends in .gz."""
    _check_encoding(encoding)
    content = RawFile(path, _decompressed(path), encoding, throttled(progress))
    if not content.raw or content.raw.isspace():
        raise content.empty()
    return content


def _check_encoding(encoding: str | None) -> None:
    """Refuse what names no encoding of text."""
    try:
        "a".encode("utf-8" if encoding is None else encoding)
    except (LookupError, ValueError):
        raise ValueError(
            f"encoding must be one that Python knows; got {brief(encoding)}. "
            "Use for example utf-8, cp1252 or utf-16."
        ) from None


def check_folder(path: Path) -> None:
    """Refuse a folder."""
    try:
        folder = path.is_dir()
    except OSError:  # a name too long for the system, or behind a closed door
        folder = False
    if folder:
        raise ValueError(f"file must be no folder; got {str(path)!r}. Name a file in it.")


def _decompressed(path: Path) -> bytes:
    """The content of a file, of a gzip file decompressed."""
    try:
        if not path.name.lower().endswith(".gz"):
            return path.read_bytes()
        most = min(MOST_UNPACKED, max(SMALL, MOST_RATIO * path.stat().st_size))
        with gzip.open(path) as packed:
            raw = packed.read(most + 1)
    except FileNotFoundError:
        raise ValueError(
            f"file must exist; got {str(path)!r}. Check its name and folder."
        ) from None
    except PermissionError:
        raise ValueError(
            f"file must be open to you; got {str(path)!r}, which you may not read. "
            "Ask its owner for permission."
        ) from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(
            f"file must be sound; got {str(path)!r} ({summary(error)}). Save it anew."
        ) from None
    if len(raw) > most:
        raise ValueError(
            f"file must unpack to at most {MOST_UNPACKED // 10**6} MB and {MOST_RATIO} times its "
            f"size; got more in {str(path)!r}. Unpack it by hand if you trust it."
        )
    return raw


# ---------------------------------------------------------------- text
def decode(content: RawFile) -> str:
    """The content as text without its byte order mark, strictly decoded: no control characters."""
    codec = _codec(content)
    rule, remedy = f"be text in {codec.upper()}", f"{SAVE} cp1252."
    try:
        text = content.raw.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(codec, "replace").removeprefix("\ufeff")
        got = f"the byte 0x{error.object[error.start]:02X} at {_after(before)}"
        raise content.refused(rule, got, remedy) from None
    except UnicodeError as error:  # a few encodings do not say where
        raise content.refused(rule, summary(error), remedy) from None
    if not text or text.isspace():
        raise content.empty()
    if found := CONTROL.search(text):
        got = f"{character(found)} at {_after(text[: found.start()])}"
        raise content.refused("hold text, no binary data", got, f"{SAVE} utf-16.")
    return text


def _codec(content: RawFile) -> str:
    """The encoding of the text: as the caller says, as a byte order mark says, or UTF-8."""
    marks = (codec for mark, codec in MARKS.items() if content.raw.startswith(mark))
    marked, named = next(marks, None), content.encoding
    if marked and named and not codecs.lookup(named).name.startswith(marked):
        raise ValueError(
            f"encoding must agree with the byte order mark of the file, {marked}; got {named!r} "
            f"for {str(content.path)!r}. Leave encoding out."
        )
    return named or marked or "utf-8"


def _after(text: str) -> str:
    """Line and column of the character that follows."""
    lines = LINE_END.split(text)
    return f"line {len(lines)}, character {len(lines[-1]) + 1},"


def character(found: re.Match[str]) -> str:
    """A character that cannot be shown."""
    return f"the control character U+{ord(found.group()):04X}"


class Lines(StringIO):
    """Line iterator that reports how much of the text was consumed."""

    def __init__(self, text: str, progress: Progress) -> None:
        """The lines of a text, ends included."""
        super().__init__(text, newline="")
        self.length, self.progress = len(text), progress

    def __next__(self) -> str:
        """The next line."""
        self.progress(PARSED * self.tell() / self.length)
        return super().__next__()
