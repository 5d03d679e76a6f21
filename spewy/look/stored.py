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
