"""The address of the page, and its server from the first visit to Ctrl-C."""

import re
import signal
import socket
import ssl
import stat
import sys
import time
import webbrowser
from contextlib import closing
from threading import Thread
from urllib.parse import parse_qs

import httpx
import pytest
import trustme
from support.served import PATIENCE, SESSION, free_port, let_in, service_of, table

from possibal.data.ingest import SourceSpec
from possibal.labelling.web import server as serve
from possibal.labelling.web.server import (
    Address,
    Certificate,
    Server,
    invitation_address,
    platform_address,
)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    with service_of(SourceSpec(table(folder / "a.csv")), folder / "a.db") as made:
        yield made


def run(server: Server, service, visit, *, browser: str | None = None):
    """What a visitor finds while the server runs; then they press Ctrl-C."""
    found, scheme = [], server.origin.partition(":")[0]
    host = "[::1]" if "[::1]" in server.origin else "127.0.0.1"
    access = let_in(service)

    def come_and_go() -> None:
        try:
            # From the first answer on, it runs.
            at = f"{scheme}://{host}:{server.port}"
            httpx.get(at, timeout=PATIENCE, trust_env=False, verify=False)  # noqa: S501 - any will do
            found.append(visit())
        finally:
            signal.raise_signal(signal.SIGINT)

    visitor = Thread(target=come_and_go)
    visitor.start()
    with closing(server):
        server.run(service, access, browser)
    visitor.join()
    return found[0]


def test_the_page_is_there_until_ctrl_c(service):
    server = Server(Address(port=0))
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", server.origin)
    known = {"Authorization": f"Bearer {SESSION}"}

    def visit() -> list[int]:
        with httpx.Client(base_url=server.origin, trust_env=False) as client:
            found = [client.get("/"), client.get("/api/campaign")]
            return [one.status_code for one in (*found, client.get("/api/campaign", headers=known))]

    assert run(server, service, visit) == [200, 401, 200]
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.origin)


def test_whoever_comes_before_the_server_runs_waits(service):
    server = Server(Address(port=0))
    found = []
    early = Thread(target=lambda: found.append(httpx.get(server.origin, timeout=PATIENCE)))
    early.start()
    time.sleep(0.2)
    assert early.is_alive()
    run(server, service, lambda: early.join(PATIENCE))
    assert found[0].status_code == 200


def test_the_usual_port_is_tried_first_and_then_the_next(service):
    first, second = (Server(Address()) for _ in range(2))
    assert first.port != second.port
    assert first.port in {*range(serve.DEFAULT_PORT, serve.DEFAULT_PORT + serve.PORTS)}
    for server in (first, second):
        run(server, service, lambda: None)


def test_the_port_of_last_time_is_tried_before_all_others():
    port = free_port()
    with closing(Server(Address(), usual=port)) as server:
        assert server.port == port
        with closing(Server(Address(), usual=port)) as other:
            assert other.port != port


def test_a_name_that_is_allowed_is_the_one_shown(service):
    server = Server(Address(port=0, names=("labels.example", "other.example")))
    assert server.origin == f"http://labels.example:{server.port}"

    def visit() -> list[int]:
        hosts = ("labels.example", "other.example", "evil.example", "localhost")
        base = f"http://127.0.0.1:{server.port}/"
        return [httpx.get(base, headers={"Host": host}).status_code for host in hosts]

    assert run(server, service, visit) == [200, 200, 403, 200]


# ---------------------------------------------------------------- other machines
def test_a_server_for_all_prints_and_admits_the_addresses_of_this_machine(service):
    server = Server(Address(host="0.0.0.0", port=0))  # noqa: S104 - what is tested
    assert server.origin == f"http://127.0.0.1:{server.port}"
    assert not [one for one in server.reachable if "0.0.0.0" in one]  # noqa: S104 - as above
    hosts = [one.removeprefix("http://") for one in server.reachable]
    assert f"{socket.gethostname().lower()}:{server.port}" in hosts

    def visit() -> list[int]:
        base = f"http://127.0.0.1:{server.port}/"
        return [httpx.get(base, headers={"Host": host}).status_code for host in (*hosts, "x:1")]

    assert run(server, service, visit) == [200] * len(hosts) + [403]


