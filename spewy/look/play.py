"""The play locker of a whole game, opened for one decision at a time, in its solve's folder or copied alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lockers import Store, holds_store, open_store
from spewy.game.gamefile import Game
from spewy.job.job import Job
from spewy.look.stored import stored_job
from spewy.records.averages import FOLDER, Averages
from spewy.records.class_policy import BoardClasses, ClassPolicy
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
    return isinstance(job, dict) and "boards" in job


def open_play(folder: str | Path) -> ClassPolicy:
    """Open the play locker of a solve, finished, interrupted, or still running elsewhere.

    Raises:
        lockers.LockerError: nothing is there, or it is damaged.
        InputError: the lockers were made by something else, or nothing was saved yet.
    """
    store = open_store(play_folder(folder), read_only=True)
    try:
        return class_policy(stored_job(store, folder), store)
    except BaseException:
        store.close()
        raise


def class_policy(job: Job, store: Store) -> ClassPolicy:
    """The policy of a job with classes of boards.

    Raises:
        InputError: nothing was saved yet.
    """
    averages = Averages(store)
    averages.saved  # noqa: B018 - which refuses a locker with nothing in it
    return ClassPolicy(job.problem, averages, board_classes(job.rules, averages.arrays()))


def board_classes(game: Game, arrays: Mapping[str, np.ndarray]) -> BoardClasses:
    """The classes of a game's boards and the rows of hands there, as a play locker keeps them."""
    from buckets.abstraction import Abstraction

    found: BoardClasses = Abstraction(game.deck, game.num_hole_cards, game.num_board_cards, dict(arrays))
    return found


def play_folder(folder: str | Path) -> Path:
    """Where a folder's play locker is: in it, or the folder itself."""
    path = as_path(folder, "folder")
    return path / FOLDER if holds_store(path / FOLDER) else path
