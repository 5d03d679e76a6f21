"""Many one-round games that share their betting, such as rivers on many boards with many ranges, solved in one kernel.

An `ExactCfr` for each game would take several times as long as the iterations of a small game, because Python makes its
tables and allocates its buffers. A `ManyGames` has tables and buffers for the largest game, and its kernel refills them
for each game: the ranges and the strengths of the hands differ, so the kernel computes the tables of
`solvers.exact.tables` anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from compiled import kernel
from compiled.records import Packed
from compiled.threads import JUDGED, STOP
from compiled.vector import TILE, WIDTH, bare
from solvers.discount import Variant
from solvers.errors import SolverError
from solvers.exact.board import N_CARDS
from solvers.exact.context import Context
from solvers.exact.engine import NO_VALUES, iteration_numbers
from solvers.exact.passes import RUNNERS, Plan
from solvers.exact.storage import Storage
from solvers.exact.tables import NO_CARD, hand_table
from solvers.game import BEST, EVALUATE, UPDATE, Hands, LiveGame, Round
from solvers.tree import Floats, Forest, Ints

__all__ = ["Games", "Limits", "ManyGames", "Results"]


class Games(NamedTuple):
    """Games to solve.

    Attributes:
        numbers: ``[game]``, the row of each game in ``weights`` and in `Results`.
        strength: ``[game, hand]``, a larger number beats a smaller one, equal numbers tie; below 0: nobody can have the
            hand.
        cards: ``[hand, 2]``, the two cards of each hand.
        weights: per player ``[row, hand]``, weights of at least 0; with a single row, all games have the same weights.
    """

    numbers: Ints
    strength: np.ndarray
    cards: Ints
    weights: tuple[Floats, Floats]


class Results(NamedTuple):
    """Arrays for the results of games; hands that are not in a range keep the numbers that the arrays had before.

    `Games.numbers` says which row of the arrays a game has.

    Attributes:
        ev: ``[row, player, hand]``, chips of the pot that the hand wins on average.
        strategy: ``[row, action, hand]``, frequencies of player 0's actions at the root.
        exploitability: ``[row]``, in chips.
        iterations: ``[row]``, number of iterations.
        action_ev: ``[row, action, hand]``, chips of the pot that player 0's hand wins if it takes the action. If the
            array has no rows, the solver computes neither these EVs nor the two arrays of replies.
        reply_strategy: ``[row, action, reply, hand]``, frequencies of player 1's replies to each action.
        reply_ev: ``[row, action, reply, hand]``, chips of the pot that player 1's hand wins if it takes the reply.
    """

    ev: np.ndarray
    strategy: np.ndarray
    exploitability: NDArray[np.float64]
    iterations: Ints
    action_ev: np.ndarray
    reply_strategy: np.ndarray
    reply_ev: np.ndarray


@dataclass(frozen=True)
class Limits:
    """When the solve of a game ends, and which hands it leaves out.

    Attributes:
        target: exploitability in chips at which a solve ends.
        most: largest number of iterations.
        every: number of iterations between two measurements of exploitability.
        smallest: smallest weight of a hand, after the range's largest weight was scaled to 1.
    """

    target: float
    most: int
    every: int
    smallest: float


class ManyGames:
    """Solver of one-round games with the same betting, for one thread.

    Args:
        forest: the betting, a single tree in which player 0 acts first.
        variant: a variant of CFR.
        pot: chips in the middle at the root.
        limits: when a solve ends.
        n_hands: number of different hands.
        most_hands: largest number of hands that a player has in a game.
    """

    def __init__(
        self, forest: Forest, variant: Variant, pot: float, limits: Limits, n_hands: int, most_hands: int
    ) -> None:
        first_player, *_ = forest.arrays.player.tolist()
        if forest.n_roots != 1 or first_player != 0:
            raise SolverError("many games: expected a single betting tree in which player 0 acts first")
        game = _largest_game(forest, most_hands)
        rows = game.rounds[0].hands
        tables = hand_table(rows[0], rows[1]), hand_table(rows[1], rows[0])
        context = Context(game, [tables], 1, 1.0, [game.reach[p][0] for p in (0, 1)])
        context.weigh(1.0)  # the kernel divides measured values by each game's own weight
        regrets, sums, guesses = (
            tuple(Storage.blank(forest.n_slots[p], tables[p], short=False) for p in (0, 1)) for _ in range(3)
        )
        if not variant.predictive:
            guesses = regrets
        context.bind([(regrets[0], regrets[1])], [(sums[0], sums[1])], [(guesses[0], guesses[1])])
        self._views, self._desk, counters, weights = context.of_one_thread()
        seats = [
            Seat(
                *tables[p],
                *context.classes[0][p],
                context.entries[1 - p].reach,
                weights[p],
                regrets[p].values,
                sums[p].values,
                guesses[p].values,
                context.workspaces[0][0][p].roots,
                np.zeros(most_hands, dtype=np.int64),
                np.zeros(most_hands),
                np.zeros(most_hands),
                np.full(n_hands, -1, dtype=np.int64),
            )
            for p in (0, 1)
        ]
        replies = _replies(forest)
        measured = np.zeros((-(-limits.most // limits.every), 4))
        keys = np.zeros(most_hands, dtype=np.int64)
        self._bench = Bench((seats[0], seats[1]), np.zeros(N_CARDS), keys, counters, measured)
        self._terms = Terms(
            float(limits.target),
            limits.most,
            limits.every,
            forest.raked,
            limits.smallest,
            float(pot),
            int(forest.arrays.n_actions[0]),
            *forest.n_slots,
            *replies,
        )
        self._numbers = iteration_numbers(variant, 0, limits.most, False)
        clip, predicted = variant.discount.clip, float(variant.predicted)
        plan = Plan(UPDATE, 0, 0, *self._numbers, clip, predicted, -np.inf, measured, NO_VALUES, -1, 1, 0)
        self._plan = bare(plan)

    def solve(self, games: Games, results: Results) -> int:
        """Solve games, and write their results; return the number of solved games.

        If no two hands of a game can be dealt together, `solve` ends before this game.
        """
        solved: int = solve_games(
            games, self._terms, results, self._bench, self._plan, self._views, self._desk
        )
        return solved


def _replies(forest: Forest) -> tuple[Ints, Ints]:
    """Return, for each action at the root, player 1's first slot and number of replies; both 0 if there is no reply."""
    a = forest.arrays
    children = a.first_child[0] + np.arange(a.n_actions[0])
    deciding = a.player[children] == 1
    return np.where(deciding, a.slot[children], 0), np.where(deciding, a.n_actions[children], 0)


