"""Kernel that solves many one-round games one after another; each game refills the arrays of the game before it.

The games share the betting and the cards of the hands. Their ranges and the strengths of the hands differ, so the
kernel computes the tables of `solvers.exact.tables` anew for each game.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import kernel
from compiled.records import Packed
from compiled.threads import JUDGED, STOP
from compiled.vector import TILE, WIDTH
from solvers.exact.passes import RUNNERS
from solvers.exact.plan import Plan
from solvers.exact.seats import Bench, Games, Results, Seat, Terms
from solvers.exact.tables import NO_CARD
from solvers.reference.kernels import BEST, EVALUATE, UPDATE
from solvers.tree import Floats, Ints

_run: Any = RUNNERS[0]
HAND_BITS = 16
"""Number of bits that a hand's number takes in a key by which hands are sorted; higher bits hold the strength."""
HAND_MASK = (1 << HAND_BITS) - 1


@kernel(error_model="numpy")
def solve_games(
    games: Games, terms: Terms, results: Results, bench: Bench, plan: Plan, views: Packed, desk: Packed
) -> int:
    """Solve games one after another.

    Args:
        games: the games.
        terms: betting and limits of all games.
        results: arrays that get the results.
        bench: the thread's arrays; ``views`` and ``desk`` hold their addresses.
        plan: plan with the numbers of the first iterations, as `Plan` explains them.
        views: see `solvers.exact.passes`.
        desk: see `solvers.exact.passes`.

    Returns:
        The number of games that were solved; fewer than all of them if no two hands of the next game can be dealt
        together.
    """
    for k in range(len(games.numbers)):
        weight = _refill(games, k, terms, bench)
        if not weight > 0:
            return k
        _solve(games.numbers[k], terms, weight, results, bench, plan, views, desk)
    return len(games.numbers)


