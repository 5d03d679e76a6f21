"""Values of showdowns in the last round.

A showdown is worth what is weaker less what is stronger. Between segments the order is the same for all hands of both,
so for lane j, a sequence of q that ends in a showdown,

    D_j[c] = below + below and here − T_j[c]        below = Σ σ_j[g] · groups[g][c] over the segments below

serves the whole segment, and runs upward from segment to segment. Within a segment hands are compared one by one, and
σ_j is a factor (`segments.gather_segments`). All sequences of q share the order of hands, so what is counted per hand
is counted once per batch and not once per leaf. From D follow the sums of rows and ``mixed``, as in `folds`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
from solvers.sampled.views import Cursor, other_width

EIGHT = (0, 0, 0, 0, 0, 0, 0, 0)
"""Template of eight vectors."""
THREE = (0, 0, 0)
"""Template of three vectors."""
_ZERO: Any = np.float32(0)
_HALF: Any = np.float32(0.5)


@inlined
def lane_totals(c: Cursor) -> None:
    """T of folds, and of showdowns T times -1/2, which is D below the first segment."""
    work, board, batch, stride = c.work, c.board, c.batch, c.board.stride
    n_lanes, n_counted = batch.n_folds + batch.n_shows, batch.n_counted
    for j in range(0, n_counted, 8):
        if n_counted - j > 4:
            _total(c, clamped(stepped(EIGHT, j, 1), n_counted - 1))
        else:
            _total(c, clamped(stepped(FOUR, j, 1), n_counted - 1))
    for place in range(batch.n_folds * stride, n_counted * stride, WIDTH):
        store(work.totals, place, load16(work.totals, place) * -_HALF)
    for j in range(n_counted, n_lanes):
        from_ = int64_at(c.round.program.lanes, batch.shared + j - n_counted) * stride
        for place in range(0, WIDTH * board.n_places, WIDTH):
            store(work.totals, j * stride + place, load16(work.totals, from_ + place) * -_HALF)
    if not board.two:
        for j in range(n_lanes):
            store(work.totals, j * stride + WIDTH * board.n_places, fill16(_ZERO))


@inlined
def _total(c: Cursor, lanes: Any) -> None:
    """Compute T for several lanes at once."""
    work, board = c.work, c.board
    width, at = other_width(c), scaled(lanes, board.stride)
    sequences = int64_each(c.round.program.lanes, shifted(lanes, c.batch.lanes))
    for card in range(board.n_places):
        total, first = fill_each(lanes, _ZERO), card * work.n_groups
        for k in range(first, first + int32_at(work.n_holders, card)):
            g = int32_at(work.holders, k)
            held = load16(work.groups, g * board.stride + WIDTH * card)
            row = int64_at(work.segment_row, g) * width
            total = total + load_each(work.other, shifted(sequences, row)) * held
        store_each(work.totals, shifted(at, WIDTH * card), total)


@inlined
def showdown_values(c: Cursor, g: int, row: int, alone: bool):  # type: ignore[no-untyped-def]
    """Add a segment's sums at showdowns to ``values[row]``, and its part to ``mixed[g]``; return ``Σ_j w_j σ_j``.

    If the segment is a level of its own, this function advances D; otherwise `advance_level` has done so. Showdowns
    are processed three at a time.
    """
    j, n_shows, mean = 0, c.batch.n_shows, fill16(_ZERO)
    while j < n_shows:
        if alone and j + 3 <= n_shows:
            mean = _showdown_lanes(c, g, row, stepped(THREE, j, 1), alone, mean)
            j += 3
        else:
            mean = _showdown_lanes(c, g, row, (j,), alone, mean)
            j += 1
    return mean


@inlined
def _showdown_lanes(c: Cursor, g: int, row: int, shows: Any, alone: bool, mean):  # type: ignore[no-untyped-def]
    """Compute `showdown_values` for several showdowns at once, and add to ``mean``."""
    work, batch, stride = c.work, c.batch, c.board.stride
    n_folds, n_shows, into = batch.n_folds, batch.n_shows, g * stride
    first_place = g * (stride // WIDTH)
    lanes = shifted(shows, n_folds)
    values = shifted(scaled(lanes, WIDTH), WIDTH * row * (n_folds + n_shows))
    sequences = int64_each(c.round.program.lanes, shifted(lanes, batch.lanes))
    weights = load_each(work.weights, values)
    sigmas = load_each(work.other, shifted(sequences, row * other_width(c)))
    at = scaled(lanes, stride)
    moved = shifted(at, 2 * n_shows * stride)
    sums = fill_each(shows, _ZERO)
    for k in range(first_place, first_place + int32_at(work.n_places, g)):
        count, place = fill16(float32_at(work.counts, k)), int32_at(work.places, k)
        if alone:
            before = load_each(work.totals, shifted(at, place))
            after = before + sigmas * load16(work.groups, into + place)
            store_each(work.totals, shifted(at, place), after)
            between = before + after
        else:
            between = load_each(work.totals, shifted(moved, place))
        sums = sums + between * count
        store(work.mixed, into + place, chain(load16(work.mixed, into + place), weights, between))
    inside = load16(work.within_sums, WIDTH * g)
    store_each(work.values, values, load_each(work.values, values) + sums + sigmas * inside)
    return chain(mean, weights, sigmas)


@inlined
def advance_level(c: Cursor, first: int, end: int) -> None:
    """D for segments first to end - 1 as one level, two areas behind the totals, which move on past the segments.

    The area between keeps the earlier totals, since segments of a level may share cards; one segment alone needs none.
    """
    work, batch, board, stride = c.work, c.batch, c.board, c.board.stride
    wide, area, width = other_width(c), batch.n_shows * stride, stride // WIDTH
    for j in range(batch.n_folds, batch.n_folds + batch.n_shows):
        sequence, d = int64_at(c.round.program.lanes, batch.lanes + j), j * board.stride
        if end == first + 1:
            sigma = load16(work.other, int64_at(work.segment_row, first) * wide + sequence)
            for k in range(first * width, first * width + int32_at(work.n_places, first)):
                place = int32_at(work.places, k)
                before = load16(work.totals, d + place)
                after = before + sigma * load16(work.groups, first * stride + place)
                store(work.totals, d + place, after)
                store(work.totals, 2 * area + d + place, before + after)
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
