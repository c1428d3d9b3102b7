"""The system calls of a real writer, from strace: recorded, or made to fail one at a time."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import writer

import possibal
from possibal.labelling.storage.database import pragmas

STRACE = shutil.which("strace")
NEEDS_STRACE = pytest.mark.skipif(
    STRACE is None and os.environ.get("CI") != "true", reason="needs strace"
)
MODES = {
    "journal": pragmas((3, 40, 1)),
    "log": (*pragmas((3, 51, 3)), "wal_autocheckpoint = 6"),
}
"""How SQLite may write; the log is so short that it is brought into the file now and then."""
NAME = "a.db"
"""Of the database."""
CALLS = (
    "open,openat,creat,write,pwrite64,writev,pwritev,fsync,fdatasync,truncate,ftruncate,fallocate,"
    "unlink,unlinkat,link,linkat,rename,renameat,renameat2"
)
"""Whatever may change a file."""
LINE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?(.*)")
BROKEN_OFF = re.compile(r"(\d+) +(.*)<unfinished \.\.\.>")
RESUMED = re.compile(r"(\d+) +<\.\.\. \w+ resumed>(.*)")
TEXT = re.compile(r'<([^>]*)>|"([^"]*)"')
"""A path that a descriptor stands for, or a string; both are in hexadecimal."""
HERE = Path(__file__).parents[1]
PATIENCE = 120.0


@dataclass(frozen=True)
class Call:
    """A system call that has ended.

    Attributes:
        thread: that made it.
        name: of the call.
        texts: its paths and strings, those of descriptors included.
        numbers: its last arguments that are numbers, in order.
        flags: whatever else it was given.
        result: a negative number is a failure.
        opened: the path of the descriptor that it gave.
        is_injected: whether it was made to fail.
    """

    thread: int
    name: str
    texts: tuple[bytes, ...]
    numbers: tuple[int, ...]
    flags: str
    result: int
    opened: str
    is_injected: bool


def traced(folder: Path, pairs: int, mode: Sequence[str], *options: str) -> tuple[str, list[Call]]:
    """What a writer told, and its system calls.

    Args:
        folder: of the database.
        pairs: of answers.
        mode: the pragmas of its connections.
        options: of strace, beside what is looked at.
    """
    assert STRACE is not None, "strace must be installed where everything is checked"
    log = folder.with_name(f"{folder.name}.trace")
    looks = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", "1000000", "-e", f"trace={CALLS}", *options]
    line = [sys.executable, "-m", writer.__name__, str(folder / NAME), str(pairs), *mode]
    paths = [Path(possibal.__file__).parents[1], HERE]
    done = subprocess.run(  # noqa: S603 - our own code
        [STRACE, *looks, "-o", str(log), *line],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    calls = parsed(log.read_text(encoding="ascii"))
    log.unlink()
    return done.stdout, calls


def parsed(log: str) -> list[Call]:
    """The calls in the order in which they ended."""
    begun, calls = dict[str, str](), list[Call]()
    for line in log.splitlines():
        if half := BROKEN_OFF.fullmatch(line):
            begun[half[1]] = half[2]
            continue
        rest = RESUMED.fullmatch(line)
        whole = f"{rest[1]} {begun.pop(rest[1])}{rest[2]}" if rest else line
        if found := LINE.fullmatch(whole):
            calls.append(_call(found))
    return calls


def _call(line: re.Match[str]) -> Call:
    """A call as it stands in a line."""
    thread, name, given, result, opened, end = line.groups()
    texts = tuple(_plain(one or other) for one, other in TEXT.findall(given))
    numbers = tuple(int(one) for one in re.findall(r", (\d+)(?=,|$)", given))
    flags, path = TEXT.sub("", given), _plain(opened or "").decode()
    return Call(int(thread), name, texts, numbers, flags, int(result), path, "INJECTED" in end)


def _plain(text: str) -> bytes:
    """Bytes that were written in hexadecimal."""
    return bytes.fromhex(text.replace("\\x", ""))
