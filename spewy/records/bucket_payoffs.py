"""The payoff locker of a whole game whose boards have classes: what chunks are worth, row against row.

It is a folder of its own beside the play locker. Under ``ROUND.CLASS`` lie the payoff matrices of all chunks of a class
of boards, ``[line, row of player 0, row of player 1]`` in net chips of player 0, lines in the order in which they enter
the round. They belong to the strategies that they were made under, which a *mark* tells from all others: as soon as
others are asked for, they are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lockers import DamagedLockerError, Store, Transaction, open_store
from solvers.tree import Floats
from spewy.errors import InputError
from spewy.records.finite import require_finite
from spewy.records.keys import MARK_KEY, META, PAYOFF
from spewy.records.sound import sound_store
from spewy.system.closing import Closing
from spewy.system.folder_lock import FolderLock

FOLDER = "payoffs"
"""Within a solve's folder."""


class BucketPayoffs(Closing):
    """Payoff matrices by class.

    Args:
        store: the store of the matrices; `close` closes it.
        lock: lock of the store's folder, which `close` releases; None if the store is only read.
    """

    def __init__(self, store: Store, lock: FolderLock | None = None) -> None:
        self._store, self._lock = store, lock

    @classmethod
    def within(cls, folder: Path, manifest: Mapping[str, Any], command: str) -> BucketPayoffs:
        """Open a folder's matrices for writing, and make the store if there is none.

        Args:
            folder: folder of a solve.
            manifest: manifest of the play locker.
            command: name of the command that writes; other commands name it in their errors.

        Raises:
            InputError: another process writes to the folder, or the folder may not be written.
            lockers.LockerError: what is there is another job's, or damaged.
        """
        lock = FolderLock(folder / FOLDER, command)
        try:
            return cls(sound_store(folder / FOLDER, manifest), lock)
        except BaseException:
            lock.close()
            raise

    @classmethod
    def open(cls, folder: Path) -> BucketPayoffs:
        """Those in a folder, to be read.

        Raises:
            lockers.LockerError: nothing is there, or it is damaged.
        """
        return cls(open_store(folder / FOLDER, read_only=True))

    @property
    def mark(self) -> str | None:
        """Of the strategies that the matrices were made under; None: there are none."""
        found = self._store.get(META, MARK_KEY)
        return None if found is None else found.tobytes().decode()

    def begin(self, mark: str) -> None:
        """Keep matrices under these strategies from now on; drop those that were made under others."""
        if self.mark == mark:
            return
        stale = list(self._store.keys(PAYOFF))

        def write(txn: Transaction) -> None:
            for key in stale:
                txn.delete(PAYOFF, key)
            txn.put(META, MARK_KEY, np.frombuffer(mark.encode(), dtype=np.uint8))

        self._store.transact(write)

    def done(self, t: int) -> set[int]:
        """The classes of a round that have matrices."""
        start = f"{t}.".encode()
        return {int(key.removeprefix(start)) for key in self._store.keys(PAYOFF, start)}

    def put(self, t: int, class_: int, matrices: Floats) -> None:
        """Keep the matrices ``[line, row, row]`` of a class.

        Raises:
            SolveError: a number is not finite.
        """
        key = _key(t, class_)
        require_finite(f"payoff matrices of class {class_} of round {t}", matrices)
        self._store.transact(lambda txn: txn.put(PAYOFF, key, matrices.astype(np.float32)))

    def get(self, t: int, class_: int, shape: tuple[int, int, int]) -> Floats:
        """The matrices ``[line, row, row]`` of a class.

        Args:
            t: its round.
            class_: its number.
            shape: that they have.

        Raises:
            InputError: there are none.
            lockers.DamagedLockerError: they are not what was written.
        """
        key = _key(t, class_)
        found = self._store.get(PAYOFF, key)
        if found is None:
            raise InputError(
                f"round {t}, class {class_}: expected payoff matrices that are stored, found none"
            )
        if found.shape != shape or found.dtype != np.float32:
            raise DamagedLockerError(
                f"locker {PAYOFF!r}, key {key.decode()}: expected float32 of shape {shape}, "
                f"found {found.dtype} of shape {found.shape}"
            )
        return found

    def close(self) -> None:
        """Close the store, when all is on the disk."""
        if not self._store.read_only:
            self._store.flush()
        self._store.close()
        if self._lock is not None:
            self._lock.close()


def _key(t: int, class_: int) -> bytes:
    return f"{t}.{class_}".encode()
