"""Everything that people do, over real HTTP to a server in a process of its own."""

import csv
import io
import json
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from support.served import PATIENCE, Server, pictures, table, truth

EXAMPLES = 5
"""That are made up for each route, beside those that follow from its bounds."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("web")
    table(folder / "a.csv", rows=80)
    with Server("a.csv", "--people", "2", "--check", "10", folder=folder) as made:
        yield made


@pytest.fixture(scope="module")
def shades(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shades")
    pictures(folder / "shades")
    with Server("shades", "--classes", "dark,light", folder=folder) as made:
        yield made


# ---------------------------------------------------------------- a campaign, in the order of time
def test_classes_are_typed_where_none_are_known(server):
    ann = server.person("ann")
    assert ann.get("campaign")["classes"] == []
    row = ann.ask()["item"]["row"]
    given = {"key": uuid4().hex, "made": ann.now(), "next": True}
    refused = ann.post("answer", row=row, kind="label", label="yes", **given)
    assert (refused.status_code, "add it first" in refused.json()["detail"]) == (409, True)
    for label in ("yes", "no"):
        added = ann.post("classes", key=uuid4().hex, made=ann.now(), label=label)
    assert added.json()["classes"] == ["yes", "no"]
    assert ann.say(row, "yes")["question"]["item"]["row"] != row


def test_several_people_answer_at_once_and_nobody_gets_the_same_row_twice(server):
    def work(who: str) -> list[int]:
        person, rows = server.person(who), list[int]()
        question = person.ask()
        for _ in range(12):
            rows.append(question["item"]["row"])
            question = person.say(rows[-1], truth(question))["question"]
        return rows

    with ThreadPoolExecutor(4) as pool:
        done = dict(zip("bcde", pool.map(work, "bcde"), strict=True))
    for rows in done.values():
        assert len(set(rows)) == len(rows)
    given = [row for rows in done.values() for row in rows]
    assert max(given.count(row) for row in given) <= 2
    progress = server.person("ann").get("progress")
    assert {one["who"]: one["answers"] for one in progress["people"]} == {
        "ann": 1,
        **dict.fromkeys("bcde", 12),
    }
    assert progress["trouble"] is None


def test_a_question_is_the_same_until_it_is_answered(server):
    ann = server.person("ann")
    first = ann.ask()["item"]["row"]
    assert ann.ask()["item"]["row"] == first
    assert ann.post("renew").json()["seconds"] > 0


def test_an_answer_that_is_sent_twice_counts_once(server):
    ann = server.person("ann")
    question, key, made = ann.ask(), uuid4().hex, ann.now()
    before = ann.get("progress")["people"]
    told = {"kind": "label", "key": key, "made": made, "label": truth(question)}
    first = ann.say(question["item"]["row"], **told)
    again = ann.say(question["item"]["row"], **told)
    assert (first["repeated"], again["repeated"]) == (False, True)
    after = ann.get("progress")["people"]
    assert sum(p["answers"] for p in after) == sum(p["answers"] for p in before) + 1


def test_an_answer_can_be_undone_and_given_anew(server):
    ann = server.person("ann")
    question = ann.ask()
    row = question["item"]["row"]
    ann.say(row, "no")
    undone = ann.undo()
    assert undone["question"]["item"]["row"] == row
    assert undone["question"]["mine"] is None
    entry = ann.get("history", who="ann", limit=1)["entries"][0]
    assert (entry["key"], entry["holds"]) == (undone["target"], False)
    ann.say(row, "yes")
    assert ann.get(f"rows/{row}", who="ann")["question"]["mine"]["label"] == "yes"


def test_an_answer_can_be_changed_from_the_history(server):
    ann = server.person("ann")
    entry = ann.get("history", who="ann", kind="label", label="yes")["entries"][0]
    ann.say(entry["row"], "no", "edit", next=False)
    assert ann.get(f"rows/{entry['row']}", who="ann")["question"]["mine"] == {
        "kind": "edit",
        "label": "no",
    }
    ann.undo()
    assert ann.get(f"rows/{entry['row']}", who="ann")["question"]["mine"]["label"] == "yes"


@pytest.mark.parametrize("kind", ["skip", "unsure", "bad"])
def test_a_row_need_not_get_a_label(server, kind):
    ben = server.person("ben")
    before = ben.get("progress")
    row = ben.ask()["item"]["row"]
    assert ben.say(row, None, kind)["question"]["item"]["row"] != row
    after = ben.get("progress")
    grown = {name: after[name] - before[name] for name in ("unsure", "bad")}
    assert grown["bad"] == (kind == "bad")
    assert ben.get(f"rows/{row}", who="ben")["question"]["mine"]["kind"] == kind
    ben.undo()


def test_history_is_read_in_pages_and_searched(server):
    ann = server.person("ann")
    whole = ann.get("history", limit=200)["entries"]
    read, more, before = [], True, None
    while more:
        page = ann.get("history", limit=7, **({"before": before} if before else {}))
        read += page["entries"]
        more, before = page["more"], page["entries"][-1]["number"]
    assert read == whole
    assert [e["number"] for e in read] == sorted((e["number"] for e in read), reverse=True)
    assert {entry["who"] for entry in ann.get("history", who="b")["entries"]} == {"b"}
    some = whole[0]["preview"].split(" ")[0]
    assert whole[0]["row"] in {e["row"] for e in ann.get("history", text=some)["entries"]}
    assert ann.get("history", text="nothing like it")["entries"] == []


def test_rows_are_kept_in_reserve_for_one_person(server):
    cleo, dan = server.person("cleo"), server.person("dan")
    mine = [q["item"]["row"] for q in cleo.post("spare", count=5).json()["questions"]]
    assert len(set(mine)) == 5
    assert cleo.post("spare", count=5).json()["questions"][0]["item"]["row"] in mine
    others = [q["item"]["row"] for q in dan.post("spare", count=5).json()["questions"]]
    assert not set(mine) & set(others)


def test_people_who_disagree_settle_it(server):
    ann, ben = server.person("ann"), server.person("ben")
    free = {point["row"] for point in ann.get("map")["points"] if point["label"] is None}
    row = max(free)
    ann.say(row, "yes", next=False)
    ben.say(row, "no", next=False)
    (conflict,) = [c for c in ann.get("conflicts")["rows"] if c["item"]["row"] == row]
    assert {o["who"]: o["label"] for o in conflict["opinions"]} == {"ann": "yes", "ben": "no"}
    assert conflict["settled"] is None
    pairs = {(p["one"], p["other"]): p for p in ann.get("agreement")["pairs"]}
    assert pairs["ann", "ben"]["rows"] >= 1
    ben.say(row, "yes", "settle", next=False)
    (conflict,) = [c for c in ann.get("conflicts")["rows"] if c["item"]["row"] == row]
    assert conflict["settled"] == "yes"
    labels = {point["row"]: point["label"] for point in ann.get("map")["points"]}
    assert labels[row] == "yes"


def test_the_page_says_how_far_it_is(server):
    progress = server.person("ann").get("progress")
    assert progress["rows"] == 80
    assert 80 - progress["answered"] - progress["bad"] <= progress["left"] <= 80
    assert sum(share["count"] for share in progress["balance"]) == progress["answered"]
    assert progress["check"]["size"] == 10
    assert progress["advice"]["state"] in {"go on", "may stop", "stop"}


def test_labels_can_be_saved(server):
    ann = server.person("ann")
    found = ann.client.get("/api/labels.csv")
    assert found.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in found.headers["content-disposition"]
    lines = list(csv.DictReader(io.StringIO(found.text)))
    named = {line["id"]: line["final"] for line in lines if line["final"]}
    assert len(named) == ann.get("progress")["answered"]


def test_what_people_type_comes_back_as_it_was(shades):
    names = ["Zoë", "李", "<b>x</b>", "a'; DROP TABLE events; --", "\U0001d54f", "a ב b"]
    for who in names:
        person = shades.person(who)
        label = f"{who} & co"
        person.post("classes", key=uuid4().hex, made=person.now(), label=label)
        person.say(0, label, next=False)
    got = shades.person("ann").get("history", limit=len(names))["entries"]
    assert [entry["who"] for entry in reversed(got)] == names
    assert {entry["label"] for entry in got} == {f"{who} & co" for who in names}
    for key in got:
        person = shades.person(key["who"])
        person.undo(key["key"])


# ---------------------------------------------------------------- bytes on the line
def line(server: Server, *parts: bytes, wait: float = PATIENCE) -> bytes:
    """What a server sends for some bytes, until it hangs up."""
    host, port = server.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=wait) as to:
        for part in parts:
            try:
                to.sendall(part)
            except OSError:  # it has hung up already
                break
        received = b""
        try:
            while more := to.recv(65536):
                received += more
        except (TimeoutError, ConnectionResetError):
            pass
        return received


def head(server: Server, *lines: str, method: str = "POST", path: str = "/api/renew") -> bytes:
    """The head of a request of somebody who was let in."""
    usual = (f"Authorization: Bearer {server.session[0]}", "Connection: close")
    said = (f"{method} {path} HTTP/1.1", *usual, "Content-Type: application/json", *lines)
    return "\r\n".join([*said, "", ""]).encode("latin-1")


HOST, BODY = "Host: localhost", b'{"who": "ann"}'


def code(reply: bytes) -> int:
    """The first line's number; zero if nothing came."""
    return int(reply.split(b" ", 2)[1]) if reply else 0


