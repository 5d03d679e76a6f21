"""Read the state of a solve from its folder: sweeps, checks and result.

A run that was not interrupted stores its result in the lockers; the next run removes the result before its first visit.
So if there is a result with the same number of sweeps as the lockers, it was measured on the stored strategies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from lockers import Store, holds_store, open_store, remove_store, require_manifest
from spewy.errors import path_text
from spewy.job.job import Job
from spewy.job.texts import parse_target, unit_chips
from spewy.records.progress import read_result, read_trace, saved_sweeps
from spewy.records.status import forget_status
from spewy.records.strategy_locker import FOLDER, kept_arrays
from spewy.run.result import SolveResult

if TYPE_CHECKING:
    from buckets.abstraction import Abstraction

STAGES = "coarse"
"""Name of the folder in which a solve keeps its stages with fewer board buckets."""


@dataclass(frozen=True)
class Stored:
    """The sweeps, checks and result of a solve, read from its folder.

    Attributes:
        sweeps: number of finished sweeps.
        trace: (sweep, seconds, exploitability in chips) of each check.
        result: result of the last run; None if the strategies have changed since.
    """

    sweeps: int = 0
    trace: tuple[tuple[int, float, float], ...] = ()
    result: SolveResult | None = None


def look(job: Job, folder: Path) -> Stored:
    """Read the state of a job's solve from its folder; a missing folder has no sweeps."""
    if not holds_store(folder):
        return Stored()
    with open_store(folder, job.manifest(), read_only=True) as store:
        return held(store)


def held(store: Store) -> Stored:
    sweeps = saved_sweeps(store)
    trace = tuple(row for row in read_trace(store) if row[0] <= sweeps)
    stored = read_result(store)
    result = None if stored is None else SolveResult.of_json(stored)
    return Stored(sweeps, trace, result if result is not None and result.sweeps == sweeps else None)


def start_again(job: Job, folder: Path) -> None:
    """Remove a job's data from its folder, even if it is damaged; this process holds the folder's lock."""
    if holds_store(folder):
        require_manifest(folder, job.manifest())
    remove_stages(folder)
    for store in (folder / FOLDER, folder):
        if holds_store(store):
            remove_store(store)
    forget_status(folder)


def stage_folder(folder: Path, stage: int) -> Path:
    """Return the folder of a stage with fewer board buckets; ``stage`` counts from 1."""
    return folder / STAGES / str(stage)


def remove_stages(folder: Path, below: int | None = None) -> None:
    """Remove the folders of stages before stage ``below``, or of all stages; this process holds the folder's lock."""
    stages = folder / STAGES
    for path in sorted(stages.iterdir()) if stages.is_dir() else ():
        if path.name.isdigit() and (below is None or int(path.name) < below):
            for store in (path / FOLDER, path):
                if holds_store(store):
                    remove_store(store)
            rmtree(path)
    if below is None and stages.is_dir():
        rmtree(stages)


def kept_abstraction(job: Job, folder: Path | None) -> Abstraction | None:
    """Read the board buckets and rows of a job with [boards] in a folder's strategy locker; None without a locker."""
    if folder is None:
        return None
    from spewy.records.bucket_numbers import require_numbers
    from spewy.records.policy import board_abstraction

    if holds_store(folder):
        with open_store(folder, job.manifest(), read_only=True) as store:
            require_numbers(store, f"folder {path_text(folder)}")
    kept = kept_arrays(folder / FOLDER, job.manifest())
    return None if kept is None else board_abstraction(job.rules, kept)


def finished(job: Job, stored: Stored) -> SolveResult | None:
    """Return the stored result if no work is left: the solve has reached the job's target or its last sweep.

    A quick job has no work left if the stored solve had as much time, or was not quick.
    """
    result, seconds = stored.result, job.quick_seconds
    if result is not None and seconds is not None:
        enough = result.quick is None or result.quick["seconds"] >= seconds
        return result.in_unit(job.amounts) if enough else None
    if result is None or result.exploitability is None or result.quick is not None:
        return None
    amount, unit = parse_target(job.solve.target)
    converged = result.exploitability <= amount * unit_chips(job.rules, job.pot, unit)
    if not converged and result.sweeps < job.last_sweep:
        return None
    return replace(result, converged=converged).in_unit(job.amounts)
