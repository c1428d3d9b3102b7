"""A labelling campaign whose power is cut after each system call of its writer.

    PYTHONPATH=tests python -m system.power_cuts --states 5000

The calls of a real writer are recorded. What a power cut may leave of its files after some of
them is then made up: what no fsync made durable is lost, kept, torn between sectors or, where a
file grew, spoilt; names in the folder are lost or kept until the folder was synchronised. Every
state is opened as after a restart. Figures are printed; what must hold is checked.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

from support import writer
from support.traced import MODES, NAME, Call, traced

from possibal.labelling.storage import database
from possibal.labelling.storage.store import Store

SECTOR = 512
"""Bytes that a disk writes or does not."""
SHARES = (0.0, 0.1, 0.5, 0.9, 1.0)
"""Of what was not made durable, how much is kept in a state."""
SPOILT = 0.2
"""How much of what is lost is noise, where a file grew."""
SOUND, LOST, CORRUPT, STRAY = "sound", "lost", "corrupt", "stray"
"""What a state is found to be. What is wrong: an acknowledged answer is gone, the file is damaged,
or something is there twice, by halves, or though nobody sent it."""
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a folder of our own in it
"""Where states are made: a disk would be as right, and slower."""
FOLDER = ""
"""The name that stands for the folder itself."""


# ---------------------------------------------------------------- what was recorded
@dataclass(frozen=True)
class Step:
    """Something that changes files, makes changes durable, or tells of them.

    Attributes:
        verb: make, write, cut, sync, unlink or tell.
        name: of the file.
        at: where it is written, or the length that is left.
        content: what is written, or told.
    """

    verb: str
    name: str = FOLDER
    at: int = 0
    content: bytes = b""


def recorded(folder: Path, pairs: int, mode: Sequence[str]) -> list[Step]:
    """What a writer does in an empty folder, in the order of time."""
    _, calls = traced(folder, pairs, mode)
    told = str(folder).encode()
    return [step for call in calls if call.result >= 0 for step in _steps(call, told)]


def _steps(call: Call, folder: bytes) -> list[Step]:
    """What a call does to the files of a folder."""
    if call.name == "write" and not call.texts[0].startswith(b"/"):
        return [Step("tell", content=call.texts[1].strip())]
    paths = [call.opened.encode()] if call.name == "openat" else call.texts[:1]
    if paths[0] != folder and not paths[0].startswith(folder + b"/"):
        return []
    name = paths[0][len(folder) :].lstrip(b"/").decode()
    if call.name == "openat":
        assert "O_TRUNC" not in call.flags
        return [Step("make", name)] if "O_CREAT" in call.flags else []
    if call.name == "pwrite64":
        assert call.result == len(call.texts[1])
        return [Step("write", name, call.numbers[-1], call.texts[1])]
    verbs = {"fsync": "sync", "fdatasync": "sync", "ftruncate": "cut", "unlink": "unlink"}
    return [Step(verbs[call.name], name, call.numbers[-1] if call.numbers else 0)]


def without(steps: Sequence[Step], is_left_out: Callable[[Step], bool]) -> list[Step]:
    """The same where some steps are not done once the campaign is there."""
    begun = steps.index(Step("tell", content=writer.OPEN.encode()))
    return [step for at, step in enumerate(steps) if at < begun or not is_left_out(step)]


# ---------------------------------------------------------------- what a disk may hold
@dataclass(frozen=True)
class File:
    """A file with what of it is durable, and what is not yet."""

    durable: bytes = b""
    pending: tuple[Step, ...] = ()

    def after(self, step: Step) -> "File":
        """The file after something was done to it."""
        if step.verb == "sync":
            return File(self.drawn(1.0, random.Random(0)))  # noqa: S311 - all of it is kept
        return replace(self, pending=(*self.pending, step))

    def drawn(self, share: float, rng: random.Random) -> bytes:
        """Its content where each change is kept with some probability."""
        content = bytearray(self.durable)
        for step in (part for whole in self.pending for part in _sectors(whole)):
            kept, end = rng.random() < share, step.at + len(step.content)
            if step.verb == "cut":
                content = _sized(content, step.at) if kept else content
            elif kept:
                content = _sized(content, max(len(content), end))
                content[step.at : end] = step.content
            elif step.at >= len(self.durable) and rng.random() < SPOILT:
                content = _sized(content, max(len(content), end))
                content[step.at : end] = rng.randbytes(len(step.content))
        return bytes(content)


def _sectors(step: Step) -> list[Step]:
    """A write as the sectors that it is in."""
    if step.verb != "write":
        return [step]
    end = step.at + len(step.content)
    cuts = [step.at, *range((step.at // SECTOR + 1) * SECTOR, end, SECTOR), end]
    return [
        replace(step, at=one, content=step.content[one - step.at : other - step.at])
        for one, other in pairwise(cuts)
    ]


def _sized(content: bytearray, size: int) -> bytearray:
    """Content of another length; what is new is zero."""
    return content[:size] + bytes(max(0, size - len(content)))


@dataclass
class Disk:
    """A folder: files by number, and what the names in it stood for since it was durable."""

    files: list[File] = field(default_factory=list)
    names: dict[str, list[int | None]] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def do(self, step: Step) -> None:
        """Take a step."""
        held = self.names.get(step.name, [None])
        if step.verb == "tell":
            self.told.append(step.content.decode())
        elif step.verb == "sync" and step.name == FOLDER:
            self.names = {name: held[-1:] for name, held in self.names.items()}
        elif step.verb == "unlink":
            self.names[step.name] = [*held, None]
        elif step.verb == "make":
            if held[-1] is None:
                self.names[step.name] = [*held, len(self.files)]
                self.files.append(File())
        elif held[-1] is not None:  # what is done to a file without a name is of no account
            self.files[held[-1]] = self.files[held[-1]].after(step)

    def drawn(self, rng: random.Random) -> dict[str, bytes]:
        """Files as a power cut may leave them now."""
        share, steady = rng.choice(SHARES), rng.choice(SHARES)
        found = dict[str, bytes]()
        for name, held in self.names.items():
            place = max(n for n in range(len(held)) if n == 0 or rng.random() < steady)
            if held[place] is not None:
                found[name] = self.files[held[place]].drawn(share, rng)
        return found


# ---------------------------------------------------------------- what must hold
def wrong(folder: Path, told: Sequence[str]) -> str | None:
    """What is wrong with a campaign after a restart, given what its writer was told before."""
    kept = [number for number in range(len(told)) if f"{writer.KEPT} {number}" in told]
    sent = range(len(kept) + 1)
    try:
        if writer.OPEN in told and not Store.exists(str(folder / NAME)):
            return LOST
        with writer.campaign(str(folder / NAME)) as store:
            keys = Counter(event.key for event in store.events())
            if any(keys[key] != 1 for number in kept for key in writer.keys_of(number)):
                return LOST
            whole = {tuple(keys[key] for key in writer.keys_of(number)) for number in sent}
            made = {key for number in sent for key in writer.keys_of(number)}
            if not whole <= {(0, 0), (1, 1)} or not keys.keys() <= made:
                return STRAY
            for number in sent:
                store.append(writer.pair(number))
            if Counter(event.key for event in store.events()) != Counter(made):
                return STRAY
            found = store.writing.run(lambda c: c.exec_driver_sql("PRAGMA integrity_check").all())
            is_whole = len(store.array("X")) == len(store.items()) == writer.ROWS
            return None if is_whole and found == [("ok",)] else CORRUPT
    except (ValueError, OSError):
        return CORRUPT


def cuts(
    steps: Sequence[Step], states: int, seed: int, mode: Sequence[str], folder: Path
) -> Counter[str]:
    """How many states there were, all of them different, and what is wrong with how many.

    A state is drawn at each moment, and again at each, until there are enough.
    """
    rng, found, seen = random.Random(seed), Counter[str](), set[int]()  # noqa: S311 - no secret
    with patch.object(database, "pragmas", lambda: tuple(mode)):
        while found["states"] < states:
            disk = Disk()
            for step in steps:
                disk.do(step)
                state = disk.drawn(rng)
                this = hash((len(disk.told), frozenset(state.items())))
                if this in seen or found["states"] == states:
                    continue
                seen.add(this)
                with tempfile.TemporaryDirectory(dir=folder) as made:
                    for name, content in state.items():
                        Path(made, name).write_bytes(content)
                    found["states"] += 1
                    found[wrong(Path(made), disk.told) or SOUND] += 1
    return found


def is_of_folder(step: Step) -> bool:
    """Whether a step makes the names in the folder durable."""
    return step.verb == "sync" and step.name == FOLDER


def is_of_log(step: Step) -> bool:
    """Whether a step makes the write-ahead log durable."""
    return step.verb == "sync" and step.name == f"{NAME}-wal"


CONTROLS = {"journal": is_of_folder, "log": is_of_log}
"""What is left out of a recording, so that something must be lost."""


def main() -> None:
    """Cut the power as often as asked for, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--states", type=int, default=5000, help="of each way to write")
    parser.add_argument("--pairs", type=int, default=15, help="of answers")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=MEMORY) as found:
        for name, mode in MODES.items():
            folder = Path(found, name)
            folder.mkdir()
            steps = recorded(folder, asked.pairs, mode)
            done = Counter(step.verb for step in steps)
            print(f"{', '.join(mode)}: {dict(done)}")  # noqa: T201 - its job
            figures = cuts(steps, asked.states, asked.seed, mode, folder)
            print(f"    {dict(figures)}", flush=True)  # noqa: T201 - its job
            less = without(steps, CONTROLS[name])
            control = cuts(less, asked.states // 5, asked.seed, mode, folder)
            print(f"    without {CONTROLS[name].__name__}: {dict(control)}", flush=True)  # noqa: T201 - its job
            assert figures[SOUND] == figures["states"]
            assert control[LOST] > 0


if __name__ == "__main__":
    main()
