from math import comb

import naive_cards as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from buckets.cards import (
    Deck,
    canonical,
    canonical_flops,
    deals,
    hand_index,
    hand_permutation,
    hands,
    parse_cards,
    permute_cards,
    permute_history,
    range_symmetries,
    stabilizer,
    suit_permutations,
)
from buckets.errors import BoardError, RangeError

FULL, SMALL = Deck(), Deck(5, 3)
ROUNDS = {"flop": (3,), "turn": (3, 1), "river": (3, 1, 1), "pairs": (2, 2)}


def split(cards, sizes):
    groups, start = [], 0
    for size in sizes:
        groups.append(tuple(cards[start : start + size]))
        start += size
    return tuple(groups)


@st.composite
def histories(draw, deck=FULL):
    sizes = draw(st.sampled_from([(), *ROUNDS.values()]))
    cards = draw(st.lists(st.sampled_from(deck.cards), min_size=sum(sizes), max_size=sum(sizes), unique=True))
    return split(cards, sizes)


@pytest.mark.parametrize(("deck", "count"), [(FULL, 24), (SMALL, 6), (Deck(3, 2), 2), (Deck(3, 1), 1)])
def test_all_permutations_of_the_decks_suits(deck, count):
    perms = suit_permutations(deck)
    assert perms.shape == (count, 4)
    assert perms[0].tolist() == [0, 1, 2, 3]
    assert len({tuple(perm) for perm in perms.tolist()}) == count
    for perm in perms:
        assert set(permute_cards(deck.cards, perm).tolist()) == set(deck.cards)


@given(histories(), st.integers(0, 23))
@settings(deadline=None)
def test_equivalent_histories_have_one_canonical_form(history, number):
    perm = suit_permutations(FULL)[number]
    smallest, onto = canonical(history, FULL)
    assert permute_history(history, onto) == smallest
    assert canonical(permute_history(history, perm), FULL)[0] == smallest
    assert canonical(smallest, FULL)[0] == smallest
    assert smallest <= tuple(tuple(sorted(dealt)) for dealt in history)


@given(histories())
@settings(deadline=None)
def test_the_stabilizer_is_what_leaves_the_history(history):
    history = tuple(tuple(sorted(dealt)) for dealt in history)
    kept = stabilizer(history, suit_permutations(FULL))
    expected = [p for p in suit_permutations(FULL).tolist() if permute_history(history, p) == history]
    assert kept.tolist() == expected


def test_the_order_of_rounds_matters_and_within_a_round_does_not():
    one = canonical((parse_cards("Ah Kh Qh"), parse_cards("Qs")), FULL)[0]
    other = canonical((parse_cards("Kd Qd Ad"), parse_cards("Qc")), FULL)[0]
    swapped = canonical((parse_cards("Ah Kh Qs"), parse_cards("Qh")), FULL)[0]
    assert one == other != swapped


def test_canonical_flops_number_1755_of_22100():
    flops, counts = canonical_flops()
    assert flops.shape == (1755, 3)
    assert counts.sum() == 22_100
    # By shape of suits: three suits 24 deals at most, two suits 12, one suit 4.
    assert set(counts.tolist()) == {4, 12, 24}
    for flop in flops[::40].tolist():
        assert canonical((flop,), FULL)[0] == (tuple(flop),)


def check_deals(history, n_cards, deck, perms):
    """The contract of `deals`; returns the orbits as sets."""
    found = deals(history, n_cards, deck, perms)
    fixing = {tuple(perm) for perm in stabilizer(history, perms).tolist()}
    n_seen = sum(map(len, history))
    assert sum(len(deal.members) for deal in found) == comb(len(deck) - n_seen, n_cards)
    members = [cards for deal in found for cards, _ in deal.members]
    assert len(set(members)) == len(members)
    assert [deal.history for deal in found] == sorted(deal.history for deal in found)
    for deal in found:
        assert deal.members[0][0] == deal.history[-1]
        assert deal.members[0][1].tolist() == [0, 1, 2, 3]
        for cards, perm in deal.members:
            assert tuple(perm.tolist()) in fixing
            assert permute_history((*history, cards), perm) == deal.history
    return {frozenset(cards for cards, _ in deal.members) for deal in found}


@given(histories(), st.integers(1, 2))
@settings(deadline=None, max_examples=25)
def test_deals_are_the_orbits_of_the_deals(history, n_cards):
    history = canonical(history, FULL)[0]
    assert check_deals(history, n_cards, FULL, suit_permutations(FULL)) == naive.orbits(
        history, n_cards, FULL.cards
    )
    for deal in deals(history, n_cards, FULL):
        assert canonical(deal.history, FULL)[0] == deal.history


@pytest.mark.parametrize("deck", [SMALL, Deck(3, 2), Deck(4, 1)])
@pytest.mark.parametrize("n_cards", [1, 2, 3])
def test_deals_of_small_decks(deck, n_cards):
    assert check_deals((), n_cards, deck, suit_permutations(deck)) == naive.orbits((), n_cards, deck.cards)


