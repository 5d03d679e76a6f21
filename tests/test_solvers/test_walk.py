"""Walks agree with plain recursion over all pairs of hands, with rake and locks or without, and with brute force."""

from dataclasses import replace
from itertools import product

import naive
import numpy as np
import pytest
from random_games import locked, raked, random_strategies, two_round_game
from toy_games import kuhn, leduc

from solvers.discount import VARIANTS
from solvers.errors import SolverError
from solvers.game import Lock, compatible_reach
from solvers.measure import decision_losses, exploitability
from solvers.reference.cfr import Cfr
from solvers.reference.walk import Walker
from solvers.tree import CHANCE, DECISION, FOLD, Decision, Fold, Forest, Showdown

KINDS = {"plain": (), "rake": (raked,), "locks": (locked,), "both": (raked, locked)}


def changed(game, kind, seed=0):
    for change in KINDS[kind]:
        game = change(game, seed)
    game.check()
    return game


PLAIN = [("plain", groups, seed, k) for groups in (None, 4) for seed in range(3) for k in (1, 2)]
CHANGED = [
    (kind, groups, seed, k)
    for kind, groups in [("rake", None), ("rake", 4), ("locks", None), ("both", None)]
    for seed, k in [(0, 1), (1, 2), (2, 2)]
]


@pytest.mark.parametrize(("kind", "groups", "seed", "k"), PLAIN + CHANGED)
@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("p", [0, 1])
def test_values_equal_plain_recursion(kind, groups, seed, k, best, p):
    plain = two_round_game(seed, k, groups)
    game = changed(plain, kind, seed)
    sources = random_strategies(game, seed)
    walker = Walker(game)
    found = walker.best_response(p, sources) if best else walker.evaluate(p, sources)
    slow = naive.node_values(game, p, naive.normalised(game, sources), 0, 0, 0, game.reach[1 - p][0], best)
    np.testing.assert_allclose(found[0][: len(slow)], slow, atol=1e-12)
    if kind != "plain":
        walker = Walker(plain)
        without = walker.best_response(p, sources) if best else walker.evaluate(p, sources)
        assert not np.allclose(slow, without[0][: len(slow)])  # the change was no small one


def losses(game, p, strategies, pots, t, b, n, reach):
    """The mean loss at each of p's decisions from node n on, by plain recursion; NaN where the opponent never comes."""
    r = game.rounds[t]
    a, own, other = r.forest.arrays, r.hands[p], r.hands[1 - p]
    if a.kind[n] == CHANCE:
        deal, below = r.deal, game.rounds[t + 1].hands[1 - p]
        for e in range(deal.first[b], deal.first[b + 1]):
            c = int(deal.child[e])
            arriving = reach[deal.parent_row[1 - p][e, : below.n_hands[c]]]
            yield from losses(game, p, strategies, pots, t + 1, c, a.target[n], arriving)
    if a.kind[n] != DECISION:
        return
    children = range(a.first_child[n], a.first_child[n] + a.n_actions[n])
    if a.player[n] != p:
        for k, child in enumerate(children):
            taken = naive.played(game, strategies, t, b, n, k, 1 - p)
            yield from losses(game, p, strategies, pots, t, b, child, reach * taken)
        return
    value, *after = (naive.node_values(game, p, strategies, t, b, node, reach) for node in (n, *children))
    met = naive.compatible(own, other, b) @ reach
    free = ~naive.locked(game, t, b, n)[: own.n_hands[b]]
    there = free & (met > 0)
    if free.any():
        lost = (np.max(after, axis=0) - value)[there] / met[there] / pots[t][n]
        yield lost.mean() if len(lost) else np.nan
    for child in children:
        yield from losses(game, p, strategies, pots, t, b, child, reach)


@pytest.mark.parametrize(("kind", "k", "groups"), [("plain", 1, None), ("rake", 2, 4), ("both", 2, None)])
def test_losses_at_decisions_equal_plain_recursion(kind, k, groups):
    game = changed(two_round_game(3, k, groups), kind, 3)
    sources = random_strategies(game, 3)
    first = next(
        n for n in range(game.rounds[0].forest.n_nodes) if game.rounds[0].forest.arrays.kind[n] == DECISION
    )
    slot, player = (int(getattr(game.rounds[0].forest.arrays, name)[first]) for name in ("slot", "player"))
    sources[0][player][:, slot] = 0  # nobody takes the first action, so that some decisions are never reached
    pots = [1.0 + np.arange(r.forest.n_nodes) % 3 for r in game.rounds]
    found = decision_losses(Walker(game, 2), sources, pots)
    strategies = naive.normalised(game, sources)
    for p in (0, 1):
        slow = np.array(list(losses(game, p, strategies, pots, 0, 0, 0, game.reach[1 - p][0])))
        assert found.decisions[p] == len(slow)
        assert found.unknown[p] == np.isnan(slow).sum()
        assert found.mean[p] == pytest.approx(np.nanmean(slow), rel=1e-9)
    assert sum(found.unknown) > 0


