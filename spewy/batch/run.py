"""Run a batch: several solves at once in worker processes or on a cluster, or one by one in this process.

The first Ctrl-C in the parent tells every worker to save and return; workers ignore Ctrl-C themselves, although
a terminal sends it to all processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import joblib

from lockers import LockerError
from spewy.batch.batch import Batch, BatchJob, Outcome
from spewy.batch.remote import packed, solve_remotely, unpack
from spewy.batch.work import (
    News,
    estimate_job,
    estimate_task,
    job_text,
    left,
    refuse_impossible,
    solve_job,
    solve_task,
)
from spewy.errors import InputError, PeerError, shown
from spewy.learn.engine import Stop
from spewy.run.folder_state import start_again
from spewy.run.memory import available_memory, memory_at_once
from spewy.run.reporter import unfailing
from spewy.run.walked_cost import WalkedCost
from spewy.system.dask_pool import worker_pool
from spewy.system.folder_lock import FolderLock
from spewy.system.interrupts import interruptible
from spewy.system.worker_pool import Message, WorkerPool


@dataclass(frozen=True)
class BatchCost:
    """Predicted cost of a batch: an estimate for each entry to solve, and how many entries run at once."""

    estimates: Mapping[int, WalkedCost]
    at_once: int
    available_bytes: int | None

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory of the largest jobs that may run at once, with their processes."""
        return memory_at_once([cost.memory_bytes for cost in self.estimates.values()], self.at_once)

    @property
    def disk_bytes(self) -> int:
        """Largest disk space of all lockers together, in bytes: complete while a job runs, reduced afterwards."""
        whole = sorted((cost.disk_bytes - cost.kept_bytes for cost in self.estimates.values()), reverse=True)
        return self.kept_bytes + sum(whole[: self.at_once])

    @property
    def most_disk_bytes(self) -> int:
        """Upper bound on the disk space of all lockers together, while jobs save again."""
        again = sorted(
            (cost.most_disk_bytes - cost.kept_bytes for cost in self.estimates.values()), reverse=True
        )
        return self.kept_bytes + sum(again[: self.at_once])

    @property
    def kept_bytes(self) -> int:
        """Bytes on disk of all lockers together once all jobs are solved."""
        return sum(cost.kept_bytes for cost in self.estimates.values())

    @property
    def information_sets(self) -> int:
        """Number of information sets of all jobs together."""
        return sum(cost.information_sets for cost in self.estimates.values())

    @property
    def seconds_per_sweep(self) -> float | None:
        """Approximate seconds of a sweep of all jobs together on one core; None if a job's are unknown."""
        seconds = [cost.seconds_per_sweep for cost in self.estimates.values()]
        return None if None in seconds else sum(each for each in seconds if each is not None)


class BatchReporter(Protocol):
    """Listens to the progress of a batch."""

    def laid_out(self, done: int, total: int) -> None:
        """Called with the number of jobs whose cost is known, and of all."""

    def begin(self, batch: Batch, cost: BatchCost) -> None:
        """Called before the first solve."""

    def started(self, number: int) -> None:
        """Called when the solve of a job begins."""

    def check(self, number: int, check: News) -> None:
        """Called when a running job was measured."""

    def ended(self, number: int, outcome: Outcome) -> None:
        """Called when a job is done, has failed or was stopped."""

    def stopping(self) -> None:
        """Called at Ctrl-C, when the running jobs begin to save."""

    def end(self) -> None:
        """Called after the last job."""


