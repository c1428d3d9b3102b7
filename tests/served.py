"""A real server in a process of its own, and people who answer over HTTP."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx

import possibal

HERE = {**os.environ, "PYTHONPATH": str(Path(possibal.__file__).parents[1])}
PATIENCE = 60.0
ADDRESS = re.compile(r"(http://\S+/)\?token=(\S+)")


class Server:
    """``possibal label`` with some arguments, in a folder."""

    def __init__(self, *arguments: str, folder: Path) -> None:
        self.log = folder / f"server-{uuid4().hex[:8]}.log"
        line = [sys.executable, "-m", "possibal", "label", *arguments, "--no-browser", "--port", "0"]
        began = time.monotonic()
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(  # noqa: S603 - our own code
                line, cwd=folder, env=HERE, stdout=out, stderr=out, start_new_session=True
            )
        found = self._found()
        self.seconds = time.monotonic() - began
        self.base, self.token = found[1].rstrip("/"), found[2]
        self.url = found[0]

    def _found(self) -> re.Match[str]:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            said = self.log.read_text(encoding="utf-8")
            found = ADDRESS.search(said)
            if found:
                return found
            if self.process.poll() is not None:
                raise RuntimeError(said)
            time.sleep(0.02)
        raise TimeoutError(self.log.read_text(encoding="utf-8"))

    def client(self) -> httpx.Client:
        """A browser that has opened the address."""
        client = httpx.Client(base_url=self.base, timeout=PATIENCE)
        assert client.get("/", params={"token": self.token}, follow_redirects=True).is_success
        return client

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

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


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
