"""Choose how much of an exact solve's regrets and strategy sums stays in memory.

If not everything fits, a part of the last round is mapped from a file in the job's folder, and streams through memory
in every iteration (`compiled.mapped`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from compiled.vector import WIDTH
from solvers.exact.context import n_tasks
from solvers.exact.tables import n_blocks
from spewy.chunks.layout import Layout

RESERVE = 16 << 20
"""Bytes of memory for temporary arrays, which the estimated cost does not include."""


@dataclass(frozen=True)
class MemoryPlan:
    """The split of a solve's state (regrets and strategy sums) between memory and a file.

    Attributes:
        kept: share of the last round's state that stays in memory; 1 if nothing is mapped from a file.
        streamed_bytes: bytes of the last round's state if a part of it is mapped from a file, else 0.
        least_bytes: bytes that the solve needs in memory at least.
    """

    kept: float
    streamed_bytes: int
    least_bytes: int

    @classmethod
    def of(
        cls, layout: Layout, needed: int, itemsize: int, threads: int, budget: int, *, streaming: bool
    ) -> Self:
        """Make the plan that keeps as much of the state in memory as the budget allows.

        Args:
            layout: boards and betting of the job.
            needed: bytes of the solve with all of its state in memory.
            itemsize: bytes of a regret or strategy sum.
            threads: number of threads, each of which needs a part of the last round in memory.
            budget: bytes of memory that the solve may use.
            streaming: whether the last round's state may be mapped from a file.
        """
        if needed <= budget or not streaming:
            return cls(1.0, 0, needed)
        state, tasks = last_state(layout, itemsize), _n_tasks(layout)
        window = state * min(threads, tasks) // tasks
        least = needed - state + window + RESERVE
        return cls(max(0.0, (budget - least) / state) if state else 1.0, state, least)


def last_state(layout: Layout, itemsize: int) -> int:
    """Return the bytes of the regrets and strategy sums on all boards of the last round; 0 for a single round."""
    if layout.n_rounds == 1:
        return 0
    slots = layout.betting[-1].forest.n_slots
    boards = layout.boards[layout.n_rounds - 1].boards
    blocks = [sum(n_blocks(len(board.hands[p].numbers)) for board in boards) for p in (0, 1)]
    return 2 * itemsize * WIDTH * int(np.dot(blocks, slots))


def _n_tasks(layout: Layout) -> int:
    """Return the number of parts into which the exact engine divides the boards for its threads."""
    return n_tasks(layout.n_rounds, len(layout.boards[1].boards)) if layout.n_rounds > 1 else 1
