"""A cache of arrays that are computed from strategies, in a folder of its own.

The arrays are valid until the strategies change. A *mark*, such as a hash, identifies the strategies. Every key begins
with the mark, so two processes that work with different strategies never mix their arrays. Setting a mark deletes all
arrays of other strategies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from lockers import (
    DamagedLockerError,
    ManifestMismatchError,
    MemoryStore,
    Store,
    Transaction,
    discard_store,
    open_store,
)
from lockers.codec import Array
from spewy.records.keys import MARK_KEY, META
from spewy.system.folders import FolderLock
from spewy.system.tools import Closing


class MarkedStore(Closing):
    """A cache of named arrays that are computed from strategies; a hash (the *mark*) identifies the strategies.

    Args:
        store: the store; `close` closes it.
        locker: name of the locker that holds the arrays.
        lock: lock of the store's folder, which `close` releases; None for no lock.
    """

    def __init__(self, store: Store, locker: str, lock: FolderLock | None = None) -> None:
        self._store, self._locker, self._lock = store, locker, lock
        mark = store.get(META, MARK_KEY)
        self.mark = None if mark is None else mark.tobytes().decode()

    @classmethod
    def within(
        cls, folder: Path, locker: str, manifest: Mapping[str, Any], command: str | None = None
    ) -> Self:
        """Open the cache in a folder for writing; create it if it is missing, damaged, or of another job.

        Args:
            folder: folder that holds nothing but the cache.
            locker: name of the locker that holds the arrays.
            manifest: manifest of the store with the strategies.
            command: name of the command for which to lock the folder. None locks nothing, and makes a cache in memory
                if the folder cannot be written.

        Raises:
            InputError: another process has locked the folder, or the folder cannot be written.
            lockers.LockerError: the folder holds other files, or cannot be written.
        """
        if command is None and not os.access(folder if folder.exists() else folder.parent, os.W_OK):
            return cls(MemoryStore(manifest), locker)
        lock = None if command is None else FolderLock(folder, command)
        try:
            try:
                return cls._opened(folder, locker, manifest, lock)
            except (DamagedLockerError, ManifestMismatchError):
                discard_store(folder)  # its arrays can be computed again
                return cls._opened(folder, locker, manifest, lock)
        except BaseException:
            if lock is not None:
                lock.close()
            raise

    @classmethod
    def _opened(cls, folder: Path, locker: str, manifest: Mapping[str, Any], lock: FolderLock | None) -> Self:
        store = open_store(folder, manifest)
        try:
            store.require_sound()
            return cls(store, locker, lock)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(cls, folder: Path, locker: str) -> Self:
        """Open the cache in a folder for reading.

        Raises:
            lockers.LockerError: the folder holds no lockers, or damaged ones.
        """
        return cls(open_store(folder, read_only=True), locker)

    def begin(self, mark: str) -> None:
        """Set the mark that identifies the strategies, and delete the arrays of other strategies."""
        self.mark = mark
        stale = [key for key in self._store.keys(self._locker) if not key.startswith(self._key(""))]
        if not stale and self._store.get(META, MARK_KEY) is not None:
            return

        def write(txn: Transaction) -> None:
            for key in stale:
                txn.delete(self._locker, key)
            txn.put(META, MARK_KEY, np.frombuffer(mark.encode(), dtype=np.uint8))

        self._store.transact(write)

    def names(self, start: str = "") -> list[str]:
        """Return the names of all cached arrays whose name begins with ``start``."""
        first = self._key("")
        keys = self._store.keys(self._locker, self._key(start))
        return [key.removeprefix(first).decode() for key in keys]

    def get_many(self, names: list[str]) -> list[Array | None]:
        """Return the arrays with the given names; None for a missing array."""
        return self._store.get_many(self._locker, [self._key(name) for name in names])

    def sound_array(self, name: str) -> Array | None:
        """Return the array with a name; None if it is missing or damaged."""
        try:
            return self.get_many([name])[0]
        except DamagedLockerError:
            return None

    def put(self, name: str, array: Array) -> None:
        """Store an array under a name, in place of an earlier one."""
        key = self._key(name)
        self._store.transact(lambda txn: txn.put(self._locker, key, array))

    def close(self) -> None:
        """Write all arrays to the disk, and close the store."""
        try:
            if not self._store.read_only:
                self._store.flush()
        finally:
            self._store.close()
            if self._lock is not None:
                self._lock.close()

    def _key(self, name: str) -> bytes:
        return f"{self.mark}|{name}".encode()