@pytest.mark.parametrize("k", [1, 2])
def test_compatible_reach_counts_pairs(k):
    game = two_round_game(5, k)
    own, other = game.rounds[1].hands
    reach = np.random.default_rng(0).random(other.row.shape[1])
    for b in range(game.rounds[1].n_boards):
        slow = [
            sum(
                reach[j]
                for j in range(other.n_hands[b])
                if not set(own.cards[b, i].tolist()) & set(other.cards[b, j].tolist())
            )
            for i in range(own.n_hands[b])
        ]
        found = compatible_reach(own, other, b, reach, game.n_ids)
        np.testing.assert_allclose(found[: own.n_hands[b]], slow, atol=1e-12)
        np.testing.assert_allclose(
            naive.compatible(own, other, b) @ reach[: other.n_hands[b]], slow, atol=1e-12
        )


@pytest.mark.parametrize("kind", ["plain", "both"])
@pytest.mark.parametrize("name", VARIANTS)
def test_threads_do_not_change_a_bit(name, kind):
    game, results = changed(two_round_game(7), kind), []
    for threads in (1, 3):
        cfr = Cfr(game, VARIANTS[name], threads=threads)
        cfr.run(5)
        cfr.walker.close()
        results.append(np.concatenate([a.ravel() for pair in cfr.sums for a in pair]))
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize(("game", "nash_conv"), [(kuhn(), 0.9166666666666667), (leduc(), 4.747222222222222)])
def test_uniform_policy_has_published_nash_conv(game, nash_conv):
    found = exploitability(Walker(game), game.zeros())
    assert 2 * found.value == pytest.approx(nash_conv, abs=1e-12)


@pytest.mark.parametrize("precision", [pytest.param(np.float32, marks=pytest.mark.slow), np.float64])
def test_no_rake_is_the_same_bits(precision):
    """A rake of 0 chips and locks that lock nothing."""
    game = two_round_game(4)
    free = [Lock(1, 0, n, np.full((9, a, w), np.nan)) for n, a, w in _decisions(game, 1, 0)]
    results = []
    for one in (game, replace(game, locks=tuple(free))):
        cfr = Cfr(one, VARIANTS["dcfr"], dtype=precision)
        cfr.run(7)
        results.append((cfr.sums, exploitability(cfr.walker, cfr.sums)))
    assert results[0][1] == results[1][1]
    for one, other in zip(results[0][0], results[1][0], strict=True):
        for p in (0, 1):
            np.testing.assert_array_equal(one[p], other[p])


def _decisions(game, t, p):
    a, width = game.rounds[t].forest.arrays, game.rounds[t].hands[p].row.shape[1]
    return [(int(n), int(a.n_actions[n]), width) for n in np.flatnonzero(a.player == p)]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_locked_game_is_solved(name):
    """With the locks as rules of the game CFR converges: best responses that keep to them gain nothing."""
    game = changed(leduc(), "locks", 3)
    cfr = Cfr(game, VARIANTS[name])
    cfr.run(300)
    found = exploitability(cfr.walker, cfr.sums)
    assert 0 <= found.value < (0.05 if name == "cfr" else 0.01)
    low, high = found.bracket
    assert low <= high
    free = exploitability(Walker(leduc()), cfr.sums)
    assert free.value > 0.1  # without the locks as rules there is much to gain


def test_pinned_sums_show_locked_frequencies():
    game = locked(two_round_game(2), 5)
    sums = game.zeros(np.float32)
    game.pin(sums)
    strategies = naive.normalised(game, sums)
    for lock in game.locks:
        a = game.rounds[lock.round].forest.arrays
        first = int(a.slot[lock.node])
        there = strategies[lock.round][lock.player][:, first : first + int(a.n_actions[lock.node])]
        mine = ~np.isnan(lock.frequencies)
        assert mine.any()
        np.testing.assert_allclose(there[mine], lock.frequencies[mine], atol=1e-6)
        untouched = sums[lock.round][lock.player][:, first : first + int(a.n_actions[lock.node])][~mine]
        assert not untouched.any()


# Brute force: Kuhn poker has 64 pure strategies a player.


