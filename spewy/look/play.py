"""The play locker of a whole game, opened for one decision at a time, in its solve's folder or copied alone."""

from __future__ import annotations

from pathlib import Path

from lockers import holds_store, open_store
from spewy.look.folder import require_solved, stored_job
from spewy.records.bucket_policy import BucketPolicy
from spewy.records.strategy_locker import FOLDER, StrategyLocker, saved_deals
from spewy.system.textfile import as_path


def holds_play(folder: str | Path) -> bool:
    """Whether a folder is of a game with classes of boards: its solve's, or a copy of its play locker.

    Raises:
        lockers.LockerError: what is there is damaged, or may not be read.
    """
    path = play_folder(folder)
    if not holds_store(path):
        return False
    with open_store(path, read_only=True) as store:
        job = store.manifest.get("job")
    return isinstance(job, dict) and job.get("boards") is not None


def open_play(folder: str | Path) -> BucketPolicy:
    """Open the play locker of a solve, finished, interrupted, or still running elsewhere.

    Raises:
        lockers.LockerError: nothing is there, or it is damaged.
        NotSolvedError: nothing was saved yet.
        InputError: the lockers were made by something else.
    """
    store = open_store(play_folder(folder), read_only=True)
    try:
        job = stored_job(store, folder)
        require_solved(saved_deals(store), folder)
        return BucketPolicy.of(job.problem, StrategyLocker(store))
    except BaseException:
        store.close()
        raise


def play_folder(folder: str | Path) -> Path:
    """Where a folder's play locker is: in it, or the folder itself."""
    path = as_path(folder, "folder")
    return path / FOLDER if holds_store(path / FOLDER) else path


def payoffs_home(folder: str | Path) -> Path:
    """The folder that has the payoff matrices, if there are any: where the play locker lies, or a copy of it."""
    play = play_folder(folder)
    return play.parent if play.name == FOLDER else as_path(folder, "folder")
