"""Chance leaves by payoff matrices of what a deal leads to: as loops over all pairs of hands have them."""

import itertools

import numpy as np
import pytest

from solvers.below import DealtPayoffs
from solvers.cfr import Cfr
from solvers.errors import SolverError
from solvers.exact import supports
from solvers.forest import Chance, Decision, Fold, Forest
from solvers.live import LiveGame, Round, Rows
from solvers.variants import variant

CARDS = 7


def hands_of(n_cards, ranges):
    """Both players' hands of so many cards: all, but for some that only one of them has."""
    deck = np.array(list(itertools.combinations(range(CARDS), n_cards)), dtype=np.int16)
    return [deck[np.arange(len(deck)) % 5 != drop] for drop in ranges]


def twins(own, other):
    where = {tuple(cards): j for j, cards in enumerate(other)}
    return np.array([where.get(tuple(cards), -1) for cards in own])


def made(n_cards, ranges=(1, 3), n_rows=(3, 4), n_leaves=2):
    """A deal of each card, with random rows and payoffs."""
    rng, held = np.random.default_rng(n_cards), hands_of(n_cards, ranges)
    payoffs = rng.normal(size=(CARDS, n_leaves, *n_rows)).astype(np.float32)
    rows = [rng.integers(0, n_rows[p], size=(CARDS, len(held[p]))) for p in (0, 1)]
    for p, d in itertools.product((0, 1), range(CARDS)):
        rows[p][d, (held[p] == d).any(axis=1)] = -1
    pairs = (twins(held[0], held[1]), twins(held[1], held[0]))
    return held, rows, pairs, payoffs, DealtPayoffs(payoffs, tuple(held), tuple(rows), pairs, CARDS, 0.25)


def by_pairs(held, rows, payoffs, player, reach):
    out = np.zeros((len(reach), len(held[player])))
    for d, leaf in itertools.product(range(CARDS), range(len(reach))):
        u = payoffs[d, leaf] if player == 0 else -payoffs[d, leaf].T
        for i, mine in enumerate(held[player]):
            for j, theirs in enumerate(held[1 - player]):
                if not {*mine} & {*theirs} and d not in mine and d not in theirs:
                    out[leaf, i] += 0.25 * reach[leaf, j] * u[rows[player][d, i], rows[1 - player][d, j]]
    return out


@pytest.mark.parametrize("n_cards", [1, 2])
@pytest.mark.parametrize("player", [0, 1])
def test_values_are_those_of_all_pairs_of_hands(n_cards, player):
    held, rows, _, payoffs, below = made(n_cards)
    padded = max(map(len, held)) + 2
    reach = np.random.default_rng(5).random((2, padded))
    found = below(player, reach)
    n = len(held[player])
    np.testing.assert_allclose(found[:, :n], by_pairs(held, rows, payoffs, player, reach), atol=1e-5)
    assert found.shape == (2, padded)
    assert not found[:, n:].any()


def game_of(below, held, pairs):
    """One betting round: a bet that may be called, and what follows a check or a call."""
    tree = Decision(0, (Chance(0), Decision(1, (Fold(1.0), Chance(1)))))
    rows = []
    for p in (0, 1):
        n = len(held[p])
        each = np.arange(n)
        rows.append(
            Rows(
                np.array([n]),
                held[p][None],
                np.zeros((1, n), dtype=np.int32),
                pairs[p][None].astype(np.int16),
                each[None].astype(np.int16),
                np.ones((1, n)),
                n,
            )
        )
    ones = tuple(np.ones((1, len(mine))) for mine in held)
    return LiveGame([Round(Forest.build([tree]), tuple(rows), None)], ones, CARDS, (), below)


def test_a_round_is_solved_whose_leaves_are_told():
    """The leaves are linear in reach, so both players' values add up to nothing and the solve comes close."""
    held, _, pairs, _, below = made(2, ranges=(9, 9))
    game = game_of(below, held, pairs)
    game.check()
    assert not supports(game, variant("dcfr"))
    solver = Cfr(game, variant("dcfr"))
    solver.run(1)
    first = solver.exploitability().value
    solver.run(400)
    assert solver.exploitability().value < 0.002 < 0.1 * first
    assert sum(solver.expected_values()) == pytest.approx(0, abs=1e-6)


def test_leaves_that_are_told_are_those_of_one_round():
    held, _, pairs, _, below = made(2, ranges=(9, 9))
    game = game_of(below, held, pairs)
    with pytest.raises(SolverError, match="chance leaves without a deal"):
        game_of(None, held, pairs).check()
    with pytest.raises(SolverError, match="expected one round, found 2"):
        LiveGame([*game.rounds, *game.rounds], game.reach, CARDS, (), below).check()
