from collections import Counter
from itertools import combinations, islice, permutations

import naive_cards as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buckets.cards import (
    CATEGORIES,
    Deck,
    blocked,
    category,
    hand_permutation,
    hands,
    parse_cards,
    permute_cards,
    strength,
    strengths,
    suit_permutations,
)
from buckets.errors import BoardError, CardError

PAIRS = hands(Deck(), 2)


def one(text):
    """Strength of cards, the first two of which are in the hand."""
    cards = parse_cards(text)
    return int(strength(cards[2:], [cards[:2]])[0])


def count_categories(n_board):
    """How often each category number occurs over all boards and hands."""
    counts = np.zeros(len(CATEGORIES), dtype=np.int64)
    boards = combinations(range(52), n_board)
    while chunk := list(islice(boards, 4096)):
        found = strengths(chunk, PAIRS)
        counts += np.bincount(((found >> 26) + 1).ravel(), minlength=len(CATEGORIES) + 1)[1:]
    return counts


NAMES = ("high card", "pair", "two pair", "three of a kind", "straight", "flush", "full house")
NAMES += ("four of a kind", "straight flush")
THREE_CARDS = (16_440, 3_744, 0, 52, 720, 1_096, 0, 0, 48)
FIVE_CARDS = (1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40)
SIX_CARDS = (6_612_900, 9_730_740, 2_532_816, 732_160, 361_620, 205_792, 165_984, 14_664, 1_844)
SEVEN_CARDS = (23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584)


@pytest.mark.parametrize(
    ("n_board", "expected"),
    [
        (1, THREE_CARDS),
        (3, FIVE_CARDS),
        pytest.param(4, SIX_CARDS, marks=pytest.mark.slow),
        pytest.param(5, SEVEN_CARDS, marks=pytest.mark.slow),
    ],
)
def test_all_hands_counted_by_category(n_board, expected):
    # Each set of cards is met once per choice of the two that are the hand.
    choices = (n_board + 2) * (n_board + 1) // 2
    counts = Counter()
    for name, count in zip(CATEGORIES, count_categories(n_board).tolist(), strict=True):
        counts[name] += count
    assert {name: count / choices for name, count in counts.items()} == dict(
        zip(NAMES, expected, strict=True)
    )


@pytest.mark.parametrize(
    ("hole", "n_board"),
    [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (1, 4), (1, 5), (1, 6), (2, 3), (2, 4), (2, 5)],
)
def test_order_and_category_equal_sorting_five_cards(hole, n_board):
    rng = np.random.default_rng(hole * 10 + n_board)
    for trial in range(12):
        # Few ranks or few suits in some trials, so that pairs and flushes are common.
        pool = [range(52), range(28), [c for c in range(52) if c % 4 < 2]][trial % 3]
        board = rng.choice(pool, n_board, replace=False)
        rows = hands(Deck(), hole)
        rows = rows[rng.choice(len(rows), min(50, len(rows)), replace=False)]
        found = strength(board, rows)
        np.testing.assert_array_equal(found, strengths([board], rows)[0])  # the kernel's
        np.testing.assert_array_equal(found == -1, blocked(rows, board))
        live = np.flatnonzero(found >= 0)
        keys = [naive.strength_key((*rows[h].tolist(), *board.tolist())) for h in live]
        for h, key in zip(live, keys, strict=True):
            assert category(int(found[h])) == naive.category_name((*rows[h].tolist(), *board.tolist()))
            np.testing.assert_array_equal(found[live] < found[h], [other < key for other in keys])
            np.testing.assert_array_equal(found[live] == found[h], [other == key for other in keys])


@given(
    st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True),
    st.integers(0, 23),
    st.sampled_from([1, 3, 4, 5]),
)
@settings(deadline=None)
def test_suits_have_no_order(cards, number, n_board):
    perm = suit_permutations(Deck())[number]
    board = cards[:n_board]
    there = strength(board, PAIRS)
    here = strength(permute_cards(board, perm), PAIRS)
    np.testing.assert_array_equal(here[hand_permutation(Deck(), 2, perm)], there)


@given(st.lists(st.integers(0, 51), min_size=7, max_size=7, unique=True))
@settings(deadline=None)
def test_which_cards_are_the_hand_does_not_matter(cards):
    found = {int(strength([c for c in cards if c not in hole], [hole])[0]) for hole in permutations(cards, 2)}
    assert len(found) == 1


LADDER = [
    "7h5h 4c3d2s 9c8d",
    "AhKd QcJs9h 3d2c",
    "2h2d AcKsJh 9d7c",
    "AhAd 3c4s6h 8d9c",
    "3h3d 2c2sAh 7d9c",
    "AhAd KcKsQh JdQc",
    "2h2d 2sAcKh Jd9c",
    "AhAd As2c3h 7d9c",
    "Ah2d 3c4s5h 9dJc",
    "2h3d 4c5s6h KdKc",
    "AhKd QcJsTh Td2c",
    "7h5h 4h3h2h AsAd",
    "AhKh QhJh9h 9d9c",
    "2h2d 2s3c3h Kd9c",
    "AhAd AsKcKh KdQc",
    "2h2d 2s2c3h 3d3c",
    "AhAd AsAcKh QdQc",
    "Ah2h 3h4h5h KhQh",
    "2h3h 4h5h6h AhAd",
    "AhKh QhJhTh AdAc",
]


