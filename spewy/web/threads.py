"""Threads that compute answers, so that the server can accept other requests meanwhile.

The threads are daemons: a computation that still runs does not delay the end of the process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
N_THREADS = 8
"""Number of answers that are computed at the same time; further questions wait."""

_TASKS: SimpleQueue[_Task] = SimpleQueue()
_STARTING = threading.Lock()
_STARTED: list[threading.Thread] = []


async def in_thread(function: Callable[[], T]) -> T:
    """Run a function in one of the threads and return its result.

    If this coroutine is cancelled before the function has begun, the function does not run.
    """
    with _STARTING:
        if len(_STARTED) < N_THREADS:
            _STARTED.append(threading.Thread(target=_work, name=f"answers-{len(_STARTED)}", daemon=True))
            _STARTED[-1].start()
    task = _Task(function)
    _TASKS.put(task)
    try:
        return await task.future  # type: ignore[no-any-return]
    finally:
        task.left = True


class _Task:
    """A function to run, and the future that gets its result."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function, self.left = function, False
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()

    def run(self) -> None:
        """Run the function, unless nobody waits for its result."""
        if self.left:
            return
        try:
            result, error = self.function(), None
        except BaseException as caught:
            result, error = None, caught
        with suppress(RuntimeError):  # the server has ended
            self.loop.call_soon_threadsafe(self._finish, result, error)

    def _finish(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


def _work() -> None:
    while True:
        _TASKS.get().run()
