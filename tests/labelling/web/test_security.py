"""Nobody comes in without a session, under another host name, or from another site's page."""

import asyncio
import base64
import json

import pytest
from support.served import (
    HOST,
    KNOWN,
    PICTURES,
    SESSION,
    get,
    let_in,
    pictures,
    post,
    secured,
    send,
    service_of,
)

from possibal.data.ingest import SourceSpec
from possibal.labelling.web.routes import STATIC, create_app
from possibal.labelling.web.security import (
    HEADERS,
    JOIN_PATH,
    MOST_BYTES,
    PLATFORM_PATH,
    POLICY,
    SESSION_PATH,
    ServedHosts,
)

JSON = ("Content-Type", "application/json")
SEEN = ("Host", HOST)
HERE = ("Authorization", f"Bearer {SESSION}")
INTRUSIONS = {
    "no session": (401, "", [SEEN]),
    "another session": (401, "", [SEEN, ("Authorization", f"Bearer {'0' * 64}")]),
    "no bearer": (401, "", [SEEN, ("Authorization", SESSION)]),
    "another scheme": (401, "", [SEEN, ("Authorization", f"Basic {SESSION}")]),
    "empty bearer": (401, "", [SEEN, ("Authorization", "Bearer ")]),
    "part of the session": (401, "", [SEEN, ("Authorization", f"Bearer {SESSION[:-1]}")]),
    "very long session": (401, "", [SEEN, ("Authorization", f"Bearer {SESSION * 999}")]),
    "the key of pictures as a session": (401, "", [SEEN, ("Authorization", f"Bearer {PICTURES}")]),
    "the session as a key of pictures": (401, f"?key={SESSION}", [SEEN]),
    "session in the address": (401, f"?session={SESSION}&token={SESSION}", [SEEN]),
    "session as a cookie": (401, "", [SEEN, ("Cookie", f"session={SESSION}")]),
    "key that is no text": (401, "?key=%ff%00", [SEEN]),
    "foreign host": (403, "", [("Host", "evil.example:8765"), HERE]),
    "host that begins like ours": (403, "", [("Host", "127.0.0.1.evil.example"), HERE]),
    "host that ends like ours": (403, "", [("Host", "evil-localhost:8765"), HERE]),
    "no host": (403, "", [HERE]),
    "empty host": (403, "", [("Host", ""), HERE]),
    "only a port": (403, "", [("Host", ":8765"), HERE]),
    "two hosts": (403, "", [SEEN, ("Host", "evil.example"), HERE]),
    "foreign origin": (403, "", [*KNOWN, ("Origin", "https://evil.example")]),
    "another port's origin": (403, "", [*KNOWN, ("Origin", "http://127.0.0.1:9999")]),
    "hidden origin": (403, "", [*KNOWN, ("Origin", "null")]),
    "empty origin": (403, "", [*KNOWN, ("Origin", "")]),
    "cross-site": (403, "", [*KNOWN, ("Sec-Fetch-Site", "cross-site")]),
    "same-site": (403, "", [*KNOWN, ("Sec-Fetch-Site", "same-site")]),
    "in a frame": (
        403,
        "",
        [
            *KNOWN,
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "iframe"),
        ],
    ),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("app")
    wanted = SourceSpec(pictures(folder / "shades"), classes=("dark", "light"))
    with service_of(wanted, folder / "a.db") as made:
        yield made


@pytest.fixture(scope="module")
def app(service):
    return secured(service)


def targets(service) -> list[tuple[str, str]]:
    """Every method and path that the application answers."""
    files = [file.relative_to(STATIC).as_posix() for file in STATIC.rglob("*.*")]
    found = [("GET", f"/static/{name}") for name in files]
    found += [("GET", "/"), ("GET", "/openapi.json")]  # which are not described
    for path, methods in create_app(service, let_in(service)).openapi()["paths"].items():
        place = path.replace("{row}", "0").replace("{key}", "0")
        found += [(method.upper(), place) for method in methods]
    return sorted(found)


