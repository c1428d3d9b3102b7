"""Who comes in: invitations, restarts, roles, blind answers, other programs, and a real proxy."""

import os
import re
import shutil
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
import trustme
from playwright.sync_api import expect
from support.browser import (
    ARGUMENTS,
    CHROMIUM,
    ELSEWHERE,
    NARROW,
    counted,
    faultless,
    needs_browser,
    press,
    shot,
    visit,
    watched,
)
from support.served import PATIENCE, Person, Server, free_port, joined, pictures, run, table

DOCS = Path(__file__).parents[2] / "docs"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
needs_nginx = pytest.mark.skipif(ELSEWHERE and NGINX is None, reason="needs nginx")


@pytest.fixture(scope="module", name="team")
def _team(tmp_path_factory):
    """A blind campaign in which two people answer each row."""
    folder = tmp_path_factory.mktemp("team")
    table(folder / "a.csv", rows=40)
    with Server("a.csv", "--classes", "yes,no", "--people", "2", folder=folder) as server:
        yield server


@pytest.fixture(name="own")
def _own(tmp_path):
    """A campaign of one person."""
    table(tmp_path / "a.csv", rows=30)
    with Server("a.csv", "--classes", "yes,no", folder=tmp_path) as server:
        yield server


# ---------------------------------------------------------------- restarts
@needs_browser
def test_after_a_kill_and_a_restart_everybody_goes_on(browser, tmp_path):
    table(tmp_path / "a.csv", rows=30)
    asked = ("a.csv", "--classes", "yes,no")
    with Server(*asked, folder=tmp_path) as first:
        page = watched(browser, first)
        page.goto(first.url)
        page.get_by_test_id("name-input").fill("Ann")
        page.get_by_test_id("name-save").click()
        page.get_by_test_id("question").wait_for()
        press(page, "1")
        counted(page, 1)
        page.wait_for_timeout(1500)  # questions in reserve are on their way
        first.kill()
        press(page, "2")
        expect(page.get_by_test_id("offline")).to_be_visible()
    with Server(*asked, folder=tmp_path, port=None) as second:
        assert second.base == first.base  # the port of last time
        counted(page, 2)
        expect(page.get_by_test_id("locked")).to_have_count(0)
        page.reload()
        page.get_by_test_id("question").wait_for()
        counted(page, 2)
        faultless(page)


def test_a_session_of_a_program_survives_a_restart(tmp_path):
    table(tmp_path / "a.csv", rows=30)
    with Server("a.csv", "--classes", "yes,no", folder=tmp_path) as first:
        session = first.session[0]
    with Server("a.csv", folder=tmp_path) as second:
        known = {"Authorization": f"Bearer {session}"}
        assert httpx.get(f"{second.base}/api/campaign", headers=known).status_code == 200
        assert second.code != first.code


# ---------------------------------------------------------------- other programs
@contextmanager
def another_program():
    """A web server on another port of this machine, and all that browsers tell it."""
    told = list[str]()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            told.append(f"{self.path} {self.headers}")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", told
        finally:
            server.shutdown()
            thread.join()


@needs_browser
def test_another_program_on_this_machine_learns_nothing(browser, own):
    page = watched(browser, own)
    page.goto(own.url)
    page.get_by_test_id("name-input").wait_for()
    assert page.url == f"{own.base}/"  # the code is out of the address
    assert page.context.cookies() == []
    held = page.evaluate("Object.values(localStorage).join()")
    secrets = re.findall(r"[0-9a-f]{64}", held)
    assert len(secrets) == 2
    with another_program() as (address, told):
        page.goto(address)
        assert page.evaluate("localStorage.length") == 0
        assert told
        assert not [text for text in told for one in (*secrets, own.code) if one in text]
        assert not [text for text in told if "cookie" in text.lower()]


