"""Values of all hands on a board when the traverser follows its own strategy, for one batch of lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined, part
from compiled.vector import WIDTH, fill16, int32_at, int64_at, load16, store
from solvers.sampled.folds import clear_values, fold_values, own_weights
from solvers.sampled.links import ROW_AND_HAND, Parent, ParentLink, hand_up
from solvers.sampled.reach import prefetch_row
from solvers.sampled.segments import in_level, one_tie
from solvers.sampled.showdowns import begin_mixed, open_level, showdown_values
from solvers.sampled.views import Cursor, all_hands, cards_of

_ZERO: Any = np.float32(0)


@inlined
def clear_exits(c: Cursor) -> None:
    """Clear the buffers that collect values from the boards of the next round."""
    for n in range(0, WIDTH * c.board.n_hands, WIDTH):
        store(c.work.hand_exits, c.at_hands + n, fill16(_ZERO))
    for n in range(0, c.work.n_ends, WIDTH):
        store(c.work.row_exits, c.at_exits + n, fill16(_ZERO))


@part
def follow_last(c: Cursor, parent: Parent, link: ParentLink, n_groups: int) -> None:
    """Compute the values of all hands on a board of the last round when the traverser follows its own strategy.

    The values are added to the board of the previous round. ``n_groups`` is the number of the board's segments (runs of
    hands of one row, in order of strength).
    """
    work, n_rows = c.work, c.round.program.n_rows
    own_weights(c)
    clear_values(c)
    for g in range(n_groups):  # before all showdowns, since the totals of folds alone fill the L1 cache
        row = int64_at(work.segment_row, g)
        begin_mixed(c, g, row, one_tie(work, g) and not in_level(work, g, n_groups))
        fold_values(c, g, row, True)
    g = h = 0
    while g < n_groups:
        end = open_level(c, g, n_groups)
        alone = end == g + 1
        while g < end:
            stop, inside = int64_at(work.segment_end, g), load16(work.inside, WIDTH * g)
            showdown_values(c, g, int64_at(work.segment_row, g), alone, True)
            if c.number + 1 < c.round.program.n_batches:
                for row in range(g * n_rows // n_groups, (g + 1) * n_rows // n_groups):
                    prefetch_row(c, row)
            if one_tie(work, g):
                while h < stop:
                    hand_up(c, parent, link, h, _mixed_value(c, g, h), ROW_AND_HAND)
                    h += 1
            while h < stop:
                value = _mixed_value(c, g, h) + inside * load16(work.within, WIDTH * h)
                hand_up(c, parent, link, h, value, ROW_AND_HAND)
                h += 1
            g += 1


@inlined
def _mixed_value(c: Cursor, g: int, h: int):  # type: ignore[no-untyped-def]
    """Value of hand h of group g at folds and showdowns, except for comparisons within the group."""
    work, first, (a, b) = c.work, g * c.board.stride, cards_of(c.board, h)
    met = load16(work.mixed, first + all_hands(c.board)) - (
        load16(work.mixed, first + a) + load16(work.mixed, first + b)
    )
    return met + load16(work.same, WIDTH * g) * load16(work.reach, c.at_hands + WIDTH * h)


@part
def follow(c: Cursor, parent: Parent, link: ParentLink) -> None:
    """Compute the values of all hands on a board before the last round when the traverser follows its own strategy.

    The values are added to the board of the previous round.
    """
    own_weights(c)
    clear_values(c)
    for row in range(c.round.program.n_rows):
        if int32_at(c.work.row_hands, row) != 0:
            begin_mixed(c, row, row, False)
            fold_values(c, row, row, True)
    for h in range(c.board.n_hands):
        value = _mixed_value(c, int32_at(c.board.rows, h), h)
        value = value + load16(c.work.hand_exits, c.at_hands + WIDTH * h)
        hand_up(c, parent, link, h, value, ROW_AND_HAND)
