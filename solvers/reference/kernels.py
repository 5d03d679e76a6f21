"""The four steps of a pass over one chunk forest on one board, for one player's update against the other.

In the order in which data flows, for the updating player p and the opponent q:

1. ``match``: strategies from positive parts, ``σ[slot, g] = x[slot, g]⁺ / Σ_a x[slot_a, g]⁺`` (uniform where the
   sum is at most `FLOOR`).
   The same step serves regrets (current strategy) and sums (average strategy).
2. ``reach_down``: ``reach[child sequence, h] = reach[parent sequence, h] · σ[slot, group(h)]`` for q.
3. ``terminal_values``: value of every own row at every fold and showdown from q's reach, card removal exact.
4. ``values_up``: ``v[n, h] = Σ_a σ[a] v[child_a, h]`` at own nodes (regrets updated on the way), plain sums at
   the opponent's, the maximum for a best response.

Where rows are locked, ``impose`` follows ``match``, and ``respond_up`` takes the place of a best response's 4.

Arrays are ``[sequence or node or slot, row]`` with rows contiguous. Rows behind ``count`` are padding and are
never read. ``group`` maps rows to the rows of the strategy: the identity, or buckets.
Kernels take clean arrays; validation is their callers' business. Slow twins: ``tests/naive.py``.
"""

from typing import NamedTuple

import numpy as np

from compiled import kernel
from solvers.discount import Factors
from solvers.state import FLOOR
from solvers.tree import DECISION, Floats, ForestArrays, Ints, Lanes

UPDATE, BEST, EVALUATE = range(3)
"""Modes of a pass at own nodes: update regrets, take the best action per row, or follow the strategy."""


class LockArrays(NamedTuple):
    """One player's locked rows on all boards of a round; arrays are empty without locks."""

    node: Ints  # [L] locked decisions
    first: Ints  # [N] for each of the round's nodes the place of its first action in ``frequencies``, or -1
    frequencies: Floats  # [board, place, row], NaN: free


@kernel
def match(forest: ForestArrays, p: int, source: Floats, strategy: Floats) -> None:
    """Fill ``strategy[slot, group]`` of player p by regret matching on ``source[slot, group]``; see `FLOOR`."""
    groups = source.shape[1]
    zero, floor = source.dtype.type(0), source.dtype.type(FLOOR)
    total = np.empty(groups, source.dtype)
    for n in range(len(forest.kind)):
        if forest.kind[n] != DECISION or forest.player[n] != p:
            continue
        first, actions = forest.slot[n], forest.n_actions[n]
        total[:] = zero
        for a in range(first, first + actions):
            for g in range(groups):
                total[g] += max(source[a, g], zero)
        uniform = source.dtype.type(1.0 / actions)
        for a in range(first, first + actions):
            for g in range(groups):
                x = max(source[a, g], zero)
                strategy[a, g] = x / total[g] if total[g] > floor else uniform


@kernel
def impose(forest: ForestArrays, locks: LockArrays, b: int, count: int, strategy: Floats) -> None:
    """Overwrite ``strategy[slot, row]`` of locked rows by their frequencies; every row is a group."""
    for n in locks.node:
        for a in range(forest.n_actions[n]):
            given, s = locks.frequencies[b, locks.first[n] + a], forest.slot[n] + a
            for h in range(count):
                if not np.isnan(given[h]):
                    strategy[s, h] = given[h]


@kernel
def reach_down(
    forest: ForestArrays, q: int, strategy: Floats, group: Ints, direct: bool, count: int, reach: Floats
) -> None:
    """Fill player q's ``reach`` below the root sequences, which the caller has set."""
    for n in range(len(forest.kind)):
        if forest.kind[n] != DECISION or forest.player[n] != q:
            continue
        parent = forest.sequence[q, n]
        for a in range(forest.slot[n], forest.slot[n] + forest.n_actions[n]):
            child = forest.n_roots + a
            if direct:
                for h in range(count):
                    reach[child, h] = reach[parent, h] * strategy[a, h]
            else:
                for h in range(count):
                    reach[child, h] = reach[parent, h] * strategy[a, group[h]]


