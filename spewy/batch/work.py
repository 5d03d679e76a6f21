"""Solve one job of a batch in a process, and report its checks."""

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
    """A reporter that forwards checks to the batch."""

    def __init__(self, told: Callable[[News], None]) -> None:
        self._told = told
        self.done_before = 0

    def begin(self, job: Job, cost: Cost, done: int) -> None:
        """Record the sweep at which the solve began."""
        self.done_before = done

    def check(self, sweep: int, found: float, unit: str, seconds_left: float | None) -> None:
        """Forward the check as `News`."""
        self._told(News(sweep, found, unit, seconds_left))


def solve_task(
    parent: Parent, text: str, folder: Path, save_every: float | None, again: bool, cost: WalkedCost
) -> Outcome:
    """Solve a job in a worker.

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
    """Estimate the cost of a job in a worker."""
    return estimate_job(parse_job(text), label)


def refuse_impossible(job: Job, label: str) -> None:
    """Refuse a job by its lower bounds, before it is laid out."""
    try:
        require_possible(job)
    except InputError as error:
        raise InputError(f"{label}: {error}") from None


def estimate_job(job: Job, label: str) -> WalkedCost:
    """Lay a job out and return its cost; refuse a job that exceeds its limits."""
    try:
        plan = WalkedPlan.counted(job, streaming=False)
        plan.require()
    except InputError as error:
        raise InputError(f"{label}: {error}") from None
    return plan.cost


def job_text(job: Job) -> str:
    """Serialise a job for a worker; `parse_job` reads it."""
    return job.model_dump_json(by_alias=True)


def parse_job(text: str) -> Job:
    """Read a job from the text of `job_text`."""
    return Job.of(json.loads(text))


def _forget_peak() -> None:
    """Reset ``peak_rss_mib`` between two jobs of a process, on Linux."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
