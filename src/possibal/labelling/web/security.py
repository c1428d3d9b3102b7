"""Security middleware: host check, CSRF check (Sec-Fetch-Site, Origin), sessions, CSP.

The outermost layer, before anything else sees a request. A request must be for a host that we
serve, come from our own page, and carry a session. Everything else is refused here.

The session is a bearer token that the page keeps in storage of its own origin. There is no cookie:
cookies know no ports, so that every other program on the machine would be sent it.
"""

import base64
import binascii
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qs, urlsplit

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from possibal.errors import UnavailableError
from possibal.labelling.access import AccessControl
from possibal.labelling.storage.invitations import Role, Visitor

MOST_BYTES = 64_000
"""Of a request: an answer is a few hundred."""
LONGEST_SESSION = 200
"""Characters of a session; others are not looked up."""
LOOPBACK = frozenset(["127.0.0.1", "localhost", "[::1]"])
HTTP, HTTPS = "http", "https"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
FOREIGN = frozenset(["cross-site", "same-site"])
"""What browsers say of requests that another site's page makes."""
SESSION_PATH, JOIN_PATH, PICTURES_PATH = "/api/session", "/api/join", "/media/"
"""Where one hears who one is, where an invitation is exchanged, and where pictures are."""
PLATFORM_PATH = "/label-studio/"
"""Where labelling platforms find what is for them, and where nobody else has anything to do."""
PLATFORM_SIZES = {f"{PLATFORM_PATH}predict": 32_000_000, f"{PLATFORM_PATH}webhook": 4_000_000}
"""Bytes of their requests: all tasks of a project at once, or a task with its project."""
NOT_FOR_ROLE = "This address is for another role: platforms have {path}, people have the page."
NOT_IN = "Open the address of your invitation: it lets this browser in, once."
PROBLEM_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>possibal</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/style.css"></head>
<body><main id="view"><section class="card welcome"><h1>{title}</h1><p>{sentence}</p>
<p><a href="/">To the page</a></p></section></main></body></html>
"""


@dataclass(frozen=True)
class ServedHosts:
    """Under which names browsers may ask for the page, and by which scheme each.

    Attributes:
        named: schemes by name, without a port; names in brackets where they are of IPv6.
        public: the origin at which people reach it through a proxy, if there is one.
    """

    named: dict[str, frozenset[str]]
    public: str | None = None

    @classmethod
    def of(cls, names: Iterable[str], public: str | None = None, *, tls: bool) -> "ServedHosts":
        """The names of a server.

        Args:
            names: under which it may be reached; by a proxy that encrypts, too.
            public: the address at which people reach it through a proxy.
            tls: whether it encrypts by itself.
        """
        schemes = frozenset([HTTPS]) if tls else frozenset([HTTP, HTTPS])
        found = dict.fromkeys([*LOOPBACK, *(name.lower() for name in names if name)], schemes)
        if public is not None:
            parts = urlsplit(public)
            found[name_of(parts.netloc)] = frozenset([parts.scheme])
        return cls(found, public)

    def knows(self, host: str) -> bool:
        """Whether a host, with or without its port, is one of ours."""
        return name_of(host) in self.named

    def is_own(self, origin: str, host: str) -> bool:
        """Whether an origin is the page at a host."""
        schemes = self.named.get(name_of(host), frozenset[str]())
        return origin == self.public or any(origin == f"{one}://{host}" for one in schemes)


class SecurityMiddleware:
    """ASGI middleware that refuses foreign hosts and pages, missing sessions and large bodies."""

    def __init__(
        self,
        app: ASGIApp,
        access: AccessControl,
        hosts: ServedHosts,
        *,
        largest: Mapping[str, int] | None = None,
        public: str | None = None,
    ) -> None:
        """Let in whoever has a session, under one of these host names.

        Args:
            app: what is behind it.
            access: who is in.
            hosts: names of this server.
            largest: bytes that requests to some paths may have, where that is more than usual.
            public: the beginning of paths that everybody may ask for.
        """
        self._app, self._access, self._hosts = app, access, hosts
        self._largest, self._public = {**PLATFORM_SIZES, **(largest or {})}, public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = await self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send, scope))
            return
        await self._forward(scope, receive, send)

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on with its whole body, if that is not too large."""
        body, is_whole = bytearray(), False
        most = self._largest.get(scope["path"], MOST_BYTES)
        while not is_whole and len(body) <= most:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            is_whole = not message.get("more_body", False)
        shown = _with_headers(send, scope)
        if len(body) > most:
            await _too_large(most)(scope, receive, shown)
            return
        read: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def again() -> Message:
            return read.pop() if read else await receive()

        await self._app(scope, again, shown)

    async def _refusal(self, scope: Scope) -> Response | None:
        """Why a request is refused; None if it is not, and then it is known whose it is."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._hosts.knows(hosts[0]):
            sentence = "Host must be one that this server knows. Use --allow-host NAME."
            return problem(headers, 403, sentence)
        if self._is_foreign(scope, headers):
            sentence = "Requests must come from this page. Open its address yourself."
            return problem(headers, 403, sentence)
        try:
            visitor = await self._visitor(scope, headers)
        except UnavailableError as error:
            return JSONResponse({"detail": str(error)}, 503, {"retry-after": "2"})
        path: str = scope["path"]
        if visitor is None and not self._is_open(path):
            return problem(headers, 401, NOT_IN)
        if visitor is not None and _is_for_platforms(path) != (visitor.role is Role.PLATFORM):
            return problem(headers, 403, NOT_FOR_ROLE.format(path=PLATFORM_PATH))
        scope.setdefault("state", {})["visitor"] = visitor
        return None

    async def _visitor(self, scope: Scope, headers: Headers) -> Visitor | None:
        """Whom a request comes from; None if it does not say, or nobody is known by that."""
        secret, is_key = bearer(headers), False
        if not secret and _is_for_platforms(scope["path"]):
            secret = _password(headers)
        if not secret and scope["path"].startswith(PICTURES_PATH):
            secret, is_key = _picture_key(scope), True
        if not secret or len(secret) > LONGEST_SESSION:
            return None
        found = self._access.known(secret, pictures=is_key)
        if found is not None or self._access.is_alone:
            return found
        find = functools.partial(self._access.visitor, secret, pictures=is_key)
        return await to_thread.run_sync(find)

    def _is_open(self, path: str) -> bool:
        """Whether somebody may ask for this who is not in: the page itself, and to be let in."""
        is_public = self._public is not None and path.startswith(self._public)
        return path in {"/", SESSION_PATH, JOIN_PATH} or path.startswith("/static/") or is_public

    def _is_foreign(self, scope: Scope, headers: Headers) -> bool:
        """Whether another site's page made the request; following a link to the page is fine."""
        origin = headers.get("origin")
        if origin is not None and not self._hosts.is_own(origin, headers.get("host", "")):
            return True
        is_link = (
            scope["method"] == "GET"
            and scope["path"] == "/"
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
        )
        return headers.get("sec-fetch-site") in FOREIGN and not is_link


