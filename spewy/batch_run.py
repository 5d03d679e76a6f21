"""Run a batch: several solves at once in joblib's worker processes, or one after the other in this one.

The first Ctrl-C in the parent tells every worker to save and return; workers take no notice of Ctrl-C themselves, which
a terminal sends to all. A worker whose parent is gone stops by itself. joblib's process pool is used directly, not
through ``Parallel``: that waits for results only, and would turn the processes of a stored solve within a worker into
threads.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import joblib
from joblib.externals.loky import FIRST_COMPLETED, BrokenProcessPool, Future, ProcessPoolExecutor, wait

from spewy.batch import Batch, Outcome
from spewy.batch_work import (
    STOP,
    Check,
    estimate_job,
    estimate_task,
    job_text,
    left,
    letters,
    solve_job,
    solve_task,
)
from spewy.solve.deaf import deaf, deafen
from spewy.solve.estimate import Estimate
from spewy.solve.session import Stop, interruptible

PROCESS_BYTES = 250 * 2**20
"""Interpreter, libraries and compiled kernels of one process."""
POLL_SECONDS = 0.1
IDLE_SECONDS = 10
"""Workers without work end after this long: nothing else ends them when their parent was killed."""


@dataclass(frozen=True)
class BatchCost:
    """What a batch will cost: estimates by number of the entry that is to be solved, and how many run at once."""

    estimates: Mapping[int, Estimate]
    at_once: int
    available_bytes: int | None

    @property
    def memory_bytes(self) -> int:
        """Of the largest jobs that may run at once, their processes included."""
        return memory_at_once([cost.memory_bytes for cost in self.estimates.values()], self.at_once)

    @property
    def disk_bytes(self) -> int:
        """Of all lockers together."""
        return sum(cost.disk_bytes for cost in self.estimates.values())


class BatchReporter(Protocol):
    """Hears how a batch goes."""

    def laid_out(self, done: int, total: int) -> None:
        """Jobs whose cost is known so far, and in all."""

    def begin(self, batch: Batch, cost: BatchCost) -> None:
        """Before the first solve."""

    def started(self, number: int) -> None:
        """A job's solve begins."""

    def check(self, number: int, check: Check) -> None:
        """A running job was judged."""

    def ended(self, number: int, outcome: Outcome) -> None:
        """A job is done, failed or stopped."""

    def stopping(self) -> None:
        """Ctrl-C: the running ones save."""

    def end(self) -> None:
        """After the last."""


