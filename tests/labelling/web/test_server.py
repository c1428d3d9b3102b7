"""The address of the page, and its server from the first visit to Ctrl-C."""

import re
import signal
import socket
import stat
import sys
import time
import webbrowser
from contextlib import closing
from threading import Thread

import httpx
import pytest
from support.served import PATIENCE, free_port, service_of, table

from possibal.data.ingest import SourceSpec
from possibal.labelling.web import server as serve
from possibal.labelling.web.server import Address, Server


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    with service_of(SourceSpec(table(folder / "a.csv")), folder / "a.db") as made:
        yield made


def run(server: Server, service, visit, *, browser: bool = False):
    """What a visitor finds while the server runs; then they press Ctrl-C."""
    found, port = [], re.search(r":(\d+)/", server.url)[1]
    host = "[::1]" if "[::1]" in server.url else "127.0.0.1"

    def come_and_go() -> None:
        try:
            # From the first answer on, it runs.
            httpx.get(f"http://{host}:{port}", timeout=PATIENCE, trust_env=False)
            found.append(visit())
        finally:
            signal.raise_signal(signal.SIGINT)

    visitor = Thread(target=come_and_go)
    visitor.start()
    with closing(server):
        server.run(service, browser=browser)
    visitor.join()
    return found[0]


def test_the_address_opens_the_page_until_ctrl_c(service):
    server = Server(Address(port=0))
    base, token = re.fullmatch(
        r"(http://127\.0\.0\.1:\d+)/\?token=([\w-]{32})", server.url
    ).groups()
    with httpx.Client(base_url=base) as client:
        assert run(server, service, lambda: client.get(f"/?token={token}").status_code) == 303
        assert next(iter(client.cookies.jar)).name == f"possibal-{base.rsplit(':')[-1]}"
    with pytest.raises(httpx.ConnectError):
        httpx.get(base)


def test_whoever_comes_before_the_server_runs_waits(service):
    server = Server(Address(port=0))
    found = []
    early = Thread(target=lambda: found.append(httpx.get(server.url, timeout=PATIENCE)))
    early.start()
    time.sleep(0.2)
    assert early.is_alive()
    run(server, service, lambda: early.join(PATIENCE))
    assert found[0].status_code == 303


def test_every_server_has_a_token_of_its_own(service):
    urls = [Server(Address(port=0)) for _ in range(2)]
    tokens = {server.url.partition("token=")[2] for server in urls}
    assert len(tokens) == 2
    for server in urls:
        assert run(server, service, lambda: "seen") == "seen"


def test_the_usual_port_is_tried_first_and_then_the_next(service):
    first, second = (Server(Address()) for _ in range(2))
    ports = [int(re.search(r":(\d+)/", server.url)[1]) for server in (first, second)]
    assert ports[0] != ports[1]
    assert ports[0] in {*range(serve.DEFAULT_PORT, serve.DEFAULT_PORT + serve.PORTS)}
    for server in (first, second):
        run(server, service, lambda: None)


def test_a_name_that_is_allowed_is_the_one_shown(service):
    server = Server(Address(port=0, names=("labels.example", "other.example")))
    assert server.url.startswith("http://labels.example:")
    port = int(re.search(r":(\d+)/", server.url)[1])

    def visit() -> list[int]:
        hosts = ("labels.example", "other.example", "evil.example", "localhost")
        base = f"http://127.0.0.1:{port}/"
        return [httpx.get(base, headers={"Host": host}).status_code for host in hosts]

    assert run(server, service, visit) == [401, 401, 403, 401]


def test_an_address_of_the_newer_kind_is_shown_in_brackets(service):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no addresses of that kind")
    server = Server(Address(host="::1", port=0))
    assert server.url.startswith("http://[::1]:")
    assert run(server, service, lambda: httpx.get(server.url).status_code) == 303


@pytest.mark.parametrize("port", [70_000, -1])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(ValueError, match=rf"port must be free on 127.0.0.1; got {port} \("):
        Server(Address(port=port))


def test_a_port_in_use_is_refused():
    port = free_port()
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(ValueError, match=rf"got {port} \(.+\). Choose another with --port"),
    ):
        Server(Address(port=port))


@pytest.mark.parametrize("host", ["nobody.invalid", "192.0.2.1", "a" * 300, "a..b", "1:2:3"])
def test_an_address_that_is_not_ours_is_refused(host):
    with pytest.raises(ValueError, match=r"must be .*; got .* \(.+\)\. Choose another"):
        Server(Address(host=host, port=0))


def test_the_browser_is_opened_at_the_address(service, tmp_path, monkeypatch):
    note, script = tmp_path / "note", tmp_path / "browser"
    code = "import sys; from pathlib import Path; Path(sys.argv[2]).write_text(sys.argv[1])"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$1" {note}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    monkeypatch.setattr(webbrowser, "_tryorder", None)
    monkeypatch.setattr(webbrowser, "_browsers", {})
    server = Server(Address(port=0))

    def wait() -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not (note.exists() and note.read_text()):
            time.sleep(0.02)
        return note.read_text()

    assert run(server, service, wait, browser=True) == server.url


def test_a_host_without_a_name_is_refused_for_it_would_be_every_address():
    with pytest.raises(ValueError, match=r"^host must be a name or an address .*; got ''\. Leave"):
        Server(Address(""))
