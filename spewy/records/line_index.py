"""Offsets of betting lines in the bytes that store a board bucket's strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from solvers.tree import Ints

if TYPE_CHECKING:
    from solvers.sampled.batches import LineBatches
    from solvers.sampled.quantise import Bytes

PORTION = 1 << 16
"""Largest size of a stored array in bytes; an array with a single batch of lines may be larger."""
LANES = 16
"""Number of lines in a batch; repeats `solvers.sampled.quantise`, whose import would load kernels."""


class LineIndex:
    """Finds the strategy after a betting line in the bytes of a board bucket.

    The bytes of a player are ``[batch][row][free slot][16 lanes]``. A batch is 16 lines that enter the round, each in a
    lane of its own. A free slot is an action of the player after the line; the last action of each decision has none,
    since frequencies add up to 1. The bytes are stored in *portions* of a few batches.

    Args:
        names: the lines that enter the round.
        lanes: ``[batch, lane]``, number of the line in ``names``, or -1 for an empty lane.
        free: ``[player, batch]``, number of free slots.
        n_rows: number of hand rows of a board bucket.
    """

    def __init__(self, names: Sequence[str], lanes: Ints, free: Ints, n_rows: int) -> None:
        self.names, self.lanes, self.free, self.n_rows = tuple(names), lanes, free, n_rows

    @classmethod
    def of(cls, names: Sequence[str], batches: LineBatches, n_rows: int) -> LineIndex:
        """Make the index of a round from its batches of lines."""
        from solvers.sampled.quantise import byte_tables

        free = np.stack([byte_tables(batches, p, n_rows).n_free for p in (0, 1)])
        return cls(names, batches.lines, free, n_rows)

    @cached_property
    def place(self) -> Mapping[str, tuple[int, int]]:
        """Batch and lane of each line: the number of its batch of 16 lines, and its number in the batch."""
        used = np.argwhere(self.lanes >= 0).tolist()
        return {self.names[int(self.lanes[batch, lane])]: (batch, lane) for batch, lane in used}

    @cached_property
    def portions(self) -> tuple[Ints, Ints]:
        """First batch of each stored portion of bytes and, at the end, the number of batches, for each player."""
        return self._cut(0), self._cut(1)

    def sizes(self, p: int) -> Ints:
        """Return the size ``[batch]`` in bytes of player p's strategies in each batch of lines."""
        out: Ints = LANES * self.n_rows * self.free[p]
        return out

    def free_bytes(
        self, found: Bytes, p: int, batch: int, lane: int, first_free: int, n_actions: int
    ) -> Bytes:
        """Return the bytes ``[row, action]`` of a decision, without its last action.

        Args:
            found: bytes of a board bucket that begin with those of the decision's batch.
            p: player who acts.
            batch: batch of the line that enters the round.
            lane: lane of the line that enters the round.
            first_free: number of the decision's first action among the player's actions, without the last action of
                each decision.
            n_actions: number of actions, including the last.
        """
        size = self.sizes(p)[batch]
        batch_bytes = found[:size].reshape(self.n_rows, self.free[p, batch], LANES)
        return batch_bytes[:, first_free : first_free + n_actions - 1, lane]

    def _cut(self, p: int) -> Ints:
        begins, n_bytes = [0], 0
        for batch, size in enumerate(self.sizes(p).tolist()):
            if n_bytes and n_bytes + size > PORTION:
                begins.append(batch)
                n_bytes = 0
            n_bytes += size
        return np.array([*begins, len(self.lanes)], dtype=np.int64)
