"""The worker's side of `spewy.system.local_pool.LocalPool`: runs tasks, and reports to the parent through files."""

from __future__ import annotations

import gc
import os
import pickle
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from spewy.system.child import end_with_parent
from spewy.system.outsider import end_marked, own_mark

NEWS_SECONDS = 0.1
"""Least number of seconds between two pieces of news that a task sends."""
SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable that keeps Python from importing modules from the current folder."""


MOST_CAUSES = 20
"""Largest length of the chain of an error's causes that is sent to the parent together with the error."""


class Parent:
    """Link from a task in a worker process to the process that started the task.

    The task sends news through the link, and asks whether it should return early. The link can be passed wherever a
    `spewy.learn.engine.Stop` is expected.

    Args:
        stem: path of the task's files, without their suffixes.

    Attributes:
        heard: whether an earlier attempt at the task, in a worker that died, had already sent news.
    """

    def __init__(self, stem: str) -> None:
        self._news, self._stop = Path(f"{stem}.news"), os.path.join(os.path.dirname(stem), "stop")
        self.heard = self._news.exists()
        self._waiting: list[object] = []
        self._told = 0.0

    def is_set(self) -> bool:
        """Whether the calling process has asked tasks to return early."""
        self._pass_on()
        return os.path.exists(self._stop)

    def tell(self, news: object) -> None:
        """Send news to the calling process before the task ends; of news in quick succession only the last is sent."""
        self._waiting = [news]
        self._pass_on()

    def _pass_on(self) -> None:
        """Write the latest news to its file, unless the previous news was written a moment ago."""
        if self._waiting and time.monotonic() - self._told > NEWS_SECONDS:
            _replace(self._news, pickle.dumps(self._waiting.pop()))
            self._told = time.monotonic()


def call(stem: str) -> None:
    """Run a task in a worker, and write its result or error to a file.

    Args:
        stem: path of the task's files, without their suffixes.
    """
    Path(f"{stem}.worker").write_text(str(os.getpid()))
    try:
        function, arguments = pickle.loads(Path(f"{stem}.call").read_bytes())
        answer = pickle.dumps(("done", function(Parent(stem), *arguments)))
    except Exception as error:
        answer = pickle.dumps(("failed", portable(error)))
    _replace(Path(f"{stem}.answer"), answer)
    gc.freeze()  # loky collects garbage after each task, and would scan the objects of all imported modules


def portable(error: Exception) -> Portable:
    """Prepare an error for `pickle`; the unpickled error has its traceback in a note, and its causes."""
    error.add_note(traceback.format_exc())
    return Portable(error)


class Portable:
    """Replaces an error in `pickle`; unpickling returns the error.

    A pickled exception loses the exceptions that caused it, and some exceptions cannot be unpickled. Unpickling a
    `Portable` restores the causes. It returns a `RuntimeError` with the same text in place of an exception that cannot
    be unpickled.

    Args:
        error: the error.
        depth: largest length of the chain of causes that is kept.
    """

    def __init__(self, error: BaseException, depth: int = MOST_CAUSES) -> None:
        self._error, self._depth = error, depth

    def __reduce__(self) -> tuple[Callable[..., BaseException], tuple[object, ...]]:
        error, cause, context = self._error, self._error.__cause__, self._error.__context__
        if cause is not None or not self._depth:
            context = None
        links = [
            None if link is None or not self._depth else Portable(link, self._depth - 1)
            for link in (cause, context)
        ]
        return _linked, (_unpicklable_replaced(error), *links, error.__suppress_context__)


def _linked(
    error: BaseException, cause: BaseException | None, context: BaseException | None, suppress: bool
) -> BaseException:
    """Give an unpickled error its cause and context again, and return the error.

    ``suppress`` is the error's ``__suppress_context__``: whether a traceback leaves out the context.
    """
    error.__cause__, error.__context__, error.__suppress_context__ = cause, context, suppress
    return error


def _unpicklable_replaced(error: BaseException) -> BaseException:
    """Return the error, or a `RuntimeError` with the same text and notes if the error cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # the class of the error decides what happens
        replacement = RuntimeError(f"{type(error).__name__}: {error}")
        for note in getattr(error, "__notes__", ()):
            replacement.add_note(note)
        return replacement
    return error


def _replace(path: Path, data: bytes) -> None:
    """Write a file in one step: a reader sees either the old data or the new data."""
    new = path.with_suffix(f"{path.suffix}-new")
    new.write_bytes(data)
    new.replace(path)


def begin(parent: int, safe_before: bool) -> None:
    """Make this process a worker, which has no stdin and stdout and ends with its parent.

    Args:
        parent: process ID of the parent.
        safe_before: whether the environment variable `SAFE_PATH` was set in the parent.
    """
    if not safe_before:
        os.environ.pop(SAFE_PATH, None)  # programs that tasks start should not inherit it
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    os.close(null)
    end_with_parent(parent, lambda: end_marked(own_mark()))
