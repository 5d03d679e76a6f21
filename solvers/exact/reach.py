"""Step 1 of a pass: the opponent's reach, from the previous round down to folds, showdowns and chance leaves.

With σ_a the frequency of action a, for hand h,

    reach[child a, h] = reach[decision, h] · σ_a[h]
    sum[slot, h] ← decay · sum[slot, h] + gain · reach[slot, h]

where a slot is one action of one decision. The reach of 16 hands at a time is in ``work.reach[sequence][16]``; the
reach at leaves is transposed to a row for each hand, as later steps need it. Slow, plain version:
`solvers.reference.kernels.reach_down` and `add_to_sums`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.records import record_at
from compiled.several import (
    load_each,
    load_each_as,
    prefetch_each,
    shifted,
    stepped,
    store_each,
    store_each_as,
)
from compiled.vector import (
    TILE,
    WIDTH,
    int32_at,
    int64_at,
    load16,
    put_int64,
    store,
    transpose8,
    where_number,
)
from solvers.exact.views import Cursor, Entry, blocks_of, share
from solvers.matching import THREE, TWO, matched, regret_match
from solvers.program import ReachStep
from solvers.reference.kernels import UPDATE

AHEAD = 2 * WIDTH
"""Distance at which kernels prefetch, in array elements per slot: two blocks of 16 hands."""
_ZERO: Any = np.float32(0)


@inlined
def forward_reach(c: Cursor, entry: Entry) -> None:
    """Compute the opponent's reach at all leaves of a board.

    The reach goes into ``work.theirs`` at folds and showdowns, and into ``work.exits`` at chance leaves. An `UPDATE`
    pass also adds the reach to the opponent's strategy sums.

    Args:
        c: the board; each thread processes its share of the blocks of 16 hands.
        entry: the opponent's reach at the start of the round.
    """
    x, work, program = c.round, c.work, c.round.program
    first_block, n_blocks = blocks_of(x.other, c.board)
    start, stop = share(c, n_blocks)
    for i in range(start, stop):
        block, row = first_block + i, WIDTH * i
        for h in range(WIDTH):
            put_int64(work.places, h, int32_at(entry.parent_row, row + h) * entry.stride)
        for root in range(0, program.n_roots, TILE):
            for half in range(0, WIDTH, TILE):
                transpose8(entry.reach, work.places, half, root, work.reach, WIDTH * root + half, WIDTH)
        for k in range(program.n_down):
            step = record_at(program.down, k)
            at = WIDTH * (block * program.n_other_slots + step.slot)
            child = WIDTH * (program.n_roots + step.slot)
            if step.n_actions == 2:
                _play(c, step, stepped(TWO, at, WIDTH), stepped(TWO, child, WIDTH))
            elif step.n_actions == 3:
                _play(c, step, stepped(THREE, at, WIDTH), stepped(THREE, child, WIDTH))
            else:
                regret_match(x.kind, x.other_current, at, step.n_actions, work.reach, step.parent, child)
                for a in range(step.n_actions):
                    _grow_sums(c, (at + WIDTH * a,), load_each(work.reach, (child + WIDTH * a,)))
            if step.lock >= 0:
                _impose_lock(c, step, block, child)
        for half in range(0, WIDTH, TILE):
            for leaf_pair in range(0, program.n_leaf_pairs, TILE):
                to = (row + half) * program.n_leaf_pairs + leaf_pair
                transpose8(
                    work.reach, program.leaf_pairs, leaf_pair, half, work.theirs, to, program.n_leaf_pairs
                )
            for leaf in range(0, program.exit_width, TILE):
                to = (row + half) * program.exit_width + leaf
                transpose8(work.reach, program.exits, leaf, half, work.exits, to, program.exit_width)
    zero_row = WIDTH * n_blocks
    for leaf_pair in range(program.n_leaf_pairs):
        store(work.theirs, zero_row * program.n_leaf_pairs + leaf_pair, _ZERO)
    for leaf in range(program.exit_width):
        store(work.exits, zero_row * program.exit_width + leaf, _ZERO)


@inlined
def _play(c: Cursor, step: ReachStep, at: Any, children: Any) -> None:
    """Compute the reach of 16 opposing hands after each action of a decision, and add it to the strategy sums.

    Args:
        c: the board.
        step: the decision.
        at: offsets of the actions' regrets and sums.
        children: offsets in ``work.reach`` of the reach after each action, which the function writes.
    """
    x, reach = c.round, c.work.reach
    shares = matched(x.kind, x.other_current, at, load16(reach, step.parent))
    store_each(reach, children, shares)
    _grow_sums(c, at, shares)


@inlined
def _grow_sums(c: Cursor, at: Any, reach) -> None:  # type: ignore[no-untyped-def]
    """Add the reach after some actions to their strategy sums in an `UPDATE` pass; prefetch a later block's numbers.

    Args:
        c: the board.
        at: offsets of the actions' regrets and sums.
        reach: the opponent's reach after each action, a vector of 16 hands for each offset.
    """
    x, f = c.round, c.factors
    ahead = shifted(at, AHEAD * x.program.n_other_slots)
    prefetch_each(x.kind, x.other_current, ahead)
    if f.mode == UPDATE and f.gain > _ZERO:
        prefetch_each(x.kind, x.other_sums, ahead)
        sums = load_each_as(x.kind, x.other_sums, at) * f.decay + reach * f.gain
        store_each_as(x.kind, x.other_sums, at, sums, f.dither)


@inlined
def _impose_lock(c: Cursor, step: ReachStep, block: int, child: int) -> None:
    """Replace the reach of locked hands after a locked decision by their reach with the locked frequencies.

    The strategy sums keep the reach without locks, because nothing uses the sums of locked hands.

    Args:
        c: the board.
        step: the decision.
        block: the block of 16 hands.
        child: offset in ``work.reach`` of the reach after the first action.
    """
    x, work = c.round, c.work
    lock = int64_at(x.other_lock_first, step.lock) + WIDTH * block * step.n_actions
    entering = load16(work.reach, step.parent)
    for a in range(step.n_actions):
        frequency, free = load16(x.other_locks, lock + WIDTH * a), load16(work.reach, child + WIDTH * a)
        store(work.reach, child + WIDTH * a, where_number(frequency, frequency * entering, free))
