"""Open the folder of a solve: find its strategies, and read its job."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from lockers import DATA, LockerError, Store, holds_store, open_store
from spewy.errors import InputError, NotSolvedError, nearest, path_text
from spewy.job.job import Job
from spewy.records.bucket_policy import BucketPolicy
from spewy.records.chunk_policy import ChunkPolicy
from spewy.records.policy import Policy
from spewy.records.progress import read_trace, saved_sweeps
from spewy.records.strategy_locker import FOLDER, StrategyLocker
from spewy.records.strategy_progress import read_saved, saved_deals
from spewy.run.folder_state import STAGES
from spewy.system.textfile import as_path

RESULTS = "results"
"""Folder that has the solves of ``spewy solve`` without ``--out``."""
MOST_NAMED = 5
"""Largest number of solves that an error message lists."""


def open_policy(folder: str | Path) -> Policy:
    """Open the strategies of a solve, which may be finished, interrupted, or still running in another process.

    >>> with open_policy("results/T1") as policy:  # doctest: +SKIP
    ...     policy.frequencies("cr120c/", "Qs Jh 2h 8c 3d", "AsKs")

    Args:
        folder: folder of the solve, or a copy of its strategy locker.

    Raises:
        lockers.LockerError: the folder holds no lockers, or damaged ones.
        NotSolvedError: nothing was saved yet.
        InputError: the lockers are not those of a solve.
    """
    store = open_strategies(folder)
    try:
        job = stored_job(store, folder)
        require_solved(saved_deals(store) if job.sampled else saved_sweeps(store), folder)
        return stored_policy(job, store)
    except BaseException:
        store.close()
        raise


def solve_identity(folder: str | Path) -> dict[str, Any]:
    """Return the values that identify the saved strategies of a solve, as JSON values by name.

    The values are a hash of the manifest (the game, the betting tree, the rows), the number of sweeps or deals, and
    what differs if the same job is solved anew: seconds and exploitability of the first check, or the time of the last
    save. They do not depend on the folder's place, nor on what only reads the folder.

    Raises:
        lockers.LockerError: the folder holds no lockers, or damaged ones.
        NotSolvedError: nothing was saved yet.
        InputError: the lockers are not those of a solve.
    """
    with closing(open_strategies(folder)) as store:
        sampled = stored_job(store, folder).sampled
        require_solved(saved_deals(store) if sampled else saved_sweeps(store), folder)
        content = json.dumps(dict(store.manifest), sort_keys=True).encode()
        manifest = hashlib.sha256(content).hexdigest()[:16]
        if sampled:
            saved = read_saved(store)
            return {"manifest": manifest, "saved_deals": saved.deals, "saved_at": saved.saved_at}
        first = next(([seconds, amount] for _, seconds, amount in read_trace(store)), None)
        return {"manifest": manifest, "saved_sweeps": saved_sweeps(store), "first_check": first}


def open_strategies(folder: str | Path) -> Store:
    """Open, for reading only, the store that holds a solve's strategies.

    Raises:
        lockers.LockerError: the folder holds no lockers (the message names solves near it), or damaged ones.
    """
    require_solve(folder)
    return open_store(strategy_folder(folder), read_only=True)


def require_solve(folder: str | Path) -> None:
    """Check that a folder exists and holds the lockers of a solve.

    Raises:
        lockers.LockerError: the folder is missing, or holds no lockers; the message names solves near it.
    """
    path = as_path(folder, "folder")
    store = strategy_folder(path)
    if not (holds_store(store) or (store / DATA).exists() or path.is_file()):
        raise LockerError(_no_solve(path))


def stored_policy(job: Job, store: Store) -> Policy:
    """Open the strategies in a store.

    Args:
        job: job that the store was made for.
        store: lockers of the solve; for a whole game with board buckets its strategy locker.

    Raises:
        InputError: the store is a strategy locker in which nothing was saved yet.
    """
    if job.sampled:
        return BucketPolicy.of(job.problem, StrategyLocker(store))
    return ChunkPolicy(job.problem, store)


def stored_job(store: Store, folder: str | Path) -> Job:
    """Read the job that the lockers of a folder were made for.

    Raises:
        InputError: the lockers are not those of a solve.
    """
    data = store.manifest.get("job")
    if not isinstance(data, dict):
        raise InputError(f"folder {folder}: expected the lockers of a solve, found a manifest without a job")
    return Job.stored(data, f"folder {folder}")


def require_solved(saved: int, folder: str | Path) -> None:
    """Check that a folder holds saved strategies.

    Args:
        saved: number of saved sweeps or deals.
        folder: folder of the solve, for the error.

    Raises:
        NotSolvedError: ``saved`` is 0.
    """
    if saved:
        return
    if (Path(folder) / STAGES).is_dir():
        raise NotSolvedError(
            f"folder {path_text(folder)}: its solve is still in a stage with fewer buckets (solve.coarse_to_fine), and "
            "saves its first strategy in the last stage; go on with `spewy solve`, or wait for it (`spewy status`)"
        )
    raise NotSolvedError(
        f"folder {path_text(folder)}: not solved yet, it holds no saved strategy; "
        "solve its job with `spewy solve`, or wait until the running solve saves for the first time"
    )


def strategy_folder(folder: str | Path) -> Path:
    """Return the folder with a solve's strategies: its strategy locker if it has one, else ``folder`` itself."""
    path = as_path(folder, "folder")
    return path / FOLDER if holds_store(path / FOLDER) else path


def solves_in(folder: Path) -> list[Path]:
    """List the folders of solves in a folder, sorted by name; none if ``folder`` is no folder.

    Hidden folders are left out, since a killed batch may leave an old solve in one (`spewy.batch.remote`).

    Raises:
        lockers.LockerError: a folder cannot be read.
    """
    children = sorted(folder.iterdir()) if folder.is_dir() else ()
    return [
        child for child in children if not child.name.startswith(".") and holds_store(strategy_folder(child))
    ]


def has_board_buckets(folder: str | Path) -> bool:
    """Whether a folder is that of a whole game with board buckets, or a copy of its strategy locker.

    Raises:
        lockers.LockerError: the lockers are damaged, or cannot be read.
    """
    path = strategy_folder(folder)
    if not holds_store(path):
        return False
    with open_store(path, read_only=True) as store:
        job = store.manifest.get("job")
    return isinstance(job, dict) and job.get("boards") is not None


def _no_solve(path: Path) -> str:
    """Return the error message for a folder that holds no solve; it names solves that the user may have meant."""
    subject = f"folder {path_text(path)}"
    inside = _readable_solves(path)
    if inside:
        return f"{subject} has the solves of a batch in it; give one of these folders, such as {path_text(inside[0])}"
    what = "holds no solve" if path.is_dir() else "does not exist"
    solves = dict.fromkeys(
        solve
        for parent in (path.parent, path.parent / RESULTS, Path(RESULTS))
        for solve in _readable_solves(parent)
    )
    by_name = {solve.name: path_text(solve) for solve in solves}
    if path.name in by_name:
        return f"{subject} {what} (nearest: {by_name[path.name]})"
    hint = nearest(path_text(path), by_name.values())
    if not hint and by_name:
        names = list(by_name.values())[:MOST_NAMED]
        hint = f"; solves are in {', '.join(names)}"
    return f"{subject} {what}{hint}"


def _readable_solves(folder: Path) -> list[Path]:
    """List the folders of solves in a folder, sorted by name; none if the folder cannot be read."""
    try:
        return solves_in(folder)
    except (OSError, LockerError):
        return []
