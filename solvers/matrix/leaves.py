"""Leaf matrices of a chunk, card removal exact: lanes are the opposing rows of a strategy instead of betting lines.

For one player's view, with own hands i weighing ``own_weight`` and opposing hands j weighing ``reach``:

    G[x, y] = Σ_{group(i) = x, group(j) = y} own_weight[i] · reach[j] · compat(i, j) · u(i, j)

where u is 1 (the joint weight W of the rows, which is also what a fold needs), the sign of the showdown, or the
payoff matrix of the chunk that a dealt board leads to. One pass over the hands in order of strength gives the first
two; the third needs totals per row and per blocker.
"""

from __future__ import annotations

import numpy as np

from compiled import kernel
from solvers.game import Hands
from solvers.reference.kernels import terminal_values
from solvers.tree import Floats, ForestArrays, Ints, Lanes


def row_matrices(
    own: Hands, other: Hands, own_weight: Floats, reach: Floats, n_ids: int
) -> tuple[Floats, Floats]:
    """Weight matrix W and showdown matrix ``[own row, opposing row]``, in the own player's view."""
    k, n, m = other.n_rows, len(own.row), len(other.row)
    lanes = np.arange(k)
    by_row = np.zeros((k, m))
    by_row[other.row, np.arange(m)] = reach
    blank, sequence = np.zeros(2 * k, dtype=np.int64), np.zeros((2, 2 * k), dtype=np.int64)
    forest = ForestArrays(
        k, blank, blank, blank, blank, blank, sequence, np.ones(2 * k), blank, np.zeros(2 * k)
    )
    values = np.zeros((2 * k, n))
    terminal_values(
        forest,
        Lanes(lanes, lanes, lanes, lanes, lanes + k, lanes),
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
    """Add one dealt board to the matrices of the chance leaves, without dividing by the number of boards.

    Args:
        totals: ``[own row, opposing row, leaf]``, which grow.
        own: hands of the player whose view it is.
        other: hands of the opponent.
        own_weight: ``[own hand]``.
        reach: ``[opposing hand]``.
        payoffs: ``[own row below, opposing row below, leaf]``: the payoff matrices below, own gains positive.
        own_image: ``[own hand]``, the row below; -1 if the deal takes a card of the hand.
        other_image: ``[opposing hand]``, the same.
        n_ids: number of cards.
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
    """``out[x, y] = Σ_{group(i) = x} own_weight[i] · values[i, y]``."""
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
    """``total[x, y] += Σ_{i in x, j in y, compat(i, j), both left} own_weight[i] · reach[j] · payoffs[images]``."""
    width, n, k = totals.shape[1], totals.shape[2], own_ids.shape[1]
    all_of = np.zeros(
        (payoffs.shape[0], width, n)
    )  # of a row below against all hands, whatever cards they share
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
        j = twin[i]  # its own hand in the opponent's range was taken off once per blocker
        if k > 1 and j >= 0 and other_image[j] >= 0:
            y, below, joint = other_group[j], other_image[j], (k - 1) * weight * reach[j]
            for leaf in range(n):
                totals[row, y, leaf] += joint * payoffs[x, below, leaf]
