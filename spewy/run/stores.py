"""The stores of a solve (lockers, and for a job that samples boards a strategy locker), and when they are saved.

A killed solve loses little work, and saving takes a small share of the time (`Saving`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

from lockers import MemoryStore, Store, open_store
from spewy.errors import size_text
from spewy.job.job import Job
from spewy.learn.engine import Engine, Saves
from spewy.records.strategy_locker import FOLDER
from spewy.system.tools import Closing

SAVE_SECONDS, BACKGROUND_SECONDS = 30.0, 300.0
"""Default seconds between two saves, for engines that wait for a save and for engines that save in the background."""
FIRST_SECONDS = 30.0
"""Seconds before the first background save, so that a kill soon after the start loses little."""
LARGE = 256 * 2**20
"""Size in bytes from which a save, or the memory of a solve, takes seconds, so that the user is told of the work."""
SAVE_SPEED = 150e6  # assumed bytes per second of the first save
SAVE_SHARE = 20.0  # the work between two saves takes at least this many times as long as a save
FIRST_SHARE = 4.0  # the work before the first save takes this many times as long as the save should take


class Stores(Closing):
    """The store of a solve, in its folder or in memory, which stays open.

    Args:
        folder: folder of the solve; None: the store is in memory.

    Raises:
        lockers.ManifestMismatchError: the folder holds another job.
        lockers.DamagedLockerError: the folder's lockers are damaged.
    """

    def __init__(self, job: Job, folder: Path | None) -> None:
        self.folder, self._manifest = folder, job.manifest()
        self._opened = ExitStack()
        if folder is None:
            self._store: Store | None = self._opened.enter_context(MemoryStore(self._manifest))
            return
        self._store = open_store(folder, self._manifest)
        try:
            self._store.require_sound()
        except BaseException:
            self._store.close()
            raise
        self._opened.enter_context(self._store)

    @property
    def store(self) -> Store:
        """Lockers of regrets and strategies."""
        assert self._store is not None
        return self._store

    @property
    def strategies(self) -> Store:
        """Store of the average strategies."""
        return self.store

    def use(self) -> AbstractContextManager[Store]:
        """Return a context manager that opens the lockers of regrets and strategies for writing."""
        return nullcontext(self.store)

    def read(self) -> AbstractContextManager[Store]:
        """Return a context manager that opens the lockers of regrets and strategies for reading."""
        return nullcontext(self.store)

    def let_go(self) -> None:
        """Release the memory of the pages of a store that is kept open."""
        if self._store is not None:
            self._store.let_go()

    def close(self) -> None:
        self._opened.close()


class StoresOfDeals(Stores):
    """The stores of a solve with board buckets: of regrets and sums, and the strategy locker.

    In a folder they are opened for each use, since pages that were read or written count as memory of the process until
    a store is closed.
    """

    def __init__(self, job: Job, folder: Path | None) -> None:
        super().__init__(job, folder)
        self._strategies: Store | None = None
        if folder is None:
            self._strategies = MemoryStore(self._manifest)
        else:
            self._opened.close()
            self._store = None

    @property
    def store(self) -> Store:
        """Lockers of regrets and sums; if they lie in a folder, they are opened read-only."""
        if self._store is None:
            assert self.folder is not None
            self._store = self._opened.enter_context(open_store(self.folder, read_only=True))
        return self._store

    @property
    def strategies(self) -> Store:
        """The strategy locker; if it lies in a folder, it is opened read-only."""
        if self._strategies is None:
            assert self.folder is not None
            self._strategies = self._opened.enter_context(open_store(self.folder / FOLDER, read_only=True))
        return self._strategies

    def use(self) -> AbstractContextManager[Store]:
        return nullcontext(self.store) if self.folder is None else open_store(self.folder)

    def read(self) -> AbstractContextManager[Store]:
        return nullcontext(self.store) if self.folder is None else open_store(self.folder, read_only=True)

    def play(self, *, make: bool = False) -> AbstractContextManager[Store]:
        """Return a context manager that opens the strategy locker for writing; with ``make``, create it."""
        if self.folder is None:
            return nullcontext(self.strategies)
        return open_store(self.folder / FOLDER, self._manifest if make else None)


class Saving:
    """Decides when an engine saves, and begins the saves; the first save of a solve comes early.

    This class is for engines that save each visit at once. `SavingChecked` and `SavingInBackground` are for the others;
    `Saving.of` chooses the class for an engine.

    Args:
        every: seconds between two saves; None: the default, which is longer if saves take long; infinity: the engine
            saves at the end only.
        expected_bytes: expected size of a save in bytes.
        note: called with a text before a large save for which the solve waits; None: large saves are not announced.

    Attributes:
        saved: number of sweeps or deals in the last save.
        only_checked: whether the engine saves only strategies that a check has measured.
    """

    only_checked = False

    def __init__(
        self, engine: Engine, every: float | None, expected_bytes: int, note: Callable[[str], None] | None
    ) -> None:
        self._engine, self._every, self._bytes, self._note = engine, every, expected_bytes, note
        self._expected = expected_bytes / SAVE_SPEED
        self._since = time.perf_counter()
        self.saved = engine.saved()

    @staticmethod
    def of(
        engine: Engine,
        every: float | None,
        expected_bytes: int,
        note: Callable[[str], None] | None = None,
    ) -> Saving:
        policies: dict[Saves, type[Saving]] = {
            "checked": SavingChecked,
            "at once": Saving,
            "in background": SavingInBackground,
        }
        return policies[engine.saves](engine, every, expected_bytes, note)

    def worked(self, seconds: float) -> bool:
        """Called after each call of the engine's `run`: save if it is time; return whether a save has finished."""
        return self._save_if_due(seconds)

    def measured(self, seconds: float) -> bool:
        """Called after a check if the solve goes on: may save; return whether a save has finished."""
        return False

    def begin(self, seconds: float) -> None:
        """Save now, in the background if the engine can; ``seconds`` is the working time of all runs so far."""
        self._announce()
        self._engine.save(seconds, wait=False)
        self._since = time.perf_counter()

    def finish(self, seconds: float, dropping: int | None = None) -> None:
        """Save all work, except rounds from ``dropping`` on, and wait for the end of the save."""
        self._announce()
        self._engine.save(seconds, dropping)
        self.saved = self._engine.saved()

    def _save_if_due(self, seconds: float) -> bool:
        """Save, or begin a background save, if the last save is old enough; return whether a save has finished."""
        before, self.saved = self.saved, self._engine.saved()
        if time.perf_counter() - self._since >= self._pause():
            self.begin(seconds)
            self.saved = self._engine.saved()
        return self.saved != before

    def _announce(self) -> None:
        if self._note is not None and self._bytes >= LARGE and self._engine.saved() != self._engine.done:
            self._note(
                f"saving {size_text(self._bytes)} after {self._engine.counted.removesuffix('s')} {self._engine.done:,}"
            )

    def _pause(self) -> float:
        """Return the seconds from the last save to the next; the first save of a solve comes after less time."""
        took = self._expected if self._engine.save_took is None else self._engine.save_took
        usual, first = self._pauses(took)
        pause = usual if self._every is None else self._every
        return pause if self.saved or pause == math.inf else min(pause, first)

    def _pauses(self, took: float) -> tuple[float, float]:
        """Return the default seconds between two saves, and the most before the first, if a save takes ``took`` s."""
        return max(SAVE_SECONDS, SAVE_SHARE * took), FIRST_SHARE * took


class SavingChecked(Saving):
    """Saves after checks only, so that what is saved is known to be finite."""

    only_checked = True

    def worked(self, seconds: float) -> bool:
        return False

    def measured(self, seconds: float) -> bool:
        return self._save_if_due(seconds)


class SavingInBackground(Saving):
    """Saves in a second thread while the solve goes on."""

    def begin(self, seconds: float) -> None:
        self._engine.save(seconds, wait=False)
        self._since = time.perf_counter()

    def _pauses(self, took: float) -> tuple[float, float]:
        return max(BACKGROUND_SECONDS, SAVE_SHARE * took), FIRST_SECONDS
