"""Solves the jobs of a batch: several at the same time in worker processes or on a cluster, or in turn in this process.

At the first Ctrl-C this process asks every worker to save its work and return. Workers ignore the Ctrl-C that a
terminal sends to all processes. From Python, `solve_batch` solves one job on many boards, and reads the solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import joblib

from lockers import LockerError
from spewy.batch.batch import Batch, BatchJob, Outcome
from spewy.batch.work import (
    estimate_job,
    estimate_task,
    job_text,
    left,
    packed,
    refuse_impossible,
    solve_job,
    solve_remotely,
    solve_task,
    unpack,
)
from spewy.errors import InputError, PeerError, shown
from spewy.job.job import Job
from spewy.learn.engine import Stop
from spewy.run.cost import available_memory, memory_at_once
from spewy.run.events import Advanced, Checked, Ended, unfailing
from spewy.run.folder_state import start_again
from spewy.run.walked_cost import WalkedCost
from spewy.system.dask_pool import worker_pool
from spewy.system.folders import FolderLock
from spewy.system.html import Printed, Table
from spewy.system.interrupts import interruptible
from spewy.system.processes import Message, WorkerPool
from spewy.system.tools import as_path

if TYPE_CHECKING:
    import pandas as pd

    from spewy.look.report import Report
    from spewy.look.solution import Solution


@dataclass(frozen=True, repr=False)
class BatchResult(Printed):
    """The solutions of one job on many boards.

    Attributes:
        folder: folder that contains a folder for each board.
        entries: one job for each board.
        outcomes: the result or error of each job.
    """

    folder: Path
    entries: tuple[BatchJob, ...]
    outcomes: tuple[Outcome, ...]

    def frame(self) -> pd.DataFrame:
        """Make a table with a row for each board.

        The columns are ``board``, ``stands_for`` (number of flops that the board represents), ``error``, and the
        results of the solve: ``sweeps``, ``converged``, ``exploitability``, ``exploitability_pct`` (percent of the
        pot), ``ev_oop``, ``ev_ip``, ``equity_oop`` and ``seconds``.
        """
        import pandas as pd

        fields = ("sweeps", "converged", "exploitability", "exploitability_pct")
        rows = []
        for entry, outcome in zip(self.entries, self.outcomes, strict=True):
            row: dict[str, Any] = {
                "board": entry.board,
                "stands_for": entry.stands_for,
                "error": outcome.error,
            }
            row |= {name: getattr(outcome.result, name, None) for name in fields}
            ev, equity = (getattr(outcome.result, name, None) or (None, None) for name in ("ev", "equity"))
            row |= {"ev_oop": ev[0], "ev_ip": ev[1], "equity_oop": equity[0]}
            row["seconds"] = None if outcome.result is None else outcome.result.seconds.get("total")
            rows.append(row)
        return pd.DataFrame(rows)

    def _table(self) -> Table:
        columns = ("board", "sweeps", "exploitability (% of the pot)", "EV of oop", "EV of ip", "error")
        rows = tuple(
            (
                entry.board,
                getattr(outcome.result, "sweeps", None),
                getattr(outcome.result, "exploitability_pct", None),
                *(getattr(outcome.result, "ev", None) or (None, None)),
                outcome.error or "",
            )
            for entry, outcome in zip(self.entries, self.outcomes, strict=True)
        )
        return Table(f"{len(rows):,} boards in {self.folder}", columns, rows)

    def report(self, line: str = "") -> Report:
        """Report both ranges at a betting line on every board and on average, see `report_boards`."""
        from spewy.look.report import report_boards

        return report_boards([self.folder], line)

    def solution(self, board: str) -> Solution:
        """Open the solution of a board.

        Args:
            board: name of the board, as in the column ``board`` of `frame`.

        Raises:
            NotSolvedError: the solve of the board has saved nothing.
        """
        from spewy.look.solution import Solution

        folders = {entry.board: entry.folder for entry in self.entries}
        if board not in folders:
            raise InputError(f"board {shown(board)}: expected one of {', '.join(map(str, folders))}")
        return Solution.open(folders[board])


def solve_batch(
    job: Job | str | Path,
    boards: Sequence[str] | int,
    folder: str | Path,
    *,
    jobs: int | None = None,
    listener: BatchListener | None = None,
) -> BatchResult:
    """Solve a spot on many boards; boards that are solved already are not solved again.

    >>> import spewy
    >>> batch = spewy.solve_batch("examples/F1.toml", ["Ks7h2d", "Qc8d3s"], "results/set")  # doctest: +SKIP
    >>> batch.frame()  # doctest: +SKIP

    Args:
        job: the job, or the path of its file; the job's own board is ignored.
        boards: the boards; or the number of weighted flops that represent all 1,755.
        folder: folder for the results, with a folder for each board; created if necessary.
        jobs: number of solves that run at the same time; None for as many as cores and memory allow.
        listener: called with each event of the batch, see `BatchEvent`; None: nobody listens.

    Raises:
        lockers.LockerError: a folder contains another job, or is damaged.
    """
    path = as_path(folder, "folder")
    batch = Batch.of_boards(job if isinstance(job, Job) else Job.load(job), boards, path)
    outcomes = run_batch(batch, listener, jobs)
    batch.write_weights()
    return BatchResult(path, batch.entries, outcomes)


@dataclass(frozen=True)
class BatchCost:
    """Predicted cost of a batch.

    Attributes:
        estimates: estimated cost of each job to solve, by number of the job.
        at_once: number of jobs that run at the same time; on a cluster more if workers join later.
        available_bytes: bytes of free memory of this machine; None if unknown or if the jobs run on a cluster.
    """

    estimates: Mapping[int, WalkedCost]
    at_once: int
    available_bytes: int | None

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory if the largest jobs run at the same time, including memory of the processes."""
        return memory_at_once([cost.memory_bytes for cost in self.estimates.values()], self.at_once)

    @property
    def disk_bytes(self) -> int:
        """Peak of disk space in bytes of all jobs' folders; a running job may need more than a finished job."""
        whole = sorted((cost.disk_bytes - cost.kept_bytes for cost in self.estimates.values()), reverse=True)
        return self.kept_bytes + sum(whole[: self.at_once])

    @property
    def most_disk_bytes(self) -> int:
        """Upper bound on the disk space in bytes, including space that repeated saves need."""
        extra = sorted(
            (cost.most_disk_bytes - cost.kept_bytes for cost in self.estimates.values()), reverse=True
        )
        return self.kept_bytes + sum(extra[: self.at_once])

    @property
    def kept_bytes(self) -> int:
        """Disk space in bytes of all jobs' folders together after all jobs are solved."""
        return sum(cost.kept_bytes for cost in self.estimates.values())

    @property
    def information_sets(self) -> int:
        return sum(cost.information_sets for cost in self.estimates.values())

    @property
    def seconds_per_sweep(self) -> float | None:
        """Core-seconds for one sweep of every job; None if the estimate of a job is unknown."""
        seconds = [cost.seconds_per_sweep for cost in self.estimates.values()]
        return None if None in seconds else sum(each for each in seconds if each is not None)


