"""A solve's folder, opened for one decision at a time: what bots and scripts ask."""

from __future__ import annotations

from pathlib import Path

from lockers import open_store
from spewy.look.folder import require_solved, stored_job
from spewy.look.play import play_folder
from spewy.records.bucket_policy import BucketPolicy
from spewy.records.chunk_policy import ChunkPolicy
from spewy.records.policy import Policy
from spewy.records.progress import saved_sweeps
from spewy.records.strategy_locker import StrategyLocker, saved_deals


def open_policy(folder: str | Path) -> Policy:
    """Open the lockers of a solve, finished, interrupted, or still running elsewhere.

    >>> with open_policy("results/T1") as policy:  # doctest: +SKIP
    ...     policy.frequencies("cr120c/", "Qs Jh 2h 8c 3d", "AsKs")

    Raises:
        lockers.LockerError: nothing is there, or it is damaged.
        NotSolvedError: nothing was saved yet.
        InputError: the lockers were made by something else.
    """
    store = open_store(play_folder(folder), read_only=True)
    try:
        job = stored_job(store, folder)
        require_solved(saved_deals(store) if job.sampled else saved_sweeps(store), folder)
        if job.sampled:
            return BucketPolicy.of(job.problem, StrategyLocker(store))
        return ChunkPolicy(job.problem, store)
    except BaseException:
        store.close()
        raise
