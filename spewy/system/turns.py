"""A lock that threads acquire in turn."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

LOOKS = 0.2
"""Seconds between two checks of ``given_up``."""


class TakingTurns:
    """A fair lock for ``with``: a waiting thread precedes the last holder.

    An ordinary lock goes to the thread that asks first after a release, which is nearly always the last holder.
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
        """Wait for the lock; return False if ``given_up`` is set meanwhile."""
        with self._next:  # held by the thread that waits
            while not self._lock.acquire(timeout=LOOKS):
                if given_up is not None and given_up.is_set():
                    return False
        return True

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()
