"""Pools of worker processes: from a function and many tasks to results; each task runs at least once.

`WorkerPool` is the protocol of all pools. `LocalPool` runs tasks on this machine; `spewy.system.dask_pool` has a pool
on a cluster. In `LocalPool`, joblib's library loky starts the processes, distributes tasks and reports errors.
`joblib.Parallel` was tried and rejected: the caller cannot react to Ctrl-C before a task ends, and a worker that dies
makes all tasks fail. This module adds:

- **A dead worker costs at most one task.** When a worker dies, loky ends all workers. This module then starts new
  workers and submits the running tasks again, so a task must be safe to repeat. A task that has killed its worker
  `MOST_DEATHS` times counts as failed.
- **A paused worker is killed** (one that a signal such as SIGSTOP has paused), and its task is submitted again.
- **News and early stops.** A task can send news before its end, and the caller can ask running tasks to return early.
- **No large messages.** Arguments and results are written to files in a scratch folder; only a few bytes go through
  loky's pipes. So a worker that dies in the middle of a message blocks no other process. Nothing is put into
  ``/dev/shm``.
- **Workers end with their parent**, even if the parent is killed, and so do all processes that they have started.
  Workers ignore Ctrl-C, which a terminal sends to all processes.

The functions at the end of the module run in the workers, and report to the parent through files.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
import time
import traceback
import warnings
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any, Literal

from spewy.system.children import (
    STOPPED_SECONDS,
    end_marked,
    end_with_parent,
    is_stopped,
    marked,
    new_mark,
    own_mark,
)
from spewy.system.folders import scratch_folder
from spewy.system.interrupts import deaf_children, start_trackers
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
"""A task fails when it has killed this number of workers; its last attempt runs alone, in case memory was short."""
MOST_BARREN = 10
"""The pool gives up when its workers have died this number of times in a row before any task began."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
"""Environment variables that limit the threads of linear algebra, and the cores that `joblib.cpu_count` finds."""

_IMPORTING = threading.Lock()
"""Python can fail if several threads import joblib for the first time at once."""


@dataclass
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

    @property
    def worker(self) -> int | None:
        """Process number of the worker that runs the task; None if no worker has begun it."""
        with suppress(OSError, ValueError):
            return int(self._file("worker").read_text())
        return None

    def begin_again(self) -> None:
        """Prepare for another attempt; the news of earlier attempts stays."""
        self._file("worker").unlink(missing_ok=True)

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
        for name in ("answer", "call", "news", "worker"):
            self._file(name).unlink(missing_ok=True)
        return Message(self.number, kind, value)

    def _file(self, suffix: str) -> Path:
        return self.stem.with_suffix(f".{suffix}")


@dataclass
class _Run:
    """State of one call of `LocalPool.work`.

    Attributes:
        folder: folder of the tasks' files.
        running: tasks that are submitted.
        again: tasks to submit again.
        alone: tasks to submit again, each while no other task runs.
    """

    folder: Path
    running: dict[Future[None], _Task] = field(default_factory=dict)
    again: deque[_Task] = field(default_factory=deque)
    alone: deque[_Task] = field(default_factory=deque)


