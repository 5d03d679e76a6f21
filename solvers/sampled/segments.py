"""Segments of hands in the last round, and the opponent's reach in them.

The hands of the last round are sorted by strength. A *segment* is a run of hands of one row; a *level* is a run of
segments that are linked by ties (hands of equal strength). Let r[h] be the opponent's reach with hand h at the start of
the round. Then ``groups[g][c]`` is the sum of r[h] over the hands of segment g that hold card c; its last element is
the sum over all hands of the segment. Hands of the same segment are compared one by one if their strengths differ:

    within[h] = Σ r of weaker hands of the segment + Σ r of weaker and equal hands of the segment

where the sums leave out hands that share a card with h. (If hands have two cards, hand h itself counts −1, which the
totals by card cancel.) For the value of a row, `solvers.sampled.terminals` needs the sum of ``within[h]`` over the
segment's hands. In this sum, the reach r[h] of each opposing hand is multiplied by a whole number, ``edge[h]``, that
depends only on the board:

    within_sums[g] = Σ_h edge[h] · r[h],
    edge[h] = 2 · (all hands) − (weaker hands) − (weaker and equal hands)

where the numbers of hands of the segment leave out hands that share a card with h.
"""

from __future__ import annotations

import numpy as np

from compiled import inlined
from compiled.vector import (
    WIDTH,
    Address,
    fill16,
    float32_at,
    int32_at,
    int64_at,
    load16,
    put_int32,
    put_int64,
    store,
)
from solvers.sampled.boards import Parent, ParentLink, entering_reach
from solvers.sampled.views import BoardView, Cursor, Workspace, all_hands
from solvers.steps import ZERO, cards_of


@inlined
def find_segments(work: Workspace, board: BoardView, n_rows: int) -> int:
    """Find the segments of a last-round board, their cards and `Workspace.edge`; return the number of segments."""
    n_groups = _segments(work, board)
    list_cards(work, board, work.group_of, n_groups)
    _count_rows(work, board, n_rows)
    start = 0
    for g in range(n_groups):
        end = int64_at(work.segment_end, g)
        if in_level(work, g, n_groups):
            for h in range(start, end):
                store(work.edge, h, ZERO)
        else:
            _write_edges(work, board, start, end)
        start = end
    return n_groups


@inlined
def find_rows(work: Workspace, board: BoardView, n_rows: int) -> None:
    """List the cards of each row's hands on a board of a round before the last; each row is a group of hands."""
    for row in range(n_rows):
        put_int64(work.segment_row, row, row)
    list_cards(work, board, board.rows, n_rows)
    _count_rows(work, board, n_rows)


@inlined
def list_cards(work: Workspace, board: BoardView, group_of: Address, n_groups: int) -> None:
    """List the cards of each group's hands.

    The hands of a group hold only some of the cards, so kernels go through lists of cards in `Workspace`: ``places``
    lists the ``n_places[g]`` cards of group g, and ``counts`` has the number of the group's hands that hold each card,
    times -1. The last element of both lists stands for all hands of the group. Conversely ``holders`` lists the
    ``n_holders[c]`` groups whose hands hold card c. ``group_of[hand]`` is the group of each hand.
    """
    width, total = board.stride // WIDTH, board.n_places - 1
    for c in range(width):
        put_int32(work.n_holders, c, 0)
    for k in range(n_groups * width):
        put_int32(work.held, k, 0)
    for h in range(board.n_hands):
        first = int32_at(group_of, h) * width
        for place in range(2):
            c = first + int32_at(board.cards, 2 * h + place)
            put_int32(work.held, c, int32_at(work.held, c) - 1)
        put_int32(work.held, first + total, int32_at(work.held, first + total) + 1)
    for g in range(n_groups):
        n, first = 0, g * width
        for c in range(board.n_places):
            if int32_at(work.held, first + c) != 0:
                put_int32(work.places, first + n, WIDTH * c)
                store(work.counts, first + n, np.float32(int32_at(work.held, first + c)))
                put_int32(work.holders, c * work.n_groups + int32_at(work.n_holders, c), g)
                put_int32(work.n_holders, c, int32_at(work.n_holders, c) + 1)
                n += 1
        put_int32(work.n_places, g, n)


@inlined
def _count_rows(work: Workspace, board: BoardView, n_rows: int) -> None:
    for row in range(n_rows):
        put_int32(work.row_hands, row, 0)
    for h in range(board.n_hands):
        row = int32_at(board.rows, h)
        put_int32(work.row_hands, row, int32_at(work.row_hands, row) + 1)


