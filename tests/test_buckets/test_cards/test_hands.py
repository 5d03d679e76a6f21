from itertools import combinations

import numpy as np
import pytest

from buckets.cards import (
    Deck,
    blocked,
    hand_index,
    hand_name,
    hands,
    parse_cards,
    parse_hand,
    preflop_classes,
)
from buckets.errors import CardError

DECKS = [
    (Deck(), 2, 1326),
    (Deck(), 1, 52),
    (Deck(3, 1), 1, 3),
    (Deck(3, 2), 1, 6),
    (Deck(3, 2), 2, 15),
    (Deck(5, 3), 2, 105),
]


@pytest.mark.parametrize(("deck", "hole", "count"), DECKS)
def test_hands_are_all_sets_in_order_with_numbers_and_names(deck, hole, count):
    rows = hands(deck, hole)
    assert [tuple(row) for row in rows.tolist()] == list(combinations(deck.cards, hole))
    assert len(rows) == count
    np.testing.assert_array_equal(hand_index(deck, rows), np.arange(count))
    np.testing.assert_array_equal(hand_index(deck, rows[:, ::-1]), np.arange(count))
    assert hand_index(deck, np.stack([rows, rows, rows])).shape == (3, count)
    names = [hand_name(row) for row in rows]
    assert len(set(names)) == count
    np.testing.assert_array_equal([parse_hand(name) for name in names], rows)


@pytest.mark.parametrize("name", ["AsKs", "AsAh", "AdAc", "3h2s", "As"])
def test_names_put_the_higher_card_first_then_the_higher_suit(name):
    assert hand_name(parse_hand(name)) == name


def test_hands_are_shared_and_read_only():
    assert hands(Deck(), 2) is hands(Deck(13, 4), 2)
    with pytest.raises(ValueError, match="read-only"):
        hands(Deck(), 2)[0, 0] = 1


@pytest.mark.parametrize(
    ("deck", "hole", "message"),
    [
        (Deck(), 0, "hole cards: expected 1 or 2, got 0"),
        (Deck(), 3, "hole cards: expected 1 or 2, got 3"),
        (Deck(1, 1), 2, "at most the deck's 1 cards"),
    ],
)
def test_other_numbers_of_hole_cards_are_refused(deck, hole, message):
    with pytest.raises(CardError, match=message):
        hands(deck, hole)


@pytest.mark.parametrize(
    ("deck", "cards", "message"),
    [
        (Deck(), (5, 5), "two different cards, got 3d3d"),
        (Deck(), (5, 52), "from 0 to 51"),
        (Deck(3, 2), (0, 51), "expected cards of .* got 2c"),
        (Deck(), (1, 2, 3), "shape"),
        (Deck(), 7, "shape"),
        (Deck(), (0.5, 1.0), "ints"),
    ],
)
def test_strange_hands_are_refused(deck, cards, message):
    with pytest.raises(CardError, match=message):
        hand_index(deck, cards)


@pytest.mark.parametrize("text", ["", "AsKsQs"])
def test_a_hand_has_one_or_two_cards(text):
    with pytest.raises(CardError, match="expected 1 or 2 cards"):
        parse_hand(text)


def test_blocked_marks_hands_that_share_a_card_with_the_board():
    board = parse_cards("Qs Jh 2h")
    expected = [bool(set(row) & set(board)) for row in hands(Deck(), 2).tolist()]
    np.testing.assert_array_equal(blocked(hands(Deck(), 2), board), expected)
    assert sum(expected) == 1326 - 49 * 48 // 2
    assert not blocked(hands(Deck(), 2), ()).any()
    with pytest.raises(CardError, match="from 0 to 51"):
        blocked(hands(Deck(), 2), (-1,))


def test_preflop_classes_are_named_after_their_6_4_or_12_hands():
    classes, names = preflop_classes()
    assert len(names) == len(set(names)) == 169
    for name, count in zip(names, np.bincount(classes, minlength=169), strict=True):
        assert count == {"": 6, "s": 4, "o": 12}[name[2:]]
    for row, number in zip(hands(Deck(), 2), classes, strict=True):
        high, high_suit, low, low_suit = hand_name(row)
        kind = "" if high == low else "s" if high_suit == low_suit else "o"
        assert names[number] == high + low + kind
