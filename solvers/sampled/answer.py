"""A best response on the last round of a dealt board, row by row.

Nothing is dealt after the last round, so there a player's best response to an opponent's strategy is known on the dealt
board: at each decision the player takes the action with the highest value, summed over the hands of a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined, part
from compiled.records import record_at
from compiled.vector import WIDTH, fill16, int32_at, int64_at, load16, maximum, store, where_positive
from solvers.matching import regret_match
from solvers.sampled.folds import clear_values, fold_values
from solvers.sampled.showdowns import open_level, showdown_values
from solvers.sampled.update import leaf_values
from solvers.sampled.views import Cursor, own_width

_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)


@part
def answer(c: Cursor, n_groups: int) -> None:
    """Fill ``work.own`` for a batch of lines of the last round: the reach of the traverser's best response.

    The opponent's reach must be in the buffers (`ending_totals`); the totals of showdowns change
    (`solvers.sampled.showdowns.restart_totals`). ``n_groups`` is the number of the board's segments: runs of hands of
    one row, in order of strength.
    """
    work = c.work
    clear_values(c)
    for g in range(n_groups):
        fold_values(c, g, int64_at(work.segment_row, g), False)
    g = 0
    while g < n_groups:
        end = open_level(c, g, n_groups)
        alone = end == g + 1
        while g < end:
            showdown_values(c, g, int64_at(work.segment_row, g), alone, False)
            g += 1
    for row in range(c.round.program.n_rows):
        if int32_at(work.row_hands, row) != 0:
            _choose(c, row)


@inlined
def _choose(c: Cursor, row: int) -> None:
    """Write the reach of the traverser's best response, for one row, into ``work.own``.

    If all actions of a decision have equal values, which they have where the opponent has no reach, the traverser
    follows its regrets.
    """
    x, work, batch, program = c.round, c.work, c.batch, c.round.program
    to = row * own_width(c)
    numbers = c.board.board_bucket * program.own_size + batch.own_first + WIDTH * row * batch.own_slots
    leaf_values(c, row)
    for k in range(batch.up, batch.up + batch.n_up):
        step = record_at(program.value_steps, k)
        value = load16(work.node, step.child)
        for a in range(1, step.n_actions):
            other = load16(work.node, step.child + WIDTH * a)
            value = maximum(value, other) if step.own == 1 else value + other
        store(work.node, step.node, value)
    store(work.own, to, fill16(_ONE))
    down = batch.own_down
    for k in range(
        batch.up + batch.n_up - 1, batch.up - 1, -1
    ):  # parents first: in the order of the reach steps
        step = record_at(program.value_steps, k)
        if step.own == 0:
            continue
        parent = to + record_at(program.reach_steps, down).parent
        down += 1
        first = to + WIDTH * (1 + step.slot)
        regret_match(x.kind, x.own, numbers + WIDTH * step.slot, step.n_actions, work.own, parent, first)
        best, rest = load16(work.node, step.node), load16(work.own, parent)
        worst = best
        for a in range(step.n_actions):
            other = load16(work.node, step.child + WIDTH * a)
            worst = where_positive(worst - other, other, worst)
        for a in range(step.n_actions):
            value = load16(work.node, step.child + WIDTH * a)
            chosen = where_positive(best - value, fill16(_ZERO), rest)
            rest = rest - chosen
            matched = load16(work.own, first + WIDTH * a)
            store(work.own, first + WIDTH * a, where_positive(best - worst, chosen, matched))
