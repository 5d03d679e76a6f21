import naive_cards as naive
import numpy as np
import pytest

from buckets.cards import (
    Deck,
    blocked,
    equities,
    final_boards,
    hand_index,
    hand_permutation,
    hands,
    parse_cards,
    range_equity,
    strength,
)
from buckets.cards.showdown import showdown_totals
from buckets.errors import BoardError, RangeError
from buckets.kernels.showdowns import add_showdowns

FULL, KUHN, LEDUC, SMALL = Deck(), Deck(3, 1), Deck(3, 2), Deck(5, 3)
PAIRS = hands(FULL, 2)

GAMES = [  # deck, hole cards, board, final board cards, hands kept
    pytest.param(KUHN, 1, "", 0, 3, id="kuhn"),
    pytest.param(LEDUC, 1, "", 1, 6, id="leduc"),
    pytest.param(LEDUC, 1, "Kh", 1, 6, id="leduc-board"),
    pytest.param(FULL, 2, "Kh", 1, 60, id="three-cards-two-in-hand"),
    pytest.param(FULL, 1, "Kh", 2, 30, id="rhode-island"),
    pytest.param(SMALL, 2, "AsKsQh", 5, 20, id="short-deck"),
    pytest.param(FULL, 2, "QsJh2h8c", 5, 15, id="turn"),
    pytest.param(FULL, 2, "QsJh2h8c3d", 5, 70, id="river"),
    pytest.param(FULL, 2, "AsKsQsJsTs", 5, 40, id="board-plays"),
]


@pytest.mark.parametrize(("deck", "hole", "board", "n_board", "kept"), GAMES)
@pytest.mark.parametrize("seed", [1, 2])
def test_equities_equal_enumeration(deck, hole, board, n_board, kept, seed):
    rng = np.random.default_rng(seed)
    rows = hands(deck, hole)
    rows = rows[np.sort(rng.choice(len(rows), kept, replace=False))]
    weights = rng.random(kept) * (rng.random(kept) < 0.7)
    cards = parse_cards(board)
    found = equities(cards, rows, weights, deck, n_board)
    expected = naive.equities(cards, rows.tolist(), weights, deck.cards, n_board)
    np.testing.assert_allclose(found, [np.nan if e is None else e for e in expected], rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("deck", "hole", "board"), [(FULL, 2, "QsJh2h8c3d"), (FULL, 1, "KhQh"), (KUHN, 1, "")]
)
def test_sums_on_one_board_equal_the_kernels_sums_bit_for_bit(deck, hole, board):
    cards, rows = parse_cards(board), np.array(hands(deck, hole), dtype=np.int64)
    rng = np.random.default_rng(4)
    weights = rng.random(len(rows)) * (rng.random(len(rows)) < 0.7)
    expected = [np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)]
    add_showdowns(strength(cards, rows)[None], rows, weights, *expected)
    found = showdown_totals(cards, rows, weights, deck, len(cards))
    for sums, kernel_sums in zip(found, expected, strict=True):
        np.testing.assert_array_equal(sums, kernel_sums)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_range_equity_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    rows = PAIRS[np.sort(rng.choice(len(PAIRS), 11, replace=False))]
    own, other = rng.random(11), rng.random(11) * (rng.random(11) < 0.6)
    board = parse_cards("QsJh2h8c")
    found = range_equity(board, rows, own, other)
    assert found == pytest.approx(
        naive.range_equity(board, rows.tolist(), own, other, FULL.cards, 5), abs=1e-13
    )
    assert range_equity(board, rows, other, own) == pytest.approx(1 - found, abs=1e-13)


def test_two_hands_by_arithmetic():
    # AsAh against KsKh on a dry turn: two kings of 44 cards win.
    rows = np.array([parse_cards("AsAh"), parse_cards("KsKh")])
    found = equities(parse_cards("2c 7d 9h Jc"), rows, np.array([0.0, 1.0]))
    assert found[0] == pytest.approx(42 / 44)
    assert np.isnan(found[1])


def test_a_hand_that_blocks_the_whole_range_has_no_equity():
    weights = np.zeros(1326)
    weights[hand_index(FULL, [parse_cards("AsKh"), parse_cards("AsQh"), parse_cards("AsJd")])] = [
        0.1,
        0.2,
        0.7,
    ]
    found = equities(parse_cards("2c 7d 9h Tc 3s"), PAIRS, weights)
    with_ace = (parse_cards("As")[0] == PAIRS).any(axis=1)
    hit = blocked(PAIRS, parse_cards("2c 7d 9h Tc 3s"))
    np.testing.assert_array_equal(np.isnan(found), with_ace | hit)


def test_an_empty_range_leaves_no_equity():
    board = parse_cards("2c 7d 9h Tc 3s")
    assert np.isnan(equities(board, PAIRS, np.zeros(1326))).all()
    assert np.isnan(range_equity(board, PAIRS, np.ones(1326), np.zeros(1326)))
    assert np.isnan(range_equity(board, PAIRS, np.zeros(1326), np.ones(1326)))


def test_ranges_that_share_every_card_have_no_equity():
    only = np.zeros(1326)
    only[hand_index(FULL, parse_cards("AsKs"))] = 0.3
    assert np.isnan(range_equity(parse_cards("2c 7d 9h Tc 3s"), PAIRS, only, only))


