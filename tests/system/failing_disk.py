"""A labelling campaign on a disk of which one system call fails, each in turn.

    PYTHONPATH=tests python -m system.failing_disk

Every call of a writer on its files is made to fail once, by strace. Whatever is refused must be
refused in one sentence and not be there by halves, the next try must succeed, and after a restart
all that was acknowledged is there once. Figures are printed; what must hold is checked.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from unittest.mock import patch

from support import writer
from support.refusals import SENTENCE
from support.traced import MODES, NAME, traced
from system.power_cuts import wrong

from possibal.labelling.storage import database

ERRORS = {
    "openat": ("EIO", "ENOSPC", "EMFILE"),
    "pread64": ("EIO",),
    "pwrite64": ("EIO", "ENOSPC"),
    "fdatasync": ("EIO", "ENOSPC"),
    "ftruncate": ("EIO",),
    "unlink": ("EIO",),
}
"""The calls of a writer, and what a disk or a system may say to them."""
UNSURE = "It may be kept all the same: try again."
"""Where the commit itself failed."""
BESIDE = ("", "-journal", "-wal", "-shm")
"""What SQLite appends to the name of a database."""


@dataclass(frozen=True)
class Fault:
    """A call that fails: the so-manieth of its name in each thread, and with what."""

    call: str
    number: int
    error: str


def looked_at(folder: Path) -> list[str]:
    """Options of strace that see what happens to the files of a campaign, and nothing else."""
    paths = [str(folder), *(str(folder / f"{NAME}{end}") for end in BESIDE)]
    return ["-e", f"trace={','.join(ERRORS)}", *(one for path in paths for one in ("-P", path))]


def faults(folder: Path, pairs: int, mode: Sequence[str]) -> list[Fault]:
    """All that may fail of a writer in an empty folder."""
    _, calls = traced(folder, pairs, mode, *looked_at(folder))
    counts = Counter((call.name, call.thread) for call in calls)
    most = {name: max(n for (one, _), n in counts.items() if one == name) for name, _ in counts}
    return [
        Fault(name, number, error)
        for name in sorted(most)
        for number, error in product(range(1, most[name] + 1), ERRORS[name])
    ]


def tried(fault: Fault, folder: Path, pairs: int, mode: Sequence[str]) -> Counter[str]:
    """What a writer was told while something failed; what must hold is checked."""
    inject = f"inject={fault.call}:error={fault.error}:when={fault.number}"
    said, calls = traced(folder, pairs, mode, *looked_at(folder), "-e", inject)
    found = Counter({"failed": sum(call.is_injected for call in calls)})
    sentence = ""
    for line in said.splitlines():
        what, _, about = line.partition(" ")
        found[what] += 1
        if what == writer.REFUSED:
            sentence = about.partition(" ")[2]
            assert SENTENCE.fullmatch(sentence), (fault, sentence)
        if what == writer.THERE:
            there = int(about.partition(" ")[2])
            assert there in ({0, 2} if sentence.endswith(UNSURE) else {0}), (fault, said)
            found["kept though refused"] += there == 2
    with patch.object(database, "pragmas", lambda: tuple(mode)):
        assert wrong(folder, said.splitlines()) is None, (fault, said)
    return found


def all_tried(some: Iterable[Fault], folder: Path, pairs: int, mode: Sequence[str]) -> Counter[str]:
    """The same of several faults, each with a campaign of its own."""
    found = Counter[str]()
    for fault in some:
        with tempfile.TemporaryDirectory(dir=folder) as made:
            found += tried(fault, Path(made), pairs, mode)
        found["runs"] += 1
    return found


def sampled(all_of_them: Sequence[Fault], most: int, seed: int) -> list[Fault]:
    """Some faults, of each call as many as of any other."""
    rng, some = random.Random(seed), list[Fault]()  # noqa: S311 - no secret
    names = sorted({fault.call for fault in all_of_them})
    for name in names:
        mine = [fault for fault in all_of_them if fault.call == name]
        some += rng.sample(mine, min(len(mine), most // len(names)))
    return some


def main() -> None:
    """Let each call fail, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=3, help="of answers")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as found:
        for name, mode in MODES.items():
            first, folder = Path(found, f"{name} first"), Path(found, name)
            first.mkdir()
            folder.mkdir()
            some = faults(first, asked.pairs, mode)
            print(f"{', '.join(mode)}: {dict(Counter(one.call for one in some))}", flush=True)  # noqa: T201 - its job
            print(f"    {dict(all_tried(some, folder, asked.pairs, mode))}", flush=True)  # noqa: T201 - its job


if __name__ == "__main__":
    main()
