"""Refuses requests that do not come from the page itself, and limits what the page may load.

A web page of another site can send requests to a server on this machine. So every request must name this server in its
``Host`` header (a foreign name that resolves to this machine is refused), a request that changes something must be a
POST of JSON whose ``Origin`` is this server, and a server that listens beyond this machine asks for its token. The
content security policy lets a page load only this server's scripts, styles and pictures, and no inline script.
"""

from __future__ import annotations

import hmac
import json
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
"""Headers of every answer."""
COOKIE = "spewy-token"
MOST_BYTES = 1 << 20
"""Largest body of a request in bytes."""


class Guard:
    """Middleware that refuses foreign requests and adds the security headers to every answer.

    Args:
        app: the application.
        hosts: names and addresses, without port, that the ``Host`` header may have; None: any, with a token.
        token: token that a request must bring, as ``?token=`` once and then as a cookie; None: no token.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None, token: str | None = None) -> None:
        self._app, self._hosts, self._token = app, hosts, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.get("token", [""])[0]
        sets_cookie = self._token is not None and hmac.compare_digest(given.encode(), self._token.encode())

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                pairs = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                if sets_cookie:
                    pairs.append(
                        (b"set-cookie", f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/".encode())
                    )
                named = {name for name, _ in pairs}
                kept = [(name, value) for name, value in message["headers"] if name not in named]
                message["headers"] = [*kept, *pairs]
            await send(message)

        refusal = self._refusal(scope["method"], headers, sets_cookie)
        if refusal is None:
            await self._app(scope, receive, guarded)
        else:
            await _refuse(guarded, *refusal)

    def _refusal(self, method: str, headers: dict[str, str], has_token: bool) -> tuple[int, str] | None:
        """Return the status and the reason for which a request is refused; None if it is not."""
        host = headers.get("host", "")
        if self._hosts is not None and _without_port(host) not in self._hosts:
            return 421, "the request names another server; open the address that spewy serve printed"
        if self._token is not None and not has_token and not self._knows_token(headers.get("cookie", "")):
            return 401, "the token is missing; open the address that spewy serve printed"
        if method in ("GET", "HEAD"):
            return None
        if method != "POST":
            return 405, f"method {method[:20]}: expected GET or POST"
        origin = headers.get("origin")
        if origin is not None and origin.split("://")[-1] != host:
            return 403, "the request comes from the page of another server"
        if headers.get("content-type", "").split(";")[0].strip() != "application/json":
            return 415, "expected a body of the type application/json"
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            return 413, f"expected a body of at most {MOST_BYTES:,} bytes with its length"
        return None

    def _knows_token(self, cookies: str) -> bool:
        try:
            morsel = SimpleCookie(cookies).get(COOKIE)
        except CookieError:
            return False
        assert self._token is not None
        return morsel is not None and hmac.compare_digest(morsel.value.encode(), self._token.encode())


def _without_port(host: str) -> str:
    """Return the name or address of a ``Host`` header, without its port."""
    if host.startswith("["):
        return host[: host.find("]") + 1].lower()
    return host.partition(":")[0].lower()


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
