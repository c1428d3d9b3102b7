"""Several servers of one campaign on a PostgreSQL, with faults, and a checker after Jepsen.

    PYTHONPATH=tests python -m system.cluster --minutes 5 --servers 3 --people 2 --seed 1

People answer, edit, skip, undo and settle at any of the servers. Meanwhile servers are paused for
longer than the database waits for them, killed and started again, lose their ranking worker, have
their clocks put wrong, and PostgreSQL itself is stopped at once and started again. Then
:mod:`support.histories` checks what everybody heard against the journal, and all servers must show
what a replay of the journal says. The seed decides who does what and what goes wrong, not when the
processes come to it.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from support import postgres
from support.histories import Attempt, Outcome, violations
from support.processes import workers
from support.served import HERE, Person, Server, table

from possibal.labelling.storage import database
from possibal.labelling.storage.journal import Event, replay
from possibal.labelling.storage.store import Store

SKEW = Path(__file__).parents[1] / "support" / "skew"
CLASSES = ("yes", "no")
PAUSE = database.ABANDONED + 1.0
"""Seconds that a server is paused: longer than the database waits for it."""
SKEWS = (-86_400, -300, 300, 86_400)
"""Seconds by which a clock is put wrong."""
ANSWERED = 45.0
"""Seconds in which a request must be answered, with what it may wait for the database: to be
reached, to be locked by others, to end what stands still; and what a busy machine takes."""
IMPATIENT = 2.0
"""Seconds after which some people try another server, while the first may still do it."""
RETRY = 0.3
"""Seconds before what was not done is tried again."""
PATIENT, MOVES = 0.5, 0.2
"""Share of requests that somebody waits for, and of those that go to another server."""


# ---------------------------------------------------------------- servers
class Node:
    """A place where a server runs, with a clock of its own."""

    def __init__(self, number: int, folder: Path, arguments: tuple[str, ...]) -> None:
        """Start it; its log is in a folder of its own."""
        self.number, self.lock, self._folder = number, threading.Lock(), folder / str(number)
        self._folder.mkdir()
        table(self._folder / "rows.csv", rows=ROWS)
        self._clock, self._arguments = self._folder / "clock", arguments
        self.put_clock(0)
        self.server: Server | None = None
        self.started = list[Server]()
        self.disturbed = list[tuple[float, float]]()
        """When it was paused, killed or not there."""
        self.start()

    def start(self) -> None:
        """Start the server; where the database is away, again."""
        paths = os.pathsep.join([HERE["PYTHONPATH"], str(SKEW)])
        env = {"PYTHONPATH": paths, "POSSIBAL_SKEW": str(self._clock)}
        while self.server is None:
            with suppress(RuntimeError):
                self.server = Server(*self._arguments, folder=self._folder, env=env)
                self.started.append(self.server)

    def put_clock(self, seconds: int) -> None:
        """Let its clock be wrong by so much."""
        self._clock.write_text(str(seconds), encoding="ascii")

    def send(self, what: signal.Signals) -> None:
        """Send its server a signal."""
        if self.server is not None:
            self.server.process.send_signal(what)

    def kill(self) -> None:
        """End its server at once."""
        server, self.server = self.server, None
        if server is not None:
            server.kill()

    def close(self) -> None:
        """End its server, and the connections to all that it had."""
        for server in self.started:
            server.__exit__()


@dataclass(frozen=True)
class Cluster:
    """Servers of one campaign and their database."""

    nodes: tuple[Node, ...]
    engine: postgres.Server
    db: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the database is stopped."""


ROWS = 300
"""Of the campaign."""


# ---------------------------------------------------------------- faults
def pause(cluster: Cluster, rng: random.Random) -> None:
    """Stop a server for longer than the database waits for it."""
    node = rng.choice(cluster.nodes)
    with node.lock:
        node.send(signal.SIGSTOP)
        began = time.monotonic()
        time.sleep(PAUSE)
        node.send(signal.SIGCONT)
        node.disturbed.append((began, time.monotonic()))


def kill(cluster: Cluster, rng: random.Random) -> None:
    """Kill a server, and start it again."""
    node = rng.choice(cluster.nodes)
    with node.lock:
        began = time.monotonic()
        node.kill()
        node.start()
        node.disturbed.append((began, time.monotonic()))


