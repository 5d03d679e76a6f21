"""One job of a batch in one process: solve it, and tell what is found on the way.

Parent and workers talk through a folder: ``stop`` appears in it, and each worker appends a line per check to a file of
the job's, so that a worker that dies in the middle of a word harms nobody.
"""

from __future__ import annotations

import json
import os
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from buckets.errors import BucketError
from lockers import LockerError
from solvers.errors import SolverError
from spewy.batch import Outcome
from spewy.errors import InputError, SpewyError
from spewy.failures import failure_text
from spewy.job import Job
from spewy.solve.estimate import Estimate
from spewy.solve.finished import Stored, look
from spewy.solve.session import Session, Silent, Stop, lay_out, require_solvable

STOP = "stop"


@dataclass(frozen=True)
class Check:
    """A worker's news: the exploitability in the target's unit, and a forecast."""

    sweep: int
    found: float
    unit: str
    seconds_left: float | None


@dataclass(frozen=True)
class Told:
    """A worker's end: set when the parent says so, or is gone."""

    flag: Path
    parent: int

    def is_set(self) -> bool:
        """Whether to save and return."""
        return self.flag.exists() or os.getppid() != self.parent


class Relay(Silent):
    """Passes checks on."""

    def __init__(self, told: Callable[[Check], None]) -> None:
        self._told = told
        self.done_before = 0

    def begin(self, job: Job, cost: Estimate, done: int) -> None:
        """Remember where the solve began."""
        self.done_before = done

    def check(self, sweep: int, found: float, unit: str, seconds_left: float | None) -> None:
        """Tell."""
        self._told(Check(sweep, found, unit, seconds_left))


def letters(folder: Path, number: int) -> Path:
    """Return the file in which the job of this number tells what it finds."""
    return folder / f"{number}.jsonl"


def solve_task(
    text: str, folder: Path, wire: Path, number: int, parent: int, save_every: float | None
) -> Outcome:
    """Solve in a worker."""
    with letters(wire, number).open("a") as file:

        def told(check: Check) -> None:
            file.write(json.dumps(asdict(check)) + "\n")
            file.flush()

        return solve_job(parse_job(text), folder, told, Told(wire / STOP, parent), save_every)


def solve_job(
    job: Job,
    folder: Path,
    told: Callable[[Check], None],
    stop: Stop,
    save_every: float | None = None,
) -> Outcome:
    """Solve one job; whatever goes wrong becomes its outcome."""
    _forget_peak()
    relay = Relay(told)
    try:
        if stop.is_set():
            return Outcome(stored=look(job, folder))
        session = Session(job, folder, save_every)
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
    """What a failed job's folder holds; nothing where that is what failed."""
    try:
        return look(job, folder)
    except (SpewyError, LockerError):
        return Stored()


def deafen() -> None:
    """Take no notice of Ctrl-C: it reaches the whole group, and the parent decides when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def estimate_task(text: str, label: str) -> Estimate:
    """Estimate in a worker."""
    return estimate_job(parse_job(text), label)


def estimate_job(job: Job, label: str) -> Estimate:
    """Lay a job out and add up what it needs; refuse what may not start."""
    try:
        return require_solvable(job, lay_out(job))
    except InputError as error:
        raise InputError(f"{label}: {error}") from None


def job_text(job: Job) -> str:
    """Write a job as it goes to a worker; `parse_job` reads it there."""
    return job.model_dump_json(by_alias=True)


def parse_job(text: str) -> Job:
    """Read what `job_text` wrote."""
    return Job.of(json.loads(text))


def _forget_peak() -> None:
    """Begin ``peak_rss_mib`` anew: a process solves several jobs. Linux only; elsewhere it is the process's."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
