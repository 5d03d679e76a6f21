"""Send requests to Slumbot's server: one at a time, with a time limit, and ever longer pauses after failures."""

from __future__ import annotations

import http.client
import ipaddress
import json
import queue
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn
from urllib.parse import urlsplit

from spewy.errors import InputError, PeerError, one_line, short, shown

URL = "https://slumbot.com"
"""Address of the server."""
TIMEOUT = 60.0
"""Seconds to wait for the answer to one request."""
PATIENCE = 600.0
"""Seconds during which a failed request is repeated."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a failed request is repeated for the first time; each pause doubles, up to the longest one."""
MOST_BYTES = 1 << 20
"""Largest number of bytes of an answer."""
MOST_TOKEN = 1000
"""Largest number of characters of a token."""
MOST_DEPTH = 10
"""Largest depth of an answer: Python cannot write every JSON object that it can read."""
LEAST_SECRET = 4
"""Number of characters from which a token or a password is removed from messages."""
BUSY = (408, 429, 500, 502, 503, 504)
"""HTTP statuses after which a request is repeated."""
_SECRETS = ("token", "password")

Note = Callable[[str], None]


class RefusedError(PeerError):
    """The server has answered with an ``error_msg``."""


@dataclass(frozen=True)
class Reply:
    """An answer of the server.

    Attributes:
        fields: the JSON object.
        repeated: whether the request was repeated although the server may have received it before.
    """

    fields: dict[str, Any]
    repeated: bool


@dataclass(frozen=True)
class _Raw:
    """An answer as it was received: HTTP status and reason, values of two headers, and body."""

    status: int
    reason: str
    location: str
    retry_after: str
    data: bytes


class _FailedError(Exception):
    """A request to the server failed, and can be repeated.

    Args:
        text: description of the failure.
        received: whether the server may have received the request.
        pause: seconds that the server asks to wait before the next attempt.
    """

    def __init__(self, text: str, *, received: bool = True, pause: float = 0.0) -> None:
        super().__init__(text)
        self.received, self.pause = received, pause


