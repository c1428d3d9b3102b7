"""How the time and memory of one command grow with the pool: possibal rank on 10^4 to 10^7 rows.

    python bench/growth.py [docs/scale.png]

Each line is a process of its own, from the command to the list; its memory is the largest that the
system saw. The pool is a file of 20 columns in single precision, and 200 rows have labels.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

N, D, SEED, PART = 200, 20, 20, 100_000
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
SCORES = ("necessity", "uncertainty")


def written(folder: Path, m: int) -> tuple[Path, Path]:
    """A pool of m rows, and labelled rows like them."""
    rng, pool = np.random.default_rng(SEED), folder / f"pool-{m}.npy"
    array = np.lib.format.open_memmap(pool, mode="w+", dtype=np.float32, shape=(m, D))
    for start in range(0, m, PART):
        array[start : start + PART] = rng.normal(size=(min(PART, m - start), D))
    array.flush()
    del array
    X, labels = rng.normal(size=(N, D)), folder / "labels.csv"
    names = ["yes" if x[0] + np.sin(2.0 * x[1]) > 0 else "no" for x in X]
    lines = [",".join([*(f"x{j}" for j in range(D)), "label"])]
    lines += [",".join([*map(str, x), name]) for x, name in zip(X, names, strict=True)]
    labels.write_text("\n".join(lines))
    return pool, labels


def measured(pool: Path, labels: Path, score: str) -> tuple[float, float, float]:
    """Seconds of the ranking and of the whole command, and its memory in megabytes."""
    line = [sys.executable, "-m", "possibal", "rank", str(pool), "--labels", str(labels)]
    began = time.perf_counter()
    with subprocess.Popen(  # noqa: S603 - our own command
        [*line, "--strategy", score], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        said = process.stderr.read() if process.stderr else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    ranking = float(re.search(r"rows in ([\d.]+) s", said)[1])
    return ranking, time.perf_counter() - began, usage.ru_maxrss / 1024


def draw(found: dict[str, list[tuple[float, float, float]]], to: Path) -> None:
    """Time against rows, both on logarithmic scales."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for (score, lines), marker in zip(found.items(), "os", strict=True):
        axes.loglog(SIZES, [ranking for ranking, _, _ in lines], marker=marker, label=score)
    last = found[SCORES[0]][-1][0]
    ideal = [last * m / SIZES[-1] for m in SIZES]
    axes.loglog(SIZES, ideal, color="0.6", linestyle=":", label="in proportion")
    axes.set_xlabel("rows in the pool")
    axes.set_ylabel("seconds to rank it")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(to, dpi=150)


def main() -> None:
    """Print a table, and draw it if a file is named."""
    table, found = Table(title=f"possibal rank, {N} labels, {D} columns"), {s: [] for s in SCORES}
    for head in ("rows", "strategy", "ranking", "whole command", "memory"):
        table.add_column(head, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        for m in SIZES:
            pool, labels = written(Path(folder), m)
            for score in SCORES:
                ranking, whole, memory = measured(pool, labels, score)
                found[score].append((ranking, whole, memory))
                table.add_row(
                    f"{m:,}", score, f"{ranking:.1f} s", f"{whole:.1f} s", f"{memory:.0f} MB"
                )
            pool.unlink()
    Console().print(table)
    if len(sys.argv) > 1:
        draw(found, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
