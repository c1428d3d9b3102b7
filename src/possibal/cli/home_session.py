"""Session of `possibal home`: serve the campaigns of a folder until somebody stops it."""

from contextlib import closing
from pathlib import Path

from possibal.cli.console import console, mistakes
from possibal.files import folder as writable
from possibal.labelling.access import TERMINAL_DAYS
from possibal.labelling.home.home import Home, home_store
from possibal.labelling.serving import PORT, SERVED_AT
from possibal.labelling.storage.invitations import Role
from possibal.labelling.storage.store import Store
from possibal.labelling.web.home_app import HomeApplication
from possibal.labelling.web.home_routes import campaign_place
from possibal.labelling.web.server import Address, Server, invitation_address


def serve(folder: Path, address: Address, *, browser: bool) -> None:
    """Serve the home of a folder.

    Args:
        folder: of the campaigns.
        address: of the page.
        browser: whether to open it.
    """
    with mistakes():
        place = writable(folder, "folder").resolve()
        store = home_store(place)
    with store:
        usual = store.fact(PORT) or ""
        with mistakes():
            server = Server(address, int(usual) if usual.isdecimal() else None)
        with closing(server):
            store.note_fact(PORT, str(server.port))

            def served(campaign: Store, file: str) -> None:
                """Note with a campaign where its page is."""
                at = f"{server.shared_origin}{campaign_place(file)}"
                campaign.note_fact(SERVED_AT, at)
                campaign.note_fact(PORT, str(server.port))

            with Home(place, store, served) as home:
                _run(home, store, server, browser=browser)


def _run(home: Home, store: Store, server: Server, *, browser: bool) -> None:
    """Serve, and say where, and how far each campaign is at the end."""
    say, app = console(), HomeApplication(home, store, server)
    url = invitation_address(server.origin, app.access.invite(None, Role.OWNER, TERMINAL_DAYS))
    say.print(f"Home at {url}", soft_wrap=True)
    if server.reachable:
        at = invitation_address(
            server.shared_origin, app.access.invite(None, Role.OWNER, TERMINAL_DAYS)
        )
        say.print(f"From another machine: {at}", soft_wrap=True)
    say.print(f"Campaigns are kept in {home.folder}. Stop with Ctrl-C.", soft_wrap=True)
    say.file.flush()
    server.run_app(app, url if browser else None)
    for sentence in home.close():
        say.print(sentence, soft_wrap=True)