def is_open(path: str) -> bool:
    """Whether somebody may ask for it who is not in."""
    return path in {"/", SESSION_PATH, JOIN_PATH} or path.startswith("/static/")


def is_guarded(reply) -> bool:
    return all(reply.headers.get(name) == text for name, text in HEADERS.items())


def test_the_table_of_targets_holds_what_the_page_needs(service):
    found = targets(service)
    for path in ("/", "/openapi.json", "/media/0", "/api/rows/0", "/static/main.js"):
        assert ("GET", path) in found
    assert ("POST", "/api/answer") in found
    assert len(found) > 30


@pytest.mark.parametrize("way", INTRUSIONS)
def test_everything_is_closed_to(way, app, service):
    status, query, headers = INTRUSIONS[way]
    for method, path in targets(service):
        if status == 401 and is_open(path):
            continue
        reply = send(app, method, path + query, headers)
        if way == "in a frame":
            assert (reply.status, b"<h1>Not here</h1>" in reply.body) == (403, True)
        else:
            assert (reply.status, list(reply.json())) == (status, ["detail"]), (method, path)
        assert is_guarded(reply)
        assert reply.headers["cache-control"] in {"no-store", "no-cache"}
        assert "set-cookie" not in reply.headers
        assert SESSION.encode() not in reply.body


def test_the_page_itself_is_open_and_tells_nothing_of_the_campaign(app, service):
    shown = [one for one in targets(service) if is_open(one[1])]
    assert len(shown) > 20
    for method, path in shown:
        reply = send(app, method, path, [SEEN], (b"",))
        assert reply.status == (422 if method == "POST" else 200), (method, path)
        assert is_guarded(reply)
        assert b"shades" not in reply.body
    found = send(app, "GET", SESSION_PATH, [SEEN]).json()
    assert found == {"campaign": service.setup.digest[:16], "role": None, "who": None}


def test_everything_but_what_is_for_platforms_is_open_to_an_owner(app, service):
    for method, path in targets(service):
        if path == "/api/leave":
            continue
        if path.startswith(PLATFORM_PATH):
            assert send(app, method, path, KNOWN).status == 403
            continue
        reply = send(app, method, path, KNOWN)
        nothing_yet = path in {"/api/confirm", "/api/events/0"}
        looked_at = 409 if nothing_yet else 200
        assert reply.status == (422 if method == "POST" else looked_at), (method, path)
        assert is_guarded(reply)


# ---------------------------------------------------------------- platforms
def basic(given: str) -> tuple[str, str]:
    """A name and a password as clients send them."""
    return ("Authorization", f"Basic {base64.b64encode(given.encode()).decode()}")


def test_a_platform_comes_in_by_password_or_bearer_to_its_own_routes_and_no_others(service):
    session = let_in(service).admit_platform("Label Studio")
    app = secured(service)
    ways = [basic(f"label-studio:{session}"), ("Authorization", f"Bearer {session}")]
    for way in ways:
        for method, path in targets(service):
            reply = send(app, method, path, [SEEN, way])
            if is_open(path) and path != SESSION_PATH:
                continue
            expected = {"GET": 200, "POST": 422}[method] if path.startswith(PLATFORM_PATH) else 403
            expected = 401 if expected == 403 and way is ways[0] else expected
            if path != SESSION_PATH:
                assert (reply.status, is_guarded(reply)) == (expected, True), (method, path)
    assert send(app, "GET", SESSION_PATH, [SEEN, ways[1]]).status == 403


@pytest.mark.parametrize(
    "way",
    [
        basic("label-studio:"),
        basic(SESSION),
        basic(f"{SESSION}:x"),
        ("Authorization", "Basic"),
        ("Authorization", "Basic *"),
        ("Authorization", "Basic /w=="),
        ("Authorization", f"Basic {base64.b64encode(bytes(9)).decode()}"),
    ],
)
def test_no_other_password_lets_a_platform_in(app, way):
    assert send(app, "GET", f"{PLATFORM_PATH}health", [SEEN, way]).status == 401


