"""Passes over boards: the opponent's reach goes down from board to board, and values come up.

Boards are processed in depth-first order; a board's values are complete when all boards that follow it are done.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined, kernel, part
from compiled.records import Packed, record_at, unpack, unpack_at
from compiled.vector import WIDTH, Address, fill16, int64_at, load16, put_int64, store
from solvers.discount import Discount
from solvers.reference.kernels import BEST, EVALUATE, UPDATE
from solvers.sampled.follow import clear_exits, follow, follow_last
from solvers.sampled.links import Parent, ParentLink, enter_round, hand_up, hands_up, link_of, parent_of
from solvers.sampled.reach import other_reach, own_reach, sum_rows, update_averages
from solvers.sampled.respond import respond, respond_last
from solvers.sampled.segments import (
    find_rows,
    find_segments,
    gather_rows,
    gather_segments,
    level_end,
    one_tie,
)
from solvers.sampled.showdowns import advance_level, ending_totals
from solvers.sampled.update import update_regrets
from solvers.sampled.views import BLOCK, Cursor, board_view, cursor
from solvers.sampled.weights import count_visit, learns, visit_factors

_ZERO: Any = np.float32(0)


class Walk(NamedTuple):
    """Settings and buffers of a pass over boards.

    Attributes:
        mode: `UPDATE` learns, `BEST` computes best responses, `EVALUATE` follows the strategy.
        best_from: first round with best responses; in earlier rounds a `BEST` pass follows the strategy.
        discount: discount of earlier visits of a board bucket.
        views: `RoundView` of each round.
        works: `Workspace` of each round.
        boards: the boards, see `Boards`.
        n_rounds: number of rounds of the game.
        out: array ``[batch][hand][lane]`` for the values of the hands on the first board, for batches of 16 lines.
    """

    mode: int
    best_from: int
    discount: Discount
    views: Packed
    works: Packed
    boards: Packed
    n_rounds: int
    out: Address


@kernel
def walk(w: Walk, first: int, last: int, dither: int, depth: int, ends: bool) -> int:
    """Process boards ``first`` to ``last - 1`` of a pass, depth first; the pass begins with a board of the first round.

    Args:
        w: settings and buffers.
        first: number of the first board.
        last: number of the first board that is not processed.
        dither: rounding of 16-bit numbers, see `compiled.precision`.
        depth: result of the previous call for this pass; -1 for the first call.
        ends: whether this is the last call for this pass.

    Returns:
        The round of the last board, whose values are not yet complete; -1 after the last call.
    """
    return walk_boards(w, first, last, dither, depth, ends)


@part
def walk_boards(w: Walk, first: int, last: int, dither: int, depth: int, ends: bool) -> int:
    """Process boards, as `walk` describes."""
    all_boards = unpack(w.boards)
    for number in range(first, last + ends):
        t = record_at(all_boards.nodes, number).round if number < last else 0
        while depth >= t:
            _go_up(w, depth, dither)
            depth -= 1
        if number == last:
            break
        depth = t
        put_int64(unpack_at(w.works, t).open, 0, number)
        if t < w.n_rounds - 1:
            _go_down(w, t, dither)
    return depth


@inlined
def _mode_of(w: Walk, t: int) -> int:
    """Mode of a pass in round t: `EVALUATE` for a `BEST` pass before round ``w.best_from``, else ``w.mode``."""
    return EVALUATE if w.mode == BEST and t < w.best_from else w.mode


@part
def _go_down(w: Walk, t: int, dither: int) -> None:
    """Process round t's current board on the way down: compute reach, update averages, and clear buffers for values.

    ``dither`` is the rounding of 16-bit numbers, see `compiled.precision`.
    """
    views, works, mode = w.views, w.works, _mode_of(w, t)
    x, work, all_boards = unpack_at(views, t), unpack_at(works, t), unpack(w.boards)
    board = board_view(all_boards, int64_at(work.open, 0))
    f = visit_factors(w.discount, x, board.board_bucket, dither)
    learning = mode == UPDATE and learns(x, board.board_bucket)
    find_rows(work, board, x.program.n_rows)
    for number in range(x.program.n_batches):
        c = cursor(x, work, board, number, False)
        enter_round(views, works, all_boards, t, c)
        other_reach(c)
        if learning:
            sum_rows(c)
            update_averages(c, f)
        if mode != BEST:
            own_reach(c)
            clear_exits(c)
    if mode == BEST:
        for leaf in range(x.program.n_exits):
            for n in range(0, WIDTH * board.n_hands, WIDTH):
                store(work.continuation, WIDTH * leaf * work.n_most + n, fill16(_ZERO))


@part
def _go_up(w: Walk, t: int, dither: int) -> None:
    """Process round t's current board on the way up: compute values and update regrets.

    The values come from folds and showdowns and, before the last round, from the boards of the next round. They are
    added to the board of the previous round. ``dither`` is the rounding of 16-bit numbers, see `compiled.precision`.
    """
    views, works, mode, mode_above = w.views, w.works, _mode_of(w, t), _mode_of(w, t - 1)
    x, work, all_boards = unpack_at(views, t), unpack_at(works, t), unpack(w.boards)
    board, last, above = board_view(all_boards, int64_at(work.open, 0)), t == w.n_rounds - 1, max(t - 1, 0)
    f = visit_factors(w.discount, x, board.board_bucket, dither)
    learning = mode == UPDATE and learns(x, board.board_bucket)
    n_groups = find_segments(work, board, x.program.n_rows) if last else 0
    parent = parent_of(unpack_at(views, above), all_boards, unpack_at(works, above), mode_above)
    for number in range(x.program.n_batches):
        c = cursor(x, work, board, number, last)
        link = link_of(c, parent, t == 0)
        if last:
            if not link.aligned:
                enter_round(views, works, all_boards, t, c)
            other_reach(c)
            gather_segments(c, parent, link, n_groups, True)
            if learning:
                update_averages(c, f)
            ending_totals(c)
            if mode == BEST:
                _respond_last(c, parent, link, n_groups)
            else:
                own_reach(c)
                follow_last(c, parent, link, n_groups)
        else:
            if c.batch.n_folds > 0:
                gather_rows(c)
                ending_totals(c)
            if mode == BEST:
                _respond(c, parent, link)
            else:
                follow(c, parent, link)
        if learning:
            update_regrets(c, f)
        if t == 0:
            for h in range(board.n_hands):
                store(w.out, WIDTH * (number * work.n_most + h), load16(work.hand_values, WIDTH * h))
        elif not link.aligned:
            hands_up(c, parent)
    if mode == UPDATE:
        count_visit(x, board.board_bucket, learning)


@inlined
def _respond_last(c: Cursor, parent: Parent, link: ParentLink, n_groups: int) -> None:
    """Compute best responses of all hands on a board of the last round, for one batch of lines.

    The values are added to the board of the previous round. ``n_groups`` is the number of the board's segments (runs of
    hands of one row, in order of strength).
    """
    work = c.work
    g = h = 0
    while g < n_groups:
        end = level_end(work, g, n_groups)
        advance_level(c, g, end)
        while g < end:
            stop, row = int64_at(work.segment_end, g), int64_at(work.segment_row, g)
            while h < stop:
                n = min(BLOCK, stop - h)
                respond_last(c, h, n, row, one_tie(work, g))
                _responses_up(c, parent, link, h, n)
                h += n
            g += 1


@inlined
def _respond(c: Cursor, parent: Parent, link: ParentLink) -> None:
    """Compute best responses of all hands on a board before the last round, for one batch of lines.

    The values are added to the board of the previous round.
    """
    for h in range(0, c.board.n_hands, BLOCK):
        n = min(BLOCK, c.board.n_hands - h)
        respond(c, h, n)
        _responses_up(c, parent, link, h, n)


@inlined
def _responses_up(c: Cursor, parent: Parent, link: ParentLink, first: int, n: int) -> None:
    """Add the best-response values of hands ``first`` to ``first + n - 1`` to the board of the previous round."""
    for i in range(n):
        hand_up(c, parent, link, first + i, load16(c.work.nodes, WIDTH * i))
