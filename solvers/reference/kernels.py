"""The steps of CFR on the betting trees of one round on one board, for player p against the opponent q.

``match`` computes strategies from regrets or sums. ``reach_down`` computes q's reach from the root to the leaves,
``terminal_values`` p's values at folds and showdowns, with exact card removal, and ``values_up`` p's values at
decisions: the mean by p's strategy (for a best response the maximum) where p decides, and the sum where q decides.
``update_up`` takes the place of ``values_up`` where p's regrets are updated. If hands are locked, ``impose`` follows
``match``, and ``respond_up`` takes the place of ``values_up`` for a best response. `solvers.tree` explains nodes, slots
and sequences. Hands from number ``count`` on are padding, which is not read. Hand h plays row ``group[h]`` of regrets,
sums and strategies; if ``direct``, row h. Kernels do not check their arguments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiled import kernel, part
from solvers.discount import Factors
from solvers.game import BEST, LiveGame
from solvers.state import FLOOR
from solvers.tree import DECISION, Endings, Floats, ForestArrays, Ints


class LockArrays(NamedTuple):
    """Locked hands of a player on all boards of a round; the arrays are empty if no hand is locked.

    Attributes:
        node: ``[lock]``, the locked decisions.
        first: ``[node]``, the index of a decision's first action in ``frequencies``; -1: the decision is not locked.
        frequencies: ``[board, locked action, hand]``; NaN: the hand is not locked.
    """

    node: Ints
    first: Ints
    frequencies: Floats


def lock_arrays(game: LiveGame, t: int, p: int, dtype: type = np.float64) -> LockArrays:
    locks = [lock for lock in game.locks if (lock.round, lock.player) == (t, p)]
    if not locks:
        nothing = np.zeros(0, dtype=np.int64)
        return LockArrays(nothing, nothing, np.zeros((0, 0, 0), dtype))
    first = np.full(game.rounds[t].forest.n_nodes, -1, dtype=np.int64)
    sizes = [lock.frequencies.shape[1] for lock in locks]
    nodes = np.array([lock.node for lock in locks], dtype=np.int64)
    first[nodes] = np.cumsum([0, *sizes[:-1]])
    frequencies = np.concatenate([lock.frequencies for lock in locks], axis=1)
    return LockArrays(nodes, first, frequencies.astype(dtype))


@part
def impose(forest: ForestArrays, locks: LockArrays, b: int, count: int, strategy: Floats) -> None:
    """Replace the strategy of locked hands on board b by the locked frequencies, in ``strategy[slot, hand]``."""
    for n in locks.node:
        for a in range(forest.n_actions[n]):
            given, s = locks.frequencies[b, locks.first[n] + a], forest.slot[n] + a
            for h in range(count):
                if not np.isnan(given[h]):
                    strategy[s, h] = given[h]


@kernel
def match(forest: ForestArrays, p: int, source: Floats, strategy: Floats) -> None:
    """Compute player p's ``strategy[slot, row]`` by regret matching on ``source[slot, row]``: regrets or sums."""
    for n in range(len(forest.kind)):
        if forest.kind[n] == DECISION and forest.player[n] == p:
            _match_node(forest, n, source, strategy)


@part
def _match_node(forest: ForestArrays, n: int, source: Floats, strategy: Floats) -> None:
    groups = source.shape[1]
    zero, floor = source.dtype.type(0), source.dtype.type(FLOOR)
    first, actions = forest.slot[n], forest.n_actions[n]
    total = np.zeros(groups, source.dtype)
    for a in range(first, first + actions):
        for g in range(groups):
            total[g] += max(source[a, g], zero)
    uniform = source.dtype.type(1.0 / actions)
    for a in range(first, first + actions):
        for g in range(groups):
            x = max(source[a, g], zero)
            strategy[a, g] = x / total[g] if total[g] > floor else uniform


@kernel
def reach_down(
    forest: ForestArrays, q: int, strategy: Floats, group: Ints, direct: bool, count: int, reach: Floats
) -> None:
    """Compute player q's reach ``[sequence, hand]`` from the reach at the roots, which the caller has written.

    Hand h plays row ``group[h]`` or, if ``direct``, row h; hands from number ``count`` on are padding.
    """
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


@part
def add_to_sums(
    n_roots: int, group: Ints, direct: bool, count: int, reach: Floats, decay: float, sums: Floats
) -> None:
    """Multiply ``sums[slot, row]`` by ``decay``, and add ``reach[sequence, hand]`` after each action, summed by row.

    Hand h plays row ``group[h]`` or, if ``direct``, row h; hands from number ``count`` on are padding.
    """
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


