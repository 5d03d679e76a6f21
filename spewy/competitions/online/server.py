"""Send requests to a server: one at a time, within a time limit, with ever longer pauses after failures.

httpx is an optional dependency and takes a while to load, so functions import it.
"""

from __future__ import annotations

import ipaddress
import json
import queue
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from spewy.errors import InputError, PeerError, one_line, short, shown

if TYPE_CHECKING:
    import httpx

TIMEOUT, PATIENCE = 60.0, 600.0
"""Seconds to wait for the answer to one request, and seconds during which a failed request is repeated."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a failed request is repeated for the first time; each pause doubles, up to the longest one."""
MOST_BYTES = 1 << 20
"""Largest number of bytes of an answer."""
MOST_DEPTH = 10
"""Largest depth of an answer: Python cannot write every JSON object that it can read."""
LEAST_SECRET = 4
"""Smallest length of a token or a password that is removed from messages."""
BUSY = (408, 429, 500, 502, 503, 504)
"""HTTP statuses after which a request is repeated."""
UNAUTHORISED = (401, 403)
"""HTTP statuses that refuse a key: they are no answer to a request, and end the session."""
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # a compressed answer could be far larger than its bytes
    "User-Agent": "spewy",
}
_SECRETS = ("token", "password")

Note = Callable[[str], None]


class RefusedError(PeerError):
    """The server has refused a request, in words of its own."""


@dataclass(frozen=True)
class Site:
    """Address, names and statuses that all requests to one site share.

    Attributes:
        name: name of the server's bot, of its log and of its command.
        title: the server's name in messages to the user.
        url: the server's usual address, without ``prefix``.
        prefix: beginning of the path of every request.
        refusal: name of the field in which the server says why it refuses a request.
        refuses_by_status: whether ``refusal`` is ignored in an answer whose HTTP status is a success, or says that the
            server is busy.
    """

    name: str
    title: str
    url: str
    prefix: str
    refusal: str
    refuses_by_status: bool = False


@dataclass(frozen=True)
class Reply:
    """An answer of the server.

    Attributes:
        repeated: whether the request was repeated although the server may have received it before.
    """

    fields: dict[str, Any]
    repeated: bool


class _FailedError(Exception):
    """A request failed, and can be repeated after ``pause`` seconds; ``received``: the server may have received it."""

    def __init__(self, text: str, *, received: bool = True, pause: float = 0.0) -> None:
        super().__init__(text)
        self.received, self.pause = received, pause


