"""Places of betting lines in the bytes of a board bucket's strategy."""

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
"""Size in bytes of a portion, which is read and checked as a whole; a longer batch is a portion by itself."""
LANES = 16
"""Number of lanes of a batch; repeats `solvers.sampled.quantise`, whose import would load kernels."""


class LineIndex:
    """Places of a round's lines in the bytes of a board bucket.

    Args:
        names: line of each root of the round's forest.
        lanes: ``[batch, lane]``, number of the root, or -1.
        free: ``[player, batch]``, number of free slots.
        n_rows: number of hand rows of every board bucket of the round.
    """

    def __init__(self, names: Sequence[str], lanes: Ints, free: Ints, n_rows: int) -> None:
        self.names, self.lanes, self.free, self.n_rows = tuple(names), lanes, free, n_rows

    @classmethod
    def of(cls, names: Sequence[str], batches: LineBatches, n_rows: int) -> LineIndex:
        """Make the index of a round from the batches of its forest."""
        from solvers.sampled.quantise import byte_tables

        free = np.stack([byte_tables(batches, p, n_rows).n_free for p in (0, 1)])
        return cls(names, batches.lines, free, n_rows)

    @cached_property
    def place(self) -> Mapping[str, tuple[int, int]]:
        """Batch and lane of each line."""
        found = np.argwhere(self.lanes >= 0).tolist()
        return {self.names[int(self.lanes[batch, lane])]: (batch, lane) for batch, lane in found}

    @cached_property
    def portions(self) -> tuple[Ints, Ints]:
        """First batch of each portion, per player ``[portion + 1]``."""
        return self._cut(0), self._cut(1)

    def sizes(self, p: int) -> Ints:
        """``[batch]``: size of each batch in bytes."""
        out: Ints = LANES * self.n_rows * self.free[p]
        return out

    def free_bytes(
        self, found: Bytes, p: int, batch: int, lane: int, first_free: int, n_actions: int
    ) -> Bytes:
        """Bytes ``[row, action but the last]`` of a decision; ``found`` begins with the bytes of its batch."""
        size = self.sizes(p)[batch]
        mine = found[:size].reshape(self.n_rows, self.free[p, batch], LANES)
        return mine[:, first_free : first_free + n_actions - 1, lane]

    def _cut(self, p: int) -> Ints:
        begins, held = [0], 0
        for batch, size in enumerate(self.sizes(p).tolist()):
            if held and held + size > PORTION:
                begins.append(batch)
                held = 0
            held += size
        return np.array([*begins, len(self.lanes)], dtype=np.int64)