def test_leduc_has_three_boards_and_rhode_island_thirteen():
    assert [len(deal.members) for deal in deals((), 1, Deck(3, 2))] == [2, 2, 2]
    assert [len(deal.members) for deal in deals((), 1, FULL)] == [4] * 13


def test_the_flops_are_dealt_with_the_contract():
    orbits = check_deals((), 3, FULL, suit_permutations(FULL))
    assert len(orbits) == 1755


def test_without_symmetry_each_deal_stands_alone():
    only = suit_permutations(FULL)[:1]
    history = (parse_cards("2h Jh Qs"),)
    found = deals(history, 1, FULL, only)
    assert [len(deal.members) for deal in found] == [1] * 49
    assert canonical(history, FULL, only)[0] == history


def test_a_subgroup_gives_its_own_orbits():
    swap_clubs_diamonds = suit_permutations(FULL)[[0, 6]]
    assert swap_clubs_diamonds.tolist() == [[0, 1, 2, 3], [1, 0, 2, 3]]
    check_deals((), 2, FULL, swap_clubs_diamonds)
    assert len(deals((), 1, FULL, swap_clubs_diamonds)) == 39


def test_canonical_under_a_subgroup_does_not_leave_it():
    pair = suit_permutations(FULL)[[0, 6]]
    assert canonical((parse_cards("As"),), FULL, pair)[0] == (parse_cards("As"),)
    assert canonical((parse_cards("Ad"),), FULL, pair)[0] == (parse_cards("Ac"),)


@pytest.mark.parametrize("deck_hole", [(FULL, 2), (FULL, 1), (SMALL, 2), (Deck(3, 2), 1)])
def test_hand_permutations_move_hands_as_cards_move(deck_hole):
    deck, hole = deck_hole
    rows = hands(deck, hole)
    for perm in suit_permutations(deck):
        moved = hand_permutation(deck, hole, perm)
        np.testing.assert_array_equal(rows[moved], np.sort(permute_cards(rows, perm), axis=1))
        assert set(moved.tolist()) == set(range(len(rows)))


def test_range_symmetries_find_the_suits_that_a_range_names():
    rows = hands(FULL, 2)
    everything = np.ones(len(rows))
    assert len(range_symmetries(everything, FULL, 2)) == 24
    one_hand = np.zeros(len(rows))
    one_hand[hand_index(FULL, parse_cards("AsKs"))] = 0.5
    assert len(range_symmetries(one_hand, FULL, 2)) == 6
    pair = np.zeros(len(rows))
    pair[hand_index(FULL, parse_cards("AsAh"))] = 1
    assert len(range_symmetries(pair, FULL, 2)) == 4
    both = range_symmetries(pair, FULL, 2, perms=range_symmetries(one_hand, FULL, 2))
    assert both.tolist() == [[0, 1, 2, 3], [1, 0, 2, 3]]


def test_range_symmetries_are_exact():
    weights = np.ones(1326)
    weights[0] = np.nextafter(1.0, 2.0)
    assert len(range_symmetries(weights, FULL, 2)) == 4


def test_range_symmetries_match_brute_force():
    rng = np.random.default_rng(5)
    rows = [tuple(row) for row in hands(SMALL, 2).tolist()]
    for _ in range(20):
        base = rng.integers(0, 2, len(rows)).astype(float)
        perm = suit_permutations(SMALL)[rng.integers(6)]
        weights = np.maximum(base, base[hand_permutation(SMALL, 2, perm)])
        by_hand = dict(zip(rows, weights, strict=True))
        expected = [
            p
            for p in suit_permutations(SMALL).tolist()
            if all(by_hand[naive.rename(row, p)] == by_hand[row] for row in rows)
        ]
        assert range_symmetries(weights, SMALL, 2).tolist() == expected


@pytest.mark.parametrize(
    ("history", "message"),
    [
        (((0, 0, 1),), "each card once"),
        (((0, 1, 2), (2,)), "each card once"),
        (((99,),), "expected cards of .* got 99"),
    ],
)
def test_impossible_histories_are_refused(history, message):
    with pytest.raises(BoardError, match=message):
        canonical(history, FULL)
    with pytest.raises(BoardError, match=message):
        deals(history, 1, FULL)


def test_cards_of_another_deck_are_refused():
    with pytest.raises(BoardError, match="got 2c"):
        deals(((0,),), 1, Deck(3, 2))


@pytest.mark.parametrize("n_cards", [-1, 7])
def test_no_more_cards_than_are_left(n_cards):
    with pytest.raises(BoardError, match=f"expected 0 to the 6 that remain, got {n_cards}"):
        deals((), n_cards, Deck(3, 2))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0, 2, 3]], "identity first"),
        ([[0, 1, 2, 3], [1, 2, 0, 3]], "group"),
        ([[0, 1, 2, 2]], "only those of"),
    ],
)
def test_perms_must_be_a_group(rows, message):
    with pytest.raises(BoardError, match=message):
        deals((), 1, FULL, np.array(rows, dtype=np.int8))


def test_a_range_of_the_wrong_length_is_refused():
    with pytest.raises(RangeError, match=r"expected shape \(1326,\), got \(1325,\)"):
        range_symmetries(np.ones(1325), FULL, 2)
