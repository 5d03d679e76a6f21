r"""Channels to programs that play, over TCP and over pipes, and ports at which this process waits for such programs.

A connection limits the length of a line and the time that it waits; `spewy.match.channel` says how it fails.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from spewy.errors import InputError, PeerError, shown
from spewy.match.channel import Channel, TimedOutError
from spewy.system.tools import Closing

MOST_OF_LINE = 4095
"""Largest number of bytes in a line; a longer line is received in several pieces."""
_READ = 1 << 16
_PAUSE = 0.1
"""Seconds between two attempts to connect."""
_LONGEST_WAIT = 1e6
"""Largest number of seconds for one call of the system's `poll`; longer waits take several calls."""


class Connection(Channel):
    r"""A channel over a socket, or over the descriptors of two pipes.

    Lines that are sent end with CR LF on a socket and with LF on a pipe; received lines may end with either.

    Args:
        source: socket, which is closed with the connection; or file descriptor to read from, which stays open.
        peer: name of the peer in messages.
        sink: file descriptor to write to, if ``source`` is a file descriptor.
        most: largest number of bytes in a line; a longer line is received in several pieces.

    >>> here, there = socket.socketpair()
    >>> with Connection(here, "a") as a, Connection(there, "b") as b:
    ...     a.send("VERSION:2.0.0")
    ...     b.receive()
    b'VERSION:2.0.0'
    """

    def __init__(
        self, source: socket.socket | int, peer: str, sink: int | None = None, most: int = MOST_OF_LINE
    ) -> None:
        self.peer = peer
        self._most = most
        if isinstance(source, socket.socket):
            source.setblocking(False)
        self._source, self._sink = source, source if sink is None else sink
        self._ending = "\n" if isinstance(source, int) else "\r\n"
        self._held = bytearray()
        self._scanned = 0

    def send(self, text: str, deadline: float | None = None) -> None:
        """Send a line; raise a `PeerError` if the peer is gone or has not read the line by the deadline."""
        data = f"{text}{self._ending}".encode("ascii")
        while data:
            if _is_over(deadline) or not self._is_ready(self._sink, select.POLLOUT, deadline):
                raise TimedOutError(f"{self.peer}: has not read a line in time")
            try:
                data = data[_write(self._sink, data) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._broken(error) from None

    def receive(self, deadline: float | None = None) -> bytes | None:
        """Wait for the next line, and return it without its line ending; None after the last line.

        Raises:
            PeerError: no line arrived before the deadline, or the connection broke.
        """
        while True:
            # The deadline counts even if lines have arrived: a flood of lines is no answer.
            if not _is_over(deadline):
                line = self._next()
                if line is not None or self.ended:
                    return line
                if self._is_ready(self._source, select.POLLIN, deadline):
                    self._read()
                    continue
            raise TimedOutError(f"{self.peer}: expected a line in time, found none")

    def poll(self) -> bytes | None:
        """Return the next line if it has already arrived, else None."""
        line = self._next()
        if line is None and self.read_available():
            line = self._next()
        return line

    def read_available(self) -> int:
        """Read bytes that have arrived, without waiting; return the number of lines that have at least begun.

        The last of these lines may lack its end: a Python program without a buffer writes it by a call of its own.
        """
        if not self.ended and self._is_ready(self._source, select.POLLIN, 0.0):
            self._read()
        return self._held.count(b"\n") + (len(self._held) > 0 and not self._held.endswith(b"\n"))

    @property
    def file(self) -> int | None:
        """File descriptor from which lines are read."""
        return _descriptor(self._source)

    def close(self) -> None:
        """Close the socket; file descriptors of pipes stay open."""
        if isinstance(self._source, socket.socket):
            self._source.close()

    def _next(self) -> bytes | None:
        """Take the next line from the buffer, or a piece of a line that is too long; None if no line is complete."""
        end = self._held.find(b"\n", self._scanned, self._most + 1)
        if end >= 0:
            return self._take(end, 1).removesuffix(b"\r")
        self._scanned = min(len(self._held), self._most)
        if len(self._held) >= self._most:
            return self._take(self._most, 0)
        if self.ended and self._held:
            return self._take(len(self._held), 0)
        return None

    def _take(self, size: int, skipped: int) -> bytes:
        """Take ``size`` bytes from the buffer, and remove ``skipped`` bytes after them."""
        line = bytes(self._held[:size])
        del self._held[: size + skipped]
        self._scanned = 0
        return line

    def _read(self) -> None:
        try:
            data = _read(self._source)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        except OSError as error:
            raise self._broken(error) from None
        self._held += data
        self.ended = not data

    def _is_ready(self, end: socket.socket | int, event: int, deadline: float | None) -> bool:
        file = _descriptor(end)
        if file < 0:  # the connection was closed
            raise PeerError(f"{self.peer}: the connection is closed")
        return _is_ready([file], event, deadline)

    def _broken(self, error: OSError) -> PeerError:
        return PeerError(f"{self.peer}: the connection broke: {error.strerror or error}")


def wait_for_any(channels: Sequence[Channel], deadline: float) -> None:
    """Wait until a line may have arrived on any of the channels, or until a deadline of `time.monotonic`."""
    files = [channel.file for channel in channels]
    waiting = [file for file in files if file is not None]
    if waiting and len(waiting) == len(files):
        _is_ready(waiting, select.POLLIN, deadline)


def connect(host: str, port: int, wait: float = 0.0) -> Connection:
    """Connect to a port at which another program listens.

    Args:
        host: name or address of the machine.
        port: number of the port.
        wait: seconds during which to try again if no program listens.

    Raises:
        PeerError: no program listens at the port.
    """
    peer = f"{host}:{port}"
    deadline = time.monotonic() + wait
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=max(wait, 1.0))
            return _undelayed(connection, peer)
        except OSError as error:
            if time.monotonic() + _PAUSE > deadline or isinstance(error, socket.gaierror):
                raise PeerError(
                    f"{peer}: no program accepts the connection: {error.strerror or error}"
                ) from None
        except UnicodeError:  # the name cannot be encoded for a name server
            raise PeerError(f"{peer}: this is not the name of a host") from None
        time.sleep(_PAUSE)


