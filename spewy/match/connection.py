"""Channels on which this process and a program that plays, the *peer*, send each other lines of text.

A channel goes over TCP or over the pipes of a program that this process starts, or to a player in this process. A
connection limits the length of a line and the time that it waits. Deadlines are times of `time.monotonic`; None: no
limit. Failures are raised as a `PeerError` that names the peer.

A `Program` is killed with all of its child processes, and its stderr goes to a log, never to the terminal.
"""

from __future__ import annotations

import errno
import os
import select
import shlex
import socket
import subprocess
import sys
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from spewy.errors import InputError, PeerError, path_text, shown
from spewy.system.children import Outsider
from spewy.system.tools import Closing

MOST_OF_LINE = 4095
"""Largest number of bytes in a line; a longer line is received in several pieces."""
_READ = 1 << 16
_PAUSE = 0.1
"""Seconds between two attempts to connect."""
_LONGEST_WAIT = 1e6
"""Largest number of seconds for one call of the system's `poll`; longer waits take several calls."""
END_SECONDS = 1.0
"""Seconds to wait for the exit code of a program that closed its stdout."""
TAIL = 400
"""Largest number of characters from the end of a log that an error quotes."""


class TimedOutError(PeerError):
    """The peer did not read or answer in time."""


class Channel(Closing):
    """A channel on which this process and a peer send each other lines.

    Attributes:
        ended: whether the peer has closed its side, so that no more bytes arrive.
    """

    peer: str
    ended: bool = False

    @abstractmethod
    def send(self, text: str, deadline: float | None = None) -> None:
        """Send a line."""

    @abstractmethod
    def receive(self, deadline: float | None = None) -> bytes | None:
        """Wait for the next line, and return it without its line ending; None after the last line."""

    @abstractmethod
    def poll(self) -> bytes | None:
        """Return the next line if it has already arrived, else None."""

    @property
    def file(self) -> int | None:
        """File descriptor that becomes readable when the peer sends something; None for a peer in this process."""
        return None

    @property
    def end_text(self) -> str:
        """Words that end an error message: how the connection to the peer ended."""
        return "the connection closed"

    def leave(self, seconds: float) -> bool:
        """Give the peer some seconds to end, then close the channel; return whether the peer ended in time."""
        self.close()
        return True

    def gone(self, expected: str) -> PeerError:
        """Return the error for a peer that ended before it sent ``expected``, such as "an answer"."""
        return PeerError(f"{self.peer}: expected {expected}, found {self.end_text}")


class LocalChannel(Channel):
    """A channel to a player in this process, which answers each line at once.

    Args:
        hear: function that returns the player's answers to a line.
    """

    def __init__(
        self, peer: str, hear: Callable[[str], Iterable[str]], on_close: Callable[[], None] = lambda: None
    ) -> None:
        self.peer = peer
        self._hear, self._on_close = hear, on_close
        self._answers = deque[str]()

    def send(self, text: str, deadline: float | None = None) -> None:
        self._answers.extend(self._hear(text))

    def receive(self, deadline: float | None = None) -> bytes | None:
        line = self.poll()
        if line is None:
            raise PeerError(f"{self.peer}: expected an answer, found none")
        return line

    def poll(self) -> bytes | None:
        return self._answers.popleft().encode() if self._answers else None

    def close(self) -> None:
        self._on_close()


