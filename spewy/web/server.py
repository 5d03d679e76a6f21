"""Runs the server of the pages until it is interrupted."""

from __future__ import annotations

import errno
import secrets
import socket
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from spewy.errors import InputError
from spewy.web.app import make_app
from spewy.web.folders import Folders
from spewy.web.job_process import JobProcess

LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Names of this machine in a ``Host`` header."""
MOST_REQUESTS = 200
"""Number of simultaneous requests beyond which the server answers 503."""


def serve(
    roots: Sequence[Path],
    host: str,
    port: int,
    ready: Callable[[str], None],
    waits: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve pages about some folders until SIGINT or SIGTERM.

    Args:
        roots: folders to show.
        host: address to listen on; any address but this machine's own needs the token that ``ready`` gets.
        port: port to listen on; 0 for a free one.
        ready: called with the address of the first page once the server listens.
        waits: called with the name of a solve if the server ends and waits until this solve has saved.

    Raises:
        InputError: the port is in use, or the address is not one of this machine.
    """
    listener = _listener(host, port)
    local = _is_local(host)
    token = None if local else secrets.token_urlsafe(16)
    folders = Folders(roots)
    jobs = JobProcess()
    app = make_app(folders, LOCAL if local else None, token, jobs)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_REQUESTS,
        timeout_graceful_shutdown=2,
        lifespan="off",
    )
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    ready(address if token is None else f"{address}?token={token}")
    try:
        uvicorn.Server(config).run([listener])
    finally:
        listener.close()
        folders.close()
        state = jobs.state()
        if state is not None and state.state != "ended":
            waits(state.id)
        jobs.close()


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listener(host: str, port: int) -> socket.socket:
    """Open the socket to listen on."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise InputError(f"--host {host}: {error.strerror}; give an address of this machine") from None
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {port} is in use, perhaps by another spewy serve at http://{host}:{port}/; "
                "open that page, or give another --port"
            ) from None
        raise InputError(f"--host {host} --port {port}: {error.strerror}") from None
    return listener
