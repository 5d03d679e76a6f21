"""Many inside, or one alone: the lock between a shard's transactions and what may happen only without any.

LMDB may change the size of its map, or be closed, only while the process has no transaction open.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Counts who is inside, by thread.

    A thread that is inside may enter again, even while another one waits for all to leave.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._inside: dict[int, int] = {}
        self._alone = False
        self._waiting = 0

    def enter(self) -> None:
        """Go inside, once nobody is alone there or waits to be."""
        me = threading.get_ident()
        with self._changed:
            if me not in self._inside:
                while self._alone or self._waiting:
                    self._changed.wait()
                self._inside[me] = 0
            self._inside[me] += 1

    def leave(self) -> None:
        """Undo one `enter`."""
        me = threading.get_ident()
        with self._changed:
            self._inside[me] -= 1
            if not self._inside[me]:
                del self._inside[me]
                if self._waiting:
                    self._changed.notify_all()

    def close(self, timeout: float | None = None) -> bool:
        """Wait until everybody has left, then keep all others out; False when that takes too long.

        It would take for ever when the thread that asks is inside itself.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            if threading.get_ident() in self._inside:
                return False
            self._waiting += 1
            try:
                while self._inside or self._alone:
                    left = None if deadline is None else deadline - time.monotonic()
                    if left is not None and left <= 0:
                        return False
                    self._changed.wait(left)
                self._alone = True
                return True
            finally:
                self._waiting -= 1
                self._changed.notify_all()

    def open(self) -> None:
        """Undo `close`."""
        with self._changed:
            self._alone = False
            self._changed.notify_all()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Hold the gate closed while the block runs."""
        if not self.close():
            raise RuntimeError("a gate: expected a thread that is outside, found one inside")
        try:
            yield
        finally:
            self.open()
