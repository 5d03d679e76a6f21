"""Solves one job of a batch in a process, and reports the checks of the solve."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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
from spewy.system.processes import Parent


@dataclass(frozen=True)
class News:
    """A measurement of exploitability that a running job reports.

    Attributes:
        sweep: number of finished sweeps.
        found: exploitability in the unit of the job's target.
        unit: unit of the job's target, such as "%".
        seconds_left: estimated seconds until the target is reached; None if unknown.
    """

    sweep: int
    found: float
    unit: str
    seconds_left: float | None


class Relay(Silent):
    """A reporter that forwards the checks of a solve as `News`.

    Args:
        forward: called with each check.

    Attributes:
        done_before: number of sweeps of earlier runs.
    """

    def __init__(self, forward: Callable[[News], None]) -> None:
        self._forward = forward
        self.done_before = 0

    def begin(self, job: Job, cost: Cost, done: int) -> None:
        """Record the number of sweeps of earlier runs."""
        self.done_before = done

    def check(self, sweep: int, found: float, unit: str, seconds_left: float | None) -> None:
        """Forward the result of a check as `News`."""
        self._forward(News(sweep, found, unit, seconds_left))


def solve_task(
    parent: Parent, text: str, folder: Path, save_every: float | None, again: bool, cost: WalkedCost
) -> Outcome:
    """Solve a job in a local worker process.

    If an earlier attempt in a worker that died has saved anything, this attempt continues from there.

    Args:
        parent: the calling process.
        text: the job as text.
        folder: folder of the job.
        save_every: seconds between two saves; None for the default.
        again: whether to discard what earlier runs saved in the folder.
        cost: estimated cost of the job.
    """
    return solve_job(
        parse_job(text), folder, parent.tell, parent, save_every, cost, again=again and not parent.heard
    )


def solve_job(
    job: Job,
    folder: Path,
    forward: Callable[[News], None],
    stop: Stop,
    save_every: float | None,
    cost: WalkedCost,
    *,
    again: bool = False,
) -> Outcome:
    """Solve a job; an error becomes part of the outcome.

    Args:
        job: the job.
        folder: folder of the job.
        forward: called with each check.
        stop: once set, the solve saves its work and ends.
        save_every: seconds between two saves; None for the default.
        cost: estimated cost of the job.
        again: whether to discard what earlier runs saved in the folder.
    """
    _forget_peak()
    relay = Relay(forward)
    try:
        if stop.is_set():
            return Outcome(stored=look(job, folder))
        session = Session(job, folder, save_every, cost, again=again)
        try:
            result = session.solve(relay, stop)
        finally:
            session.close()
        return Outcome(result, skipped=0 < result.sweeps == relay.done_before and not result.interrupted)
    except SpewyError as error:
        return Outcome(error=str(error), stored=left(job, folder))
    except Exception as error:
        failed = failure_text(error)
        if failed is not None:
            return Outcome(error=failed, stored=left(job, folder))
        message = f"unexpected {type(error).__name__}: {error}"
        return Outcome(error=message, details=traceback.format_exc(), stored=left(job, folder))


def left(job: Job, folder: Path) -> Stored:
    """Return the state of a failed job's folder; an empty state if the folder cannot be read."""
    try:
        return look(job, folder)
    except SpewyError:
        return Stored()


def estimate_task(parent: Parent, text: str, label: str) -> WalkedCost:
    """Estimate the cost of a job in a worker.

    Args:
        parent: the calling process.
        text: the job as text.
        label: name of the job in error messages.
    """
    return estimate_job(parse_job(text), label)


def refuse_impossible(job: Job, label: str) -> None:
    """Raise an error if even a lower bound on the cost of a job exceeds its limits; this check is fast.

    Args:
        job: the job.
        label: name of the job in the error message.

    Raises:
        InputError: the job exceeds its limits.
    """
    try:
        require_possible(job)
    except InputError as error:
        raise InputError(f"{label}: {error}") from None


def estimate_job(job: Job, label: str) -> WalkedCost:
    """Estimate the cost of a job.

    Args:
        job: the job.
        label: name of the job in the error message.

    Raises:
        InputError: the job exceeds its limits.
    """
    try:
        plan = WalkedPlan.counted(job, streaming=False)
        plan.require()
    except InputError as error:
        raise InputError(f"{label}: {error}") from None
    return plan.cost


def job_text(job: Job) -> str:
    """Write a job as a text that `parse_job` reads."""
    return job.model_dump_json(by_alias=True)


def parse_job(text: str) -> Job:
    """Read a job from a text that `job_text` has written."""
    return Job.of(json.loads(text))


def _forget_peak() -> None:
    """On Linux, reset the peak memory of this process, so that each job reports its own peak."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
