"""Answers to questions that take longer than a click: computed in a thread, while the page asks how far they are.

A page asks again and again until the answer is there. One question is computed at a time. If no page asks a question
any more, its computation goes on as long as no other question waits, so that a reader who comes back finds the answer.
A computation pauses while the server answers a click.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import JSONResponse

Progress = Callable[[int, int], None]
"""A function of the numbers of steps that are done, and of all steps."""
Work = Callable[[Progress], Any]
"""A function that computes an answer."""

FIRST_WAIT = 0.1
"""Seconds that a question waits for its answer, so that a fast answer needs no second question."""
FORSAKEN = 10.0
"""Seconds without a request for an answer, after which its computation may be stopped for another question."""
LONGEST_PAUSE = 1.0
"""Seconds for which a computation pauses at most before its next step, while the server answers clicks."""
MOST_ANSWERS = 32
"""Largest number of finished answers that stay in memory."""


class Background:
    """Computes answers one after another in a thread, and keeps the latest answers."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[Hashable, _Task] = OrderedDict()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._n_clicks = 0

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Let the computation pause at its next step during a ``with`` block, which answers a click."""
        with self._changed:
            self._n_clicks += 1
        try:
            yield
        finally:
            with self._changed:
                self._n_clicks -= 1
                self._changed.notify_all()

    def answer(self, key: Hashable, version: Hashable, work: Work, *, exact: bool = False) -> Any:
        """Return the answer to a question, or a response with status 202 and the progress ``{done, total}``.

        Args:
            key: what identifies the question.
            version: what the answer depends on besides the question, such as the last save of a solve. An answer for
                another version is returned once, to the page that waited for it; then the answer is computed anew.
            work: computes the answer; called if no computation has begun yet.
            exact: whether to compute the answer anew at once, instead of returning it for another version.
        """
        with self._changed:
            task = self._tasks.get(key)
            if task is None or task.is_old(version, exact):
                task = self._tasks[key] = _Task(work, version)
                self._start()
                self._changed.notify_all()
            self._tasks.move_to_end(key)
            task.asked = time.monotonic()
            self._changed.wait_for(lambda: task.ended, FIRST_WAIT)
            if not task.ended:
                return JSONResponse({"done": task.done, "total": task.total}, 202)
            task.delivered = True
            if task.error is not None:
                del self._tasks[key]
                raise task.error
            return task.result

    def close(self) -> None:
        """Stop computing; a computation ends at its next step."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(2.0)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="background", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        """Compute answers until the server ends, each time to the waiting question that was asked last."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._waiting())
                if self._closed:
                    return
                task = self._waiting()[-1]
                task.begun = True
            self._compute(task)

    def _compute(self, task: _Task) -> None:
        def progress(done: int, total: int) -> None:
            task.done, task.total = done, total
            with self._changed:
                self._changed.wait_for(lambda: self._closed or not self._n_clicks, LONGEST_PAUSE)
            if self._closed or (task.is_forsaken() and self._waiting()):
                raise _ForsakenError

        result, error = None, None
        try:
            result = task.work(progress)
        except _ForsakenError:
            with self._changed:
                self._tasks = OrderedDict(pair for pair in self._tasks.items() if pair[1] is not task)
            return
        except Exception as failure:
            error = failure
        with self._changed:
            task.result, task.error, task.ended = result, error, True
            ended = [key for key, each in self._tasks.items() if each.ended]
            for key in ended[: max(0, len(ended) - MOST_ANSWERS)]:
                del self._tasks[key]
            self._changed.notify_all()

    def _waiting(self) -> list[_Task]:
        """Return the questions that pages still ask and that are not computed yet; the one asked last comes last."""
        return [task for task in self._tasks.values() if not task.begun and not task.is_forsaken()]


@dataclass(eq=False)
class _Task:
    work: Work
    version: Hashable
    asked: float = field(default_factory=time.monotonic)
    begun: bool = False
    ended: bool = False
    delivered: bool = False
    done: int = 0
    total: int = 0
    result: Any = None
    error: Exception | None = None

    def is_old(self, version: Hashable, exact: bool) -> bool:
        """Whether to forget the task.

        An ended task is old if its answer is for another version, and was delivered or ``exact`` is true. A task that
        has not begun is old if no page asks for its answer any more.
        """
        if self.ended:
            return (self.delivered or exact) and self.version != version
        return not self.begun and self.is_forsaken()

    def is_forsaken(self) -> bool:
        """Whether no page has asked for the answer within the last `FORSAKEN` seconds."""
        return time.monotonic() - self.asked > FORSAKEN


class _ForsakenError(Exception):
    """Raised inside a computation, to end it, if no page asks for its answer any more."""
