"""A labelling server under hard conditions: killed at random moments, and many people at once.

    PYTHONPATH=tests python -m system.reliability kills --times 200 [--postgres]
    PYTHONPATH=tests python -m system.reliability crowd [--postgres]
    PYTHONPATH=tests python -m system.reliability question

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
from functools import partial
from pathlib import Path
from uuid import uuid4

import httpx
import numpy as np
import polars as pl
from support.served import Person, Server

from possibal.campaign.snapshot import Snapshot
from possibal.labelling.storage.journal import replay
from possibal.labelling.storage.store import Store

CSV = 100_000
"""Rows of a file that people would still keep as text."""
PATIENCE = 20.0
"""Seconds to wait for the first answer after a kill."""
AWAY = (httpx.TransportError, httpx.HTTPStatusError)
"""What people see of a server that was killed."""


def written(path: Path, rows: int, columns: int = 6, seed: int = 0) -> dict[str, str]:
    """A file of numbers without labels, and the true label of each row by its id."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)).round(4)
    truth = {str(i + 1): "yes" if x[0] + x[1] > 0 else "no" for i, x in enumerate(X)}
    if path.suffix == ".parquet":
        pl.DataFrame({f"x{j}": column for j, column in enumerate(X.T)}).write_parquet(path)
        return truth
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
            before, patient = _acknowledged(sent), time.monotonic() + PATIENCE
            for thread in threads:
                thread.start()
            while _acknowledged(sent) == before and time.monotonic() < patient:
                time.sleep(0.005)
            time.sleep(random.uniform(0.0, 0.8))  # noqa: S311 - no secret
            server.kill()
            for thread in threads:
                thread.join()
        _check(db, sent)
    began = time.perf_counter()
    with Store.open(db) as store:
        store.setup()
        stored = store.events()
    opened = time.perf_counter() - began
    kept = _acknowledged(sent)
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


def _acknowledged(sent: dict[str, Sent]) -> int:
    """How many answers people were told are kept."""
    return sum(len(one.kept) for one in sent.values())


def _check(db: str, sent: dict[str, Sent]) -> None:
    """No acknowledged answer is lost, and none is there twice."""
    with Store.open(db, writes=False) as store:
        events = store.events()
    keys = Counter(event.key for event in events)
    assert max(keys.values(), default=1) == 1
    lost = {key for one in sent.values() for key in one.kept} - set(keys)
    assert not lost, f"{len(lost)} acknowledged answers are lost"
    made = {one["key"] for whose in sent.values() for one in whose.made}
    assert set(keys) <= made, "an answer is there that nobody made"