def test_seven_card_ladder_ascends_strictly():
    values = [one(text) for text in LADDER]
    assert values == sorted(set(values))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2c3d AhKhQhJhTh", "9c9d AhKhQhJhTh"),  # the board plays
        ("2c3d AcKdQh9s7c", "5c6d AcKdQh9s7c"),
        ("Ah3d AcKdQhJs7c", "Ad2d AcKdQhJs7c"),  # the fifth card decides, hole kickers do not play
        ("QhQd AcAdKhKs2c", "QcQs AcAdKhKs2c"),
        ("2h3d AcAdKhKsQc", "JhJd AcAdKhKsQc"),  # two pair with the board's kicker
        ("2h3d 9c9d9h9sAc", "KhKd 9c9d9h9sAc"),
    ],
)
def test_ties(first, second):
    assert one(first) == one(second)


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("6h2d 2c3c4s5hKd", "Ah2d 2c3c4s5hKd"),  # six high beats the wheel
        ("QhQd AcAdKhKs2c", "JhJd AcAdKhKs2c"),  # third pair is the kicker
        ("KhQd 9c9d9h9s2c", "QhJd 9c9d9h9s2c"),
        ("Kc2d AcQc9c5c3h", "Jc2d AcQc9c5c3h"),
        ("KhKd AcAdAh2s2c", "QhQd AcAdAh2s2c"),
        ("3h3d 3c2c2d2h9s", "KhQd 3d2c2d2h9s"),
    ],
)
def test_close_calls(stronger, weaker):
    assert one(stronger) > one(weaker)


@pytest.mark.parametrize("text", ["KhAd 2c3s4hTdTc", "QhKd Ac2s3hTd8c"])
def test_straights_do_not_wrap(text):
    assert category(one(text)) in ("pair", "high card")


def test_rhode_island_ranking():
    ladder = ["3h2d 5c", "AhKd Jc", "2h2d 3c", "AhAd Kc", "5h3h 2h", "AhKh Jh"]
    ladder += ["Ah2d 3c", "2h3d 4c", "AhKd Qc", "2h2d 2c", "AhAd Ac", "Ah2h 3h", "2h3h 4h", "AhKh Qh"]
    values = [one(text) for text in ladder]
    assert values == sorted(set(values))
    names = [category(value) for value in values]
    assert names == [
        *["high card"] * 2,
        *["pair"] * 2,
        *["flush"] * 2,
        *["straight"] * 3,
        *["three of a kind"] * 2,
        *["straight flush"] * 3,
    ]


def test_kuhn_is_high_card():
    cards = hands(Deck(3, 1), 1)
    found = strength((), cards)
    assert np.all(np.diff(found) > 0)
    assert {category(int(value)) for value in found} == {"high card"}


def test_leduc_a_pair_beats_a_high_card_and_suits_tie():
    queen_hearts = parse_cards("Qh")
    found = strength(queen_hearts, hands(Deck(3, 2), 1)).tolist()
    _, pair, *others = found
    assert found[0] == -1
    assert pair > max(others)
    assert others[0] == others[1] < others[2] == others[3]
    assert category(pair) == "pair"


@pytest.mark.parametrize(("hole", "n_board"), [(1, 2), (2, 1), (2, 3), (2, 4), (2, 5)])
def test_one_board_as_among_many(hole, n_board):
    rng = np.random.default_rng(n_board)
    suited = [range(52), range(0, 52, 4), range(12), [c for c in range(52) if c % 4 < 2]]
    boards = [rng.choice(suited[trial % 4], n_board, replace=False) for trial in range(300)]
    rows = hands(Deck(), hole)
    np.testing.assert_array_equal([strength(board, rows) for board in boards], strengths(boards, rows))


def test_shapes_with_all_axes_different():
    boards = [parse_cards("Qs Jh 2h 8c 3d"), parse_cards("2c 3c 4c 5c 6c")]
    rows = PAIRS[[0, 700, 1325]]
    found = strengths(boards, rows)
    assert found.shape == (2, 3)
    assert found.dtype == np.int32
    for b, board in enumerate(boards):
        np.testing.assert_array_equal(found[b], strength(board, rows))
    assert strengths(np.empty((0, 5), dtype=np.int64), rows).shape == (0, 3)
    assert strengths(boards, np.empty((0, 2), dtype=np.int64)).shape == (2, 0)


@pytest.mark.parametrize(("board", "hole"), [("Qs Jh", 2), ("Qs Jh 2h", 1), ("Qs Jh 2h 8c 3d 4d", 2)])
def test_other_numbers_of_cards_are_refused(board, hole):
    cards = parse_cards(board)
    with pytest.raises(BoardError, match=rf"expected one of .* together, got {len(cards) + hole}"):
        strength(cards, hands(Deck(), hole))


@pytest.mark.parametrize(
    ("boards", "rows", "message"),
    [
        ([(0, 0, 1)], [(2, 3)], "boards: expected each card once, got 2c2c2d"),
        ([(0, 1, 52)], [(2, 3)], "boards: expected cards 0 to 51, got 0 to 52"),
        ([(0, 1, 2)], [(4, 4)], "hands: expected each card once"),
        ([(0, 1, 2)], [(-1, 4)], "hands: expected cards 0 to 51"),
        ((0, 1, 2), [(3, 4)], "boards: expected ints of shape"),
        ([(0.5, 1, 2)], [(3, 4)], "boards: expected ints of shape"),
    ],
)
def test_strange_cards_are_refused(boards, rows, message):
    with pytest.raises(BoardError, match=message):
        strengths(boards, rows)


def test_three_hole_cards_are_refused():
    with pytest.raises(CardError, match="expected 1 or 2 cards each, got 3"):
        strength((), [(0, 1, 2)])


@pytest.mark.parametrize("value", [-1, 13 << 26])
def test_what_is_no_strength_has_no_category(value):
    with pytest.raises(CardError, match="expected a number that `strengths` returned"):
        category(value)