def test_a_plain_request_is_answered(shades):
    reply = line(shades, head(shades, HOST, f"Content-Length: {len(BODY)}") + BODY)
    assert code(reply) == 200
    assert b"\r\nserver:" not in reply.lower()


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        ([], {400, 403}),
        ([HOST, HOST], {400, 403}),
        ([HOST, "Host: evil.example"], {400, 403}),
        (["Host: evil.example"], {403}),
        ([HOST, f"X: {'a' * 200_000}"], {400, 413, 431, 0}),
        ([HOST, "X: a\x00b"], {400}),
        ([HOST, "Content-Length: 14", "Content-Length: 15"], {400}),
        ([HOST, "Content-Length: -1"], {400}),
        ([HOST, "Content-Length: 1e3"], {400}),
        ([HOST, "Content-Length: 99999999999999999999999999"], {400, 413}),
    ],
)
def test_odd_heads_are_refused(shades, lines, codes):
    assert code(line(shades, head(shades, *lines), BODY, wait=5)) in codes
    assert shades.client().get("/api/campaign").is_success


def test_a_body_without_a_length_that_goes_on_and_on_is_refused(shades):
    part = b"1000\r\n" + b" " * 0x1000 + b"\r\n"
    reply = line(shades, head(shades, HOST, "Transfer-Encoding: chunked"), *[part] * 40)
    assert code(reply) == 413
    assert b"content-security-policy" in reply


