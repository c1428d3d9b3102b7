"""Invitations are exchanged once, by whoever is first, on files and on servers."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from possibal.errors import RefusedError
from possibal.labelling.storage import invitations as table
from possibal.labelling.storage.invitations import Invitation, Role, SessionKeys, Visitor, digest
from possibal.labelling.storage.store import Contents, Item, Setup, Store

pytest_plugins = ["support.postgres"]
ANN = Invitation(Role.ANNOTATOR, "ann", expires=1000, made=10)


@pytest.fixture(name="store", params=["file", "server"])
def _store(request, tmp_path):
    db = str(tmp_path / "a.db")
    if request.param == "server":
        db = request.getfixturevalue("postgresql")
    contents = Contents([Item(0, "0")], {"X": np.zeros((1, 1))})
    with Store.create(db, Setup("a", "table", 1), contents) as store:
        yield store


def add(store, invitation: Invitation = ANN, code: str = "code") -> int:
    return store.run(lambda connection: table.add_invitation(connection, invitation, digest(code)))


def exchange(store, code: str = "code", name: str = "s", now: int = 20) -> Visitor:
    keys = SessionKeys(digest(name), digest(f"pictures of {name}"))
    return store.run(lambda c: table.exchange(c, digest(code), keys, now, now + 5000))


def sessions(store, now: int = 20) -> list[Visitor]:
    with store.reading() as connection:
        return list(table.running_sessions(connection, now).values())


def invitations(store) -> list[Invitation]:
    with store.reading() as connection:
        return table.listed_invitations(connection)


def test_an_invitation_is_exchanged_for_a_session(store):
    number = add(store)
    visitor = exchange(store)
    assert visitor == Visitor(Role.ANNOTATOR, "ann", number, 5020)
    assert sessions(store) == [visitor]
    (kept,) = invitations(store)
    assert (kept.who, kept.role, kept.joined, kept.number) == ("ann", Role.ANNOTATOR, 20, number)


def test_the_same_browser_may_ask_again_and_no_other(store):
    add(store)
    first = exchange(store)
    assert exchange(store, now=30) == Visitor(first.role, first.who, first.invitation, 5030)
    with pytest.raises(RefusedError, match="was used already"):
        exchange(store, name="other")
    assert len(sessions(store)) == 1


def test_of_many_browsers_at_once_one_is_let_in(store):
    add(store)

    def attempt(number: int) -> bool:
        try:
            exchange(store, name=str(number))
        except RefusedError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(24))) == 1
    assert len(sessions(store)) == 1


def test_what_is_not_known_or_too_old_lets_nobody_in(store):
    add(store)
    with pytest.raises(RefusedError, match="does not know the invitation"):
        exchange(store, "another")
    with pytest.raises(RefusedError, match="is too old"):
        exchange(store, now=1000)
    assert sessions(store) == []


def test_a_session_that_there_is_cannot_be_begun_by_another_invitation(store):
    add(store)
    add(store, Invitation(Role.OWNER, None, 1000), "other")
    exchange(store)
    with pytest.raises(RefusedError, match="session must be new"):
        exchange(store, "other")
    assert [visitor.role for visitor in sessions(store)] == [Role.ANNOTATOR]


def test_what_is_withdrawn_lets_nobody_in_and_sends_away(store):
    first, second = add(store), add(store, code="second")
    exchange(store)
    for number in (first, second):
        store.run(lambda connection, number=number: table.withdraw(connection, number))
    assert sessions(store) == invitations(store) == []
    with pytest.raises(RefusedError, match="withdrawn"):
        exchange(store, "second")


def test_a_session_that_was_ended_cannot_be_begun_again(store):
    add(store)
    exchange(store)
    store.run(lambda connection: table.end_session(connection, digest("s")))
    store.run(lambda connection: table.end_session(connection, digest("nobody's")))
    assert sessions(store) == []
    with pytest.raises(RefusedError, match="does not know"):
        exchange(store)


def test_sessions_end_and_what_is_over_is_removed(store):
    add(store)
    add(store, code="never used")
    add(store, Invitation(Role.OWNER, None, expires=9999), "still open")
    exchange(store)
    assert sessions(store, now=5020) == []
    store.run(lambda connection: table.prune(connection, 5019))
    assert [one.who for one in invitations(store)] == ["ann", None]
    store.run(lambda connection: table.prune(connection, 5020))
    assert [one.who for one in invitations(store)] == [None]


def test_nothing_is_kept_that_lets_anybody_in(store):
    add(store, code="a-code-of-its-own")
    exchange(store, "a-code-of-its-own", "a-session-of-its-own")
    with store.reading() as connection:
        names = ("invitations", "sessions")
        kept = [str(list(connection.exec_driver_sql(f"SELECT * FROM {n}"))) for n in names]  # noqa: S608 - ours
    assert "ann" in kept[0]
    assert not [text for text in kept if "-of-its-own" in text]


def test_one_session_can_be_looked_up_by_either_secret(store):
    add(store)
    visitor = exchange(store)
    with store.reading() as connection:
        for secret in ("s", "pictures of s"):
            found = table.running_sessions(connection, 20, digest(secret))
            assert list(found.values()) == [visitor]
        assert table.running_sessions(connection, 20, digest("x")) == {}
