from itertools import combinations

import naive_cards
import numpy as np
import pytest

from buckets.abstraction import outcomes
from buckets.cards import (
    Deck,
    blocked,
    equities,
    hand_index,
    hand_permutation,
    hands,
    parse_cards,
    preflop_classes,
    stabilizer,
    strength,
    suit_permutations,
)
from buckets.errors import BoardError

FULL = Deck()
PAIRS = hands(FULL, 2)


@pytest.mark.parametrize(
    ("ranks", "suits", "hole", "n_on_board", "n_board"),
    [(6, 2, 2, 1, 3), (4, 3, 2, 3, 4), (13, 1, 2, 3, 5), (6, 2, 1, 0, 2), (3, 2, 1, 1, 1), (3, 1, 1, 0, 0)],
)
def test_outcomes_equal_the_naive_twin_on_small_decks(ranks, suits, hole, n_on_board, n_board):
    deck = Deck(ranks, suits)
    board = np.random.default_rng(ranks).permutation(deck.cards)[:n_on_board].tolist()
    combos = hands(deck, hole)
    found = outcomes(board, combos, deck, n_board)
    for row, hand in zip(found, combos.tolist(), strict=True):
        if set(hand) & set(board):
            assert np.isnan(row).all()
        else:
            expected = naive_cards.outcomes(board, hand, deck.cards, n_board)
            np.testing.assert_allclose(row, expected, atol=1e-15)


@pytest.mark.parametrize(("n_cards", "n_outcomes", "n_hands"), [(3, 1081, 1), (4, 46, 12), (5, 1, 200)])
def test_outcomes_equal_enumeration_on_random_boards(n_cards, n_outcomes, n_hands):
    rng = np.random.default_rng(n_cards)
    deck = rng.permutation(52).tolist()
    board, left = deck[:n_cards], sorted(deck[n_cards:])
    found = outcomes(board, PAIRS)
    assert found.shape == (1326, n_outcomes)
    for _ in range(n_hands):
        hand = sorted(rng.choice(left, 2, replace=False).tolist())
        expected = []
        for more in combinations([card for card in left if card not in hand], 5 - n_cards):
            power = strength([*board, *more], PAIRS)
            ours = power[hand_index(FULL, hand)]
            apart = (power >= 0) & ~blocked(PAIRS, hand)
            expected.append(((power < ours) & apart).sum() + ((power == ours) & apart).sum() / 2)
        np.testing.assert_array_equal(found[hand_index(FULL, hand)], np.sort(expected) / 990)


@pytest.mark.parametrize("board", ["Ks7d2c9h", "QsJh2h8c3d", "2c2d2h2s3c", "AsKsQsJsTs"])
def test_the_mean_outcome_is_the_equity(board):
    cards = parse_cards(board)
    live = ~blocked(PAIRS, cards)
    equity = equities(cards, PAIRS, np.ones(1326))
    np.testing.assert_allclose(outcomes(cards, PAIRS)[live].mean(axis=1), equity[live], atol=1e-12)


def test_like_hands_have_the_same_outcomes():
    cards = parse_cards("QsJs2d")
    found = outcomes(cards, PAIRS)
    for perm in stabilizer((tuple(sorted(cards)),), suit_permutations(FULL)):
        np.testing.assert_array_equal(found[hand_permutation(FULL, 2, perm)], found)
    assert (np.diff(found[~blocked(PAIRS, cards)], axis=1) >= 0).all()


def test_preflop_outcomes_are_those_of_169_classes():
    found = outcomes((), PAIRS)
    board_buckets, names = preflop_classes()
    for number in range(169):
        assert (found[board_buckets == number] == found[board_buckets == number][0]).all()
    mean = dict(zip(names, (found[board_buckets == n].mean() for n in range(169)), strict=True))
    # Equities against a random hand, as published everywhere; a standard error is about 0.002.
    for name, equity in (("AA", 0.852), ("KK", 0.824), ("AKs", 0.670), ("72o", 0.346), ("22", 0.503)):
        assert mean[name] == pytest.approx(equity, abs=0.006)


def test_samples_are_repeatable_and_seeded():
    cards = parse_cards("QsJh2h")
    first, again, other = (outcomes(cards, PAIRS, samples=300, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(
    ("board", "message"),
    [((1, 1, 2), "different cards"), ((1,) * 6, "different cards"), (tuple(range(6)), "at most 5 cards")],
)
def test_impossible_boards_are_refused(board, message):
    with pytest.raises(BoardError, match=message):
        outcomes(board, PAIRS)