def deal_chips(forest, strategies, i, j, n=0):
    """Chips of both players from node n on when i meets j: plain recursion over the tree for one deal."""
    a = forest.arrays
    if a.kind[n] == DECISION:
        p = a.player[n]
        out = np.zeros(2)
        for k in range(a.n_actions[n]):
            share = strategies[p][a.slot[n] + k, (i, j)[p]]
            out += share * deal_chips(forest, strategies, i, j, a.first_child[n] + k)
        return out
    first_wins = a.stake[n] > 0 if a.kind[n] == FOLD else i > j
    chips, winner = abs(a.stake[n]), 0 if first_wins else 1
    out = np.array([chips, -chips]) if first_wins else np.array([-chips, chips])
    out[winner] -= a.rake[n]
    return out


def all_deals(forest, strategies):
    deals = [(i, j) for i, j in product(range(3), repeat=2) if i != j]
    return sum(deal_chips(forest, strategies, i, j) for i, j in deals) / len(deals)


def pure_strategies(game, p):
    """All of a player's that keep to the locks."""
    forest = game.rounds[0].forest
    a = forest.arrays
    nodes = np.flatnonzero(a.player == p)
    for picks in product(*(range(a.n_actions[n]) for n in nodes for _ in range(3))):
        out = np.zeros((forest.n_slots[p], 3))
        for (n, row), k in zip(product(nodes, range(3)), picks, strict=True):
            out[a.slot[n] + k, row] = 1.0
        for lock in game.locks:
            if lock.player == p:
                first = a.slot[lock.node]
                there = out[first : first + a.n_actions[lock.node]]
                np.copyto(there, lock.frequencies[0], where=~np.isnan(lock.frequencies[0]))
        yield out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_exploitability_by_brute_force(kind, seed):
    game = changed(kuhn(), kind, seed)
    forest, sources = game.rounds[0].forest, random_strategies(game, seed)
    game.pin(sources)
    mine, theirs = (naive.normalised(game, sources)[0][p][0] for p in (0, 1))
    ev = all_deals(forest, (mine, theirs))
    best = (
        max(all_deals(forest, (pure, theirs))[0] for pure in pure_strategies(game, 0)),
        max(all_deals(forest, (mine, pure))[1] for pure in pure_strategies(game, 1)),
    )
    found = exploitability(Walker(game), sources)
    assert found.best_response == pytest.approx(best, abs=1e-12)
    assert found.value == pytest.approx((best[0] - ev[0] + best[1] - ev[1]) / 2, abs=1e-12)
    assert found.value >= 0
    if kind in ("plain", "locks"):
        assert found.expected is None
        assert found.bracket[0] <= ev[0] <= found.bracket[1]
    else:
        assert found.expected == pytest.approx(tuple(ev), abs=1e-12)
        assert found.bracket is None
        assert ev.sum() < 0


# What check() refuses.


def _lock(frequencies, player=0, node=0):
    return replace(kuhn(), locks=(Lock(0, player, node, np.array(frequencies, dtype=float)),))


FREE = [float("nan")] * 3


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (_lock([[FREE, FREE]], player=1), "this player does not act at this node"),
        (_lock([[FREE]]), r"expected shape \(1, 2, 3\), found \(1, 1, 3\)"),
        (_lock([[[0.5, 1, 0], [0.6, 0, 1]]]), "sum to 1 for each locked hand"),
        (_lock([[[1.5, 1, 0], [-0.5, 0, 1]]]), "frequencies of at least 0"),
        (_lock([[[1.0, 1, 0], [float("nan"), 0, 1]]]), "sum to 1 for each locked hand"),
        (
            replace(_lock([[FREE, FREE]]), locks=_lock([[FREE, FREE]]).locks * 2),
            "expected one lock per decision",
        ),
        (locked(two_round_game(1, 2, 4), 1), "expected a strategy row for each hand, found buckets"),
    ],
)
def test_check_names_the_broken_lock(game, message):
    with pytest.raises(SolverError, match=message):
        game.check()


@pytest.mark.parametrize("leaf", [Fold(1.0, -0.1), Showdown(1.0, -0.1)])
def test_check_refuses_a_negative_rake(leaf):
    with pytest.raises(SolverError, match="rake: expected at least 0 chips"):
        Forest.build([Decision(0, (leaf, Showdown(1.0)))]).check()


def test_rake_is_read_from_the_leaves():
    forest = Forest.build([Decision(0, (Fold(-1.0, 0.5), Showdown(1.0, 0.25), Showdown(2.0)))])
    np.testing.assert_array_equal(forest.arrays.rake, [0, 0.5, 0.25, 0])
    assert forest.raked
    assert not kuhn().raked
