"""Average strategies of a strategy locker by board bucket and line, ``[slot, row]``."""

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

BUCKETS = 64
"""Number of cached decoded board buckets."""


class BucketStrategies:
    """Reads a strategy locker, with a cache of decoded board buckets.

    Args:
        averages: the strategy locker.
        batches: per round, the lines of the betting in batches.
    """

    def __init__(self, averages: StrategyLocker, batches: list[LineBatches]) -> None:
        self._averages, self._batches = averages, batches
        self._n_rows = averages.saved.rows
        self._tables = [
            (byte_tables(one, 0, k), byte_tables(one, 1, k))
            for one, k in zip(batches, self._n_rows, strict=True)
        ]
        self._bucket = lru_cache(BUCKETS)(self._decoded)

    def __call__(self, t: int, bucket: int, r: int) -> ChunkStrategy:
        """Return both players' sums ``[slot, row]`` in the chunk of a bucket that line r enters."""
        batch, lane = self._batches[t].place[r]
        first, second = (self._bucket(t, bucket, p)[batch][:, :, lane].T for p in (0, 1))
        return np.ascontiguousarray(first), np.ascontiguousarray(second)

    @property
    def class_bytes(self) -> int:
        """Memory in bytes of one player's strategy in a bucket of the largest round."""
        return max(8 * int(tables.first[-1]) for pair in self._tables for tables in pair)

    def mark(self) -> str:
        """Return a hash that identifies the strategies."""
        mark, saved = hashlib.blake2b(digest_size=12), self._averages.saved
        for t, n in enumerate(saved.classes):
            for bucket in range(n):
                for p in (0, 1):
                    mark.update(self._averages.class_bytes(t, bucket, p).tobytes())
        return mark.hexdigest()

    def _decoded(self, t: int, bucket: int, p: int) -> list[Floats]:
        """Decode a player's strategy in a bucket: per batch ``[row, slot, lane]``."""
        tables, k, batches = self._tables[t][p], self._n_rows[t], self._batches[t]
        flat = np.zeros(int(tables.first[-1]))
        restore(self._averages.class_bytes(t, bucket, p), k, tables, flat)
        cuts = tables.first.tolist()
        return [
            flat[cuts[s] : cuts[s + 1]].reshape(k, int(tables.n_slots[s]), WIDTH) for s in range(len(batches))
        ]
