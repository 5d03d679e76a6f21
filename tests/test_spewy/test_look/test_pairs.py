"""Which hands go together on a board, and how often the first is ahead at the end: against every final board alone."""

from itertools import combinations

import numpy as np
import pytest

from buckets.cards import Deck, blocked, hands, parse_cards, strength
from spewy.game.gamefile import load_game
from spewy.look.final_pairs import FinalPairs
from spewy.look.pairs import pairs

HOLDEM = load_game("holdem.nolimit.2p.reverse_blinds")
DECK = hands(Deck(), 2).astype(np.int64)


def naive(board, first, second):
    """The mean of who wins over all final boards that leave both hands their cards."""
    total, boards = np.zeros((2, len(first), len(second)))
    left = [card for card in Deck().cards if card not in board]
    for more in combinations(left, 5 - len(board)):
        mine, theirs = (strength([*board, *more], DECK[held])[:, None] for held in (first, second))
        there = (mine >= 0) & (theirs.T >= 0)
        total += there * np.sign(mine - theirs.T)
        boards += there
    share = (DECK[first][:, None, :, None] == DECK[second][None, :, None, :]).any(axis=(2, 3))
    return ~share, np.where(share, 0.0, total / np.maximum(boards, 1))


@pytest.mark.parametrize(
    "board", ["Qs Jh 2h", "Qh Jh 2h", "Ks 7d 2c", "7s 7d 2c", "Qh Jh 2h 8h", "Qs Jh 2h 8c 3d"]
)
@pytest.mark.parametrize("suits_matter", [False, True])
def test_pairs_are_those_of_every_final_board(board, suits_matter):
    """Also where suits may change their names: for ranges that are the same then, and for others."""
    cards = parse_cards(board)
    free = ~blocked(DECK, cards)
    high = (DECK >> 2).min(axis=1) >= 9  # both cards from jacks on
    if suits_matter:
        high &= np.random.default_rng(1).random(len(DECK)) < 0.5
    first = np.flatnonzero(free & high)
    second = np.flatnonzero(free & (high | ((DECK >> 2).max(axis=1) <= 1)))
    found = pairs(HOLDEM, DECK, cards, (first, second))
    together, lead = naive(cards, first, second)
    assert np.array_equal(found.compatible, together)
    np.testing.assert_allclose(found.lead, lead, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "board"),
    [
        ("holdem.nolimit.2p.reverse_blinds", "Qs Jh 2h 8c 3d"),
        ("holdem.nolimit.2p.reverse_blinds", "As Ks Qs Js Ts"),
        ("leduc", "Kh"),
        ("kuhn", ""),
    ],
)
@pytest.mark.parametrize("shape", [(), (4,)])
def test_sums_on_a_final_board_are_those_of_the_matrices(name, board, shape):
    """Two different sets of hands, hands of weight 0, and one or several ranges at once."""
    game, cards, rng = load_game(name), parse_cards(board), np.random.default_rng(2)
    deck = hands(game.deck, game.num_hole_cards).astype(np.int64)
    free = ~blocked(deck, cards)
    own = tuple(np.flatnonzero(free & (rng.random(len(deck)) < share)) for share in (0.5, 0.9))
    found, expected = FinalPairs(deck, cards, own), pairs(game, deck, cards, own)
    for p in (0, 1):
        size = (len(own[1 - p]), *shape)
        ranges = rng.random(size) * (rng.random(size) < 0.8)
        np.testing.assert_allclose(found.masses(p, ranges), expected.masses(p, ranges), rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.leads(p, ranges), expected.leads(p, ranges), rtol=0, atol=1e-11)
