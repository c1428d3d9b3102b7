"""A real server in a process of its own, people who answer over HTTP, and the page in here."""

import asyncio
import json
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Self
from uuid import uuid4

import httpx
import numpy as np
from PIL import Image

import possibal
from possibal.cli import main
from possibal.data.ingest import SourceSpec, ingest_file
from possibal.labelling.access import AccessControl
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.invitations import Role
from possibal.labelling.web.routes import create_app
from possibal.labelling.web.security import SecurityMiddleware, ServedHosts

HERE = {**os.environ, "PYTHONPATH": str(Path(possibal.__file__).parents[1])}
PATIENCE = 60.0
SESSION, PICTURES, HOST = "5" * 64, "9" * 64, "127.0.0.1:8765"
ADDRESS = re.compile(r"Label at ((https?://\S+)/#join=([\w-]+))\s")


class Server:
    """``possibal label`` with some arguments, in a folder."""

    def __init__(
        self,
        *arguments: str,
        folder: Path,
        patience: float = PATIENCE,
        port: int | None = 0,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start it, at any port, or at that of last time if none is named."""
        self.patience = patience
        self.log = folder / f"server-{uuid4().hex[:8]}.log"
        line = [
            sys.executable,
            "-m",
            "possibal",
            "label",
            *arguments,
            "--no-browser",
            *(() if port is None else ("--port", str(port))),
        ]
        began = time.monotonic()
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(  # noqa: S603 - our own code
                line,
                cwd=folder,
                env={**HERE, **(env or {})},
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        found = self._found()
        self.seconds = time.monotonic() - began
        self.url, self.base, self.code = found.groups()
        self._secrets, self._is_in = (secrets.token_hex(32), secrets.token_hex(32)), False
        self._clients, self._joining = list[httpx.Client](), Lock()

    def _found(self) -> re.Match[str]:
        end = time.monotonic() + self.patience
        while time.monotonic() < end:
            said = self.log.read_text(encoding="utf-8")
            found = ADDRESS.search(said)
            if found and "Stop with Ctrl-C." in said:  # all was printed
                return found
            if self.process.poll() is not None:
                raise RuntimeError(said)
            time.sleep(0.02)
        raise TimeoutError(self.log.read_text(encoding="utf-8"))

    @property
    def session(self) -> tuple[str, str]:
        """The session of the owner, and the key of pictures; the address is exchanged once."""
        with self._joining:
            if not self._is_in:
                joined(self.base, self.code, self._secrets)
                self._is_in = True
            return self._secrets

    def client(self) -> httpx.Client:
        """A browser that has opened the address."""
        known = {"Authorization": f"Bearer {self.session[0]}"}
        client = httpx.Client(base_url=self.base, timeout=PATIENCE, headers=known)
        self._clients.append(client)
        return client

    def invited(self, who: str, role: str = "annotator") -> "Person":
        """Somebody whom the owner invited."""
        reply = self.client().post("/api/invite", json={"who": who, "role": role})
        assert reply.is_success, reply.text
        session, _ = joined(self.base, reply.json()["code"])
        client = self.client()
        client.headers["Authorization"] = f"Bearer {session}"
        return Person(client, who)

    def person(self, who: str) -> "Person":
        return Person(self.client(), who)

    def kill(self) -> None:
        """End it at once, as a loss of power would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> str:
        """End it as Ctrl-C would; what it printed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(PATIENCE)
        return self.log.read_text(encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def joined(base: str, code: str, drawn: tuple[str, str] | None = None) -> tuple[str, str]:
    """The session and the key of pictures that an invitation was exchanged for.

    As browsers do, it is tried again while the database is away; with the same secrets that is
    harmless.
    """
    session, pictures = drawn or (secrets.token_hex(32), secrets.token_hex(32))
    given = {"code": code, "session": session, "pictures": pictures}
    end = time.monotonic() + PATIENCE
    while True:
        reply = httpx.post(f"{base}/api/join", json=given, timeout=PATIENCE, trust_env=False)
        if reply.status_code != 503 or time.monotonic() > end:
            assert reply.is_success, reply.text
            return session, pictures
        time.sleep(0.1)


@dataclass
class Person:
    """Somebody who answers."""

    client: httpx.Client
    who: str
    made: int = 0
    seconds: list[float] = field(default_factory=list)

    def now(self) -> int:
        self.made = max(self.made + 1, time.time_ns() // 1_000_000)
        return self.made

    def post(self, verb: str, **given):
        began = time.perf_counter()
        answer = self.client.post(f"/api/{verb}", json={"who": self.who, **given})
        self.seconds.append(time.perf_counter() - began)
        return answer

    def ask(self, row: int | None = None):
        found = self.post("ask", row=row)
        assert found.is_success, found.text
        return found.json()["question"]

    def say(self, row: int, label: str | None, kind: str = "label", **more):
        given = {"key": uuid4().hex, "made": self.now(), "next": True, **more}
        found = self.post("answer", row=row, kind=kind, label=label, **given)
        assert found.is_success, found.text
        return found.json()

    def undo(self, target: str | None = None):
        found = self.post("undo", key=uuid4().hex, made=self.now(), target=target)
        assert found.is_success, found.text
        return found.json()

    def get(self, path: str, **query):
        found = self.client.get(f"/api/{path}", params=query)
        assert found.is_success, found.text
        return found.json()

    def await_ranking(self) -> None:
        """Wait until the model has learnt from all answers."""
        until = time.monotonic() + PATIENCE
        while self.get("progress")["fitting"]:
            assert time.monotonic() < until
            time.sleep(0.05)


# ---------------------------------------------------------------- sources
def table(path: Path, rows: int = 40, columns: int = 3, seed: int = 0) -> Path:
    """A file of numbers; those of the first column tell the class."""
    X = np.random.default_rng(seed).normal(size=(rows, columns))
    heads = ",".join(f"x{place}" for place in range(columns))
    lines = [",".join(f"{cell:.4f}" for cell in row) for row in X]
    path.write_text("\n".join([heads, *lines, ""]), encoding="utf-8")
    return path


def truth(question) -> str:
    """The class of a row of such a file."""
    first = {cell["name"]: cell["value"] for cell in question["item"]["fields"]}["x0"]
    return "no" if first.startswith("-") else "yes"


def pictures(folder: Path, count: int = 8) -> Path:
    """A folder of pictures, half of them dark."""
    folder.mkdir()
    for number in range(count):
        shade = 40 + number if number % 2 else 200 + number
        Image.new("RGB", (16, 16), (shade, shade, number)).save(folder / f"{number:02}.png")
    return folder


# ---------------------------------------------------------------- in here
@contextmanager
def service_of(
    wanted: SourceSpec, db: Path, options: Options | None = None
) -> Generator[LabellingService]:
    """A labelling service in this process that ranks when it is asked."""
    intake = ingest_file(wanted, lambda _words, _share: None)
    with create_campaign(str(db), intake, options or Options()) as store:
        read_model, setup = ReadModel(store), store.setup()
        ranker = InProcessRanker(read_model.X, setup.strategy, setup.seed)
        scheduler = RankingScheduler(read_model, ranker, background=False)
        yield LabellingService(read_model, scheduler)
        scheduler.close()


def let_in(
    service: LabellingService, role: Role = Role.OWNER, who: str | None = None, of: str = SESSION
) -> AccessControl:
    """Who may come in to a service: somebody whose browser holds these secrets."""
    access = AccessControl(service.store)
    if access.visitor(of) is None:
        access.join(access.invite(who, role), of, PICTURES if of == SESSION else of[::-1])
    return access


def secured(service: LabellingService, *names: str) -> SecurityMiddleware:
    """The page of a service behind the security middleware; an owner is in."""
    access = let_in(service)
    return SecurityMiddleware(create_app(service, access), access, ServedHosts.of(names, tls=False))


@dataclass(frozen=True)
class Reply:
    """What an application sent."""

    status: int
    headers: httpx.Headers
    body: bytes
    error: Exception | None

    def json(self):
        return json.loads(self.body)


def send(app, method: str, target: str, headers=(), chunks: tuple[bytes, ...] = (b"",)) -> Reply:
    """What an application sends for a request, whatever its headers; a name may come twice."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), text.encode("latin-1")) for name, text in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8765),
    }
    waiting, sent = list(chunks), list[dict]()

    async def receive():
        if not chunks:
            return {"type": "http.disconnect"}
        if not waiting:
            await asyncio.Event().wait()  # whoever asked stays on the line
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def note(message):
        sent.append(message)

    error = None
    try:
        asyncio.run(app(scope, receive, note))
    except Exception as raised:  # noqa: BLE001 - servers log it and go on
        error = raised
    if not sent:
        return Reply(0, httpx.Headers(), b"", error)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Reply(sent[0]["status"], httpx.Headers(sent[0]["headers"]), body, error)


