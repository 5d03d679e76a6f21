"""Runs the server of the pages until it is interrupted."""

from __future__ import annotations

import asyncio
import errno
import gc
import http.client
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from threadpoolctl import threadpool_limits
from uvicorn.protocols.http.h11_impl import H11Protocol

from spewy.errors import InputError
from spewy.system.heap import release_large_blocks
from spewy.system.interrupts import interruptible
from spewy.web.app import make_app
from spewy.web.folders import Folders
from spewy.web.job_process import JobProcess

LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Names of this machine in a ``Host`` header."""
NAME = "spewy"
"""Name of this program in the ``Server`` header, by which a second server recognises the first one."""
MOST_CONNECTIONS = 500
"""Largest number of open connections, each of which needs an open file; further clients wait for a free one."""
WAITING = 65_535
"""Number of clients that can wait for a connection, if the system allows so many (Linux: ``net.core.somaxconn``).

Further clients try again after a second.
"""
SEGMENT = 1460
"""Largest number of bytes of an answer that Linux sends at once, as in an Ethernet.

Between programs of one machine Linux sends up to 65,483 bytes at once. If the reader's buffer has less room, the rest
of an answer waits 40 ms.
"""
PAUSE_SECONDS = 0.02
"""Seconds between two checks whether the server can accept more connections."""
HEADER_SECONDS = 20.0
"""Seconds within which all headers of a request must arrive."""
GRACE_SECONDS = 1
"""Seconds (a whole number) that running requests may still take after a signal to end."""


def serve(
    roots: Sequence[Path],
    host: str,
    port: int,
    ready: Callable[[str], None],
    waits: Callable[[str], None] = lambda _: None,
    *,
    asks_token: bool = False,
) -> None:
    """Serve pages about some folders until SIGINT, SIGTERM or SIGHUP.

    Args:
        roots: folders to show.
        host: address to listen on. If other machines can reach the address, requests need a random token.
        port: port to listen on; 0 for a free one.
        ready: called with the address of the first page, including the token, once the server listens.
        waits: called with the name of a solve if the server ends and waits until this solve has saved.
        asks_token: whether requests need the token even if only this machine can reach the address.

    Raises:
        InputError: the port is in use, or the address is not one of this machine.
        KeyboardInterrupt: a signal has ended the server.
    """
    release_large_blocks()
    folders, jobs = Folders(roots), JobProcess()
    listener = _listener(host, port)
    local = _is_local(host)
    token = secrets.token_urlsafe(16) if asks_token or not local else None
    app = make_app(folders, LOCAL | {_in_address(host)} if local else None, token, jobs)
    config = uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        headers=[("server", NAME)],
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    address = f"http://{_reachable(host)}:{listener.getsockname()[1]}/"
    ready(address if token is None else f"{address}?token={token}")
    server = _Server(config)
    _collect_rarely()
    try:
        # The matrix products of a click are small: several threads would mostly wait for each other.
        with threadpool_limits(1):
            server.run([listener])
    finally:
        listener.close()
        folders.close()
        state = jobs.state()
        if state is not None and state.state != "ended":
            waits(state.id)
        jobs.close()
    if server.interrupted.is_set():
        raise KeyboardInterrupt


def _collect_rarely() -> None:
    """Let Python search less often for garbage in cycles, and not among the objects of the imported modules.

    An answer consists of thousands of objects without cycles. By default, Python searches all objects of the process
    once in several answers, which takes longer than a click.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


class _Server(uvicorn.Server):
    """A server that this program's signals end, and that accepts a limited number of connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.interrupted = threading.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let the first signal end the server in good order, and a second one at once."""
        with interruptible() as self.interrupted:
            yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup([])
        self._accepting = [asyncio.create_task(self._accept(listener)) for listener in sockets or ()]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, and end those that are open."""
        for task in self._accepting:
            task.cancel()
        await super().shutdown(sockets)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if len(self.server_state.connections) >= MOST_CONNECTIONS:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            try:
                connection, _ = await loop.sock_accept(listener)
                await loop.connect_accepted_socket(self._connection, connection)
            except OSError:  # the client has left, or the process has no room for another file
                await asyncio.sleep(PAUSE_SECONDS)

    def _connection(self) -> _Connection:
        return _Connection(self.config, self.server_state, self.lifespan.state)

    async def on_tick(self, counter: int) -> bool:
        """Return whether the server must end; uvicorn calls this method ten times a second."""
        return await super().on_tick(counter) or self.interrupted.is_set()


class _Connection(H11Protocol):
    """A connection that the server closes if no request comes."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        waited = self.timeout_keep_alive_task if self.cycle is None else None
        if waited is None:
            super().data_received(data)
            return
        self.timeout_keep_alive_task = None  # the time for the headers goes on
        super().data_received(data)
        if self.cycle is None and not self.transport.is_closing():
            self.timeout_keep_alive_task = waited
        else:
            waited.cancel()

    def _wait_for_headers(self) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(HEADER_SECONDS, self.timeout_keep_alive_handler)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _in_address(host: str) -> str:
    return f"[{host.lower()}]" if ":" in host else host.lower()


def _reachable(host: str) -> str:
    """Return the host to open in a browser: this machine's name if the server listens on all addresses."""
    try:
        everywhere = ip_address(host).is_unspecified
    except ValueError:
        everywhere = False
    return socket.gethostname() if everywhere else _in_address(host)


def _listener(host: str, port: int) -> socket.socket:
    """Open the socket to listen on."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no address"
        raise InputError(f"--host {host}: {reason}; give an address of this machine") from None
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sys.platform == "linux":
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT)
        listener.bind(address)
        listener.listen(WAITING)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(_in_use(_in_address(host), port)) from None
        raise InputError(f"--host {host} --port {port}: {error.strerror}") from None
    return listener


def _in_use(host: str, port: int) -> str:
    """Return the error for a port that another program listens on; say whether it is another ``spewy serve``."""
    connection = http.client.HTTPConnection(host.strip("[]"), port, timeout=1)
    try:
        connection.request("HEAD", "/")
        name = connection.getresponse().getheader("server", "")
    except (OSError, http.client.HTTPException):
        name = ""
    finally:
        connection.close()
    if name == NAME:
        return (
            f"port {port}: another spewy serve is at http://{host}:{port}/; open it, or give another --port"
        )
    return f"port {port} is in use by another program; give another --port, or --port 0 for a free one"
