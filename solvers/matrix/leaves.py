"""Payoff matrices of the leaves of a chunk, with exact card removal.

A player's own hands i have the weights ``own_weight``, the opponent's hands j the weights ``reach``. The matrix entry
for own row x and opposing row y is

    Σ own_weight[i] · reach[j] · compat(i, j) · u(i, j)

summed over the hands i of row x and j of row y. compat is 1 if the hands share no card, else 0. The payoff u is 1 at a
fold (this matrix W holds the joint weights of the rows), 1, 0 or −1 at a showdown, and at a chance leaf the payoff of
the chunk that follows. The matrices of folds and showdowns come from one pass over the hands in order of strength; the
matrix of a chance leaf comes from sums over all opposing hands, minus sums over the hands that share a card.
"""

from __future__ import annotations

import numpy as np

from compiled import kernel
from solvers.game import Hands
from solvers.reference.kernels import terminal_values
from solvers.tree import Endings, Floats, ForestArrays, Ints


def row_matrices(
    own: Hands, other: Hands, own_weight: Floats, reach: Floats, n_ids: int
) -> tuple[Floats, Floats]:
    """Compute the matrices of folds (the joint weights W) and of showdowns: each ``[own row, opposing row]``.

    The hands ``own`` have the weights ``own_weight``, the opponent's hands the weights ``reach``.
    """
    k, n, m = other.n_rows, len(own.row), len(other.row)
    endings = np.arange(k)
    by_row = np.zeros((k, m))
    by_row[other.row, np.arange(m)] = reach
    blank, sequence = np.zeros(2 * k, dtype=np.int64), np.zeros((2, 2 * k), dtype=np.int64)
    forest = ForestArrays(
        k, blank, blank, blank, blank, blank, sequence, np.ones(2 * k), blank, np.zeros(2 * k)
    )
    values = np.zeros((2 * k, n))
    terminal_values(
        forest,
        Endings(endings, endings, endings, endings, endings + k, endings),
        0,
        by_row,
        (n, own.cards, own.strength, own.same_cards),
        (m, other.cards, other.strength, other.same_cards),
        n_ids,
        values,
    )
    both = _collect(own, own_weight, values.T)
    return np.ascontiguousarray(both[:, :k]), np.ascontiguousarray(both[:, k:])


def add_deal(
    totals: Floats,
    own: Hands,
    other: Hands,
    own_weight: Floats,
    reach: Floats,
    payoffs: Floats,
    own_image: Ints,
    other_image: Ints,
    n_ids: int,
) -> None:
    """Add the payoffs of one dealt board to the matrices of the chance leaves.

    The caller divides by the number of boards. The *next rows* are the rows of the chunks that the board leads to.

    Args:
        totals: ``[own row, opposing row, leaf]``, the matrices, changed in place.
        own_weight, reach: ``[hand]``, the weights of the hands ``own`` and ``other``.
        payoffs: ``[own next row, opposing next row, leaf]``: the payoff matrices of the chunks that the board leads to,
            own gains positive.
        own_image, other_image: ``[hand]``, the hand's next row; -1: the board blocks the hand.
        n_ids: number of different cards.
    """
    _add_deal(
        own.cards,
        own.same_cards,
        own.row,
        own_weight,
        other.cards,
        other.row,
        np.ascontiguousarray(reach),
        np.ascontiguousarray(payoffs),
        own_image,
        other_image,
        n_ids,
        totals,
    )


def _collect(own: Hands, own_weight: Floats, values: Floats) -> Floats:
    """Sum values ``[own hand, opposing row]`` over the hands of each own row, with weights."""
    out = np.zeros((own.n_rows, values.shape[1]))
    order = np.argsort(own.row, kind="stable")
    groups, starts = np.unique(own.row[order], return_index=True)
    if len(groups):
        out[groups] = np.add.reduceat(own_weight[order, None] * values[order], starts, axis=0)
    return out


@kernel
def _add_deal(
    own_ids: Ints,
    twin: Ints,
    own_group: Ints,
    own_weight: Floats,
    other_ids: Ints,
    other_group: Ints,
    reach: Floats,
    payoffs: Floats,
    own_image: Ints,
    other_image: Ints,
    n_ids: int,
    totals: Floats,
) -> None:
    """Add the payoffs of one dealt board to ``totals``, for `add_deal`.

    Arrays of `Hands` are called ids (``cards``), twin (``same_cards``) and group (``row``). Each own hand i and
    opposing hand j that share no card with each other or with the board add
    ``own_weight[i] · reach[j] · payoffs[own_image[i], other_image[j]]`` to ``totals`` at i's row and j's row.
    """
    width, n, k = totals.shape[1], totals.shape[2], own_ids.shape[1]
    # Own next rows against all opposing hands, including those that share a card; subtracted further down.
    all_of = np.zeros((payoffs.shape[0], width, n))
    starts = np.zeros(n_ids + 1, dtype=np.int64)
    for j in range(len(reach)):
        y, below = other_group[j], other_image[j]
        if below >= 0 and reach[j] != 0.0:
            for x in range(len(all_of)):
                for leaf in range(n):
                    all_of[x, y, leaf] += reach[j] * payoffs[x, below, leaf]
            for c in range(k):
                starts[other_ids[j, c] + 1] += 1
    for c in range(n_ids):
        starts[c + 1] += starts[c]
    holders = np.empty(starts[n_ids], dtype=np.int64)  # by card, the opposing hands that have it
    ends = starts[:-1].copy()
    for j in range(len(reach)):
        if other_image[j] >= 0 and reach[j] != 0.0:
            for c in range(k):
                holders[ends[other_ids[j, c]]] = j
                ends[other_ids[j, c]] += 1
    for i in range(len(own_image)):
        x, row, weight = own_image[i], own_group[i], own_weight[i]
        if x < 0 or weight == 0.0:
            continue
        for y in range(width):
            for leaf in range(n):
                totals[row, y, leaf] += weight * all_of[x, y, leaf]
        for c in range(k):
            for h in range(starts[own_ids[i, c]], starts[own_ids[i, c] + 1]):
                j = holders[h]
                y, below, joint = other_group[j], other_image[j], weight * reach[j]
                for leaf in range(n):
                    totals[row, y, leaf] -= joint * payoffs[x, below, leaf]
        j = twin[i]  # the opponent's hand with the same cards was subtracted once per card
        if k > 1 and j >= 0 and other_image[j] >= 0:
            y, below, joint = other_group[j], other_image[j], (k - 1) * weight * reach[j]
            for leaf in range(n):
                totals[row, y, leaf] += joint * payoffs[x, below, leaf]
