"""Routes for solving: start, stop and continue a solve, and watch the solves in the server's folders."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from starlette.routing import Route

from lockers import LOCK, DamagedLockerError, LockerError, holds_store, open_store
from spewy.errors import InputError, one_line
from spewy.look.folder import solves_in
from spewy.look.status import Progress, progress_of
from spewy.records.status import LOG, STATUS, running
from spewy.run.stopping import INTERRUPTED
from spewy.system.textfile import replace_text
from spewy.web.answers import Parameters, get, post, text
from spewy.web.folders import Entry, Folders, cards_of
from spewy.web.job_process import JobProcess
from spewy.web.readers import Stamped, stamp
from spewy.web.setting_up import Draft, draft_of, draft_of_solve, job_file

QUICK = "3 s"
"""Time of a quick solve."""
READ_SECONDS = 0.3
"""Seconds that an answer may spend on reading the progress of a batch's boards; the next answer reads more of them."""
MOST_POINTS = 500
"""Largest number of points in an answer's curve of exploitability; a long solve has measured more."""
MOST_OF_PROBLEM = 300
"""Largest length in characters of the text about a damaged board of a batch."""


def job_routes(folders: Folders, jobs: JobProcess) -> list[Route]:
    known = Stamped(progress_of, _mark)

    def listed(parameters: Parameters) -> dict[str, Any]:
        del parameters
        state = jobs.state()
        running_now = [each.id for each in folders.entries() if each.kind == "solve" and _runs(each.path)]
        return {"job": None if state is None else asdict(state), "running": running_now}

    def progress(parameters: Parameters) -> dict[str, Any]:
        name, state = text(parameters, "folder"), jobs.state()
        own = state if state is not None and state.id == name else None
        entry = next((each for each in folders.entries() if each.id == name), None)
        if entry is None and own is None:
            folders.entry(name)  # raises the error
        found: dict[str, Any] = {"id": name, "job": None if own is None else asdict(own), "kind": None}
        if entry is None:
            return found
        if entry.kind == "solve":
            return found | {"kind": "solve", "solve": _solve_json(_progress(known, entry.path))}
        return found | {"kind": "batch"} | _batch_json(entry, folders, known)

    def place(parameters: Parameters) -> dict[str, Any]:
        draft = draft_of(parameters)
        return _place(folders.new(draft.name), draft)

    def start(parameters: Parameters) -> dict[str, Any]:
        draft = draft_of(parameters)
        draft.job  # noqa: B018 - the property refuses an invalid job
        entry = folders.new(draft.name)
        found = _place(entry, draft)
        if found["state"] == "other":
            raise InputError(f"name: {found['message']}")
        if found["state"] != "new" and parameters.get("continue") is not True:
            return {"started": False} | found
        quick = parameters.get("quick") is True
        if quick:
            draft.job.replace(quick=QUICK)  # refuses a job that no quick solve can solve
        jobs.require_free()
        replace_text(job_file(entry.path), draft.text)
        jobs.start(entry.id, job_file(entry.path), entry.path, quick=quick)
        return {"started": True, "id": entry.id}

    def stop(parameters: Parameters) -> dict[str, Any]:
        jobs.stop(at_once=parameters.get("at_once") is True)
        return {"stopping": True}

    return [
        get("/api/jobs", listed),
        get("/api/jobs/progress", progress),
        post("/api/jobs/place", place),
        post("/api/jobs/start", start),
        post("/api/jobs/stop", stop),
    ]


def _progress(known: Stamped[Progress], folder: Path) -> Progress | None:
    """Return the progress of the solve in a folder; None while the solve begins or its folder is replaced."""
    try:
        return known.of(folder)
    except DamagedLockerError:
        raise
    except (InputError, LockerError):
        return None


def _mark(folder: Path) -> object:
    """Return a value that changes whenever a solve saves, writes its status, or ends."""
    times = []
    for name in (STATUS, LOG):
        try:
            times.append((folder / name).stat().st_mtime_ns)
        except OSError:
            times.append(0)
    return stamp(folder), times, _runs(folder)


def _runs(folder: Path) -> bool | None:
    try:
        return running(folder)
    except InputError:  # the lock or the log cannot be read
        return None


