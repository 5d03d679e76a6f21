"""A lock that two threads take in turns."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self


class TakingTurns:
    """A lock for ``with`` that a waiting thread gets next, even if the last holder asks for it again at once.

    An ordinary lock goes to the thread that asks first after a release, which is nearly always the last holder.
    """

    def __init__(self) -> None:
        self._lock, self._next = threading.Lock(), threading.Lock()

    def __enter__(self) -> Self:
        with self._next:  # held by the thread that waits
            self._lock.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
