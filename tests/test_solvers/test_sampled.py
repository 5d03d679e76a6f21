"""The sampled engine against loops over hands: values, best responses, what a visit learns."""

from itertools import combinations

import naive
import numpy as np
import pytest
from random_games import random_tree
from toy_games import as_dealt

from compiled.records import Packed
from solvers.discount import Discount
from solvers.game import Deal, Hands, LiveGame, Round
from solvers.sampled.batches import line_batches
from solvers.sampled.boards import Board, paths, tree
from solvers.sampled.engine import LARGEST_SUM, Context
from solvers.sampled.numbers import Numbers
from solvers.tree import CHANCE, DECISION, Chance, Decision, Fold, Forest, Showdown

DECK, N_ROWS = 9, (5, 7)


class Game:
    """Two rounds, both players with all hands of a deck of nine, rows at random, a class per dealt card or fewer."""

    def __init__(self, seed, k, *, n_board_buckets=DECK, order="random", only=None):
        rng = np.random.default_rng(seed)
        targets = []

        def chance():
            targets.append(None)
            return Chance(len(targets) - 1)

        first = Decision(0, (chance(), random_tree(rng, chance), Fold(-1.5)))
        shapes = [random_tree(rng, lambda: Showdown(float(rng.random()) + 0.5), depth=3) for _ in range(3)]
        second = [rescaled(rng, shapes[int(rng.integers(3))]) for _ in targets]
        self.forests = [Forest.build([first]), Forest.build(second)]
        self.batches = line_batches(self.forests)
        self.cards = range(DECK) if only is None else [only]
        every = np.array(list(combinations(range(DECK), k)))
        if only is not None:  # a path: hands that the dealt card leaves, in both rounds
            every = every[~(every == only).any(axis=1)]
        self.board_buckets = (
            rng.permutation(np.arange(DECK) % n_board_buckets) if only is None else np.zeros(DECK, int)
        )
        self.n_board_buckets = n_board_buckets
        strength = rng.integers(0, 5, (DECK, len(every)))
        top_rows = rng.integers(0, N_ROWS[0], len(every))
        low_rows = rng.integers(0, N_ROWS[1], (DECK, len(every)))
        if order == "monotone":
            low_rows = np.minimum(strength + (strength > 2), N_ROWS[1] - 1)
        if order == "quantiles":
            low_rows = strength // 2
        if order == "wide":  # one row, and ties of its own
            low_rows = np.where(strength == 4, 3, 2)
        live = [np.flatnonzero(~(every == card).any(axis=1)) for card in range(DECK)]
        live = [
            h[np.lexsort((h, low_rows[card, h], strength[card, h]))]
            for card, h in zip(range(DECK), live, strict=True)
        ]
        if only is not None:
            every, top_rows = every[live[only]], top_rows[live[only]]
            strength, low_rows = strength[:, live[only]], low_rows[:, live[only]]
            live = [np.arange(len(every)) for _ in range(DECK)]
        self.every, self.k, self.live = every, k, live
        self.top_rows, self.low_rows, self.strength = top_rows, low_rows, strength
        self.probability = 1.0 if only is not None else 1 / (DECK - 2 * k)
        self.game = self._live_game()

    def _live_game(self):
        n, cards = len(self.every), list(self.cards)
        top = rows_of([np.arange(n)], self.every, [self.top_rows], [np.zeros(n, int)], N_ROWS[0])
        kept = [self.live[card] for card in cards]
        low = rows_of(
            kept,
            self.every,
            [self.low_rows[card][h] for card, h in zip(cards, kept, strict=True)],
            [self.strength[card][h] for card, h in zip(cards, kept, strict=True)],
            N_ROWS[1],
        )
        width = low.row.shape[1]
        origin, image = np.zeros((len(cards), width), dtype=int), np.full((len(cards), n), -1)
        for b, h in enumerate(kept):
            origin[b, : len(h)] = h
            image[b, h] = np.arange(len(h))
        deal = Deal(
            np.array([0, len(cards)]),
            np.arange(len(cards)),
            (origin, origin),
            np.arange(len(cards) + 1),
            (image, image),
            self.probability,
        )
        rounds = [Round(self.forests[0], (top, top), deal), Round(self.forests[1], (low, low), None)]
        return as_dealt(LiveGame(rounds, (np.ones((1, n)), np.ones((1, n))), len(cards)))

    def boards(self):
        """The whole tree of boards, cards numbered among those that are left."""
        out = [self._board(0, -1)] + [self._board(1, card) for card in self.cards]
        return tree(out)

    def _board(self, t, card):
        h = np.arange(len(self.every)) if t == 0 else self.live[card]
        left = [c for c in range(DECK) if c != card]
        number = np.full(DECK, -1)
        number[left] = np.arange(len(left))
        cards = np.full((len(h), 2), len(left))
        cards[:, : self.k] = number[self.every[h]]
        rows = self.top_rows if t == 0 else self.low_rows[card][h]
        strength = np.zeros(len(h), int) if t == 0 else self.strength[card][h]
        return Board(
            t, 0 if t == 0 else int(self.board_buckets[card]), cards, len(left), rows, strength, h[None]
        )

    def path(self, card):
        low = self._board(1, card)
        rows = np.stack([self.top_rows, self.low_rows[card]])[None]
        return paths(np.array([[0, 0]]), rows, low.cards[None], low.strength[None], low.n_cards)

    def rig(self, numbers, gains=(1.0, 1.0), ranges=None):
        most, chances = [len(self.every), max(len(h) for h in self.live)], (1.0, self.probability)
        return Context(self.forests, self.batches, N_ROWS, numbers, most, DECK, chances, gains, ranges)

    def numbers(self, seed, short=False, floor=0.0, rivals=False):
        rng = np.random.default_rng(seed)
        numbers = Numbers.zeros(self.batches, (1, self.n_board_buckets), N_ROWS, short=short, rivals=rivals)
        for pairs in (numbers.regrets, numbers.sums):
            for pair in pairs:
                for a in pair:
                    a[:] = np.maximum(rng.normal(size=a.shape), floor)
        for visits in numbers.visits:
            visits[:] = rng.integers(1, 5, visits.shape)
            visits[1] = visits[0]
        return numbers

    def unfolded(self, numbers):
        """``[round][player][board, slot, row]``."""
        out = []
        for t in (0, 1):
            board_buckets = [0] if t == 0 else [int(self.board_buckets[card]) for card in self.cards]
            out.append(
                tuple(np.array([self.of_class(numbers, t, p, c) for c in board_buckets]) for p in (0, 1))
            )
        return out

    def moved(self, averages, played, visits, averaging):
        """Averages after one more visit, in which a row's hands together have played ``played``."""
        share = (averaging + 1) / (visits + 1 + averaging)
        scale = LARGEST_SUM / max(len(self.every), *(len(h) for h in self.live))
        return averages + share * (scale * played - averages)

    def of_class(self, numbers, t, p, board_bucket):
        batches, forest = self.batches[t], self.forests[t]
        first = batches.first(p, N_ROWS[t])
        mine = numbers[t][p].reshape(-1, first[-1])[board_bucket].astype(float)
        out = np.zeros((forest.n_slots[p], N_ROWS[t]))
        for batch, lane in batches.place.values():
            shape = batches.shape_of(batch)
            block = mine[first[batch] : first[batch + 1]].reshape(N_ROWS[t], -1, 16)
            for n in np.flatnonzero((shape.kind == DECISION) & (shape.player == p)):
                node = batches.nodes[batch][n, lane]
                for a in range(shape.n_actions[n]):
                    out[forest.arrays.slot[node] + a] = block[:, shape.slot[n] + a, lane]
        return out


