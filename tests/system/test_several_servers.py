"""Several servers of one campaign in a PostgreSQL database, and devices whose clocks are wrong."""

import json
import threading
import time
from collections import Counter
from uuid import uuid4

import pytest
from playwright.sync_api import expect
from support.browser import faultless, needs_browser, shot, visit
from support.served import Person, Server, table

pytest_plugins = ["support.postgres"]
pytestmark = pytest.mark.long
HOUR = 3_600_000


@pytest.fixture(name="two")
def _two(tmp_path, postgresql):
    """Two servers of one campaign."""
    table(tmp_path / "rows.csv", rows=60)
    asked = ("rows.csv", "--classes", "yes,no", "--db", postgresql)
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "rows.csv").write_bytes((tmp_path / "rows.csv").read_bytes())
    with Server(*asked, folder=first) as one, Server(*asked, folder=second) as other:
        yield one, other


@pytest.fixture(name="one")
def _one(tmp_path):
    """A server with a file of its own."""
    table(tmp_path / "rows.csv", rows=30)
    with Server("rows.csv", "--classes", "yes,no", "--people", "2", folder=tmp_path) as server:
        yield server


def now() -> int:
    return time.time_ns() // 1_000_000


# ---------------------------------------------------------------- several servers
def test_a_row_is_never_at_two_people_of_two_servers(two):
    ann, bob = two[0].person("ann"), two[1].person("bob")
    held = ann.ask()["item"]["row"]
    for _ in range(12):
        row = bob.ask()["item"]["row"]
        assert row != held
        following = bob.say(row, "yes")["question"]
        assert following["item"]["row"] != held
    assert ann.ask()["item"]["row"] == held


def test_a_crowd_at_two_servers_answers_every_row_once(two):
    given, wrong = Counter(), []

    def answer(person: Person) -> None:
        try:
            while (question := person.ask()) is not None:
                given[question["item"]["row"]] += 1
                person.say(question["item"]["row"], "yes", next=False)
        except AssertionError as error:  # threads tell nobody
            wrong.append(error)

    people = [two[i % 2].person(f"person {i}") for i in range(8)]
    threads = [threading.Thread(target=answer, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert given == dict.fromkeys(range(60), 1)
    assert [one.person("x").get("progress")["answered"] for one in two] == [60, 60]


def test_each_server_shows_and_takes_what_happened_at_the_other(two):
    ann, there = two[0].person("ann"), two[1].person("ann")
    rows = [ann.ask()["item"]["row"]]
    ann.say(rows[0], "yes", next=False)
    added = {"key": uuid4().hex, "made": now(), "label": "may be"}
    assert ann.post("classes", **added).is_success
    assert there.get("progress")["answered"] == 1
    assert [one["row"] for one in there.get("history")["entries"]] == rows
    assert "may be" in [one["name"] for one in there.get("campaign")["catalogue"]]
    rows.append(there.ask()["item"]["row"])
    there.say(rows[1], "may be", next=False)  # a class that came about elsewhere
    assert ann.undo()["question"]["item"]["row"] == rows[1]  # the last, wherever it was given
    assert there.get("progress")["answered"] == 1


# ---------------------------------------------------------------- clocks
def said(person: Person, row: int) -> str | None:
    return person.get(f"rows/{row}", who=person.who)["question"]["mine"]["label"]


@pytest.mark.parametrize("ahead", [300_000, HOUR, 2**53 - 10**13])
def test_an_edit_from_a_slower_clock_counts(one, ahead):
    ann = one.person("ann")
    assert ann.say(3, "yes", made=now() + ahead)["counts"]
    assert ann.say(3, "no", "edit", made=now())["counts"]
    assert said(ann, 3) == "no"
    newest, before = ann.get("history")["entries"][:2]
    assert (newest["holds"], newest["counts"]) == (True, True)
    assert (before["holds"], before["counts"]) == (True, False)


def test_a_later_settlement_counts_whatever_clocks_say(one):
    for who, label in (("ann", "yes"), ("bob", "no")):
        one.person(who).say(5, label)
    bob, carol = one.person("bob"), one.person("carol")
    assert bob.say(5, "yes", "settle", made=now() + HOUR)["counts"]
    assert carol.say(5, "no", "settle", made=now())["counts"]
    (conflict,) = carol.get("conflicts")["rows"]
    assert conflict["settled"] == "no"


def test_undo_takes_back_what_was_done_last_whatever_clocks_say(one):
    ann = one.person("ann")
    ann.say(1, "yes", made=now() + HOUR)
    ann.say(2, "yes", made=now() - HOUR)
    assert ann.undo()["question"]["item"]["row"] == 2


def test_what_waited_in_a_device_does_not_replace_what_was_said_since(one):
    ann, made = one.person("ann"), now() - HOUR
    ann.say(4, "no", device="a" * 32, sent=now())
    late = ann.say(4, "yes", made=made, sent=made + 60_000, device="b" * 32)
    assert not late["counts"]
    assert said(ann, 4) == "no"


def test_what_waited_keeps_the_order_in_which_it_was_made(one):
    ann, made = one.person("ann"), now() - HOUR
    first, second = ({"made": made + i, "sent": made + 60_000, "device": "c" * 32} for i in (0, 1))
    ann.say(6, "yes", **first)
    assert ann.say(6, "no", "edit", **second)["counts"]
    assert said(ann, 6) == "no"


def test_a_key_belongs_to_one_action(one):
    ann, key = one.person("ann"), uuid4().hex
    ann.say(7, "yes", key=key)
    assert ann.say(7, "yes", key=key)["repeated"]
    given = {"key": key, "made": now(), "row": 7, "kind": "label", "label": "no"}
    refused = ann.post("answer", **given)
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("key must be new for each action; got ")


@needs_browser
def test_the_page_says_if_a_later_answer_stands(browser, one):
    page, ann = visit(browser, one), one.person("Ann")
    rows = list[int]()

    def waited(route):
        """The answer of the page, as if it had waited for a minute while another was given."""
        given = json.loads(route.request.post_data)
        rows.append(given["row"])
        ann.say(given["row"], "no", next=False)
        route.continue_(post_data=json.dumps({**given, "sent": given["made"] + 60_000}))

    page.route("**/api/answer", waited)
    page.get_by_test_id("row-id").inner_text()
    page.wait_for_timeout(30)
    page.keyboard.press("1")
    status = page.get_by_test_id("status")
    expect(status).to_contain_text("Kept, but a later answer about this row stands: yes.")
    shot(page, "superseded")
    page.unroute("**/api/answer")
    assert said(ann, rows[0]) == "no"
    page.get_by_role("link", name="History").or_(page.get_by_role("button", name="History")).click()
    expect(page.get_by_test_id("replaced")).to_be_visible()
    faultless(page)