class Connection(Channel):
    r"""A channel over a socket, or over the descriptors of two pipes.

    Lines that are sent end with CR LF on a socket and with LF on a pipe; received lines may end with either.

    Args:
        source: socket, which is closed with the connection; or file descriptor to read from, which stays open.
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
        line = self._next()
        if line is None and self.read_available():
            line = self._next()
        return line

    def read_available(self) -> int:
        """Read bytes that have arrived, without waiting; return the number of lines that have at least begun.

        The last of these lines may lack its end, which an unbuffered Python program writes in a separate call.
        """
        if not self.ended and self._is_ready(self._source, select.POLLIN, 0.0):
            self._read()
        return self._held.count(b"\n") + (len(self._held) > 0 and not self._held.endswith(b"\n"))

    @property
    def file(self) -> int | None:
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
    """Wait until a line may have arrived on any of the channels, or until a deadline."""
    files = [channel.file for channel in channels]
    waiting = [file for file in files if file is not None]
    if waiting and len(waiting) == len(files):
        _is_ready(waiting, select.POLLIN, deadline)


def connect(host: str, port: int, wait: float = 0.0) -> Connection:
    """Connect to a port at which another program listens; if none does, try again for ``wait`` seconds."""
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
        ports: numbers of the ports; 0 means any free port.

    Raises:
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
        """Wait until a program connects to the port of a seat; ``peer`` is its name in messages."""
        listening = self._sockets[seat]
        listening.settimeout(None if deadline is None else max(deadline - time.monotonic(), 1e-3))
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            raise TimedOutError(f"{peer} has not connected in time") from None
        return _undelayed(connection, peer)

    def close(self) -> None:
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


class Program(Connection):
    """A running program that reads lines from its stdin and writes lines to its stdout.

    Args:
        folder: working folder of the program; None: that of this process.
        log: file to which the program's stderr is appended; None: its stderr is discarded.
        merged: whether the program's stderr is sent to this process together with its stdout.
    """

    def __init__(
        self,
        command: Sequence[str],
        peer: str,
        *,
        folder: Path | None = None,
        log: Path | None = None,
        merged: bool = False,
        most: int = MOST_OF_LINE,
    ) -> None:
        self._process = start(command, folder=folder, log=log, pipes=True, merged=merged)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._pipes = self._process.stdin, self._process.stdout
        sink, source = (pipe.fileno() for pipe in self._pipes)
        os.set_blocking(sink, False)
        super().__init__(source, peer, sink, most)

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    @property
    def end_text(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            return f"that it ended with exit code {self._process.wait(END_SECONDS)}"
        return "its stdout closed"

    def usage(self) -> tuple[float, float]:
        """Return the program's processor seconds and peak memory in MiB, without child processes; 0 where unknown."""
        return _cpu_seconds(self._process.pid), _peak_mib(self._process.pid)

    def wait(self, deadline: float) -> None:
        """Wait for the program's end, at most until a deadline."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(deadline - time.monotonic(), 0.0))

    def leave(self, seconds: float) -> bool:
        self.wait(time.monotonic() + seconds)
        ended = self._process.poll() is not None
        self.close()
        return ended

    def end(self) -> None:
        """Kill the program and its child processes; lines that the program has written can still be read."""
        self._process.end()

    def close(self) -> None:
        self.end()
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
        self.ended = True
        self._source = self._sink = -1  # the system may give these descriptors to other files


def start(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    log: Path | None = None,
    pipes: bool = False,
    merged: bool = False,
) -> Outsider:
    """Start a program in a process group of its own; other arguments are those of `Program`.

    Args:
        pipes: whether the program's stdin and stdout are pipes; if not, stdin is empty and stdout is discarded.
    """
    ends = subprocess.PIPE if pipes else subprocess.DEVNULL
    try:
        with open(os.devnull if log is None else log, "ab") as errors:
            return Outsider(
                command,
                cwd=folder,
                stdin=ends,
                stdout=ends,
                stderr=subprocess.STDOUT if merged else errors,
                bufsize=0,
            )
    except (OSError, ValueError) as error:
        subject = f"command {shown(shlex.join(command))} cannot be run"
        if isinstance(error, OSError) and log is not None and error.filename == str(log):
            subject = f"file {path_text(log)} cannot be written"
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{subject}: {reason}") from None


def command_words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"command {shown(command)} cannot be run: {error}") from None
    if not words:
        raise InputError(f"command {shown(command)} cannot be run: it has no words")
    return words


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
    poller = select.poll()
    for file in files:
        poller.register(file, event)
    while True:
        left = _LONGEST_WAIT if deadline is None else max(deadline - time.monotonic(), 0.0)
        if poller.poll(min(left, _LONGEST_WAIT) * 1000):
            return True
        if left < _LONGEST_WAIT:
            return False


def _peak_mib(process: int) -> float:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError, ValueError):
        return 0.0


def _cpu_seconds(process: int) -> float:
    try:
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2]
        )
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0
