"""Connects to a Dask scheduler, rejects other servers within seconds, and compares versions of spewy."""

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
"""Seconds to wait for a connection to open or close."""
MOST_GREETING = 1 << 20
"""Largest accepted size in bytes of a scheduler's first message; a real one has a few hundred bytes."""
SOURCES = ("spewy", "solvers", "buckets", "lockers", "compiled")
"""Packages whose source files must be equal in all processes."""


def identity() -> tuple[str, ...]:
    """Return a hash of this program's source files, and the versions of Python and of the main libraries.

    Processes may exchange data only if their identities are equal.
    """
    import numba
    import numpy as np
    from distributed import __version__ as dask

    digest = hashlib.sha256()
    for package in SOURCES:
        for source in sorted(Path(HOME, package).rglob("*.py")):
            digest.update(source.read_bytes())
    python = ".".join(map(str, sys.version_info[:2]))
    return digest.hexdigest()[:12], python, np.__version__, numba.__version__, dask


def identity_text(value: object) -> str:
    """Describe the identity that a process has sent, for a message; an invalid identity is described by its type."""
    if isinstance(value, tuple) and len(value) == 5:
        sources, python, numpy, numba, dask = value
        return (
            f"spewy of sources {sources}, Python {python}, numpy {numpy}, numba {numba}, distributed {dask}"
        )
    return one_line(f"{type(value).__name__}: {value}", MOST_OF_ERROR)


def require_dask() -> None:
    """Check that Dask is installed.

    Raises:
        MissingError: Dask is not installed.
    """
    if find_spec("distributed") is None:
        raise MissingError(
            'solve.workers = "dask" needs the package distributed, which is not installed '
            "(pip install 'spewy[dask]')"
        )


def connected(address: str) -> Client:
    """Open a connection to a Dask scheduler.

    Args:
        address: address such as ``tcp://10.0.0.1:8786``.

    Raises:
        InputError: no scheduler listens at this address.
    """
    from distributed import Client
    from distributed.comm import get_address_host_port
    from distributed.versions import VersionMismatchWarning

    silence()
    try:
        host, port = get_address_host_port(address)  # else an invalid address leaves a half-made client
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
    """Check that a Dask scheduler listens at an address, by reading its first message.

    Dask itself would wait for ever for a silent server. From a server of another kind, Dask would take the first eight
    bytes as a size, and allocate that much memory. A scheduler's first message consists of 64-bit numbers (size of
    the message, number of frames, size of each frame), followed by the frames.
    """
    ending = time.monotonic() + CONNECT_SECONDS
    with socket.create_connection((host, port), timeout=CONNECT_SECONDS) as connection:
        greeting, wanted = b"", 8
        while len(greeting) < wanted:
            connection.settimeout(max(0.001, ending - time.monotonic()))
            received = connection.recv(wanted - len(greeting))
            if not received:
                raise ConnectionError("the server closed the connection")
            greeting += received
            if len(greeting) == 8:
                wanted += min(int.from_bytes(greeting, "little"), MOST_GREETING)
    numbers = struct.unpack_from(f"<{len(greeting) // 8}Q", greeting)
    n_frames = numbers[1] if len(numbers) > 1 else len(numbers)
    if numbers[0] != len(greeting) - 8 or 8 * (1 + n_frames) + sum(numbers[2 : 2 + n_frames]) != numbers[0]:
        raise ValueError("the server sent something else than a message of Dask")


def silence() -> None:
    """Switch off Dask's own logs, since this program tells the user of the same events."""
    for name in ("distributed", "distributed.client", "distributed.worker", "distributed.core", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