def processes(batch: Batch, asked: int | None = None) -> int:
    """Return the number of jobs to run at once: ``asked``, or as many as there are cores for ``solve.workers`` each."""
    workers = max((batch.entries[i].job.solve.threads for i in batch.to_do), default=1)
    wanted = asked or max(1, joblib.cpu_count() // workers)
    return max(1, min(wanted, len(batch.to_do)))


def run_batch(batch: Batch, report: BatchReporter, asked: int | None = None) -> tuple[Outcome, ...]:
    """Solve all unfinished entries; return an outcome for each entry.

    Within ``joblib.parallel_config(backend="dask")`` the cluster's workers solve, a job for each of their threads.

    Args:
        batch: what to solve.
        report: told of the cost before anything starts, and of all that happens then.
        asked: number of solves at once in processes here; None for as many as cores and the memory available hold.

    Raises:
        InputError: a job needs more than its ``solve.memory``; nothing was started.
    """
    for i in batch.to_do:  # before processes start, which takes a second: the tree is counted here already
        refuse_impossible(batch.entries[i].job, batch.entries[i].label)
    report = unfailing(report)
    outcomes = {i: Outcome(result, skipped=True) for i, result in batch.done.items()}
    with ExitStack() as locks, worker_pool(processes(batch, asked)) as pool:
        n = max(1, min(pool.size, len(batch.to_do)))
        runner = _Remotely(pool, locks) if not pool.shares_files else _Here() if n == 1 else _InPool(pool)
        estimates: dict[int, WalkedCost] = {}
        for i, cost in runner.estimates(batch):
            estimates[i] = cost
            report.laid_out(len(estimates), len(batch.to_do))
        available = available_memory() if pool.shares_files else None
        if asked is None and available is not None:
            sizes = [cost.memory_bytes for cost in estimates.values()]
            while n > 1 and memory_at_once(sizes, n) > available:
                n -= 1
        cost_of_all = BatchCost(estimates, n, available)
        report.begin(batch, cost_of_all)
        try:
            with interruptible() as stop:
                for i, outcome in runner.solve(batch, cost_of_all, report, stop):
                    outcomes[i] = outcome
                    report.ended(i, outcome)
        finally:
            report.end()
    return tuple(
        outcomes[i if entry.same_as is None else entry.same_as] for i, entry in enumerate(batch.entries)
    )


class _Here:
    """Solves jobs one by one in this process."""

    def estimates(self, batch: Batch) -> Iterator[tuple[int, WalkedCost]]:
        for i in batch.to_do:
            yield i, estimate_job(batch.entries[i].job, batch.entries[i].label)

    def solve(
        self, batch: Batch, cost: BatchCost, report: BatchReporter, stop: Stop
    ) -> Iterator[tuple[int, Outcome]]:
        for i in batch.to_do:
            if stop.is_set():
                yield i, Outcome(stored=batch.stored[i])
                continue
            report.started(i)
            entry = batch.entries[i]

            def told(check: News, i: int = i) -> None:
                report.check(i, check)

            yield (
                i,
                solve_job(
                    entry.job,
                    entry.folder,
                    told,
                    stop,
                    batch.save_every,
                    cost.estimates[i],
                    again=batch.again,
                ),
            )


class _InPool:
    """Solves jobs in the workers of a pool."""

    function: Callable[..., Any] = staticmethod(solve_task)

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    def arguments(self, batch: Batch, entry: BatchJob, cost: WalkedCost) -> tuple[Any, ...]:
        """Return the arguments of the function that solves an entry.

        Raises:
            InputError: another process works in the entry's folder.
        """
        return job_text(entry.job), entry.folder, batch.save_every, batch.again, cost

    def outcome(self, entry: BatchJob, answer: Any) -> Outcome:
        """Return the outcome of an entry, from the result of the function that solves it."""
        outcome: Outcome = answer
        return outcome

    def estimates(self, batch: Batch) -> Iterator[tuple[int, WalkedCost]]:
        tasks = [(job_text(batch.entries[i].job), batch.entries[i].label) for i in batch.to_do]
        for message in self._pool.results(estimate_task, tasks):
            if message is not None:
                yield batch.to_do[message.task], message.value

    def solve(
        self, batch: Batch, cost: BatchCost, report: BatchReporter, stop: Stop
    ) -> Iterator[tuple[int, Outcome]]:
        died: list[int] = []
        yield from self._solve_some(batch, batch.to_do, cost, report, stop, died)
        if died:
            yield from self._solve_some(batch, died, cost, report, stop)

    def _solve_some(
        self,
        batch: Batch,
        numbers: Sequence[int],
        cost: BatchCost,
        report: BatchReporter,
        stop: Stop,
        died: list[int] | None = None,
    ) -> Iterator[tuple[int, Outcome]]:
        """Solve some entries; ``died`` gets those to try again since all workers of a cluster have left."""
        begun: list[int] = []  # number of the entry, by number of the task
        refused: dict[int, str] = {}

        def tasks() -> Iterator[tuple[Any, ...]]:
            for i in numbers:
                if stop.is_set():
                    return
                try:
                    arguments = self.arguments(batch, batch.entries[i], cost.estimates[i])
                except (InputError, LockerError) as error:
                    refused[i] = str(error)
                    continue
                begun.append(i)
                report.started(i)
                yield arguments

        stopping = False
        for message in self._pool.work(self.function, tasks(), cost.at_once):
            if stop.is_set() and not stopping:
                stopping = True
                self._pool.stop()
                report.stopping()
            if message is None:
                continue
            i = begun[message.task]
            if message.kind == "news":
                report.check(i, message.value)
            elif message.kind == "died" and died is not None and not self._pool.shares_files:
                died.append(i)
            else:
                yield i, self._ended(batch.entries[i], message)
        for i in numbers:
            if i in refused:
                yield i, Outcome(error=refused[i], stored=batch.stored[i])
            elif i not in begun:
                yield i, Outcome(stored=batch.stored[i])

    def _ended(self, entry: BatchJob, message: Message) -> Outcome:
        """Make the outcome of an ended entry; an invalid answer fails only this entry."""
        try:
            if message.kind == "died":
                raise InputError(f"its process {message.value}")
            if message.kind == "failed":
                raise message.value
            return self.outcome(entry, message.value)
        except (PeerError, InputError) as error:
            return Outcome(error=str(error), stored=left(entry.job, entry.folder))


class _Remotely(_InPool):
    """Solves jobs in a cluster's workers.

    This process locks an entry's folder before sending it, and until the worker's result is unpacked.
    """

    function = staticmethod(solve_remotely)

    def __init__(self, pool: WorkerPool, locks: ExitStack) -> None:
        super().__init__(pool)
        self._locks = locks
        self._held: dict[Path, FolderLock] = {}

    def arguments(self, batch: Batch, entry: BatchJob, cost: WalkedCost) -> tuple[Any, ...]:
        if entry.folder not in self._held:  # else a worker died, and the entry is solved once more
            self._held[entry.folder] = self._locks.enter_context(FolderLock(entry.folder, "solve"))
        if batch.again:
            start_again(entry.job, entry.folder)
        return job_text(entry.job), packed(entry.folder), cost

    def outcome(self, entry: BatchJob, answer: Any) -> Outcome:
        if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], Outcome)):
            raise PeerError(
                f"Dask worker, job {entry.label}: expected how its solve ended, found {shown(answer)}"
            )
        found, files = answer
        if files:
            unpack(files, entry.folder)
        self._held.pop(entry.folder).close()
        out: Outcome = found
        return out