@dataclass
class Server:
    """A server at which a bot plays.

    Attributes:
        url: address without `Site.prefix`; empty: the site's usual address.
        headers: HTTP headers of every request, beside `HEADERS`; their values are secrets.
        timeout: seconds to wait for the answer to one request.
        patience: seconds during which a failed request is repeated; 0: it is not repeated.
        note: called with each message that is sent or received, without passwords and tokens, and with each failure.
        stop: set when the user wants to end; a failed request is then not repeated.
    """

    site: Site
    url: str = ""
    timeout: float = TIMEOUT
    patience: float = PATIENCE
    note: Note = lambda text: None
    stop: threading.Event = field(default_factory=threading.Event)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        import httpx

        self.url = (self.url or self.site.url).rstrip("/").removesuffix(self.site.prefix)
        try:
            parts = urlsplit(self.url)
            host = parts.hostname or ""
            whole = parts.scheme in ("http", "https") and parts.port != 0 and "%" not in parts.netloc
            whole = whole and bool(host.encode("idna")) and bool(httpx.URL(self.url))
        except (ValueError, httpx.InvalidURL):  # the errors of idna are ValueErrors
            parts, host, whole = urlsplit(""), "", False
        if not whole or not self.url.isascii() or not self.url.isprintable() or " " in self.url:
            raise InputError(f"--url: expected an address such as {self.site.url}, found {shown(self.url)}")
        if parts.username is not None or parts.query or parts.fragment:
            without_user = self.url.rpartition("@")[2]
            raise InputError(
                f"--url: expected an address such as {self.site.url}, found {shown(without_user)}"
            )
        self.is_private = parts.scheme == "https" or is_local(host)
        try:
            self._client = httpx.Client(
                headers={**HEADERS, **self.headers},
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # keeps none: not all can be sent
                verify=ssl.create_default_context(),  # trusts the system's certificates, as other programs do
                trust_env=not is_local(host),  # no proxy is asked for a server on this machine
                timeout=self.timeout,
                limits=httpx.Limits(max_keepalive_connections=0),  # else a request may meet a dead connection
                event_hooks={"response": [self._refuse_redirection]},
            )
        # no address, an address that httpx does not know, or SOCKS
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            raise InputError(f"proxy of the environment: {one_line(str(error), 200)}") from None
        self._secrets: set[str] = set()
        for secret in self.headers.values():
            self.hide(secret)

    def require_private(self, what: str) -> None:
        """Refuse an address to which a secret would go in plain text; ``what`` names the secret."""
        if not self.is_private:
            raise InputError(f"{self.url}: {what} is sent over https only; give an address with https")

    def post(self, path: str, fields: Mapping[str, Any], busy: tuple[int, ...] = ()) -> Reply:
        """Send a request, and return the answer; repeat the request after a failure of the network.

        Args:
            busy: HTTP statuses after which this request is repeated, beside `BUSY`.
        """
        begun, pause, repeated = time.monotonic(), FIRST_PAUSE, False
        self._tell("TO", path, fields)
        while True:
            try:
                answer = self._within_timeout(lambda: self._exchange(path, fields, busy))
                self._tell("FROM", path, answer)
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

    def _within_timeout(self, exchange: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Run an exchange within the timeout, in a thread: the limits of httpx begin again with each byte."""
        results: queue.SimpleQueue[dict[str, Any] | Exception] = queue.SimpleQueue()

        def work() -> None:
            try:
                results.put(exchange())
            except Exception as error:
                results.put(error)

        threading.Thread(target=work, daemon=True).start()
        try:
            result = results.get(timeout=self.timeout)
        except queue.Empty:
            raise _FailedError(f"no answer within {self.timeout:g} s") from None
        if isinstance(result, Exception):
            raise result
        return result

    def _exchange(self, path: str, fields: Mapping[str, Any], busy: tuple[int, ...]) -> dict[str, Any]:
        import httpx

        deadline, data = time.monotonic() + self.timeout, b""
        try:
            content = json.dumps(fields).encode()
            with self._client.stream(
                "POST", f"{self.url}{self.site.prefix}/{path}", content=content
            ) as response:
                for piece in response.iter_raw():
                    data += piece
                    if len(data) > MOST_BYTES:
                        raise PeerError(
                            f"{self.url}: expected an answer of at most {MOST_BYTES:,} bytes, found more"
                        )
                    if time.monotonic() > deadline:  # nobody waits for this thread any more
                        raise TimeoutError
        except (httpx.HTTPError, OSError, UnicodeError) as error:
            raise self._failure(error) from None
        return self._read(response, data, (*BUSY, *busy))

    def _failure(self, error: Exception) -> Exception:
        import httpx

        causes = list(_causes(error))
        for cause in causes:
            if isinstance(cause, ssl.SSLCertVerificationError):
                reason = one_line(cause.verify_message, 200)
                return PeerError(f"{self.url}: the server's certificate is not valid: {reason}")
            if isinstance(cause, TimeoutError | httpx.TimeoutException):
                return _FailedError(f"no answer within {self.timeout:g} s")
            if isinstance(cause, ConnectionRefusedError):
                return _FailedError("the connection was refused", received=False)
        texts = [getattr(cause, "strerror", None) or str(cause) for cause in reversed(causes)]
        text = next(filter(None, texts), type(error).__name__)
        sent = not isinstance(error, httpx.ConnectError)
        return _FailedError(f"the connection failed: {one_line(self._hidden(text), 200)}", received=sent)

    def _refuse_redirection(self, response: httpx.Response) -> None:
        """Refuse a redirection: a POST would become a GET, and a password would go to another server."""
        if 300 <= response.status_code < 400:
            where = short(self._hidden(response.headers.get("Location") or "nowhere"), 100)
            raise PeerError(f"{self.url}: expected an answer, found a redirection to {where}; give its --url")

    def _read(self, response: httpx.Response, data: bytes, busy: tuple[int, ...]) -> dict[str, Any]:
        answer, status, field_name = _json_object(data), response.status_code, self.site.refusal
        fine = 200 <= status < 300
        if field_name in answer and not (self.site.refuses_by_status and (fine or status in busy)):
            message = answer[field_name]
            told = message if isinstance(message, str) else json.dumps(message)
            told = short(self._hidden(told), 200)
            refused = PeerError if self.site.refuses_by_status and status in UNAUTHORISED else RefusedError
            raise refused(f"{self.url}: the server refuses: {told}")
        if not fine:
            reason = one_line(self._hidden(response.reason_phrase), 60)
            told = f"the server answers {status} {reason}".rstrip()
            if status not in busy:
                raise PeerError(f"{self.url}: {told}; is this the address of {self.site.title}?")
            after = response.headers.get("Retry-After", "")
            pause = float(after) if after.isascii() and after.isdigit() and len(after) < 7 else 0.0
            raise _FailedError(told, received=status not in (409, 429, 503), pause=pause)
        if not answer:
            text = self._hidden(data.decode("utf-8", errors="replace")).strip()
            kind = "an HTML page" if text[:1] == "<" else "no JSON object" if text else "nothing"
            found = f"{kind}: {shown(text)}" if text else kind
            told = f"expected JSON, found {found} (HTTP status {status})"
            if not text:  # the connection may have been closed in the middle of the headers
                raise _FailedError(told)
            raise PeerError(f"{self.url}: {told}")
        return answer

    def _tell(self, direction: str, path: str, fields: Mapping[str, Any]) -> None:
        """Call ``note`` with a message without its secrets, and hide these secrets from now on."""
        for name in _SECRETS:
            if isinstance(text := fields.get(name), str):
                self.hide(text)
        plain = json.dumps({name: "..." if name in _SECRETS else value for name, value in fields.items()})
        self.note(f"{direction} {path} {self._hidden(plain)}")

    def _hidden(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "...").replace(json.dumps(secret)[1:-1], "...")
        return text


def is_local(host: str) -> bool:
    """Whether a host is this machine.

    >>> is_local("127.0.0.1"), is_local("localhost"), is_local("slumbot.com")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and the errors that caused it: httpx wraps those of the operating system."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _json_object(data: bytes) -> dict[str, Any]:
    """Read a JSON object; empty if the data are no JSON object, or are nested too deeply."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and _is_flat(value, MOST_DEPTH) else {}


def _is_flat(value: object, most: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return most > 0 and all(_is_flat(each, most - 1) for each in inner)