@kernel(error_model="numpy")
def _solve(
    row: int,
    terms: Terms,
    weight: float,
    results: Results,
    bench: Bench,
    plan: Plan,
    views: Packed,
    desk: Packed,
) -> None:
    """Solve the game whose tables are filled, and write its results into row ``row``.

    Args:
        row: row of `Results`.
        terms: betting and limits.
        weight: summed weight of the pairs of hands.
        results: arrays that get the results.
        bench: the thread's arrays.
        plan: plan with the numbers of the first iterations.
        views: see `solvers.exact.passes`.
        desk: see `solvers.exact.passes`.
    """
    done, exploitability = 0, np.inf
    step = terms.every if terms.raked else terms.most
    while done < terms.most and exploitability > terms.target:
        n = min(step, terms.most - done)
        bench.counters[JUDGED] = bench.counters[STOP] = 0
        passes = _run(
            _part(plan, UPDATE, n, 0 if terms.raked else terms.every, done, terms.target * weight),
            views,
            desk,
        )
        if terms.raked:
            done += n
            bench.counters[JUDGED] = bench.counters[STOP] = 0
            _run(_part(plan, BEST, 1, 0, 0, -np.inf), views, desk)
            best = bench.measured[0, 0] + bench.measured[0, 1]
            _run(_part(plan, EVALUATE, 1, 0, 0, -np.inf), views, desk)
            exploitability = (best - _expected(bench.seats[0]) - _expected(bench.seats[1])) / 2 / weight
        else:
            n_measured = -(-passes // (2 * terms.every + 2))
            done += (passes - 2 * n_measured) // 2
            best = bench.measured[n_measured - 1, 0] + bench.measured[n_measured - 1, 1]
            exploitability = best / 2 / weight
            break
    bench.counters[JUDGED] = bench.counters[STOP] = 0
    _run(_part(plan, EVALUATE, 1, 0, 0, -np.inf), views, desk)
    results.exploitability[row], results.iterations[row] = exploitability, done
    _write_evs(results.ev[row, 0], terms.pot, bench.seats[0])
    _write_evs(results.ev[row, 1], terms.pot, bench.seats[1])
    _write_strategy(results.strategy[row], terms, bench.seats[0])


@kernel(error_model="numpy")
def _part(plan: Plan, mode: int, n_iterations: int, every: int, done: int, target: float) -> Plan:
    """Make the plan of the ``n_iterations`` iterations after the first ``done`` iterations of a plan."""
    return Plan(
        mode,
        n_iterations,
        every,
        plan.numbers + 20 * done,  # five numbers of four bytes for each iteration
        plan.dither + 4 * done,
        plan.clip,
        target,
        plan.measured,
        plan.kept,
        plan.kept_second,
    )


@kernel(error_model="numpy")
def _expected(seat: Seat) -> float:
    """Return the summed value of a player's hands at the root, each times its weight."""
    total = 0.0
    for r in range(seat.count[0]):
        total += seat.weights[r] * np.float64(seat.roots[TILE * r])
    return total


@kernel(error_model="numpy")
def _write_evs(ev: np.ndarray, pot: float, seat: Seat) -> None:
    """Write the EVs of a player's hands, in chips of the pot, into ``ev[hand]``."""
    for r in range(seat.count[0]):
        if seat.met[r] > 0:
            ev[seat.numbers[r]] = np.float64(seat.roots[TILE * r]) / seat.met[r] + pot / 2


@kernel(error_model="numpy")
def _write_strategy(strategy: np.ndarray, terms: Terms, seat: Seat) -> None:
    """Write the average strategy of player 0's first decision, whose slots are the player's first slots.

    Args:
        strategy: ``[action, hand]``, the array that gets the frequencies.
        terms: betting and limits.
        seat: the arrays of player 0.
    """
    for r in range(seat.count[0]):
        first = WIDTH * (r // WIDTH) * terms.n_slots0 + r % WIDTH
        total = np.float32(0)
        for a in range(terms.n_actions):
            total += seat.sums[first + WIDTH * a]
        for a in range(terms.n_actions):
            share = seat.sums[first + WIDTH * a] / total if total > 0 else np.float32(1 / terms.n_actions)
            strategy[a, seat.numbers[r]] = share


@kernel(error_model="numpy")
def _refill(games: Games, k: int, terms: Terms, bench: Bench) -> float:
    """Fill the tables for game k; return the summed weight of the pairs of hands, 0 if no two hands can be dealt."""
    first, second = bench.seats
    cards, by_card, strength = games.cards, bench.by_card, games.strength[k]
    at, n_rows = games.numbers[k], len(games.weights[0])
    _take_hands(first, games.weights[0][at if n_rows > 1 else 0], strength, bench.keys)
    n_rows = len(games.weights[1])
    _take_hands(second, games.weights[1][at if n_rows > 1 else 0], strength, bench.keys)
    while True:
        n_before = first.count[0] + second.count[0]
        unit0, unit1 = _largest(first, second, cards, by_card), _largest(second, first, cards, by_card)
        if not (unit0 > 0 and unit1 > 0):
            return 0.0
        _leave_out(first, unit0 * terms.smallest)
        _leave_out(second, unit1 * terms.smallest)
        if first.count[0] + second.count[0] == n_before:
            break
    _begin(first, unit0, terms.n_slots0)
    _begin(second, unit1, terms.n_slots1)
    _classes(first, second, strength)
    weight = _fill_rows(first, second, cards, by_card)
    _fill_rows(second, first, cards, by_card)
    _forget(first)
    _forget(second)
    return weight


@kernel(error_model="numpy")
def _take_hands(seat: Seat, weights: Floats, strength: np.ndarray, keys: Ints) -> None:
    """List the hands of a range that can be dealt, in ascending order of strength, with their weights."""
    n = 0
    for h in range(len(strength)):
        if weights[h] > 0 and strength[h] >= 0:
            keys[n] = np.int64(strength[h]) << HAND_BITS | h
            n += 1
    _sort(keys, n)
    for r in range(n):
        hand = keys[r] & HAND_MASK
        seat.numbers[r], seat.reach[r] = hand, weights[hand]
    seat.count[0] = n


@kernel(error_model="numpy")
def _sort(keys: Ints, n: int) -> None:
    """Sort the first n keys by Shell's method; Numba takes a second to compile NumPy's method."""
    gap = 1
    while gap < n:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for i in range(gap, n):
            key, j = keys[i], i
            while j >= gap and keys[j - gap] > key:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = key


@kernel(error_model="numpy")
def _leave_out(seat: Seat, smallest: float) -> None:
    """Remove the hands whose weight is below ``smallest``."""
    n = 0
    for r in range(seat.count[0]):
        if seat.reach[r] >= smallest:
            seat.numbers[n], seat.reach[n] = seat.numbers[r], seat.reach[r]
            n += 1
    seat.count[0] = n


@kernel(error_model="numpy")
def _begin(seat: Seat, unit: float, n_slots: int) -> None:
    """Divide a player's weights by ``unit``, and set the player's regrets and sums to 0."""
    n = seat.count[0]
    blocks = (n + WIDTH - 1) // WIDTH
    seat.first_block[1] = blocks
    for i in range(WIDTH * blocks * n_slots):
        seat.regrets[i] = 0
        seat.sums[i] = 0
    for r in range(n):
        seat.reach[r] = min(seat.reach[r] / unit, 1.0)
        seat.position[seat.numbers[r]] = r


@kernel(error_model="numpy")
def _forget(seat: Seat) -> None:
    """Set the positions of all hands of a range back to -1."""
    for r in range(seat.count[0]):
        seat.position[seat.numbers[r]] = -1


@kernel(error_model="numpy")
def _largest(own: Seat, other: Seat, cards: Ints, by_card: Floats) -> float:
    """Return the largest weight of the player's hands that can be dealt together with an opposing hand; 0: none can."""
    n_other = other.count[0]
    _clear(by_card)
    for r in range(n_other):
        hand = other.numbers[r]
        by_card[cards[hand, 0]] += 1
        by_card[cards[hand, 1]] += 1
        other.position[hand] = r
    largest = 0.0
    for r in range(own.count[0]):
        hand = own.numbers[r]
        partners = n_other - by_card[cards[hand, 0]] - by_card[cards[hand, 1]]
        if other.position[hand] >= 0:
            partners += 1
        if partners > 0:
            largest = max(largest, own.reach[r])
    _forget(other)
    return largest


@kernel(error_model="numpy")
def _clear(numbers: Floats) -> None:
    for i in range(len(numbers)):
        numbers[i] = 0.0


@kernel(error_model="numpy")
def _fill_rows(own: Seat, other: Seat, cards: Ints, by_card: Floats) -> float:
    """Fill a player's arrays with a row for each hand; return the summed weight of the pairs of hands."""
    zero_row, total, weight = WIDTH * other.first_block[1], 0.0, 0.0
    _clear(by_card)
    for r in range(other.count[0]):
        hand, reach = other.numbers[r], other.reach[r]
        by_card[cards[hand, 0]] += reach
        by_card[cards[hand, 1]] += reach
        total += reach
    for r in range(own.count[0]):
        hand = own.numbers[r]
        first, second, there = cards[hand, 0], cards[hand, 1], other.position[hand]
        own.cards[r, 0], own.cards[r, 1] = first, second
        own.same_cards[r] = there if there >= 0 else zero_row
        own.entry[TILE * r] = own.reach[r]
        own.weights[r] = own.reach[r]
        own.met[r] = total - by_card[first] - by_card[second] + (other.reach[there] if there >= 0 else 0.0)
        weight += own.reach[r] * own.met[r]
    for r in range(own.count[0], WIDTH * own.first_block[1]):
        own.cards[r, 0], own.cards[r, 1] = NO_CARD, NO_CARD
        own.same_cards[r], own.entry[TILE * r] = zero_row, 0
    for r in range(own.count[0], len(own.weights)):
        own.weights[r] = 0
    return weight


@kernel(error_model="numpy")
def _classes(first: Seat, second: Seat, strength: np.ndarray) -> None:
    """Fill both players' groups of hands of equal strength, in ascending order; see `ClassTable`."""
    i = j = k = 0
    n, m = first.count[0], second.count[0]
    while i < n or j < m:
        level = min(
            strength[first.numbers[i]] if i < n else np.int32(2147483647),
            strength[second.numbers[j]] if j < m else np.int32(2147483647),
        )
        while i < n and strength[first.numbers[i]] == level:
            i += 1
        while j < m and strength[second.numbers[j]] == level:
            j += 1
        first.class_ends[k, 0], first.class_ends[k, 1] = i, j
        second.class_ends[k, 0], second.class_ends[k, 1] = j, i
        k += 1
    first.class_first[1] = second.class_first[1] = k
