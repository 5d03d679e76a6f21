import numpy as np
import pytest

from buckets.abstraction import GROUPINGS
from buckets.abstraction.grouping import quantile_groups
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
    suit_permutations,
)
from buckets.errors import BoardError, RangeError

FULL = Deck()
PAIRS = hands(FULL, 2)
BOARDS = ["QsJs2d", "QsJh2h8c", "QsJh2h8c3d", "AsKsQsJsTs", "2c2d2h2s3c"]


@pytest.mark.parametrize("grouping", GROUPINGS.values(), ids=GROUPINGS)
class TestContract:
    """What every grouping promises."""

    @pytest.mark.parametrize(
        ("board", "k"), [*((board, 40) for board in BOARDS), (BOARDS[0], 1), (BOARDS[1], 7), (BOARDS[2], 7)]
    )
    def test_labels_cover_0_to_the_largest_and_only_live_hands(self, grouping, board, k):
        cards = parse_cards(board)
        labels = grouping(cards, PAIRS, np.ones(1326), k)
        live = ~blocked(PAIRS, cards)
        assert labels.shape == (1326,)
        assert labels.dtype == np.int32
        np.testing.assert_array_equal(labels == -1, ~live)
        used = np.unique(labels[live])
        np.testing.assert_array_equal(used, np.arange(len(used)))
        assert len(used) <= k

    @pytest.mark.parametrize("board", BOARDS)
    def test_like_hands_share_a_label(self, grouping, board):
        cards = parse_cards(board)
        weights = np.random.default_rng(1).random(1326)
        labels = grouping(cards, PAIRS, weights, 40)
        for perm in stabilizer((tuple(sorted(cards)),), suit_permutations(FULL)):
            np.testing.assert_array_equal(labels[hand_permutation(FULL, 2, perm)], labels)

    def test_the_same_arguments_give_the_same_labels(self, grouping):
        cards = parse_cards("QsJh2h")
        weights = np.random.default_rng(1).random(1326)
        np.testing.assert_array_equal(grouping(cards, PAIRS, weights, 9), grouping(cards, PAIRS, weights, 9))

    def test_hands_without_weight_have_labels(self, grouping):
        cards = parse_cards("QsJh2h8c3d")
        weights = np.zeros(1326)
        weights[hand_index(FULL, parse_cards("AsAh"))] = 1
        for given in (weights, np.zeros(1326)):
            labels = grouping(cards, PAIRS, given, 5)
            assert (labels[~blocked(PAIRS, cards)] >= 0).all()

    def test_the_weakest_group_is_0(self, grouping):
        cards = parse_cards("QsJh2h8c3d")
        labels = grouping(cards, PAIRS, np.ones(1326), 10)
        assert labels[hand_index(FULL, parse_cards("5s4s"))] == 0
        assert labels[hand_index(FULL, parse_cards("QhQd"))] == labels.max()

    def test_small_games(self, grouping):
        kuhn = grouping((), hands(Deck(3, 1), 1), np.ones(3), 3, Deck(3, 1), 0)
        assert kuhn.tolist() == [0, 1, 2]
        leduc = grouping(parse_cards("Qh"), hands(Deck(3, 2), 1), np.ones(6), 3, Deck(3, 2), 1)
        assert leduc.tolist() == [-1, 2, 0, 0, 1, 1]

    def test_preflop_hands_of_a_class_stay_together(self, grouping):
        labels = grouping((), PAIRS, np.ones(1326), 20)
        board_buckets, names = preflop_classes()
        by_class = [set(labels[board_buckets == number].tolist()) for number in range(169)]
        assert all(len(found) == 1 for found in by_class)
        assert by_class[names.index("AA")] == {19}
        assert by_class[names.index("32o")] == {0}


def test_groups_ascend_with_equity_and_never_split_a_tie():
    cards = parse_cards("QsJh2h8c")
    live = ~blocked(PAIRS, cards)
    equity = equities(cards, PAIRS, np.ones(1326))[live]
    labels = GROUPINGS["equity-quantiles"](cards, PAIRS, np.ones(1326), 12)[live]
    order = np.argsort(equity, kind="stable")
    assert (np.diff(labels[order]) >= 0).all()
    for value in np.unique(equity):
        assert len(set(labels[equity == value].tolist())) == 1


def test_groups_hold_about_equal_weight():
    cards = parse_cards("QsJh2h")
    weights = np.random.default_rng(2).random(1326)
    live = ~blocked(PAIRS, cards)
    labels = GROUPINGS["equity-quantiles"](cards, PAIRS, weights, 10)[live]
    mass = np.bincount(labels, weights=weights[live]) / weights[live].sum()
    assert np.abs(mass - 0.1).max() < 0.02


def test_fewer_equities_than_groups_give_fewer_groups():
    labels = GROUPINGS["equity-quantiles"](parse_cards("AsKsQsJsTs"), PAIRS, np.ones(1326), 8)
    assert labels.max() == 0


@pytest.mark.parametrize(
    ("mass", "k", "expected"),
    [
        ([1, 1, 1, 1], 2, [0, 0, 1, 1]),
        ([1, 1, 1, 1], 4, [0, 1, 2, 3]),
        ([1, 1], 5, [0, 1]),
        ([10, 1, 1], 2, [0, 1, 1]),
        ([1, 1, 10], 2, [0, 0, 1]),
        ([1, 1, 10], 3, [0, 1, 2]),
        ([100, 1, 1, 1], 3, [0, 1, 2, 2]),
        ([0, 0, 1, 0, 0], 2, [0, 0, 1, 1, 1]),
        ([3], 2, [0]),
        ([], 2, []),
    ],
)
def test_quantile_groups(mass, k, expected):
    assert quantile_groups(np.array(mass, dtype=float), k).tolist() == expected


def test_quantile_groups_leave_no_run_empty():
    rng = np.random.default_rng(4)
    for _ in range(200):
        mass = rng.random(rng.integers(1, 12)) ** 8
        k = int(rng.integers(1, 12))
        runs = quantile_groups(mass, k)
        assert np.isin(np.diff(runs), (0, 1)).all()
        assert runs[0] == 0
        assert runs[-1] == min(k, len(mass)) - 1


def test_bad_arguments_are_refused():
    cards = parse_cards("QsJh2h8c3d")
    with pytest.raises(BoardError, match="groups: expected at least 1, got 0"):
        GROUPINGS["equity-quantiles"](cards, PAIRS, np.ones(1326), 0)
    with pytest.raises(RangeError, match="expected shape"):
        GROUPINGS["equity-quantiles"](cards, PAIRS, np.ones(7), 4)
    with pytest.raises(BoardError, match="different cards"):
        GROUPINGS["equity-quantiles"]((99,), PAIRS, np.ones(1326), 4)