@dataclass
class Server:
    """A server that speaks Slumbot's protocol.

    Attributes:
        url: its address, without ``/api``.
        timeout: seconds to wait for the answer to one request.
        patience: seconds during which a failed request is repeated; 0: it is not repeated.
        note: called with each message that is sent or received, without passwords and tokens, and with each failure.
        stop: set when the user wants to end; a failed request is then not repeated.
    """

    url: str = URL
    timeout: float = TIMEOUT
    patience: float = PATIENCE
    note: Note = lambda text: None
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Check the address."""
        self.url = self.url.rstrip("/").removesuffix("/api")
        try:
            parts = urlsplit(self.url)
            whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            whole = whole and "%" not in parts.netloc and bool((parts.hostname or "").encode("idna"))
        except ValueError:  # among them the errors of idna
            parts, whole = urlsplit(""), False
        if not whole or not self.url.isascii() or not self.url.isprintable() or " " in self.url:
            raise InputError(f"--url: expected an address such as {URL}, found {shown(self.url)}")
        if parts.username is not None or parts.query or parts.fragment:
            raise InputError(f"--url: expected an address such as {URL}, found {_without_user(self.url)}")
        handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
        if is_local(parts.hostname or ""):
            handlers.append(urllib.request.ProxyHandler({}))
        self.is_private = parts.scheme == "https" or is_local(parts.hostname or "")
        self._opener = urllib.request.build_opener(*handlers)
        self._secrets: set[str] = set()

    def post(self, path: str, fields: Mapping[str, Any]) -> Reply:
        """Send a request, and return the answer; repeat the request after a failure of the network.

        Args:
            path: last part of the request's path, such as ``act``.
            fields: JSON object of the request.

        Raises:
            RefusedError: the server answers with an ``error_msg``.
            PeerError: no answer came within the patience, or the answer is no JSON object.
            KeyboardInterrupt: the user wants to end, and the request has failed.
        """
        begun, pause, repeated = time.monotonic(), FIRST_PAUSE, False
        self._hide_secrets(fields)
        self.note(f"TO {path} {self._hidden(_told(fields))}")
        while True:
            try:
                answer = self._post(path, fields)
                self._hide_secrets(answer)
                self.note(f"FROM {path} {self._hidden(_told(answer))}")
                return Reply(answer, repeated)
            except _FailedError as failure:
                repeated = repeated or failure.received
                wait = max(pause, failure.pause)
                if time.monotonic() + wait > begun + self.patience:
                    raise PeerError(f"{self.url}: {failure}") from None
                self.note(f"WARNING: {self.url}: {failure}; the next attempt follows in {wait:.0f} s")
            if self.stop.wait(wait):
                raise KeyboardInterrupt
            pause = min(2 * pause, LONGEST_PAUSE)

    def hide(self, secret: str) -> None:
        """Replace a secret by dots in all later notes and errors, even if the server repeats it in an answer."""
        if len(secret) >= LEAST_SECRET:
            self._secrets.add(secret)

    def _post(self, path: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/api/{path}",
            data=json.dumps(fields).encode(),
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json",
                "User-Agent": "spewy",
            },
            method="POST",
        )
        try:
            raw = self._within_timeout(partial(self._exchange, request, time.monotonic() + self.timeout))
        except urllib.error.URLError as error:
            self._unreachable(error.reason if isinstance(error.reason, Exception) else error)
        except (OSError, http.client.HTTPException) as error:
            self._unreachable(error)
        return self._object(raw) if 200 <= raw.status < 300 else self._refusal(raw)

    def _within_timeout(self, exchange: Callable[[], _Raw]) -> _Raw:
        """Run an exchange in a thread, and wait for its end no longer than the timeout.

        The time limit of a socket is not enough: it begins again with each byte, and does not limit the look-up of the
        host's name.
        """
        results: queue.SimpleQueue[_Raw | Exception] = queue.SimpleQueue()

        def work() -> None:
            try:
                results.put(exchange())
            except Exception as error:
                results.put(error)

        threading.Thread(target=work, daemon=True).start()
        try:
            result = results.get(timeout=self.timeout)
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(result, Exception):
            raise result
        return result

    def _exchange(self, request: urllib.request.Request, deadline: float) -> _Raw:
        """Send a request, and read the answer, whatever its HTTP status."""
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                return _Raw(response.status, "", "", "", self._read(response, deadline))
        except urllib.error.HTTPError as error:
            with error:
                try:
                    data = self._read(error, deadline)
                except (OSError, http.client.HTTPException):
                    data = b""
                location, retry_after = (
                    error.headers.get(name) or "" for name in ("Location", "Retry-After")
                )
                return _Raw(error.code, error.reason or "", location, retry_after, data)

    def _unreachable(self, error: Exception) -> NoReturn:
        """Raise the error that a broken or refused connection causes."""
        if isinstance(error, ssl.SSLCertVerificationError):
            raise PeerError(
                f"{self.url}: the server's certificate is not valid: {one_line(error.verify_message, 200)}"
            ) from None
        if isinstance(error, TimeoutError):
            raise _FailedError(f"no answer within {self.timeout:g} s") from None
        if isinstance(error, ConnectionRefusedError):
            raise _FailedError("the connection was refused", received=False) from None
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise _FailedError(f"the connection failed: {one_line(text, 200)}") from None

    def _read(self, response: Any, deadline: float) -> bytes:
        data = b""
        while piece := response.read1(1 << 16):
            data += piece
            if len(data) > MOST_BYTES:
                raise PeerError(f"{self.url}: expected an answer of at most {MOST_BYTES:,} bytes, found more")
            if time.monotonic() > deadline:
                raise TimeoutError
        if response.length:  # the connection closed before the end of the answer
            raise http.client.IncompleteRead(data, response.length)
        return data

    def _refusal(self, raw: _Raw) -> dict[str, Any]:
        """Raise the error for an answer whose HTTP status is not a success; never return.

        Raises:
            RefusedError: the answer has an ``error_msg``.
            _FailedError: the server is busy, so that the request can be repeated.
            PeerError: the answer is a redirection or another failure.
        """
        status = f"{raw.status} {one_line(raw.reason, 60)}".rstrip()
        if 300 <= raw.status < 400:
            where = short(raw.location or "nowhere", 100)
            raise PeerError(f"{self.url}: expected an answer, found a redirection to {where}; give its --url")
        if "error_msg" in _json_object(raw.data):
            return self._object(raw)
        if raw.status in BUSY:
            after = raw.retry_after
            pause = float(after) if after.isascii() and after.isdigit() and len(after) < 7 else 0.0
            raise _FailedError(
                f"the server answers {status}", received=raw.status not in (429, 503), pause=pause
            )
        raise PeerError(f"{self.url}: the server answers {status}; is this the address of Slumbot's server?")

    def _object(self, raw: _Raw) -> dict[str, Any]:
        answer = _json_object(raw.data)
        if "error_msg" in answer:
            message = answer["error_msg"]
            told = short(self._hidden(message), 200) if isinstance(message, str) else shown(message)
            raise RefusedError(f"{self.url}: the server refuses: {told}")
        if not answer:
            text = self._hidden(raw.data.decode("utf-8", errors="replace")).strip()
            kind = "an HTML page" if text[:1] == "<" else "no JSON object" if text else "nothing"
            found = f"{kind}: {shown(text)}" if text else kind
            told = f"expected JSON, found {found} (HTTP status {raw.status})"
            if not text:  # the connection may have been closed in the middle of the headers
                raise _FailedError(told)
            raise PeerError(f"{self.url}: {told}")
        return answer

    def _hide_secrets(self, fields: Mapping[str, Any]) -> None:
        """Hide the token and the password of a message in all later messages."""
        for name in _SECRETS:
            if isinstance(text := fields.get(name), str):
                self.hide(text)

    def _hidden(self, text: str) -> str:
        """Replace all secrets in a text."""
        for secret in self._secrets:
            text = text.replace(secret, "...").replace(json.dumps(secret)[1:-1], "...")
        return text


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Handles redirections as errors, since a POST would become a GET, and a password would go to another server."""

    def http_error_302(self, *args: Any, **kwargs: Any) -> None:
        """Return nothing, so that the opener raises an `HTTPError` for the redirection."""
        return

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def is_local(host: str) -> bool:
    """Whether a host is this machine.

    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("slumbot.com")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _json_object(data: bytes) -> dict[str, Any]:
    """Read a JSON object; empty if the data are no JSON object, or are nested too deeply."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and _is_flat(value, MOST_DEPTH) else {}


def _is_flat(value: object, most: int) -> bool:
    """Whether a JSON value is nested at most ``most`` levels deep."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return most > 0 and all(_is_flat(each, most - 1) for each in inner)


def _told(fields: Mapping[str, Any]) -> str:
    """Format a message for the log, without secrets."""
    return json.dumps({name: "..." if name in _SECRETS else value for name, value in fields.items()})


def _without_user(url: str) -> str:
    """Format an address for a message without the name and password that it may contain."""
    return shown(url.rpartition("@")[2])