@needs_browser
def test_an_address_that_was_used_lets_no_other_browser_in(browser, own):
    page = watched(browser, own)
    page.goto(own.url)
    page.get_by_test_id("name-input").wait_for()
    other = watched(browser, own, viewport=NARROW)
    other.goto(own.url)
    expect(other.get_by_test_id("join-problem")).to_contain_text("was used already")
    faultless(other)
    shot(other, "entrance")
    other.get_by_test_id("join-input").fill("hello")
    other.get_by_test_id("join").click()
    expect(other.get_by_test_id("join-problem")).to_contain_text("This is no invitation")
    page.goto(own.url)  # but the browser that used it is still in
    page.get_by_test_id("name-input").wait_for()


def test_a_preview_of_an_address_does_not_use_it_up(own):
    preview = httpx.get(own.url)  # what a chat program does with a link: the code stays behind #
    assert (preview.status_code, own.code in preview.text) == (200, False)
    assert joined(own.base, own.code)


# ---------------------------------------------------------------- roles
FOR_OWNERS = {
    "classes": {"label": "maybe"},
    "classes/rename": {"label": "yes", "to": "si"},
    "classes/remove": {"label": "yes"},
    "classes/describe": {"label": "yes", "description": "a"},
    "check": {"count": 1},
}


def test_what_is_for_owners_is_refused_to_annotators(team):
    cara = team.invited("cara")
    for path, given in FOR_OWNERS.items():
        reply = cara.post(path, key=uuid4().hex, made=cara.now(), **given)
        assert (reply.status_code, reply.json()["role"]) == (403, "annotator"), path
    given = {"key": uuid4().hex, "made": cara.now(), "row": 0, "kind": "settle", "label": "yes"}
    assert cara.post("answer", **given).status_code == 403
    invited = cara.client.post("/api/invite", json={"who": "dan"})
    assert (invited.status_code, "code" in invited.json()) == (403, False)
    for path in ("/api/invitations", "/api/labels.csv"):
        assert cara.client.get(path).status_code == 403, path
    gone = cara.client.post("/api/withdraw", json={"number": 1})
    assert gone.status_code == 403
    campaign = cara.get("campaign")
    assert (campaign["classes"], campaign["check"]) == (["yes", "no"], 0)


def test_every_route_that_takes_a_name_takes_nobody_elses(team):
    eve = team.invited("eve")
    described = team.client().get("/openapi.json").json()
    schemas, tried = described["components"]["schemas"], 0
    owners = {f"/api/{path}" for path in FOR_OWNERS} | {"/api/invite"}
    example = {"key": uuid4().hex, "made": eve.now(), "row": 0, "kind": "skip", "who": "ann"}
    example["text"] = "a remark"
    for path, methods in described["paths"].items():
        if "post" in methods and path not in owners and "requestBody" in methods["post"]:
            content = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
            fields = schemas[content["$ref"].rpartition("/")[2]]["properties"]
            if "who" in fields:
                body = {name: value for name, value in example.items() if name in fields}
                reply = eve.client.post(path, json=body)
                assert (reply.status_code, reply.json().get("role")) == (403, "annotator"), path
                tried += 1
        named = {one["name"] for one in methods.get("get", {}).get("parameters", ())}
        if "who" in named and path != "/api/history":
            reply = eve.client.get(path.replace("{row}", "0"), params={"who": "ann"})
            assert reply.status_code == 403, path
            tried += 1
    assert tried >= 7


def test_a_name_that_was_invited_is_nobody_elses(team):
    team.invited("Fay")
    owner = team.person("fay")
    assert owner.post("ask").status_code == 403
    given = {"key": uuid4().hex, "made": owner.now(), "row": 0, "kind": "skip"}
    refused = owner.post("answer", **given)
    assert refused.status_code == 403
    assert "who must be a name under which nobody was invited" in refused.json()["detail"]


def test_whoever_is_sent_away_is_out_at_once(team):
    gil, owner = team.invited("gil"), team.client()
    assert gil.ask() is not None
    listed = owner.get("/api/invitations").json()["invitations"]
    (number,) = [one["number"] for one in listed if one["who"] == "gil"]
    left = owner.post("/api/withdraw", json={"number": number}).json()
    assert "gil" not in [one["who"] for one in left["invitations"]]
    assert gil.post("ask").status_code == 401


