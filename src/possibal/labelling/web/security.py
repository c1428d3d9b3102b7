"""Security middleware: host check, CSRF check (Sec-Fetch-Site, Origin), session cookie, CSP.

The outermost layer, before anything else sees a request. A request must be for a host that we
serve, come from our own page, and carry the cookie that the address with the token is exchanged
for. Everything else is refused here.
"""

import hmac
from collections.abc import Iterable
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 64_000
"""Of a request: an answer is a few hundred."""
LOOPBACK = frozenset(["127.0.0.1", "localhost", "[::1]"])
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


class SecurityMiddleware:
    """ASGI middleware that refuses foreign hosts and pages, missing sessions and large bodies."""

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str], cookie: str) -> None:
        """Let in whoever has the token, under one of these host names."""
        self._app, self._token, self._cookie = app, token, cookie
        self._hosts = LOOPBACK | {host.lower() for host in hosts if host}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send, scope))
            return
        await self._forward(scope, receive, send)

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on with its whole body, if that is not too large."""
        body, is_whole = b"", False
        while not is_whole and len(body) <= MOST_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            is_whole = not message.get("more_body", False)
        shown = _with_headers(send, scope)
        if len(body) > MOST_BYTES:
            await _too_large()(scope, receive, shown)
            return
        read: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return read.pop() if read else await receive()

        await self._app(scope, again, shown)

    def _refusal(self, scope: Scope) -> Response | None:
        """Why a request is refused; None if it is not."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _name(hosts[0]) not in self._hosts:
            return _problem(403, "Host must be one that this server knows. Use --allow-host NAME.")
        if self._is_foreign(scope, headers):
            return _problem(403, "Requests must come from this page. Open its address yourself.")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if given and scope["path"] == "/" and scope["method"] == "GET" and self._is_token(given[0]):
            return self._session()
        if not self._is_token(_cookie(headers, self._cookie)):
            return _problem(401, "Open the address that possibal printed: it lets you in.")
        return None

    def _is_foreign(self, scope: Scope, headers: Headers) -> bool:
        """Whether another site's page made the request; following a link to the page is fine."""
        origin = headers.get("origin")
        if origin is not None and origin not in {
            f"{scheme}://{headers.get('host', '')}" for scheme in ("http", "https")
        }:
            return True
        is_link = (
            scope["method"] == "GET"
            and scope["path"] == "/"
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
        )
        return headers.get("sec-fetch-site") in FOREIGN and not is_link

    def _is_token(self, given: str) -> bool:
        """Whether this is the token, by a constant-time comparison."""
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _session(self) -> Response:
        """Redirect to the page, with a session cookie in place of the token in the address."""
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="lax", path="/")
        return answer


def _name(host: str) -> str:
    """The host without its port."""
    bare = host.lower()
    return bare if bare.endswith("]") else bare.rpartition(":")[0] or bare


def _cookie(headers: Headers, name: str) -> str:
    """The value of a cookie, whatever else other programs here set; empty if there is none."""
    return cookie_parser(headers.get("cookie", "")).get(name, "")


def _problem(status: int, sentence: str) -> Response:
    """A refusal in one sentence."""
    return JSONResponse({"detail": sentence}, status_code=status)


def _too_large() -> Response:
    """That a request is too large."""
    return _problem(413, f"A request must be at most {MOST_BYTES} bytes. Send less.")


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
