"""Values of showdowns in the last round, for one batch of lines.

A hand's value at a showdown is the opposing reach that the hand beats minus the opposing reach that beats it. Hands are
sorted by strength and cut into segments: runs of hands of one row. All hands of one segment compare in the same way
with all hands of another segment. So for the opponent's j-th sequence that ends in a showdown,

    D_j[c] = (reach in weaker segments) + (reach in weaker segments and this segment) − (reach in all segments)

serves all hands of a segment. It counts the opponent's hands that hold card c (or all its hands), with their reach at
the showdown: σ_j[g] · groups[g][c] for segment g, as in `folds`. The kernels go through the segments in ascending order
and add to running totals.

Hands of the same segment are compared one by one, but only once per batch of lines: the result, multiplied by σ_j,
serves every sequence (`segments.gather_segments`). The sums of rows and the vector ``mixed`` follow from D as in
`folds`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite.binding import get_host_cpu_features

from compiled import inlined
from compiled.several import (
    chain,
    clamped,
    fill_each,
    int64_each,
    load_each,
    scaled,
    shifted,
    stepped,
    store_each,
)
from compiled.vector import WIDTH, fill16, float32_at, int32_at, int64_at, load16, store
from solvers.sampled.folds import FOUR
from solvers.sampled.segments import level_end, one_tie
from solvers.sampled.views import Cursor, other_width

AT_ONCE = (0,) * (8 if get_host_cpu_features().get("avx512f") else 4)
"""Tuple of zeros: its length is the number of totals that fit into the processor's registers."""
THREE = (0, 0, 0)
"""Tuple of three zeros: its length tells `stepped` to return three offsets."""
_ZERO: Any = np.float32(0)
_HALF: Any = np.float32(0.5)


@inlined
def ending_totals(c: Cursor) -> None:
    """Fill ``work.totals``: the opponent's reach by card, for each of its sequences that end in folds or showdowns.

    The totals of showdowns are multiplied by -1/2: they are running totals, to which the reach of one segment of hands
    after another is added. The total before a segment plus the total after it is D, the reach that the segment's hands
    beat minus the reach that beats them.
    """
    work, board, batch, stride = c.work, c.board, c.batch, c.board.stride
    n_endings, n_counted = batch.n_folds + batch.n_shows, batch.n_counted
    for j in range(0, n_counted, len(AT_ONCE)):
        if n_counted - j > 4:
            _total(c, clamped(stepped(AT_ONCE, j, 1), n_counted - 1))
        else:
            _total(c, clamped(stepped(FOUR, j, 1), n_counted - 1))
    for place in range(batch.n_folds * stride, n_counted * stride, WIDTH):
        store(work.totals, place, load16(work.totals, place) * -_HALF)
    for j in range(n_counted, n_endings):
        from_ = int64_at(c.round.program.endings, batch.shared + j - n_counted) * stride
        for place in range(0, WIDTH * board.n_places, WIDTH):
            store(work.totals, j * stride + place, load16(work.totals, from_ + place) * -_HALF)
    if not board.two:
        for j in range(n_endings):
            store(work.totals, j * stride + WIDTH * board.n_places, fill16(_ZERO))


@inlined
def restart_totals(c: Cursor) -> None:
    """Set the running totals of showdowns back to their values before the first segment.

    They begin at minus half of the opponent's whole reach and end at plus half of it, so their signs change.
    """
    first, batch = c.batch.n_folds * c.board.stride, c.batch
    for place in range(first, first + batch.n_shows * c.board.stride, WIDTH):
        store(c.work.totals, place, fill16(_ZERO) - load16(c.work.totals, place))


@inlined
def _total(c: Cursor, endings: Any) -> None:
    """Sum the opponent's reach by card, for several of its sequences that end in folds or showdowns."""
    work, board = c.work, c.board
    width, at = other_width(c), scaled(endings, board.stride)
    sequences = shifted(int64_each(c.round.program.endings, shifted(endings, c.batch.endings)), c.at_rows)
    for card in range(board.n_places):
        total, first = fill_each(endings, _ZERO), card * work.n_groups
        for k in range(first, first + int32_at(work.n_holders, card)):
            g = int32_at(work.holders, k)
            held = load16(work.groups, g * board.stride + WIDTH * card)
            row = int64_at(work.segment_row, g) * width
            total = total + load_each(work.other, shifted(sequences, row)) * held
        store_each(work.totals, shifted(at, WIDTH * card), total)


