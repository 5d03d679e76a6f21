"""Drop what only going on needs of a whole game whose boards are dealt: regrets and sums, most of its folder.

Bots, `show`, `exploit` and `status` ask the play locker and the status, which stay as they are.
"""

from __future__ import annotations

from pathlib import Path

from lockers import Store, holds_store
from spewy.errors import InputError, path_text
from spewy.job.job import Job
from spewy.records.bucket_numbers import drop_numbers
from spewy.records.progress import saved_sweeps
from spewy.records.status import STOP
from spewy.records.strategy_locker import FOLDER, StrategyLocker
from spewy.run.log import LogFile

DROPPED = ("regrets", "sums")


def drop_regrets(job: Job, folder: Path, store: Store) -> tuple[str, ...]:
    """Drop regrets and sums of a solve, and give the disk its room back; return the names of what was dropped.

    Args:
        job: the job that the store was made for.
        folder: folder of the solve; this process holds the folder's lock.
        store: the solve's lockers, which no other process may have open.

    Raises:
        InputError: the job does not deal boards, or the play locker lacks some deals.
        lockers.LockerError: another process has the store open, or what is there is damaged.
    """
    if not job.sampled:
        raise InputError("--regrets: expected a whole game with [boards], found another solve")
    with LogFile(folder) as log:
        store.require_alone()
        store.require_sound()
        _require_play(folder, saved_sweeps(store))
        drop_numbers(store)
        store.compact()
        log.write(STOP, "regrets and sums dropped")
    return DROPPED


def _require_play(folder: Path, deals: int) -> None:
    """Refuse to drop what is not in the play locker too."""
    there = 0
    if holds_store(folder / FOLDER):
        with StrategyLocker.open(folder / FOLDER) as play:
            there = play.saved.deals
    if not deals or there != deals:
        raise InputError(
            f"folder {path_text(folder)}: expected a play locker with the strategies of all deals, "
            f"found {there:,} of {deals:,} deals in it; spewy solve goes on and saves the rest"
        )