# ---------------------------------------------------------------- crowd
@dataclass
class Crowd:
    """Many people who answer every row that they are given, after a while."""

    truth: dict[str, str]
    pace: float = 0.0
    given: Counter[int] = field(default_factory=Counter)
    asks: list[float] = field(default_factory=list)
    tells: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def answer_all(self, server: Server, who: str) -> None:
        """Answer until nothing is left; people come within a few thoughts of each other."""
        person = server.person(who)
        time.sleep(2.0 * self.pace * random.random())  # noqa: S311 - no secret
        try:
            while (question := _timed(self.asks, person.ask)) is not None:
                row = question["item"]["row"]
                self.given[row] += 1
                said = self.truth[str(row + 1)]
                time.sleep(self.pace * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
                _timed(self.tells, partial(person.say, row, said, next=False))
        except (AssertionError, httpx.HTTPError) as error:
            self.wrong.append(f"{who}: {error!r}")


def _timed(seconds: list[float], action):
    """What an action returns; how long it took is noted."""
    began = time.perf_counter()
    found = action()
    seconds.append(time.perf_counter() - began)
    return found


def _quantiles(verb: str, seconds: list[float]) -> dict[str, float]:
    """Milliseconds that half, 95 and 99 of a hundred took at most."""
    shares = (50, 95, 99)
    found = np.quantile(seconds, [share / 100 for share in shares])
    return {
        f"{verb} p{share}, ms": round(1000 * one, 1)
        for share, one in zip(shares, found.tolist(), strict=True)
    }


def crowd(
    folder: Path, db: str, people: int = 32, rows: int = 2000, pace: float = 0.0
) -> dict[str, float]:
    """Many people answer all rows at once, as fast as they can or at a pace, while fits run."""
    many = Crowd(written(folder / "rows.csv", rows), pace)
    with Server("rows.csv", "--classes", "yes,no", "--db", db, folder=folder) as server:
        server.person("person 0").ask()  # which waits for the first ranking
        began = time.perf_counter()
        threads = [
            threading.Thread(target=many.answer_all, args=(server, f"person {i}"))
            for i in range(people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        told = Person(server.client(), "person 0").get("progress")
    assert not many.wrong, many.wrong[:3]
    assert told["answered"] == rows
    assert set(many.given) == set(range(rows))
    assert set(many.given.values()) == {1}, "a row was given twice"
    speed = {
        "people": people,
        "rows": rows,
        "seconds to think": pace,
        "answers a second": round(rows / seconds),
    }
    return {**speed, **_quantiles("ask", many.asks), **_quantiles("tell", many.tells)}


# ---------------------------------------------------------------- one person
def questions(folder: Path, rows: int, answers: int) -> tuple[list[int], list[int]]:
    """Rows that the page asks somebody about who waits for the model, and a campaign in Python.

    However slow the machine is, they are the same.
    """
    truth = written(folder / "rows.csv", rows, 20)
    db, asked = str(folder / "answers.db"), list[int]()
    with Server("rows.csv", "--classes", "yes,no", "--db", db, folder=folder) as server:
        person = server.person("somebody")
        for _ in range(answers):
            person.await_ranking()
            asked.append(person.ask()["item"]["row"])
            person.say(asked[-1], truth[str(asked[-1] + 1)], next=False)
    with Store.open(db, writes=False) as store:
        campaign, told = Snapshot.start(store.array("X"), classes=["yes", "no"]), list[int]()
    for _ in range(answers):
        told += campaign.ask()
        campaign = campaign.tell(told[-1], truth[str(told[-1] + 1)])
    return asked, told


def question(
    folder: Path, rows: int = 10_000, answers: int = 50, pace: float = 0.8
) -> dict[str, float]:
    """One person answers a larger file at a person's pace, then as fast as they can.

    The same answers told to a campaign in memory must not make a better classifier.
    """
    name = "rows.csv" if rows <= CSV else "rows.parquet"
    truth = written(folder / name, rows, 20)
    labels = np.array(list(truth.values()))
    db = str(folder / "answers.db")
    began = time.perf_counter()
    arguments = (name, "--classes", "yes,no", "--db", db)
    with Server(*arguments, folder=folder, patience=max(60.0, rows / 1000)) as server:
        person = server.person("somebody")
        asked = person.ask()
        first = time.perf_counter() - began
        slow, fast = list[float](), list[float]()
        for number in range(2 * answers):
            row = asked["item"]["row"]
            seconds = slow if number < answers else fast
            asked = _timed(seconds, partial(person.say, row, truth[str(row + 1)]))["question"]
            time.sleep(pace if number < answers else 0.0)
    with Store.open(db, writes=False) as store:
        X, said = store.array("X"), replay(store.events()).answers()[:answers]
    start = Snapshot.start(X, classes=["yes", "no"])
    page = start.replay(said).classifier.score(X[:CSV], labels[:CSV])
    campaign = start
    for _ in range(answers):
        (row,) = campaign.ask()
        campaign = campaign.tell(row, labels[row])
    return {
        "seconds from the command to the first question": round(first, 2),
        **_quantiles("answer and next question, a person's pace,", slow),
        **_quantiles("answer and next question, as fast as can be,", fast),
        f"accuracy after {answers} answers through the page": round(page, 4),
        f"accuracy after {answers} questions of a campaign in Python": round(
            campaign.classifier.score(X[:CSV], labels[:CSV]), 4
        ),
    }


def main() -> None:
    """Run what was asked for, and print its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["kills", "crowd", "question"])
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--rows", type=int, default=10_000, help="of the file that is asked about")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds that a crowd thinks")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL of its own")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        db = str(folder / "answers.db")
        if asked.postgres:
            from support.postgres import fresh

            db = stack.enter_context(fresh())
        run = {
            "kills": lambda: kills(asked.times, folder, db),
            "crowd": lambda: crowd(folder, db, pace=asked.pace),
            "question": lambda: question(folder, asked.rows),
        }
        for name, figure in run[asked.what]().items():
            print(f"{name}: {figure}")  # noqa: T201 - its job


if __name__ == "__main__":
    main()
