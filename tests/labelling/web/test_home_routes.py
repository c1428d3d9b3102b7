"""The home page's routes: nobody but owners, and one sentence for what is wrong."""

import json
import time

import pytest
from support.served import HOST, KNOWN, PATIENCE, PICTURES, SESSION, get, post, send, table

from possibal.labelling.access import AccessControl
from possibal.labelling.home.home import Home, home_store
from possibal.labelling.home.uploads import PIECE
from possibal.labelling.storage.invitations import Role
from possibal.labelling.web.home_routes import CLOSED, PIECE_PATH, PLACE, create_home
from possibal.labelling.web.security import SecurityMiddleware, ServedHosts

OTHER = "7" * 64
SEEN = ("Host", HOST)
BYTES = "application/octet-stream"


@pytest.fixture(name="app")
def _app(tmp_path):
    """A home in which an owner and an annotator are in; homes invite no annotators themselves."""
    with home_store(tmp_path) as store, Home(tmp_path, store, lambda _store, _file: None) as home:
        access = AccessControl(store)
        access.join(access.invite(None, Role.OWNER), SESSION, PICTURES)
        access.join(access.invite("ann"), OTHER, OTHER[::-1])
        yield SecurityMiddleware(
            create_home(home, access, "1" * 16),
            access,
            ServedHosts.of([], tls=False),
            largest={PIECE_PATH: PIECE},
            public=PLACE,
        )


def said(reply) -> str:
    return reply.json()["detail"]


def done(app, reply):
    """A task once it has ended."""
    until = time.monotonic() + PATIENCE
    task = reply.json()
    while not task["done"]:
        assert time.monotonic() < until
        time.sleep(0.02)
        task = get(app, f"/api/task?key={task['key']}").json()
    return task


def sent(app, name: str, content: bytes):
    """What is made of a file that was sent."""
    key = post(app, "upload", {"name": name}).json()["key"]
    assert post(app, f"piece?key={key}&path={name}", content, BYTES).json() == {
        "arrived": len(content)
    }
    return done(app, post(app, "read", {"key": key}))


def test_a_file_becomes_a_campaign_that_is_listed(app, tmp_path):
    content = table(tmp_path / "a.csv").read_bytes()
    (tmp_path / "a.csv").unlink()
    draft = sent(app, "a.csv", content)["draft"]
    assert (draft["file"], draft["rows"], draft["classes"]) == ("a.csv", 40, [])
    assert draft["columns"][0]["kind"] == draft["columns"][0]["found"] == "number"
    changes = {"key": draft["key"], "changes": {"x1": "left out"}}
    changed = post(app, "columns", changes).json()
    assert changed["columns"][1]["kind"] == "left out"
    settings = {"key": draft["key"], "classes": ["yes", "no"], "people": 2, "blind": False}
    task = done(app, post(app, "start", settings))
    assert (task["file"], task["notes"], task["trouble"]) == ("a.csv.possibal.db", [], "")
    (line,) = get(app, "/api/home").json()["campaigns"]
    assert (line["name"], line["rows"], line["labelled"], line["is_open"]) == ("a", 40, 0, True)
    entered = post(app, "enter", {"file": line["file"]}).json()
    assert entered["address"].startswith("/campaigns/a.csv.possibal.db/#join=")
    assert task["place"] == "/campaigns/a.csv.possibal.db/"
    unknown = post(app, "enter", {"file": line["file"], "session": OTHER}).json()
    assert "#join=" in unknown["address"]
    assert done(app, post(app, "open", {"file": line["file"]}))["file"] == line["file"]


def test_notes_name_no_options_of_a_terminal(app):
    lines = ["said,size", *(f"a sentence of {n} words or so,{n * n % 7}" for n in range(20))]
    draft = sent(app, "a.csv", "\n".join(lines).encode())["draft"]
    assert draft["notes"] == ["column said was taken as the text."]


