"""A labelling server under hard conditions: killed at random moments, and many people at once.

    python tests/reliability.py kills --times 200 [--db URL]
    python tests/reliability.py crowd [--db URL]

Figures are printed; what must hold is checked.
"""

import argparse
import csv
import random
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx
import numpy as np
from served import Person, Server

from possibal.journal import Event
from possibal.store import Store

AWAY = (httpx.TransportError, httpx.HTTPStatusError)
"""What people see of a server that was killed."""


def written(path: Path, rows: int, columns: int = 6, seed: int = 0) -> dict[str, str]:
    """A file of numbers without labels, and the true label of each row by its id."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)).round(4)
    truth = {str(i + 1): "yes" if x[0] + x[1] > 0 else "no" for i, x in enumerate(X)}
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["name", *(f"x{j}" for j in range(columns))])
        lines.writerows([f"r{i + 1}", *x] for i, x in enumerate(X.tolist()))
    return truth


# ---------------------------------------------------------------- kills
@dataclass
class Sent:
    """What people sent, and what they were told was kept."""

    made: list[dict] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)


def _answer(server: Server, who: str, sent: Sent, end: threading.Event) -> None:
    """Answer until the server goes away; what was not acknowledged is sent again next time."""
    try:
        person = server.person(who)
        for given in [one for one in sent.made if one["key"] not in sent.kept]:
            person.client.post("/api/answer", json=given).raise_for_status()
            sent.kept.add(given["key"])
        question = person.ask()
        while question is not None and not end.is_set():
            row = question["item"]["row"]
            given = {"key": uuid4().hex, "who": who, "made": person.now(), "row": row}
            given |= {"kind": "label", "label": random.choice(["yes", "no"]), "next": True}  # noqa: S311 - no secret
            sent.made.append(given)
            answer = person.client.post("/api/answer", json=given).raise_for_status()
            sent.kept.add(given["key"])
            question = answer.json()["question"]
    except AWAY:
        return


def kills(times: int, folder: Path, db: str, people: int = 4) -> dict[str, float]:
    """Kill the server again and again while people answer; the figures of what happened.

    Every acknowledged answer must be there once, and after all was sent again, all that was made.
    """
    written(folder / "rows.csv", 4000)
    arguments = ("rows.csv", "--classes", "yes,no", "--db", db)
    sent = {f"person {i}": Sent() for i in range(people)}
    starts = list[float]()
    for _ in range(times):
        with Server(*arguments, folder=folder) as server:
            starts.append(server.seconds)
            end = threading.Event()
            threads = [
                threading.Thread(target=_answer, args=(server, who, one, end))
                for who, one in sent.items()
            ]
            for thread in threads:
                thread.start()
            time.sleep(random.uniform(0.05, 1.2))  # noqa: S311 - no secret
            server.kill()
            for thread in threads:
                thread.join()
        _check(db, sent)
    began = time.perf_counter()
    with Store.open(db) as store:
        store.setup()
        stored = store.events()
    opened = time.perf_counter() - began
    kept = sum(len(one.kept) for one in sent.values())
    made = sum(len(one.made) for one in sent.values())
    unheard = len(stored) - kept
    return {
        "kills": times,
        "answers made": made,
        "acknowledged": kept,
        "kept but never acknowledged": unheard,
        "lost": 0,
        "doubled": 0,
        "seconds to open the store": round(opened, 3),
        "seconds to serve again, median": round(float(np.median(starts[1:] or starts)), 2),
        "seconds to serve again, largest": round(max(starts[1:] or starts), 2),
    }


def _check(db: str, sent: dict[str, Sent]) -> None:
    """No acknowledged answer is lost, and none is there twice."""
    with Store.open(db, writes=False) as store:
        events: list[Event] = store.events()
    keys = Counter(event.key for event in events)
    assert max(keys.values(), default=1) == 1
    lost = {key for one in sent.values() for key in one.kept} - set(keys)
    assert not lost, f"{len(lost)} acknowledged answers are lost"
    made = {one["key"] for whose in sent.values() for one in whose.made}
    assert set(keys) <= made, "an answer is there that nobody made"


# ---------------------------------------------------------------- crowd
def crowd(folder: Path, db: str, people: int = 32, rows: int = 2000) -> dict[str, float]:
    """Many people answer all rows at once, as fast as they can, while fits run."""
    truth = written(folder / "rows.csv", rows)
    given, wrong, timed = Counter[int](), list[str](), dict[str, list[float]]()
    asks, tells = list[float](), list[float]()

    def answer_all(who: str, server: Server) -> None:
        person = server.person(who)
        try:
            while True:
                began = time.perf_counter()
                question = person.ask()
                asks.append(time.perf_counter() - began)
                if question is None:
                    return
                row = question["item"]["row"]
                given[row] += 1
                began = time.perf_counter()
                person.say(row, truth[str(row + 1)], next=False)
                tells.append(time.perf_counter() - began)
        except (AssertionError, httpx.HTTPError) as error:
            wrong.append(f"{who}: {error!r}")

    with Server("rows.csv", "--classes", "yes,no", "--db", db, folder=folder) as server:
        began = time.perf_counter()
        threads = [
            threading.Thread(target=answer_all, args=(f"person {i}", server)) for i in range(people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        told = Person(server.client(), "person 0").get("progress")
    assert not wrong, wrong[:3]
    assert told["answered"] == rows
    assert set(given) == set(range(rows))
    assert set(given.values()) == {1}, "a row was given twice"
    timed = {"ask": asks, "tell": tells}
    figures = {
        f"{verb} p{share}, ms": round(1000 * float(np.quantile(some, share / 100)), 1)
        for verb, some in timed.items()
        for share in (50, 95, 99)
    }
    return {"people": people, "rows": rows, "answers a second": round(rows / seconds), **figures}


def main() -> None:
    """Run what was asked for, and print its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["kills", "crowd"])
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--db", default="", help="a SQLite file of its own if left out")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        db = asked.db or str(folder / "answers.db")
        figures = kills(asked.times, folder, db) if asked.what == "kills" else crowd(folder, db)
        for name, figure in figures.items():
            print(f"{name}: {figure}")  # noqa: T201 - its job


if __name__ == "__main__":
    main()
