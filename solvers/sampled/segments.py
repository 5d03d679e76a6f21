"""Segments of hands in the last round, and the opponent's reach in them.

The hands of the last round are sorted by strength. A *segment* is a run of hands of one row; a *level* is a run of
segments that are linked by ties (hands of equal strength). Let r[h] be the opponent's reach with hand h at the start of
the round. Then ``groups[g][c]`` is the sum of r[h] over the hands of segment g that hold card c; its last element is
the sum over all hands of the segment. Hands of the same segment are compared one by one:

    within[h] = Σ r of weaker hands + Σ r of weaker and equal hands − Σ r of all hands

where the sums leave out hands that share a card with h.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
from compiled.vector import WIDTH, fill16, int32_at, int64_at, load16, put_int32, put_int64, store
from solvers.sampled.links import Parent, ParentLink, entering_reach
from solvers.sampled.views import BoardView, Cursor, Workspace, all_hands, cards_of

_ZERO: Any = np.float32(0)


@inlined
def find_segments(work: Workspace, board: BoardView) -> int:
    """Find the segments of a board of the last round, and list the cards of their hands.

    A segment is a run of hands of one row, in order of strength. Its hands hold only two thirds of the cards, so
    kernels go through lists of cards: ``places`` lists the ``n_places[g]`` cards of segment g, and ``counts`` has the
    number of the segment's hands that hold each card, times -1. The last element of both lists stands for all hands of
    the segment. Conversely ``holders`` lists the ``n_holders[c]`` segments whose hands hold card c.

    Returns:
        The number of segments.
    """
    n_groups, width, h = _segments(work, board), board.stride // WIDTH, 0
    for c in range(width):
        put_int32(work.n_holders, c, 0)
    for g in range(n_groups):
        for c in range(width):
            put_int32(work.held, c, 0)
        n_hands, end = -h, int64_at(work.segment_end, g)
        while h < end:
            for place in range(2):
                c = int32_at(board.cards, 2 * h + place)
                put_int32(work.held, c, int32_at(work.held, c) - 1)
            h += 1
        put_int32(work.held, board.n_places - 1, n_hands + h)
        n = 0
        for c in range(board.n_places):
            if int32_at(work.held, c) != 0:
                put_int32(work.places, g * width + n, WIDTH * c)
                store(work.counts, g * width + n, np.float32(int32_at(work.held, c)))
                put_int32(work.holders, c * work.n_groups + int32_at(work.n_holders, c), g)
                put_int32(work.n_holders, c, int32_at(work.n_holders, c) + 1)
                n += 1
        put_int32(work.n_places, g, n)
    return n_groups


@inlined
def _segments(work: Workspace, board: BoardView) -> int:
    """Find the end, row and level of each segment, and for each hand the first stronger hand.

    A segment is a run of hands of one row, in order of strength; a level is a run of segments linked by ties.

    Returns:
        The number of segments.
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
        h = end
    return n


@inlined
def level_end(work: Workspace, g: int, n_groups: int) -> int:
    """Number of the first segment after the level of segment g; a level is a run of segments linked by ties."""
    end = g + 1
    while end < n_groups and int64_at(work.segment_level, end) == int64_at(work.segment_level, g):
        end += 1
    return end


@inlined
def gather_segments(c: Cursor, parent: Parent, link: ParentLink, n_groups: int) -> None:
    """Fill ``groups``, ``within``, ``within_sums`` and ``row_reach``: the opponent's reach in each segment and row.

    A segment is a run of hands of one row, in order of strength. For a batch whose 16 lanes continue one chance leaf of
    the previous round, the function also fills ``reach``.
    """
    work, board = c.work, c.board
    nothing, h, width = fill16(_ZERO), 0, board.stride // WIDTH
    for row in range(c.round.program.n_rows):
        store(work.row_reach, WIDTH * row, nothing)
    for g in range(n_groups):
        start, end, first, total = h, int64_at(work.segment_end, g), g * board.stride, nothing
        for k in range(g * width, g * width + int32_at(work.n_places, g)):
            store(work.groups, first + int32_at(work.places, k), nothing)
        one_tie = int32_at(work.tie_end, start) >= end
        while h < end:
            tie = min(int32_at(work.tie_end, h), end)
            if not one_tie:
                for i in range(h, tie):
                    store(work.within, WIDTH * i, _unblocked(c, first, i, total))
            for i in range(h, tie):
                if link.aligned:
                    came = entering_reach(link, parent, board, i)
                    store(work.reach, WIDTH * i, came)
                else:
                    came = load16(work.reach, WIDTH * i)
                a, b = cards_of(board, i)
                store(work.groups, first + a, load16(work.groups, first + a) + came)
                if board.two:
                    store(work.groups, first + b, load16(work.groups, first + b) + came)
                total = total + came
            if not one_tie:
                for i in range(h, tie):
                    beaten = load16(work.within, WIDTH * i) + _unblocked(c, first, i, total)
                    store(work.within, WIDTH * i, beaten)
            h = tie
        all_within = nothing
        for i in range(start, end):
            beaten = nothing
            if not one_tie:
                beaten = load16(work.within, WIDTH * i) - _unblocked(c, first, i, total)
            store(work.within, WIDTH * i, beaten)
            all_within = all_within + beaten
        store(work.within_sums, WIDTH * g, all_within)
        store(work.groups, first + all_hands(board), total)
        row = WIDTH * int64_at(work.segment_row, g)
        store(work.row_reach, row, load16(work.row_reach, row) + total)


@inlined
def _unblocked(c: Cursor, first: int, h: int, total):  # type: ignore[no-untyped-def]
    """Subtract from ``total`` the reach of a segment's hands that share a card with hand h.

    A segment is a run of hands of one row, in order of strength.

    Args:
        c: batch of lines on a board.
        first: offset of the segment in ``groups``.
        h: the hand.
        total: reach of the segment's hands.
    """
    a, b = cards_of(c.board, h)
    return total - (load16(c.work.groups, first + a) + load16(c.work.groups, first + b))
