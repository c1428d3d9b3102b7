"""A labelling server under hard conditions: killed, crowded, and at work for a long time.

    PYTHONPATH=tests python -m system.reliability kills --times 500 --jobs 2 [--postgres]
    PYTHONPATH=tests python -m system.reliability crowd --pace 1 [--postgres [--servers 3]]
    PYTHONPATH=tests python -m system.reliability soak --minutes 10 [--postgres]
    PYTHONPATH=tests python -m system.reliability cost [--postgres]
    PYTHONPATH=tests python -m system.reliability question

Figures are printed; what must hold is checked.
"""

import argparse
import csv
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from uuid import uuid4

import httpx
import numpy as np
import polars as pl
from support.processes import Usage, usage, workers
from support.served import Person, Server

from possibal.campaign.snapshot import Snapshot
from possibal.labelling.storage.journal import Event, Kind, replay
from possibal.labelling.storage.store import Store

CSV = 100_000
"""Rows of a file that people would still keep as text."""
PATIENCE = 20.0
"""Seconds to wait for the first answer after a kill."""
AWAY = (httpx.TransportError, httpx.HTTPStatusError)
"""What people see of a server that was killed."""
WORKERS = 0.2
"""Share of the kills that are preceded by one of the ranking worker."""


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

    Every acknowledged answer must be there once, and nothing that nobody made. Before some kills of
    the server its ranking worker is killed, at which people go on.
    """
    written(folder / "rows.csv", 4000)
    arguments = ("rows.csv", "--classes", "yes,no", "--db", db)
    sent = {f"person {i}": Sent() for i in range(people)}
    starts, ended = list[float](), 0
    for _ in range(times):
        with Server(*arguments, folder=folder) as server:
            starts.append(server.seconds)
            ended += _answered_until_killed(server, sent)
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
        "kills of the worker": ended,
        "answers made": made,
        "acknowledged": kept,
        "kept but never acknowledged": unheard,
        "lost": 0,
        "doubled": 0,
        "seconds to open the store": round(opened, 3),
        "seconds to serve again, median": round(float(np.median(starts[1:] or starts)), 2),
        "seconds to serve again, largest": round(max(starts[1:] or starts), 2),
    }


def _answered_until_killed(server: Server, sent: dict[str, Sent]) -> int:
    """Let people answer, and kill the server a moment after the first is told that it was kept.

    How many ranking workers were killed a moment before.
    """
    end, ended = threading.Event(), 0
    threads = [
        threading.Thread(target=_answer, args=(server, who, one, end)) for who, one in sent.items()
    ]
    before, patient = _acknowledged(sent), time.monotonic() + PATIENCE
    for thread in threads:
        thread.start()
    while _acknowledged(sent) == before and time.monotonic() < patient:
        time.sleep(0.005)
    time.sleep(random.uniform(0.0, 0.4))  # noqa: S311 - no secret
    if random.random() < WORKERS:  # noqa: S311 - no secret
        ended = _kill_workers(server)
    time.sleep(random.uniform(0.0, 0.4))  # noqa: S311 - no secret
    server.kill()
    for thread in threads:
        thread.join()
    return ended


def _kill_workers(server: Server) -> int:
    """Kill the ranking worker of a server, if it has one by now; how many it had."""
    found = workers(server.process.pid)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def _kills_job(times: int, *, is_postgres: bool) -> dict[str, float]:
    """Kills of the server of a campaign of its own."""
    with _place(is_postgres=is_postgres) as (folder, db):
        return kills(times, folder, db)


def parallel_kills(times: int, jobs: int, *, is_postgres: bool) -> dict[str, float]:
    """Kills of servers of several campaigns at once, and what all of them came to.

    Args:
        times: of all.
        jobs: campaigns, each in a process of its own.
        is_postgres: whether each is on a PostgreSQL of its own.
    """
    shares = [times // jobs + (number < times % jobs) for number in range(jobs)]
    run = partial(_kills_job, is_postgres=is_postgres)
    with ProcessPoolExecutor(jobs, get_context("spawn")) as processes:
        found = list(processes.map(run, shares))
    return {name: _total(name, [one[name] for one in found]) for name in found[0]}


def _total(name: str, figures: list[float]) -> float:
    """What figures of several campaigns come to: counts add up, of times the longest tells."""
    return max(figures) if name.startswith("seconds") else sum(figures)


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

    def answer_all(self, server: Server, who: str, end: threading.Event | None = None) -> None:
        """Answer until nothing is left, or the end; people come within a few thoughts."""
        person = server.person(who)
        time.sleep(2.0 * self.pace * random.random())  # noqa: S311 - no secret
        try:
            while not (end and end.is_set()):
                question = _timed(self.asks, person.ask)
                if question is None:
                    return
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


@dataclass(frozen=True)
class Size:
    """How many people answer how many rows, at how many servers."""

    people: int = 32
    rows: int = 2000
    servers: int = 1


def crowd(folder: Path, db: str, size: Size, pace: float = 0.0) -> dict[str, float]:
    """Many people answer all rows at once, as fast as they can or at a pace, while fits run."""
    people, rows = size.people, size.rows
    many = Crowd(written(folder / "rows.csv", rows), pace)
    with ExitStack() as stack:
        line = ("rows.csv", "--classes", "yes,no", "--db", db)
        servers = [stack.enter_context(Server(*line, folder=folder)) for _ in range(size.servers)]
        for server in servers:
            server.person("person 0").ask()  # which waits for the first ranking
        started = sum(usage(one.process.pid).seconds for one in servers)
        began = time.perf_counter()
        threads = [
            threading.Thread(
                target=many.answer_all, args=(servers[i % size.servers], f"person {i}")
            )
            for i in range(people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        told = [Person(one.client(), "person 0").get("progress")["answered"] for one in servers]
        spent = sum(usage(one.process.pid).seconds for one in servers) - started
    assert not many.wrong, many.wrong[:3]
    assert told == [rows] * size.servers
    assert set(many.given) == set(range(rows))
    assert set(many.given.values()) == {1}, "a row was given twice"
    speed = {
        "servers": size.servers,
        "people": people,
        "rows": rows,
        "seconds to think": pace,
        "answers a second": round(rows / seconds),
        "processor time of the servers for a question and its answer, ms": round(
            1000 * spent / rows, 1
        ),
    }
    return {**speed, **_quantiles("ask", many.asks), **_quantiles("tell", many.tells)}


# ---------------------------------------------------------------- a long time
SOAKED, SOAKERS, CHECK = 20_000, 8, 40
"""Rows of the campaign, people at work, and check rows."""
GROWTH = 60.0
"""Megabytes that a server may grow after its first minutes: an event is kept as some 1 kB in memory
(five thousand answers in ten minutes), rows asked about are cached, and the allocator keeps what
large rankings took. A leak of a ranking of 20 000 rows each time would be gigabytes."""
HANDLES = 8
"""Handles that may come and go: connections of people and of the database."""


@dataclass(frozen=True)
class Minute:
    """What a minute was like: the server, its worker if it has one, and how long people waited."""

    server: Usage
    worker: Usage | None
    asks: list[float]
    tells: list[float]

    def line(self, number: int) -> str:
        """The minute in words."""
        shown = [f"minute {number}: server {_shown(self.server)}"]
        shown += [f"worker {_shown(self.worker)}"] if self.worker else []
        times = {**_quantiles("ask", self.asks), **_quantiles("tell", self.tells)}
        return "; ".join([*shown, *(f"{name} {figure}" for name, figure in times.items())])


def _shown(one: Usage) -> str:
    """What a process has, in words."""
    return f"{one.megabytes:.0f} MB, {one.handles} handles, {one.threads} threads"


def soak(
    folder: Path, db: str, minutes: float, pace: float, tell: Callable[[str], None] = print
) -> dict[str, float]:
    """People answer at a pace for a long time; memory and handles must stay as they are."""
    many = Crowd(written(folder / "rows.csv", SOAKED), pace or 1.0)
    line = ("rows.csv", "--classes", "yes,no", "--check", str(CHECK), "--db", db)
    seen, end = list[Minute](), threading.Event()
    with Server(*line, folder=folder) as server:
        server.person("person 0").ask()  # which waits for the first ranking
        threads = [
            threading.Thread(target=many.answer_all, args=(server, f"person {i}", end))
            for i in range(SOAKERS)
        ]
        for thread in threads:
            thread.start()
        for number in range(1, max(2, round(minutes)) + 1):
            time.sleep(60.0 * minutes / max(2, round(minutes)))
            seen.append(_minute(server, many))
            tell(seen[-1].line(number))
        end.set()
        for thread in threads:
            thread.join()
        told = server.person("person 0").get("progress")
    assert not many.wrong, many.wrong[:3]
    with Store.open(db, writes=False) as store:
        events = store.events()
    assert sum(many.given.values()) == told["answered"] == len({event.key for event in events})
    assert set(many.given.values()) == {1}, "a row was given twice"
    return flat(seen) | {"answers": len(events), "lost": 0}


def _minute(server: Server, many: Crowd) -> Minute:
    """The last minute."""
    asks, many.asks = many.asks, []
    tells, many.tells = many.tells, []
    pid = server.process.pid
    worker = next((usage(one) for one in workers(pid)), None)
    return Minute(usage(pid), worker, asks or [0.0], tells or [0.0])


def flat(seen: list[Minute]) -> dict[str, float]:
    """How much a server grew from the first third of its minutes to the last; it must be little."""
    third = max(1, len(seen) // 3)
    first, last = seen[:third], seen[-third:]
    memory = [float(np.median([one.server.megabytes for one in some])) for some in (first, last)]
    handles = [max(one.server.handles for one in some) for some in (first, last)]
    threads = max(one.server.threads for one in seen)
    assert memory[1] - memory[0] <= GROWTH, f"memory grew from {memory[0]} to {memory[1]} MB"
    assert handles[1] - handles[0] <= HANDLES, f"handles grew from {handles[0]} to {handles[1]}"
    return {
        "memory of the server, first third of the minutes, MB": round(memory[0], 1),
        "memory of the server, last third, MB": round(memory[1], 1),
        "handles, first third": handles[0],
        "handles, last third": handles[1],
        "threads at most": threads,
    }


# ---------------------------------------------------------------- processor time
COUNTED, FEW, MANY = 150, 100, 4000
"""Questions that are counted, and labels there are before."""


def cost(folder: Path, db: str, rows: int = 10_000) -> dict[str, float]:
    """Processor time that a server takes for a question and its answer, after few and many labels.

    Wall times would tell of the machine; the worker's own time is not counted.
    """
    truth, found = written(folder / "rows.csv", rows, 20), dict[str, float]()
    line, known = ("rows.csv", "--classes", "yes,no", "--db", db), 0
    with Server(*line, folder=folder):
        pass  # which begins the campaign
    for labels in (FEW, MANY):
        with Store.open(db) as store:
            store.append(
                [
                    Event(f"{row}", Kind.LABEL, f"person {row % 6}", row, row, truth[str(row + 1)])
                    for row in range(known, labels)
                ]
            )
        known = labels
        with Server(*line, folder=folder) as server:
            people = [server.person(f"person {i}") for i in range(6)]
            _answered(people, truth, len(people))
            until = time.monotonic() + 10 * PATIENCE
            while people[0].get("progress")["advice"]["reason"].startswith("The model has not"):
                assert time.monotonic() < until
                time.sleep(0.5)
            began = usage(server.process.pid).seconds
            _answered(people, truth, COUNTED)
            spent = (usage(server.process.pid).seconds - began) / COUNTED
        found[f"processor time of a question and its answer after {labels} labels, ms"] = round(
            1000 * spent, 2
        )
    return found


def _answered(people: list[Person], truth: dict[str, str], count: int) -> None:
    """Let people ask and answer in turn."""
    for number in range(count):
        person = people[number % len(people)]
        row = person.ask()["item"]["row"]
        person.say(row, truth[str(row + 1)], next=False)


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


@contextmanager
def _place(*, is_postgres: bool) -> Iterator[tuple[Path, str]]:
    """A folder, and the address of a database that is not there yet or empty."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        db = str(folder / "answers.db")
        if is_postgres:
            from support.postgres import fresh

            db = stack.enter_context(fresh())
        yield folder, db