@kernel
def add_to_sums(
    n_roots: int, group: Ints, direct: bool, count: int, reach: Floats, decay: float, sums: Floats
) -> None:
    """``sums[slot, g] ← decay · sums[slot, g] + Σ_{h in g} reach[slot, h]``: own reach times strategy."""
    factor = sums.dtype.type(decay)
    for a in range(sums.shape[0]):
        if direct:
            for h in range(count):
                sums[a, h] = sums[a, h] * factor + reach[n_roots + a, h]
        else:
            for g in range(sums.shape[1]):
                sums[a, g] *= factor
            for h in range(count):
                sums[a, group[h]] += reach[n_roots + a, h]


@kernel
def terminal_values(
    forest: ForestArrays,
    lanes: Lanes,
    p: int,
    reach: Floats,
    own: tuple[int, Ints, Ints, Ints],
    other: tuple[int, Ints, Ints, Ints],
    n_ids: int,
    values: Floats,
) -> None:
    """Fill ``values[leaf, own row]`` of the folds and showdowns.

    ``own`` and ``other`` are (count, blockers ``[row, k]``, strength ``[row]`` ascending, twin ``[row]``): rows that
    share a blocker id exclude each other; the twin is the opposing row with the very same blockers, or -1.
    Rake: a pot that is won pays ``stake - rake``. At a showdown, with W, T, L the opposing reach that is beaten, tied
    and lost to, the value is ``stake (W - L) - rake (W + T / 2)`` where ``W + T / 2 = ((W - L) + (W + T + L)) / 2``.
    """
    n_own, own_ids, own_strength, twin = own
    n_other, other_ids, other_strength, _ = other
    k = own_ids.shape[1]
    sign = values.dtype.type(1 if p == 0 else -1)

    width = len(lanes.fold_sequence)
    if width > 0:
        total = np.zeros(width, values.dtype)
        blocked = np.zeros((n_ids, width), values.dtype)
        column = np.empty(width, values.dtype)
        lane_value = np.empty((n_own, width), values.dtype)
        for j in range(n_other):
            for x in range(width):
                column[x] = reach[lanes.fold_sequence[x], j]
            _add(column, other_ids[j], k, total, blocked)
        for i in range(n_own):
            for x in range(width):
                lane_value[i, x] = total[x] - blocked[own_ids[i, 0], x]
            for y in range(1, k):  # two blockers: the twin was taken off once for each
                for x in range(width):
                    lane_value[i, x] -= blocked[own_ids[i, y], x]
                if twin[i] >= 0:
                    for x in range(width):
                        lane_value[i, x] += reach[lanes.fold_sequence[x], twin[i]]
        for leaf in range(len(lanes.fold_leaf)):
            n, x = lanes.fold_leaf[leaf], lanes.fold_lane[leaf]
            stake = sign * values.dtype.type(forest.stake[n])
            if stake > 0:
                stake -= values.dtype.type(forest.rake[n])
            for i in range(n_own):
                values[n, i] = stake * lane_value[i, x]

    width = len(lanes.showdown_sequence)
    if width > 0:
        raked = False
        for n in lanes.showdown_leaf:
            raked = raked or forest.rake[n] > 0
        total = np.zeros(width, values.dtype)
        blocked = np.zeros((n_ids, width), values.dtype)
        column = np.empty(width, values.dtype)
        lane_value = np.zeros((n_own, width), values.dtype)
        below, equal, j = 0, 0, 0
        while below < n_own:  # classes of own rows of equal strength, weakest first
            strength = own_strength[below]
            while j < n_other and other_strength[j] < strength:
                for x in range(width):
                    column[x] = reach[lanes.showdown_sequence[x], j]
                _add(column, other_ids[j], k, total, blocked)
                j += 1
            equal = below
            while equal < n_own and own_strength[equal] == strength:
                _take(lane_value[equal], own_ids[equal], k, total, blocked)  # the ones it beats
                equal += 1
            while j < n_other and other_strength[j] == strength:
                for x in range(width):
                    column[x] = reach[lanes.showdown_sequence[x], j]
                _add(column, other_ids[j], k, total, blocked)
                j += 1
            for i in range(below, equal):
                _take(lane_value[i], own_ids[i], k, total, blocked)  # and the ones it ties
            below = equal
        while j < n_other:
            for x in range(width):
                column[x] = reach[lanes.showdown_sequence[x], j]
            _add(column, other_ids[j], k, total, blocked)
            j += 1
        mass = np.zeros((n_own if raked else 0, width), values.dtype)
        for i in range(len(mass)):  # all that row i can meet
            _take(mass[i], own_ids[i], k, total, blocked)
            if twin[i] >= 0:
                for x in range(width):
                    mass[i, x] += (k - 1) * reach[lanes.showdown_sequence[x], twin[i]]
        for i in range(n_own):  # beaten − (all − beaten − tied); the twin cancels
            for x in range(width):
                lane_value[i, x] -= total[x]
            for y in range(k):
                for x in range(width):
                    lane_value[i, x] += blocked[own_ids[i, y], x]
        for leaf in range(len(lanes.showdown_leaf)):
            n, x = lanes.showdown_leaf[leaf], lanes.showdown_lane[leaf]
            half = values.dtype.type(forest.rake[n] / 2)
            stake = values.dtype.type(forest.stake[n]) - half
            for i in range(n_own):
                values[n, i] = stake * lane_value[i, x]
            for i in range(len(mass)):
                values[n, i] -= half * mass[i, x]


