"""The page on an address of this machine, until somebody stops it."""

import secrets
import socket
import webbrowser
from dataclasses import dataclass
from threading import Timer

import uvicorn

from possibal.service import Desk
from possibal.web.app import application
from possibal.web.gate import Gate

LOCAL = "127.0.0.1"
USUAL = 8765
"""The port that is tried first."""
PORTS = 20
"""How many are tried after it."""


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
    """A page that is ready to be served, and the address that opens it."""

    def __init__(self, desk: Desk, address: Address) -> None:
        """Take the port, so that the address is known."""
        self._line, token = _bound(address), secrets.token_urlsafe(24)
        port = self._line.getsockname()[1]
        shown = f"[{address.host}]" if ":" in address.host else address.host
        self.url = f"http://{address.names[0] if address.names else shown}:{port}/?token={token}"
        cookie = f"possibal-{port}"  # cookies know no ports, so that names must differ
        gate = Gate(application(desk, cookie), token, [shown, *address.names], cookie)
        config = uvicorn.Config(
            gate, log_level="warning", access_log=False, server_header=False, ws="none"
        )
        self._server = uvicorn.Server(config)

    def run(self, *, browser: bool) -> None:
        """Serve until Ctrl-C or until it is ended, with the page opened if wanted."""
        if browser:
            opening = Timer(0.3, lambda: webbrowser.open(self.url))
            opening.daemon = True
            opening.start()
        try:
            self._server.run(sockets=[self._line])
        except KeyboardInterrupt:
            pass
        finally:
            self._line.close()


def _bound(address: Address) -> socket.socket:
    """A socket at the address, or one sentence."""
    wanted = [address.port] if address.port is not None else [*range(USUAL, USUAL + PORTS), 0]
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
