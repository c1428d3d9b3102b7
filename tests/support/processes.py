"""What Linux tells of the processes of a server: its workers, their time, memory and handles."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
"""Units of processor time in a second."""
GONE = (FileNotFoundError, ProcessLookupError)
"""What is heard of a process that ended meanwhile."""


@dataclass(frozen=True)
class Usage:
    """What a process has of the machine.

    Attributes:
        seconds: of processor time since it began.
        megabytes: that are in memory.
        handles: that are open.
        threads: that run.
    """

    seconds: float
    megabytes: float
    handles: int
    threads: int


def usage(pid: int) -> Usage:
    """What a process has now."""
    folder = Path(f"/proc/{pid}")
    times = folder.joinpath("stat").read_text().rpartition(")")[2].split()
    told = (one.partition(":") for one in folder.joinpath("status").read_text().splitlines())
    words = {name: rest.split() for name, _, rest in told}
    seconds = sum(map(int, times[11:13])) / TICKS
    handles = len(list(folder.joinpath("fd").iterdir()))
    return Usage(seconds, int(words["VmRSS"][0]) / 1024, handles, int(words["Threads"][0]))


def workers(pid: int) -> list[int]:
    """The processes that a server has started to rank."""
    return [one for one in _children(pid) if b"spawn_main" in _line(one)]


def _children(pid: int) -> list[int]:
    """The processes that a process has started."""
    found = list[int]()
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(*GONE):
            found += map(int, listed.read_text().split())
    return found


def _line(pid: int) -> bytes:
    """What a process was started with; nothing if it is gone."""
    with suppress(*GONE):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