def kill_worker(cluster: Cluster, rng: random.Random) -> None:
    """Kill the process that ranks for a server."""
    server = rng.choice(cluster.nodes).server
    for pid in [] if server is None else workers(server.process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def restart_database(cluster: Cluster, rng: random.Random) -> None:
    """Stop PostgreSQL at once, and start it again after a while."""
    with cluster.lock:
        cluster.engine.stop()
        time.sleep(rng.uniform(0.0, 2.0))
        cluster.engine.listen()


def put_clock_wrong(cluster: Cluster, rng: random.Random) -> None:
    """Put the clock of a server wrong for a while."""
    node = rng.choice(cluster.nodes)
    node.put_clock(rng.choice(SKEWS))
    time.sleep(rng.uniform(2.0, 4.0))
    node.put_clock(0)


FAULTS: dict[str, Callable[[Cluster, random.Random], None]] = {
    "pauses of a server": pause,
    "kills of a server": kill,
    "kills of a worker": kill_worker,
    "restarts of PostgreSQL": restart_database,
    "clocks put wrong": put_clock_wrong,
}
APART = "pauses of a server"
"""The fault that takes longest: it goes on while others come and go."""


def disturb(cluster: Cluster, rng: random.Random, seconds: float, names: list[str]) -> Counter[str]:
    """Let things go wrong for so long, each as often, and at least once; how often each did."""
    happened, until = Counter[str](), time.monotonic() + seconds
    while time.monotonic() < until or len(happened) < len(names):
        time.sleep(rng.uniform(0.2, 1.5))
        least = min(happened[name] for name in names)
        name = rng.choice([one for one in names if happened[one] == least])
        FAULTS[name](cluster, rng)
        happened[name] += 1
    return happened


# ---------------------------------------------------------------- people
@dataclass
class Client:
    """Somebody who works at any of the servers, one request at a time."""

    who: str
    cluster: Cluster
    rng: random.Random
    history: list[Attempt] = field(default_factory=list)
    said: dict[str, int] = field(default_factory=dict)
    """Rows that were spoken of, by the key of what was said."""
    _people: dict[int, tuple[Server, Person]] = field(default_factory=dict)
    _made: int = 0
    _home: Node | None = None

    def work(self, end: threading.Event) -> None:
        """Do this and that until the end."""
        while not end.is_set():
            self.rng.choices(
                [self.answer, self.edit, self.undo, self.settle, self.choose],
                weights=[12, 2, 2, 1, 1],
            )[0]()
            time.sleep(self.rng.uniform(0.0, 0.2))

    # ------------------------------------------------------------ what people do

    def answer(self) -> None:
        """Ask, think, and answer."""
        row = self._done("ask", "ask")
        if row is not None:
            time.sleep(self.rng.uniform(0.0, 0.3))
            kind = self.rng.choices(["label", "skip", "unsure", "bad"], weights=[20, 3, 1, 1])[0]
            self._say(kind, row)

    def choose(self) -> None:
        """Pick a row, and answer it if it is free."""
        row = self._done("choose", "ask", row=self.rng.randrange(ROWS))
        if row is not None:
            self._say("label", row)

    def edit(self) -> None:
        """Say something else of a row."""
        if self.said:
            self._say("edit", self.rng.choice(list(self.said.values())))

    def settle(self) -> None:
        """Settle the class of some row, whoever spoke of it."""
        self._say("settle", self.rng.randrange(ROWS))

    def undo(self) -> None:
        """Take something back: the last, or something earlier."""
        if self.said:
            target = self.rng.choice([None, self.rng.choice(list(self.said))])
            self._done("undo", "undo", key=self._key(), made=self._now(), target=target)

    def _say(self, kind: str, row: int) -> None:
        """Say something of a row."""
        label = self.rng.choice(CLASSES) if kind in {"label", "edit", "settle"} else None
        given = {"key": self._key(), "made": self._now(), "row": row, "kind": kind, "label": label}
        self._done(kind, "answer", **given)
        self.said[given["key"]] = row

    def _key(self) -> str:
        """A new key."""
        return UUID(int=self.rng.getrandbits(128)).hex

    def _now(self) -> int:
        """A time later than any before."""
        self._made = max(self._made + 1, time.time_ns() // 1_000_000)
        return self._made

    # ------------------------------------------------------------ how it is sent

    def _done(self, verb: str, path: str, **given: Any) -> int | None:
        """The row that comes back once something is done, at whichever server."""
        while True:
            if self._home is None or self.rng.random() < MOVES:
                self._home = self.rng.choice(self.cluster.nodes)
            attempt = self._attempt(self._home, verb, path, given)
            if attempt is not None:
                self.history.append(attempt)
                if attempt.outcome in {Outcome.DONE, Outcome.REFUSED}:
                    return attempt.row if attempt.is_done else None
            self._home = None
            time.sleep(self.rng.uniform(0.0, RETRY))

    def _attempt(self, node: Node, verb: str, path: str, given: dict[str, Any]) -> Attempt | None:
        """What came of sending something to a server; None if nobody was there to send it to."""
        person = self._person(node)
        if person is None:
            return None
        is_patient = verb == "choose" or self.rng.random() < PATIENT
        person.client.timeout = ANSWERED + PAUSE if is_patient else IMPATIENT
        row, began, outcome = given.get("row"), time.monotonic(), Outcome.UNKNOWN
        try:
            reply = person.post(path, **given)
            outcome = _outcome(reply)
            if outcome is Outcome.DONE and path != "answer":
                row = _row(reply)
            if outcome is Outcome.DONE and path == "undo" and reply.json()["target"] is None:
                outcome = Outcome.REFUSED  # there was nothing to take back
        except httpx.TimeoutException:
            outcome = Outcome.LATE if is_patient else Outcome.UNKNOWN
        except httpx.TransportError:
            self._people.pop(node.number)
        ended = time.monotonic()
        words = (given.get(name) for name in ("key", "label", "target"))
        return Attempt(self.who, verb, began, ended, outcome, row, *words, node.number)

    def _person(self, node: Node) -> Person | None:
        """This person at a server; None while it is not there."""
        server = node.server
        known = self._people.get(node.number)
        if known is not None and known[0] is server:
            return known[1]
        if server is None:
            return None
        with suppress(httpx.TransportError):
            self._people[node.number] = server, server.person(self.who)
            return self._people[node.number][1]
        return None


def _outcome(reply: httpx.Response) -> Outcome:
    """What a reply means; anything else than these is a fault of the server."""
    if reply.status_code == 503:
        assert reply.headers["retry-after"], reply.text
        return Outcome.AWAY
    assert reply.status_code in {200, 409}, f"{reply.status_code}: {reply.text}"
    return Outcome.DONE if reply.is_success else Outcome.REFUSED


def _row(reply: httpx.Response) -> int | None:
    """The row that came back."""
    question = reply.json()["question"]
    return question and question["item"]["row"]


# ---------------------------------------------------------------- what is shown at the end
def shown(server: Server) -> dict[str, Any]:
    """What a server shows: labels, conflicts, progress, and which actions hold and count."""
    person = server.person("nobody")
    told = person.get("progress")
    return {
        "labels": {one["row"]: one["label"] for one in person.get("map")["points"] if one["label"]},
        "conflicts": {
            one["item"]["row"]: one["settled"] for one in person.get("conflicts")["rows"]
        },
        "progress": [told[name] for name in ("answered", "left", "unsure", "bad", "balance")],
        "people": {one["who"]: one["answers"] for one in told["people"]},
        "history": {one["key"]: (one["holds"], one["counts"]) for one in _entries(person)},
    }


def _entries(person: Person) -> Iterator[dict[str, Any]]:
    """The whole history, as the page shows it."""
    before, more = 2**53, True
    while more:
        page = person.get("history", before=before, limit=200)
        yield from page["entries"]
        more, before = page["more"], min((one["number"] for one in page["entries"]), default=0)


def disagreements(found: list[dict[str, Any]], journal: list[Event]) -> list[str]:
    """Where servers show something else than the first, or than a replay of the journal."""
    state = replay(journal)
    history = {e.key: (state.holds(e), state.counts(e)) for e in journal if e.row is not None}
    replayed = found[0] | {"labels": state.labels, "history": history}
    return [
        f"server {number} shows {name} otherwise: {json.dumps(one[name])[:300]}"
        for number, one in enumerate(found)
        for name in replayed
        if one[name] != replayed[name]
    ]


# ---------------------------------------------------------------- a run
@dataclass(frozen=True)
class Run:
    """What happened.

    Attributes:
        history: all attempts.
        journal: all events.
        faults: how often each happened.
        wrong: what must not be.
    """

    history: list[Attempt]
    journal: list[Event]
    faults: Counter[str]
    wrong: list[str]

    def figures(self) -> dict[str, object]:
        """What a reader wants to know of it."""
        heard = Counter(one.outcome.value for one in self.history)
        longest = max((one.ended - one.began for one in self.history), default=0.0)
        return {
            "requests": len(self.history),
            **{f"requests {name}": count for name, count in sorted(heard.items())},
            "longest request, s": round(longest, 1),
            "rows given": sum(one.is_grant for one in self.history),
            "events in the journal": len(self.journal),
            **dict(sorted(self.faults.items())),
            "violations": len(self.wrong),
        }


def run(folder: Path, seconds: float, *, servers: int, people: int, seed: int) -> Run:
    """Let people work and things go wrong for a while, then check all of it."""
    with ExitStack() as stack:
        engine = stack.enter_context(postgres.running())
        db = stack.enter_context(postgres.database(engine))
        line = ("rows.csv", "--classes", ",".join(CLASSES), "--people", str(people), "--db", db)
        nodes = list[Node]()
        for number in range(servers):
            nodes.append(Node(number, folder, line))
            stack.callback(nodes[-1].close)
        cluster = Cluster(tuple(nodes), engine, db)
        history, faults, failed = _worked(cluster, seconds, seed)
        found = [shown(node.server) for node in nodes if node.server is not None]
        with Store.open(db, writes=False) as store:
            journal = store.events()
    logs = [one.log.read_text(encoding="utf-8") for node in nodes for one in node.started]
    tracebacks = [f"a server printed {log[-2000:]}" for log in logs if "Traceback" in log]
    wrong = [*failed, *violations(history, journal, people), *disagreements(found, journal)]
    wrong += _late(history, nodes) + tracebacks
    return Run(history, journal, faults, wrong)


def _worked(
    cluster: Cluster, seconds: float, seed: int
) -> tuple[list[Attempt], Counter[str], list[str]]:
    """The history of people at work while things go wrong, and what went wrong with whom."""
    end, faults, failed = threading.Event(), Counter[str](), list[str]()
    clients = [
        Client(f"person {i}", cluster, random.Random(f"{seed} {i}"))  # noqa: S311 - no secret
        for i in range(CLIENTS)
    ]

    def guarded(action: Callable[[], object]) -> threading.Thread:
        """A thread of which is told if it fails."""

        def go() -> None:
            try:
                action()
            except BaseException as error:  # noqa: BLE001 - threads tell nobody
                failed.append(f"{error!r}")

        thread = threading.Thread(target=go)
        thread.start()
        return thread

    def disturbing(names: list[str], number: int) -> None:
        rng = random.Random(f"{seed} fault {number}")  # noqa: S311 - no secret
        faults.update(disturb(cluster, rng, seconds, names))

    working = [guarded(lambda one=client: one.work(end)) for client in clients]
    brief = [name for name in FAULTS if name != APART]
    nemeses = [
        guarded(lambda: disturbing([APART], 0)),
        guarded(lambda: disturbing(brief, 1)),
    ]
    for thread in nemeses:
        thread.join()
    end.set()
    for thread in working:  # what was begun is ended, with all that it needs there
        thread.join()
    return [one for client in clients for one in client.history], faults, failed


def _late(history: list[Attempt], nodes: list[Node]) -> list[str]:
    """Requests that took longer than they may, besides the time in which their server was away."""
    found = list[str]()
    for one in history:
        node = nodes[one.server]
        away = sum(
            max(0.0, min(one.ended, end) - max(one.began, start)) for start, end in node.disturbed
        )
        took = one.ended - one.began - away
        if took > ANSWERED:
            found.append(f"{one.verb} of {one.who} took {took:.1f} s at server {one.server}")
    return found


CLIENTS = 8
"""People at work."""


def main() -> int:
    """Run for as long as was asked, and print what happened."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--people", type=int, default=2, help="who are to answer each row")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = run(
            Path(folder),
            60.0 * asked.minutes,
            servers=asked.servers,
            people=asked.people,
            seed=asked.seed,
        )
    for name, figure in done.figures().items():
        print(f"{name}: {figure}")  # noqa: T201 - its job
    for sentence in done.wrong[:20]:
        print(sentence)  # noqa: T201 - its job
    return 1 if done.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
