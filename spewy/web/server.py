"""Runs the server of the pages until it is interrupted."""

from __future__ import annotations

import asyncio
import errno
import gc
import http.client
import resource
import secrets
import select
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import cast

import uvicorn
from threadpoolctl import threadpool_limits
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from spewy.errors import InputError
from spewy.system.interrupts import interruptible
from spewy.system.tools import release_large_blocks
from spewy.web.app import make_app
from spewy.web.folders import Folders
from spewy.web.job_process import JobProcess

LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Names of this machine in a ``Host`` header."""
NAME = "spewy"
"""Name of this program in the ``Server`` header, by which a second server recognises the first one."""
MOST_CONNECTIONS = 10_000
"""Largest number of open connections, each of which needs an open file, that stay open for long.

Beyond it, the oldest connections that are idle are closed. The server still reads the requests of further clients, and
answers that there are too many (`spewy.web.security.MOST_REQUESTS`).
"""
ROOM_SECONDS = 0.1
"""Seconds between two looks for idle connections, as long as there are too many connections."""
SILENT_SECONDS = 1.0
"""Seconds after which a connection is idle that has sent no whole request."""
WAITING = 100
"""Number of clients that can wait until the server accepts them; further clients try again after a second."""
SEGMENT = 1460
"""Largest number of bytes of an answer that Linux sends at once, as in an Ethernet.

Between programs of one machine Linux sends up to 65,483 bytes at once. If the reader's buffer has less room, the rest
of an answer waits 40 ms.
"""
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
        host: address to listen on. If other machines can reach the address, requests need a random token.
        port: port to listen on; 0 for a free one.
        ready: called with the address of the first page, including the token, once the server listens.
        waits: called with the name of a solve if the server ends and waits until this solve has saved.
        asks_token: whether requests need the token even if only this machine can reach the address.
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
        backlog=WAITING,
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
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.interrupted = threading.Event()
        self.server_state = _State()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let the first signal end the server in good order, and a second one at once."""
        with interruptible() as self.interrupted:
            yield

    async def on_tick(self, counter: int) -> bool:
        """Return whether the server must end; uvicorn calls this method ten times a second."""
        return await super().on_tick(counter) or self.interrupted.is_set()


class _State(ServerState):
    makes_room = False


class _Connection(H11Protocol):
    """A connection that closes the oldest idle ones if there are too many, so that no reader waits for them."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._made = self.loop.time()
        state = cast(_State, self.server_state)
        if len(self.connections) > _most_connections() and not state.makes_room:
            state.makes_room = True
            self.loop.call_later(ROOM_SECONDS, self._make_room, state)

    def _make_room(self, state: _State) -> None:
        """Close idle connections, and look again soon if there are still too many."""
        connections = cast("set[_Connection]", self.connections)
        opened = [each for each in connections if not each.transport.is_closing()]
        surplus = max(0, len(opened) - _most_connections())
        idle = list(filter(_Connection._is_idle, opened)) if surplus else []
        arrived = _readable(idle)
        idle = sorted((each for each in idle if each._file not in arrived), key=lambda each: each._made)[
            :surplus
        ]
        for each in idle:
            each.shutdown()
        state.makes_room = len(idle) < surplus
        if state.makes_room:
            self.loop.call_later(ROOM_SECONDS, self._make_room, state)

    def _is_idle(self) -> bool:
        if self.cycle is None:
            return self.loop.time() - self._made > SILENT_SECONDS
        return self.cycle.response_complete

    @property
    def _file(self) -> int:
        return int(self.transport.get_extra_info("socket").fileno())


def _readable(connections: Sequence[_Connection]) -> set[int]:
    """Return the files of the connections on which something has arrived that the server has not read yet."""
    poll = select.poll()
    for each in connections:
        poll.register(each._file, select.POLLIN)
    return {file for file, _ in poll.poll(0)}


def _most_connections() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, files // 2)


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
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no address"
        raise InputError(f"--host {host}: {reason}; give an address of this machine") from None
    # Only if the protocol is named, asyncio sends small answers at once; else they wait up to 40 ms (TCP_NODELAY).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