@dataclass(frozen=True)
class BatchBegan:
    """Event: the first solve of a batch comes next."""

    batch: Batch
    cost: BatchCost


@dataclass(frozen=True)
class JobBegan:
    """Event: the solve of a job of a batch begins.

    Attributes:
        number: number of the job in the batch, from 0.
    """

    number: int


@dataclass(frozen=True)
class JobChecked:
    """Event: the exploitability of a running job was measured."""

    number: int
    check: Checked


@dataclass(frozen=True)
class JobEnded:
    """Event: a job has finished, has failed or was stopped."""

    number: int
    outcome: Outcome


@dataclass(frozen=True)
class BatchStopping:
    """Event after Ctrl-C: the running jobs save their work and end."""


BatchEvent: TypeAlias = Advanced | BatchBegan | JobBegan | JobChecked | JobEnded | BatchStopping | Ended
BatchListener = Callable[[BatchEvent], object]
"""Function that is called with each event of a batch; `Advanced` counts jobs whose cost is estimated."""


def processes(batch: Batch, asked: int | None = None) -> int:
    """Return how many jobs to run at the same time, at most as many as are to be solved.

    If ``asked`` is None, the cores of this machine are divided by the largest ``solve.workers`` of a job.
    """
    workers = max((batch.entries[i].job.solve.threads for i in batch.to_do), default=1)
    wanted = asked or max(1, joblib.cpu_count() // workers)
    return max(1, min(wanted, len(batch.to_do)))


def run_batch(batch: Batch, listener: BatchListener | None, asked: int | None = None) -> tuple[Outcome, ...]:
    """Solve all unfinished jobs of a batch, and return the outcome of each job.

    Within ``joblib.parallel_config(backend="dask")`` the workers of the cluster solve the jobs, one job in each thread.
    Otherwise ``asked`` jobs run at the same time in local processes; None for as many as cores and free memory allow.
    """
    for i in batch.to_do:  # this check comes first, since starting processes takes a second
        refuse_impossible(batch.entries[i].job, batch.entries[i].label)
    tell = unfailing(listener)
    outcomes = {i: Outcome(result, skipped=True) for i, result in batch.done.items()}
    with ExitStack() as locks, worker_pool(processes(batch, asked)) as pool:
        n = max(1, min(pool.size, len(batch.to_do)))
        runner = _Remotely(pool, locks) if not pool.shares_files else _Here() if n == 1 else _InPool(pool)
        estimates: dict[int, WalkedCost] = {}
        for i, cost in runner.estimates(batch):
            estimates[i] = cost
            tell(Advanced(len(estimates), len(batch.to_do)))
        available = available_memory() if pool.shares_files else None
        if asked is None and available is not None:
            sizes = [cost.memory_bytes for cost in estimates.values()]
            while n > 1 and memory_at_once(sizes, n) > available:
                n -= 1
        cost_of_all = BatchCost(estimates, n, available)
        tell(BatchBegan(batch, cost_of_all))
        try:
            with interruptible() as stop:
                for i, outcome in runner.solve(batch, cost_of_all, tell, stop):
                    outcomes[i] = outcome
                    tell(JobEnded(i, outcome))
        finally:
            tell(Ended())
    return tuple(
        outcomes[i if entry.same_as is None else entry.same_as] for i, entry in enumerate(batch.entries)
    )


class _Here:
    def estimates(self, batch: Batch) -> Iterator[tuple[int, WalkedCost]]:
        for i in batch.to_do:
            yield i, estimate_job(batch.entries[i].job, batch.entries[i].label)

    def solve(
        self, batch: Batch, cost: BatchCost, tell: BatchListener, stop: Stop
    ) -> Iterator[tuple[int, Outcome]]:
        for i in batch.to_do:
            if stop.is_set():
                yield i, Outcome(stored=batch.stored[i])
                continue
            tell(JobBegan(i))
            entry = batch.entries[i]

            def forward(check: Checked, i: int = i) -> None:
                tell(JobChecked(i, check))

            yield (
                i,
                solve_job(
                    entry.job,
                    entry.folder,
                    forward,
                    stop,
                    batch.save_every,
                    cost.estimates[i],
                    again=batch.again,
                ),
            )


class _InPool:
    function: Callable[..., Any] = staticmethod(solve_task)

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    def arguments(self, batch: Batch, entry: BatchJob, cost: WalkedCost) -> tuple[Any, ...]:
        return job_text(entry.job), entry.folder, batch.save_every, batch.again, cost

    def outcome(self, entry: BatchJob, answer: Any) -> Outcome:
        outcome: Outcome = answer
        return outcome

    def estimates(self, batch: Batch) -> Iterator[tuple[int, WalkedCost]]:
        tasks = [(job_text(batch.entries[i].job), batch.entries[i].label) for i in batch.to_do]
        for message in self._pool.results(estimate_task, tasks):
            if message is not None:
                yield batch.to_do[message.task], message.value

    def solve(
        self, batch: Batch, cost: BatchCost, tell: BatchListener, stop: Stop
    ) -> Iterator[tuple[int, Outcome]]:
        died: list[int] = []
        yield from self._solve_some(batch, batch.to_do, cost, tell, stop, died)
        if died:
            yield from self._solve_some(batch, died, cost, tell, stop)

    def _solve_some(
        self,
        batch: Batch,
        numbers: Sequence[int],
        cost: BatchCost,
        tell: BatchListener,
        stop: Stop,
        died: list[int] | None = None,
    ) -> Iterator[tuple[int, Outcome]]:
        begun: list[int] = []  # the number of the job, by number of the task
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
                tell(JobBegan(i))
                yield arguments

        stopping = False
        # workers that join a cluster get jobs too
        at_once = cost.at_once if self._pool.shares_files else None
        for message in self._pool.work(self.function, tasks(), at_once):
            if stop.is_set() and not stopping:
                stopping = True
                self._pool.stop()
                tell(BatchStopping())
            if message is None:
                continue
            i = begun[message.task]
            if message.kind == "news":
                tell(JobChecked(i, message.value))
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
        """Make the outcome of a job from the last message about its task; an invalid answer becomes an error."""
        try:
            if message.kind == "died":
                raise InputError(f"the worker process of this job {message.value}")
            if message.kind == "failed":
                raise message.value
            return self.outcome(entry, message.value)
        except (PeerError, InputError) as error:
            return Outcome(error=str(error), stored=left(entry.job, entry.folder))


class _Remotely(_InPool):
    """Solves jobs in a cluster's workers; locks a job's folder until the worker's result is written to it."""

    function = staticmethod(solve_remotely)

    def __init__(self, pool: WorkerPool, locks: ExitStack) -> None:
        super().__init__(pool)
        self._locks = locks
        self._held: dict[Path, FolderLock] = {}

    def arguments(self, batch: Batch, entry: BatchJob, cost: WalkedCost) -> tuple[Any, ...]:
        """Lock a job's folder and return the arguments of `solve_remotely`, which include the folder's files."""
        # If a worker died and the job is sent again, this process holds the lock already.
        if entry.folder not in self._held:
            self._held[entry.folder] = self._locks.enter_context(FolderLock(entry.folder, "solve"))
        if batch.again:
            start_again(entry.job, entry.folder)
        return job_text(entry.job), packed(entry.folder), cost

    def outcome(self, entry: BatchJob, answer: Any) -> Outcome:
        """Return the outcome in a worker's answer; write the answer's files to the job's folder, and unlock it."""
        if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], Outcome)):
            raise PeerError(
                f"Dask worker, job {entry.label}: expected an outcome and files, found {shown(answer)}"
            )
        outcome, files = answer
        if files:
            unpack(files, entry.folder)
        self._held.pop(entry.folder).close()
        out: Outcome = outcome
        return out