def _largest_game(forest: Forest, n: int) -> LiveGame:
    """Make a game with n hands for each player, whose arrays have room for any game with at most n hands."""
    rows = np.arange(n, dtype=np.int16)[None]

    def hands(p: int) -> Hands:
        cards = np.tile(np.array([2 * p, 2 * p + 1], dtype=np.int16), (1, n, 1))
        strength = np.arange(p, 2 * n + p, 2, dtype=np.int32)[None]
        nobody = np.full((1, n), -1, dtype=np.int16)
        count: Ints = np.array([n])
        return Hands.of(count, cards, strength, nobody, rows, np.ones((1, n)), n)

    ranges = np.ones((1, n)), np.ones((1, n))
    return LiveGame([Round(forest, (hands(0), hands(1)), None)], ranges, NO_CARD)


class Terms(NamedTuple):
    """Settings that all games share, beside the betting.

    ``target``, ``most``, ``every`` and ``smallest`` are those of `Limits`; ``n_actions`` is the number of player 0's
    actions at the root. ``reply_slot`` and ``n_replies``, both ``[action]``, are the first slot (see `solvers.exact`)
    and the number of player 1's replies to each of these actions.
    """

    target: float
    most: int
    every: int
    raked: bool
    smallest: float
    pot: float
    n_actions: int
    n_slots0: int
    n_slots1: int
    reply_slot: Ints
    n_replies: Ints