def test_people_do_not_come_in_by_a_password(app):
    way = basic(f"me:{SESSION}")
    assert send(app, "GET", "/api/campaign", [SEEN, way]).status == 401
    assert send(app, "GET", f"{PLATFORM_PATH}health", [SEEN, way]).status == 403


def test_a_platform_that_is_sent_away_is_out(service):
    access = let_in(service)
    session = access.admit_platform("Label Studio")
    way = basic(f"x:{session}")
    assert send(secured(service), "GET", f"{PLATFORM_PATH}health", [SEEN, way]).status == 200
    access.withdraw(access.invitations()[-1].number)
    assert send(secured(service), "GET", f"{PLATFORM_PATH}health", [SEEN, way]).status == 401


def test_a_platform_may_send_many_tasks_and_others_may_not(service):
    session = let_in(service).admit_platform("Label Studio")
    app, way = secured(service), ("Authorization", f"Bearer {session}")
    body = json.dumps({"tasks": [{"data": {"text": "a" * MOST_BYTES}}]}).encode()
    path = f"{PLATFORM_PATH}predict"
    assert send(app, "POST", path, [SEEN, JSON, way], (body,)).status == 200
    assert send(app, "POST", path, [SEEN, JSON], (body,)).status == 401
    assert send(app, "POST", f"{PLATFORM_PATH}setup", [SEEN, JSON, way], (body,)).status == 413


# ---------------------------------------------------------------- coming in
JOINED = {"code": "", "session": "a" * 64, "pictures": "b" * 64}


def join(app, **given):
    """The reply to somebody who has an invitation."""
    body = json.dumps({**JOINED, **given}).encode()
    return send(app, "POST", JOIN_PATH, [SEEN, JSON], (body,))


def test_an_invitation_is_exchanged_for_a_session_and_no_cookie(app, service):
    code = let_in(service).invite("zoë")
    app = secured(service)
    reply = join(app, code=code)
    assert (reply.status, "set-cookie" in reply.headers) == (200, False)
    assert reply.json() | {"campaign": ""} == {"campaign": "", "role": "annotator", "who": "zoë"}
    assert is_guarded(reply)
    assert reply.headers["cache-control"] == "no-store"
    known = [SEEN, ("Authorization", f"Bearer {JOINED['session']}")]
    assert send(app, "GET", "/api/campaign", known).status == 200
    assert send(app, "GET", f"/media/0?key={JOINED['pictures']}", [SEEN]).status == 200
    assert send(app, "GET", f"/api/campaign?key={JOINED['pictures']}", [SEEN]).status == 401
    assert join(app, code=code).status == 200  # the reply may have been lost
    assert join(app, code=code, session="c" * 64).status == 409
    assert send(app, "POST", "/api/leave", known).status == 200
    assert send(app, "GET", "/api/campaign", known).status == 401


def test_whoever_opens_an_address_and_is_not_in_gets_a_page(app):
    for asked in ([("Accept", "text/html,*/*")], [("Sec-Fetch-Mode", "navigate")]):
        reply = send(app, "GET", "/api/labels.csv", [SEEN, *asked])
        assert (reply.status, reply.headers["content-type"]) == (401, "text/html; charset=utf-8")
        assert b"<h1>Not signed in</h1>" in reply.body
        assert is_guarded(reply)
    reply = send(app, "GET", "/", [("Host", "evil.example"), ("Accept", "text/html")])
    assert (reply.status, b"Use --allow-host NAME." in reply.body) == (403, True)


LINK = (
    ("Sec-Fetch-Site", "cross-site"),
    ("Sec-Fetch-Mode", "navigate"),
    ("Sec-Fetch-Dest", "document"),
)


def test_a_link_of_another_site_opens_the_page(app):
    assert send(app, "GET", "/", [SEEN, *LINK]).status == 200


@pytest.mark.parametrize("target", ["/api/labels.csv", "/media/0", "/static/main.js"])
def test_a_link_of_another_site_opens_nothing_else(app, target):
    assert send(app, "GET", target, [*KNOWN, *LINK]).status == 403


