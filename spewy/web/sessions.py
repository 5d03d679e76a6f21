"""Sessions of people who play or train in the browser: kept in memory by id, and forgotten when they are idle."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from spewy.errors import InputError, shown

T = TypeVar("T")
MOST = 24
"""Largest number of sessions; a new one replaces the session that was used least recently."""
WARM = 2
"""Number of most recently used sessions that keep computed results in memory."""
IDLE_SECONDS = 3600.0
"""Seconds without a request after which a session is forgotten."""


@dataclass
class _Session(Generic[T]):
    """A person's sitting or training on the server, and functions that release its resources.

    Attributes:
        content: the sitting or the trainer.
        close: releases the files of the session.
        cool: releases the session's computed results, which are computed again if needed.
        used: time of the last request.
        lock: held by the thread that answers a request of the session.
        closed: whether the session was closed.
    """

    content: T
    close: Callable[[], None]
    cool: Callable[[], None]
    used: float
    warm: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)
    closed: bool = False


class Sessions(Generic[T]):
    """Keeps sessions by id, and forgets sessions that are idle or too many.

    Args:
        clock: returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, _Session[T]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Number of sessions."""
        return len(self._sessions)

    def add(self, content: T, close: Callable[[], None], cool: Callable[[], None] = lambda: None) -> str:
        """Add a session, and return its id.

        Args:
            content: the sitting or the trainer.
            close: releases the files of the session; called when it is forgotten.
            cool: releases the session's computed results; called once `WARM` other sessions were used after it.
        """
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._sessions[name] = _Session(content, close, cool, self._clock())
            old, unused = self._outdated(), self._unused()
        _close(old)
        _cool(unused)
        return name

    @contextmanager
    def use(self, name: str) -> Iterator[T]:
        """Yield the content of a session for a ``with`` block; threads that use one session wait for each other.

        Raises:
            InputError: there is no session with the id, or not any more.
        """
        with self._lock:
            old = self._outdated()
            session = self._sessions.get(name)
            if session is not None:
                session.used, session.warm = self._clock(), True
                self._sessions.move_to_end(name)
            unused = self._unused()
        _close(old)
        _cool(unused)
        if session is None:
            raise _forgotten(name)
        with session.lock:
            if session.closed:
                raise _forgotten(name)
            yield session.content

    def close(self) -> None:
        """Forget all sessions."""
        with self._lock:
            old, self._sessions = list(self._sessions.values()), OrderedDict()
        _close(old)

    def _unused(self) -> list[_Session[T]]:
        """Return the sessions that must release their computed results; the caller holds the lock."""
        return [session for session in list(self._sessions.values())[:-WARM] if session.warm]

    def _outdated(self) -> list[_Session[T]]:
        """Remove the sessions that are idle or too many, and return them; the caller holds the lock."""
        limit, old = self._clock() - IDLE_SECONDS, []
        while self._sessions:
            oldest = next(iter(self._sessions.values()))
            if len(self._sessions) <= MOST and oldest.used >= limit:
                break
            old.append(self._sessions.popitem(last=False)[1])
        return old


def _forgotten(name: str) -> InputError:
    return InputError(
        f"session {shown(name)} has ended: it was idle for an hour, or the server was restarted; start again"
    )


def _cool(sessions: list[_Session[T]]) -> None:
    """Let sessions release memory, except those that a thread uses now."""
    for session in sessions:
        if session.lock.acquire(blocking=False):
            try:
                if not session.closed:
                    session.cool()
                session.warm = False
            finally:
                session.lock.release()


def _close(sessions: list[_Session[T]]) -> None:
    """Close sessions once no thread uses them."""
    for session in sessions:
        with session.lock:
            session.closed = True
            session.close()