def main() -> None:
    """Run what was asked for, and print its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["kills", "crowd", "soak", "cost", "question"])
    parser.add_argument("--times", type=int, default=200, help="of kills, in all jobs")
    parser.add_argument("--jobs", type=int, default=1, help="campaigns killed at the same time")
    parser.add_argument("--rows", type=int, default=10_000, help="of the file that is asked about")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds that people think")
    parser.add_argument("--servers", type=int, default=1, help="of a crowd, on PostgreSQL")
    parser.add_argument("--minutes", type=float, default=10.0, help="of a soak")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL of its own")
    asked = parser.parse_args()
    if asked.servers > 1 and not asked.postgres:
        parser.error("--servers must be 1 on SQLite; a file belongs to one server. Add --postgres.")
    if asked.what == "kills":
        found = parallel_kills(asked.times, asked.jobs, is_postgres=asked.postgres)
    else:
        with _place(is_postgres=asked.postgres) as (folder, db):
            size = Size(servers=asked.servers)
            run = {
                "crowd": lambda: crowd(folder, db, size, asked.pace),
                "soak": lambda: soak(folder, db, asked.minutes, asked.pace),
                "cost": lambda: cost(folder, db, asked.rows),
                "question": lambda: question(folder, asked.rows),
            }
            found = run[asked.what]()
    for name, figure in found.items():
        print(f"{name}: {figure}")  # noqa: T201 - its job


if __name__ == "__main__":
    main()
