"""What a folder of lockers was made for."""

from __future__ import annotations

from pathlib import Path

from lockers import Store
from spewy.errors import InputError
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


def walked_job(store: Store, folder: str | Path) -> Job:
    """The job that a folder's lockers were made for, all of whose boards were walked through.

    Raises:
        InputError: as `stored_job`, or its boards have classes.
    """
    job = stored_job(store, folder)
    job.require_walked(f"folder {folder}")
    return job
