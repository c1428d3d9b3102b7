"""A real Label Studio on this machine, in an environment of its own, and its HTTP interface."""

import os
import secrets
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import httpx

PROGRAM = Path(os.environ.get("POSSIBAL_LABEL_STUDIO", ".label-studio/bin/label-studio"))
"""Where `make label-studio` puts it."""
RUNNING = os.environ.get("POSSIBAL_LABEL_STUDIO_URL", "")
"""Of one that is running already, as http://:TOKEN@127.0.0.1:8080; started anew if left out."""
PATIENCE = 900.0  # it makes a few hundred tables at its first start
OWNER = "owner@example.org"


class LabelStudio:
    """A server with an empty database in a folder, and its owner."""

    def __init__(self, folder: Path) -> None:
        """Start it on loopback, and wait until it answers."""
        self.log, self.process = folder / "label-studio.log", None
        if RUNNING:
            found = httpx.URL(RUNNING)
            self.base, self.token = str(found.copy_with(username="", password="")), found.password
        else:
            self._start(folder)
        self.client = httpx.Client(
            base_url=self.base, timeout=120, headers={"Authorization": f"Token {self.token}"}
        )
        try:
            self._await()
        except BaseException:
            self.stop()
            raise

    def _start(self, folder: Path) -> None:
        with socket.socket() as line:
            line.bind(("127.0.0.1", 0))
            port = line.getsockname()[1]
        self.base, self.token = f"http://127.0.0.1:{port}", secrets.token_hex(20)
        known = {
            "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
            "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
            "ML_BLOCK_LOCAL_IP": "false",  # our backend is on this machine
            "SSRF_PROTECTION_ENABLED": "false",
            "COLLECT_ANALYTICS": "false",
            "SENTRY_DSN": "",
            "FRONTEND_SENTRY_DSN": "",
        }
        line = [str(PROGRAM.absolute()), "start", "--no-browser", "--internal-host", "127.0.0.1"]
        line += ["--port", str(port), "--username", OWNER, "--password", secrets.token_hex(12)]
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(  # noqa: S603 - started for this test
                [*line, "--user-token", self.token],
                cwd=folder,
                env={**os.environ, **known},
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def _await(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and (self.process is None or self.process.poll() is None):
            try:
                if self.client.get("/api/current-user/whoami").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.5)
        raise TimeoutError(
            self.log.read_text(encoding="utf-8")[-4000:] if self.process else RUNNING
        )

    def ask(self, method: str, path: str, **body: Any) -> Any:
        """What the interface answers, if it does what it is asked."""
        reply = self.client.request(method, f"/api{path}", **body)
        assert reply.is_success, (path, reply.status_code, reply.text[:2000])
        return reply.json() if reply.content else None

    def project(self, interface: str, title: str = "reviews") -> int:
        """A new project whose next task is the one with the least score."""
        given = {"title": title, "label_config": interface, "sampling": "Uncertainty sampling"}
        return self.ask("POST", "/projects", json=given)["id"]

    def next_task(self, project: int) -> dict:
        """The task that is asked next."""
        return self.ask("GET", f"/projects/{project}/next")

    def tasks(self, project: int) -> list[dict]:
        """All tasks, with their predictions."""
        found = self.ask("GET", f"/tasks?project={project}&page_size=1000&fields=all")
        return found["tasks"]

    def annotate(self, task: int, result: list, **more: Any) -> dict:
        """An annotation of the owner's."""
        given = {"result": result, **more}
        return self.ask("POST", f"/tasks/{task}/annotations", json=given)

    def exported(self, project: int) -> bytes:
        """The annotations of a project as JSON, as its button downloads them."""
        reply = self.client.get(f"/api/projects/{project}/export?exportType=JSON")
        assert reply.is_success, reply.text
        return reply.content

    def stop(self) -> None:
        """End it."""
        self.client.close()
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def is_there() -> bool:
    """Whether there is one to test with."""
    return bool(RUNNING) or PROGRAM.exists()


def choice(label: str) -> list[dict]:
    """A class as a result, as the labelling interface makes it."""
    value = {"choices": [label]}
    return [{"from_name": "label", "to_name": "text", "type": "choices", "value": value}]