@kernel
def _add(column: Floats, ids: Ints, k: int, total: Floats, blocked: Floats) -> None:
    for x in range(len(total)):
        total[x] += column[x]
    for y in range(k):
        card = ids[y]
        for x in range(len(total)):
            blocked[card, x] += column[x]


@kernel
def _take(lane_value: Floats, ids: Ints, k: int, total: Floats, blocked: Floats) -> None:
    for x in range(len(total)):
        lane_value[x] += total[x]
    for y in range(k):
        card = ids[y]
        for x in range(len(total)):
            lane_value[x] -= blocked[card, x]


@kernel(fastmath={"reassoc", "contract"})
def matrix_values(
    forest: ForestArrays,
    q: int,
    matrices: Floats,
    operator: Ints,
    scale: Floats,
    reach: Floats,
    values: Floats,
) -> None:
    """``values[leaf, i] = scale[leaf] · Σ_j matrices[operator[leaf], i, j] · reach[leaf's sequence, j]``.

    The compiler may reorder the sum into vectors; the order depends on the processor alone. Adding one number after the
    other takes three to five times as long.
    """
    for n in range(len(forest.kind)):
        if operator[n] < 0:
            continue
        matrix = matrices[operator[n]]
        opponent = reach[forest.sequence[q, n]]
        for i in range(matrix.shape[0]):
            total = 0.0
            for j in range(matrix.shape[1]):
                total += matrix[i, j] * opponent[j]
            values[n, i] = scale[n] * total


@kernel
def values_up(
    forest: ForestArrays,
    p: int,
    mode: int,
    strategy: Floats,
    group: Ints,
    direct: bool,
    count: int,
    values: Floats,
) -> None:
    """Fill ``values[node, own row]`` of the decisions from those of the leaves, last node first."""
    for n in range(len(forest.kind) - 1, -1, -1):
        if forest.kind[n] != DECISION:
            continue
        first, actions = forest.first_child[n], forest.n_actions[n]
        if forest.player[n] != p:
            _sum_up(n, first, actions, count, values)
        elif mode == BEST:
            _best_up(n, first, actions, count, values)
        else:
            for h in range(count):
                values[n, h] = values.dtype.type(0)
            for a in range(actions):
                s, c = forest.slot[n] + a, first + a
                if direct:
                    for h in range(count):
                        values[n, h] += strategy[s, h] * values[c, h]
                else:
                    for h in range(count):
                        values[n, h] += strategy[s, group[h]] * values[c, h]