def rescaled(rng, spec):
    if isinstance(spec, Decision):
        return Decision(spec.player, tuple(rescaled(rng, child) for child in spec.children))
    if isinstance(spec, Fold):
        return Fold(spec.stake * float(rng.random() + 0.5))
    return Showdown(spec.stake * float(rng.random() + 0.5))


def rows_of(kept, every, groups, strengths, n_groups):
    width = max(map(len, kept))
    shape = (len(kept), width)
    blockers = np.zeros((*shape, every.shape[1]), dtype=int)
    strength, group, twin, weight = (np.zeros(shape, dtype=int) for _ in range(4))
    for b, h in enumerate(kept):
        n = len(h)
        blockers[b, :n], strength[b, :n], group[b, :n] = every[h], strengths[b], groups[b]
        twin[b, :n], weight[b, :n] = np.arange(n), 1
    return Hands.of(
        np.array([len(h) for h in kept]), blockers, strength, twin, group, weight.astype(float), n_groups
    )


def learnt(game, p, strategies, t, b, n, reach, gains, sums):
    """Values ``[hand]`` at a node; regrets and sums of all that is below are added up on the way."""
    r = game.rounds[t]
    a, kind, group = r.forest.arrays, r.forest.arrays.kind[n], r.hands[0].row[b, : r.hands[0].n_hands[b]]
    if kind == CHANCE:
        out = np.zeros(len(group))
        for c in r.deal.child:
            origin = r.deal.parent_row[0][c, : game.rounds[t + 1].hands[0].n_hands[c]]
            values = learnt(game, p, strategies, t + 1, c, a.target[n], reach[origin], gains, sums)
            out[origin] += r.deal.probability * values
        return out
    if kind != DECISION:
        return naive.node_values(game, p, strategies, t, b, n, reach)
    mover, actions = a.player[n], range(a.n_actions[n])
    sigma = [strategies[t][mover][b][a.slot[n] + k][group] for k in actions]
    values = [
        learnt(
            game,
            p,
            strategies,
            t,
            b,
            a.first_child[n] + k,
            reach * (sigma[k] if mover != p else 1),
            gains,
            sums,
        )
        for k in actions
    ]
    if mover != p:
        for k in actions:
            np.add.at(sums[t][b][a.slot[n] + k], group, reach * sigma[k])
        return sum(values)
    mean = sum(s * v for s, v in zip(sigma, values, strict=True))
    for k in actions:
        np.add.at(gains[t][b][a.slot[n] + k], group, values[k] - mean)
    return mean


