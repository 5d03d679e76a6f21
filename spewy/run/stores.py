"""The stores of a solve: the lockers from which it continues, and for a job that samples boards a strategy locker."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from lockers import MemoryStore, Store, open_store
from spewy.job.job import Job
from spewy.records.strategy_locker import FOLDER
from spewy.system.tools import Closing

if TYPE_CHECKING:
    from spewy.learn.background_saves import Opener


class Stores(Closing):
    """The stores of a solve, in its folder or in memory.

    A solve with board buckets opens the stores in its folder for each use, since pages that were read or written count
    as memory of the process until a store is closed. Every other solve keeps its store open.

    Args:
        job: the job that is solved.
        folder: folder of the solve; None: the stores are in memory.

    Raises:
        lockers.ManifestMismatchError: the folder holds another job.
        lockers.DamagedLockerError: the folder's lockers are damaged.
    """

    def __init__(self, job: Job, folder: Path | None) -> None:
        self._folder, self._sampled = folder, job.sampled
        self._manifest = manifest = job.manifest()
        self._opened = ExitStack()
        self._store: Store | None = None
        self._strategies: Store | None = None
        if folder is None:
            self._store = MemoryStore(manifest)
            self._strategies = MemoryStore(manifest) if job.sampled else self._store
            return
        store = open_store(folder, manifest)
        try:
            store.require_sound()
        except BaseException:
            store.close()
            raise
        if job.sampled:
            store.close()
        else:
            self._store = self._strategies = self._opened.enter_context(store)

    @property
    def store(self) -> Store:
        """Lockers of regrets and strategies; with board buckets they are open for reading only, unless in memory."""
        if self._store is None:
            assert self._folder is not None
            self._store = self._opened.enter_context(open_store(self._folder, read_only=True))
        return self._store

    @property
    def strategies(self) -> Store:
        """Read-only store of the average strategies: the strategy locker, or `store` itself."""
        if self._strategies is None:
            assert self._folder is not None
            self._strategies = self._opened.enter_context(open_store(self._folder / FOLDER, read_only=True))
        return self._strategies

    def use(self) -> AbstractContextManager[Store]:
        """Return a context manager that opens the lockers of regrets and strategies for writing."""
        if self._folder is None or not self._sampled:
            return nullcontext(self.store)
        return open_store(self._folder)

    def read(self) -> AbstractContextManager[Store]:
        """Return a context manager that opens the lockers of regrets and strategies for reading."""
        if self._folder is None or not self._sampled:
            return nullcontext(self.store)
        return open_store(self._folder, read_only=True)

    def let_go(self) -> None:
        """Release the memory of the pages of a store that is kept open."""
        if self._store is not None:
            self._store.let_go()

    def play_or_new(self) -> AbstractContextManager[Store]:
        """Return a context manager that opens the strategy locker for writing, and creates it if it is missing.

        Raises:
            lockers.ManifestMismatchError: the strategy locker belongs to another job.
        """
        if self._folder is None:
            return self.play()
        return open_store(self._folder / FOLDER, self._manifest)

    @property
    def play(self) -> Opener:
        """Function that returns a context manager which opens the strategy locker for writing."""
        folder, strategies = self._folder, self._strategies
        if folder is None:
            assert strategies is not None
            return lambda: nullcontext(strategies)
        return lambda: open_store(folder / FOLDER)

    def close(self) -> None:
        """Close all open stores."""
        self._opened.close()
        if self._folder is None and self._store is not None:
            self._store.close()