def _solve_json(progress: Progress | None) -> dict[str, Any] | None:
    if progress is None:
        return None
    status, quick = progress.status, progress.quick
    judged = status.judged
    return {
        "running": progress.running,
        "ended": status.ended,
        "finished": not progress.running and _is_finish(status.ended),
        "quick": None if quick is None else {"sweeps": quick.sweeps, "loss": quick.loss},
        "of_quick": status.quick,
        "done": status.deals,
        "saved": status.saved_deals if quick is None else quick.sweeps,
        "counted": "sweeps" if status.visits is None else "deals",
        "per_second": status.per_second,
        "seconds": status.seconds,
        "seconds_left": status.seconds_left if progress.running else None,
        "checking": status.checking,
        "saving": progress.running and status.saving,
        "value": status.value,
        "exploitability": None if judged is None else judged.exploitability,
        "measured_at": None if judged is None else judged.deals,
        "stderr": None if judged is None else judged.stderr,
        "unit": progress.unit,
        "target": progress.target,
        "curve": [list(point) for point in _thinned(progress.curve)],
    }


def _thinned(curve: Sequence[tuple[int, float, float]]) -> list[tuple[int, float, float]]:
    """Return at most `MOST_POINTS` checks: the first, the last, and fewer and fewer of the later ones."""
    if len(curve) <= MOST_POINTS:
        return list(curve)
    return [curve[at - 1] for at in np.unique(np.geomspace(1, len(curve), MOST_POINTS).round().astype(int))]


def _is_finish(ended: str | None) -> bool:
    """Whether the solve is done: it has reached the target, or a limit of the job."""
    return ended is not None and not ended.startswith((INTERRUPTED, "failed", "stopped"))


def _batch_json(entry: Entry, folders: Folders, known: Stamped[Progress]) -> dict[str, Any]:
    """Return the progress of a batch as a JSON object.

    It has the ``boards`` with their ids, the progress of their solves, and the ``problem`` of each damaged folder; and
    ``waiting``, the names of the boards whose solves have not begun.
    """
    end, boards = time.monotonic() + READ_SECONDS, []
    for name in entry.boards:
        folder = entry.path / name.rpartition("/")[2]
        read = known.knows(folder) or time.monotonic() < end
        try:
            boards.append({"id": name, "solve": _solve_json(_progress(known, folder)) if read else None})
        except DamagedLockerError as error:
            boards.append({"id": name, "solve": None, "problem": one_line(str(error), MOST_OF_PROBLEM)})
    begun = {cards_of(each.rpartition("/")[2]) for each in entry.boards}
    listed = draft_of_solve(entry, beside=folders.holds(entry)).boards
    waiting = [] if listed is None else [name for name in listed.boards if cards_of(name) not in begun]
    return {"boards": boards, "waiting": [name.replace(" ", "") for name in waiting]}


def _place(entry: Entry, draft: Draft) -> dict[str, Any]:
    """Say whether a job can start under its name.

    Returns:
        ``id`` of the solve; ``state``: "new", "same" (the folder holds a solve of this job, which would go on), "file"
        (there is only a job file of this name, which would be replaced), or "other" (the folder holds something else);
        a ``message`` for people; and ``free``, a similar name that is not in use, or None if the state is "new".
    """
    name = entry.path.name
    state, message = "new", ""
    if entry.path.exists():
        same = _is_same(entry.path, draft)
        state = "same" if same else "other"
        message = (
            f"{name} holds a solve of this job; it goes on where it stopped"
            if same
            else f"the folder {name} holds another job; choose another name"
        )
    elif job_file(entry.path).exists():
        state, message = "file", f"a job file {name}.toml exists; starting replaces it"
    free = None if state == "new" else _free_name(entry.path)
    return {"id": entry.id, "state": state, "message": message, "free": free}


def _free_name(folder: Path) -> str:
    """Return the first of ``NAME-2``, ``NAME-3``, ... that is not in use, for a folder ``NAME``."""
    for number in itertools.count(2):
        path = folder.with_name(f"{folder.name[:90]}-{number}")
        if not path.exists() and not job_file(path).exists():
            break
    return path.name


def _is_same(folder: Path, draft: Draft) -> bool:
    """Whether a folder holds solves of a draft's job, or only files that a solve leaves before its first save."""
    if not folder.is_dir():
        return False
    inside = [child for child in solves_in(folder) if holds_store(child)]
    if holds_store(folder):
        return draft.boards is None and _manifest(folder) == draft.job.manifest()
    if draft.boards is not None and inside:
        return _without_board(_manifest(inside[0])) == _without_board(draft.job.manifest())
    return all(child.name in (STATUS, LOG, LOCK) for child in folder.iterdir())


def _manifest(folder: Path) -> dict[str, Any]:
    with open_store(folder, read_only=True) as store:
        return dict(store.manifest)


def _without_board(manifest: dict[str, Any]) -> dict[str, Any]:
    job = manifest["job"]
    return manifest | {"job": job | {"spot": (job.get("spot") or {}) | {"board": None}}}
