"""A readers-writer lock between threads; a thread that shares the lock may take it again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class RWLock:
    """Many threads share the lock, or one thread has it alone.

    A thread that waits to be alone keeps other threads from entering, but a thread that shares the lock already may
    share it again.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._sharing: dict[int, int] = {}  # how often, by thread
        self._alone = False
        self._waiting = 0

    def share(self) -> None:
        """Share the lock once no thread holds it alone or waits to; `unshare` undoes one call."""
        me = threading.get_ident()
        with self._changed:
            if me not in self._sharing:
                while self._alone or self._waiting:
                    self._changed.wait()
                self._sharing[me] = 0
            self._sharing[me] += 1

    def unshare(self) -> None:
        """Undo one `share` of this thread."""
        me = threading.get_ident()
        with self._changed:
            self._sharing[me] -= 1
            if not self._sharing[me]:
                del self._sharing[me]
                if self._waiting:
                    self._changed.notify_all()

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait until no thread shares the lock, then keep all others out; `release` undoes the call.

        Args:
            timeout: Most seconds to wait; None for no limit.

        Returns:
            False if the time has passed, or if this thread shares the lock and would wait for itself.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            if threading.get_ident() in self._sharing:
                return False
            self._waiting += 1
            try:
                while self._sharing or self._alone:
                    seconds = None if deadline is None else deadline - time.monotonic()
                    if seconds is not None and seconds <= 0:
                        return False
                    self._changed.wait(seconds)
                self._alone = True
                return True
            finally:
                self._waiting -= 1
                self._changed.notify_all()

    def release(self) -> None:
        """Undo `acquire`."""
        with self._changed:
            self._alone = False
            self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock alone while the block runs."""
        if not self.acquire():
            raise RuntimeError("a thread that shares a lock cannot wait to have it alone")
        try:
            yield
        finally:
            self.release()
