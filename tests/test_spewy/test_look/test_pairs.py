"""Which hands go together on a board, and how often the first is ahead at the end: against every final board alone."""

import sys
from itertools import combinations

import numpy as np
import pytest

from buckets.cards import Deck, blocked, hands, parse_cards, strength
from buckets.kernels.showdowns import fill_order, fill_wins
from spewy.game.gamefile import load_game
from spewy.look.pairs import FinalPairs, count_wins, pairs

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
    assert np.array_equal(found.masses(0, np.eye(len(second))), together)
    assert np.array_equal(found.masses(1, np.eye(len(first))), together.T)
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


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_machine_code_counts_the_wins_that_numpy_counts(share, monkeypatch):
    cards, rng = parse_cards("Qs Jh 2h"), np.random.default_rng(3)
    every = np.flatnonzero(~blocked(DECK, cards) & (rng.random(len(DECK)) < share))
    assert "numba" in sys.modules  # loaded by the kernels that this file imports
    by_kernel = count_wins(HOLDEM, DECK, every, cards)
    monkeypatch.delitem(sys.modules, "numba")
    assert np.array_equal(by_kernel, count_wins(HOLDEM, DECK, every, cards))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_wins_on_more_boards_than_a_counter_counts(dtype):
    """Strengths with ties and blocked hands; the hands on the 600 boards have more levels than 8 bits, or fewer."""
    strength = np.random.default_rng(5).integers(
        -1, 200 if dtype == np.uint8 else 900, (600, 400), dtype=np.int32
    )
    order = np.empty(strength.shape, dtype=np.uint16)
    highest = fill_order(strength, order)
    assert highest == max(len(np.unique(row[row >= 0])) for row in strength) - 1
    assert (highest < 255) == (dtype == np.uint8)
    wins = np.empty((400, 400), dtype=np.int32)
    for part in (slice(0, 150), slice(150, 400)):
        fill_wins(order.astype(dtype), np.iinfo(dtype).max, part.start, wins[part])
    for h in (0, 7, 399):
        own = strength[:, h, None]
        assert np.array_equal(wins[h], ((strength >= 0) & (strength < own)).sum(axis=0))
