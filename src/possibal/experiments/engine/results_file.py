"""Append-only results file keyed by (strategy, run), with its provenance in the first line.

It is a CSV file whose first line is a comment that says what made it. Runs are appended
whole. What a killed process left unfinished at the end is cut off when the file is opened again,
so that the same command goes on where it stopped and ends with the same bytes.
"""

import csv
import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import possibal
from possibal.experiments.datasets import Dataset
from possibal.experiments.results import Run
from possibal.experiments.spec import Experiment
from possibal.files import write

COLUMNS = ("dataset", "protocol", "hyperparameters", "strategy", "run", "step", "accuracy", "row")
HEADS = f"{','.join(COLUMNS)}\n".encode()
THETA = "log_amplitude_and_length_scale"
"""What a header calls the hyperparameters fitted in advance."""
PACKAGES = ("numpy", "scipy", "scikit-learn")


@dataclass(frozen=True, eq=False)
class Provenance:
    """Provenance: what decides the rows of a results file.

    Attributes:
        experiment: what is run; the number of runs decides nothing.
        data: the set.
        source: of a user's own strategy, so that rows of an earlier one are not taken for its own.
    """

    experiment: Experiment
    data: Dataset
    source: str | None = None


def header(provenance: Provenance, theta: tuple[float, float] | None) -> dict[str, Any]:
    """What decides the rows, and what made them."""
    experiment, sizes = provenance.experiment, asdict(provenance.experiment.sizes)
    del sizes["runs"]
    table = np.ascontiguousarray(provenance.data.X).tobytes() + provenance.data.y.tobytes()
    return {
        "dataset": experiment.dataset,
        "protocol": experiment.protocol,
        "hyperparameters": experiment.hyperparameters,
        "recipe": asdict(experiment.recipe),
        "model": experiment.model,
        "seed": experiment.seed,
        **sizes,
        "data": _digest(table),
        "strategy": provenance.source and _digest(provenance.source.encode()),
        THETA: theta,
        **versions(),
    }


def versions() -> dict[str, str | None]:
    """What is installed here, and the commit of possibal itself."""
    return {
        "possibal": possibal.__version__,
        "commit": commit(),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }


def _digest(content: bytes) -> str:
    """A few letters that change with the content."""
    return hashlib.sha256(content).hexdigest()[:16]


