"""The application of a folder: its home page, and below it the page of each campaign that is open.

app = HomeApplication(home, access, server)

Every campaign has its own sessions, checked by its own security middleware, as if it were alone.
"""

from urllib.parse import quote

from starlette.types import ASGIApp, Receive, Scope, Send

from possibal.labelling.access import AccessControl
from possibal.labelling.home.home import Home
from possibal.labelling.home.hosting import HostedCampaign
from possibal.labelling.home.uploads import PIECE
from possibal.labelling.storage.store import Store
from possibal.labelling.web.home_routes import PIECE_PATH, PLACE, campaign_place, create_home
from possibal.labelling.web.routes import create_app
from possibal.labelling.web.security import SecurityMiddleware
from possibal.labelling.web.server import Server


class HomeApplication:
    """ASGI application that hands requests to home, or to the campaign that their path names."""

    def __init__(self, home: Home, store: Store, server: Server) -> None:
        """Serve a home.

        Args:
            home: of a folder.
            store: what keeps who may come in to home.
            server: at which it is.
        """
        self.access = AccessControl(store)
        self._host, self._server = home.host, server
        self._home = SecurityMiddleware(
            create_home(home, self.access, store.setup().digest[:16]),
            self.access,
            server.hosts,
            largest={PIECE_PATH: PIECE},
            public=PLACE,
        )
        self._pages = dict[str, tuple[HostedCampaign, ASGIApp]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on."""
        found = self._campaign(scope)
        if found is None:
            await self._home(scope, receive, send)
            return
        campaign, path = found
        inner = {**scope, "path": path, "raw_path": quote(path).encode()}
        with campaign.request():
            await self._page(campaign)(inner, receive, send)

    def _campaign(self, scope: Scope) -> tuple[HostedCampaign, str] | None:
        """The open campaign that a request is for, and its path there."""
        if scope["type"] != "http" or not scope["path"].startswith(PLACE):
            return None
        name, slash, rest = scope["path"].removeprefix(PLACE).partition("/")
        found = self._host.find(name)
        return None if found is None or not slash else (found, f"/{rest}")

    def _page(self, campaign: HostedCampaign) -> ASGIApp:
        """The page of a campaign, made once for as long as it is open."""
        known = self._pages.get(campaign.file)
        if known is not None and known[0] is campaign:
            return known[1]
        place = campaign_place(campaign.file)
        origins = [f"{origin}{place}" for origin in self._server.reachable]
        app = create_app(campaign.service, campaign.access, origins)
        page = SecurityMiddleware(app, campaign.access, self._server.hosts)
        self._pages[campaign.file] = campaign, page
        return page
