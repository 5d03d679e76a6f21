"""Pools of worker processes: from a function and many tasks to results; each task runs at least once.

`WorkerPool` is the protocol of all pools. `LocalPool` runs tasks on this machine; `spewy.system.dask_pool` has a pool
on a cluster. In `LocalPool`, joblib's library loky starts the processes, distributes tasks and reports errors.
`joblib.Parallel` was tried and rejected: the caller cannot react to Ctrl-C before a task ends, and a worker that dies
makes all tasks fail. This module adds:

- **A dead worker costs its task, and no other.** When a worker dies, loky ends all workers of its executor, so each
  worker has an executor of its own. The task of a dead worker begins again in a new worker after all other tasks, and
  alone, in case memory was short; so a task must be safe to repeat. A task that has killed `MOST_DEATHS` workers fails.
- **News and early stops.** A task can send news before its end, and the caller can ask running tasks to return early.
- **No large messages.** Arguments and results are written to files in a scratch folder, since loky waits for ever for
  the rest of a message if a worker dies in the middle of it. Nothing is put into ``/dev/shm``.
- **Workers end with their parent**, even if the parent is killed, and so do all processes that they have started.
  Workers ignore Ctrl-C, which a terminal sends to all processes.

This is the only module that uses loky, which is private to joblib, and one private attribute of loky's executor; so
`setup.cfg` bounds the version of joblib. The functions at the end of the module run in the workers.
"""

from __future__ import annotations

import gc
import os
import pickle
import resource
import signal
import threading
import time
import traceback
import warnings
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from spewy.system.children import end_marked, end_with_parent, marked, new_mark, own_mark
from spewy.system.folders import scratch_folder
from spewy.system.interrupts import SIGNALS, deaf_children
from spewy.system.tools import Closing

POLL_SECONDS = 0.1
"""Seconds between two checks for messages."""


@dataclass(frozen=True)
class Message:
    """A message about a task.

    Attributes:
        task: number of the task.
        kind: "news" if the task reports before its end, "done" if the task has returned, "failed" if it has raised an
            error, "died" if it was given up because its workers died or left.
        value: the news ("news"), the result ("done"), the error ("failed"), or a text about the worker's end ("died").
    """

    task: int
    kind: Literal["news", "done", "failed", "died"]
    value: Any = None


class WorkerPool(Closing):
    """A pool of worker processes that run tasks.

    A task is a call of a function in a worker. The function's first argument is a `Parent`, through which it sends news
    and learns that it should return early.

    Attributes:
        size: number of tasks that run at the same time.
        shares_files: whether workers can open the files of this process.
    """

    size: int
    shares_files: bool

    def work(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], at_once: int | None = None
    ) -> Generator[Message | None, None, None]:
        """Run tasks in the workers, and yield messages about them.

        If the generator is closed before its end, all workers are ended.

        Args:
            function: the function that each task calls. A worker must be able to import it, and it must be safe to call
                it again if its worker dies.
            tasks: arguments of each task; the next ones are requested when a worker is free.
            at_once: number of tasks that run at the same time; None for one task in each worker.

        Yields:
            Messages, or None every tenth of a second without a message, so that the caller can do other work.
        """
        try:
            yield from self._work(function, enumerate(tasks), at_once)
        except BaseException:
            self.close()
            raise

    def results(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
    ) -> Generator[Message | None, None, None]:
        """Run tasks like `work`, but yield only the messages "done", or None every tenth of a second."""
        with closing(self.work(function, tasks)) as messages:
            for message in messages:
                if message is None or message.kind == "done":
                    yield message
                elif message.kind == "failed":
                    raise message.value
                elif message.kind == "died":
                    raise ChildProcessError(f"a worker process {message.value} during its task")

    def share(self, data: Any) -> Any:
        """Send data to all workers.

        Returns:
            A placeholder; a task that gets the placeholder as an argument receives the data.
        """
        return data

    @abstractmethod
    def stop(self) -> None:
        """Ask running tasks to return early; `work` still yields their results."""

    @abstractmethod
    def close(self) -> None:
        """End the workers, even if their tasks are running."""

    @abstractmethod
    def _work(
        self, function: Callable[..., Any], tasks: Iterator[tuple[int, tuple[Any, ...]]], at_once: int | None
    ) -> Iterator[Message | None]: ...