@pytest.mark.parametrize("verb", ["ask", "answer", "undo", "classes", "renew", "spare"])
def test_a_form_of_another_site_changes_nothing(app, verb):
    headers = [*KNOWN, *LINK, ("Origin", "https://evil.example"), ("Content-Type", "text/plain")]
    assert send(app, "POST", f"/api/{verb}", headers, (b'{"who": "mallory"}',)).status == 403
    assert send(app, "POST", JOIN_PATH, [SEEN, *LINK]).status == 403


def test_our_own_page_may_send(app):
    own = [*KNOWN, JSON, ("Origin", f"http://{HOST}"), ("Sec-Fetch-Site", "same-origin")]
    reply = send(app, "POST", "/api/renew", own, (b'{"who": "ann"}',))
    assert (reply.status, list(reply.json())) == (200, ["seconds"])


def test_a_proxy_that_adds_encryption_may_send(app):
    own = [*KNOWN, JSON, ("Origin", f"https://{HOST}")]
    assert send(app, "POST", "/api/renew", own, (b'{"who": "ann"}',)).status == 200


def test_where_all_is_encrypted_a_page_that_is_not_may_not_send():
    hosts = ServedHosts.of(["a.example"], tls=True)
    assert hosts.is_own("https://a.example:8765", "a.example:8765")
    assert not hosts.is_own("http://a.example:8765", "a.example:8765")


def test_behind_a_proxy_its_address_alone_is_our_page():
    hosts = ServedHosts.of([], "https://labels.example", tls=False)
    assert hosts.is_own("https://labels.example", "labels.example")
    assert not hosts.is_own("http://labels.example", "labels.example")
    assert hosts.is_own("https://labels.example", "127.0.0.1:8765")  # a proxy that tells its own
    assert not hosts.is_own("https://other.example", "labels.example")


# ---------------------------------------------------------------- hosts
@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8765", "localhost", "LocalHost:80", "[::1]", "[::1]:8765"],
)
def test_this_machine_has_several_names(app, host):
    assert send(app, "GET", "/api/campaign", [("Host", host), HERE]).status == 200


@pytest.mark.parametrize(
    "host", ["::1", "[::2]:8765", "127.0.0.2", "localhost.", "localhost:80:80", "a@localhost"]
)
def test_but_not_any_name(app, host):
    assert send(app, "GET", "/api/campaign", [("Host", host), HERE]).status == 403


def test_another_name_can_be_allowed(service):
    app = secured(service, "Labels.Example")
    for host in ("labels.example", "LABELS.EXAMPLE:443"):
        assert send(app, "GET", "/api/campaign", [("Host", host), HERE]).status == 200
    assert send(app, "GET", "/api/campaign", [("Host", "other.example"), HERE]).status == 403


def test_an_empty_name_allows_nothing(service):
    assert send(secured(service, ""), "GET", "/api/campaign", [("Host", ""), HERE]).status == 403


# ---------------------------------------------------------------- odd requests
@pytest.mark.parametrize("name", ["Host", "Authorization", "Origin", "Sec-Fetch-Site", "X"])
def test_very_long_headers_are_no_trouble(app, name):
    headers = [h for h in KNOWN if h[0] != name]
    status = {"Host": 403, "Authorization": 401, "Origin": 403}.get(name, 200)
    assert send(app, "GET", "/api/campaign", [*headers, (name, "ÿ" * 100_000)]).status == status


def test_a_body_may_be_as_long_as_is_said(app):
    headers = [*KNOWN, JSON]
    body = json.dumps({"who": "ann"}).encode()
    padded = body + b" " * (MOST_BYTES - len(body))
    parts = tuple(padded[at : at + 1000] for at in range(0, len(padded), 1000))
    assert send(app, "POST", "/api/renew", headers, parts).status == 200
    assert send(app, "POST", "/api/renew", headers, (padded + b" ",)).status == 413