def processes(batch: Batch, asked: int | None = None) -> int:
    """How many jobs to run at once: as asked, else as many as the cores feed with ``solve.workers`` each."""
    workers = max((batch.entries[i].job.solve.workers for i in batch.to_do), default=1)
    wanted = asked or max(1, joblib.cpu_count() // workers)
    return max(1, min(wanted, len(batch.to_do)))


def memory_at_once(sizes: Sequence[int], n: int) -> int:
    """Bytes of the ``n`` largest of some jobs, with their processes.

    >>> memory_at_once([5, 1, 7], 2) - 2 * PROCESS_BYTES
    12
    """
    largest = sorted(sizes, reverse=True)[:n]
    return sum(largest) + len(largest) * PROCESS_BYTES


def run_batch(batch: Batch, report: BatchReporter, asked: int | None = None) -> tuple[Outcome, ...]:
    """Solve what is to be solved; an outcome for each entry.

    Args:
        batch: what to solve.
        report: told of the cost before anything starts, and of all that happens then.
        asked: solves at once; by default as many as cores and the memory available hold.

    Raises:
        InputError: a job needs more than its ``solve.memory``; nothing was started.
    """
    n = processes(batch, asked)
    outcomes = {i: Outcome(result, skipped=True) for i, result in batch.done.items()}
    with _crew(n) as crew:
        estimates: dict[int, Estimate] = {}
        for i, cost in crew.estimates(batch):
            estimates[i] = cost
            report.laid_out(len(estimates), len(batch.to_do))
        available = available_memory()
        if asked is None and available is not None:
            sizes = [cost.memory_bytes for cost in estimates.values()]
            while n > 1 and memory_at_once(sizes, n) > available:
                n -= 1
        report.begin(batch, BatchCost(estimates, n, available))
        try:
            with interruptible() as stop:
                for i, outcome in crew.solve(batch, n, report, stop):
                    outcomes[i] = outcome
                    report.ended(i, outcome)
        finally:
            report.end()
    return tuple(
        outcomes[i if entry.same_as is None else entry.same_as] for i, entry in enumerate(batch.entries)
    )


def available_memory() -> int | None:
    """Bytes that processes may still take, of the machine and of this control group; None where nobody tells."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text()
        found.append(int(text.split("MemAvailable:")[1].split()[0]) * 1024)
    with suppress(OSError, ValueError):  # no limit reads "max"
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        found.append(limit - int((group / "memory.current").read_text()))
    return max(0, min(found)) if found else None


class _Here:
    """One solve after the other, in this process."""

    def estimates(self, batch: Batch) -> Iterator[tuple[int, Estimate]]:
        for i in batch.to_do:
            yield i, estimate_job(batch.entries[i].job, batch.entries[i].label)

    def solve(self, batch: Batch, n: int, report: BatchReporter, stop: Stop) -> Iterator[tuple[int, Outcome]]:
        for i in batch.to_do:
            if stop.is_set():
                yield i, Outcome(stored=batch.stored[i])
                continue
            report.started(i)
            entry = batch.entries[i]

            def told(check: Check, i: int = i) -> None:
                report.check(i, check)

            yield i, solve_job(entry.job, entry.folder, told, stop, batch.save_every)

    def close(self, *, kill: bool = False) -> None:
        """Nothing is left running."""


class _Pool:
    """Solves in worker processes. One that dies takes the pool with it: what ran then is tried again, alone."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._pool: ProcessPoolExecutor | None = None

    def estimates(self, batch: Batch) -> Iterator[tuple[int, Estimate]]:
        futures = [
            (i, self._submit(estimate_task, job_text(batch.entries[i].job), batch.entries[i].label))
            for i in batch.to_do
        ]
        for i, future in futures:
            yield i, future.result()

    def solve(self, batch: Batch, n: int, report: BatchReporter, stop: Stop) -> Iterator[tuple[int, Outcome]]:
        waiting, suspects = deque(batch.to_do), deque[int]()
        with tempfile.TemporaryDirectory(prefix="spewy-batch-") as name:
            mail = _Mail(Path(name), report)
            while waiting or suspects:
                alone = bool(suspects)
                queue = deque([suspects.popleft()]) if alone else waiting
                died = yield from self._shift(batch, queue, 1 if alone else n, mail, stop)
                if died:
                    self.close(kill=True)
                if len(died) == 1:
                    entry = batch.entries[died[0]]
                    told = "its process died: killed from outside, or out of memory?"
                    yield died[0], Outcome(error=told, stored=left(entry.job, entry.folder))
                else:
                    suspects.extend(died)

    def close(self, *, kill: bool = False) -> None:
        """Stop the workers; ``kill``: whatever they do."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=kill)
            self._pool = None

    def _shift(
        self, batch: Batch, queue: deque[int], n: int, mail: _Mail, stop: Stop
    ) -> Generator[tuple[int, Outcome], None, list[int]]:
        """Work through a queue, or until a process dies; return whose solves ran then."""
        running: dict[Future[Outcome], int] = {}
        died: list[int] = []
        while running or (queue and not died):
            if stop.is_set():
                mail.stop()
                for i in queue:
                    yield i, Outcome(stored=batch.stored[i])
                queue.clear()
            while queue and not died and len(running) < n:
                i = queue.popleft()
                mail.report.started(i)
                entry = batch.entries[i]
                task = (job_text(entry.job), entry.folder, mail.folder, i, os.getpid(), batch.save_every)
                running[self._submit(solve_task, *task)] = i
            ended = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED).done
            mail.deliver(running.values())
            for future in ended:
                i = running.pop(future)
                try:
                    yield i, future.result()
                except BrokenProcessPool:
                    died.append(i)
        return died

    def _submit(self, task: Callable[..., Any], *args: Any) -> Future[Any]:
        if self._pool is not None:
            return self._pool.submit(task, *args)
        threads = str(max(1, joblib.cpu_count() // self._n))
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        env = dict.fromkeys(names, threads)
        self._pool = ProcessPoolExecutor(self._n, timeout=IDLE_SECONDS, initializer=deafen, env=env)
        with deaf():  # the first task starts the workers
            return self._pool.submit(task, *args)


@contextmanager
def _crew(n: int) -> Iterator[_Here | _Pool]:
    crew = _Here() if n == 1 else _Pool(n)
    try:
        with warnings.catch_warnings():  # loky replaces workers that have grown, and says so
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            yield crew
    except BaseException:
        crew.close(kill=True)
        raise
    crew.close()


class _Mail:
    """The parent's end of the folder through which workers are told to stop and tell what they found."""

    def __init__(self, folder: Path, report: BatchReporter) -> None:
        self.folder = folder
        self.report = report
        self._read: dict[int, int] = {}
        self._stopped = False

    def stop(self) -> None:
        """Tell all workers, once."""
        if not self._stopped:
            self._stopped = True
            (self.folder / STOP).touch()
            self.report.stopping()

    def deliver(self, numbers: Iterable[int]) -> None:
        """Report the last line that each of these jobs has written since the last time."""
        for i in numbers:
            with suppress(FileNotFoundError), letters(self.folder, i).open("rb") as file:
                file.seek(self._read.get(i, 0))
                news = file.read()
                whole = news.rfind(b"\n") + 1
                if whole:
                    self._read[i] = self._read.get(i, 0) + whole
                    self.report.check(i, Check(**json.loads(news[:whole].splitlines()[-1])))
