"""Connections that ask nothing: bounded in number and in time, by real sockets."""

import resource
import signal
import socket
from contextlib import ExitStack, closing
from threading import Event, Thread

import httpx
import pytest
from support.served import PATIENCE, SESSION, let_in, service_of, table

from possibal.data.ingest import SourceSpec
from possibal.labelling.web import connections
from possibal.labelling.web.connections import LEAST, MOST, BoundedConnection, most_connections
from possibal.labelling.web.server import Address, Server

HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("connections")
    with service_of(SourceSpec(table(folder / "a.csv")), folder / "a.db") as made:
        yield made


def visited(service, visit):
    """What a visitor finds at a server, given its port and its origin; then it is stopped."""
    server, found = Server(Address(port=0)), []
    port, access = server.port, let_in(service)

    def come_and_go() -> None:
        try:
            httpx.get(f"http://127.0.0.1:{port}", timeout=PATIENCE, trust_env=False)
            found.append(visit(port, server.origin))
        finally:
            signal.raise_signal(signal.SIGINT)

    visitor = Thread(target=come_and_go)
    visitor.start()
    with closing(server):
        server.run(service, access)
    visitor.join()
    return found[0]


def opened(stack: ExitStack, port: int, said: bytes = HALF) -> socket.socket:
    """A connection on which something was said."""
    made = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
    made.sendall(said)
    return made


def is_over(line: socket.socket) -> bool:
    """Whether the other end has ended a connection; it is waited for."""
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True


def reply(line: socket.socket) -> bytes:
    """The first words of a reply that is an object, read to its end."""
    said = b""
    while not said.endswith(b"}"):
        said += line.recv(1000)
    return said[:12]


def request(port: int) -> bytes:
    """The start of a request by somebody who was let in; its body has still to come."""
    lines = (
        "POST /api/renew HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Authorization: Bearer {SESSION}",
        "Content-Type: application/json",
        "Content-Length: 13",
        "",
        '{"who"',
    )
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize("said", [b"", b"GET", HALF])
def test_a_connection_that_asks_nothing_ends(service, monkeypatch, said):
    monkeypatch.setattr(connections, "ARRIVAL", 0.1)

    def visit(port, _url):
        with ExitStack() as stack:
            return is_over(opened(stack, port, said))

    assert visited(service, visit)


def test_a_connection_that_says_a_little_ever_again_ends(service, monkeypatch):
    monkeypatch.setattr(connections, "ARRIVAL", 0.3)

    def visit(port, _url):
        with ExitStack() as stack:
            line, ended = opened(stack, port), Event()

            def trickle():
                while not ended.wait(0.02):
                    try:
                        line.sendall(b"a")
                    except OSError:
                        return

            trickling = Thread(target=trickle)
            trickling.start()
            found = is_over(line)
            ended.set()
            trickling.join()
            return found

    assert visited(service, visit)


def test_a_body_that_does_not_arrive_ends_and_one_that_does_is_answered(service, monkeypatch):
    def visit(port, _url):
        with ExitStack() as stack:
            first = opened(stack, port, request(port))
            first.sendall(b':"ann"}')
            answered = first.recv(12)
            monkeypatch.setattr(connections, "ARRIVAL", 0.1)
            return answered, is_over(opened(stack, port, request(port)))

    assert visited(service, visit) == (b"HTTP/1.1 200", True)


def test_a_body_that_trickles_after_its_refusal_ends(service, monkeypatch):
    def visit(port, _url):
        refused = request(port).replace(b"Authorization", b"X-Other")
        with ExitStack() as stack:
            line = opened(stack, port, refused)
            answered = line.recv(12)
            monkeypatch.setattr(connections, "ARRIVAL", 0.1)
            line.sendall(b":")
            while not is_over(line):
                pass
            return answered

    assert visited(service, visit) == b"HTTP/1.1 401"


def test_those_who_ask_are_answered_however_many_ask_nothing(service, monkeypatch, capfd):
    monkeypatch.setattr(connections, "most_connections", lambda: 10)

    def visit(port, url):
        with ExitStack() as stack:
            silent = [opened(stack, port) for _ in range(60)]
            codes = []
            for _ in range(20):
                with httpx.Client(timeout=PATIENCE, trust_env=False) as client:
                    codes.append(client.get(url).status_code)
            assert all(map(is_over, silent[:40]))
            return codes

    assert visited(service, visit) == [200] * 20
    told = [line for line in capfd.readouterr().err.splitlines() if "too many conn" in line]
    assert 1 <= len(told) < 60  # one a second


def test_whoever_had_an_answer_stays_while_others_ask_nothing(service, monkeypatch):
    monkeypatch.setattr(connections, "most_connections", lambda: 4)
    monkeypatch.setattr(BoundedConnection, "timeout_keep_alive_handler", lambda _self: None)

    def visit(port, _url):
        whole = request(port) + b':"ann"}'
        with ExitStack() as stack:
            known = opened(stack, port, whole)
            first = reply(known)
            silent = [opened(stack, port) for _ in range(30)]
            assert all(map(is_over, silent[:26]))
            known.sendall(whole)
            return first, reply(known)

    assert visited(service, visit) == (b"HTTP/1.1 200", b"HTTP/1.1 200")


def test_where_all_are_answered_another_is_told_to_come_again(service, monkeypatch):
    monkeypatch.setattr(connections, "most_connections", lambda: 3)

    def visit(port, _url):
        slow = request(port).replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
        with ExitStack() as stack:
            at_work = [opened(stack, port, slow) for _ in range(3)]
            told = [line.recv(200)[:12] for line in at_work]  # from now on they are at work
            refused = opened(stack, port, b"").recv(200)
            for line in at_work:
                line.sendall(b':"ann"}')
            return told, refused, [line.recv(12) for line in at_work]

    told, refused, answers = visited(service, visit)
    assert told == [b"HTTP/1.1 100"] * 3
    assert refused.startswith(b"HTTP/1.1 503")
    assert b"\r\nretry-after: 2\r\n" in refused
    assert answers == [b"HTTP/1.1 200"] * 3


@pytest.mark.parametrize(
    ("files", "most"), [(1024, 500), (400, 200), (10, LEAST), (10**6, MOST), (-1, MOST)]
)
def test_half_of_the_open_files_are_not_for_connections(monkeypatch, files, most):
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (files, files))
    assert most_connections() == most
    monkeypatch.setattr(connections, "resource", None)
    assert most_connections() == MOST