def test_like_hands_have_exactly_the_same_equity_against_a_whole_range():
    board = parse_cards("QsJs2d")
    swap_clubs_hearts = [2, 1, 0, 3]
    found = equities(board, PAIRS, np.ones(1326))
    np.testing.assert_array_equal(found[hand_permutation(FULL, 2, swap_clubs_hearts)], found)


# Ranges out of and in position, board, equity out of position: from an independent solver.
SPOTS = {
    "R1": (
        "TT-22,AJs-A2s,KQs-K2s,QJs-Q4s,JTs-J6s,T9s-T6s,98s-96s,87s-85s,76s-75s,65s-64s,54s-53s,43s,"
        "AJo-A5o,KQo-K9o,QJo-Q9o,JTo-J9o,T9o-T8o,98o,87o",
        "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,85s+,75s+,64s+,53s+,43s,A2o+,K8o+,Q9o+,J9o+,T8o+,98o",
        "Td9d6hQcAs",
        0.494639,
    ),
    "T1": (
        "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
        "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
        "QsJh2h8c",
        0.550747,
    ),
    "F1": (
        "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
        "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
        "Td9d6h",
        0.536470,
    ),
    "P1": (
        "88+,A8s+,A5s-A2s:0.5,AJo+,ATo:0.75,K9s+,KQo,KJo:0.75,KTo:0.25,Q9s+,QJo:0.5,J8s+,JTo:0.25,T8s+,T7s:0.45,"
        "97s+,96s:0.45,87s,86s:0.75,85s:0.45,75s+:0.75,74s:0.45,65s:0.75,64s:0.5,63s:0.45,54s:0.75,53s:0.5,"
        "52s:0.45,43s:0.5,42s:0.45,32s:0.45",
        "AA:0.25,99-22,AJs-A2s,AQo-A8o,K2s+,K9o+,Q2s+,Q9o+,J6s+,J9o+,T6s+,T9o,96s+,95s:0.5,98o,86s+,85s:0.5,75s+,"
        "74s:0.5,64s+,63s:0.5,54s,53s:0.5,43s",
        "QsJh2h",
        0.55347,
    ),
}


@pytest.mark.parametrize("name", SPOTS)
def test_published_spots(name):
    *texts, board, expected = SPOTS[name]
    own, other = np.zeros(1326), np.zeros(1326)
    for weights, text in zip((own, other), texts, strict=True):
        for hand, weight in naive.parse_range(text).items():
            weights[hand_index(FULL, hand)] = weight
    tolerance = 5e-6 if name == "P1" else 5e-7
    assert range_equity(parse_cards(board), PAIRS, own, other) == pytest.approx(expected, abs=tolerance)


def test_samples_are_repeatable_and_near_the_truth():
    board = parse_cards("QsJh2h")
    weights = np.random.default_rng(0).random(1326)
    exact = equities(board, PAIRS, weights)
    sampled = equities(board, PAIRS, weights, samples=4000, seed=7)
    np.testing.assert_array_equal(sampled, equities(board, PAIRS, weights, samples=4000, seed=7))
    assert np.nanmax(np.abs(sampled - exact)) < 0.05
    assert not np.array_equal(sampled, equities(board, PAIRS, weights, samples=4000, seed=8), equal_nan=True)


def test_preflop_aces_by_samples():
    aces = hand_index(FULL, parse_cards("AsAh"))
    found = equities((), PAIRS, np.ones(1326), samples=3000, seed=1)
    assert found[aces] == pytest.approx(0.852, abs=0.02)  # 85.2 % is the known equity against a random hand


def test_preflop_without_samples_is_refused():
    with pytest.raises(BoardError, match="expected at most 1,000,000, got 2,598,960"):
        equities((), PAIRS, np.ones(1326))


def test_final_boards_hold_the_board_and_every_run_out_once():
    board = parse_cards("QsJh2h8c")
    found = final_boards(board, FULL, 5)
    assert found.shape == (48, 5)
    assert (found[:, :4] == board).all()
    assert len(set(found[:, 4].tolist())) == 48
    assert final_boards((), KUHN, 0).shape == (1, 0)


def test_sampled_boards_are_boards_and_even():
    found = final_boards((0,), FULL, 3, samples=20_000, seed=3)
    assert all(len(set(row)) == 3 for row in found.tolist())
    counts = np.bincount(found[:, 1:].ravel(), minlength=52)
    assert counts[0] == 0
    assert np.abs(counts[1:] / 40_000 - 1 / 51).max() < 0.003


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ((0, 0), "different cards"),
        ((0, 99), "different cards"),
        ((0, 1, 2, 3, 4, 5), "expected at most 5 cards, got 6"),
    ],
)
def test_impossible_boards_are_refused(board, message):
    with pytest.raises(BoardError, match=message):
        equities(board, PAIRS, np.ones(1326))


@pytest.mark.parametrize("bad", [-0.5, np.nan, np.inf])
def test_bad_weights_are_refused(bad):
    weights = np.ones(1326)
    weights[3] = bad
    board = parse_cards("2c 7d 9h Tc 3s")
    with pytest.raises(RangeError, match="weight of hand 3: expected a finite number"):
        equities(board, PAIRS, weights)
    with pytest.raises(RangeError, match="weight of hand 3"):
        range_equity(board, PAIRS, weights, np.ones(1326))
    with pytest.raises(RangeError, match="expected shape"):
        equities(board, PAIRS, np.ones(4))


def test_no_samples_are_refused():
    with pytest.raises(BoardError, match="samples: expected at least 1, got 0"):
        equities(parse_cards("QsJh2h"), PAIRS, np.ones(1326), samples=0)
