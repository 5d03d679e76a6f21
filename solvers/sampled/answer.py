"""The opponent's best response on the last round of a dealt board, row by row: CFR-BR (M. Johanson et al. 2012).

Boards of one bucket share strategies. An opponent who follows the bucket's strategy cannot punish mistakes on a single
board, so an equilibrium of the abstract game loses much in the real game (K. Waugh et al. 2009). Nothing is dealt after
the last round, so the opponent's best response to the traverser is known there. The opponent's values against the
traverser's reach, summed over the hands of each row, choose an action at each of the opponent's decisions.

The *mirror* of a pass has betting steps and buffers in which the opponent is the traverser. Before the last round a
pass uses the mirror only to compute the traverser's reach. Where the traverser has no reach, all actions of the
opponent have equal values, and the opponent follows its learnt strategy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined, part
from compiled.records import Packed, record_at, unpack, unpack_at
from compiled.vector import WIDTH, Address, fill16, int32_at, int64_at, load16, maximum, store, where_positive
from solvers.matching import regret_match
from solvers.reference.kernels import BEST
from solvers.sampled.folds import clear_values, fold_values
from solvers.sampled.links import enter_round, link_of, parent_of
from solvers.sampled.reach import other_reach
from solvers.sampled.segments import gather_segments, level_end
from solvers.sampled.showdowns import advance_level, ending_totals, showdown_values
from solvers.sampled.update import leaf_values
from solvers.sampled.views import Cursor, board_view, cursor, own_width

_ZERO: Any = np.float32(0)
_ONE: Any = np.float32(1)


@part
def mirror_down(views: Packed, mirror: Packed, boards: Packed, t: int) -> None:
    """Compute the traverser's reach on the current board of a round before the last, for the opponent's best response.

    Args:
        views: `RoundView` of each round with the opponent as traverser.
        mirror: `Workspace` of each round with the opponent as traverser; gets the reach.
        boards: the boards of the pass.
        t: the round.
    """
    x, work, all_boards = unpack_at(views, t), unpack_at(mirror, t), unpack(boards)
    board = board_view(all_boards, int64_at(work.open, 0))
    for number in range(x.program.n_batches):
        c = cursor(x, work, board, number, False)
        enter_round(views, mirror, all_boards, t, c)
        other_reach(c)


@part
def answer(
    weight: float,
    views: Packed,
    mirror: Packed,
    boards: Packed,
    t: int,
    number: int,
    n_groups: int,
    into: Address,
) -> None:
    """Mix the opponent's best response into the opponent's reach within a batch of lines of the last round.

    A segment is a run of hands of one row, in order of strength; `find_segments` must be called first.

    Args:
        weight: weight of the best response; the learnt strategy has the rest.
        views: `RoundView` of each round with the opponent as traverser.
        mirror: `Workspace` of each round with the opponent as traverser.
        boards: the boards of the pass.
        t: the last round.
        number: number of the batch.
        n_groups: number of segments of the board.
        into: the opponent's reach ``[row][sequence][lane]`` under its learnt strategy, which is changed.
    """
    x, work, all_boards = unpack_at(views, t), unpack_at(mirror, t), unpack(boards)
    c = cursor(x, work, board_view(all_boards, int64_at(work.open, 0)), number, True)
    above = max(t - 1, 0)
    parent = parent_of(unpack_at(views, above), all_boards, unpack_at(mirror, above), BEST)
    link = link_of(c, parent, t == 0)
    if not link.aligned:
        enter_round(views, mirror, all_boards, t, c)
    other_reach(c)
    gather_segments(c, parent, link, n_groups, False)
    ending_totals(c)
    clear_values(c)
    for g in range(n_groups):
        fold_values(c, g, int64_at(work.segment_row, g), False)
    g = 0
    while g < n_groups:
        end = level_end(work, g, n_groups)
        alone = end == g + 1
        if not alone and c.batch.n_shows > 0:
            advance_level(c, g, end)
        while g < end:
            showdown_values(c, g, int64_at(work.segment_row, g), alone, False)
            g += 1
    width, share = own_width(c), np.float32(weight)
    for row in range(x.program.n_rows):
        if int32_at(work.row_hands, row) == 0:
            continue
        _choose(c, row)
        for n in range(row * width, (row + 1) * width, WIDTH):
            store(into, n, load16(into, n) * (_ONE - share) + load16(work.own, n) * share)


@inlined
def _choose(c: Cursor, row: int) -> None:
    """Write the reach of the opponent's best response, for one row, into ``work.own``.

    The cursor has the opponent as traverser. If all actions of a decision have equal values, the opponent follows its
    learnt strategy.
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
