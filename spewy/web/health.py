"""Tells in plain words why the solve in a folder cannot be opened."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from lockers import DATA, DamagedLockerError, LockerError, open_store
from spewy.errors import one_line
from spewy.look.folder import strategy_folder
from spewy.records.progress import saved_sweeps
from spewy.records.strategy_locker import FOLDER
from spewy.records.strategy_progress import saved_deals
from spewy.web.readers import Stamp, stamp

REMEDY = "restore the folder from a copy, or solve its job again"
DAMAGED = f"a file of the solve is damaged; {REMEDY}"
NO_MANIFEST = f"the file manifest.json is missing; {REMEDY}"
UNSAVED = "nothing is saved yet; wait until the solve saves, or continue it on the Solve page"
FOREIGN = "it holds lockers, but no solve"
MOST_REMEMBERED = 4096
"""Largest number of folders whose health is remembered."""


@dataclass(frozen=True)
class Health:
    """Whether the solve in a folder can be opened.

    Attributes:
        problem: why it cannot be opened; None if it can.
        is_game: whether it is a whole game rather than a spot; None if the problem hides it.
        board_buckets: whether it is a whole game with board buckets.
    """

    problem: str | None
    is_game: bool | None = None
    board_buckets: bool = False


class Healths:
    """Examines the folders of solves, and remembers the result until a solve changes."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Path, Stamp], Health] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, folder: Path) -> Health:
        """Return the health of the solve in a folder."""
        try:
            key = folder, stamp(folder)
        except (OSError, LockerError) as error:
            return _refused(error)
        with self._lock:
            known = self._known.get(key)
        if known is None:
            known = _examined(folder)
            with self._lock:
                self._known[key] = known
                while len(self._known) > MOST_REMEMBERED:
                    self._known.popitem(last=False)
        return known


def lacks_manifest(folder: Path) -> bool:
    """Whether a folder has the data file of a solve, but no manifest, so that it is not listed as a solve."""
    return (folder / DATA).exists() or (folder / FOLDER / DATA).exists()


def _examined(folder: Path) -> Health:
    try:
        with open_store(strategy_folder(folder), read_only=True) as store:
            job = store.manifest.get("job")
            if not isinstance(job, dict):
                return Health(FOREIGN)
            sampled = job.get("boards") is not None
            saved = saved_deals(store) if sampled else saved_sweeps(store)
            return Health(None if saved else UNSAVED, job.get("spot") is None, sampled)
    except DamagedLockerError:
        return Health(DAMAGED)
    except (LockerError, OSError) as error:
        return _refused(error)


def _refused(error: Exception) -> Health:
    return Health(one_line(str(error), 300))
