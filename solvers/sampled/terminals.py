"""Values of folds and showdowns on one board, for a batch of lines: of rows, and of hands that follow their strategy.

Hands are in groups with equal strategies: rows, or in the last round *segments*, which are runs of hands of one row in
order of strength. A *level* is a run of segments that ties link; a segment without such ties is a level by itself. Let
σ_j[g] be the reach within the round of the opponent's hands in group g, at the opponent's j-th sequence that ends in a
fold. Let ``groups[g][c]`` be the opponent's reach at the start of the round, summed over the hands of group g that hold
card c, or over all hands of the group for c = all. With the totals ``T_j[c] = Σ_g σ_j[g] · groups[g][c]``, the
traverser's hand h of group g with cards a and b meets the opposing reach

    T_j[all] − T_j[a] − T_j[b] + σ_j[g] · r[h]

at the fold. Both card totals contain the opponent's same hand, so the last term adds its reach once; r[h] is this reach
at the start of the round.

A hand's value at a showdown is the opposing reach that the hand beats minus the opposing reach that beats it. All hands
of one segment compare in the same way with all hands of another segment. So for the opponent's j-th sequence that ends
in a showdown,

    D_j[c] = (reach in weaker segments) + (reach in weaker segments and this level) − (reach in all segments)

serves all hands of a segment; *this level* is the segment's level. D_j counts the opponent's hands that hold card c (or
all hands), with their reach at the showdown, as T_j does. The kernels go through the segments in ascending order and
add to running totals. Hands of the same segment are compared one by one, but only once per batch of lines: the result,
multiplied by σ_j, serves every sequence (`segments.gather_segments`).

Regrets need the opposing reach summed over each row's hands, which is a scalar product of T (or D) with the numbers of
hands that hold each card. The previous round needs each hand's value under the traverser's strategy, summed over all
folds and showdowns (`follow`, `follow_last`). With weights w_j[g] = chips times the traverser's reach, the vector
``mixed[g][c] = Σ_j w_j[g] · T_j[c]`` gives this value for all hands of a group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite.binding import get_host_cpu_features

from compiled import inlined, part
from compiled.records import record_at
from compiled.several import (
    chain,
    clamped,
    fill_each,
    first_only,
    int64_each,
    load_each,
    paired,
    scaled,
    shifted,
    stepped,
    store_each,
)
from compiled.vector import WIDTH, fill16, float32_at, int32_at, int64_at, load16, store
from solvers.sampled.boards import ROW_AND_HAND, Parent, ParentLink, hand_up
from solvers.sampled.decisions import prefetch_row
from solvers.sampled.segments import in_level, level_end, one_tie
from solvers.sampled.views import Cursor, all_hands, other_width, own_width
from solvers.steps import FOUR, THREE, ZERO, cards_of

AT_ONCE = (0,) * (8 if get_host_cpu_features().get("avx512f") else 4)
"""Tuple of zeros: its length is the number of totals that fit into the processor's registers."""
_HALF: Any = np.float32(0.5)


@inlined
def own_weights(c: Cursor) -> None:
    """Compute `Workspace.weights`, ``[row][opponent's sequence that ends in folds, or in showdowns][lane]``.

    A weight is a sum over the folds (or showdowns) in which the opponent's sequence ends: the chips that the traverser
    wins at the leaf, times the traverser's reach. Sequences that end in folds come first.
    """
    work, batch, program = c.work, c.batch, c.round.program
    width, n_endings = own_width(c), WIDTH * (batch.n_folds + batch.n_shows)
    for row in range(program.n_rows):
        if int32_at(work.row_hands, row) != 0:
            for n in range(row * n_endings, (row + 1) * n_endings, WIDTH):
                store(work.weights, n, fill16(ZERO))
    _add_weights(c, batch.fold_leaves, batch.n_fold_leaves, 0, batch.pay + WIDTH * batch.n_show_leaves, width)
    _add_weights(c, batch.show_leaves, batch.n_show_leaves, batch.n_folds, batch.pay, width)


