"""What people wait for after a restart of `possibal label` with very many labels.

    python bench/restart.py --rows 40000 --labels 20000 --restarts 3

A file of two classes and 8 columns, and answers of one person to part of its rows. Printed are
the seconds from the command to the first question over HTTP, of the questions after it, and to
the first ranking that is not behind, if there was one within the seconds of `--patience`, with the
memory of the server and the processes that it started. The first restart has no ranking that was
kept; the others have that of the one before.
"""

import re
import secrets
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from possibal.data.ingest import SourceSpec, ingest_file
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.serving import beside
from possibal.labelling.storage.journal import Event, Kind

COLUMNS, SEED, QUESTIONS = 8, 3, 5
ADDRESS = re.compile(r"Label at (http://\S+)/#join=(\S+)")
SESSION, PICTURES = secrets.token_hex(32), secrets.token_hex(32)
"""What a browser holds; it stays in when the server is started again."""
CLASSES = ("no", "yes")


def begun(folder: Path, rows: int, labels: int) -> Path:
    """A file, and a campaign of it that has labels."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(rows, COLUMNS)).round(4)
    source = folder / "rows.csv"
    heads = ",".join(f"x{place}" for place in range(COLUMNS))
    np.savetxt(source, X, "%.4f", ",", header=heads, comments="")
    spec = SourceSpec(source, classes=CLASSES)
    intake = ingest_file(spec, lambda _words, _share: None)
    said = (np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=rows) > 0).astype(int)
    with create_campaign(beside(source), intake, Options()) as store:
        chosen = rng.permutation(rows)[:labels].tolist()
        store.append(
            [
                Event(f"{at:032x}", Kind.LABEL, "ann", at, row, CLASSES[said[row]])
                for at, row in enumerate(chosen)
            ]
        )
    return source


@contextmanager
def served(source: Path) -> Generator[tuple[subprocess.Popen[str], httpx.Client]]:
    """The server of a file, and somebody who was let in."""
    line = [sys.executable, "-m", "possibal", "label", str(source), "--no-browser", "--port", "0"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ours
    try:
        found = next(filter(None, map(ADDRESS.search, process.stdout or [])))
        known = {"Authorization": f"Bearer {SESSION}"}
        with httpx.Client(base_url=found[1], timeout=60.0, headers=known) as client:
            if client.get("/api/session").json()["role"] is None:  # the first time
                given = {"code": found[2], "session": SESSION, "pictures": PICTURES}
                client.post("/api/join", json=given).raise_for_status()
            yield process, client
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def asked(client: httpx.Client, who: str) -> float:
    """Seconds until somebody has a question."""
    began = time.perf_counter()
    client.post("/api/ask", json={"who": who}).raise_for_status()
    return time.perf_counter() - began


def memory(pid: int) -> list[int]:
    """The most memory that a process and those it started had so far, in megabytes."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    pids = [pid, *(int(one) for path in threads for one in path.read_text("utf-8").split())]
    said = [Path(f"/proc/{one}/status").read_text(encoding="utf-8") for one in pids]
    return [int(re.search(r"VmHWM:\s+(\d+)", one)[1]) // 1024 for one in said]  # pyright: ignore[reportOptionalSubscript]


def restarted(source: Path, patience: float) -> list[str]:
    """The figures of one restart."""
    began = time.perf_counter()
    with served(source) as (process, client):
        up = time.perf_counter() - began
        asked(client, "bob")
        first = time.perf_counter() - began
        others = [asked(client, f"p{number}") for number in range(QUESTIONS)]
        ranked, is_ranked = "none", False
        while not is_ranked and time.perf_counter() - began < patience:
            time.sleep(0.2)
            progress = client.get("/api/progress").json()
            is_ranked = not progress["fitting"]
            if is_ranked:
                ranked = f"{time.perf_counter() - began:.1f}"
        used = ", ".join(f"{one} MB" for one in memory(process.pid))
    return [f"{up:.2f}", f"{first:.2f}", f"{max(others):.2f}", ranked, used]


def main() -> None:
    """Print one table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--patience", type=float, default=30.0)
    given = parser.parse_args()
    heads = ("page", "first question", "slowest of 5 more", "ranking of all labels", "memory")
    table = Table(
        *heads, title=f"{given.rows} rows, {given.labels} labels: seconds after a restart"
    )
    with TemporaryDirectory() as folder:
        source = begun(Path(folder), given.rows, given.labels)
        for _ in range(given.restarts):
            table.add_row(*restarted(source, given.patience))
    Console().print(table)


if __name__ == "__main__":
    main()