@kernel
def respond_up(forest: ForestArrays, p: int, locks: LockArrays, b: int, count: int, values: Floats) -> None:
    """Compute `values_up` for a best response with locked rows, which get the mean of their frequencies."""
    for n in range(len(forest.kind) - 1, -1, -1):
        if forest.kind[n] != DECISION:
            continue
        first, actions = forest.first_child[n], forest.n_actions[n]
        if forest.player[n] != p:
            _sum_up(n, first, actions, count, values)
            continue
        _best_up(n, first, actions, count, values)
        if locks.first[n] < 0:
            continue
        given = locks.frequencies[b, locks.first[n] : locks.first[n] + actions]
        for h in range(count):
            if not np.isnan(given[0, h]):
                values[n, h] = values.dtype.type(0)
                for a in range(actions):
                    values[n, h] += given[a, h] * values[first + a, h]


@kernel
def _sum_up(n: int, first: int, actions: int, count: int, values: Floats) -> None:
    for h in range(count):
        values[n, h] = values[first, h]
    for c in range(first + 1, first + actions):
        for h in range(count):
            values[n, h] += values[c, h]


@kernel
def _best_up(n: int, first: int, actions: int, count: int, values: Floats) -> None:
    for h in range(count):
        values[n, h] = values[first, h]
    for c in range(first + 1, first + actions):
        for h in range(count):
            values[n, h] = max(values[n, h], values[c, h])


@kernel
def update_regrets(
    forest: ForestArrays,
    p: int,
    factors: Factors,
    group: Ints,
    direct: bool,
    count: int,
    weight: Floats,
    values: Floats,
    regrets: Floats,
    guess: Floats,
) -> None:
    """Apply the variant's rule to ``regrets[slot, group]`` of player p.

    The instantaneous regret of a group is ``Σ_{h in g} weight[h] (values[child, h] − values[node, h])``. A predictive
    variant writes its predicted regrets to ``guess``; other variants do not read or write ``guess``.
    """
    dtype = regrets.dtype.type
    positive, negative = dtype(factors.positive), dtype(0.0 if factors.clip else factors.negative)
    zero = dtype(0)
    groups = regrets.shape[1]
    instant = np.empty(groups, regrets.dtype)
    for n in range(len(forest.kind)):
        if forest.kind[n] != DECISION or forest.player[n] != p:
            continue
        for a in range(forest.n_actions[n]):
            s, c = forest.slot[n] + a, forest.first_child[n] + a
            if direct:
                for h in range(count):
                    instant[h] = values[c, h] - values[n, h]
            else:
                instant[:] = zero
                for h in range(count):
                    instant[group[h]] += weight[h] * (values[c, h] - values[n, h])
            for g in range(count if direct else groups):
                old = regrets[s, g]
                new = (old * positive if old > zero else old * negative) + instant[g]
                if factors.clip:
                    new = max(new, zero)
                regrets[s, g] = new
            if factors.predictive:
                for g in range(count if direct else groups):
                    guess[s, g] = regrets[s, g] + instant[g]


@kernel
def gather_rows(parent: Floats, parent_row: Ints, count: int, child: Floats) -> None:
    """``child[root, h] = parent[root, parent_row[h]]``: reach crosses a deal."""
    for r in range(parent.shape[0]):
        for h in range(count):
            child[r, h] = parent[r, parent_row[h]]


@kernel
def scatter_values(
    child: Floats, image: Ints, scale: float, n_roots: int, count: int, parent: Floats
) -> None:
    """``parent[root, h] += scale · child[root, image[h]]`` where the deal leaves row h (``image[h] >= 0``)."""
    factor = parent.dtype.type(scale)
    for r in range(n_roots):
        for h in range(count):
            if image[h] >= 0:
                parent[r, h] += factor * child[r, image[h]]
