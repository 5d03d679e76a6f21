"""What a folder of lockers was made for."""

from __future__ import annotations

from pathlib import Path

from lockers import Store
from spewy.errors import InputError, NotSolvedError, path_text
from spewy.job.job import Job


def stored_job(store: Store, folder: str | Path) -> Job:
    """The job that a folder's lockers were made for.

    Raises:
        InputError: they were made by something else.
    """
    data = store.manifest.get("job")
    if not isinstance(data, dict):
        raise InputError(f"folder {folder}: expected the lockers of a solve, found a manifest without a job")
    return Job.stored(data, f"folder {folder}")


def require_solved(sweeps: int, folder: str | Path) -> None:
    """Refuse a folder that holds no finished sweep or deal, whose strategy would be uniform and no result of a solve.

    Args:
        sweeps: sweeps or deals that the folder holds.
        folder: folder of the solve.

    Raises:
        NotSolvedError: ``sweeps`` is 0.
    """
    if not sweeps:
        raise NotSolvedError(
            f"folder {path_text(folder)}: not solved yet, it holds no saved strategy; "
            "solve its job with `spewy solve`, or wait for the first save of the solve that runs there"
        )


def walked_job(store: Store, folder: str | Path) -> Job:
    """The job that a folder's lockers were made for, all of whose boards were walked through.

    Raises:
        InputError: as `stored_job`, or its boards have classes.
    """
    job = stored_job(store, folder)
    job.require_walked(f"folder {folder}")
    return job
