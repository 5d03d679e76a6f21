"""Solves one job of a batch: in this process (`solve_job`), in a local worker (`solve_task`), or on a cluster.

On a cluster (`solve_remotely`) the job's folder is sent to the worker and back. A worker solves in a temporary folder,
and sends the folder back when the solve has ended or was stopped. So a worker that dies leaves the job's own folder
unchanged.
"""

from __future__ import annotations

import json
import shutil
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lockers import LOCK
from spewy.batch.batch import OLD, Outcome
from spewy.errors import InputError, PeerError, SpewyError, path_text, shown
from spewy.job.job import Job
from spewy.learn.engine import Stop
from spewy.run.events import Began, Checked, Event
from spewy.run.folder_state import Stored, look
from spewy.run.session import Session
from spewy.run.walked_cost import WalkedCost
from spewy.run.walked_plan import WalkedPlan, require_possible
from spewy.system.failures import failure_text
from spewy.system.folders import scratch_folder
from spewy.system.processes import Parent

Files = dict[str, bytes]
"""Contents of a folder's files, by path relative to the folder."""


def solve_task(
    parent: Parent, text: str, folder: Path, save_every: float | None, again: bool, cost: WalkedCost
) -> Outcome:
    """Solve a job, given by its `job_text`, in a local worker process.

    What an earlier attempt saved before its worker died is kept, even if ``again`` discards what earlier runs saved.
    """
    return solve_job(
        parse_job(text), folder, parent.tell, parent, save_every, cost, again=again and not parent.heard
    )


def solve_job(
    job: Job,
    folder: Path,
    forward: Callable[[Checked], None],
    stop: Stop,
    save_every: float | None,
    cost: WalkedCost,
    *,
    again: bool = False,
) -> Outcome:
    """Solve a job; an error becomes part of the outcome.

    ``forward`` gets each check, ``save_every`` are seconds between two saves (None: the default), and ``again``
    discards what earlier runs saved in the folder.
    """
    _forget_peak()
    before = 0

    def listen(event: Event) -> None:
        nonlocal before
        match event:
            case Began():
                before = event.done
            case Checked():
                forward(event)

    try:
        if stop.is_set():
            return Outcome(stored=look(job, folder))
        session = Session(job, folder, save_every, cost, again=again)
        try:
            result = session.solve(listen, stop)
        finally:
            session.close()
        return Outcome(result, skipped=0 < result.sweeps == before and not result.interrupted)
    except SpewyError as error:
        return Outcome(error=str(error), stored=left(job, folder))
    except Exception as error:
        failed = failure_text(error)
        if failed is not None:
            return Outcome(error=failed, stored=left(job, folder))
        message = f"unexpected {type(error).__name__}: {error}"
        return Outcome(error=message, details=traceback.format_exc(), stored=left(job, folder))


def left(job: Job, folder: Path) -> Stored:
    """Read the state of a failed job's folder; an empty state if the folder cannot be read."""
    try:
        return look(job, folder)
    except SpewyError:
        return Stored()


def estimate_task(parent: Parent, text: str, label: str) -> WalkedCost:
    return estimate_job(parse_job(text), label)


def refuse_impossible(job: Job, label: str) -> None:
    """Raise an error if even a lower bound on the cost of a job exceeds its limits; this check is fast."""
    try:
        require_possible(job)
    except InputError as error:
        raise InputError(f"{label}: {error}") from None


def estimate_job(job: Job, label: str) -> WalkedCost:
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
    return Job.of(json.loads(text))


def _forget_peak() -> None:
    """On Linux, reset the peak memory of this process, so that each job reports its own peak."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def solve_remotely(parent: Parent, text: str, before: Files, cost: WalkedCost) -> tuple[Outcome, Files]:
    with scratch_folder("solve") as scratch:
        folder = scratch / "solve"
        if before:
            unpack(before, folder)
        outcome = solve_job(parse_job(text), folder, parent.tell, parent, None, cost)
        return outcome, packed(folder)


def packed(folder: Path) -> Files:
    """Read all files of a folder except lock files; {} if the folder does not exist."""
    files = (
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".mdb-lock" and path.name != LOCK
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def unpack(files: Files, folder: Path) -> None:
    """Replace the content of a folder in one step; if this fails, the folder is unchanged."""
    _require_files(files)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        new = Path(scratch, "new")
        old = folder.parent / OLD.format(name=folder.name, scratch=Path(scratch).name[-8:])
        for name, content in files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if folder.exists():
            folder.rename(old)
        try:
            new.rename(folder)
        except BaseException:
            _put_back(old, folder)
            raise
    shutil.rmtree(old, ignore_errors=True)


def _put_back(old: Path, folder: Path) -> None:
    try:
        if old.exists():
            old.rename(folder)
    except OSError as error:
        raise InputError(
            f"folder {path_text(folder)}: another process has created it again during the solve; "
            f"move its old content back from {path_text(old)}"
        ) from error


def _require_files(files: Any) -> None:
    subject = "files of a solve, received from a worker of a cluster"
    if not isinstance(files, dict):
        raise PeerError(f"{subject}: expected a dictionary from paths to contents, found {shown(files)}")
    for name, content in files.items():
        if not (isinstance(name, str) and _stays(name)):
            raise PeerError(f"{subject}: expected a path inside the folder, found {shown(name)}")
        if not isinstance(content, bytes):
            raise PeerError(f"{subject}, file {name}: expected bytes, found {shown(content)}")


def _stays(name: str) -> bool:
    """Whether a relative path stays in the folder in which it begins."""
    return "\0" not in name and not {"", ".", ".."} & set(name.split("/"))