class LocalPool(WorkerPool):
    """A pool of processes on this machine, which start with the first task and end when the pool is closed.

    A task fails when it has killed ``most_deaths`` workers.
    """

    shares_files = True

    def __init__(self, size: int, most_deaths: int = MOST_DEATHS) -> None:
        self.size = size
        self._most_deaths = most_deaths
        self._executor: Any = None
        self._mark = ""
        self._dead: dict[int, int] = {}
        self._barren = 0
        self._stopped: dict[int, int] = {}
        self._looked = 0.0
        self._files = ExitStack()
        self._scratch: Path | None = None
        self._calls = 0
        self._current: _Run | None = None

    @property
    def workers(self) -> list[int]:
        return [] if self._executor is None else list(self._executor._processes)

    def stop(self) -> None:
        if self._current is not None:
            (self._current.folder / "stop").touch()

    def close(self) -> None:
        self._end_executor()
        self._files.close()
        self._scratch = None

    def _work(
        self, function: Callable[..., Any], tasks: Iterator[tuple[int, tuple[Any, ...]]], at_once: int | None
    ) -> Iterator[Message | None]:
        run = _Run(self._new_folder())
        self._current, more = run, True
        try:
            while True:
                most = 1 if self._is_alone(run) else at_once or self.size
                while len(run.running) < most and not self._is_alone(run):
                    task, more = self._next(run, function, tasks, more=more)
                    if task is None:
                        break
                    self._submit(run, task)
                if not run.running:
                    return
                yield from self._heard(run)
        finally:
            self._current = None
            rmtree(run.folder, ignore_errors=True)

    def _is_alone(self, run: _Run) -> bool:
        """Whether a running task is in its last attempt, in which no other task may run."""
        return any(task.deaths and task.deaths == self._most_deaths - 1 for task in run.running.values())

    def _next(
        self,
        run: _Run,
        function: Callable[..., Any],
        tasks: Iterator[tuple[int, tuple[Any, ...]]],
        *,
        more: bool,
    ) -> tuple[_Task | None, bool]:
        """Return the next task to submit, or None if there is none now; and whether ``tasks`` may have another task."""
        if run.again:
            return run.again.popleft(), more
        if more:
            number, arguments = next(tasks, (None, ()))
            if number is not None:
                task = _Task(number, run.folder / str(number))
                task.stem.with_suffix(".call").write_bytes(pickle.dumps((function, arguments)))
                return task, True
        if run.alone and not run.running:
            return run.alone.popleft(), False
        return None, False

    def _submit(self, run: _Run, task: _Task) -> None:
        """Submit a task to loky, which is restarted if a worker has died meanwhile."""
        for _ in range(2):
            executor = self._started()
            try:
                with deaf_children():
                    future = executor.submit(call, os.fspath(task.stem))
            except _broken_pool():  # a worker died while it had no task
                self._end_executor()
                continue
            run.running[future] = task
            future.add_done_callback(self._note_deaths)
            return
        raise ChildProcessError("worker processes end as soon as they are started")

    def _heard(self, run: _Run) -> Iterator[Message | None]:
        """Wait for a moment, and yield the messages that have arrived; yield None if there are none."""
        ended, _ = wait(run.running, POLL_SECONDS, FIRST_COMPLETED)
        had_messages = broken = False
        for future in ended:
            task = run.running.pop(future)
            error = future.exception()
            for message in self._end_of(run, task, error):
                had_messages = True
                self._barren = 0
                yield message
            broken |= isinstance(error, _broken_pool())
        if broken:
            had_messages = True
            yield from self._broken(run)
        for task in run.running.values():
            for message in task.news():
                had_messages = True
                yield message
        self._kill_stopped()
        if not had_messages:
            yield None

    def _end_of(self, run: _Run, task: _Task, error: BaseException | None) -> Iterator[Message]:
        """Yield the last messages of an ended task; if a dead worker has ended the task, plan another attempt."""
        yield from task.news()
        answer = task.answer()
        if answer is not None:
            yield answer
        elif not isinstance(error, _broken_pool()):
            missing = RuntimeError("the worker process of a task has ended it without an answer")
            yield Message(task.number, "failed", error or missing)
        elif task.worker in self._dead:
            task.deaths += 1
            if task.deaths >= self._most_deaths:
                yield Message(task.number, "died", _ending(self._dead[task.worker]))
            else:
                last = task.deaths == self._most_deaths - 1
                (run.alone if last else run.again).append(task)
        else:
            run.again.append(task)

    def _broken(self, run: _Run) -> Iterator[Message]:
        """End all running tasks and all workers after the death of a worker; yield the tasks' last messages."""
        while run.running:
            future, task = run.running.popitem()
            yield from self._end_of(run, task, future.exception())
        begun = [task for task in (*run.again, *run.alone) if task.worker is not None]
        self._barren = 0 if begun else self._barren + 1
        dead, self._dead = self._dead, {}
        if self._barren >= MOST_BARREN:
            (code, *_) = *dead.values(), 0
            raise ChildProcessError(
                f"a worker process {_ending(code)} before its task, {MOST_BARREN} times in a row"
            )
        for task in (*run.again, *run.alone):
            task.begin_again()
        self._end_executor()

    def _note_deaths(self, future: Future[None]) -> None:
        """Record which workers have died; loky calls this in a thread of its own, before it kills the other workers."""
        if isinstance(future.exception(), _broken_pool()) and not self._dead and self._executor is not None:
            processes = dict(self._executor._processes)
            codes = {number: process.exitcode for number, process in processes.items()}
            self._dead = {number: code for number, code in codes.items() if code is not None}

    def _kill_stopped(self) -> None:
        """Kill workers that a signal such as SIGSTOP has paused for several seconds."""
        if time.monotonic() - self._looked < 1.0:
            return
        self._looked = time.monotonic()
        looks = {number: self._stopped.get(number, 0) + 1 for number in self.workers if is_stopped(number)}
        self._stopped = looks
        for number, count in looks.items():
            if count > STOPPED_SECONDS:
                with suppress(OSError):  # the worker may have ended
                    os.kill(number, signal.SIGKILL)

    def _started(self) -> Any:
        if self._executor is None:
            with _IMPORTING:
                from joblib.externals.loky import ProcessPoolExecutor

            # loky replaces a worker that uses much memory; the user need not know.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            start_trackers()
            self._mark = new_mark()
            safe_before = SAFE_PATH in os.environ
            self._executor = ProcessPoolExecutor(
                self.size,
                initializer=begin,
                initargs=(os.getpid(), safe_before),
                env=_threads(self.size) | marked(self._mark) | {SAFE_PATH: "1"},
            )
        return self._executor

    def _end_executor(self) -> None:
        """Kill the workers and all processes that they have started."""
        executor, self._executor = self._executor, None
        self._dead, self._stopped = {}, {}
        if executor is not None:
            end_marked(self._mark)
            executor.shutdown(wait=True, kill_workers=True)
            end_marked(self._mark)  # loky may have started a worker meanwhile

    def _new_folder(self) -> Path:
        if self._scratch is None:
            self._scratch = self._files.enter_context(scratch_folder("tasks"))
        self._calls += 1
        folder = self._scratch / str(self._calls)
        folder.mkdir()
        return folder


def _threads(workers: int) -> dict[str, str]:
    """Return environment variables that divide cores and the threads of linear algebra among ``workers`` processes."""
    from joblib import cpu_count

    allowed = {name: os.environ.get(name, "") for name in THREADS}
    return {
        name: str(max(1, (int(number) if number.isdigit() else cpu_count()) // workers))
        for name, number in allowed.items()
    }


def _broken_pool() -> type[Exception]:
    from joblib.externals.loky.process_executor import BrokenProcessPool

    kind: type[Exception] = BrokenProcessPool
    return kind


def _ending(code: int) -> str:
    if code >= 0:
        return f"exited with {code}"
    cause = " (killed from outside, or out of memory?)" if code == -signal.SIGKILL else ""
    return f"was ended by {signal.Signals(-code).name}{cause}"


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
    """Run a task in a worker, and write its result or error to a file."""
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
    """Give an unpickled error its cause and context again, and return the error."""
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

    ``parent`` is the parent's process ID; ``safe_before`` says whether `SAFE_PATH` was set in the parent's environment.
    """
    if not safe_before:
        os.environ.pop(SAFE_PATH, None)  # programs that tasks start should not inherit it
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    os.close(null)
    end_with_parent(parent, lambda: end_marked(own_mark()))
