"""One server for home and for the campaigns that are open, each with sessions of its own."""

import json
from contextlib import closing

import pytest
from support.served import HOST, PICTURES, SESSION, send, service_of, table

from possibal.data.source import SourceSpec
from possibal.labelling.home.home import Home, home_store
from possibal.labelling.storage.invitations import Role
from possibal.labelling.web.home_app import HomeApplication
from possibal.labelling.web.server import Address, Server
from possibal.progress import no_stages

DB = "a b.db"
AT = "/campaigns/a b.db"
SEEN = ("Host", HOST)


@pytest.fixture(name="site")
def _site(tmp_path):
    """A home with a campaign that is open, and one that is not."""
    for name in ("a b", "c"):
        wanted = SourceSpec(table(tmp_path / f"{name}.csv", rows=20), classes=("yes", "no"))
        with service_of(wanted, tmp_path / f"{name}.db"):
            pass
    with (
        home_store(tmp_path) as store,
        closing(Server(Address(port=0, names=("b.example",)))) as server,
        Home(tmp_path, store, lambda _store, _file: None) as home,
    ):
        yield HomeApplication(home, store, server), home


def joined(app, at: str, code: str, session: str) -> int:
    """The status of an invitation that is exchanged."""
    given = json.dumps({"code": code, "session": session, "pictures": PICTURES}).encode()
    headers = (SEEN, ("Content-Type", "application/json"))
    return send(app, "POST", f"{at}/api/join", headers, (given,)).status


def asked(app, path: str, session: str):
    return send(app, "GET", path, (SEEN, ("Authorization", f"Bearer {session}")))


def test_sessions_of_home_and_of_campaigns_are_apart(site):
    app, home = site
    campaign = home.host.opened(DB, no_stages)
    code = campaign.access.invite(None, Role.OWNER)
    assert joined(app, "", code, SESSION) == 409
    assert joined(app, AT, code, SESSION) == 200
    assert asked(app, f"{AT}/api/campaign", SESSION).json()["name"] == "a b"
    assert asked(app, "/api/home", SESSION).status == 401
    mine = "8" * 64
    assert joined(app, "", app.access.invite(None, Role.OWNER), mine) == 200
    assert asked(app, "/api/home", mine).status == 200
    headers = (SEEN, ("Authorization", f"Bearer {mine}"), ("Content-Type", "application/json"))
    for session, is_invited in ((SESSION, False), (mine, True), (None, True)):
        given = json.dumps({"file": DB, "session": session}).encode()
        entered = send(app, "POST", "/api/enter", headers, (given,)).json()["address"]
        assert ("#join=" in entered) is is_invited
        assert entered.startswith("/campaigns/a%20b.db/")
    assert asked(app, f"{AT}/api/campaign", mine).status == 401
    assert send(app, "GET", f"{AT}/api/campaign", (("Host", "evil.example"),)).status == 403
    assert b"main.js" in send(app, "GET", f"{AT}/", (SEEN,)).body
    assert b"home.js" in send(app, "GET", "/", (SEEN,)).body
    invited = json.dumps({"who": "ann"}).encode()
    headers = (SEEN, ("Authorization", f"Bearer {SESSION}"), ("Content-Type", "application/json"))
    reply = send(app, "POST", f"{AT}/api/invite", headers, (invited,)).json()
    assert reply["origins"][0].startswith("http://b.example:")
    assert reply["origins"][0].endswith("/campaigns/a%20b.db")


def test_a_campaign_that_is_closed_and_opened_again_is_served_anew(site):
    app, home = site
    first = home.host.opened(DB, no_stages)
    assert send(app, "GET", f"{AT}/api/session", (SEEN,)).status == 200
    assert send(app, "GET", AT, (SEEN,)).status == 503  # addresses in its page need the slash
    assert send(app, "GET", "/campaigns/c.db/", (SEEN,)).status == 503
    home.host.close()
    assert send(app, "GET", f"{AT}/api/session", (SEEN,)).status == 503
    second = home.host.opened(DB, no_stages)
    assert second is not first
    assert send(app, "GET", f"{AT}/api/session", (SEEN,)).status == 200
    assert second.idle < first.idle
