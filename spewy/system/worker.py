"""The worker's side of a `spewy.system.local_pool.LocalPool`: does tasks and reports to its parent by files."""

from __future__ import annotations

import gc
import os
import pickle
import time
import traceback
from pathlib import Path

from spewy.system.child import end_with_parent
from spewy.system.outsider import end_marked, own_mark

NEWS_SECONDS = 0.1
"""Seconds between two reports of a task."""
SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable that keeps a worker from importing other people's modules from the current folder."""


class Parent:
    """The calling process, as seen by a task in a worker; a `spewy.learn.engine.Stop`.

    Attributes:
        heard: whether an earlier attempt of the task, whose worker has died, has reported news.
    """

    def __init__(self, stem: str) -> None:
        self._news, self._stop = Path(f"{stem}.news"), os.path.join(os.path.dirname(stem), "stop")
        self.heard = self._news.exists()
        self._waiting: list[object] = []
        self._told = 0.0

    def is_set(self) -> bool:
        """Whether the parent has asked tasks to return early."""
        self._pass_on()
        return os.path.exists(self._stop)

    def tell(self, news: object) -> None:
        """Send a report before the end of the task; the parent may miss all but the latest one."""
        self._waiting = [news]
        self._pass_on()

    def _pass_on(self) -> None:
        """Write the latest report, unless the previous one is too recent."""
        if self._waiting and time.monotonic() - self._told > NEWS_SECONDS:
            _replace(self._news, pickle.dumps(self._waiting.pop()))
            self._told = time.monotonic()


def call(stem: str) -> None:
    """Do a task in a worker."""
    Path(f"{stem}.worker").write_text(str(os.getpid()))
    try:
        function, arguments = pickle.loads(Path(f"{stem}.call").read_bytes())
        answer = pickle.dumps(("done", function(Parent(stem), *arguments)))
    except Exception as error:
        answer = pickle.dumps(("failed", portable(error)))
    _replace(Path(f"{stem}.answer"), answer)
    gc.freeze()  # loky looks for garbage after tasks, and would go through all modules


def portable(error: Exception) -> Exception:
    """Return an error that can be pickled, with its traceback in a note."""
    error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its class does
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _replace(path: Path, data: bytes) -> None:
    """Write a file in one step."""
    new = path.with_suffix(f"{path.suffix}-new")
    new.write_bytes(data)
    new.replace(path)


def begin(parent: int, safe_before: bool) -> None:
    """Make this process a worker, which uses no terminal and ends with its parent."""
    if not safe_before:
        os.environ.pop(SAFE_PATH, None)  # which is not for programs that tasks start
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    os.close(null)
    end_with_parent(parent, lambda: end_marked(own_mark()))
