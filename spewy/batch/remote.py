"""Solves jobs of a batch in the workers of a cluster; a job's folder is sent to the worker and back.

A worker solves in a temporary folder, and sends the folder back when the solve has ended or was stopped. So a worker
that dies leaves the job's own folder unchanged.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lockers import LOCK
from spewy.batch.batch import OLD, Outcome
from spewy.batch.work import parse_job, solve_job
from spewy.errors import InputError, PeerError, path_text, shown
from spewy.run.walked_cost import WalkedCost
from spewy.system.folders import scratch_folder
from spewy.system.processes import Parent

Files = dict[str, bytes]
"""Contents of a folder's files, by path relative to the folder."""


def solve_remotely(parent: Parent, text: str, before: Files, cost: WalkedCost) -> tuple[Outcome, Files]:
    """Solve a job in a worker.

    Args:
        parent: the calling process.
        text: the job as text.
        before: the files of the job's folder.
        cost: estimated cost of the job.

    Returns:
        The outcome, and the files of the job's folder after the solve.
    """
    with scratch_folder("solve") as scratch:
        folder = scratch / "solve"
        if before:
            unpack(before, folder)
        outcome = solve_job(parse_job(text), folder, parent.tell, parent, None, cost)
        return outcome, packed(folder)


def packed(folder: Path) -> Files:
    """Read all files of a folder except lock files; return {} if the folder does not exist."""
    files = (
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".mdb-lock" and path.name != LOCK
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def unpack(files: Files, folder: Path) -> None:
    """Replace the content of a folder in one step; if this fails, the folder is unchanged.

    Raises:
        PeerError: ``files`` is not a valid result of `packed`; nothing is written.
        InputError: another process has created the folder again meanwhile. The old content is then in a folder beside
            it.
    """
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
    """Restore the old content of a folder after a failure."""
    try:
        if old.exists():
            old.rename(folder)
    except OSError as error:
        raise InputError(
            f"folder {path_text(folder)}: another process has created it again during the solve; "
            f"move its old content back from {path_text(old)}"
        ) from error


def _require_files(files: Any) -> None:
    """Check that a value is a valid result of `packed`, without paths that lead out of the folder."""
    subject = "files of a solve, received from a worker of a cluster"
    if not isinstance(files, dict):
        raise PeerError(f"{subject}: expected a dictionary from paths to contents, found {shown(files)}")
    for name, content in files.items():
        if not (isinstance(name, str) and _stays(name)):
            raise PeerError(f"{subject}: expected a path inside the folder, found {shown(name)}")
        if not isinstance(content, bytes):
            raise PeerError(f"{subject}, file {name}: expected bytes, found {shown(content)}")


def _stays(name: str) -> bool:
    """Whether a relative path leads to a file inside the folder."""
    return "\0" not in name and not {"", ".", ".."} & set(name.split("/"))
