"""Values of folds on one board, for one batch of lines.

Hands are in groups with equal strategies: rows, or in the last round segments (runs of hands of one row, in order of
strength). Let σ_j[g] be the reach within the round of the opponent's hands in group g, at its j-th sequence that ends
in a fold. Let ``groups[g][c]`` be the opponent's reach at the start of the round, summed over the hands of group g that
hold card c, or over all hands of the group for c = all. With the totals ``T_j[c] = Σ_g σ_j[g] · groups[g][c]``, the
traverser's hand h of group g with cards a and b meets the opposing reach

    T_j[all] − T_j[a] − T_j[b] + σ_j[g] · r[h]

at the fold. Both card totals contain the opponent's same hand, so the last term adds its reach once; r[h] is this reach
at the start of the round.

Regrets need the opposing reach summed over each row's hands, which is a product of T with the number of hands that hold
each card. The previous round needs each hand's value under the traverser's strategy, summed over all folds. With
weights w_j[g] = chips times the traverser's reach, the vector ``mixed[g][c] = Σ_j w_j[g] · T_j[c]`` gives this value
for all hands of a group.
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
from compiled.vector import WIDTH, fill16, float32_at, int32_at, load16, store
from solvers.sampled.views import Cursor, all_hands, other_width, own_width

FOUR = (0, 0, 0, 0)
"""Tuple of four zeros: its length tells `stepped` to return four offsets."""
_ZERO: Any = np.float32(0)


@inlined
def own_weights(c: Cursor) -> None:
    """Compute ``work.weights``, ``[row][opponent's sequence that ends in folds, or in showdowns][lane]``.

    A weight is a sum over the folds (or showdowns) in which the opponent's sequence ends: the chips that the traverser
    wins at the leaf, times the traverser's reach. Sequences that end in folds come first.
    """
    work, batch, program = c.work, c.batch, c.round.program
    width, n_endings = own_width(c), WIDTH * (batch.n_folds + batch.n_shows)
    for row in range(program.n_rows):
        if int32_at(work.row_hands, row) != 0:
            for n in range(row * n_endings, (row + 1) * n_endings, WIDTH):
                store(work.weights, n, fill16(_ZERO))
    _add_weights(c, batch.fold_leaves, batch.n_fold_leaves, 0, batch.pay + WIDTH * batch.n_show_leaves, width)
    _add_weights(c, batch.show_leaves, batch.n_show_leaves, batch.n_folds, batch.pay, width)


@inlined
def clear_values(c: Cursor) -> None:
    """Set ``work.values``, the sums of each row's values at folds and showdowns, to 0."""
    n_endings = WIDTH * (c.batch.n_folds + c.batch.n_shows)
    for row in range(c.round.program.n_rows):
        if int32_at(c.work.row_hands, row) != 0:
            for n in range(row * n_endings, (row + 1) * n_endings, WIDTH):
                store(c.work.values, n, fill16(_ZERO))


@inlined
def _add_weights(c: Cursor, first: int, n: int, first_ending: int, pay: int, width: int) -> None:
    """Add the terms of all folds, or of all showdowns, to ``work.weights`` (see `own_weights`).

    Args:
        c: batch of lines on a board.
        first: first leaf in ``program.leaves``.
        n: number of leaves.
        first_ending: index in ``work.weights`` of the opponent's first sequence that ends in such leaves: 0 for folds,
            the number of fold sequences for showdowns.
        pay: offset of the first leaf's chips in ``program.pay``.
        width: size of one row of ``work.own``.
    """
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
    """Add the values at folds of group g's hands to their row's sums in ``work.values``.

    A group is a row; in the last round it is a segment (a run of hands of one row, in order of strength). With
    ``by_hand`` the function also adds to ``mixed[g]`` and fills ``same[g]``, from which the values of single hands
    follow: sums over all folds, weighted by the traverser's chips and reach. Four folds are computed at a time; if
    fewer remain, the last fold is repeated with weight 0.
    """
    work, board, batch, endings = c.work, c.board, c.batch, c.round.program.endings
    n_folds, stride, into = batch.n_folds, board.stride, g * board.stride
    first_place = g * (stride // WIDTH)
    last_place = first_place + int32_at(work.n_places, g)
    sigmas, first = c.at_rows + row * other_width(c), WIDTH * row * (n_folds + batch.n_shows)
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