MOST_DEATHS = 3
"""A task fails when it has killed this number of workers."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
"""Environment variables that limit the threads of linear algebra, and the cores that `joblib.cpu_count` finds."""

FILES_EACH = 16
"""Open files that this process needs for each worker, at most; a machine with 200 cores exceeds the usual limit."""

_STARTING = threading.Lock()
"""Lock for the first import of joblib, which can fail in several threads at once, and for changes of `os.environ`."""


@dataclass(eq=False)
class _Task:
    """A task of `LocalPool`, and its files, through which this process and the worker communicate.

    Attributes:
        number: number of the task.
        stem: path of the task's files, without their suffixes.
        deaths: number of workers that the task has killed.
        heard: time stamp in nanoseconds of the last news that was read.
    """

    number: int
    stem: Path
    deaths: int = 0
    heard: int = 0

    def news(self) -> Iterator[Message]:
        """Yield the latest news of the task, unless it was read before."""
        with suppress(FileNotFoundError):
            stamp = self._file("news").stat().st_mtime_ns
            if stamp != self.heard:
                self.heard = stamp
                yield Message(self.number, "news", pickle.loads(self._file("news").read_bytes()))

    def answer(self) -> Message | None:
        """Read the result or error of the task and delete its files; return None if the task has not ended."""
        try:
            kind, value = pickle.loads(self._file("answer").read_bytes())
        except FileNotFoundError:
            return None
        for name in ("answer", "call", "news"):
            self._file(name).unlink(missing_ok=True)
        return Message(self.number, kind, _linked(value) if kind == "failed" else value)

    def _file(self, suffix: str) -> Path:
        return self.stem.with_suffix(f".{suffix}")


class _Worker:
    """An executor of loky with one worker process, which starts with the first task.

    Args:
        settings: environment variables of the process.
    """

    def __init__(self, settings: dict[str, str]) -> None:
        loky = _loky()
        # loky replaces a worker that uses much memory; the user need not know.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        safe_before = SAFE_PATH in os.environ
        self._mark = new_mark()
        with deaf_children():
            self._executor = loky.ProcessPoolExecutor(
                1,
                initializer=begin,
                initargs=(os.getpid(), safe_before),
                env=settings | marked(self._mark) | {SAFE_PATH: "1"},
            )
        self.process: Any = None

    @property
    def exit_code(self) -> int | None:
        code: int | None = None if self.process is None else self.process.exitcode
        return code

    def submit(self, stem: str) -> Future[None]:
        with deaf_children():
            future: Future[None] = self._executor.submit(call, stem)
        self.process = next(iter(list(self._executor._processes.values())), None)
        return future

    def end(self) -> None:
        """Kill the process and all processes that it has started."""
        self._executor.shutdown(wait=True, kill_workers=True)
        end_marked(self._mark)


class LocalPool(WorkerPool):
    """A pool of processes on this machine, which start with the first tasks and end when the pool is closed.

    A task fails when it has killed ``most_deaths`` workers.
    """

    shares_files = True

    def __init__(self, size: int, most_deaths: int = MOST_DEATHS) -> None:
        self.size = size
        self._most_deaths = most_deaths
        self._workers: list[_Worker] = []
        self._running: dict[Future[None], tuple[_Task, _Worker]] = {}
        self._folder: Path | None = None

    @property
    def workers(self) -> list[int]:
        return [worker.process.pid for worker in self._workers if worker.process is not None]

    def stop(self) -> None:
        if self._folder is not None:
            (self._folder / "stop").touch()

    def close(self) -> None:
        self._running = {}
        while self._workers:
            self._workers.pop().end()

    def _work(
        self, function: Callable[..., Any], tasks: Iterator[tuple[int, tuple[Any, ...]]], at_once: int | None
    ) -> Iterator[Message | None]:
        again: list[_Task] = []
        with scratch_folder("tasks") as folder:
            self._folder = folder
            waiting = _written(folder, function, tasks)
            try:
                while True:
                    while len(self._running) < (at_once or self.size) and (task := next(waiting, None)):
                        self._submit(task)
                    if not self._running and again:
                        self._submit(again.pop(0))
                    if not self._running:
                        return
                    yield from self._heard(again)
            finally:
                self._folder = None
                if self._running:  # the caller has left, and the tasks' files are about to be deleted
                    self.close()

    def _submit(self, task: _Task) -> None:
        while True:
            busy = [worker for _, worker in self._running.values()]
            idle = [worker for worker in self._workers if worker not in busy]
            if not idle:
                _allow_files(FILES_EACH * self.size)
                idle = [_Worker(_threads(self.size))]
                self._workers += idle
            try:
                future = idle[0].submit(os.fspath(task.stem))
            except BrokenExecutor:  # the worker has died while it had no task
                self._end(idle[0])
                continue
            self._running[future] = task, idle[0]
            return

    def _heard(self, again: list[_Task]) -> Iterator[Message | None]:
        """Wait a moment, and yield the messages that arrived, or None; add the tasks of dead workers to ``again``."""
        ended, _ = wait(self._running, POLL_SECONDS, FIRST_COMPLETED)
        messages: list[Message | None] = [
            message for task, _ in self._running.values() for message in task.news()
        ]
        for future in ended:
            task, worker = self._running.pop(future)
            error, answer = future.exception(), task.answer()
            is_dead = isinstance(error, BrokenExecutor)
            if is_dead:
                task.deaths += 1
                self._end(worker)
            if answer is not None:
                messages.append(answer)
            elif not is_dead:
                missing = RuntimeError("the worker process of a task has ended it without an answer")
                messages.append(Message(task.number, "failed", error or missing))
            elif task.deaths < self._most_deaths:
                again.append(task)
            else:
                messages.append(Message(task.number, "died", _ending(worker.exit_code)))
        yield from messages or [None]

    def _end(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.end()


def _written(
    folder: Path, function: Callable[..., Any], tasks: Iterator[tuple[int, tuple[Any, ...]]]
) -> Iterator[_Task]:
    """Write the file of each task when the task is requested."""
    for number, arguments in tasks:
        task = _Task(number, folder / str(number))
        task.stem.with_suffix(".call").write_bytes(pickle.dumps((function, arguments)))
        yield task


def _threads(workers: int) -> dict[str, str]:
    """Return environment variables that divide cores and the threads of linear algebra among ``workers`` processes."""
    from joblib import cpu_count

    allowed = {name: os.environ.get(name, "") for name in THREADS}
    return {
        name: str(max(1, (int(number) if number.isdigit() else cpu_count()) // workers))
        for name, number in allowed.items()
    }


def _allow_files(n: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    without_limit = resource.RLIM_INFINITY
    if soft != without_limit and soft < n and (hard == without_limit or n <= hard):
        resource.setrlimit(resource.RLIMIT_NOFILE, (n, hard))


def _loky() -> Any:
    """Import loky, and start its and Python's trackers, helper processes that delete semaphores of killed processes.

    If loky started the trackers together with the first worker, that worker would hear Ctrl-C, and the trackers would
    print a warning for each semaphore.
    """
    with _STARTING:
        from multiprocessing import resource_tracker

        from joblib.externals import loky
        from joblib.externals.loky.backend import resource_tracker as loky_tracker

        before = os.environ.get("PYTHONWARNINGS")
        os.environ["PYTHONWARNINGS"] = "ignore"
        try:
            with deaf_children():
                resource_tracker.ensure_running()
                loky_tracker.ensure_running()
        finally:
            del os.environ["PYTHONWARNINGS"]
            if before is not None:
                os.environ["PYTHONWARNINGS"] = before
    return loky


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return "has ended" if code is None else f"exited with {code}"
    cause = " (killed from outside, or out of memory?)" if code == -signal.SIGKILL else ""
    return f"was ended by {signal.Signals(-code).name}{cause}"


NEWS_SECONDS = 0.1
"""Least number of seconds between two pieces of news that a task sends."""
SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable that keeps Python from importing modules from the current folder."""
MOST_CAUSES = 20
"""Largest number of an error's causes that are sent to the parent together with the error."""


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
        self._told = float("-inf")

    def is_set(self) -> bool:
        return os.path.exists(self._stop)

    def tell(self, news: object) -> None:
        """Send news to the calling process before the task ends, unless other news was sent a moment ago."""
        if time.monotonic() - self._told > NEWS_SECONDS:
            _replace(self._news, pickle.dumps(news))
            self._told = time.monotonic()


