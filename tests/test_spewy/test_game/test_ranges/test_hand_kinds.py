"""Names of made hands, draws and blockers: examples as players tell them, and plain loops over random boards."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from naive_cards import category_name, strength_key

from buckets.cards import Deck, hands, parse_cards, parse_hand, strength
from buckets.errors import BoardError, CardError
from spewy.game.ranges.hand_kinds import BLOCKERS, DRAWS, MADE, kinds_of

PAIRS = ("second pair", "pocket below top", "top pair", "overpair")


def told(board, hand):
    kinds = kinds_of(board, [parse_hand(hand)])
    return kinds.made_names[0], kinds.draw_names[0], kinds.blocker_names[0]


@pytest.mark.parametrize(
    ("board", "hand", "name"),
    [
        ("Ks 7d 2c", "AsAd", "overpair"),
        ("Ks 7d 2c", "Kd3d", "top pair"),
        ("Ks 7d 2c", "QsQd", "pocket below top"),
        ("Ks 7d 2c", "7s6s", "second pair"),
        ("Ks 7d 2c", "5s5d", "underpair"),
        ("Ks 7d 2c", "Ad2d", "low pair"),
        ("Ks 7d 2c", "AdQd", "ace high"),
        ("As 7d 2c", "KdQd", "king high"),
        ("Ks 7d 2c", "QdJd", "nothing"),
        ("Ks 7d 2c", "Kd7c", "two pair"),
        ("Ks 7d 2c", "7s7c", "set"),
        ("Ks Kd 2c", "Kc7c", "trips"),
        ("Ks Kd 2c", "2d2s", "full house"),
        ("Ks Kd 7c", "7d6d", "second pair"),
        ("Ks Kd 7c", "AdAc", "overpair"),
        ("Ks Kd 7c", "AdQc", "ace high"),
        ("Ks Kd Kc 7c", "AdQc", "ace high"),
        ("Ks Kd Kc 7c", "2d2c", "full house"),
        ("Ks Kd 7c 7d", "3s3c", "nothing"),  # the best five are the board's
        ("Ks Kd 7c 2d", "7s2s", "second pair"),  # kings and sevens: the deuces do not count
        ("2s 2d Kc 7d", "Ks7s", "two pair"),
        ("Ks 7d 2c 2d", "Kd7c", "two pair"),
        ("9s 8d 7c", "JdTd", "straight"),
        ("As 2d 3c", "5d4d", "straight"),
        ("9s 8s 7s", "Js2s", "flush"),
        ("9s 8s 7s", "JsTs", "straight flush"),
        ("As Ks Qs Js Ts", "2d2c", "straight flush"),
        ("Ks Kd 7c", "KhKc", "quads"),
        ("", "3s3d", "pocket pair"),
        ("", "Ks3d", "king high"),
    ],
)
def test_made_hands_are_named_as_players_name_them(board, hand, name):
    assert told(board, hand)[0] == name


@pytest.mark.parametrize(
    ("board", "hand", "names"),
    [
        ("Qs Jh 2h", "AhTh", "nut flush draw, gutshot"),
        ("Qs Jh 2h", "Th9h", "flush draw, OESD"),
        ("Qs Jh 2h", "AdKd", "gutshot, overcards"),
        ("Qs Jh 2h", "9d8c", "gutshot"),
        ("Qs Jd 2h", "AhKh", "gutshot, backdoor flush draw, overcards"),
        ("Ks 7d 2c", "8d6d", "backdoor flush draw, backdoor straight draw"),
        ("Ks 7d 2c", "AdQd", "backdoor flush draw, backdoor straight draw"),
        ("9s 7d 5c", "8h6h", ""),  # a straight
        ("Ts 8d 6c", "7h4h", "double gutshot"),
        ("As 3d 4c", "5h9c", "gutshot"),  # only a deuce
        ("2s 3d 4c", "5h9c", "OESD, overcards"),  # an ace and a six
        ("Qs Jd Tc", "Kh2c", "OESD"),
        ("Ks Qd Jc", "Ah2c", "gutshot"),  # only a ten
        ("9s 8d 7c 6h", "Ah2c", ""),  # a five and a ten make everyone's straight
        ("9h 8h 7h", "Ah2c", "nut flush draw"),
        ("9h 8h 7c", "AhKd", "overcards"),
        ("9h 8h 7h 2h", "AsKd", "overcards"),  # four hearts, and none in the hand
        ("9h 8h 7h Qs", "6h6d", "flush draw, OESD"),
        ("Qs Jh 2h", "2s2d", ""),
        ("Qs Jh 2h 8c 3d", "AhTh", ""),  # nothing is left to come
        ("", "AhTh", ""),
    ],
)
def test_draws_are_named_as_players_name_them(board, hand, names):
    assert told(board, hand)[1] == names


@pytest.mark.parametrize(
    ("board", "hand", "names"),
    [
        ("9h 8h 3h Qs 2d", "AhKd", "nut flush blocker"),
        ("9h 8h 3h Qs 2d", "Kh7d", ""),
        ("Ah 8h 3h Qs 2d", "KhKd", "nut flush blocker"),
        ("9h 8h 3h Qs 2d", "AhKh", ""),  # the nut flush itself
        ("9s 8d 7c 2h 2c", "JsJd", "nut straight blocker"),
        ("9s 8d 7c 2h 2c", "6s6d", ""),
        ("9s 8d 7c 2h 2c", "JsTd", ""),  # the straight itself
        ("9h 8h 7h 2d 2c", "AhJs", "nut flush blocker, nut straight blocker"),
        ("As Ks Qs Js Ts", "2d2c", ""),
    ],
)
def test_blockers_are_named(board, hand, names):
    assert told(board, hand)[2] == names


BEST_FIVE = {
    "straight": "straight",
    "flush": "flush",
    "full house": "full house",
    "four of a kind": "quads",
    "straight flush": "straight flush",
}
RUNS = [{(top - k) % 13 for k in range(5)} for top in range(3, 13)]


def ranks(cards):
    return {card // 4 for card in cards}


def suited(cards, suit):
    return [card for card in cards if card % 4 == suit]


def straight(cards):
    """The number of the highest straight among the ranks of cards, or -1."""
    return max((number for number, run in enumerate(RUNS) if run <= ranks(cards)), default=-1)


def highest_other(board, suit):
    return max(card for card in range(suit, 52, 4) if card not in board)


def naive_made(board, hand):
    low, high = sorted(card // 4 for card in hand)
    without = "ace high" if high == 12 else "king high" if high == 11 else "nothing"
    if not board:
        return "pocket pair" if low == high else without
    category = category_name(board + hand)
    if category in BEST_FIVE:
        return BEST_FIVE[category]
    pairs = []
    for rank in {low, high}:
        if low == high or rank in ranks(board):
            counting = max(combinations(board + hand, 5), key=lambda five: strength_key(list(five)))
            if sum(card // 4 == rank for card in counting) > 1:
                pairs.append(rank)
    if not pairs:
        return without
    if category == "three of a kind":
        return "set" if low == high else "trips"
    if len(pairs) == 2:
        return "two pair"
    above = sum(rank > pairs[0] for rank in ranks(board))
    if low == high:
        return ["overpair", "pocket below top", "underpair"][min(above, 2)]
    return ["top pair", "second pair", "low pair"][min(above, 2)]


def naive_draws(board, hand):
    """All names, whatever order."""
    if len(board) not in (3, 4):
        return set()
    name = naive_made(board, hand)
    found = set()
    if name in ("nothing", "king high", "ace high") and min(ranks(hand)) > max(ranks(board)):
        found.add("overcards")
    order = ["flush", "full house", "quads", "straight flush"]
    if name not in order:
        for suit in range(4):
            mine, all_ = suited(hand, suit), suited(board + hand, suit)
            if len(all_) == 4 and mine:
                found.add("flush draw")
                if highest_other(board, suit) in hand:
                    found.add("nut flush draw")
            if len(board) == 3 and len(all_) == 3 and len(mine) == 2:
                found.add("backdoor flush draw")
    if name not in ("straight", *order):
        outs = {r for r in range(13) if straight([*board, *hand, 4 * r]) > straight([*board, 4 * r])}
        have = ranks(board + hand)
        sides = [
            r
            for r in range(-1, 8)
            if r % 13 in outs and r + 5 in outs and {r + 1, r + 2, r + 3, r + 4} <= have
        ]
        if outs:
            found.add("gutshot" if len(outs) == 1 else "OESD" if sides else "double gutshot")
        elif len(board) == 3 and len(ranks(hand)) == 2:
            own = ranks(hand)
            if any(own <= run and (ranks(board) - own) & run for run in RUNS):
                found.add("backdoor straight draw")
    return found


def naive_blockers(board, hand):
    name = naive_made(board, hand)
    found = set()
    if not board:
        return found
    flushes = ("flush", "full house", "quads", "straight flush")
    if name not in flushes:
        for suit in range(4):
            if len(suited(board, suit)) >= 3 and highest_other(board, suit) in hand:
                found.add("nut flush blocker")
    if name not in ("straight", *flushes):
        possible = [run for run in RUNS if len(run & ranks(board)) >= 3]
        if possible and (possible[-1] - ranks(board)) & ranks(hand):
            found.add("nut straight blocker")
    return found


def random_boards():
    rng = np.random.default_rng(1)
    boards = [rng.choice(52, n, replace=False).tolist() for n in (3, 3, 3, 4, 4, 5)]
    close = ("9h8h7c", "KsKd7c7d", "AhKh5h4h", "8s8d8c2h3h", "5s4s3d2d", "KsQsJsTs")
    return [*boards, *(list(parse_cards(text)) for text in close)]


@pytest.mark.parametrize("board", random_boards())
def test_names_are_those_of_plain_loops(board):
    chosen = np.random.default_rng(2).choice(1326, 80, replace=False)
    cards = hands(Deck(), 2)[chosen]
    kinds = kinds_of(board, cards)
    for h, hand in enumerate(cards.tolist()):
        if set(hand) & set(board):
            assert kinds.made[h] == -1
            assert not kinds.draws[h].any()
            assert not kinds.blockers[h].any()
            continue
        assert kinds.made_names[h] == naive_made(board, hand), hand
        assert {d for n, d in enumerate(DRAWS) if kinds.draws[h, n]} == naive_draws(board, hand), hand
        found = {b for n, b in enumerate(BLOCKERS) if kinds.blockers[h, n]}
        assert found == naive_blockers(board, hand), hand


@pytest.mark.parametrize("board", ["Ks7d2c", "KsKd7c4d", "9h8h7c5d2s"])
def test_a_later_name_of_a_pair_is_the_better_hand(board):
    names = np.array(kinds_of(board).made_names)
    values = strength(parse_cards(board), hands(Deck(), 2))
    ordered = [values[names == name] for name in PAIRS if name in names]
    assert len(ordered) >= 2
    assert all(low.max() < high.min() for low, high in pairwise(ordered))


def test_all_hands_are_named_in_the_order_of_their_numbers():
    everything, few = kinds_of("Ks 7d 2c"), kinds_of("Ks 7d 2c", hands(Deck(), 2)[700:710])
    assert everything.made_names[700:710] == few.made_names
    assert everything.draw_names[700:710] == few.draw_names
    assert len(everything.made) == 1326
    assert set(everything.made_names) <= {"", *MADE}


@pytest.mark.parametrize(
    ("board", "said"), [("Ks 7d", "expected 0, 3, 4 or 5 cards, found 2"), ("KsKs2d", "once")]
)
def test_boards_that_cannot_be_are_refused(board, said):
    with pytest.raises((BoardError, CardError), match=said):
        kinds_of(board)
