"""A real server whose database, worker or visitors stand still: it says so, and Ctrl-C ends it."""

import os
import resource
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from support.processes import workers
from support.served import PATIENCE, Server, table
from support.services import until

from possibal.labelling.storage import database
from possibal.labelling.storage.store import Store
from possibal.labelling.storage.write_queue import MAX_WAITING

pytest_plugins = ["support.postgres"]
ELSEWHERE = os.environ.get("CI") != "true"
pytestmark = pytest.mark.skipif(ELSEWHERE and not Path("/proc/self").exists(), reason="needs /proc")
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "


@contextmanager
def few_files(soft: int):
    """What is started meanwhile may have so few files open."""
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)


def end(pid: int) -> None:
    """End a process that may be stopped, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.long
def test_static_files_and_reads_go_on_while_nobody_can_write(tmp_path, postgresql):
    table(tmp_path / "a.csv")
    line = ("a.csv", "--db", postgresql, "--classes", "yes,no")
    many = MAX_WAITING + 16
    with Server(*line, folder=tmp_path) as server, ThreadPoolExecutor(many) as threads:
        ann = server.person("ann")
        ann.ask()
        with psycopg.connect(postgresql) as other:  # as a paused server has it
            other.execute(f"SELECT pg_advisory_xact_lock({database.LOCK})")

            def say(row: int):
                given = {"key": uuid4().hex, "made": 1, "row": row % 40, "kind": "skip"}
                return ann.post("answer", **given)

            waiting = [threads.submit(say, row) for row in range(many)]
            for path in ("/", "/static/main.js", "/api/campaign", "/api/progress", "/api/history"):
                assert ann.client.get(path).status_code == 200
            replies = [one.result() for one in waiting]
            assert {reply.status_code for reply in replies} == {503}
            assert {reply.headers["retry-after"] for reply in replies} == {"2"}
            late = [threads.submit(say, row) for row in range(8)]
            server.process.send_signal(signal.SIGINT)
            assert server.process.wait(PATIENCE) == 0
            assert all(one.exception() or one.result().status_code == 503 for one in late)
    told = server.log.read_text()
    assert "Traceback" not in told
    assert len(told.splitlines()) < 60
    with Store.open(postgresql, writes=False) as store:
        assert store.events() == []


def test_ctrl_c_ends_a_server_whose_worker_hangs(tmp_path):
    table(tmp_path / "a.csv")
    with Server("a.csv", "--classes", "yes,no", folder=tmp_path) as server, ExitStack() as stack:
        ann = server.person("ann")
        row = ann.ask()["item"]["row"]
        until(lambda: workers(server.process.pid), PATIENCE)
        (worker,) = workers(server.process.pid)
        os.kill(worker, signal.SIGSTOP)
        stack.callback(end, worker)
        assert ann.say(row, "yes")["question"] is not None  # nobody waits for it
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE) == 0
        until(lambda: not Path(f"/proc/{worker}").exists(), PATIENCE)


@pytest.mark.long
def test_answers_are_kept_however_many_connections_are_half_open(tmp_path):
    table(tmp_path / "a.csv")
    with few_files(256):
        server = Server("a.csv", "--classes", "yes,no", folder=tmp_path)
    with server, ExitStack() as stack:
        port = int(server.base.rpartition(":")[2])
        for _ in range(300):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            line.sendall(HALF)
        ann = server.person("ann")
        for _ in range(5):
            ann.say(ann.ask()["item"]["row"], "yes")
        assert server.person("bob").ask() is not None
        assert ann.get("progress")["answered"] == 5
        told = server.stop()
    assert "Traceback" not in told
    assert len(told.splitlines()) < 60