class Seat(NamedTuple):
    """Arrays of one player in the current game. The engine's passes use the arrays up to ``roots``.

    Attributes:
        count, first_block, cards, same_cards: arrays of the player's `HandTable`.
        class_first, class_ends: arrays of the player's `ClassTable`.
        entry: flat ``[row, 8]``, the range, in the first of 8 columns.
        weights: ``[row]``, the range, by which measured values are weighted.
        regrets, sums, roots: the player's regrets, strategy sums and values at the root.
        guesses: the player's predicted regrets; the array of the regrets, if the variant predicts none.
        numbers: ``[row]``, the hand's number.
        reach: ``[row]``, the range in double precision.
        met: ``[row]``, the total weight of the opponent's hands that share no card with the hand.
        position: ``[hand]``, the hand's row; -1: the hand is not in the range.
    """

    count: Ints  # type: ignore[assignment]  # tuples have a method of that name
    first_block: Ints
    cards: np.ndarray
    same_cards: np.ndarray
    class_first: Ints
    class_ends: np.ndarray
    entry: np.ndarray
    weights: np.ndarray
    regrets: np.ndarray
    sums: np.ndarray
    guesses: np.ndarray
    roots: np.ndarray
    numbers: Ints
    reach: Floats
    met: Floats
    position: Ints


class Bench(NamedTuple):
    """Both players' arrays for the current game, and the buffers with which the solver fills these arrays.

    Attributes:
        seats: both players' arrays.
        by_card: ``[card]``, a total for each card.
        keys: ``[row]``, keys by which hands are sorted.
        counters: counters of the passes, see `compiled.threads`.
        measured: ``[measurement, 4]``, see `Plan`.
    """

    seats: tuple[Seat, Seat]
    by_card: Floats
    keys: Ints
    counters: Ints
    measured: Floats


_run: Any = RUNNERS[0]
NOTHING = 1e-7
"""Share of a range below which the weight of the hands that share no card with a hand counts as 0 (float32 errors)."""
HAND_BITS = 16
"""Number of bits that a hand's number takes in a key by which hands are sorted; higher bits hold the strength."""
HAND_MASK = (1 << HAND_BITS) - 1


