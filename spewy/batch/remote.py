"""Solve jobs of a batch in workers of a cluster; a job's folder is sent to the worker and back.

A worker solves in a scratch folder, which it sends back when the solve is done or was stopped. So a worker that dies
leaves the job's folder as it was.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lockers import LOCK
from spewy.batch.batch import Outcome
from spewy.batch.work import parse_job, solve_job
from spewy.errors import InputError, PeerError, path_text, shown
from spewy.run.walked_cost import WalkedCost
from spewy.system.scratch import scratch_folder
from spewy.system.worker import Parent

Files = dict[str, bytes]
"""Contents of a folder's files, by relative path."""


def solve_remotely(parent: Parent, text: str, before: Files, cost: WalkedCost) -> tuple[Outcome, Files]:
    """Solve a job in a worker from the files of its folder; return the outcome and the new files."""
    with scratch_folder("solve") as scratch:
        folder = scratch / "solve"
        if before:
            unpack(before, folder)
        outcome = solve_job(parse_job(text), folder, parent.tell, parent, None, cost)
        return outcome, packed(folder)


def packed(folder: Path) -> Files:
    """Read all files of a folder except lock files; return {} if there is no such folder."""
    files = (
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".mdb-lock" and path.name != LOCK
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def unpack(files: Files, folder: Path) -> None:
    """Replace a folder's files in one step; after a failure the folder is unchanged.

    Raises:
        PeerError: `packed` cannot have made these files; nothing is written.
        InputError: another process has made the folder anew meanwhile; its old content lies beside it.
    """
    _require_files(files)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        new, old = Path(scratch, "new"), Path(f"{scratch}-before")
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
            f"folder {path_text(folder)}: expected nobody to use it, found that another process has made it anew; "
            f"what it held is in {path_text(old)}"
        ) from error


def _require_files(files: Any) -> None:
    """Refuse files that `packed` cannot have made, such as names that lead outside the folder."""
    subject = "folder of a solve, from the other end of a cluster"
    if not isinstance(files, dict):
        raise PeerError(f"{subject}: expected files by their paths, found {shown(files)}")
    for name, content in files.items():
        if not (isinstance(name, str) and _stays(name)):
            raise PeerError(f"{subject}: expected the path of a file in it, found {shown(name)}")
        if not isinstance(content, bytes):
            raise PeerError(f"{subject}, file {name}: expected its bytes, found {shown(content)}")


def _stays(name: str) -> bool:
    """Whether a path stays inside its folder."""
    return "\0" not in name and not {"", ".", ".."} & set(name.split("/"))