@part
def add_tremble(forest: ForestArrays, q: int, tremble: float, strategy: Floats) -> None:
    """Mix player q's ``strategy[slot, row]`` with random actions, which get the share ``tremble``."""
    share = strategy.dtype.type(tremble)
    for n in range(len(forest.kind)):
        if forest.kind[n] == DECISION and forest.player[n] == q:
            even = strategy.dtype.type(1.0 / forest.n_actions[n])
            for a in range(forest.slot[n], forest.slot[n] + forest.n_actions[n]):
                for g in range(strategy.shape[1]):
                    strategy[a, g] += share * (even - strategy[a, g])


@kernel
def terminal_values(
    forest: ForestArrays,
    endings: Endings,
    p: int,
    reach: Floats,
    own: tuple[int, Ints, Ints, Ints],
    other: tuple[int, Ints, Ints, Ints],
    n_ids: int,
    values: Floats,
) -> None:
    """Compute player p's values ``[node, own hand]`` at the folds and showdowns.

    ``reach[sequence, opposing hand]`` is the opponent's reach, and ``endings`` has the opponent's sequences at folds
    and showdowns. ``own`` and ``other`` describe both players' hands: the number of hands, cards ``[hand, k]``,
    strength ``[hand]`` (ascending), and ``[hand]`` the other player's hand with the same cards, or -1. ``n_ids`` is
    the number of different cards.

    The winner of a pot gets ``stake - rake``. If a hand beats the opposing reach W, ties T and loses to L, its value at
    a showdown is ``stake (W - L) - rake (W + T / 2)``; the kernel uses ``W + T / 2 = ((W - L) + (W + T + L)) / 2``.
    """
    n_own, own_ids, own_strength, twin = own
    n_other, other_ids, other_strength, _ = other
    k = own_ids.shape[1]
    sign = values.dtype.type(1 if p == 0 else -1)

    width = len(endings.fold_sequence)
    if width > 0:
        total = np.zeros(width, values.dtype)
        blocked = np.zeros((n_ids, width), values.dtype)
        column = np.empty(width, values.dtype)
        ending_value = np.empty((n_own, width), values.dtype)
        for j in range(n_other):
            for x in range(width):
                column[x] = reach[endings.fold_sequence[x], j]
            _add(column, other_ids[j], k, total, blocked)
        for i in range(n_own):
            for x in range(width):
                ending_value[i, x] = total[x] - blocked[own_ids[i, 0], x]
            for y in range(1, k):  # with two cards, the hand with the same cards was subtracted twice
                for x in range(width):
                    ending_value[i, x] -= blocked[own_ids[i, y], x]
                if twin[i] >= 0:
                    for x in range(width):
                        ending_value[i, x] += reach[endings.fold_sequence[x], twin[i]]
        for leaf in range(len(endings.fold_leaf)):
            n, x = endings.fold_leaf[leaf], endings.fold_ending[leaf]
            stake = sign * values.dtype.type(forest.stake[n])
            if stake > 0:
                stake -= values.dtype.type(forest.rake[n])
            for i in range(n_own):
                values[n, i] = stake * ending_value[i, x]

    width = len(endings.showdown_sequence)
    if width > 0:
        raked = False
        for n in endings.showdown_leaf:
            raked = raked or forest.rake[n] > 0
        total = np.zeros(width, values.dtype)
        blocked = np.zeros((n_ids, width), values.dtype)
        column = np.empty(width, values.dtype)
        ending_value = np.zeros((n_own, width), values.dtype)
        below, equal, j = 0, 0, 0
        while below < n_own:  # own hands of equal strength together, weakest first
            strength = own_strength[below]
            while j < n_other and other_strength[j] < strength:
                for x in range(width):
                    column[x] = reach[endings.showdown_sequence[x], j]
                _add(column, other_ids[j], k, total, blocked)
                j += 1
            equal = below
            while equal < n_own and own_strength[equal] == strength:
                _take(ending_value[equal], own_ids[equal], k, total, blocked)  # the hands that it beats
                equal += 1
            while j < n_other and other_strength[j] == strength:
                for x in range(width):
                    column[x] = reach[endings.showdown_sequence[x], j]
                _add(column, other_ids[j], k, total, blocked)
                j += 1
            for i in range(below, equal):
                _take(ending_value[i], own_ids[i], k, total, blocked)  # the hands that it beats or ties
            below = equal
        while j < n_other:
            for x in range(width):
                column[x] = reach[endings.showdown_sequence[x], j]
            _add(column, other_ids[j], k, total, blocked)
            j += 1
        mass = np.zeros((n_own if raked else 0, width), values.dtype)
        for i in range(len(mass)):  # all opposing hands that hand i can meet
            _take(mass[i], own_ids[i], k, total, blocked)
            if twin[i] >= 0:
                for x in range(width):
                    mass[i, x] += (k - 1) * reach[endings.showdown_sequence[x], twin[i]]
        for i in range(n_own):  # beaten − (all − beaten − tied); the hand with the same cards cancels
            for x in range(width):
                ending_value[i, x] -= total[x]
            for y in range(k):
                for x in range(width):
                    ending_value[i, x] += blocked[own_ids[i, y], x]
        for leaf in range(len(endings.showdown_leaf)):
            n, x = endings.showdown_leaf[leaf], endings.showdown_ending[leaf]
            half = values.dtype.type(forest.rake[n] / 2)
            stake = values.dtype.type(forest.stake[n]) - half
            for i in range(n_own):
                values[n, i] = stake * ending_value[i, x]
            for i in range(len(mass)):
                values[n, i] -= half * mass[i, x]


