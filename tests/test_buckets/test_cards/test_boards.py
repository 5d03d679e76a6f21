from itertools import combinations
from math import comb

import numpy as np
import pytest

from buckets.cards import Deck, board_map, canonical, canonical_flops, permute_history, suit_permutations
from buckets.cards.boards import binomials
from buckets.errors import BoardError
from buckets.kernels.combinations import numbered_set, set_number

FULL, SMALL = Deck(), Deck(5, 3)


@pytest.mark.parametrize(("n", "k"), [(7, 3), (6, 1), (5, 5), (9, 4)])
def test_sets_are_numbered_as_they_ascend(n, k):
    places = np.empty(k, dtype=np.int64)
    for number, expected in enumerate(combinations(range(n), k)):
        numbered_set(number, n, k, binomials(), places, 0)
        assert tuple(places) == expected
        assert set_number(places, 0, k, n, binomials()) == number


@pytest.mark.parametrize("n_cards", [1, 3, 4])
def test_boards_that_are_sets_are_the_canonical_flops(n_cards):
    found = board_map(FULL, (n_cards,))
    boards, counts = canonical_flops(n_cards=n_cards)
    np.testing.assert_array_equal(found.boards, boards)
    np.testing.assert_array_equal(found.counts, counts)


@pytest.mark.parametrize("groups", [(3,), (2, 1), (1, 1, 1), (1, 2), ()])
def test_each_board_is_mapped_onto_its_canonical_history(groups):
    found = board_map(SMALL, groups)
    sets = [list(combinations(SMALL.cards, size)) for size in groups]
    seen = []
    for number in np.ndindex(*map(len, sets)):
        history = tuple(cards[i] for cards, i in zip(sets, number, strict=True))
        flat = [card for group in history for card in group]
        index = int(np.ravel_multi_index(number, [len(cards) for cards in sets])) if groups else 0
        if len(set(flat)) < len(flat):
            assert found.canonical[index] == -1
            continue
        expected, perm = canonical(history, SMALL)
        board = found.boards[found.canonical[index]].tolist()
        assert board == [card for group in expected for card in group]
        turned = suit_permutations(SMALL)[found.perm_of[index]]
        np.testing.assert_array_equal(turned, perm)
        assert permute_history(history, turned) == expected
        seen.append(found.canonical[index])
    np.testing.assert_array_equal(np.bincount(seen), found.counts)
    assert found.boards.tolist() == sorted(found.boards.tolist())


def test_hold_em_has_as_many_boards_as_are_known():
    assert [len(board_map(FULL, (n,)).boards) for n in (3, 4, 5)] == [1_755, 16_432, 134_459]
    assert len(board_map(FULL, (3, 1)).boards) == 63_193
    assert board_map(FULL, (5,)).counts.sum() == comb(52, 5)


def test_too_many_boards_are_refused():
    with pytest.raises(
        BoardError, match=r"boards of \(3, 1, 1\) cards: expected at most 16,000,000, got 59,758,400"
    ):
        board_map(FULL, (3, 1, 1))
