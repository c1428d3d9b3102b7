"""HTTP server (uvicorn) of the page on an address of this machine, until somebody stops it."""

import socket
import ssl
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from urllib.parse import quote, urlsplit

import uvicorn
from anyio.to_thread import current_default_thread_limiter
from starlette.types import ASGIApp

from possibal.labelling.access import AccessControl
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.write_queue import MAX_WAITING
from possibal.labelling.web import routes
from possibal.labelling.web.connections import BoundedConnection
from possibal.labelling.web.interfaces import machine_hosts
from possibal.labelling.web.log_limit import limited_logs
from possibal.labelling.web.routes import create_app
from possibal.labelling.web.security import (
    HTTP,
    HTTPS,
    LOOPBACK,
    PLATFORM_PATH,
    SecurityMiddleware,
    ServedHosts,
)

LOCAL = "127.0.0.1"
EVERYWHERE = frozenset(["0.0.0.0", "::"])  # noqa: S104 - what users say to be heard by all
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
class Certificate:
    """Files by which the server encrypts (TLS): the certificate with its chain, and its key."""

    file: Path
    key: Path

    def __post_init__(self) -> None:
        """Refuse files that are none, before anything else is done."""
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
                self.file, self.key, password=lambda: ""
            )
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            reason = getattr(error, "strerror", None) or error
            raise ValueError(
                f"tls_cert and tls_key must be a certificate and its key as PEM files; got "
                f"{str(self.file)!r} and {str(self.key)!r} ({reason}). See docs/teams.md."
            ) from None


@dataclass(frozen=True)
class Address:
    """Where the page is to be.

    Attributes:
        host: the address to listen on.
        port: to listen on; zero for any, None for the first that is free after the usual one.
        names: other names under which browsers may ask for it.
        public: the address at which people reach it through a proxy, such as
            https://labels.example.org.
        certificate: to encrypt with; None for a server that does not encrypt.
    """

    host: str = LOCAL
    port: int | None = None
    names: tuple[str, ...] = ()
    public: str | None = None
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        """Refuse a public address that is none."""
        if self.public is not None:
            parts = urlsplit(self.public)
            is_plain = self.public == f"{parts.scheme}://{parts.netloc}"
            if parts.scheme not in {HTTP, HTTPS} or not parts.netloc or not is_plain:
                raise ValueError(
                    "address must be http or https and a name, with nothing behind it; got "
                    f"{self.public!r}. Write, say, https://labels.example.org."
                )


class Server:
    """An address that is ours from now on, and the page that will be there.

    Attributes:
        origin: the address at which whoever started it opens the page.
        reachable: addresses at which other machines can open it; none if it is for this one alone.
        port: that was taken.
        hosts: names under which browsers may ask for it.
    """

    def __init__(self, address: Address, usual: int | None = None) -> None:
        """Take the port, so that the address is known.

        Args:
            address: where the page is to be.
            usual: the port at which it was before, tried first where none is named.
        """
        self._address, self._line = address, _bound(address, usual)
        self.port = self._line.getsockname()[1]
        is_open = address.host in EVERYWHERE
        reached = machine_hosts() if is_open else [_bracketed(address.host)]
        self.hosts = ServedHosts.of(
            [*reached, *address.names], address.public, tls=address.certificate is not None
        )
        others = [name for name in (*address.names, *reached) if name not in LOOPBACK]
        public = [address.public] if address.public else []
        self.reachable = [*public, *map(self._at, others)]
        self.origin = address.public or self._at(
            [*address.names, LOCAL if is_open else reached[0]][0]
        )

    @property
    def shared_origin(self) -> str:
        """The address at which people other than whoever started it open the page."""
        return self.reachable[0] if self.reachable else self.origin

    def _at(self, name: str) -> str:
        """The address of this server by a name of the machine."""
        return f"{HTTPS if self._address.certificate else HTTP}://{name}:{self.port}"

    def run(
        self, service: LabellingService, access: AccessControl, browser: str | None = None
    ) -> None:
        """Serve a campaign until Ctrl-C or until it is ended.

        Args:
            service: of the campaign.
            access: who may come in.
            browser: an address to open in a browser of this machine.
        """
        app = SecurityMiddleware(create_app(service, access, self.reachable), access, self.hosts)
        self.run_app(app, browser)

    def run_app(self, app: ASGIApp, browser: str | None = None) -> None:
        """Serve an application until Ctrl-C or until it is ended.

        Args:
            app: with the security middleware around all that it has.
            browser: an address to open in a browser of this machine.
        """
        certificate = self._address.certificate
        config = uvicorn.Config(
            app,
            http=BoundedConnection,
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=LEAVING,
            ssl_certfile=certificate and certificate.file,
            ssl_keyfile=certificate and certificate.key,
        )
        if browser is not None:
            opening = Timer(0.3, lambda: webbrowser.open(browser))
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


def invitation_address(origin: str, code: str, who: str | None = None) -> str:
    """The address of an invitation; browsers keep what stands behind # to themselves."""
    return f"{origin}/#join={code}" + ("" if who is None else f"&for={quote(who, safe='')}")


def platform_address(origin: str, session: str) -> str:
    """The address at which Label Studio has a backend: what it sends carries name and password."""
    scheme, _, rest = origin.partition("://")
    return f"{scheme}://label-studio:{session}@{rest}{PLATFORM_PATH.rstrip('/')}"


def _bracketed(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


def _ports(address: Address, usual: int | None) -> Sequence[int]:
    """The ports to try, in this order."""
    if address.port is not None:
        return [address.port]
    return list(
        dict.fromkeys([usual or DEFAULT_PORT, *range(DEFAULT_PORT, DEFAULT_PORT + PORTS), 0])
    )


def _bound(address: Address, usual: int | None) -> socket.socket:
    """A socket at the address, or one sentence."""
    if not address.host:  # to the system, that is every address of this machine
        raise ValueError(
            f"host must be a name or an address of this machine; got {address.host!r}. "
            "Leave it out to be heard here alone, or use 0.0.0.0 to be heard by all."
        )
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    reason: object = None
    for port in _ports(address, usual):
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