@inlined
def begin_mixed(c: Cursor, g: int, row: int, whole: bool) -> None:
    """Begin ``work.mixed`` of group g, to which folds and showdowns are added, and compute ``work.inside``.

    ``work.inside`` is the sum of the products of the opponent's reach within the round and the traverser's weights. If
    ``whole``, ``mixed`` begins with the group's own reach: `showdown_values` then adds twice the running total before
    the group, and D is the sum of both.
    """
    work, batch, stride = c.work, c.batch, c.board.stride
    n_folds, n_endings, inside = batch.n_folds, batch.n_folds + batch.n_shows, fill16(_ZERO)
    sigmas, weights = c.at_rows + row * other_width(c), WIDTH * row * n_endings
    for j in range(n_folds, n_endings):
        sigma = load16(work.other, sigmas + int64_at(c.round.program.endings, batch.endings + j))
        inside = inside + sigma * load16(work.weights, weights + WIDTH * j)
    store(work.inside, WIDTH * g, inside)
    share = inside if whole else fill16(_ZERO)
    first = g * (stride // WIDTH)
    for k in range(first, first + int32_at(work.n_places, g)):
        place = g * stride + int32_at(work.places, k)
        store(work.mixed, place, load16(work.groups, place) * share)


@inlined
def showdown_values(c: Cursor, g: int, row: int, alone: bool, by_hand: bool) -> None:
    """Add the values at showdowns of the hands of segment g to the sums of their row in ``work.values``.

    A segment is a run of hands of one row, in order of strength; a level is a run of segments linked by ties. With
    ``by_hand`` the function also adds to ``work.mixed`` of the segment, from which the values of single hands follow.
    If the segment is ``alone`` in its level, this function also adds the segment's reach to the running totals;
    otherwise `advance_level` has done so.
    """
    j, n_shows = 0, c.batch.n_shows
    while j < n_shows:
        if alone and j + 3 <= n_shows:
            _showdown_endings(c, g, row, stepped(THREE, j, 1), alone, by_hand)
            j += 3
        else:
            _showdown_endings(c, g, row, (j,), alone, by_hand)
            j += 1


@inlined
def _showdown_endings(c: Cursor, g: int, row: int, shows: Any, alone: bool, by_hand: bool) -> None:
    """Compute `showdown_values` for some of the opponent's sequences: numbers ``shows`` among the showdown sequences.

    If the segment is alone, D is twice the running total before the segment plus the segment's reach. The reach enters
    ``mixed`` in `begin_mixed`, and the row's sums by way of ``work.within_sums``.
    """
    work, batch, stride = c.work, c.batch, c.board.stride
    n_folds, n_shows, into = batch.n_folds, batch.n_shows, g * stride
    first_place = g * (stride // WIDTH)
    endings = shifted(shows, n_folds)
    values = shifted(scaled(endings, WIDTH), WIDTH * row * (n_folds + n_shows))
    sequences = int64_each(c.round.program.endings, shifted(endings, batch.endings))
    weights = load_each(work.weights, values)
    if alone:
        weights = weights + weights
    sigmas = load_each(work.other, shifted(sequences, row * other_width(c)))
    at = scaled(endings, stride)
    moved = shifted(at, 2 * n_shows * stride)
    sums = fill_each(shows, _ZERO)
    for k in range(first_place, first_place + int32_at(work.n_places, g)):
        count, place = fill16(float32_at(work.counts, k)), int32_at(work.places, k)
        if alone:
            total = load_each(work.totals, shifted(at, place))
            store_each(work.totals, shifted(at, place), total + sigmas * load16(work.groups, into + place))
        else:
            total = load_each(work.totals, shifted(moved, place))
        sums = sums + total * count
        if by_hand:
            store(work.mixed, into + place, chain(load16(work.mixed, into + place), weights, total))
    if alone:
        sums = sums + sums + sigmas * load16(work.within_sums, WIDTH * g)
    store_each(work.values, values, load_each(work.values, values) + sums)


@inlined
def open_level(c: Cursor, g: int, n_groups: int) -> int:
    """Prepare `showdown_values` for the level that begins with segment g; return its end, see `level_end`."""
    end = level_end(c.work, g, n_groups)
    if end > g + 1 and c.batch.n_shows > 0:
        advance_level(c, g, end)
    return end


@inlined
def advance_level(c: Cursor, first: int, end: int) -> None:
    """Add the opponent's reach in segments ``first`` to ``end - 1`` to the running totals of showdowns.

    A segment is a run of hands of one row, in order of strength; ties link these segments, so they are compared as one.
    ``work.totals`` has three parts of equal size for showdowns. Part 1 has the running totals. Part 3 gets the result
    for each segment: the reach that its hands beat minus the reach that beats them, D. Part 2 keeps the totals from
    before the call, since the segments may hold the same cards; a single segment does not need this copy. In a segment
    with hands of several strengths ``work.within`` includes the segment, so part 3 gets D minus the segment's reach.
    """
    work, batch, board, stride = c.work, c.batch, c.board, c.board.stride
    wide, area, width = other_width(c), batch.n_shows * stride, stride // WIDTH
    for j in range(batch.n_folds, batch.n_folds + batch.n_shows):
        sequence, d = int64_at(c.round.program.endings, batch.endings + j), j * board.stride
        if end == first + 1:
            sigma = load16(work.other, int64_at(work.segment_row, first) * wide + sequence)
            tied = one_tie(work, first)
            for k in range(first * width, first * width + int32_at(work.n_places, first)):
                place = int32_at(work.places, k)
                before = load16(work.totals, d + place)
                after = before + sigma * load16(work.groups, first * stride + place)
                store(work.totals, d + place, after)
                store(work.totals, 2 * area + d + place, before + (after if tied else before))
            continue
        for step in range(3):
            for g in range(first, end):
                sigma = load16(work.other, int64_at(work.segment_row, g) * wide + sequence)
                for k in range(g * width, g * width + int32_at(work.n_places, g)):
                    place = int32_at(work.places, k)
                    now = load16(work.totals, d + place)
                    if step == 0:
                        store(work.totals, area + d + place, now)
                    elif step == 1:
                        store(work.totals, d + place, now + sigma * load16(work.groups, g * stride + place))
                    else:
                        store(work.totals, 2 * area + d + place, load16(work.totals, area + d + place) + now)