def test_a_body_in_parts_that_grows_too_long_is_refused_and_not_read_on(app):
    parts = tuple(b" " * 10_000 for _ in range(1000))
    reply = send(app, "POST", "/api/renew", KNOWN, parts)
    assert (reply.status, is_guarded(reply)) == (413, True)
    assert reply.json() == {"detail": f"A request must be at most {MOST_BYTES} bytes. Send less."}


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "²", "1e3", "0", "99999999"])
def test_what_a_request_says_of_its_length_is_not_believed(app, length):
    headers = [*KNOWN, JSON, ("Content-Length", length)]
    assert send(app, "POST", "/api/renew", headers, (b'{"who": "ann"}',)).status == 200
    assert send(app, "POST", "/api/renew", headers, (b" " * (MOST_BYTES + 1),)).status == 413


def test_whoever_leaves_in_the_middle_of_a_request_does_nothing(app):
    reply = send(app, "POST", "/api/renew", KNOWN, ())
    assert (reply.status, reply.error) == (0, None)


@pytest.mark.parametrize("headers", [[SEEN], list(KNOWN)])
def test_web_sockets_are_refused(app, headers):
    raw = [(name.lower().encode(), text.encode()) for name, text in headers]
    scope = {"type": "websocket", "path": "/", "query_string": b"", "headers": raw}
    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def note(message):
        sent.append(message)

    asyncio.run(app(scope, receive, note))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_life_of_the_application_goes_through(app):
    waiting, sent = ["startup", "shutdown"], []

    async def receive():
        return {"type": f"lifespan.{waiting.pop(0)}"}

    async def note(message):
        sent.append(message["type"])

    asyncio.run(app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, note))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


# ---------------------------------------------------------------- headers
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/static/main.js", 200),
        ("HEAD", "/", 405),
        ("OPTIONS", "/api/answer", 405),
        ("DELETE", "/api/answer", 405),
        ("GET", "/api/nothing", 404),
        ("GET", "/static/nothing.js", 404),
        ("GET", "/static/../app.py", 404),
        ("GET", "/static/%2e%2e/app.py", 404),
        ("GET", "/static//etc/passwd", 404),
        ("GET", "/media/99", 404),
        ("GET", "/media/x", 422),
        ("GET", "/docs", 404),
        ("GET", "/redoc", 404),
        ("POST", "/api/answer", 422),
    ],
)
def test_replies_of_every_kind_carry_the_headers(app, method, path, status):
    reply = send(app, method, path, KNOWN)
    assert (reply.status, is_guarded(reply)) == (status, True)
    assert "access-control-allow-origin" not in reply.headers
    if status >= 400 and method != "HEAD":
        assert list(reply.json()) == ["detail"]


def test_a_failure_inside_carries_the_headers_and_tells_nothing(tmp_path, monkeypatch):
    wanted = SourceSpec(pictures(tmp_path / "shades"), classes=("dark", "light"))
    with service_of(wanted, tmp_path / "a.db") as service:
        monkeypatch.setattr(service.store, "items", lambda _rows: {"a secret": 1}["items"])
        reply = get(secured(service), "/media/0")
    assert (reply.status, is_guarded(reply)) == (500, True)
    assert reply.error is not None
    assert b"items" not in reply.body


def test_what_changes_is_never_kept_by_a_browser(app):
    assert get(app, "/").headers["cache-control"] == "no-store"
    assert get(app, "/api/campaign").headers["cache-control"] == "no-store"
    assert post(app, "renew", {"who": "ann"}).headers["cache-control"] == "no-store"
    assert get(app, "/static/main.js").headers["cache-control"] == "no-cache"
    assert get(app, "/media/0").headers["cache-control"].startswith("private")


def test_the_policy_lets_nothing_but_our_own_files_run():
    rules = dict(rule.strip().split(" ", 1) for rule in POLICY.split(";"))
    assert rules["default-src"] == "'none'"
    assert {rules[name] for name in ("script-src", "style-src", "img-src", "connect-src")} == {
        "'self'"
    }
    assert {rules[n] for n in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}
    assert "unsafe" not in POLICY
