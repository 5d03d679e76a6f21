"""Connects to a Dask scheduler, refuses other servers within seconds, and compares versions of spewy."""

from __future__ import annotations

import hashlib
import logging
import socket
import struct
import sys
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from spewy.errors import MOST_OF_ERROR, InputError, MissingError, error_line, one_line, shown
from spewy.system.child import HOME
from spewy.system.interrupts import deaf_children

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 5.0
MOST_GREETING = 1 << 20
"""Upper bound on the size in bytes of a scheduler's first message, which has some hundred."""
SOURCES = ("spewy", "solvers", "buckets", "lockers", "compiled")
"""Packages whose sources must be equal in all processes."""


def identity() -> tuple[str, ...]:
    """Return versions and a hash of the sources; processes with the same identity may exchange arrays."""
    import numba
    import numpy as np
    from distributed import __version__ as dask

    digest = hashlib.sha256()
    for package in SOURCES:
        for source in sorted(Path(HOME, package).rglob("*.py")):
            digest.update(source.read_bytes())
    python = ".".join(map(str, sys.version_info[:2]))
    return digest.hexdigest()[:12], python, np.__version__, numba.__version__, dask


def identity_text(found: object) -> str:
    """Describe the identity of a process, or its other answer, for a message."""
    if isinstance(found, tuple) and len(found) == 5:
        sources, python, numpy, numba, dask = found
        return (
            f"spewy of sources {sources}, Python {python}, numpy {numpy}, numba {numba}, distributed {dask}"
        )
    return one_line(f"{type(found).__name__}: {found}", MOST_OF_ERROR)


def require_dask() -> None:
    """Make sure that Dask is installed.

    Raises:
        MissingError: Dask is not installed.
    """
    if find_spec("distributed") is None:
        raise MissingError(
            "solve.workers = \"dask\": expected the package distributed, found none (pip install 'spewy[dask]')"
        )


def connected(address: str) -> Client:
    """Connect to a scheduler.

    Raises:
        InputError: no scheduler listens there.
    """
    from distributed import Client
    from distributed.comm import get_address_host_port
    from distributed.versions import VersionMismatchWarning

    silence()
    try:
        host, port = get_address_host_port(address)  # which a client would find out when half of it is made
        if not address.startswith("tls:"):
            _require_greeting(host, port)
        with warnings.catch_warnings(), deaf_children():
            warnings.simplefilter("ignore", VersionMismatchWarning)  # `identity` is stricter
            return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError, TypeError, RuntimeError) as error:
        raise InputError(
            f"dask.address: expected a Dask scheduler at {shown(address)}, found none ({error_line(error)})"
        ) from None


def _require_greeting(host: str, port: int) -> None:
    """Refuse an address where no scheduler listens.

    Dask would wait for ever for a silent server, and allocate as many bytes as the first eight bytes of any other
    server tell. A scheduler greets each new connection: bytes of the message, number of frames, bytes of each frame,
    and the frames.
    """
    ending = time.monotonic() + CONNECT_SECONDS
    with socket.create_connection((host, port), timeout=CONNECT_SECONDS) as connection:
        greeting, wanted = b"", 8
        while len(greeting) < wanted:
            connection.settimeout(max(0.001, ending - time.monotonic()))
            some = connection.recv(wanted - len(greeting))
            if not some:
                raise ConnectionError("it closes the connection")
            greeting += some
            if len(greeting) == 8:
                wanted += min(int.from_bytes(greeting, "little"), MOST_GREETING)
    numbers = struct.unpack_from(f"<{len(greeting) // 8}Q", greeting)
    n_frames = numbers[1] if len(numbers) > 1 else len(numbers)
    if numbers[0] != len(greeting) - 8 or 8 * (1 + n_frames) + sum(numbers[2 : 2 + n_frames]) != numbers[0]:
        raise ValueError("what it sends is no message of Dask")


def silence() -> None:
    """Silence Dask's own logs; this program reports the same events in a line each."""
    for name in ("distributed", "distributed.client", "distributed.worker", "distributed.core", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
