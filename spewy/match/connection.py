"""Lines of text over TCP: bounded in length and in time, whatever the other end does.

Times are of `time.monotonic`. What goes wrong on the way is a `PeerError`, whose subject is the other end.
"""

from __future__ import annotations

import errno
import os
import socket
import time

from spewy.errors import InputError, PeerError, shown
from spewy.system.closing import Closing

MOST_OF_LINE = 4095
"""Bytes of a line; what is longer comes in pieces."""
_READ = 1 << 16
_PAUSE = 0.1
"""Seconds between two tries to connect."""


class TimedOutError(PeerError):
    """The other end did not answer in time."""


class Lines(Closing):
    r"""A connection as lines: CR LF at the end of those sent, LF alone is enough for those received.

    Args:
        connection: which is closed with this.
        peer: the other end, as messages call it.

    >>> here, there = socket.socketpair()
    >>> with Lines(here, "a") as a, Lines(there, "b") as b:
    ...     a.send("VERSION:2.0.0")
    ...     b.receive()
    b'VERSION:2.0.0'
    """

    def __init__(self, connection: socket.socket, peer: str) -> None:
        self.peer = peer
        self._socket = connection
        self._held = bytearray()
        self._ended = False

    def send(self, text: str, deadline: float | None = None) -> None:
        """Send a line.

        Raises:
            PeerError: the other end is gone, or reads nothing until the deadline.
        """
        self._wait_until(deadline, "to read")
        try:
            self._socket.sendall(f"{text}\r\n".encode("ascii"))
        except TimeoutError:
            raise TimedOutError(f"{self.peer}: expected to read what it is sent, found it does not") from None
        except OSError as error:
            raise PeerError(f"{self.peer}: expected to be there, found: {error.strerror or error}") from None

    def receive(self, deadline: float | None = None) -> bytes | None:
        """The next line without its end, or a piece of one that is too long; None after the last.

        Raises:
            PeerError: nothing came until the deadline, or the connection broke.
        """
        while True:
            self._wait_until(deadline, "a line")  # also where lines are held: a flood is no answer
            line = self._next()
            if line is not None:
                return line
            if self._ended:
                return None
            self._read()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _next(self) -> bytes | None:
        end = self._held.find(b"\n", 0, MOST_OF_LINE + 1)
        if end >= 0:
            return self._take(end, 1).removesuffix(b"\r")
        if len(self._held) >= MOST_OF_LINE:
            return self._take(MOST_OF_LINE, 0)
        if self._ended and self._held:
            return self._take(len(self._held), 0)
        return None

    def _take(self, size: int, skipped: int) -> bytes:
        line = bytes(self._held[:size])
        del self._held[: size + skipped]
        return line

    def _read(self) -> None:
        try:
            found = self._socket.recv(_READ)
        except TimeoutError:
            raise TimedOutError(f"{self.peer}: expected a line in time, found none") from None
        except ConnectionResetError:
            found = b""
        except OSError as error:
            raise PeerError(f"{self.peer}: expected to be there, found: {error.strerror or error}") from None
        self._held += found
        self._ended = not found

    def _wait_until(self, deadline: float | None, wanted: str) -> None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimedOutError(f"{self.peer}: expected {wanted} in time, found none")
        self._socket.settimeout(left)


def connect(host: str, port: int, wait: float = 0.0) -> Lines:
    """Connect to who listens at a port.

    Args:
        host: its name or address.
        port: its number.
        wait: seconds for which to try again while nobody listens.

    Raises:
        PeerError: nobody listened.
    """
    peer = f"{host}:{port}"
    deadline = time.monotonic() + wait
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=max(wait, 1.0))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return Lines(connection, peer)
        except OSError as error:
            if time.monotonic() + _PAUSE > deadline or isinstance(error, socket.gaierror):
                raise PeerError(
                    f"{peer}: expected somebody who listens, found: {error.strerror or error}"
                ) from None
        except UnicodeError:  # a name that no name server could be asked for
            raise PeerError(f"{peer}: expected the name of a host, found none") from None
        time.sleep(_PAUSE)


class Doors(Closing):
    """Ports that are listened at, one for each seat.

    Args:
        host: the address to listen at.
        ports: their numbers; 0: any that is free.

    Raises:
        InputError: this machine has no such address.
        PeerError: a port is taken.
    """

    def __init__(self, host: str, ports: tuple[int, ...]) -> None:
        self._sockets: list[socket.socket] = []
        try:
            for port in ports:
                self._sockets.append(_listening(host, port))
        except BaseException:
            self.close()
            raise

    @property
    def ports(self) -> tuple[int, ...]:
        """Their numbers."""
        return tuple(door.getsockname()[1] for door in self._sockets)

    def accept(self, seat: int, peer: str, deadline: float | None = None) -> Lines:
        """Wait for who takes a seat.

        Raises:
            PeerError: nobody came until the deadline.
        """
        door = self._sockets[seat]
        left = None if deadline is None else max(deadline - time.monotonic(), 1e-3)
        door.settimeout(left)
        try:
            connection, _ = door.accept()
        except TimeoutError:
            raise TimedOutError(f"{peer}: expected to connect in time, found nobody") from None
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Lines(connection, peer)

    def close(self) -> None:
        """Listen no more."""
        for door in self._sockets:
            door.close()


def _listening(host: str, port: int) -> socket.socket:
    if not host:  # which for the system are all addresses
        raise InputError("address: expected one of this machine, or 0.0.0.0 for all, found none")
    subject = f"address {shown(host)}: expected one of this machine"
    try:
        socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise InputError(f"{subject}, found: {getattr(error, 'strerror', error)}") from None
    try:
        return socket.create_server((host, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)  # without the address once more
        if error.errno == errno.EADDRNOTAVAIL:
            raise InputError(f"{subject}, found: {reason}") from None
        raise PeerError(f"port {port} of {host}: expected one that is free, found: {reason}") from None
