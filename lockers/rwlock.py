"""A readers-writer lock between threads: many threads share it, or one thread holds it alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class RWLock:
    """A lock that many threads share or one thread holds alone.

    While a thread waits to hold the lock alone, no new thread can share it. A thread that shares the lock already may
    share it again.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._sharing: dict[int, int] = {}  # number of times that each thread shares the lock
        self._alone = False
        self._waiting = 0

    def share(self) -> None:
        """Wait until no thread holds the lock alone or waits to do so, then share it; `unshare` undoes one call."""
        me = threading.get_ident()
        with self._changed:
            if me not in self._sharing:
                while self._alone or self._waiting:
                    self._changed.wait()
                self._sharing[me] = 0
            self._sharing[me] += 1

    def unshare(self) -> None:
        """Undo one `share` by this thread."""
        me = threading.get_ident()
        with self._changed:
            self._sharing[me] -= 1
            if not self._sharing[me]:
                del self._sharing[me]
                if self._waiting:
                    self._changed.notify_all()

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait until no thread shares the lock, then hold it alone; `release` undoes the call.

        Args:
            timeout: Time limit in seconds; None for no limit.

        Returns:
            Whether this thread now holds the lock alone. False after the time limit, and at once if this thread shares
            the lock, because it would wait for itself.
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
        """Let other threads use the lock again after `acquire`."""
        with self._changed:
            self._alone = False
            self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock alone while the ``with`` block runs.

        Raises:
            RuntimeError: This thread shares the lock.
        """
        if not self.acquire():
            raise RuntimeError("a thread that shares a lock cannot wait to hold it alone")
        try:
            yield
        finally:
            self.release()