# ---------------------------------------------------------------- blind answers
def test_in_a_blind_campaign_nobody_is_swayed(team):
    hal, ida = team.invited("hal"), team.invited("ida")
    for row, label in ((30, "yes"), (31, "no"), (32, "yes"), (33, "no")):
        hal.say(row, label, next=False)
    hal.await_ranking()
    key = hal.get("history")["entries"][0]["key"]
    question = ida.get("rows/30")["question"]
    assert (question["mine"], question["why"]["near"]) == (None, [])
    assert question["why"]["predicted"] is None
    assert "yes" not in question["why"]["sentence"]
    assert ida.get("history")["entries"] == ida.get("history", who="hal")["entries"] == []
    assert {spot["label"] for spot in ida.get("map")["points"]} == {None}
    assert len([spot for spot in hal.get("map")["points"] if spot["label"]]) == 4
    for path in ("agreement", "conflicts", "confirm"):
        refused = ida.client.get(f"/api/{path}")
        assert (refused.status_code, "blind" in refused.json()["detail"]) == (403, True)
    assert ida.client.get(f"/api/events/{key}").status_code == 409
    assert hal.get(f"events/{key}")["rows"][0]["label"] == "no"
    ida.say(30, "no", next=False)
    (conflict,) = team.person("boss").get("conflicts")["rows"]  # owners see it
    assert conflict["item"]["row"] == 30


def test_an_open_campaign_shows_what_others_said(tmp_path):
    table(tmp_path / "a.csv", rows=20)
    asked = ("a.csv", "--classes", "yes,no", "--people", "2", "--open")
    with Server(*asked, folder=tmp_path) as server:
        hal, ida = server.invited("hal"), server.invited("ida")
        hal.say(3, "yes", next=False)
        assert [one["row"] for one in ida.get("history")["entries"]] == [3]
        assert ida.get("agreement")["rows"] == 0
        assert ida.get("rows/5")["question"]["why"]["near"][0]["label"] == "yes"


# ---------------------------------------------------------------- in the browser
@needs_browser
def test_an_owner_invites_in_the_page_and_sends_away(browser, team):
    page = visit(browser, team, "Olga")
    page.get_by_test_id("nav-people").click()
    page.get_by_test_id("invite-name").fill("Jo & Co")
    page.get_by_test_id("invite").click()
    address = page.get_by_test_id("invitation-address").input_value()
    faultless(page)
    shot(page, "invitations")
    other = watched(browser, team, viewport=NARROW)
    other.goto(address)
    other.get_by_test_id("question").wait_for()  # nobody is asked for a name
    expect(other.get_by_test_id("who")).to_have_text("Jo & Co")
    for hidden in ("nav-people", "nav-confirm", "download", "edit-classes", "measure"):
        expect(other.get_by_test_id(hidden)).to_be_hidden()
    faultless(other)
    shot(other, "annotator")
    press(other, "1")
    expect(other.get_by_test_id("status")).to_contain_text("Saved")
    page.reload()
    line = page.get_by_test_id("invited").filter(has_text="Jo & Co")
    expect(line).to_contain_text("in since")
    line.get_by_test_id("withdraw").click()
    expect(line).to_have_count(0)
    other.keyboard.press("1")
    expect(other.get_by_test_id("locked")).to_be_visible()


@needs_browser
def test_an_invitation_for_somebody_else_is_not_used_without_asking(browser, team):
    page = visit(browser, team, "Kim")
    code = team.client().post("/api/invite", json={"who": "Lee"}).json()["code"]
    page.goto(f"{team.base}/#join={code}&for=Lee")
    expect(page.get_by_test_id("dialog")).to_contain_text("An invitation for Lee")
    shot(page, "switch")
    page.get_by_test_id("dialog-close").click()
    expect(page.get_by_test_id("who")).to_have_text("Kim")
    session, _ = joined(team.base, code)  # it is still good
    assert session