def call(stem: str) -> None:
    """Run the task in the file ``STEM.call``, and write its result or error to ``STEM.answer``."""
    try:
        function, arguments = pickle.loads(Path(f"{stem}.call").read_bytes())
        answer = pickle.dumps(("done", function(Parent(stem), *arguments)))
    except Exception as error:
        answer = pickle.dumps(("failed", with_causes(error)))
    _replace(Path(f"{stem}.answer"), answer)
    gc.freeze()  # loky collects garbage after each task, and would scan the objects of all imported modules


def with_causes(error: BaseException) -> list[BaseException]:
    """List an error and its causes, which `pickle` would forget; the error gets its traceback as a note.

    An exception that cannot be pickled is replaced by a `RuntimeError` with the same text.
    """
    error.add_note(traceback.format_exc())
    causes, cause = list[BaseException](), error.__cause__ or error.__context__
    while cause is not None and len(causes) < MOST_CAUSES:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return [_unpicklable_replaced(each) for each in (error, *causes)]


def _linked(errors: list[BaseException]) -> BaseException:
    """Make each error in a list the cause of the error before; return the first error."""
    for error, cause in pairwise(errors):
        error.__cause__ = cause
    return errors[0]


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
    """Make this process a worker, which ignores signals, has no stdin and stdout, and ends with its parent.

    ``parent`` is the parent's process ID; ``safe_before``: whether the parent's environment had PYTHONSAFEPATH.
    """
    if not safe_before:
        os.environ.pop(SAFE_PATH, None)  # programs that tasks start should not inherit it
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    os.close(null)
    # Until now the signals are blocked. Programs that tasks start would inherit that, but they inherit no handler.
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
        signal.siginterrupt(number, False)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    end_with_parent(parent, lambda: end_marked(own_mark()))
