"""Caches of arrays that are computed from strategies, each in a folder of its own within the folder of a solve.

The arrays are valid until the strategies change. A *mark*, such as a hash, identifies the strategies. Every key begins
with the mark, so two processes that work with different strategies never mix their arrays. Setting a mark deletes all
arrays of other strategies.

- `ResponseCache` has best responses on the first boards (hold'em's flops) of a whole game with board buckets, so that a
  measurement of exploitability can continue after an interruption.
- `SolvedAgain` has chunks of dropped rounds that were solved again, so that a report on all turns of a solve without
  turns solves each of them only once. Only the chunk at the root of a re-solved subgame is kept, with its values at
  chance leaves. On a turn a report reads nothing else, and this is a hundredth of the whole subgame.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.records.chunks import PatchedReads, hands_on, split_leaves
from spewy.records.keys import JUDGED, MARK_KEY, META, STRATEGY
from spewy.records.progress import first_dropped, saved_sweeps
from spewy.system.tools import Closing

FOLDER, FOLDER_AGAIN = "judged", "solved_again"
"""Names of the folders of a `ResponseCache` and of `SolvedAgain` within the folder of the solve."""


class MarkedStore(Closing):
    """A cache of named arrays that are computed from strategies; a hash (the *mark*) identifies the strategies."""

    def __init__(self, store: Store, locker: str) -> None:
        self._store, self._locker = store, locker
        mark = store.get(META, MARK_KEY)
        self.mark = None if mark is None else mark.tobytes().decode()

    @classmethod
    def within(cls, folder: Path, locker: str, manifest: Mapping[str, Any]) -> Self:
        """Open the cache in a folder for writing; create it if it is missing, damaged, or of another job.

        ``manifest`` is the manifest of the strategies' store. If the folder cannot be written, the cache is in memory.
        """
        if not os.access(folder if folder.exists() else folder.parent, os.W_OK):
            return cls(MemoryStore(manifest), locker)
        try:
            return cls._opened(folder, locker, manifest)
        except (DamagedLockerError, ManifestMismatchError):
            discard_store(folder)  # its arrays can be computed again
            return cls._opened(folder, locker, manifest)

    @classmethod
    def _opened(cls, folder: Path, locker: str, manifest: Mapping[str, Any]) -> Self:
        store = open_store(folder, manifest)
        try:
            store.require_sound()
            return cls(store, locker)
        except BaseException:
            store.close()
            raise

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
        first = self._key("")
        keys = self._store.keys(self._locker, self._key(start))
        return [key.removeprefix(first).decode() for key in keys]

    def get_many(self, names: list[str]) -> list[Array | None]:
        return self._store.get_many(self._locker, [self._key(name) for name in names])

    def sound_array(self, name: str) -> Array | None:
        """Return the array with a name; None if it is missing or damaged."""
        try:
            return self.get_many([name])[0]
        except DamagedLockerError:
            return None

    def put(self, name: str, array: Array) -> None:
        key = self._key(name)
        self._store.transact(lambda txn: txn.put(self._locker, key, array))

    def close(self) -> None:
        try:
            if not self._store.read_only:
                self._store.flush()
        finally:
            self._store.close()

    def _key(self, name: str) -> bytes:
        return f"{self.mark}|{name}".encode()


PREFLOP_FILE = "preflop.npz"
"""Name of the file, in the folder of a solve, with payoffs from which a bot re-solves the round before the flop."""


@dataclass(frozen=True)
class FlopFinding:
    """Values of both players' best responses on one first board: in hold'em a flop.

    Attributes:
        best: ``[player, line, hand class]``, counterfactual values of a player's best response after each line that
            enters the round of the board: chips, summed over the opponent's hands with their reach as weight. Hands
            that are equal up to suits form a class; the value of the class is the mean over its hands, with 0 for
            hands that the board blocks.
        own: value of player 0 if both players follow their average strategies, summed over lines and hands; folds
            before the board are left out.
        seconds: computing time on one core.
    """

    best: Floats
    own: float
    seconds: float


class ResponseCache(MarkedStore):
    """Cached best responses, by the number of the first board; a hash (the mark) identifies the strategies."""

    @classmethod
    def of(cls, folder: Path, manifest: Mapping[str, Any]) -> ResponseCache:
        return cls.within(folder / FOLDER, JUDGED, manifest)

    def findings(self, mark: str, shape: tuple[int, ...]) -> dict[int, FlopFinding]:
        """Return the undamaged best responses by number of the first board; delete those with another mark.

        ``shape`` has the numbers of players, of lines that lead to the board's round, and of hand classes.
        """
        self.begin(mark)
        size, out = int(np.prod(shape)), {}
        for name in self.names():
            array = self.sound_array(name)
            if array is None or array.shape != (size + 2,) or array.dtype != np.float64:
                continue
            own, seconds = array[size:].tolist()
            out[int(name)] = FlopFinding(array[:size].reshape(shape), own, seconds)
        return out

    def keep(self, first: int, finding: FlopFinding) -> None:
        self.put(str(first), np.concatenate([finding.best.ravel(), [finding.own, finding.seconds]]))


class SolvedAgain(MarkedStore):
    """Cache of re-solved chunks in the folder of a solve; `name_of` makes a chunk's name.

    A chunk has two arrays, ``NAME.sums`` with both players' strategy sums and ``NAME.leaves`` with both players' values
    at its chance leaves.
    """

    @classmethod
    def of(cls, folder: Path, manifest: Mapping[str, Any], mark: str) -> SolvedAgain:
        """Open the re-solved chunks of a solve, whose strategies have the ``mark``; delete chunks with another mark."""
        opened = cls.within(folder / FOLDER_AGAIN, STRATEGY, manifest)
        try:
            opened.begin(mark)
        except BaseException:
            opened.close()
            raise
        return opened

    def read(self, name: str, layout: Layout, patched: PatchedReads) -> bool:
        """Add a stored chunk to ``patched``, as the root of a layout; return whether this succeeded.

        It fails if the chunk is not stored, or damaged.
        """
        sums, leaves = self.sound_array(f"{name}.sums"), self.sound_array(f"{name}.leaves")
        if sums is None or leaves is None:
            return False
        exits = len(layout.tree(0, 0).exits)
        patched.put_chunk(layout.key(0, 0, 0), sums, split_leaves(leaves, exits, hands_on(layout, 0, 0)))
        return True

    def keep(self, name: str, layout: Layout, patched: PatchedReads) -> None:
        """Store the re-solved chunk at the root of a layout, unless its values at chance leaves are unknown."""
        sums, leaves = patched.chunk(layout.key(0, 0, 0))
        if leaves is None and not len(layout.tree(0, 0).exits):
            leaves = np.zeros(0), np.zeros(0)
        if sums is not None and leaves is not None:
            self.put(f"{name}.sums", sums)
            self.put(f"{name}.leaves", np.concatenate([values.ravel() for values in leaves]))


def mark_of(solve: Store) -> str:
    return f"{saved_sweeps(solve)}.{first_dropped(solve)}"


def name_of(line: str, cards: Sequence[int], target: str, ranges: tuple[Floats, Floats]) -> str:
    """Return a name for the re-solve of a chunk: a hash of everything that determines its result.

    ``target`` is the accuracy as in a job file, ``ranges`` are those at the chunk's root, per player ``[hand of the
    layout]``.
    """
    found = hashlib.sha256(f"{line}|{list(cards)}|{target}".encode())
    for weights in ranges:
        found.update(np.ascontiguousarray(weights, dtype=np.float64).tobytes())
    return found.hexdigest()[:32]