def name_of(host: str) -> str:
    """The host without its port."""
    bare = host.lower()
    return bare if bare.endswith("]") else bare.rpartition(":")[0] or bare


def bearer(headers: Headers) -> str:
    """The session that a request carries; empty if there is none."""
    scheme, _, session = headers.get("authorization", "").partition(" ")
    return session.strip() if scheme.lower() == "bearer" else ""


def _is_for_platforms(path: str) -> bool:
    """Whether a path is one for labelling platforms."""
    return path.startswith(PLATFORM_PATH)


def _password(headers: Headers) -> str:
    """The password that a request carries (Basic), whatever the name; empty if there is none.

    Browsers send it by themselves where somebody typed it, so that it opens nothing of the page.
    """
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(given.strip(), validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


def _picture_key(scope: Scope) -> str:
    """What the address of a picture carries."""
    return parse_qs(scope["query_string"].decode("latin-1")).get("key", [""])[0]


def problem(headers: Headers, status: int, sentence: str) -> Response:
    """A refusal in one sentence: a page for whoever opens an address, JSON for programs."""
    kind = {"www-authenticate": "Bearer"} if status == 401 else {}  # noqa: PLR2004 - HTTP's own
    if headers.get("sec-fetch-mode") == "navigate" or "text/html" in headers.get("accept", ""):
        title = "Not signed in" if kind else "Not here"
        page = PROBLEM_PAGE.format(title=title, sentence=escape(sentence))
        return HTMLResponse(page, status, kind)
    return JSONResponse({"detail": sentence}, status, kind)


def _too_large(most: int) -> Response:
    """That a request is too large."""
    sentence = f"A request must be at most {most} bytes. Send less."
    return JSONResponse({"detail": sentence}, 413)


def _with_headers(send: Send, scope: Scope) -> Send:
    """The same, with what keeps browsers from doing more than the page needs."""

    async def shown(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            kept = "no-cache" if scope["path"].startswith("/static/") else "no-store"
            headers.setdefault("cache-control", kept)
        await send(message)

    return shown
