import naive_boards as naive
import numpy as np
import pytest

from buckets.abstraction.percentiles import Percentiles, board_features, start_kinds
from buckets.cards import (
    Deck,
    blocked,
    board_map,
    hand_permutation,
    hands,
    permute_cards,
    stabilizer,
    suit_permutations,
)

DECK = Deck(5, 3)
HANDS = hands(DECK, 2)


@pytest.fixture(scope="module")
def table():
    """Hold'em's rules with fifteen cards and a board of three."""
    told = []
    found = Percentiles.of(DECK, 2, board_map(DECK, (3,)), told.append)
    assert sum(told) == len(found.grades)
    return found


def test_parts_are_those_of_a_count(table):
    for number in range(0, len(table.grades), 7):
        found = [None if grade == 255 else int(grade) for grade in table.grades[number]]
        assert found == naive.grades(table.finals.boards[number].tolist(), HANDS.tolist())


@pytest.mark.parametrize(("n_cards", "n_points"), [(2, 4), (2, 11), (1, 10), (3, 1)])
def test_curves_are_means_of_sorted_outcomes(table, n_cards, n_points):
    boards = board_map(DECK, (n_cards,)).boards[::3]
    curves = table.curves(boards, n_points)
    for board, found in zip(boards[:4].tolist(), curves, strict=False):
        for own, expected in zip(found, naive.outcomes(board, HANDS.tolist(), DECK.cards, 3), strict=True):
            if not expected:
                assert np.isnan(own).all()
                continue
            assert len(expected) == table.n_outcomes(n_cards)
            np.testing.assert_allclose(own, naive.curve(expected, n_points), rtol=1e-6)


def test_curves_of_hands_that_mirror_each_other_are_equal_to_the_bit(table):
    boards = board_map(DECK, (2,)).boards
    curves = table.curves(boards, 4)
    for board, found in zip(boards, curves, strict=True):
        for perm in stabilizer((tuple(board.tolist()),), suit_permutations(DECK)):
            np.testing.assert_array_equal(found[hand_permutation(DECK, 2, perm)], found)


def test_curves_move_with_their_board(table):
    boards = board_map(DECK, (2,)).boards
    for perm in suit_permutations(DECK):
        turned = table.curves(permute_cards(boards, perm), 5)
        np.testing.assert_array_equal(turned[:, hand_permutation(DECK, 2, perm)], table.curves(boards, 5))


@pytest.mark.parametrize("n_cards", [1, 2, 3])
def test_distances_of_features_are_those_of_hands_outcomes(table, n_cards):
    found = board_map(DECK, (n_cards,))
    features = board_features(table, found.boards, found.counts)
    kinds = start_kinds(DECK, 2)
    share = np.bincount(kinds) / len(kinds)
    rows = []
    for board in found.boards.tolist():
        means = np.array(
            [np.mean(own or [np.nan]) for own in naive.outcomes(board, HANDS.tolist(), DECK.cards, 3)]
        )
        live = ~blocked(HANDS, board)
        of_kind = [means[live & (kinds == kind)] for kind in range(len(share))]
        rows.append(
            [own.mean() if len(own) else np.nan for own in of_kind]
            + [own.std() if len(own) else np.nan for own in of_kind]
        )
    rows = np.array(rows)
    for column in rows.T:
        gaps = np.isnan(column)
        column[gaps] = np.average(column[~gaps], weights=found.counts[~gaps])
    rows *= np.sqrt(np.tile(share, 2))
    expected = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    got = np.linalg.norm(features.values[:, None] - features.values[None], axis=2)
    assert 0.999 < features.kept <= 1.0001
    np.testing.assert_allclose(got, expected, atol=0.003)


def test_one_card_games():
    leduc = Deck(3, 2)
    table = Percentiles.of(leduc, 1, board_map(leduc, (1,)))
    queen, king, _ = table.grades.tolist()
    assert queen == [255, 229, 51, 51, 153, 153]
    assert king == [51, 51, 255, 229, 153, 153]
    assert start_kinds(leduc, 1).tolist() == [0, 0, 1, 1, 2, 2]