ORDERS = ["random", "monotone", "quantiles", "wide"]
CASES = [
    pytest.param(seed, k, order, marks=() if (order == "wide") == (seed == 2) else pytest.mark.slow)
    for seed in range(3)
    for k in (1, 2)
    for order in ORDERS
]
"""Orders take turns in the quick suite: the widest with the last seed, the others with the first two."""


@pytest.mark.parametrize(("seed", "k", "order"), CASES)
def test_values_and_best_responses_are_those_of_loops_over_hands(seed, k, order):
    one = Game(seed, k, n_board_buckets=4, order=order)
    numbers = one.numbers(seed)
    strategies = naive.normalised(one.game, one.unfolded(numbers.sums))
    rig, boards = one.rig(numbers), one.boards()
    for p in (0, 1):
        for best_from in range(2):
            reach = np.ones(len(one.every))
            expected = naive.node_values(one.game, p, strategies, 0, 0, 0, reach, True, best_from)
            works, out = rig.workspaces(), rig.out()
            found = rig.values(
                p, Packed(works), Packed(boards), 1 + DECK, out, best_from=best_from, own=best_from == 0
            )
            np.testing.assert_allclose(found[0, :, 0], expected, rtol=2e-5, atol=2e-5)
            if best_from == 0:
                followed = naive.node_values(one.game, p, strategies, 0, 0, 0, reach)
                own = works[0].own_values.reshape(-1, 16)[: len(followed), 0]
                np.testing.assert_allclose(own, followed, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(("seed", "k", "order"), CASES)
@pytest.mark.parametrize("sinking", [-1.0, 0.5])
def test_a_visit_learns_what_loops_over_hands_learn(seed, k, order, sinking):
    one = Game(seed, k, order=order, only=4, n_board_buckets=1)
    check_a_visit(one, one.numbers(seed), Discount(2.0, max(sinking, 0.0), 1.5, clip=sinking < 0))


def check_a_visit(one, numbers, discount, ranges=None):
    """Let both players learn from the deal of card 4, and compare with loops over hands."""
    gains, sinking = (0.5, 0.25), discount.beta
    before, averages = one.unfolded(numbers.regrets), one.unfolded(numbers.sums)
    visits = [v.copy() for v in numbers.visits]
    rig = one.rig(numbers, gains, ranges)
    rig.learn(discount, 0.0, rig.packed_workspaces(), Packed(one.path(4)), 1, 0)
    after, moved = one.unfolded(numbers.regrets), one.unfolded(numbers.sums)
    players = naive.normalised(one.game, before)
    for p in (0, 1):
        if p == 1:  # player 0 has learnt on this deal
            learnt_first = naive.normalised(one.game, after)
            players = [(learnt_first[t][0], players[t][1]) for t in (0, 1)]
        reach = np.ones(len(one.every)) if ranges is None else ranges[1 - p][one.top_rows]
        gained = [np.zeros_like(before[t][p]) for t in (0, 1)]
        summed = [np.zeros_like(averages[t][1 - p]) for t in (0, 1)]
        learnt(one.game, p, players, 0, 0, 0, reach, gained, summed)
        for t in (0, 1):
            n = visits[t][p][[0]].astype(float)[:, None, None]
            regrets = n**discount.alpha / (n**discount.alpha + 1) * before[t][p] + gains[t] * gained[t]
            sink = 0.0 if discount.clip else n**sinking / (n**sinking + 1)
            regrets = np.where(regrets > 0, regrets, sink * regrets)
            np.testing.assert_allclose(after[t][p], regrets, rtol=1e-4, atol=1e-4)
            expected = one.moved(averages[t][1 - p], summed[t], n, discount.gamma)
            np.testing.assert_allclose(moved[t][1 - p], expected, rtol=1e-4, atol=1e-4)
            np.testing.assert_array_equal(numbers.visits[t][p][0], visits[t][p][0] + 1)


def test_ranges_weigh_the_opponents_hands_by_their_rows_in_the_first_round():
    one, rng = Game(0, 2, n_board_buckets=DECK), np.random.default_rng(0)
    ranges = rng.random(N_ROWS[0]), rng.random(N_ROWS[0]) * (np.arange(N_ROWS[0]) > 0)
    numbers = one.numbers(0)
    averages = naive.normalised(one.game, one.unfolded(numbers.sums))
    rig, boards = one.rig(numbers, ranges=ranges), Packed(one.boards())
    for p in (0, 1):
        found = rig.values(p, rig.packed_workspaces()[0], boards, 1 + DECK, rig.out(), best_from=0)[0, :, 0]
        reach = ranges[1 - p][one.top_rows]
        expected = naive.node_values(one.game, p, averages, 0, 0, 0, reach, True, 0)
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
    path = Game(0, 2, only=4, n_board_buckets=1)
    check_a_visit(path, path.numbers(0), Discount(2.0, 0.0, 1.0, clip=True), ranges)


@pytest.mark.parametrize("share", [0.4, 1.0])
@pytest.mark.parametrize(("seed", "k", "order"), CASES[: 2 * len(ORDERS)])
def test_players_and_rivals_learn_what_loops_over_hands_learn(seed, k, order, share):
    one, gains = Game(seed, k, order=order, only=4, n_board_buckets=1), (0.5, 0.25)
    numbers = one.numbers(
        seed, floor=0.1, rivals=True
    )  # of ties between answers each way would choose another
    before, averages = one.unfolded(numbers.regrets), one.unfolded(numbers.sums)
    rivals_before, visits = one.unfolded(rivals_of(numbers)), [v.copy() for v in numbers.visits]
    players, rivals = (naive.normalised(one.game, regrets) for regrets in (before, rivals_before))
    rig = one.rig(numbers, gains)
    works = rig.packed_workspaces(rivals=True)
    rig.learn(Discount(2.0, 0.5, 1.5), share, works, Packed(one.path(4)), 1, 0)
    after, moved = one.unfolded(numbers.regrets), one.unfolded(numbers.sums)
    rivals_after = one.unfolded(rivals_of(numbers))
    for p in (0, 1):
        q = 1 - p
        if p == 1:  # player 0 has learnt on this deal
            learnt_first = naive.normalised(one.game, after)
            players = [(learnt_first[t][0], players[t][1]) for t in (0, 1)]
        rival = best_answers(one, q, [seated(players[0], rivals[0], q), players[1]])
        opponent = [mixed(one.forests[t], players[t], rival[t], share, q) for t in (0, 1)]
        gained, summed = {}, {}
        for seat, met in ((p, opponent), (q, rival)):
            gained[seat] = [np.zeros_like(before[t][seat]) for t in (0, 1)]
            summed[seat] = [np.zeros_like(averages[t][1 - seat]) for t in (0, 1)]
            learnt(one.game, seat, met, 0, 0, 0, np.ones(len(one.every)), gained[seat], summed[seat])
        for t in (0, 1):
            n = visits[t][p][[0]].astype(float)[:, None, None]
            learning = [(before[t][p], after[t][p], gained[p][t])]
            if t == 0:
                learning.append((rivals_before[t][q], rivals_after[t][q], gained[q][t]))
            for old, new, gain in learning:
                regrets = n**2 / (n**2 + 1) * old + gains[t] * gain
                sunk = n**0.5 / (n**0.5 + 1) * regrets
                np.testing.assert_allclose(new, np.where(regrets > 0, regrets, sunk), rtol=1e-4, atol=1e-4)
            expected = one.moved(averages[t][p], summed[q][t], n, 1.5)
            np.testing.assert_allclose(moved[t][p], expected, rtol=1e-4, atol=1e-4)
            np.testing.assert_array_equal(numbers.visits[t][p][0], visits[t][p][0] + 1)


def mixed(forest, players, rivals, share, q):
    """Strategies of a round in which q's reach is partly that of ``rivals``; each ``[player][board, slot, row]``."""
    a, out = forest.arrays, players[q].copy()
    reach = {each: np.ones((len(a.kind), *out[:, 0].shape)) for each in ("player", "rival")}
    for n in np.flatnonzero(a.kind == DECISION):
        for k in range(a.n_actions[n]):
            child, slot = a.first_child[n] + k, a.slot[n] + k
            for each, played in (("player", players[q]), ("rival", rivals[q])):
                reach[each][child] = reach[each][n] * (played[:, slot] if a.player[n] == q else 1)
            if a.player[n] == q:
                came, goes_on = (
                    share * reach["rival"][i] + (1 - share) * reach["player"][i] for i in (n, child)
                )
                out[:, slot] = np.divide(goes_on, came, out=np.zeros_like(came), where=came > 0)
    return (out, players[1]) if q == 0 else (players[0], out)


def rivals_of(numbers):
    """Regrets by round and seat, with the rivals' where they have their own."""
    return [arrays[2:] or arrays for arrays in numbers.regrets]


def seated(players, rivals, q):
    """The strategies of a round if the rival sits in q's seat."""
    return (players[0], rivals[1]) if q == 1 else (rivals[0], players[1])


def best_answers(one, q, strategies):
    """Strategies with q's in the second round replaced by what each row of a board does best against p's."""
    game, p = one.game, 1 - q
    second = [game_strategy.copy() for game_strategy in strategies[1]]
    top = game.rounds[0]

    def come(n, reach):
        """P's reach at the exits of the first round."""
        a = top.forest.arrays
        if a.kind[n] == CHANCE:
            for c in top.deal.child:
                origin = top.deal.parent_row[0][c, : game.rounds[1].hands[0].n_hands[c]]
                answer(c, a.target[n], reach[origin])
        elif a.kind[n] == DECISION:
            for k in range(a.n_actions[n]):
                played = strategies[0][p][0][a.slot[n] + k][top.hands[0].row[0]]
                come(a.first_child[n] + k, reach * (played if a.player[n] == p else 1))

    def answer(b, n, reach):
        """Values of q's hands at a node of the second round."""
        a, rows = game.rounds[1].forest.arrays, game.rounds[1].hands[q]
        group = rows.row[b, : rows.n_hands[b]]
        if a.kind[n] != DECISION:
            return naive.node_values(game, q, strategies, 1, b, n, reach)
        slots = range(a.slot[n], a.slot[n] + a.n_actions[n])
        if a.player[n] == p:
            sigma = [strategies[1][p][b][slot][group] for slot in slots]
            return sum(answer(b, a.first_child[n] + k, reach * s) for k, s in enumerate(sigma))
        values = np.array([answer(b, a.first_child[n] + k, reach) for k in range(len(slots))])
        by_row = np.array([np.bincount(group, value, rows.n_rows) for value in values])
        best = by_row.argmax(axis=0)
        for row in set(group.tolist()):
            second[q][b][slots, row] = np.eye(len(slots))[best[row]]
        return values[best[group], np.arange(len(group))]

    come(0, np.ones(len(one.every)))
    return [strategies[0], tuple(second)]


def test_numbers_too_small_to_divide_by_are_played_evenly():
    one = Game(0, 2, n_board_buckets=4)
    tiny, nothing = one.numbers(0), one.numbers(0)
    for pair in (*tiny.sums, *nothing.sums):
        for a in pair:
            a[:] = np.where(a > 0, a, 0)
    for p in (0, 1):
        first = tiny.sums[1][p]
        first[:] = np.float32(1e-42)  # 1 / it is more than single precision holds
        nothing.sums[1][p][:] = 0
    rigs = [one.rig(numbers) for numbers in (tiny, nothing)]
    boards = Packed(one.boards())
    for p in (0, 1):
        found, expected = (values_of(rig, p, boards) for rig in rigs)
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found, expected)


def values_of(rig, p, boards):
    """The first board's values of p's best response, and those of its average strategy."""
    works = rig.workspaces()
    best = rig.values(p, Packed(works), boards, 1 + DECK, rig.out(), own=True)
    return np.concatenate([best.ravel(), works[0].own_values])
