"""What of an exact solve stays in memory: all, or as much of the last round's regrets and sums as the budget takes.

The rest is mapped from a file in the job's folder and streams through memory in every pass (`solvers.exact.paging`).
"""

from __future__ import annotations

import numpy as np

from solvers.exact.engine import n_portions
from solvers.exact.tables import n_blocks
from solvers.exact.vector import HANDS
from spewy.chunks.layout import Layout
from spewy.errors import InputError

#: What the estimate of the whole does not see when values come and go.
RESERVE = 16 << 20


def kept_share(layout: Layout, needed: int, itemsize: int, threads: int, budget: int) -> float:
    """The share of the last round's state that fits the budget, with all else; 1: everything.

    Args:
        layout: boards and betting.
        needed: bytes of the whole solve.
        itemsize: of a regret or sum.
        threads: each works on a portion of the boards.
        budget: bytes.

    Raises:
        InputError: not even a portion per thread fits.
    """
    if needed <= budget:
        return 1.0
    state, portions = last_state(layout, itemsize), _portions(layout)
    window = state * min(threads, portions) // portions
    least = needed - state + window + RESERVE
    if least > budget:
        raise InputError(
            f"solve.memory: this job needs at least {least / 2**20:,.0f} MiB beside the interpreter "
            f"({needed / 2**20:,.0f} MiB to keep everything in memory), found {budget / 2**20:,.0f} MiB"
        )
    return (budget - least) / state


def last_state(layout: Layout, itemsize: int) -> int:
    """Bytes of regrets and sums on all boards of the last round, if there is a round above it."""
    if layout.n_rounds == 1:
        return 0
    slots = layout.betting[-1].forest.n_slots
    boards = layout.boards[layout.n_rounds - 1].boards
    blocks = [sum(n_blocks(len(board.rows[p].hands)) for board in boards) for p in (0, 1)]
    return 2 * itemsize * HANDS * int(np.dot(blocks, slots))


def _portions(layout: Layout) -> int:
    return n_portions(layout.n_rounds, len(layout.boards[1].boards)) if layout.n_rounds > 1 else 1