class Listener(Closing):
    """Ports at which this process waits for players, one port for each seat.

    Args:
        host: address of this machine to listen at.
        ports: numbers of the ports; 0 means any free port.

    Raises:
        InputError: this machine has no such address.
        PeerError: a port is in use.
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
        """Number of each seat's port; a port that was given as 0 has the number that the system chose."""
        return tuple(each.getsockname()[1] for each in self._sockets)

    def accept(self, seat: int, peer: str, deadline: float | None = None) -> Connection:
        """Wait until a program connects to the port of a seat, and return the connection.

        Args:
            seat: number of the seat.
            peer: name of the program in messages.
            deadline: time of `time.monotonic` at which to give up; None: wait without limit.

        Raises:
            PeerError: nobody connected before the deadline.
        """
        listening = self._sockets[seat]
        listening.settimeout(None if deadline is None else max(deadline - time.monotonic(), 1e-3))
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            raise TimedOutError(f"{peer} has not connected in time") from None
        return _undelayed(connection, peer)

    def close(self) -> None:
        """Stop listening."""
        for each in self._sockets:
            each.close()


@contextmanager
def stdout_alone() -> Iterator[int]:
    """Reserve stdout for a protocol and yield its descriptor; everything else that is printed goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield kept
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _listening(host: str, port: int) -> socket.socket:
    if not host:  # the system would listen at all addresses
        raise InputError(
            "the address to listen at is empty; give one of this machine, or 0.0.0.0 for all of them"
        )
    subject = f"address {shown(host)}: expected one of this machine"
    try:
        socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise InputError(f"{subject}, found: {getattr(error, 'strerror', error)}") from None
    try:
        return socket.create_server((host, port))
    except OSError as error:
        reason = (
            os.strerror(error.errno) if error.errno else str(error)
        )  # the text of the error itself repeats the address
        if error.errno == errno.EADDRNOTAVAIL:
            raise InputError(f"{subject}, found: {reason}") from None
        raise PeerError(f"port {port} of {host} is not free: {reason}") from None


def _undelayed(connection: socket.socket, peer: str) -> Connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(connection, peer)


def _descriptor(end: socket.socket | int) -> int:
    return end if isinstance(end, int) else end.fileno()


def _read(end: socket.socket | int) -> bytes:
    return os.read(end, _READ) if isinstance(end, int) else end.recv(_READ)


def _write(end: socket.socket | int, data: bytes) -> int:
    return os.write(end, data) if isinstance(end, int) else end.send(data)


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _is_ready(files: Sequence[int], event: int, deadline: float | None) -> bool:
    """Wait for an event on one of several file descriptors.

    Args:
        files: the file descriptors.
        event: ``select.POLLIN`` or ``select.POLLOUT``: to be readable or writable.
        deadline: time at which to give up; None: wait without limit.

    Returns:
        Whether the event came before the deadline.
    """
    poller = select.poll()
    for file in files:
        poller.register(file, event)
    while True:
        left = _LONGEST_WAIT if deadline is None else max(deadline - time.monotonic(), 0.0)
        if poller.poll(min(left, _LONGEST_WAIT) * 1000):
            return True
        if left < _LONGEST_WAIT:
            return False
