"""Passes over trees of boards: the opponent's reach goes down from board to board, and values come up.

A pass computes best responses to average strategies, and the values of these strategies. (`learn` has the passes that
learn.)

Boards are processed in depth-first order; a board's values are complete when all boards that follow it are done.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import inlined, kernel, part
from compiled.records import Packed, record_at, unpack, unpack_at
from compiled.vector import WIDTH, Address, fill16, int64_at, load16, put_int64, store
from solvers.sampled.follow import clear_exits, follow
from solvers.sampled.links import (
    HAND,
    LEAF,
    ROW_AND_HAND,
    Parent,
    ParentLink,
    enter_round,
    hand_up,
    hands_up,
    link_of,
    parent_of,
)
from solvers.sampled.reach import other_reach, own_reach
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
from solvers.sampled.views import BLOCK, Cursor, board_view, cursor

_ZERO: Any = np.float32(0)


class Walk(NamedTuple):
    """Settings and buffers of a pass over boards.

    Attributes:
        best_from: first round in which the traverser plays best responses; before it, it follows its strategy.
        own: whether to compute also the values when the traverser follows its strategy in all rounds; only if
            ``best_from`` is 0.
        views: `RoundView` of each round.
        works: `Workspace` of each round.
        boards: the boards, see `Boards`.
        n_rounds: number of rounds of the game.
        out: array ``[batch][hand][lane]`` for the values of the hands on the first board, for batches of 16 lines.
    """

    best_from: int
    own: bool
    views: Packed
    works: Packed
    boards: Packed
    n_rounds: int
    out: Address


@kernel
def walk(w: Walk, first: int, last: int, depth: int, ends: bool) -> int:
    """Process boards ``first`` to ``last - 1`` of a pass, depth first; the pass begins with a board of the first round.

    Args:
        w: settings and buffers.
        first: number of the first board.
        last: number of the first board that is not processed.
        depth: result of the previous call for this pass; -1 for the first call.
        ends: whether this is the last call for this pass.

    Returns:
        The round of the last board, whose values are not yet complete; -1 after the last call.
    """
    all_boards = unpack(w.boards)
    for number in range(first, last + ends):
        t = record_at(all_boards.nodes, number).round if number < last else 0
        while depth >= t:
            _go_up(w, depth)
            depth -= 1
        if number == last:
            break
        depth = t
        put_int64(unpack_at(w.works, t).open, 0, number)
        if t < w.n_rounds - 1:
            _go_down(w, t)
    return depth


@part
def _go_down(w: Walk, t: int) -> None:
    """Process round t's current board on the way down: compute reach, and clear buffers for values."""
    views, works = w.views, w.works
    x, work, all_boards = unpack_at(views, t), unpack_at(works, t), unpack(w.boards)
    board = board_view(all_boards, int64_at(work.open, 0))
    find_rows(work, board, x.program.n_rows)
    for number in range(x.program.n_batches):
        c = cursor(x, work, board, number, False)
        enter_round(views, works, all_boards, t, c)
        other_reach(c)
        if t < w.best_from or w.own:
            own_reach(c)
            clear_exits(c)
    if t >= w.best_from:
        for leaf in range(x.program.n_exits):
            for n in range(0, WIDTH * board.n_hands, WIDTH):
                store(work.continuation, WIDTH * leaf * work.n_most + n, fill16(_ZERO))


@part
def _go_up(w: Walk, t: int) -> None:
    """Process round t's current board on the way up: compute values.

    The values come from folds and showdowns and, before the last round, from the boards of the next round. They are
    added to the board of the previous round.
    """
    views, works = w.views, w.works
    x, work, all_boards = unpack_at(views, t), unpack_at(works, t), unpack(w.boards)
    board, last, above = board_view(all_boards, int64_at(work.open, 0)), t == w.n_rounds - 1, max(t - 1, 0)
    n_groups = find_segments(work, board, x.program.n_rows) if last else 0
    parent = parent_of(unpack_at(views, above), all_boards, unpack_at(works, above))
    into = LEAF if t > w.best_from else ROW_AND_HAND
    for number in range(x.program.n_batches):
        c = cursor(x, work, board, number, last)
        link = link_of(c, parent, t == 0)
        if last:
            if not link.aligned:
                enter_round(views, works, all_boards, t, c)
            other_reach(c)
            gather_segments(c, parent, link, n_groups)
            ending_totals(c)
            if w.own:
                own_reach(c)
            _respond_last(c, parent, link, n_groups, into, w.own)
        else:
            if c.batch.n_folds > 0:
                gather_rows(c)
                ending_totals(c)
            if t >= w.best_from:
                _respond(c, parent, link, into, w.own)
            else:
                follow(c, parent, link)
        if t == 0:
            for h in range(board.n_hands):
                store(w.out, WIDTH * (number * work.n_most + h), load16(work.hand_values, WIDTH * h))
        elif not link.aligned:
            hands_up(c, parent, work.hand_values, into)
            if w.own:
                hands_up(c, parent, work.own_values, HAND)


@inlined
def _respond_last(c: Cursor, parent: Parent, link: ParentLink, n_groups: int, into: int, own: bool) -> None:
    """Compute best responses of all hands on a board of the last round, for one batch of lines.

    The values are added to the board of the previous round.

    Args:
        c: batch of lines.
        parent: the board of the previous round.
        link: link to it.
        n_groups: number of the board's segments (runs of hands of one row, in order of strength).
        into: where the values go, see `ROW_AND_HAND`.
        own: whether to compute also the values when the traverser follows its strategy.
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
                respond_last(c, h, n, row, one_tie(work, g), own)
                _responses_up(c, parent, link, h, n, into, own)
                h += n
            g += 1


@inlined
def _respond(c: Cursor, parent: Parent, link: ParentLink, into: int, own: bool) -> None:
    """Compute best responses of all hands on a board before the last round, for one batch of lines.

    The values are added to the board of the previous round; the arguments are those of `_respond_last`.
    """
    for h in range(0, c.board.n_hands, BLOCK):
        n = min(BLOCK, c.board.n_hands - h)
        respond(c, h, n, own)
        _responses_up(c, parent, link, h, n, into, own)


@inlined
def _responses_up(
    c: Cursor, parent: Parent, link: ParentLink, first: int, n: int, into: int, own: bool
) -> None:
    """Add the values of hands ``first`` to ``first + n - 1`` to the board of the previous round."""
    for h in range(first, first + n):
        hand_up(c, parent, link, h, load16(c.work.nodes, WIDTH * (h - first)), into)
        if own and link.aligned:
            hand_up(c, parent, link, h, load16(c.work.own_values, WIDTH * h), HAND)
