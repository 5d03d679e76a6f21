"""A fair lock, which threads acquire in turn."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

LOOKS = 0.2
"""Seconds between two checks whether the wait for a lock was given up."""


class TakingTurns:
    """A fair lock for ``with`` blocks: a thread that waits gets the lock before the thread that held it last.

    If a thread releases an ordinary lock and acquires it again at once, it nearly always gets the lock again, while
    other threads keep waiting.
    """

    def __init__(self) -> None:
        self._lock, self._next = threading.Lock(), threading.Lock()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self, given_up: threading.Event | None = None) -> bool:
        """Wait for the lock.

        Args:
            given_up: once set, waiting ends.

        Returns:
            Whether this thread has acquired the lock.
        """
        with self._next:  # the thread that is next in turn holds this second lock
            while not self._lock.acquire(timeout=LOOKS):
                if given_up is not None and given_up.is_set():
                    return False
        return True

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()
