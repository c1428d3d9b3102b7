"""Who may come in, under which name, and what they may do."""

import numpy as np
import pytest

from possibal.errors import ForbiddenError, RefusedError, UnavailableError
from possibal.labelling import access as control
from possibal.labelling.access import AccessControl, check_owner
from possibal.labelling.storage.invitations import Role, Visitor
from possibal.labelling.storage.store import Contents, Item, Setup, Store, clock

pytest_plugins = ["support.postgres"]
SETUP, CONTENTS = Setup("a", "table", 1), Contents([Item(0, "0")], {"X": np.zeros((1, 1))})


@pytest.fixture(name="store")
def _store(tmp_path):
    with Store.create(str(tmp_path / "a.db"), SETUP, CONTENTS) as store:
        yield store


@pytest.fixture(name="access")
def _access(store):
    return AccessControl(store)


def test_a_session_is_known_by_its_secrets_and_by_nothing_else(access):
    access.join(access.invite("ann"), "s", "p")
    assert access.visitor("s").who == access.visitor("p", pictures=True).who == "ann"
    assert access.known("s").who == access.known("p", pictures=True).who == "ann"
    assert access.is_alone
    assert access.visitor("p") is access.visitor("s", pictures=True) is access.visitor("") is None


def test_a_platform_is_in_at_once_and_listed_and_has_no_rights_of_people(store, access):
    session = access.admit_platform("Label Studio")
    found = AccessControl(store).visitor(session)
    assert (found.role, found.who, found.is_owner) == (Role.PLATFORM, "Label Studio", False)
    (listed,) = access.invitations()
    assert (listed.role, listed.joined is not None) == (Role.PLATFORM, True)
    assert access.admit_platform("Label Studio") != session
    with pytest.raises(ForbiddenError, match="who must be a name under which nobody was invited"):
        access.check_name(Visitor(Role.OWNER, None), "label studio")


def test_sessions_survive_a_restart(store, access):
    access.join(access.invite("ann"), "s", "p")
    again = AccessControl(store)
    assert again.visitor("s") == access.visitor("s")


def test_an_invitation_is_used_once_and_nothing_is_lost_if_its_reply_is(access):
    code = access.invite("ann")
    first = access.join(code, "s", "p")
    assert access.join(code, "s", "p").invitation == first.invitation
    with pytest.raises(RefusedError):
        access.join(code, "t", "q")


def test_whoever_is_sent_away_or_leaves_is_out(access):
    for name in ("s", "t"):
        access.join(access.invite("ann"), name, name[::-1] * 2)
    first, _ = access.invitations()
    access.withdraw(first.number)
    assert (access.visitor("s"), access.visitor("t").who) == (None, "ann")
    access.leave("t")
    assert access.visitor("t") is None
    assert access.invitations() == []


def test_a_browser_that_joins_anew_leaves_its_former_session(access):
    access.join(access.invite(None, Role.OWNER), "s", "p")
    access.join(access.invite("ann"), "t", "q", former="s")
    assert (access.visitor("s"), access.visitor("t").who) == (None, "ann")


def test_a_session_ends_after_its_days(access, monkeypatch):
    access.join(access.invite("ann"), "s", "p")
    later = clock() + control.SESSION_DAYS * control.DAY + 1
    monkeypatch.setattr(Store, "clock", lambda _self: later)
    assert access.visitor("s") is None


@pytest.mark.parametrize("days", [0, -1, control.MOST_DAYS + 1, float("nan"), float("inf")])
def test_an_invitation_has_some_days(access, days):
    with pytest.raises(ValueError, match=r"^days must be more than 0, and 90 at most; got"):
        access.invite("ann", days=days)


@pytest.mark.parametrize("who", ["", " ann", "a" * 61, "a\nb"])
def test_an_invitation_is_for_a_name(access, who):
    with pytest.raises(ValueError, match=r"^who must be a name of 1 to 60 characters"):
        access.invite(who)


def test_only_owners_may_choose_their_name(access):
    with pytest.raises(ValueError, match=r"^who must be named; got None for an annotator"):
        access.invite(None, Role.ANNOTATOR)


def test_there_are_not_ever_more_invitations(access, monkeypatch):
    monkeypatch.setattr(control, "MOST_INVITATIONS", 1)
    access.invite("ann")
    with pytest.raises(RefusedError, match=r"^invitations must be 1 at most"):
        access.invite("bob")


def test_what_is_not_there_cannot_be_withdrawn(access):
    with pytest.raises(RefusedError, match=r"^invitation must be one that there is; got number 7"):
        access.withdraw(7)


# ---------------------------------------------------------------- names and roles
def test_whoever_was_invited_answers_under_that_name_alone(access):
    ann = access.join(access.invite("ann"), "s", "p")
    access.check_name(ann, "ann")
    for other in ("bob", "Ann", ""):
        with pytest.raises(ForbiddenError, match=r"^who must be 'ann', as you were invited; got"):
            access.check_name(ann, other)
    assert access.named(ann, "") == "ann"


def test_an_owner_may_choose_a_name_but_none_of_somebody_who_was_invited(access):
    owner = access.join(access.invite(None, Role.OWNER), "s", "p")
    access.check_name(owner, "ann")
    access.invite("Ann")
    with pytest.raises(ForbiddenError, match=r"^who must be a name under which nobody was invited"):
        access.check_name(owner, "ann")
    assert (access.named(owner, ""), access.named(owner, "bob")) == ("", "bob")


def test_what_is_for_owners_is_refused_to_others():
    check_owner(Visitor(Role.OWNER, None), "do this")
    with pytest.raises(ForbiddenError, match=r"^Owners alone do this; you are an annotator\. Ask"):
        check_owner(Visitor(Role.ANNOTATOR, "ann"), "do this")


# ---------------------------------------------------------------- several servers
@pytest.fixture(name="two")
def _two(postgresql):
    with Store.create(postgresql, SETUP, CONTENTS) as one, Store.open(postgresql) as other:
        yield AccessControl(one), AccessControl(other)


def test_a_session_holds_at_once_at_every_server(two):
    one, other = two
    one.join(one.invite("ann"), "s", "p")
    assert other.visitor("s") == one.visitor("s")
    assert other.visitor("p", pictures=True) == one.visitor("s")
    assert other.visitor("p") is None


def test_whoever_is_sent_away_at_one_server_is_out_at_all(two, monkeypatch):
    one, other = two
    one.join(one.invite("ann"), "s", "p")
    monkeypatch.setattr(control, "FRESH", 0.0)
    (invitation,) = other.invitations()
    assert one.visitor("s") is not None
    assert one.known("s") is None  # others may have ended it
    other.withdraw(invitation.number)
    assert one.visitor("s") is None


def test_whoever_is_in_stays_in_while_the_database_is_away(two, monkeypatch):
    one, _ = two
    one.join(one.invite("ann"), "s", "p")
    monkeypatch.setattr(control, "FRESH", 0.0)

    def away():
        raise UnavailableError("away")

    monkeypatch.setattr(Store, "reading", lambda _self: away())
    assert one.visitor("s").who == "ann"
    with pytest.raises(UnavailableError):
        one.visitor("unknown")
