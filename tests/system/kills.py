"""Kill an experiment again and again, and see that its results files end with the same bytes.

PYTHONPATH=tests python -m system.kills [kills] [arguments of possibal reproduce]
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

import possibal

KILLS = 20
WORK = ("table1", "--datasets", "wine,fri", "--runs", "22", "--jobs", "2")
"""Three batches for each of two results files."""
EARLIEST = 0.5
"""Of the time the experiment takes: before, it is still getting ready."""
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(possibal.__file__).parents[1]),
    "GIT_DIR": os.devnull,  # rows name no commit, which may change meanwhile
}


def started(out: Path, work: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    """The experiment at work in a process group of its own, its workers included."""
    line = [sys.executable, "-m", "possibal", "reproduce", *work, "--to", str(out)]
    environment = {**ENVIRONMENT, "JOBLIB_TEMP_FOLDER": str(out.parent)}
    return subprocess.Popen(  # noqa: S603 - our own code
        line, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )


def ended(process: "subprocess.Popen[bytes]", seconds: float | None) -> bool:
    """Whether the experiment ended well by itself in time; if not, all of it is killed."""
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for left in Path("/dev/shm").glob(f"sem.loky-{process.pid}-*"):  # noqa: S108 - joblib's
            left.unlink()
        return False
    if code:
        raise RuntimeError(f"the experiment must end with code 0; got {code}.")
    return True


def results_files(out: Path) -> dict[str, bytes]:
    """What an experiment has written so far, by name."""
    return {path.name: path.read_bytes() for path in sorted((out / "rows").glob("*.csv"))}


def compared(out: Path, alone: dict[str, bytes]) -> str:
    """A line on two experiments that agree; an error if they do not."""
    found = results_files(out)
    if found != alone:
        differ = [
            name for name in alone.keys() | found.keys() if alone.get(name) != found.get(name)
        ]
        raise RuntimeError(
            f"results files must have the bytes of one left alone; got others in {differ}."
        )
    return f"finished: the same {sum(map(len, found.values()))} bytes in {len(found)} results files"


def kill(place: Path, kills: int, work: tuple[str, ...] = WORK, seed: int = 0) -> Iterator[str]:
    """Lines on what was done; a new experiment begins whenever one got through."""
    begun = perf_counter()
    ended(started(place / "alone", work), None)
    alone, usual = results_files(place / "alone"), perf_counter() - begun
    yield f"left alone: {len(alone)} results files in {usual:.1f} s"
    rng, done, experiment = np.random.default_rng(seed), 0, 0
    while done < kills:
        out, delay = place / str(experiment), usual * rng.uniform(EARLIEST, 1)
        if ended(started(out, work), delay):
            experiment += 1
            yield compared(out, alone)
            continue
        done += 1
        lines = {name: content.count(b"\n") for name, content in results_files(out).items()}
        yield f"kill {done} after {delay:.2f} s: lines {lines}"
    ended(started(place / str(experiment), work), None)
    yield compared(place / str(experiment), alone)


if __name__ == "__main__":
    kills, *given = sys.argv[1:] or [str(KILLS)]
    with TemporaryDirectory() as folder:
        for sentence in kill(Path(folder), int(kills), tuple(given) or WORK):
            sys.stdout.write(f"{sentence}\n")
            sys.stdout.flush()
