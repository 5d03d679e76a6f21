"""Choose which part of an exact solve's state stays in memory: all, or as much of the last round as fits.

The rest is mapped from a file in the job's folder and streams through memory in every pass (`compiled.mapped`).
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
"""Bytes of memory for temporary values, which the cost does not count."""


@dataclass(frozen=True)
class MemoryPlan:
    """The split of a solve's state between memory and a file.

    Attributes:
        kept: the share of the last round's state that stays in memory; 1: everything is there.
        streamed_bytes: bytes of the last round's state if it is mapped from a file; else 0.
        least_bytes: bytes that have to fit the memory budget.
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
            layout: boards and betting.
            needed: bytes of the whole solve.
            itemsize: bytes of a regret or sum.
            threads: each works on a portion of the boards.
            budget: bytes.
            streaming: whether the last round's state may be mapped from a file.
        """
        if needed <= budget or not streaming:
            return cls(1.0, 0, needed)
        state, portions = last_state(layout, itemsize), _portions(layout)
        window = state * min(threads, portions) // portions
        least = needed - state + window + RESERVE
        return cls(max(0.0, (budget - least) / state) if state else 1.0, state, least)


def last_state(layout: Layout, itemsize: int) -> int:
    """Bytes of regrets and sums on all boards of the last round; 0 if it is the only round."""
    if layout.n_rounds == 1:
        return 0
    slots = layout.betting[-1].forest.n_slots
    boards = layout.boards[layout.n_rounds - 1].boards
    blocks = [sum(n_blocks(len(board.hands[p].numbers)) for board in boards) for p in (0, 1)]
    return 2 * itemsize * WIDTH * int(np.dot(blocks, slots))


def _portions(layout: Layout) -> int:
    return n_tasks(layout.n_rounds, len(layout.boards[1].boards)) if layout.n_rounds > 1 else 1
