"""Lines over the pipes of processes: bounded in length and in time, whatever the other end does.

Times are of `time.monotonic`. What goes wrong on the way is a `PeerError`, whose subject is the other end.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from spewy.errors import PeerError
from spewy.match.connection import TimedOutError

_READ = 1 << 16


class PipeReader:
    r"""Lines that another process writes.

    Args:
        file: number of the pipe's descriptor, which stays open.
        peer: the other end, as messages call it.
        most: bytes of a line; what is longer comes in pieces.

    >>> here, there = os.pipe()
    >>> os.write(there, b"ready\n")
    6
    >>> PipeReader(here, "bot").receive(time.monotonic() + 1)
    b'ready'
    """

    def __init__(self, file: int, peer: str, most: int = 4095) -> None:
        self.file, self.peer = file, peer
        self._most = most
        self._held = bytearray()
        self._scanned = 0
        self.ended = False

    def receive(self, deadline: float | None = None) -> bytes | None:
        """The next line without its end; None after the last.

        Raises:
            PeerError: nothing came until the deadline.
        """
        while True:
            line = self.next()
            if line is not None:
                return line
            if self.ended:
                return None
            if not self.wait(deadline):
                raise TimedOutError(f"{self.peer}: expected a line in time, found none")

    def wait(self, deadline: float | None) -> bool:
        """Read what there is, and wait for it until a deadline; whether anything came, the end too."""
        left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
        if not select.select([self.file], [], [], left)[0]:
            return False
        found = os.read(self.file, _READ)
        self._held += found
        self.ended = not found
        return True

    def next(self) -> bytes | None:
        """The next line of what was read, or a piece of one that is too long; None: there is none."""
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


def write_line(file: int, text: str, peer: str, deadline: float | None = None) -> None:
    """Write a line to a pipe that does not block.

    Raises:
        PeerError: the other end is gone, or reads nothing until the deadline.
    """
    data = f"{text}\n".encode("ascii")
    while data:
        left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
        if not select.select([], [file], [], left)[1]:
            raise TimedOutError(f"{peer}: expected to read what it is sent, found it does not")
        try:
            data = data[os.write(file, data) :]
        except OSError as error:
            raise PeerError(f"{peer}: expected to be there, found: {error.strerror or error}") from None


@contextmanager
def stdout_alone() -> Iterator[int]:
    """A descriptor of stdout for a protocol alone: whatever else is printed meanwhile goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield kept
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