@needs_browser
def test_somebody_signs_out(browser, team):
    code = team.client().post("/api/invite", json={"who": "Max"}).json()["code"]
    page = watched(browser, team)
    page.goto(f"{team.base}/#join={code}&for=Max")
    page.get_by_test_id("question").wait_for()
    page.get_by_test_id("who").click()
    expect(page.get_by_test_id("account")).to_contain_text("You were invited by this name")
    faultless(page)
    page.get_by_test_id("sign-out").click()
    page.get_by_test_id("entrance").wait_for()
    assert not re.findall(r"[0-9a-f]{64}", page.evaluate("Object.values(localStorage).join()"))


@needs_browser
def test_pictures_are_shown_to_whoever_is_in_and_labels_downloaded(browser, tmp_path):
    pictures(tmp_path / "shades")
    with Server("shades", "--classes", "dark,light", folder=tmp_path) as server:
        page = visit(browser, server)
        shown = page.locator("[data-testid=question] img").first
        expect(shown).to_be_visible()
        assert page.evaluate("(img) => img.naturalWidth", shown.element_handle()) == 16
        press(page, "1")
        counted(page, 1)
        with page.expect_download() as saved:
            page.get_by_test_id("download").click()
        assert saved.value.suggested_filename == "labels.csv"
        assert "dark" in Path(saved.value.path()).read_text()
        assert httpx.get(f"{server.base}/media/0").status_code == 401


@needs_browser
def test_a_pasted_invitation_lets_in_and_the_page_is_not_loaded_again(browser, team):
    code = team.client().post("/api/invite", json={"who": "Nia"}).json()["code"]
    page = watched(browser, team)
    page.goto(team.base)
    page.get_by_test_id("join-input").fill(f"  {team.base}/#join={code}&for=Nia ")
    page.get_by_test_id("join").click()
    page.get_by_test_id("question").wait_for()
    page.evaluate("window.isStillThere = true")
    page.get_by_test_id("nav-history").click()
    page.get_by_role("heading", name="History").wait_for()
    assert page.evaluate("window.isStillThere") is True


@needs_browser
def test_an_address_that_was_cut_off_or_came_too_early_is_not_lost(browser, team):
    code = team.client().post("/api/invite", json={"who": "Ōe"}).json()["code"]
    page = watched(browser, team)
    refusals = iter([503])

    def away_once(route):
        status = next(refusals, None)
        route.fulfill(status=status, body="{}") if status else route.continue_()

    page.route("**/api/session", away_once)
    page.goto(f"{team.base}/#join={code}&for=%C5%8")  # as a chat program may cut it
    page.get_by_test_id("question").wait_for()
    expect(page.get_by_test_id("who")).to_have_text("Ōe")


# ---------------------------------------------------------------- encryption and proxies
@pytest.fixture(name="pem")
def _pem(tmp_path):
    """A certificate of this machine and of a public name, and whom to trust for it."""
    authority = trustme.CA()
    issued = authority.issue_cert("labels.example.org", "localhost", "127.0.0.1")
    (tmp_path / "labels.pem").write_bytes(b"".join(one.bytes() for one in issued.cert_chain_pems))
    (tmp_path / "labels-key.pem").write_bytes(issued.private_key_pem.bytes())
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    return tmp_path, trusted


@needs_browser
def test_a_server_with_a_certificate_of_its_own(browser, pem):
    folder, _ = pem
    table(folder / "a.csv", rows=20)
    encrypted = ("--tls-cert", "labels.pem", "--tls-key", "labels-key.pem")
    with Server("a.csv", "--classes", "yes,no", *encrypted, folder=folder) as server:
        assert server.base.startswith("https://127.0.0.1:")
        page = watched(browser, server, ignore_https_errors=True)
        page.goto(server.url)
        page.get_by_test_id("name-input").fill("Ann")
        page.get_by_test_id("name-save").click()
        page.get_by_test_id("question").wait_for()
        press(page, "1")
        counted(page, 1)


