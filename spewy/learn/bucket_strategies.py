"""Read average strategies from a strategy locker, one chunk of a board bucket at a time."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

from compiled.vector import WIDTH
from solvers.sampled.batches import LineBatches
from solvers.sampled.quantise import byte_tables, restore
from solvers.state import ChunkStrategy
from solvers.tree import Floats
from spewy.records.strategy_locker import StrategyLocker

BUCKETS = 64
"""Number of decoded board buckets in the cache."""


class BucketStrategies:
    """Reads a strategy locker, with a cache of decoded board buckets.

    Args:
        averages: the strategy locker.
        batches: for each round, its betting lines in batches of 16.
    """

    def __init__(self, averages: StrategyLocker, batches: list[LineBatches]) -> None:
        self._averages, self._batches = averages, batches
        self._n_rows = averages.saved.rows
        self._tables = [
            (byte_tables(of_round, 0, k), byte_tables(of_round, 1, k))
            for of_round, k in zip(batches, self._n_rows, strict=True)
        ]
        self._bucket = lru_cache(BUCKETS)(self._decoded)

    def __call__(self, t: int, bucket: int, r: int) -> ChunkStrategy:
        """Return both players' average strategies in a chunk of a board bucket, not normalised.

        Args:
            t: the round.
            bucket: number of the board bucket.
            r: number of the betting line that enters the chunk.

        Returns:
            For each player ``[slot, row]``, with one slot for each action of each of the player's decisions.
        """
        batch, lane = self._batches[t].place[r]
        first, second = (self._bucket(t, bucket, p)[batch][:, :, lane].T for p in (0, 1))
        return np.ascontiguousarray(first), np.ascontiguousarray(second)

    @property
    def bucket_bytes(self) -> int:
        """Largest size of a player's decoded strategy in one board bucket, in bytes."""
        return max(8 * int(tables.first[-1]) for pair in self._tables for tables in pair)

    def mark(self) -> str:
        """Return a hash of all strategies in the locker."""
        mark, saved = hashlib.blake2b(digest_size=12), self._averages.saved
        for t, n in enumerate(saved.board_buckets):
            for bucket in range(n):
                for p in (0, 1):
                    mark.update(self._averages.bucket_bytes(t, bucket, p).tobytes())
        return mark.hexdigest()

    def _decoded(self, t: int, bucket: int, p: int) -> list[Floats]:
        """Decode player p's strategy in a board bucket of round t.

        Returns:
            For each batch of 16 betting lines an array ``[row, slot, line]``, with one slot for each action of each of
            the player's decisions.
        """
        tables, k, batches = self._tables[t][p], self._n_rows[t], self._batches[t]
        flat = np.zeros(int(tables.first[-1]))
        restore(self._averages.bucket_bytes(t, bucket, p), k, tables, flat)
        cuts = tables.first.tolist()
        return [
            flat[cuts[s] : cuts[s + 1]].reshape(k, int(tables.n_slots[s]), WIDTH) for s in range(len(batches))
        ]
