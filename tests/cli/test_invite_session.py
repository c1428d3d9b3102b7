from pathlib import Path

import pytest
from support.begun import campaign, source
from support.old_campaigns import OLD_CAMPAIGNS

from possibal.cli.invite_session import InviteRequest, invited, state
from possibal.errors import RefusedError
from possibal.labelling.access import AccessControl
from possibal.labelling.serving import SERVED_AT
from possibal.labelling.storage.invitations import Invitation, Role
from possibal.labelling.storage.store import Store, clock


@pytest.fixture(name="db")
def _db(tmp_path: Path) -> str:
    """A campaign that was served before."""
    db = campaign(source(tmp_path), tmp_path / "a.db")
    with Store.open(db) as store:
        store.note_fact(SERVED_AT, "http://labels.example:8765")
    return db


def wanted(*names: str, withdrawn=(), role="annotator", address=None, days=7.0) -> InviteRequest:
    return InviteRequest(names, role, days, address, tuple(withdrawn))


def test_people_are_invited_to_where_the_page_was_last(db):
    said, found = invited(db, wanted("ann", "Zoë"))
    start = "For ann: http://labels.example:8765/#join="
    assert said[0].startswith(start)
    assert said[0].endswith("&for=ann")
    assert [(one.who, one.role) for one in found] == [("ann", "annotator"), ("Zoë", "annotator")]
    code = said[0].removeprefix(start).removesuffix("&for=ann")
    with Store.open(db) as store:
        assert AccessControl(store).join(code, "s", "p").who == "ann"


def test_the_address_may_be_another(db):
    said, _ = invited(db, wanted("ann", address="https://other.example", role="owner"))
    assert said[0].startswith("For ann: https://other.example/#join=")


def test_nothing_is_written_to_list_them(db):
    invited(db, wanted("ann"))
    with Store.open(db):  # somebody else writes
        assert [one.who for one in invited(db, wanted())[1]] == ["ann"]


def test_all_is_done_or_nothing(db):
    _, (ann,) = invited(db, wanted("ann"))
    with pytest.raises(RefusedError, match="got number 99"):
        invited(db, wanted("bob", withdrawn=[ann.number, 99]))
    assert [one.who for one in invited(db, wanted())[1]] == ["ann"]
    said, left = invited(db, wanted("bob", withdrawn=[ann.number]))
    assert said[0] == f"Withdrew invitation {ann.number}."
    assert [one.who for one in left] == ["bob"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"names": (" x",)}, "who must be a name of 1 to 60 characters"),
        ({"days": 0}, "days must be more than 0, and 90 at most; got 0"),
        ({"address": "labels"}, "address must be http or https and a name"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_done(given, sentence):
    names = given.pop("names", ("ann",))
    with pytest.raises(ValueError, match=sentence):
        wanted(*names, **given)


def test_a_campaign_that_was_never_served_has_no_address(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    with pytest.raises(ValueError, match=r"^address must be given for a campaign that was never"):
        invited(db, wanted("ann"))


def test_a_campaign_of_an_earlier_version_is_opened_once_before(tmp_path):
    db, _ = next(iter(OLD_CAMPAIGNS.values())).unpack(tmp_path)
    with pytest.raises(ValueError, match=r"got version 1\. Open it once with possibal label\."):
        invited(str(db), wanted())


def test_how_far_an_invitation_is_stands_in_words():
    later, before = clock() + 10**6, clock() - 1
    assert state(Invitation(Role.OWNER, "a", later)).startswith("open until 20")
    assert state(Invitation(Role.OWNER, "a", before)) == "too old"
    assert state(Invitation(Role.OWNER, "a", before, joined=0)) == (
        "in since 1970-01-01T00:00:00.000Z"
    )
