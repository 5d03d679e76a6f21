"""Walks agree with plain recursion over all pairs of hands, grouped or not, with any number of threads."""

import naive
import numpy as np
import pytest
from random_games import random_strategies, two_round_game
from toy_games import kuhn, leduc

from solvers.discount import VARIANTS
from solvers.game import compatible_reach
from solvers.measure import expected_value, exploitability
from solvers.reference.walk import Walker

GAMES = [(seed, k, groups) for seed in range(3) for k in (1, 2) for groups in (None, 4)]


@pytest.mark.parametrize(("seed", "k", "groups"), GAMES)
@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("p", [0, 1])
def test_values_equal_plain_recursion(seed, k, groups, best, p):
    game = two_round_game(seed, k, groups)
    game.check()
    sources = random_strategies(game, seed)
    walker = Walker(game)
    found = walker.best_response(p, sources) if best else walker.evaluate(p, sources)
    slow = naive.node_values(game, p, naive.normalised(game, sources), 0, 0, 0, game.reach[1 - p][0], best)
    np.testing.assert_allclose(found[0][: len(slow)], slow, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2])
def test_compatible_reach_counts_pairs(k):
    game = two_round_game(5, k)
    own, other = game.rounds[1].hands
    reach = np.random.default_rng(0).random(other.row.shape[1])
    for b in range(game.rounds[1].n_boards):
        slow = [
            sum(reach[j] for j in range(other.n_hands[b]) if naive.compatible(own, other, b, i, j))
            for i in range(own.n_hands[b])
        ]
        found = compatible_reach(own, other, b, reach, game.n_ids)
        np.testing.assert_allclose(found[: own.n_hands[b]], slow, atol=1e-12)


@pytest.mark.parametrize("name", VARIANTS)
def test_threads_do_not_change_a_bit(name):
    game = two_round_game(7)
    results = []
    for threads in (1, 3):
        walker, variant = Walker(game, threads), VARIANTS[name]
        regrets, sums = game.zeros(), game.zeros()
        guesses = game.zeros() if variant.predictive else None
        for t in range(1, 6):
            for p in (0, 1):
                walker.update(p, variant.factors(t), regrets, sums, guesses)
        walker.close()
        results.append(np.concatenate([a.ravel() for pair in sums for a in pair]))
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize(("game", "nash_conv"), [(kuhn(), 0.9166666666666667), (leduc(), 4.747222222222222)])
def test_uniform_policy_has_published_nash_conv(game, nash_conv):
    found = exploitability(Walker(game), game.zeros())
    assert 2 * found.value == pytest.approx(nash_conv, abs=1e-12)


def test_best_response_is_never_below_the_value():
    game = two_round_game(3, 2, 4)
    sources, walker = random_strategies(game, 1), Walker(game)
    low, high = exploitability(walker, sources).bracket
    assert low <= expected_value(walker, sources) <= high
