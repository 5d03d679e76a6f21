"""Solves one job of a batch in one process, and reports its checks."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from buckets.errors import BucketError
from lockers import LockerError
from solvers.errors import SolverError
from spewy.batch.batch import Outcome
from spewy.errors import InputError, SpewyError
from spewy.job.job import Job
from spewy.learn.engine import Stop
from spewy.run.cost import Cost
from spewy.run.folder_state import Stored, look
from spewy.run.reporter import Silent
from spewy.run.session import Session
from spewy.run.walked_cost import WalkedCost
from spewy.run.walked_plan import WalkedPlan, require_possible
from spewy.system.failures import failure_text
from spewy.system.worker import Parent


@dataclass(frozen=True)
class News:
    """News of a job: the exploitability in the target's unit, and a forecast."""

    sweep: int
    found: float
    unit: str
    seconds_left: float | None


class Relay(Silent):
    """A reporter that passes checks on."""

    def __init__(self, told: Callable[[News], None]) -> None:
        self._told = told
        self.done_before = 0

    def begin(self, job: Job, cost: Cost, done: int) -> None:
        """Remember the sweep at which the solve began."""
        self.done_before = done

    def check(self, sweep: int, found: float, unit: str, seconds_left: float | None) -> None:
        """Pass the check on."""
        self._told(News(sweep, found, unit, seconds_left))


def solve_task(
    parent: Parent, text: str, folder: Path, save_every: float | None, again: bool, cost: WalkedCost
) -> Outcome:
    """In a worker: solve a job.

    An attempt after the first goes on from what the attempt before has saved, if that has begun to save.
    """
    return solve_job(
        parse_job(text), folder, parent.tell, parent, save_every, cost, again=again and not parent.heard
    )


def solve_job(
    job: Job,
    folder: Path,
    told: Callable[[News], None],
    stop: Stop,
    save_every: float | None,
    cost: WalkedCost,
    *,
    again: bool = False,
) -> Outcome:
    """Solve one job of known cost; an error becomes part of the outcome."""
    _forget_peak()
    relay = Relay(told)
    try:
        if stop.is_set():
            return Outcome(stored=look(job, folder))
        session = Session(job, folder, save_every, cost, again=again)
        try:
            result = session.solve(relay, stop)
        finally:
            session.close()
        return Outcome(result, skipped=0 < result.sweeps == relay.done_before and not result.interrupted)
    except (SpewyError, LockerError, BucketError, SolverError) as error:
        return Outcome(error=str(error), stored=left(job, folder))
    except Exception as error:
        failed = failure_text(error)
        if failed is not None:
            return Outcome(error=failed, stored=left(job, folder))
        told_as = f"unexpected {type(error).__name__}: {error}"
        return Outcome(error=told_as, details=traceback.format_exc(), stored=left(job, folder))


def left(job: Job, folder: Path) -> Stored:
    """Return the state of a failed job's folder; an empty state if the folder cannot be read."""
    try:
        return look(job, folder)
    except (SpewyError, LockerError):
        return Stored()


def estimate_task(parent: Parent, text: str, label: str) -> WalkedCost:
    """In a worker: estimate the cost of a job."""
    return estimate_job(parse_job(text), label)


def refuse_impossible(job: Job, label: str) -> None:
    """Refuse a job that is too large by bounds that are known before it is laid out."""
    try:
        require_possible(job)
    except InputError as error:
        raise InputError(f"{label}: {error}") from None


def estimate_job(job: Job, label: str) -> WalkedCost:
    """Lay a job out and return its cost; refuse a job that needs more than it may. `refuse_impossible` comes first."""
    try:
        plan = WalkedPlan.counted(job, streaming=False)
        plan.require()
    except InputError as error:
        raise InputError(f"{label}: {error}") from None
    return plan.cost


def job_text(job: Job) -> str:
    """Write a job for a worker, where `parse_job` reads it."""
    return job.model_dump_json(by_alias=True)


def parse_job(text: str) -> Job:
    """Read a job that `job_text` has written."""
    return Job.of(json.loads(text))


def _forget_peak() -> None:
    """Reset ``peak_rss_mib`` between two jobs of a process, on Linux."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