def test_a_body_that_is_too_long_is_refused(shades):
    reply = line(shades, head(shades, HOST, "Content-Length: 70000"), b" " * 70_000)
    assert code(reply) == 413


def test_a_body_that_is_shorter_than_it_says_does_nothing(shades):
    before = shades.person("ann").get("campaign")["people"]
    assert line(shades, head(shades, HOST, "Content-Length: 500"), BODY, wait=1) == b""
    assert shades.person("ann").get("campaign")["people"] == before


@pytest.mark.parametrize("path", ["/", "/api/campaign"])
def test_no_web_socket_is_opened(shades, path):
    key = ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13")
    lines = (HOST, "Upgrade: websocket", *key)
    said = head(shades, *lines, method="GET", path=path).replace(b": close", b": Upgrade")
    assert code(line(shades, said, wait=1)) in {200, 400, 403}


def test_the_address_lets_one_browser_in_once(shades):
    session, pictures = shades.session
    given = {"code": shades.code, "session": session, "pictures": pictures}
    with httpx.Client(base_url=shades.base, timeout=60) as browser:
        assert browser.get("/api/campaign").status_code == 401
        again = browser.post("/api/join", json=given)
        assert (again.status_code, again.json()["role"]) == (200, "owner")
        other = browser.post("/api/join", json={**given, "session": "0" * 64})
        assert (other.status_code, "was used already" in other.json()["detail"]) == (409, True)
        assert not browser.cookies


def test_pictures_are_fetched_by_row(shades):
    client = shades.client()
    found = client.get("/media/3")
    assert (found.headers["content-type"], found.status_code) == ("image/png", 200)
    assert found.content == (shades.log.parent / "shades/03.png").read_bytes()
    for path in ("/media/..%2f..%2fetc%2fpasswd", "/media/%2e%2e/a", "/static/..%2fapp.py"):
        assert client.get(path).status_code in {404, 422}


# ---------------------------------------------------------------- whatever the description allows
def test_the_description_holds_for_whatever_is_sent(shades, tmp_path):
    for who in "abcde":  # with so many people at work, no question waits for the model
        person = shades.person(who)
        person.say(person.ask()["item"]["row"], "dark", "unsure", next=False)
    described = shades.client().get("/openapi.json").json()
    name, _ = described["components"]["securitySchemes"]
    (tmp_path / "openapi.json").write_text(json.dumps(described))
    bearer = f'[auth.openapi.{name}]\nbearer = "{shades.session[0]}"\n'
    (tmp_path / "settings.toml").write_text(bearer)
    tool = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    assert tool is not None
    options = f"--url {shades.base} --checks all --seed 1 --max-examples {EXAMPLES} --no-color"
    options += " --exclude-path /api/leave --exclude-path /api/withdraw"  # of ourselves
    settings = ("--config-file", "settings.toml")
    done = subprocess.run(  # noqa: S603 - a tool of our own tests
        [tool, *settings, "run", "openapi.json", *options.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "passed" in done.stdout
    said = shades.log.read_text()
    assert "Traceback" not in said, said[-3000:]
