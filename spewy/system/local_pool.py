"""A pool of local processes on top of joblib's (loky), with news, retries and early stops of tasks.

loky starts the processes, hands out tasks and reports errors. `joblib.Parallel` on top of it was tried: its generator
cannot look up between two results, so Ctrl-C would wait for a task, and a worker that dies fails all tasks together.
This module adds:

- **A dead worker costs one task.** loky gives up the whole pool. Its running tasks are submitted again on a fresh pool,
  so tasks have to be idempotent; a task that has killed its worker `MOST_DEATHS` times counts as failed.
- **A stopped worker is killed**, and its task submitted again.
- **News and a stop.** A task can report before its end, and the caller can ask running tasks to return early.
- **No large messages.** Arguments and results go through files in a scratch folder, and a few bytes through loky's
  pipes, so that a worker that dies in the middle of a message blocks nobody. Nothing is mapped into ``/dev/shm``.
- **Workers end with their parent**, even when it is killed, with all processes that they have started; they ignore
  Ctrl-C, which a terminal sends to all processes.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import Any

from spewy.system.child import STOPPED_SECONDS, is_stopped
from spewy.system.interrupts import deaf_children
from spewy.system.outsider import end_marked, marked, new_mark
from spewy.system.scratch import scratch_folder
from spewy.system.worker import SAFE_PATH, begin, call
from spewy.system.worker_pool import POLL_SECONDS, Message, WorkerPool

MOST_DEATHS = 3
"""Largest number of workers that a task may kill; its last attempt runs alone, in case memory was short."""
MOST_BARREN = 10
"""Largest number of consecutive pools that may break before any task begins."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class _Task:
    """A task of `LocalPool`, and the files ``stem.*`` that both sides write.

    Attributes:
        number: number of the task.
        stem: path of the task's files, without a suffix.
        deaths: number of workers that it has killed.
        heard: time stamp of the last news that were read.
    """

    number: int
    stem: Path
    deaths: int = 0
    heard: int = 0

    @property
    def worker(self) -> int | None:
        """Process number of the worker that runs the task; None if none does."""
        with suppress(OSError, ValueError):
            return int(self._file("worker").read_text())
        return None

    def begin_again(self) -> None:
        """Forget the last attempt, except for its news."""
        self._file("worker").unlink(missing_ok=True)

    def news(self) -> Iterator[Message]:
        """Yield the latest news, unless it was read before."""
        with suppress(FileNotFoundError):
            stamp = self._file("news").stat().st_mtime_ns
            if stamp != self.heard:
                self.heard = stamp
                yield Message(self.number, "news", pickle.loads(self._file("news").read_bytes()))

    def answer(self) -> Message | None:
        """Read the result or error, and remove the task's files; None if there is no answer yet."""
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
        again: tasks to submit again, and those of them that are to run alone.
    """

    folder: Path
    running: dict[Future[None], _Task] = field(default_factory=dict)
    again: deque[_Task] = field(default_factory=deque)
    alone: deque[_Task] = field(default_factory=deque)


class LocalPool(WorkerPool):
    """Processes on this machine, which start with the first task and last until the pool is closed.

    Args:
        size: number of workers.
        most_deaths: number of workers that a task may kill.
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
        """Process numbers of the workers."""
        return [] if self._executor is None else list(self._executor._processes)

    def stop(self) -> None:
        """Ask the running tasks to return early; their results are still yielded."""
        if self._current is not None:
            (self._current.folder / "stop").touch()

    def close(self) -> None:
        """End the workers, whatever they are doing."""
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
        """Whether the running task must run alone."""
        return any(task.deaths and task.deaths == self._most_deaths - 1 for task in run.running.values())

    def _next(
        self,
        run: _Run,
        function: Callable[..., Any],
        tasks: Iterator[tuple[int, tuple[Any, ...]]],
        *,
        more: bool,
    ) -> tuple[_Task | None, bool]:
        """Return the next task to submit, or None, and whether ``tasks`` may have more."""
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
        for _ in range(2):
            executor = self._started()
            try:
                with deaf_children():
                    future = executor.submit(call, os.fspath(task.stem))
            except _broken_pool():  # a worker has died meanwhile, with no task
                self._end_executor()
                continue
            run.running[future] = task
            future.add_done_callback(self._note_deaths)
            return
        raise ChildProcessError("worker processes end as soon as they are started")

    def _heard(self, run: _Run) -> Iterator[Message | None]:
        """Yield the available messages; None if there is none for a while."""
        ended, _ = wait(run.running, POLL_SECONDS, FIRST_COMPLETED)
        said = broken = False
        for future in ended:
            task = run.running.pop(future)
            error = future.exception()
            for message in self._end_of(run, task, error):
                said = True
                self._barren = 0
                yield message
            broken |= isinstance(error, _broken_pool())
        if broken:
            said = True
            yield from self._broken(run)
        for task in run.running.values():
            for message in task.news():
                said = True
                yield message
        self._kill_stopped()
        if not said:
            yield None

    def _end_of(self, run: _Run, task: _Task, error: BaseException | None) -> Iterator[Message]:
        """Yield the last messages of an ended task; a task of a broken pool is queued again."""
        yield from task.news()
        answer = task.answer()
        if answer is not None:
            yield answer
        elif not isinstance(error, _broken_pool()):
            yield Message(task.number, "failed", error or RuntimeError("a worker process has left no answer"))
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
        """End the broken pool after its tasks."""
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
        """Record which workers have died; called in loky's thread, before loky kills the other workers."""
        if isinstance(future.exception(), _broken_pool()) and not self._dead and self._executor is not None:
            processes = dict(self._executor._processes)
            codes = {number: process.exitcode for number, process in processes.items()}
            self._dead = {number: code for number, code in codes.items() if code is not None}

    def _kill_stopped(self) -> None:
        """Kill workers that a signal has stopped for several checks in a row."""
        if time.monotonic() - self._looked < 1.0:
            return
        self._looked = time.monotonic()
        looks = {number: self._stopped.get(number, 0) + 1 for number in self.workers if is_stopped(number)}
        self._stopped = looks
        for number, count in looks.items():
            if count > STOPPED_SECONDS:
                with suppress(OSError):  # it has ended
                    os.kill(number, signal.SIGKILL)

    def _started(self) -> Any:
        """Return loky's executor; start one if there is none."""
        if self._executor is None:
            from joblib.externals.loky import ProcessPoolExecutor

            # A worker that has grown is replaced, which is no news to the user.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            _start_trackers()
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
        executor, self._executor = self._executor, None
        self._dead, self._stopped = {}, {}
        if executor is not None:
            end_marked(self._mark)
            executor.shutdown(wait=True, kill_workers=True)
            end_marked(self._mark)  # a worker that loky has started meanwhile

    def _new_folder(self) -> Path:
        if self._scratch is None:
            self._scratch = self._files.enter_context(scratch_folder("tasks"))
        self._calls += 1
        folder = self._scratch / str(self._calls)
        folder.mkdir()
        return folder


def _start_trackers() -> None:
    """Start the processes that clean up after killed workers.

    loky would start them with the first worker, which would then hear signals of a terminal; and they would warn of
    what they clean up.
    """
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    with _STARTING_TRACKERS:  # the environment belongs to all threads
        before = os.environ.get("PYTHONWARNINGS")
        os.environ["PYTHONWARNINGS"] = "ignore"
        try:
            resource_tracker.ensure_running()
            loky_tracker.ensure_running()
        finally:
            del os.environ["PYTHONWARNINGS"]
            if before is not None:
                os.environ["PYTHONWARNINGS"] = before


_STARTING_TRACKERS = threading.Lock()


def _threads(workers: int) -> dict[str, str]:
    """Return settings that divide the threads of linear algebra among workers."""
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
    """Describe how a process has ended."""
    if code >= 0:
        return f"exited with {code}"
    cause = " (killed from outside, or out of memory?)" if code == -signal.SIGKILL else ""
    return f"was ended by {signal.Signals(-code).name}{cause}"