@inlined
def clear_values(c: Cursor) -> None:
    n_endings = WIDTH * (c.batch.n_folds + c.batch.n_shows)
    for row in range(c.round.program.n_rows):
        if int32_at(c.work.row_hands, row) != 0:
            for n in range(row * n_endings, (row + 1) * n_endings, WIDTH):
                store(c.work.values, n, fill16(ZERO))


@inlined
def _add_weights(c: Cursor, first: int, n: int, first_ending: int, pay: int, width: int) -> None:
    """Add the terms of n leaves from ``first`` on, all folds or all showdowns, to the weights of `own_weights`."""
    work, program = c.work, c.round.program
    n_endings = WIDTH * (c.batch.n_folds + c.batch.n_shows)
    for k in range(n):
        leaf = record_at(program.leaves, first + k)
        ending, at = WIDTH * (first_ending + leaf.ending), c.at_rows + leaf.own_sequence
        chips = load16(program.pay, pay + WIDTH * k)
        for row in range(program.n_rows):
            if int32_at(work.row_hands, row) != 0:
                to = row * n_endings + ending
                store(work.weights, to, load16(work.weights, to) + load16(work.own, row * width + at) * chips)


@inlined
def fold_values(c: Cursor, g: int, row: int, by_hand: bool) -> None:
    """Add the values at folds of group g's hands to their row's sums in `Workspace.values`.

    With ``by_hand`` the function also adds to `Workspace.mixed` and fills `Workspace.same` of the group, from which the
    values of single hands follow: sums over all folds, weighted by the traverser's chips and reach. Four folds are
    computed at a time; if fewer remain, the last fold is repeated with weight 0.
    """
    work, board, batch, endings = c.work, c.board, c.batch, c.round.program.endings
    n_folds, stride, into = batch.n_folds, board.stride, g * board.stride
    first_place = g * (stride // WIDTH)
    last_place = first_place + int32_at(work.n_places, g)
    sigmas, first = c.at_rows + row * other_width(c), WIDTH * row * (n_folds + batch.n_shows)
    same, held = fill16(ZERO), load16(work.groups, into + all_hands(board))
    for j in range(0, n_folds, 4):
        folds = clamped(stepped(FOUR, j, 1), n_folds - 1)
        at, values = scaled(folds, stride), shifted(scaled(folds, WIDTH), first)
        weights = first_only(load_each(work.weights, values), n_folds - j)
        sums = fill_each(FOUR, ZERO)
        for k in range(first_place, last_place):
            count, place = fill16(float32_at(work.counts, k)), int32_at(work.places, k)
            totals = load_each(work.totals, shifted(at, place))
            sums = sums + totals * count
            if by_hand:
                store(work.mixed, into + place, load16(work.mixed, into + place) + paired(weights, totals))
        if board.two:
            sequences = int64_each(endings, shifted(folds, batch.endings))
            sigma = load_each(work.other, shifted(sequences, sigmas))
            sums = sums + sigma * held
            if by_hand:
                same = chain(same, sigma, weights)
        store_each(work.values, values, load_each(work.values, values) + sums)
    if by_hand:
        store(work.same, WIDTH * g, same)


@inlined
def ending_totals(c: Cursor) -> None:
    """Fill `Workspace.totals`: the opponent's reach by card, for each of its sequences that end in folds or showdowns.

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
            store(work.totals, j * stride + WIDTH * board.n_places, fill16(ZERO))


@inlined
def restart_totals(c: Cursor) -> None:
    """Set the running totals of showdowns back to their values before the first segment.

    The totals go from minus half of the opponent's whole reach to plus half, so a change of sign restores them.
    """
    first, batch = c.batch.n_folds * c.board.stride, c.batch
    for place in range(first, first + batch.n_shows * c.board.stride, WIDTH):
        store(c.work.totals, place, fill16(ZERO) - load16(c.work.totals, place))


@inlined
def _total(c: Cursor, endings: Any) -> None:
    """Write the opponent's reach by card for the terminal sequences ``endings`` into `Workspace.totals`."""
    work, board = c.work, c.board
    width, at = other_width(c), scaled(endings, board.stride)
    sequences = shifted(int64_each(c.round.program.endings, shifted(endings, c.batch.endings)), c.at_rows)
    for card in range(board.n_places):
        total, first = fill_each(endings, ZERO), card * work.n_groups
        for k in range(first, first + int32_at(work.n_holders, card)):
            g = int32_at(work.holders, k)
            held = load16(work.groups, g * board.stride + WIDTH * card)
            row = int64_at(work.segment_row, g) * width
            total = total + load_each(work.other, shifted(sequences, row)) * held
        store_each(work.totals, shifted(at, WIDTH * card), total)


@inlined
def begin_mixed(c: Cursor, g: int, row: int, whole: bool) -> None:
    """Begin `Workspace.mixed` of group g, to which folds and showdowns are added, and compute `Workspace.inside`.

    ``inside`` is the sum of the products of the opponent's reach within the round and the traverser's weights. If
    ``whole``, ``mixed`` begins with the group's own reach: `showdown_values` then adds twice the running total before
    the group. The sum of both is the reach that the group's hands beat minus the reach that beats them.
    """
    work, batch, stride = c.work, c.batch, c.board.stride
    n_folds, n_endings, inside = batch.n_folds, batch.n_folds + batch.n_shows, fill16(ZERO)
    sigmas, weights = c.at_rows + row * other_width(c), WIDTH * row * n_endings
    for j in range(n_folds, n_endings):
        sigma = load16(work.other, sigmas + int64_at(c.round.program.endings, batch.endings + j))
        inside = inside + sigma * load16(work.weights, weights + WIDTH * j)
    store(work.inside, WIDTH * g, inside)
    share = inside if whole else fill16(ZERO)
    first = g * (stride // WIDTH)
    for k in range(first, first + int32_at(work.n_places, g)):
        place = g * stride + int32_at(work.places, k)
        store(work.mixed, place, load16(work.groups, place) * share)


@inlined
def showdown_values(c: Cursor, g: int, row: int, alone: bool, by_hand: bool) -> None:
    """Add the values at showdowns of the hands of segment g to the sums of their row in `Workspace.values`.

    With ``by_hand`` the function also adds to `Workspace.mixed` of the segment. If the segment is ``alone``, without
    ties to other segments, the function also adds the segment's reach to the running totals; otherwise `advance_level`
    has done so.
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

    If the segment is alone, the reach that its hands beat minus the reach that beats them is twice the running total
    before the segment plus the segment's reach. The segment's reach enters `Workspace.mixed` in `begin_mixed`, and the
    row's sums by way of `Workspace.within_sums`.
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
    sums = fill_each(shows, ZERO)
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
    """Prepare `showdown_values` for the level (segments linked by ties) from segment g on; return the next segment."""
    end = level_end(c.work, g, n_groups)
    if end > g + 1 and c.batch.n_shows > 0:
        advance_level(c, g, end)
    return end


@inlined
def advance_level(c: Cursor, first: int, end: int) -> None:
    """Add the opponent's reach in segments ``first`` to ``end - 1`` to the running totals of showdowns.

    Ties link these segments, so they are compared as one. `Workspace.totals` has three parts of equal size for
    showdowns. Part 1 has the running totals. Part 3 gets the result for each segment: the reach that its hands beat
    minus the reach that beats them, D. Part 2 keeps the totals from before the call, since the segments may hold the
    same cards; a single segment does not need this copy. In a segment with hands of several strengths
    `Workspace.within` includes the segment, so part 3 gets D minus the segment's reach.
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


@inlined
def clear_exits(c: Cursor) -> None:
    """Clear the buffers that collect values from the boards of the next round."""
    for n in range(0, WIDTH * c.board.n_hands, WIDTH):
        store(c.work.hand_exits, c.at_hands + n, fill16(ZERO))
    for n in range(0, c.work.n_ends, WIDTH):
        store(c.work.row_exits, c.at_exits + n, fill16(ZERO))


@part
def follow_last(c: Cursor, parent: Parent, link: ParentLink, n_groups: int) -> None:
    """Add all hands' values in the last round, under the traverser's strategy, to the board of the previous round.

    The function also fills `Workspace.values`, the values of rows. ``n_groups`` is the number of the board's segments.
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
    """Add all hands' values before the last round, under the traverser's strategy, to the previous round's board."""
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