@part
def _add(column: Floats, ids: Ints, k: int, total: Floats, blocked: Floats) -> None:
    for x in range(len(total)):
        total[x] += column[x]
    for y in range(k):
        card = ids[y]
        for x in range(len(total)):
            blocked[card, x] += column[x]


@part
def _take(ending_value: Floats, ids: Ints, k: int, total: Floats, blocked: Floats) -> None:
    for x in range(len(total)):
        ending_value[x] += total[x]
    for y in range(k):
        card = ids[y]
        for x in range(len(total)):
            ending_value[x] -= blocked[card, x]


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
    """Compute the values ``[node, own row]`` at the leaves of a chunk: payoff matrix times the opponent's reach.

    Row i has the value ``scale[leaf] · Σ_j matrices[operator[leaf], i, j] · reach[sequence, j]``, where the sequence is
    the sequence of opponent q at the leaf. The compiler may reorder this sum to use vector instructions, which makes
    the sum three to five times as fast; the order then depends on the processor alone.
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
    """Compute player p's values ``[node, own hand]`` at decisions from the values at leaves, which the caller wrote.

    Where p decides, the value is the mean by p's strategy or, if ``mode`` is `BEST`, the maximum over the actions.
    Hand h plays row ``group[h]`` or, if ``direct``, row h; hands from number ``count`` on are padding.
    """
    for n in range(len(forest.kind) - 1, -1, -1):
        if forest.kind[n] != DECISION:
            continue
        first, actions = forest.first_child[n], forest.n_actions[n]
        if forest.player[n] != p:
            _sum_up(n, first, actions, count, values)
        elif mode == BEST:
            _best_up(n, first, actions, count, values)
        else:
            _mean_up(forest, n, strategy, group, direct, count, values)


@part
def respond_up(forest: ForestArrays, p: int, locks: LockArrays, b: int, count: int, values: Floats) -> None:
    """Compute player p's best-response values ``[node, own hand]``; locked hands on board b follow their locks.

    The caller has written the values at leaves; hands from number ``count`` on are padding.
    """
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


@part
def _mean_up(
    forest: ForestArrays, n: int, strategy: Floats, group: Ints, direct: bool, count: int, values: Floats
) -> None:
    for h in range(count):
        values[n, h] = values.dtype.type(0)
    for a in range(forest.n_actions[n]):
        s, c = forest.slot[n] + a, forest.first_child[n] + a
        if direct:
            for h in range(count):
                values[n, h] += strategy[s, h] * values[c, h]
        else:
            for h in range(count):
                values[n, h] += strategy[s, group[h]] * values[c, h]


@part
def _sum_up(n: int, first: int, actions: int, count: int, values: Floats) -> None:
    for h in range(count):
        values[n, h] = values[first, h]
    for c in range(first + 1, first + actions):
        for h in range(count):
            values[n, h] += values[c, h]


@part
def _best_up(n: int, first: int, actions: int, count: int, values: Floats) -> None:
    for h in range(count):
        values[n, h] = values[first, h]
    for c in range(first + 1, first + actions):
        for h in range(count):
            values[n, h] = max(values[n, h], values[c, h])


@part
def update_up(
    forest: ForestArrays,
    p: int,
    factors: Factors,
    rows: tuple[Ints, bool, int, Floats],
    strategy: Floats,
    locks: LockArrays,
    b: int,
    values: Floats,
    regrets: Floats,
    guess: Floats,
) -> None:
    """Compute player p's values at decisions from those at leaves, and update p's regrets ``[slot, row]``.

    The instantaneous regret of a row is ``Σ_h weight[h] (values[child, h] − values[node, h])`` over the row's hands h.
    A predictive variant writes its predicted regrets to ``guess``; other variants do not use ``guess``. If the variant
    looks ahead, ``strategy`` becomes the next strategy, and the values mix in its values (`solvers.discount`).

    Args:
        rows: row ``[hand]``, whether hand h is row h, number of hands, and weight ``[hand]``, unused if hands are rows.
        strategy: p's strategy ``[slot, row]``.
        b: number of the board in ``locks``.
        values: ``[node, own hand]``; the caller has written the values at leaves.
        guess: p's predicted regrets ``[slot, row]``.
    """
    group, direct, count, weight = rows
    dtype = regrets.dtype.type
    positive, negative = dtype(factors.positive), dtype(0.0 if factors.clip else factors.negative)
    zero, ahead, predicted = dtype(0), dtype(factors.ahead), dtype(factors.predicted)
    groups = regrets.shape[1]
    instant, before = np.empty(groups, regrets.dtype), np.empty(count, values.dtype)
    for n in range(len(forest.kind) - 1, -1, -1):
        if forest.kind[n] != DECISION:
            continue
        if forest.player[n] != p:
            _sum_up(n, forest.first_child[n], forest.n_actions[n], count, values)
            continue
        _mean_up(forest, n, strategy, group, direct, count, values)
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
            if predicted > zero:
                for g in range(count if direct else groups):
                    guess[s, g] = regrets[s, g] + predicted * instant[g]
        if ahead > zero:
            _match_node(forest, n, guess if predicted > zero else regrets, strategy)
            impose(forest, locks, b, count, strategy)
            before[:] = values[n, :count]
            _mean_up(forest, n, strategy, group, direct, count, values)
            for h in range(count):
                values[n, h] = before[h] + ahead * (values[n, h] - before[h])


@kernel
def losses_at(
    forest: ForestArrays,
    p: int,
    own: tuple[int, Ints, Ints],
    other: tuple[int, Ints],
    locks: LockArrays,
    b: int,
    n_ids: int,
    least: float,
    pots: Floats,
    values: Floats,
    reach: Floats,
) -> tuple[float, int, int]:
    """Sum the mean losses of player p's hands over p's decisions on board b (see `solvers.measure.DecisionLosses`).

    Args:
        own: number of p's hands, their cards ``[hand, k]``, and the opponent's hands with the same cards ``[hand]``.
        other: number of the opponent's hands, and their cards.
        least: smallest share of the opponent's reach that a hand must meet, so that its loss is known.
        pots: ``[node]``, chips in the pot.
        values: ``[node, own hand]``, p's values.
        reach: ``[sequence, opposing hand]``.

    Returns:
        The sum, the number of decisions in it, and the number of decisions at which no hand's loss is known.
    """
    n_own, own_ids, twin = own
    n_other, other_ids = other
    k = own_ids.shape[1]
    total, known, unknown = 0.0, 0, 0
    for n in range(len(forest.kind)):
        if forest.kind[n] != DECISION or forest.player[n] != p:
            continue
        arriving = reach[forest.sequence[1 - p, n]]
        whole = 0.0
        blocked = np.zeros(n_ids)
        for j in range(n_other):
            whole += arriving[j]
            for y in range(k):
                blocked[other_ids[j, y]] += arriving[j]
        first, actions = forest.first_child[n], forest.n_actions[n]
        lock = locks.first[n] if len(locks.first) > 0 else -1
        lost, counted, free = 0.0, 0, 0
        for h in range(n_own):
            if lock >= 0 and not np.isnan(locks.frequencies[b, lock, h]):
                continue
            free += 1
            met = whole
            for y in range(k):
                met -= blocked[own_ids[h, y]]
            if twin[h] >= 0:
                met += (k - 1) * arriving[twin[h]]
            if met > least * whole:
                best = values[first, h]
                for c in range(first + 1, first + actions):
                    best = max(best, values[c, h])
                lost += max(best - values[n, h], 0.0) / met
                counted += 1
        if counted > 0:
            total += lost / counted / pots[n]
            known += 1
        elif free > 0:
            unknown += 1
    return total, known, unknown