def commit() -> str | None:
    """The commit of the source this runs from, marked where it was changed; None if it has none."""
    here = Path(possibal.__file__).parent
    if not (here.parents[1] / ".git").exists():  # an environment may lie in a user's repository
        return None
    ask = ["git", "-C", str(here), "describe", "--always", "--abbrev=12", "--dirty"]
    try:
        done = subprocess.run(ask, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603 - fixed words
        name = done.stdout.strip()
        if name.endswith("-dirty"):
            ask[3:] = ["diff", "HEAD"]
            changes = subprocess.run(ask, capture_output=True, check=True, timeout=10)  # noqa: S603 - ditto
            name = f"{name}-{_digest(changes.stdout)}"
    except (OSError, subprocess.SubprocessError):
        return None
    return name


@dataclass(frozen=True, eq=False)
class ResultsFile:
    """The runs of an experiment on disk.

    Attributes:
        path: of the file.
        experiment: what is run.
        theta: hyperparameters fitted in advance, as the file has them.
        runs: those that were complete when the file was opened, by strategy and run.
    """

    path: Path
    experiment: Experiment
    theta: tuple[float, float] | None
    runs: dict[tuple[str, int], Run]

    def append(self, runs: Sequence[Run]) -> None:
        """Add runs at the end and have them on disk; a failure leaves the file as it was."""
        text = _text(self.experiment, runs)
        length = self.path.stat().st_size
        try:
            with self.path.open("ab") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            os.truncate(self.path, length)
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self.runs.update({(run.strategy, run.run): run for run in runs})

    def chosen(self, strategies: Iterable[str], runs: int) -> list[Run]:
        """The first runs of some strategies."""
        return [self.runs[name, run] for name in strategies for run in range(runs)]


def _text(experiment: Experiment, runs: Iterable[Run]) -> str:
    """The lines of runs: one for the start, and one for each answer."""
    e, table = experiment, StringIO()
    writer = csv.writer(table, lineterminator="\n")
    for run in runs:
        rows = ["", *run.rows.tolist()]
        for step, (row, accuracy) in enumerate(zip(rows, run.accuracy, strict=True)):
            key = e.dataset, e.protocol, e.hyperparameters, run.strategy, run.run, step
            writer.writerow([*key, repr(float(accuracy)), row])
    return table.getvalue()


def peek(path: Path) -> dict[str, Any] | None:
    """The header of a results file; None where there is none yet, or none with a row."""
    try:
        with path.open("rb") as file:
            first, second, third = file.readline(), file.readline(), file.readline()
    except FileNotFoundError:
        return None
    if not third.endswith(b"\n"):
        if not b"# {".startswith(first[:3]):  # somebody else's file is not ours to begin anew
            raise ValueError(_spoilt(path, 1))
        return None
    try:
        found = json.loads(first.decode().removeprefix("# "))
    except ValueError:
        found = None
    if not isinstance(found, dict) or THETA not in found:
        raise ValueError(_spoilt(path, 1))
    if second != HEADS:
        raise ValueError(_spoilt(path, 2))
    return found


def opened(path: Path, provenance: Provenance, theta: tuple[float, float] | None) -> ResultsFile:
    """The results file of an experiment: begun, or resumed where it was left.

    Args:
        path: of the file.
        provenance: what is run; more runs than the file has are fine.
        theta: hyperparameters fitted in advance; those of the file if it has a header.
    """
    experiment = provenance.experiment
    now, found = header(provenance, theta), peek(path)
    if found is None:
        write(path, f"# {json.dumps(now)}\n".encode() + HEADS)
        return ResultsFile(path, experiment, theta, {})
    _check(path, found, now)
    kept = found[THETA]
    theta = None if kept is None else (float(kept[0]), float(kept[1]))
    results_file = ResultsFile(path, experiment, theta, {})
    content = path.read_bytes()
    runs, length = _complete(path, content, experiment)
    if length < len(content):
        os.truncate(path, length)
    results_file.runs.update({(run.strategy, run.run): run for run in runs})
    return results_file


def _check(path: Path, found: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse rows that something else has made."""
    for name in {**now, **found}:
        if name != THETA and found.get(name) != now.get(name):
            raise ValueError(
                f"to must be new or hold rows of the same making; got {str(path)!r} with "
                f"{name} {found.get(name)}, now {now.get(name)}. Move that file away, or choose "
                "another folder."
            )


def _complete(path: Path, content: bytes, experiment: Experiment) -> tuple[list[Run], int]:
    """The complete runs of a results file, and where the last of them ends."""
    lines = [line + b"\n" for line in content.split(b"\n")[:-1]]
    size, runs = experiment.sizes.queries + 1, list[Run]()
    seen = set[tuple[str, int]]()
    for at in range(2, len(lines) - size + 1, size):
        try:
            runs.append(_parsed(b"".join(lines[at : at + size]).decode(), experiment))
        except (ValueError, IndexError, csv.Error):
            raise ValueError(_spoilt(path, at + 1)) from None
        if (runs[-1].strategy, runs[-1].run) in seen:  # two processes wrote at once
            raise ValueError(_spoilt(path, at + 1))
        seen.add((runs[-1].strategy, runs[-1].run))
    return runs, sum(len(line) for line in lines[: 2 + size * len(runs)])


def _parsed(text: str, experiment: Experiment) -> Run:
    """The run that lines of a results file tell, if they are as it would write them."""
    rows = list(csv.reader(StringIO(text, newline="")))
    asked = np.array([int(row[7]) for row in rows[1:]], dtype=np.intp)
    accuracy = np.array([float(row[6]) for row in rows])
    run = Run(rows[0][3], int(rows[0][4]), asked, accuracy)
    if _text(experiment, [run]) != text:
        raise ValueError(text)
    return run


def _spoilt(path: Path, line: int) -> str:
    return (
        f"to must hold rows as they were written; got {str(path)!r}, which was changed near "
        f"line {line}. Move that file away."
    )
