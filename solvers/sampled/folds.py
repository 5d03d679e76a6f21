"""Values of folds.

With ``T_j[c] = Σ_g σ_j[g] · groups[g][c]`` for lane j, a sequence of q that ends in a fold, a hand of group g with
cards a and b meets there the reach

    T_j[all] − T_j[a] − T_j[b] + σ_j[g] · r[h]

(the same hand, which both cards take off, is added once). Rows need the sum of their hands' values at each fold, which
is a product of T with the number of hands that hold each card. Hands need their value at the roots: p's own reach
weighs the folds, so that one vector ``mixed[g][c] = Σ_j w_j[g] · T_j[c]`` serves all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import inlined
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
from solvers.sampled.views import Cursor, all_hands, cards_of, other_width, own_width

FOUR = (0, 0, 0, 0)
"""Template of four vectors."""
_ZERO: Any = np.float32(0)


@inlined
def own_weights(c: Cursor) -> None:
    """Fill ``work.weights``.

    A weight is the chips of a lane's leaves times p's own reach there; lanes are folds, then showdowns.
    """
    work, batch, program = c.work, c.batch, c.round.program
    width, n_lanes = own_width(c), WIDTH * (batch.n_folds + batch.n_shows)
    for n in range(0, program.n_rows * n_lanes, WIDTH):
        store(work.weights, n, fill16(_ZERO))
    _add_weights(c, batch.fold_leaves, batch.n_fold_leaves, 0, batch.pay + WIDTH * batch.n_show_leaves, width)
    _add_weights(c, batch.show_leaves, batch.n_show_leaves, batch.n_folds, batch.pay, width)


@inlined
def clear_values(c: Cursor) -> None:
    """Set ``work.values`` to 0."""
    n_lanes = c.batch.n_folds + c.batch.n_shows
    for n in range(0, WIDTH * c.round.program.n_rows * n_lanes, WIDTH):
        store(c.work.values, n, fill16(_ZERO))


@inlined
def _add_weights(c: Cursor, first: int, n: int, first_lane: int, pay: int, width: int) -> None:
    """Add the weights of folds or of showdowns."""
    work, program = c.work, c.round.program
    n_lanes = WIDTH * (c.batch.n_folds + c.batch.n_shows)
    for k in range(n):
        leaf = record_at(program.leaves, first + k)
        lane, at = WIDTH * (first_lane + leaf.lane), c.at_rows + leaf.own_sequence
        chips = load16(program.pay, pay + WIDTH * k)
        for row in range(program.n_rows):
            to = row * n_lanes + lane
            store(work.weights, to, load16(work.weights, to) + load16(work.own, row * width + at) * chips)


@inlined
def fold_totals(c: Cursor) -> None:
    """Compute the totals T of folds, hand by hand, in rounds before the last."""
    work, board, batch, lanes = c.work, c.board, c.batch, c.round.program.lanes
    all_, width = all_hands(board), other_width(c)
    for place in range(0, batch.n_folds * board.stride, WIDTH):
        store(work.totals, place, fill16(_ZERO))
    for h in range(board.n_hands):
        came = load16(work.reach, c.at_hands + WIDTH * h)
        row, (a, b) = c.at_rows + int32_at(board.rows, h) * width, cards_of(board, h)
        for j in range(batch.n_folds):
            reach = load16(work.other, row + int64_at(lanes, batch.lanes + j)) * came
            d = j * board.stride
            store(work.totals, d + a, load16(work.totals, d + a) + reach)
            if board.two:
                store(work.totals, d + b, load16(work.totals, d + b) + reach)
            store(work.totals, d + all_, load16(work.totals, d + all_) + reach)


@inlined
def fold_value(c: Cursor, h: int):  # type: ignore[no-untyped-def]
    """Add hand h's values at folds to ``work.values`` of its row; return its value under p's own reach.

    The function is for rounds before the last, where each row is a group.
    """
    work, board, batch, lanes = c.work, c.board, c.batch, c.round.program.lanes
    row, all_, (a, b) = int32_at(board.rows, h), all_hands(board), cards_of(board, h)
    came = load16(work.reach, c.at_hands + WIDTH * h)
    sigmas, first = c.at_rows + row * other_width(c), WIDTH * row * batch.n_folds
    value = fill16(_ZERO)
    for j in range(batch.n_folds):
        d, at = j * board.stride, first + WIDTH * j
        met = load16(work.totals, d + all_) - (load16(work.totals, d + a) + load16(work.totals, d + b))
        if board.two:
            met = met + load16(work.other, sigmas + int64_at(lanes, batch.lanes + j)) * came
        store(work.values, at, load16(work.values, at) + met)
        value = value + load16(work.weights, at) * met
    return value


@inlined
def fold_values(c: Cursor, g: int, row: int) -> None:
    """Add a segment's sums at folds to ``values[row]``; fill ``mixed[g]``, and ``same[g]`` = ``Σ_j w_j σ_j``.

    Four folds at a time; beyond the last one it is computed again, with weight 0.
    """
    work, board, batch, lanes = c.work, c.board, c.batch, c.round.program.lanes
    n_folds, stride, into = batch.n_folds, board.stride, g * board.stride
    first_place = g * (stride // WIDTH)
    last_place = first_place + int32_at(work.n_places, g)
    sigmas, first = row * other_width(c), WIDTH * row * (n_folds + batch.n_shows)
    for k in range(first_place, last_place):
        store(work.mixed, into + int32_at(work.places, k), fill16(_ZERO))
    same, held = fill16(_ZERO), load16(work.groups, into + all_hands(board))
    for j in range(0, n_folds, 4):
        folds = clamped(stepped(FOUR, j, 1), n_folds - 1)
        at, values = scaled(folds, stride), shifted(scaled(folds, WIDTH), first)
        weights = first_only(load_each(work.weights, values), n_folds - j)
        sums = fill_each(FOUR, _ZERO)
        for k in range(first_place, last_place):
            count, place = fill16(float32_at(work.counts, k)), int32_at(work.places, k)
            totals = load_each(work.totals, shifted(at, place))
            sums = sums + totals * count
            store(work.mixed, into + place, load16(work.mixed, into + place) + paired(weights, totals))
        if board.two:
            sequences = int64_each(lanes, shifted(folds, batch.lanes))
            sigma = load_each(work.other, shifted(sequences, sigmas))
            sums = sums + sigma * held
            same = chain(same, sigma, weights)
        store_each(work.values, values, load_each(work.values, values) + sums)
    store(work.same, WIDTH * g, same)
