"""Whatever bytes come over the line, a server goes on answering and nothing breaks inside."""

import json
import socket
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.damage import CHANGES, OTHERS, changed
from support.served import PATIENCE, Server, table

EXAMPLES = 120
MOMENT = 0.05
"""Seconds in which most replies come; nothing is said of those that take longer."""
KEY = f"{7:032x}"
BODIES = {
    "ask": {"who": "ann"},
    "spare": {"who": "ann", "count": 2},
    "renew": {"who": "ann"},
    "answer": {
        "key": KEY,
        "who": "ann",
        "made": 1,
        "row": 0,
        "kind": "label",
        "label": "yes",
        "next": False,
    },
    "undo": {"key": KEY, "who": "ann", "made": 1},
    "classes": {"key": KEY, "who": "ann", "made": 1, "label": "maybe"},
    "check": {"key": KEY, "who": "ann", "made": 1, "count": 1},
}
LOOKS = (
    "/",
    "/api/campaign",
    "/api/progress",
    "/api/history?limit=5",
    "/api/labels.csv",
    "/media/0",
)
LINES = st.sampled_from(
    [
        *("Content-Length: 0", "Content-Length: 5", "Content-Length: 9999", "Content-Length: -1"),
        *("Content-Length: 0x10", "Content-Length: 1, 2", "Transfer-Encoding: chunked"),
        *(
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: identity",
            "Expect: 100-continue",
        ),
        *(
            "Connection: upgrade",
            "Upgrade: h2c",
            "Host: evil.example",
            "Host:",
            ": nothing",
            " folded",
        ),
        *(
            "X: a\0b",
            "X: \xff",
            f"X: {'a' * 70_000}",
            *[f"Cookie: {'a=b; ' * 3000}"],
            "Range: bytes=0-",
        ),
        *(
            "Accept-Encoding: gzip;q=x",
            "Content-Type: text/plain",
            "Content-Type: application/json",
        ),
        *('Content-Type: multipart/form-data; boundary="', "Content-Encoding: gzip"),
    ]
)
CHUNKS = st.sampled_from(
    [
        b"0\r\n\r\n",
        b"5\r\nhello\r\n",
        b"ffffffffffffffff\r\n",
        b"-1\r\n",
        b"5;x\r\n",
        b"\r\n",
        b"g\r\n",
    ]
)


@pytest.fixture(scope="module", name="server")
def _server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    table(folder / "a.csv", rows=30)
    with Server("a.csv", "--classes", "yes,no", folder=folder) as made:
        yield made


@pytest.fixture(scope="module", name="client")
def _client(server):
    """Somebody who was let in."""
    return server.client()


def sound(client, verb: str, look: str | None) -> bytes:
    """A request that is in order: a look at something, or else a verb with its body."""
    body = b"" if look else json.dumps(BODIES[verb]).encode()
    kind = {} if look else {"Content-Type": "application/json"}
    method, path = ("GET", look) if look else ("POST", f"/api/{verb}")
    request = client.build_request(method, path, content=body, headers=kind)
    lines = [
        f"{method} {path} HTTP/1.1",
        *(f"{name}: {text}" for name, text in request.headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def received(server: Server, content: bytes) -> bytes:
    """What comes back; after a moment we say that there is no more, and it hangs up."""
    host, port = server.base.removeprefix("http://").split(":")
    answer = b""
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as to, suppress(OSError):
        to.sendall(content)
        to.settimeout(MOMENT)
        with suppress(TimeoutError):
            answer = to.recv(65536)
        to.shutdown(socket.SHUT_WR)
        to.settimeout(PATIENCE)
        while more := to.recv(65536):
            answer += more
    return answer


def goes_on(server: Server, client) -> None:
    """The server answers others, and nothing broke inside."""
    assert client.get("/api/campaign").json()["classes"][:2] == ["yes", "no"]
    said = server.log.read_text(encoding="utf-8")
    assert "Traceback" not in said, said[-3000:]


def check(server: Server, client, content: bytes) -> None:
    """Some bytes get a reply that says no to them, or none, or a good one."""
    answer = received(server, content)
    assert not answer or answer.startswith(b"HTTP/1.1 "), answer[:200]
    assert answer[9:12] not in {b"500", b"502"}, answer[:200]
    goes_on(server, client)


raw = settings(
    max_examples=max(EXAMPLES, settings.default.max_examples),
    suppress_health_check=list(HealthCheck),
)
VERBS, VIEWS = st.sampled_from(list(BODIES)), st.none() | st.sampled_from(LOOKS)


@pytest.mark.parametrize("verb", BODIES)
def test_a_request_in_order_is_taken_by_the_same_means(server, client, verb):
    host, port = server.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as to:
        to.sendall(sound(client, verb, None))
        assert to.recv(65536).split(b" ")[1] in {b"200", b"409"}


@raw
@given(VERBS, VIEWS, CHANGES)
def test_a_request_that_was_damaged_harms_nobody(server, client, verb, look, changes):
    check(server, client, changed(sound(client, verb, look), changes))


@raw
@given(VERBS, st.lists(LINES, max_size=4), st.lists(CHUNKS | st.sampled_from(OTHERS), max_size=4))
def test_odd_lines_and_bodies_harm_nobody(server, client, verb, lines, parts):
    head, _, body = sound(client, verb, None).partition(b"\r\n\r\n")
    kept = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
    more = [line.encode("latin-1") for line in lines]
    check(server, client, b"\r\n".join([*kept, *more, b"", b""]) + (b"".join(parts) or body))


@raw
@given(st.lists(st.sampled_from(OTHERS) | st.binary(max_size=300), min_size=1, max_size=6))
def test_bytes_that_are_no_request_harm_nobody(server, client, parts):
    check(server, client, b"".join(parts))
