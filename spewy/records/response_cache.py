"""What best responses found on the first boards of a whole game, kept so that judging can be interrupted.

It is a folder of its own beside the play locker, for findings on the strategies that were judged last. A *mark* tells
these from all others; what was found on others is dropped as soon as new ones are judged.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lockers import DamagedLockerError, MemoryStore, Store, Transaction
from solvers.tree import Floats
from spewy.records.keys import JUDGED
from spewy.records.sound import sound_store
from spewy.system.closing import Closing

FOLDER = "judged"
"""Within the folder that is judged."""


@dataclass(frozen=True)
class FlopFinding:
    """What was found on one first board.

    Attributes:
        best: ``[player, line, kind]``: counterfactual values of best responses where lines enter the board, in chips
            times the opponent's hands, the mean over the hands of a kind, with 0 for those that the board hits.
        own: of player 0 if both follow their averages, summed over lines and hands; folds before the board left out.
        seconds: of one core.
    """

    best: Floats
    own: float
    seconds: float


class ResponseCache(Closing):
    """Findings, in a folder or in memory.

    Args:
        store: the store of the findings; `close` closes it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def within(cls, folder: Path, manifest: Mapping[str, Any]) -> ResponseCache:
        """Those in a folder, made where there are none; who may not write there keeps them while the process lives.

        Args:
            folder: that is judged.
            manifest: of the play locker.

        Raises:
            lockers.LockerError: what is there is another job's, or damaged.
        """
        own = folder / FOLDER
        if not os.access(own if own.exists() else folder, os.W_OK):
            return cls(MemoryStore(manifest))
        return cls(sound_store(own, manifest))

    def of(self, mark: str, shape: tuple[int, ...]) -> dict[int, FlopFinding]:
        """What was found on strategies, by first board; what was found on others is dropped.

        Args:
            mark: of the strategies.
            shape: of a finding's ``best``.
        """
        start = f"{mark}|".encode()
        stale = [key for key in self._store.keys(JUDGED) if not key.startswith(start)]

        def drop(txn: Transaction) -> None:
            for key in stale:
                txn.delete(JUDGED, key)

        if stale:
            self._store.transact(drop)
        keys = list(self._store.keys(JUDGED, start))
        found = self._store.get_many(JUDGED, keys)
        return {
            int(key.removeprefix(start)): _finding(key, array, shape)
            for key, array in zip(keys, found, strict=True)
            if array is not None
        }

    def keep(self, mark: str, first: int, finding: FlopFinding) -> None:
        """Keep what was found on a first board."""
        array = np.concatenate([finding.best.ravel(), [finding.own, finding.seconds]])
        key = f"{mark}|{first}".encode()
        self._store.transact(lambda txn: txn.put(JUDGED, key, array))

    def close(self) -> None:
        """Close the store, when all is on the disk."""
        self._store.flush()
        self._store.close()


def _finding(key: bytes, array: np.ndarray, shape: tuple[int, ...]) -> FlopFinding:
    size = int(np.prod(shape))
    if array.shape != (size + 2,) or array.dtype != np.float64:
        raise DamagedLockerError(
            f"locker {JUDGED!r}, key {key.decode()}: expected {size + 2:,} numbers, "
            f"found {array.size:,} of {array.dtype}"
        )
    own, seconds = array[size:].tolist()
    return FlopFinding(array[:size].reshape(shape), own, seconds)
