r"""Lines of text to and from another player: over TCP, over pipes, or within this process.

Every channel bounds the length of a line and the time that it waits. Deadlines are times of `time.monotonic`. A
failure is a `PeerError`, whose subject is the peer: the program at the other end.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import sys
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from spewy.errors import InputError, PeerError, shown
from spewy.system.closing import Closing

MOST_OF_LINE = 4095
"""Largest number of bytes in a line; a longer line arrives in pieces."""
_READ = 1 << 16
_PAUSE = 0.1
"""Seconds between two attempts to connect."""
_LONGEST_WAIT = 1e6
"""Largest number of seconds that the system's timers accept at once."""


class TimedOutError(PeerError):
    """The peer did not read or answer in time."""


class Channel(Closing):
    """Two-way lines between this process and a peer.

    Attributes:
        peer: name of the other end in messages.
        ended: whether the peer has sent its last byte.
    """

    peer: str
    ended: bool = False

    @abstractmethod
    def send(self, text: str, deadline: float | None = None) -> None:
        """Send a line.

        Raises:
            PeerError: the peer is gone, or reads nothing until the deadline.
        """

    @abstractmethod
    def receive(self, deadline: float | None = None) -> bytes | None:
        """Wait for the next line and return it without its end; None after the last line.

        Raises:
            PeerError: no line arrived before the deadline, or the connection broke.
        """

    @abstractmethod
    def poll(self) -> bytes | None:
        """Return the next line that has already arrived; None if there is none."""

    @property
    def file(self) -> int | None:
        """Descriptor that becomes readable when the peer sends something; None if the peer answers at once."""
        return None

    @property
    def end_text(self) -> str:
        """Words that say how the peer's side ended."""
        return "the connection closed"

    def leave(self, seconds: float) -> bool:
        """Close the channel; return whether the peer ended by itself within the time."""
        self.close()
        return True

    def gone(self, expected: str) -> PeerError:
        """Make the error that the peer ended while ``expected`` was due."""
        return PeerError(f"{self.peer}: expected {expected}, found {self.end_text}")


class Connection(Channel):
    r"""A channel over a socket, or over the descriptors of two pipes.

    A socket sends CR LF at the end of a line, a pipe LF; both accept either.

    Args:
        source: socket, which is closed with the connection; or descriptor to read from, which stays open.
        peer: name of the other end in messages.
        sink: descriptor to write to if ``source`` is a descriptor.
        most: largest number of bytes in a line; a longer line arrives in pieces.

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
        """Send a line; errors as `Channel.send`."""
        data = f"{text}{self._ending}".encode("ascii")
        while data:
            if _is_over(deadline) or not self._is_ready(self._sink, select.POLLOUT, deadline):
                raise TimedOutError(f"{self.peer}: expected to read what it is sent, found it does not")
            try:
                data = data[_write(self._sink, data) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._broken(error) from None

    def receive(self, deadline: float | None = None) -> bytes | None:
        """Wait for the next line; result and errors as `Channel.receive`."""
        while True:
            # Checked while lines are held, too: a flood of lines is no answer.
            if not _is_over(deadline):
                line = self._next()
                if line is not None or self.ended:
                    return line
                if self._is_ready(self._source, select.POLLIN, deadline):
                    self._read()
                    continue
            raise TimedOutError(f"{self.peer}: expected a line in time, found none")

    def poll(self) -> bytes | None:
        """Return a line that has already arrived; None if there is none."""
        line = self._next()
        if line is None and self.read_available():
            line = self._next()
        return line

    def read_available(self) -> int:
        """Read once without waiting; return the number of complete lines in the buffer."""
        if not self.ended and self._is_ready(self._source, select.POLLIN, 0.0):
            self._read()
        return self._held.count(b"\n") + (self.ended and len(self._held) > 0)

    @property
    def file(self) -> int | None:
        """Descriptor that lines arrive at."""
        return _descriptor(self._source)

    def close(self) -> None:
        """Close the socket, if there is one."""
        if isinstance(self._source, socket.socket):
            self._source.close()

    def _next(self) -> bytes | None:
        """Return the next line in the buffer, or a piece of a line that is too long; None if there is none."""
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
        if file < 0:  # a number that was closed may be another connection's by now
            raise PeerError(f"{self.peer}: expected to be there, found the connection closed")
        return _is_ready([file], event, deadline)

    def _broken(self, error: OSError) -> PeerError:
        return PeerError(f"{self.peer}: expected to be there, found: {error.strerror or error}")


class LocalChannel(Channel):
    """A channel to a player of this process, which answers each line at once.

    Args:
        peer: name of the player in messages.
        hear: returns the lines that answer a line.
        on_close: called by `close`.
    """

    def __init__(
        self, peer: str, hear: Callable[[str], Iterable[str]], on_close: Callable[[], None] = lambda: None
    ) -> None:
        self.peer = peer
        self._hear, self._on_close = hear, on_close
        self._answers = deque[str]()

    def send(self, text: str, deadline: float | None = None) -> None:
        """Let the player answer a line."""
        self._answers.extend(self._hear(text))

    def receive(self, deadline: float | None = None) -> bytes | None:
        """Return the next answer.

        Raises:
            PeerError: the player gave none.
        """
        line = self.poll()
        if line is None:
            raise PeerError(f"{self.peer}: expected an answer, found none")
        return line

    def poll(self) -> bytes | None:
        """Return the next answer; None if there is none."""
        return self._answers.popleft().encode() if self._answers else None

    def close(self) -> None:
        """Close the player."""
        self._on_close()


def wait_for_any(channels: Sequence[Channel], deadline: float) -> None:
    """Wait until a line may be read from one of these channels, or until a deadline."""
    files = [channel.file for channel in channels]
    waiting = [file for file in files if file is not None]
    if waiting and len(waiting) == len(files):
        _is_ready(waiting, select.POLLIN, deadline)


def connect(host: str, port: int, wait: float = 0.0) -> Connection:
    """Connect to a listener.

    Args:
        host: name or address.
        port: number of the port.
        wait: seconds during which to try again while nobody listens.

    Raises:
        PeerError: nobody listened.
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
                    f"{peer}: expected somebody who listens, found: {error.strerror or error}"
                ) from None
        except UnicodeError:  # a name that no name server could be asked for
            raise PeerError(f"{peer}: expected the name of a host, found none") from None
        time.sleep(_PAUSE)


class Listener(Closing):
    """Ports that wait for players, one for each seat.

    Args:
        host: address to listen at.
        ports: numbers of the ports; 0 takes any free port.

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
        """Numbers of the ports."""
        return tuple(each.getsockname()[1] for each in self._sockets)

    def accept(self, seat: int, peer: str, deadline: float | None = None) -> Connection:
        """Wait for the player of a seat.

        Raises:
            PeerError: nobody connected before the deadline.
        """
        listening = self._sockets[seat]
        listening.settimeout(None if deadline is None else max(deadline - time.monotonic(), 1e-3))
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            raise TimedOutError(f"{peer}: expected to connect in time, found nobody") from None
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
    if not host:  # the system takes an empty name for all addresses
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
    """Wait until one of some descriptors can be read or written; False if none can before the deadline."""
    poller = select.poll()
    for file in files:
        poller.register(file, event)
    while True:
        left = _LONGEST_WAIT if deadline is None else max(deadline - time.monotonic(), 0.0)
        if poller.poll(min(left, _LONGEST_WAIT) * 1000):
            return True
        if left < _LONGEST_WAIT:
            return False