@inlined
def _write_edges(work: Workspace, board: BoardView, start: int, end: int) -> None:
    """Fill `Workspace.edge` of the hands ``start`` to ``end - 1``, which are one segment."""
    for c in range(board.stride // WIDTH):
        put_int32(work.held, c, 0)
    n, h = 0, start
    while h < end:
        tie = min(int32_at(work.tie_end, h), end)
        for i in range(h, tie):
            store(work.edge, i, np.float32(-_apart(work, board, i, n)))
        for i in range(h, tie):
            for place in range(2):
                c = int32_at(board.cards, 2 * i + place)
                put_int32(work.held, c, int32_at(work.held, c) + (c < board.n_places))
        n += tie - h
        for i in range(h, tie):
            store(work.edge, i, float32_at(work.edge, i) - np.float32(_apart(work, board, i, n)))
        h = tie
    for i in range(start, end):
        store(work.edge, i, float32_at(work.edge, i) + np.float32(2 * _apart(work, board, i, n)))


@inlined
def _apart(work: Workspace, board: BoardView, h: int, n: int) -> int:
    """Return n less the hands that hold h's first card, and less the hands that hold its second (`Workspace.held`)."""
    a, b = int32_at(board.cards, 2 * h), int32_at(board.cards, 2 * h + 1)
    return int(n - int32_at(work.held, a) - int32_at(work.held, b))


@inlined
def one_tie(work: Workspace, g: int) -> bool:
    """Whether all hands of segment g have equal strength."""
    start = int64_at(work.segment_end, g - 1) if g > 0 else 0
    return bool(int32_at(work.tie_end, start) >= int64_at(work.segment_end, g))


@inlined
def in_level(work: Workspace, g: int, n_groups: int) -> bool:
    """Whether ties link segment g to another segment."""
    level = int64_at(work.segment_level, g)
    before = g > 0 and int64_at(work.segment_level, g - 1) == level
    return before or (g + 1 < n_groups and int64_at(work.segment_level, g + 1) == level)


@inlined
def _segments(work: Workspace, board: BoardView) -> int:
    """Find each segment's end, row and level, and each hand's first stronger hand; return the number of segments.

    A level is a run of segments that ties link; levels have numbers from 0.
    """
    n_hands, n, level, h = board.n_hands, 0, -1, 0
    while h < n_hands:
        end = h + 1
        while end < n_hands and int32_at(board.strength, end) == int32_at(board.strength, h):
            end += 1
        for i in range(h, end):
            put_int32(work.tie_end, i, end)
        row = int32_at(board.rows, h)
        alone = int32_at(board.rows, end - 1) == row
        grows = n > 0 and alone and int64_at(work.segment_row, n - 1) == row
        if grows:  # the tie joins the previous segment if that segment is alone in its level
            grows = n == 1 or int64_at(work.segment_level, n - 2) != int64_at(work.segment_level, n - 1)
        if not grows:
            level += 1
        for i in range(h, end):
            if not grows and (i == h or int32_at(board.rows, i) != int32_at(board.rows, i - 1)):
                put_int64(work.segment_row, n, int32_at(board.rows, i))
                put_int64(work.segment_level, n, level)
                n += 1
            put_int64(work.segment_end, n - 1, i + 1)
            put_int32(work.group_of, i, n - 1)
        h = end
    return n


@inlined
def level_end(work: Workspace, g: int, n_groups: int) -> int:
    """Number of the first segment after the level (the run of segments that ties link) of segment g."""
    end = g + 1
    while end < n_groups and int64_at(work.segment_level, end) == int64_at(work.segment_level, g):
        end += 1
    return end


@inlined
def gather_segments(c: Cursor, parent: Parent, link: ParentLink, n_groups: int) -> None:
    """Write the opponent's reach in each segment and row into buffers of `Workspace`.

    The buffers are ``groups``, ``within``, ``within_sums``, ``row_reach`` and, for an aligned batch, ``reach``.
    """
    work, board = c.work, c.board
    h = 0
    for row in range(c.round.program.n_rows):
        store(work.row_reach, WIDTH * row, fill16(ZERO))
    for g in range(n_groups):
        end, first, total, inside = (
            int64_at(work.segment_end, g),
            g * board.stride,
            fill16(ZERO),
            fill16(ZERO),
        )
        _clear_group(work, board, g)
        compared = not one_tie(work, g)
        while h < end:
            tie = min(int32_at(work.tie_end, h), end) if compared else end
            if compared:
                for i in range(h, tie):
                    store(work.within, WIDTH * i, _unblocked(c, first, i, total))
            for i in range(h, tie):
                if link.aligned:
                    came = entering_reach(link, parent, board, i)
                    store(work.reach, WIDTH * i, came)
                else:
                    came = load16(work.reach, WIDTH * i)
                _add_hand(c, first, i, came)
                total = total + came
                inside = inside + came * float32_at(work.edge, i)
            if compared:
                for i in range(h, tie):
                    beaten = load16(work.within, WIDTH * i) + _unblocked(c, first, i, total)
                    store(work.within, WIDTH * i, beaten)
            h = tie
        store(work.within_sums, WIDTH * g, inside)
        store(work.groups, first + all_hands(board), total)
        row = WIDTH * int64_at(work.segment_row, g)
        store(work.row_reach, row, load16(work.row_reach, row) + total)


@inlined
def gather_rows(c: Cursor) -> None:
    """Fill `Workspace.groups` in a round before the last: the opponent's reach at the round's start in each row."""
    work, board = c.work, c.board
    for row in range(c.round.program.n_rows):
        _clear_group(work, board, row)
    for h in range(board.n_hands):
        first, came = int32_at(board.rows, h) * board.stride, load16(work.reach, c.at_hands + WIDTH * h)
        _add_hand(c, first, h, came)
        at = first + all_hands(board)
        store(work.groups, at, load16(work.groups, at) + came)


@inlined
def _clear_group(work: Workspace, board: BoardView, g: int) -> None:
    first = g * (board.stride // WIDTH)
    for k in range(first, first + int32_at(work.n_places, g)):
        store(work.groups, g * board.stride + int32_at(work.places, k), fill16(ZERO))


@inlined
def _add_hand(c: Cursor, first: int, h: int, came) -> None:  # type: ignore[no-untyped-def]
    """Add hand h's reach ``came`` to the totals by card of its group, at offset ``first`` of `Workspace.groups`."""
    a, b = cards_of(c.board, h)
    store(c.work.groups, first + a, load16(c.work.groups, first + a) + came)
    if c.board.two:
        store(c.work.groups, first + b, load16(c.work.groups, first + b) + came)


@inlined
def _unblocked(c: Cursor, first: int, h: int, total):  # type: ignore[no-untyped-def]
    """Return ``total`` minus the reach with hand h's cards in the segment at offset ``first`` of `Workspace.groups`."""
    a, b = cards_of(c.board, h)
    return total - (load16(c.work.groups, first + a) + load16(c.work.groups, first + b))