KNOWN = (("Host", HOST), ("Authorization", f"Bearer {SESSION}"))
"""Headers of somebody who was let in."""


def post(app, verb: str, content, kind: str = "application/json") -> Reply:
    """The reply to what somebody sends who was let in; text is sent as it stands."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return send(app, "POST", f"/api/{verb}", (*KNOWN, ("Content-Type", kind)), (body,))


def get(app, target: str) -> Reply:
    """The same for what somebody wants to see."""
    return send(app, "GET", target, KNOWN)


def run(*arguments: str, folder: Path, code: str = "") -> "subprocess.CompletedProcess[str]":
    """``possibal`` with arguments with which it ends by itself, or some lines of code instead."""
    return subprocess.run(  # noqa: S603 - our own code
        [sys.executable, *(("-c", code) if code else ("-m", "possibal", *arguments))],
        cwd=folder,
        env=HERE,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def free_port() -> int:
    """A port that nobody listens on.

    It is below those that systems give to whoever connects: somebody who keeps trying to connect
    to one of those may one day be given that very port, and be connected to themselves.
    """
    while True:
        port = random.randrange(20_000, 30_000)  # noqa: S311 - no secret
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def is_there(base: str, is_over: Event) -> bool:
    """Whether a server answers before all is over; the environment may still be changing."""
    while not is_over.is_set():
        try:
            httpx.get(base, timeout=PATIENCE, trust_env=False)
        except httpx.TransportError:
            time.sleep(0.02)
        else:
            return True
    return False


def visited(visit: Callable[[str], Any], *arguments: str) -> tuple[int, Any]:
    """The exit code of ``possibal label`` in this process, which somebody visits and then stops.

    Args:
        visit: what they do, given the address of the server without an invitation.
        arguments: of the command.
    """
    port, found, is_over = free_port(), list[Any](), Event()
    base = f"http://127.0.0.1:{port}"

    def come_and_go() -> None:
        try:
            if is_there(base, is_over):
                found.append(visit(base))
        finally:
            if not is_over.is_set():
                signal.raise_signal(signal.SIGINT)

    visitor = Thread(target=come_and_go)
    visitor.start()
    try:
        code = main.main(["label", *arguments, "--port", str(port), "--no-browser"])
    finally:
        is_over.set()
        visitor.join()
    return code, found[0] if found else None
