"""Average strategies of a play locker as chunks take them, ``[slot, row]`` by class and line."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

from compiled.vector import WIDTH
from solvers.matrix.chunk import ChunkStrategy
from solvers.sampled.batches import LineBatches
from solvers.sampled.quantise import byte_tables, restore
from solvers.tree import Floats
from spewy.records.strategy_locker import StrategyLocker

CLASSES = 64
"""That are kept as they were decoded."""


class ClassStrategies:
    """Reads a play locker, whose classes are decoded once and kept.

    Args:
        averages: the locker.
        batches: of the betting, per round.
    """

    def __init__(self, averages: StrategyLocker, batches: list[LineBatches]) -> None:
        self._averages, self._batches = averages, batches
        self._n_rows = averages.saved.rows
        self._tables = [
            (byte_tables(one, 0, k), byte_tables(one, 1, k))
            for one, k in zip(batches, self._n_rows, strict=True)
        ]
        self._class = lru_cache(CLASSES)(self._decoded)

    def __call__(self, t: int, class_: int, r: int) -> ChunkStrategy:
        """What both players do in a class in the chunk that line r enters: ``[slot, row]``, to be normalised."""
        batch, lane = self._batches[t].place[r]
        first, second = (self._class(t, class_, p)[batch][:, :, lane].T for p in (0, 1))
        return np.ascontiguousarray(first), np.ascontiguousarray(second)

    @property
    def class_bytes(self) -> int:
        """Memory of a player's strategy in a class, of the largest round."""
        return max(8 * int(tables.first[-1]) for pair in self._tables for tables in pair)

    def mark(self) -> str:
        """What tells these strategies from all others."""
        mark, saved = hashlib.blake2b(digest_size=12), self._averages.saved
        for t, n in enumerate(saved.classes):
            for class_ in range(n):
                for p in (0, 1):
                    mark.update(self._averages.class_bytes(t, class_, p).tobytes())
        return mark.hexdigest()

    def _decoded(self, t: int, class_: int, p: int) -> list[Floats]:
        """Per batch ``[row, slot, lane]``."""
        tables, k, batches = self._tables[t][p], self._n_rows[t], self._batches[t]
        flat = np.zeros(int(tables.first[-1]))
        restore(self._averages.class_bytes(t, class_, p), k, tables, flat)
        cuts = tables.first.tolist()
        return [
            flat[cuts[s] : cuts[s + 1]].reshape(k, int(tables.n_slots[s]), WIDTH) for s in range(len(batches))
        ]