@kernel(error_model="numpy")
def solve_games(
    games: Games, terms: Terms, results: Results, bench: Bench, plan: Plan, views: Packed, desk: Packed
) -> int:
    """Solve games, and write their results; return the number of solved games.

    If no two hands of a game can be dealt together, the function ends before this game. ``plan`` has the factors of
    ``terms.most`` iterations; ``views`` are packed `GameView` tuples and ``desk`` a packed `Desk`, with the addresses
    of the arrays of ``bench``.
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
    """Solve the game of the filled tables into row ``row`` of the results; ``weight`` is that of its pairs of hands."""
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
    _write_strategy(results.strategy[row], terms.n_actions, 0, terms.n_slots0, bench.seats[0])
    if len(results.action_ev) > 0:
        _write_first_decisions(row, terms, results, bench, plan, views, desk)


@kernel(error_model="numpy")
def _write_first_decisions(
    row: int, terms: Terms, results: Results, bench: Bench, plan: Plan, views: Packed, desk: Packed
) -> None:
    """Write the EVs of player 0's actions, and the frequencies and EVs of player 1's replies; spoils the game's tables.

    A pass computes EVs at the root only. So each action, and each reply, is evaluated in a pass of its own, in which
    all hands take it. Before the replies to an action, player 0's range becomes that of the hands that take the action.
    """
    first, second = bench.seats
    strategy = results.strategy[row]
    for a in range(terms.n_actions):
        _take_only(first, a, terms.n_actions, 0, terms.n_slots0)
        bench.counters[JUDGED] = bench.counters[STOP] = 0
        _run(_part(plan, EVALUATE, 1, 0, 0, -np.inf), views, desk)
        _write_evs(results.action_ev[row, a], terms.pot, first)
    for a in range(terms.n_actions):
        n, slot = terms.n_replies[a], terms.reply_slot[a]
        _write_strategy(results.reply_strategy[row, a], n, slot, terms.n_slots1, second)
        if not _narrow(first, second, strategy[a], bench.by_card):
            continue
        _take_only(first, a, terms.n_actions, 0, terms.n_slots0)
        for b in range(n):
            _take_only(second, b, n, slot, terms.n_slots1)
            bench.counters[JUDGED] = bench.counters[STOP] = 0
            _run(_part(plan, EVALUATE, 1, 0, 0, -np.inf), views, desk)
            _write_evs(results.reply_ev[row, a, b], terms.pot, second)


@kernel(error_model="numpy")
def _take_only(seat: Seat, a: int, n: int, slot: int, n_slots: int) -> None:
    """Let all hands take action a of the n actions of the decision whose first slot is ``slot``."""
    for r in range(seat.count[0]):
        first = WIDTH * (r // WIDTH) * n_slots + r % WIDTH + WIDTH * slot
        for k in range(n):
            seat.sums[first + WIDTH * k] = np.float32(1 if k == a else 0)


@kernel(error_model="numpy")
def _narrow(first: Seat, second: Seat, frequencies: np.ndarray, by_card: Floats) -> bool:
    """Narrow player 0's range by the frequencies ``[hand]`` of an action; return whether any hand takes the action.

    The largest weight becomes 1. ``second.met`` is computed anew, 0 where only rounding errors are left.
    """
    largest = 0.0
    for r in range(first.count[0]):
        largest = max(largest, first.reach[r] * np.float64(frequencies[first.numbers[r]]))
    if not largest > 0:
        return False
    total, zero_row = 0.0, WIDTH * first.first_block[1]
    _clear(by_card)
    for r in range(first.count[0]):
        reach = first.reach[r] * np.float64(frequencies[first.numbers[r]]) / largest
        first.entry[TILE * r] = reach
        by_card[first.cards[r, 0]] += reach
        by_card[first.cards[r, 1]] += reach
        total += reach
    for r in range(second.count[0]):
        same = second.same_cards[r]
        shared = np.float64(first.entry[TILE * same]) if same < zero_row else 0.0
        met = total - by_card[second.cards[r, 0]] - by_card[second.cards[r, 1]] + shared
        second.met[r] = met if met > NOTHING * total else 0.0
    return True


@kernel(error_model="numpy")
def _part(plan: Plan, mode: int, n_iterations: int, every: int, done: int, target: float) -> Plan:
    """Return ``n_iterations`` iterations of a plan, after its first ``done``, as a plan with the given other fields."""
    return Plan(
        mode,
        n_iterations,
        every,
        plan.numbers + 24 * done,  # six numbers of four bytes for each iteration
        plan.dither + 4 * done,
        plan.clip,
        plan.predicted,
        target,
        plan.measured,
        plan.kept,
        plan.kept_second,
        plan.groups,
        plan.done,
    )


@kernel(error_model="numpy")
def _expected(seat: Seat) -> float:
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
def _write_strategy(strategy: np.ndarray, n: int, slot: int, n_slots: int, seat: Seat) -> None:
    """Write the average strategy ``[action, hand]`` at the decision that has n actions from ``slot`` on."""
    for r in range(seat.count[0]):
        first = WIDTH * (r // WIDTH) * n_slots + r % WIDTH + WIDTH * slot
        total = np.float32(0)
        for a in range(n):
            total += seat.sums[first + WIDTH * a]
        for a in range(n):
            share = seat.sums[first + WIDTH * a] / total if total > 0 else np.float32(1 / n)
            strategy[a, seat.numbers[r]] = share


@kernel(error_model="numpy")
def _refill(games: Games, k: int, terms: Terms, bench: Bench) -> float:
    """Fill the tables for game k; return the summed weight of the pairs of hands, 0 if no pair can be dealt."""
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
    # Shell's method, since Numba takes a second to compile NumPy's
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
    n = 0
    for r in range(seat.count[0]):
        if seat.reach[r] >= smallest:
            seat.numbers[n], seat.reach[n] = seat.numbers[r], seat.reach[r]
            n += 1
    seat.count[0] = n


@kernel(error_model="numpy")
def _begin(seat: Seat, unit: float, n_slots: int) -> None:
    """Divide a player's weights by ``unit``, and set the player's regrets, sums and predicted regrets to 0."""
    n = seat.count[0]
    blocks = (n + WIDTH - 1) // WIDTH
    seat.first_block[1] = blocks
    for i in range(WIDTH * blocks * n_slots):
        seat.regrets[i] = 0
        seat.sums[i] = 0
        seat.guesses[i] = 0
    for r in range(n):
        seat.reach[r] = min(seat.reach[r] / unit, 1.0)
        seat.position[seat.numbers[r]] = r


@kernel(error_model="numpy")
def _forget(seat: Seat) -> None:
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
