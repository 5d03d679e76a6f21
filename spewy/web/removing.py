"""Deletes a solve or a batch from the server's folders, with nothing but files that Spewy has made.

A request names the solve and its last save that the reader has seen, so that an old list deletes no newer solve.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from starlette.routing import Route

from lockers import DATA, LOCK, LockerError
from lockers.files import FILE, manifest_of
from spewy.errors import InputError, shown
from spewy.look.folder import WEIGHTS_FILE, strategy_folder
from spewy.records import caches, strategy_locker
from spewy.records.status import LOG, STATUS
from spewy.run.folder_state import STAGES
from spewy.system.folders import FolderLock
from spewy.web.answers import Parameters, post, text
from spewy.web.folders import Entry, Folders
from spewy.web.job_process import JobProcess
from spewy.web.listing import last_save

FILES = {FILE, DATA, f"{DATA}-lock", LOCK, STATUS, LOG, caches.PREFLOP_FILE, WEIGHTS_FILE}
SUBFOLDERS = {STAGES, strategy_locker.FOLDER, caches.FOLDER, caches.FOLDER_AGAIN}
_LEFT_BEHIND = re.compile(rf"\.({re.escape(FILE)}|{re.escape(DATA)}|{re.escape(STATUS)})\..+")
"""Matches temporary files that a killed process has left."""


def removing_routes(folders: Folders, jobs: JobProcess) -> list[Route]:
    def remove(parameters: Parameters) -> dict[str, Any]:
        entry, state = folders.entry(text(parameters, "folder")), jobs.state()
        if state is not None and state.state != "ended" and state.id in (entry.id, *entry.boards):
            raise InputError(f"{entry.id} is being solved; stop it first, or wait until it ends")
        if not folders.removable(entry):
            raise InputError(
                f"folder {shown(entry.id)} is not below the folders of this server; delete it by hand"
            )
        saved_at = last_save(entry)
        if saved_at is None or parameters.get("saved_at") != saved_at:
            raise InputError(
                f"folder {shown(entry.id)} has saved since the list was shown; load the list again"
            )
        remove_entry(entry)
        folders.forget(entry)
        return {"removed": entry.id}

    return [post("/api/folders/remove", remove)]


def remove_entry(entry: Entry) -> None:
    """Delete the folder of a solve or batch.

    Raises:
        InputError: another process solves in it, or it contains something else than files of solves.
    """
    with ExitStack() as locks:
        for folder in entry.solves:
            locks.enter_context(FolderLock(folder, "serve", make=False))
            if not _is_of_solve(folder):
                raise InputError(f"folder {shown(entry.id)} holds lockers of no solve; delete it by hand")
        boards = {board.rpartition("/")[2] for board in entry.boards}
        foreign = next(_foreign(entry.path, boards), None)
        if foreign is not None:
            raise InputError(
                f"folder {shown(entry.id)} also holds {shown(foreign)}, which Spewy did not make; move it away first"
            )
        try:
            shutil.rmtree(entry.path)
        except OSError as error:
            raise InputError(f"folder {shown(entry.id)} cannot be deleted: {error.strerror}") from error


def _is_of_solve(folder: Path) -> bool:
    try:
        return isinstance(manifest_of(strategy_folder(folder)).get("job"), dict)
    except LockerError:
        return False


def _foreign(folder: Path, boards: set[str]) -> Iterator[str]:
    """Yield the paths, from ``folder`` on, of everything that is not a file of a solve."""
    for path in folder.rglob("*"):
        name = path.name
        if path.is_symlink():
            own = False
        elif path.is_dir():
            stage = path.parent.name == STAGES and name.isdigit()
            own = stage or name in SUBFOLDERS or (path.parent == folder and name in boards)
        else:
            own = path.is_file() and (name in FILES or bool(_LEFT_BEHIND.fullmatch(name)))
        if not own:
            yield path.relative_to(folder).as_posix()
