"""Read the status of the solve in a folder."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lockers import Store, holds_store, open_store
from spewy.job.job import Job
from spewy.job.texts import parse_target, unit_chips
from spewy.look.folder import require_solve, stored_job, strategy_folder
from spewy.records.progress import last_target, quick_seconds, read_result, read_trace, saved_sweeps
from spewy.records.status import Status, judged_by, last_word, read_status, running
from spewy.records.strategy_locker import StrategyLocker, found_saved
from spewy.system.tools import as_path


@dataclass(frozen=True)
class QuickAnswer:
    """The quick answer that a folder shows until the whole solve replaces it.

    Attributes:
        sweeps: number of its sweeps.
        seconds: its time, as the job gave it.
        loss: what such answers lost where they were measured, in words; empty where none was.
    """

    sweeps: int
    seconds: float
    loss: str


@dataclass(frozen=True)
class Progress:
    """Status of a solve, with the curve of its exploitability.

    Attributes:
        status: counts, times and last exploitability of the solve, as its status file records them.
        running: whether a process is solving in the folder now; None if unknown.
        unit: unit of exploitability: "%" of the pot, or "mbb" per hand.
        curve: for each saved check the number of sweeps or deals, seconds of work, and exploitability in ``unit``.
        target: exploitability in ``unit`` at which the solve stops; None if unknown.
        quick: the saved quick answer; None if the folder holds none. ``status`` says whose figures it has.
    """

    status: Status
    running: bool | None
    unit: str
    curve: tuple[tuple[int, float, float], ...]
    target: float | None
    quick: QuickAnswer | None = None


def status_of(folder: str | Path) -> Status:
    """Read the status of a solve from its status file and its lockers, or from its lockers alone.

    A killed solve may have saved and measured after it wrote the status file.
    """
    path = as_path(folder, "folder")
    require_solve(path)
    with open_store(path if holds_store(path) else strategy_folder(path), read_only=True) as store:
        job = stored_job(store, folder)
        status = read_status(path)
        if job.sampled:
            status = _dealt(job, strategy_folder(path)) if status is None else _at_least(status, store)
        elif status is None:
            return _walked(job, store)
        else:
            status = _caught_up(status, job, store)
    checking = status.checking if running(path) else None
    return replace(status, checking=checking, ended=last_word(path))


def progress_of(folder: str | Path) -> Progress:
    path = as_path(folder, "folder")
    status = status_of(path)
    with open_store(path if holds_store(path) else strategy_folder(path), read_only=True) as store:
        job = stored_job(store, folder)
        # The solve may have measured again after the status was read.
        trace = [check for check in read_trace(store) if check[0] <= status.deals]
        quick = _quick_answer(job, store)
    unit, scale = ("%", 100 / job.pot) if job.pot else ("mbb", 1000 / job.rules.big_blind)
    target = None
    if status.target is not None:
        amount, target_unit = parse_target(status.target)
        target = scale * amount * unit_chips(job.rules, job.pot, target_unit)
    curve = tuple((done, seconds, scale * chips) for done, seconds, chips in trace)
    return Progress(status, running(path), unit, curve, target, quick)


def disk_bytes(folder: Path) -> int:
    """Return the disk space of all files in a folder and its subfolders, in bytes."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # raised for a file that was deleted meanwhile
            total += 512 * path.lstat().st_blocks
    return total


def _quick_answer(job: Job, store: Store) -> QuickAnswer | None:
    seconds = quick_seconds(store)
    if seconds is None:
        return None
    from spewy.run.quick import measured_loss  # imported here, since it loads kernels

    return QuickAnswer(saved_sweeps(store), seconds, measured_loss(job, seconds))


def _at_least(status: Status, store: Store) -> Status:
    """Raise both numbers of deals in a status to the number that the lockers record, unless they are larger.

    The lockers can record fewer, since a stage with fewer board buckets saves in a folder of its own.
    """
    saved = max(saved_sweeps(store), status.saved_deals)
    return replace(status, saved_deals=saved, deals=max(saved, status.deals))


def _caught_up(status: Status, job: Job, store: Store) -> Status:
    """Correct the sweeps and the exploitability in the status file of a solve by what the lockers hold."""
    if quick_seconds(store) is not None and not status.quick:
        return status  # the lockers hold the quick answer, and nothing of the solve that the status is about
    held = saved_sweeps(store)
    status = replace(status, saved_deals=held, deals=max(held, status.deals))
    trace = [check for check in read_trace(store) if check[0] <= held]
    if trace and (status.judged is None or trace[-1][0] > status.judged.deals):
        seconds = max(trace[-1][1], status.seconds or 0.0)
        status = replace(status, judged=judged_by(job.problem, trace), seconds=seconds)
    return status


def _dealt(job: Job, folder: Path) -> Status:
    """Make the status of a solve if ``folder`` has its strategy locker only, such as a copy."""
    with StrategyLocker.open(folder) as averages:
        saved = found_saved(averages.store)
    deals, at = (0, None) if saved is None else (saved.deals, saved.saved_at)
    return Status(
        name=job.name,
        deals=deals,
        saved_deals=deals,
        per_second=None,
        seconds=None,
        seconds_left=None,
        visits=(),
        value=None,
        judged=None,
        target=None,
        at=at,
    )


def _walked(job: Job, store: Store) -> Status:
    trace, sweeps = read_trace(store), saved_sweeps(store)
    return Status(
        name=job.name,
        deals=sweeps,
        saved_deals=sweeps,
        per_second=None,
        seconds=trace[-1][1] if trace else None,
        seconds_left=None,
        visits=None,
        value=None,
        judged=judged_by(job.problem, trace),
        target=last_target(store),
        at=None,
        quick=quick_seconds(store) is not None,
        ended=None if read_result(store) is None else "finished",
    )