def test_a_server_for_this_machine_alone_is_reachable_from_no_other():
    with closing(Server(Address(port=0))) as server:
        assert server.reachable == []


def test_behind_a_proxy_the_public_address_is_the_one_that_counts():
    with closing(Server(Address(port=0, public="https://labels.example"))) as server:
        assert server.origin == "https://labels.example"
        assert server.reachable == ["https://labels.example"]


@pytest.mark.parametrize(
    "public", ["labels.example", "ftp://a", "https://", "https://a/b", "https://a?b", "https://a/"]
)
def test_a_public_address_that_is_none_is_refused(public):
    with pytest.raises(ValueError, match=r"^address must be http or https and a name, .*; got '"):
        Address(public=public)


# ---------------------------------------------------------------- encryption
@pytest.fixture(name="pem")
def _pem(tmp_path):
    """A certificate for this machine, its key, and the authority that signed it."""
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1", "localhost")
    for name, blob in {
        "cert.pem": b"".join(part.bytes() for part in issued.cert_chain_pems),
        "key.pem": issued.private_key_pem.bytes(),
        "ca.pem": authority.cert_pem.bytes(),
    }.items():
        (tmp_path / name).write_bytes(blob)
    return tmp_path


def test_with_a_certificate_the_server_encrypts(service, pem):
    certificate = Certificate(pem / "cert.pem", pem / "key.pem")
    server = Server(Address(port=0, certificate=certificate))
    assert server.origin == f"https://127.0.0.1:{server.port}"
    trusted = ssl.create_default_context(cafile=str(pem / "ca.pem"))
    known = {"Authorization": f"Bearer {SESSION}"}

    def visit() -> list[int]:
        with httpx.Client(base_url=server.origin, verify=trusted, headers=known) as client:
            own, plain = server.origin, server.origin.replace("https", "http")
            said = {"json": {"who": "ann"}}
            return [
                client.get("/api/campaign").status_code,
                client.post("/api/renew", headers={"Origin": own}, **said).status_code,
                client.post("/api/renew", headers={"Origin": plain}, **said).status_code,
            ]

    assert run(server, service, visit) == [200, 200, 403]


@pytest.mark.parametrize(
    ("file", "key"),
    [("cert.pem", "ca.pem"), ("none.pem", "key.pem"), ("key.pem", "cert.pem"), (".", "key.pem")],
)
def test_files_that_are_no_certificate_and_key_are_refused(pem, file, key):
    with pytest.raises(ValueError, match=r"^tls_cert and tls_key must be .*; got .* \(.+\)\. See"):
        Certificate(pem / file, pem / key)


def test_an_address_of_the_newer_kind_is_shown_in_brackets(service):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no addresses of that kind")
    server = Server(Address(host="::1", port=0))
    assert server.origin.startswith("http://[::1]:")
    assert run(server, service, lambda: httpx.get(server.origin).status_code) == 200


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

    url = invitation_address(server.origin, "code")
    assert run(server, service, wait, browser=url) == url


def test_a_host_without_a_name_is_refused_for_it_would_be_every_address():
    with pytest.raises(ValueError, match=r"^host must be a name or an address .*; got ''\. Leave"):
        Server(Address(""))


@pytest.mark.parametrize("who", ["ann", "Zoë & co", "a/b#c?d=e", "名前"])
def test_the_name_in_an_invitation_stays_behind_the_hash(who):
    address = invitation_address("http://a:1", "code", who)
    before, _, behind = address.partition("#")
    assert before == "http://a:1/"
    assert parse_qs(behind) == {"join": ["code"], "for": [who]}
    assert "#" not in behind


def test_the_address_for_a_platform_carries_its_password():
    found = platform_address("https://labels.example.org", "s" * 64)
    assert found == f"https://label-studio:{'s' * 64}@labels.example.org/label-studio"
    assert httpx.URL(found).password == "s" * 64
