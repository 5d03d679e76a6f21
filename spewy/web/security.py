"""Refuses requests that do not come from the page itself, and limits what the page may load.

A web page of another site can send requests to a server on this machine. So every request must name this server in its
``Host`` header (a foreign name that resolves to this machine is refused), only a link may lead here from another site,
a request that changes something must be a POST of JSON whose ``Origin`` is this server, and a server that listens
beyond this machine asks for its token. The content security policy lets a page load only this server's scripts, styles
and pictures, and no inline script.
"""

from __future__ import annotations

import hmac
import re
from typing import NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
CACHE = "cache-control"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    CACHE: "no-cache",
}
"""Headers of every answer; a file whose name changes with its content has another ``Cache-Control``."""
COOKIE = "spewy-token"
"""Name of the cookie with the token, without the port at its end, which keeps servers of one host apart."""
MOST_BYTES = 1 << 20
"""Largest body of a request in bytes."""
MOST_REQUESTS = 200
"""Number of simultaneous requests beyond which the server answers 503."""

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]{1,5})?")
_SINGLE = ("host", "origin", "content-type", "content-length", "sec-fetch-site")
"""Headers that decide about a request, so that none of them may stand in it twice."""


class Refusal(NamedTuple):
    status: int
    reason: str


class Guard:
    """Refuses foreign requests and adds the security headers to every answer of an application.

    Args:
        hosts: names and addresses, without port, that the ``Host`` header may have; None: any, for a server that
            requires a token.
        token: token that a request must bring, as ``?token=`` once and then as a cookie; None: no token.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None, token: str | None = None) -> None:
        self._app, self._hosts, self._token = app, hosts, token
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope)
        cookie = f"{COOKIE}-{(scope.get('server') or ('', 0))[1]}"
        by_address = self._token is not None and self._is_token(request.query_params.get("token", ""))
        guarded = _with_headers(send, f"{cookie}={self._token}" if by_address else None)

        has_token = self._token is None or by_address or self._is_token(request.cookies.get(cookie, ""))
        refusal = self._refusal(request, has_token)
        if refusal is not None:
            await JSONResponse({"error": refusal.reason}, refusal.status)(scope, receive, guarded)
        elif by_address and scope["path"] == "/":
            # The token leaves the address, so that it is in no bookmark and on no screen.
            await RedirectResponse("/", 303)(scope, receive, guarded)
        else:
            self._running += 1
            try:
                await self._app(scope, receive, guarded)
            finally:
                self._running -= 1

    def _refusal(self, request: Request, has_token: bool) -> Refusal | None:
        headers = request.headers
        twice = next((name for name in _SINGLE if len(headers.getlist(name)) > 1), None)
        if twice is not None:
            return Refusal(400, f"the request has two headers {twice}")
        match = _HOST.fullmatch(headers.get("host", "").lower())
        if match is None or (self._hosts is not None and match[1] not in self._hosts):
            return Refusal(421, "the request names another server; open the address that spewy serve printed")
        if not has_token:
            return Refusal(401, "the token is missing; open the address that spewy serve printed")
        if request.scope["path"] != "/" and headers.get("sec-fetch-site", "none") not in (
            "none",
            "same-origin",
        ):
            return Refusal(403, "the request comes from the page of another server")
        if self._running >= MOST_REQUESTS:
            return Refusal(503, "the server has too many requests; try again in a moment")
        return None if request.method in ("GET", "HEAD") else _refused_change(request.method, headers)

    def _is_token(self, text: str) -> bool:
        return self._token is not None and hmac.compare_digest(
            text.encode("utf-8", "replace"), self._token.encode()
        )


def _refused_change(method: str, headers: Headers) -> Refusal | None:
    if method != "POST":
        return Refusal(405, f"method {method[:20]}: expected GET or POST")
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in _origins(headers["host"]):
        return Refusal(403, "the request comes from the page of another server")
    if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        return Refusal(415, "expected a body of the type application/json")
    length = headers.get("content-length", "")
    if "transfer-encoding" in headers or not length.isdecimal():
        return Refusal(411, "expected a body with its length")
    if len(length) > 9 or int(length) > MOST_BYTES:
        return Refusal(413, f"expected a body of at most {MOST_BYTES:,} bytes")
    return None


def _origins(host: str) -> tuple[str, str]:
    """Return the http and the https origin of this server; pages have the https origin behind an encrypting proxy."""
    return f"http://{host.lower()}", f"https://{host.lower()}"


def _with_headers(send: Send, cookie: str | None) -> Send:

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(
                {name: value for name, value in HEADERS.items() if name != CACHE or CACHE not in headers}
            )
            if cookie is not None:
                # Lax: a link with the token, say in a message, leads to the page without being asked again.
                headers["set-cookie"] = f"{cookie}; HttpOnly; SameSite=Lax; Path=/"
        await send(message)

    return guarded
