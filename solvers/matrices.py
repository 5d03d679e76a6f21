"""Leaf matrices of a chunk, card removal exact: lanes are the opposing rows of a strategy instead of betting lines.

For one player's view, with own hands i weighing ``own_weight`` and opposing hands j weighing ``reach``:

    G[x, y] = Σ_{group(i) = x, group(j) = y} own_weight[i] · reach[j] · compat(i, j) · u(i, j)

where u is 1 (the joint weight W of the rows, which is also what a fold needs), the sign of the showdown, or the
payoff matrix of the chunk that a dealt board leads to. One pass over the hands in order of strength gives the first
two; the third needs totals per row and per blocker.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiled import kernel
from solvers.forest import Floats, ForestArrays, Ints, Lanes
from solvers.kernels import terminal_values


@dataclass(frozen=True)
class Hands:
    """One player's hands on one board: ``blockers[i, k]``, ``strength[i]`` ascending, ``twin[i]``, ``group[i]``."""

    blockers: Ints
    strength: Ints
    twin: Ints
    group: Ints
    n_groups: int


def row_matrices(
    own: Hands, other: Hands, own_weight: Floats, reach: Floats, n_ids: int
) -> tuple[Floats, Floats]:
    """(weight matrix W, showdown matrix) ``[own row, opposing row]`` in the own player's view."""
    k, n, m = other.n_groups, len(own.group), len(other.group)
    lanes = np.arange(k)
    by_row = np.zeros((k, m))
    by_row[other.group, np.arange(m)] = reach
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
        (n, own.blockers, own.strength, own.twin),
        (m, other.blockers, other.strength, other.twin),
        n_ids,
        values,
    )
    return _collect(own, own_weight, values[:k].T), _collect(own, own_weight, values[k:].T)


def deal_matrix(
    own: Hands,
    other: Hands,
    own_weight: Floats,
    reach: Floats,
    payoffs: Floats,
    own_image: Ints,
    other_image: Ints,
    n_ids: int,
) -> Floats:
    """One dealt board's share of a chance leaf ``[own row, opposing row]``, not yet divided by the boards.

    ``payoffs[x', y']`` is the payoff matrix below, own gains positive; ``own_image[i]`` is the row below of the own
    hand i, -1 where the deal takes it.
    """
    values = np.zeros((len(own.group), other.n_groups))
    _deal_values(
        own.blockers,
        own.twin,
        other.blockers,
        other.group,
        np.ascontiguousarray(reach),
        np.ascontiguousarray(payoffs),
        own_image,
        other_image,
        n_ids,
        values,
    )
    return _collect(own, own_weight, values)


def _collect(own: Hands, own_weight: Floats, values: Floats) -> Floats:
    """``out[x, y] = Σ_{group(i) = x} own_weight[i] · values[i, y]``."""
    out = np.zeros((own.n_groups, values.shape[1]))
    order = np.argsort(own.group, kind="stable")
    groups, starts = np.unique(own.group[order], return_index=True)
    if len(groups):
        out[groups] = np.add.reduceat(own_weight[order, None] * values[order], starts, axis=0)
    return out


@kernel
def _deal_values(
    own_ids: Ints,
    twin: Ints,
    other_ids: Ints,
    other_group: Ints,
    reach: Floats,
    payoffs: Floats,
    own_image: Ints,
    other_image: Ints,
    n_ids: int,
    values: Floats,
) -> None:
    """``values[i, y] = Σ_{j in y, compat(i, j), both left} reach[j] · payoffs[own_image[i], other_image[j]]``."""
    rows_below, width, k = payoffs.shape[0], values.shape[1], own_ids.shape[1]
    total = np.zeros((rows_below, width))
    blocked = np.zeros((n_ids, rows_below, width))
    for j in range(len(reach)):
        y, below = other_group[j], other_image[j]
        if below < 0 or reach[j] == 0.0:
            continue
        for x in range(rows_below):
            chips = reach[j] * payoffs[x, below]
            total[x, y] += chips
            for c in range(k):
                blocked[other_ids[j, c], x, y] += chips
    for i in range(len(own_image)):
        x = own_image[i]
        if x < 0:
            continue
        for y in range(width):
            values[i, y] = total[x, y]
        for c in range(k):
            for y in range(width):
                values[i, y] -= blocked[own_ids[i, c], x, y]
        j = twin[i]  # its own hand in the opponent's range was taken off once per blocker
        if k > 1 and j >= 0 and other_image[j] >= 0:
            values[i, other_group[j]] += (k - 1) * reach[j] * payoffs[x, other_image[j]]
