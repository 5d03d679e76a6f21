"""Leaf matrices equal double loops over all pairs of hands; a chunk's root matrix is what its play is worth."""

from functools import partial

import naive
import numpy as np
import pytest
from random_games import two_round_game

from solvers.matrix.leaves import add_deal, row_matrices


def hands_of(game, t, b, p):
    hands = game.rounds[t].hands[p]
    return hands.on(b, hands.n_rows)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("groups", [3, 5])
def test_row_matrices(k, groups):
    game, rng = two_round_game(21, k, groups), np.random.default_rng(4)
    own, other = (hands_of(game, 1, 3, p) for p in (0, 1))
    w0, w1 = rng.random(len(own.row)), rng.random(len(other.row))
    joint, showdown = row_matrices(own, other, w0, w1, game.n_ids)
    slow = naive.leaf_matrix(own, other, w0, w1, lambda i, j: 1.0)
    np.testing.assert_allclose(joint, slow, atol=1e-12)
    slow = naive.leaf_matrix(own, other, w0, w1, lambda i, j: np.sign(own.strength[i] - other.strength[j]))
    np.testing.assert_allclose(showdown, slow, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2])
def test_add_deal(k):
    game, rng = two_round_game(22, k, 4), np.random.default_rng(5)
    own, other = (hands_of(game, 0, 0, p) for p in (0, 1))
    w0, w1 = rng.random(len(own.row)), rng.random(len(other.row))
    deal, below = game.rounds[0].deal, game.rounds[1].hands
    payoffs = rng.normal(size=(below[0].n_rows, below[1].n_rows, 2))
    e = 6
    images = [
        np.where(image >= 0, below[p].row[deal.child[e], image], -1)
        for p, image in enumerate((deal.child_row[0][e], deal.child_row[1][e]))
    ]

    def payoff(leaf, i, j):
        x, y = images[0][i], images[1][j]
        return payoffs[x, y, leaf] if x >= 0 and y >= 0 else 0.0

    slow = [naive.leaf_matrix(own, other, w0, w1, partial(payoff, leaf)) for leaf in range(2)]
    found = np.ones((*slow[0].shape, 2))
    add_deal(found, own, other, w0, w1, payoffs, images[0], images[1], game.n_ids)
    np.testing.assert_allclose(found, 1 + np.stack(slow, axis=-1), atol=1e-12)
