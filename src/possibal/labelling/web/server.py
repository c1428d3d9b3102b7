"""HTTP server (uvicorn) of the page on an address of this machine, until somebody stops it."""

import secrets
import socket
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from threading import Timer

import uvicorn
from anyio.to_thread import current_default_thread_limiter

from possibal.labelling.service import LabellingService
from possibal.labelling.storage.write_queue import MAX_WAITING
from possibal.labelling.web import routes
from possibal.labelling.web.connections import BoundedConnection
from possibal.labelling.web.log_limit import limited_logs
from possibal.labelling.web.routes import create_app
from possibal.labelling.web.security import SecurityMiddleware

LOCAL = "127.0.0.1"
DEFAULT_PORT = 8765
"""The port that is tried first."""
PORTS = 20
"""How many are tried after it."""


THREADS = MAX_WAITING + 36
"""Requests that are worked on at once. Writes may wait for the database, others do not."""
BACKLOG = 128
"""Connections that the system keeps for us."""
LEAVING = 12
"""Seconds after Ctrl-C in which requests may end; a write that waits fails before that."""
LOGS = ("uvicorn.error", "asyncio", routes.__name__)
"""Loggers of what anybody who connects can cause."""


@dataclass(frozen=True)
class Address:
    """Where the page is to be.

    Attributes:
        host: the address to listen on.
        port: to listen on; zero for any, None for the first that is free after the usual one.
        names: other names under which browsers may ask for it.
    """

    host: str = LOCAL
    port: int | None = None
    names: tuple[str, ...] = ()


class Server:
    """An address that is ours from now on, and the page that will be there."""

    def __init__(self, address: Address) -> None:
        """Take the port, so that the address is known."""
        self._line, self._token = _bound(address), secrets.token_urlsafe(24)
        port = self._line.getsockname()[1]
        shown = f"[{address.host}]" if ":" in address.host else address.host
        self._hosts = [shown, *address.names]
        self._cookie = f"possibal-{port}"  # cookies know no ports, so that names must differ
        named = address.names[0] if address.names else shown
        self.url = f"http://{named}:{port}/?token={self._token}"

    def run(self, service: LabellingService, *, browser: bool) -> None:
        """Serve until Ctrl-C or until it is ended, with the page opened if wanted."""
        app = SecurityMiddleware(
            create_app(service, self._cookie), self._token, self._hosts, self._cookie
        )
        config = uvicorn.Config(
            app,
            http=BoundedConnection,
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=LEAVING,
        )
        if browser:
            opening = Timer(0.3, lambda: webbrowser.open(self.url))
            opening.daemon = True
            opening.start()
        with suppress(KeyboardInterrupt), limited_logs(*LOGS):
            _ThreadedServer(config).run(sockets=[self._line])

    def close(self) -> None:
        """Give the port back."""
        self._line.close()


class _ThreadedServer(uvicorn.Server):
    """uvicorn with threads to spare: writes that wait never take all of them."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Have so many threads for requests."""
        current_default_thread_limiter().total_tokens = THREADS
        await super().startup(sockets)


def _bound(address: Address) -> socket.socket:
    """A socket at the address, or one sentence."""
    if not address.host:  # to the system, that is every address of this machine
        raise ValueError(
            f"host must be a name or an address of this machine; got {address.host!r}. "
            "Leave it out to be heard here alone, or use 0.0.0.0 to be heard by all."
        )
    wanted = (
        [address.port]
        if address.port is not None
        else [*range(DEFAULT_PORT, DEFAULT_PORT + PORTS), 0]
    )
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    reason: object = None
    for port in wanted:
        # With its protocol named, asyncio sends small answers at once; without, 40 ms later.
        line = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            line.bind((address.host, port))
            line.listen()  # from now on nobody else gets the port, and whoever comes early waits
        except (OSError, OverflowError, UnicodeError) as error:
            line.close()
            reason = getattr(error, "strerror", None) or error
        else:
            return line
    raise ValueError(
        f"port must be free on {address.host}; got {address.port} ({reason}). "
        "Choose another with --port, or leave it out."
    )