@pytest.mark.parametrize(
    ("verb", "given", "words"),
    [
        ("upload", {"name": "../a.csv"}, "plain name"),
        ("upload", {"name": "a.doc"}, "file must end in"),
        ("read", {"key": "0" * 32}, None),
        ("start", {"key": "0" * 32}, None),
        ("open", {"file": "none.db"}, None),
        ("columns", {"key": "0" * 32, "changes": {}}, "Choose the file again"),
        ("enter", {"file": "none.db"}, "Open it first"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(app, verb, given, words):
    reply = post(app, verb, given)
    if words is None:
        assert done(app, reply)["trouble"].endswith(".")
    else:
        assert (reply.status, words in said(reply)) == (409, True)


def test_changes_that_cannot_be_are_refused(app):
    draft = sent(app, "a.csv", b"x,y\n1,2\n3,4\n5,7\n")["draft"]
    reply = post(app, "columns", {"key": draft["key"], "changes": {"x": "text"}})
    assert (reply.status, "text must be a column of words" in said(reply)) == (409, True)
    assert post(app, "discard", {"key": draft["key"]}).status == 200
    assert get(app, "/api/home").json()["campaigns"] == []


def test_an_upload_can_be_cancelled(app, tmp_path):
    key = post(app, "upload", {"name": "a.csv"}).json()["key"]
    assert post(app, "cancel", {"key": key}).status == 200
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith("upload")] == []
    gone = post(app, f"piece?key={key}&path=a.csv", b"1", BYTES)
    assert (gone.status, "Begin again" in said(gone)) == (409, True)


def test_a_piece_may_be_large_and_nothing_else(app):
    key = post(app, "upload", {"name": "a.csv"}).json()["key"]
    piece = b"1" * PIECE
    assert post(app, f"piece?key={key}&path=a.csv", piece, BYTES).status == 200
    assert post(app, f"piece?key={key}&path=a.csv", piece + b"1", BYTES).status == 413
    assert post(app, "upload", b" " * 64_001).status == 413


def routes(app) -> list[tuple[str, str]]:
    """All routes behind the session, as the application describes them."""
    described = get(app, "/openapi.json").json()["paths"]
    found = [(path, verb.upper()) for path, verbs in described.items() for verb in verbs]
    return [one for one in found if one[0] not in {"/api/session", "/api/join"}]


def test_nobody_gets_anywhere_without_being_an_owner_and_on_this_page(app):
    tried = routes(app)
    assert len(tried) >= 10
    for path, verb in tried:
        assert send(app, verb, path, (SEEN,)).status == 401, path
        known = (SEEN, ("Authorization", f"Bearer {OTHER}"))
        refused = send(app, verb, path, known)
        assert (refused.status, refused.json()["role"]) == (403, "annotator"), path
        foreign = (*KNOWN, ("Origin", "https://evil.example"))
        assert send(app, verb, path, foreign).status == 403, path
        assert send(app, verb, path, (("Host", "evil.example"), KNOWN[1])).status == 403, path


def test_the_page_and_who_one_is_are_there_for_everybody(app):
    assert b"home.js" in send(app, "GET", "/", (SEEN,)).body
    known = {"campaign": "1" * 16, "role": "owner", "who": None}
    assert get(app, "/api/session").json() == known
    assert send(app, "GET", "/api/session", (SEEN,)).json()["role"] is None
    assert get(app, "/static/home.js").status == 200
    assert post(app, "leave", {}).status == 200
    assert get(app, "/api/home").status == 401
    again = json.dumps({"code": "no", "session": "3" * 64, "pictures": "4" * 64}).encode()
    headers = (SEEN, ("Content-Type", "application/json"))
    assert send(app, "POST", "/api/join", headers, (again,)).status == 409


@pytest.mark.parametrize("path", [f"{PLACE}a.db/", f"{PLACE}a.db/api/ask", f"{PLACE}a.db"])
def test_a_campaign_that_is_closed_says_so_to_everybody_alike(app, path):
    reply = send(app, "GET", path, (SEEN,))
    assert (reply.status, said(reply)) == (503, CLOSED)
    page = send(app, "GET", path, (SEEN, ("Accept", "text/html")))
    assert (page.status, CLOSED in page.body.decode()) == (503, True)
    assert send(app, "POST", path, (("Host", "evil.example"),)).status == 403