def test_a_certificate_without_its_key_is_refused(pem):
    folder, _ = pem
    table(folder / "a.csv", rows=20)
    done = run("label", "a.csv", "--tls-cert", "labels.pem", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "possibal: tls_key must be given with tls_cert; got none. Name both files.\n"
    )
    assert not (folder / "a.csv.possibal.db").exists()


@contextmanager
def proxy(folder: Path, upstream: int):
    """nginx as the documentation has it, on another port and with our certificate; its address."""
    (block,) = re.findall(r"```nginx\n(.*?)```", (DOCS / "teams.md").read_text(), re.DOTALL)
    port = free_port()
    for old, new in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/": f"{folder}/",
        "http://127.0.0.1:8765": f"http://127.0.0.1:{upstream}",
    }.items():
        assert old in block
        block = block.replace(old, new)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    settings = folder / "nginx.conf"
    settings.write_text(
        f"pid {folder}/nginx.pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log {folder}/access.log; {places}\n{block}}}\n"
    )
    line = [str(NGINX), "-c", str(settings), "-g", "daemon off;", "-e", str(folder / "error.log")]
    process = subprocess.Popen(line)  # noqa: S603 - our own line
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


def answered(client: httpx.Client, path: str) -> httpx.Response:
    """The first answer of a server that is just starting."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return client.get(path)
        except httpx.TransportError:
            assert time.monotonic() < end
            time.sleep(0.05)


PUBLIC = "https://labels.example.org"


@pytest.fixture(name="proxied")
def _proxied(pem):
    """A server behind the documented proxy, the proxy's port, and whom to trust."""
    folder, trusted = pem
    folder.chmod(0o755)
    table(folder / "a.csv", rows=20)
    asked = ("a.csv", "--classes", "yes,no", "--address", PUBLIC, "--invite", "ann")
    upstream = free_port()
    with Server(*asked, folder=folder, port=upstream) as server, proxy(folder, upstream) as port:
        yield server, port, trusted


@needs_nginx
def test_behind_the_documented_proxy_only_its_own_page_is_heard(proxied):
    server, port, trusted = proxied
    invited = rf"For ann: {PUBLIC}/#join=([\w-]+)&for=ann"
    (code,) = re.findall(invited, server.log.read_text())
    named = {"Host": "labels.example.org", "Origin": PUBLIC}
    at = f"https://localhost:{port}"
    with httpx.Client(base_url=at, verify=trusted, headers=named, timeout=PATIENCE) as client:
        assert answered(client, "/").status_code == 200
        given = {"code": code, "session": "d" * 64, "pictures": "e" * 64}
        assert client.post("/api/join", json=given).json()["who"] == "ann"
        client.headers["Authorization"] = f"Bearer {'d' * 64}"
        ann = Person(client, "ann")
        ann.say(ann.ask()["item"]["row"], "yes")
        for foreign in ("http://labels.example.org", at, "https://evil.example"):
            reply = client.post("/api/ask", json={"who": "ann"}, headers={"Origin": foreign})
            assert reply.status_code == 403, foreign
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 403


@needs_nginx
@needs_browser
@pytest.mark.works_with("nginx", "the labelling page behind a proxy with TLS")
def test_behind_the_documented_proxy_people_label(browser, proxied):
    server, port, _ = proxied
    assert server.base == PUBLIC
    mapped = f"--host-resolver-rules=MAP labels.example.org:443 127.0.0.1:{port}"
    there = browser.browser_type.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, mapped])
    page = watched(there, server, ignore_https_errors=True)
    page.goto(server.url)
    page.get_by_test_id("name-input").fill("Olga")
    page.get_by_test_id("name-save").click()
    press(page, "1")
    counted(page, 1)
    faultless(page)
    there.close()
