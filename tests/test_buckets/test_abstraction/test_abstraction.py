import tracemalloc
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import comb

import naive_boards as naive
import numpy as np
import pytest

from buckets.abstraction import Abstraction, AbstractionSpec
from buckets.abstraction.build import board_pairs, feature_names, interval_rows, require_pairs
from buckets.abstraction.percentiles import Percentiles, board_features
from buckets.cards import (
    Deck,
    blocked,
    board_map,
    canonical,
    hand_permutation,
    hands,
    permute_cards,
    preflop_classes,
    strengths,
    suit_permutations,
)
from buckets.errors import BucketError

FULL, SMALL = Deck(), Deck(5, 3)
GAMES = {
    "kuhn": (Deck(3, 1), 1, (0,), ("all",), (3,)),
    "leduc": (Deck(3, 2), 1, (0, 1), ("all", "all"), ("hands", "hands")),
    "leduc, rows of ranks": (Deck(3, 2), 1, (0, 1), ("all", "all"), (3, 3)),
    "rhode island": (FULL, 1, (0, 1, 1), ("all", "all", "all"), (13, "hands", "hands")),
    "rhode island, in board buckets": (FULL, 1, (0, 1, 1), ("all", 5, 20), (13, 8, 6)),
    "small hold'em": (SMALL, 2, (0, 2, 1), (1, 4, 9), (50, 6, 5)),
    "small hold'em, a round without a card": (
        SMALL,
        2,
        (0, 2, 0, 1),
        ("all", 4, "all", 9),
        (8, 6, "hands", 5),
    ),
    "small hold'em that remembers": (SMALL, 2, (0, 2, 1), ("all", 4, 12), (50, 6, 5)),
    "small hold'em that remembers the flop itself": (
        SMALL,
        2,
        (0, 2, 0, 1),
        ("all", "all", 25, 90),
        (50, 6, 4, 5),
    ),
    "small hold'em in order": (SMALL, 2, (0, 2, 0, 1), ("all", 8, 6, 20), (50, 6, 4, 5)),
    "small hold'em, hands on the last board": (SMALL, 2, (0, 2, 1), ("all", 4, "all"), (50, 6, "hands")),
    "flop hold'em": (FULL, 2, (0, 3), ("all", 100), (169, 40)),
}


@cache
def built(name, *, remember=True):
    """The abstraction of a game, and what was told of its progress."""
    told, spec = [], spec_of(name) if remember else AbstractionSpec(*GAMES[name])
    return Abstraction.build(spec, progress=lambda *n: told.append(n)), told


def spec_of(name, **options):
    remember = "order" if "in order" in name else "remembers" in name
    return AbstractionSpec(*GAMES[name], remember=remember, **options)


@pytest.fixture(scope="module", params=GAMES)
def made(request):
    return built(request.param)[0]


def drawn(made, t, n=12, seed=0):
    """Boards of a round, cards in the order of the rounds."""
    generator = np.random.default_rng(seed)
    n_cards = sum(made.board_sizes[: t + 1])
    boards = [generator.choice(made.deck.cards, n_cards, replace=False) for _ in range(n)]
    return np.array(boards, dtype=np.int64).reshape(n, n_cards)


def test_like_boards_have_a_class_and_their_hands_the_same_rows(made):
    for t in range(made.n_rounds):
        boards = drawn(made, t)
        board_buckets, rows = made.boards(t, boards)
        assert ((rows == -1) == [blocked(hands(made.deck, made.hole), board) for board in boards]).all()
        assert rows.max() < made.n_rows[t]
        assert board_buckets.max() < made.n_board_buckets[t]
        by_hand = made.arrays["kinds"][t] == 2  # those of hands that mirror each other may differ
        for perm in suit_permutations(made.deck):
            turned_classes, turned = made.boards(t, permute_cards(boards, perm))
            np.testing.assert_array_equal(turned_classes, board_buckets)
            moved = turned[:, hand_permutation(made.deck, made.hole, perm)]
            if by_hand:
                np.testing.assert_array_equal(np.sort(moved), np.sort(rows))
            else:
                np.testing.assert_array_equal(moved, rows)


@pytest.mark.parametrize("name", [name for name in GAMES if "remembers" in name])
def test_a_class_that_remembers_has_one_class_before(name):
    made, _ = built(name)
    boards = made.deal(0, range(2000)).boards
    first, _ = made.boards(1, boards[:, :2])
    for t in range(2, made.n_rounds):
        later, _ = made.boards(t, boards[:, : sum(made.board_sizes[: t + 1])])
        before = {
            board_bucket: set(first[later == board_bucket].tolist()) for board_bucket in set(later.tolist())
        }
        assert all(len(found) == 1 for found in before.values())
        assert set.union(*before.values()) == set(range(made.n_board_buckets[1]))
    assert made.all_remember
    last, _ = made.boards(made.n_rounds - 1, np.sort(boards))
    assert (last != later).any()  # the same cards, another one last


def test_boards_of_a_bucket_were_similar_before_the_last_deal_if_the_order_counts():
    made, _ = built("small hold'em in order")
    alone = Abstraction.build(replace(spec_of("small hold'em in order"), remember=False))
    boards = made.deal(0, range(2000)).boards
    table = board_map(SMALL, (2,))
    percentiles = Percentiles.of(SMALL, 2, board_map(SMALL, (3,)))
    features = board_features(percentiles, table.boards, table.counts).values
    numbers = {pair: i for i, pair in enumerate(combinations(SMALL.cards, 2))}
    values = features[table.canonical[[numbers[tuple(sorted(pair))] for pair in boards[:, :2].tolist()]]]

    def spread(board_buckets):
        """The variance, within the board buckets, of the features of the boards before the last deal."""
        within = [
            values[board_buckets == k].var(axis=0).sum() * (board_buckets == k).mean() for k in range(20)
        ]
        return sum(within)

    for t, size in ((2, 2), (3, 3)):
        found, other = (each.boards(t, boards[:, :size])[0] for each in (made, alone))
        last_first, other_last_first = (
            each.boards(t, boards[:, :size][:, ::-1])[0] for each in (made, alone)
        )
        # in a round without a card, the flop's cards have no order
        assert (found != last_first).any() == (t == 3)
        assert (other == other_last_first).all()
    assert spread(found) < 0.8 * spread(other)
    assert made.remembers
    assert not alone.remembers
    assert not made.all_remember  # flop buckets are not kept apart


def test_pairs_are_counted_as_they_are_dealt():
    firsts, later = board_map(SMALL, (2,)), board_map(SMALL, (3,))
    board_buckets = np.arange(len(firsts.boards), dtype=np.int32) % 4
    found = board_pairs(SMALL, firsts, board_buckets, later)
    numbers = {pair: i for i, pair in enumerate(combinations(SMALL.cards, 2))}
    seen = Counter()
    for i, board in enumerate(combinations(SMALL.cards, 3)):
        for pair in combinations(board, 2):
            first = board_buckets[firsts.canonical[numbers[pair]]]
            seen[int(first), int(later.canonical[i])] += 1
    pairs = zip(found.first.tolist(), found.board.tolist(), strict=True)
    assert dict(zip(pairs, found.counts.tolist(), strict=True)) == seen
    table = found.numbers.reshape(4, -1)
    assert (table[found.first, found.board] == np.arange(len(found.board))).all()
    assert (table >= 0).sum() == len(found.board)
    with pytest.raises(BucketError, match="boards that remember the flop: expected at most"):
        require_pairs(10_000, 10_000)


def test_pairs_take_four_bytes_each():
    """An index of all pairs, most of which cannot be dealt, is the only large array."""
    firsts, later = board_map(Deck(), (3,)), board_map(Deck(), (4,))
    board_buckets = np.arange(len(firsts.boards), dtype=np.int32) % 400
    tracemalloc.start()
    try:
        found = board_pairs(Deck(), firsts, board_buckets, later)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.numbers) == 400 * len(later.boards)
    assert found.numbers.nbytes < peak < 1.4 * found.numbers.nbytes


def test_deals_are_what_boards_say(made):
    dealt = made.deal(7, range(3, 28))
    n_left = len(made.deck) - sum(made.board_sizes)
    all_hands = hands(made.deck, made.hole)
    for t in range(made.n_rounds):
        board_buckets, rows = made.boards(t, dealt.boards[:, : sum(made.board_sizes[: t + 1])])
        np.testing.assert_array_equal(dealt.board_buckets[:, t], board_buckets)
        np.testing.assert_array_equal(dealt.rows[:, t], np.take_along_axis(rows, dealt.hands, axis=1))
    power = strengths(dealt.boards, all_hands)
    for b, board in enumerate(dealt.boards.tolist()):
        assert sorted(dealt.hands[b].tolist()) == np.flatnonzero(~blocked(all_hands, board)).tolist()
        np.testing.assert_array_equal(dealt.strength[b], power[b, dealt.hands[b]])
        order = list(zip(dealt.strength[b], dealt.rows[b, -1], dealt.hands[b], strict=True))
        assert order == sorted(order)
        left = [card for card in made.deck.cards if card not in board]
        for cards, hand in zip(dealt.cards[b].tolist(), dealt.hands[b], strict=True):
            assert [left[card] for card in cards[: made.hole]] == all_hands[hand].tolist()
            assert cards[made.hole :] == [n_left] * (2 - made.hole)


def test_deals_belong_to_their_numbers(made):
    whole = made.deal(5, range(30))
    part = made.deal(5, range(11, 15))
    for all_of, some in zip(whole, part, strict=True):
        np.testing.assert_array_equal(all_of[11:15], some)
    room = made.room(4)
    assert made.deal(5, range(11, 15), room) is room
    np.testing.assert_array_equal(room.boards, part.boards)
    np.testing.assert_array_equal(made.classes_of_deals(5, 11, 4), part.board_buckets)
    if sum(made.board_sizes):
        assert (made.deal(6, range(30)).boards != whole.boards).any()


def test_rows_on_final_boards_never_fall_with_strength(made):
    last = made.n_rounds - 1
    if made.arrays["kinds"][last] != 1:
        return
    boards = drawn(made, last)
    _, rows = made.boards(last, boards)
    for own, power in zip(rows, strengths(boards, hands(made.deck, made.hole)), strict=True):
        live = power >= 0
        assert (np.diff(own[live][np.argsort(power[live], kind="stable")]) >= 0).all()


def test_a_class_for_each_history():
    """Numbered as `canonical` orders them, hands of the canonical board one by one."""
    made, _ = built("rhode island")
    assert made.n_board_buckets == (1, 13, 325)
    assert made.n_rows == (13, 51, 50)
    found = board_map(FULL, (1, 1))
    for flop, turn in drawn(made, 2, 40).tolist():
        history, perm = canonical(((flop,), (turn,)), FULL)
        board_buckets, rows = made.boards(2, [(flop, turn)])
        assert found.boards[board_buckets[0]].tolist() == [card for group in history for card in group]
        live = [card for card in FULL.cards if (card,) not in history]
        moved = hand_permutation(FULL, 1, perm)
        for hand, card in enumerate(FULL.cards):
            expected = -1 if card in (flop, turn) else live.index(FULL.cards[moved[hand]])
            assert rows[0, hand] == expected


def test_rows_of_a_class_are_nearest_means():
    """Hands of equal outcomes share a row, and rows ascend with the mean outcome, class by class."""
    made, _ = built("small hold'em")
    boards = board_map(SMALL, (2,)).boards
    board_buckets, rows = made.boards(1, boards)
    assert sorted(set(board_buckets.tolist())) == [0, 1, 2, 3]
    all_hands = hands(SMALL, 2).tolist()
    for number in range(4):
        row_of, means = {}, [[] for _ in range(6)]
        for board, own in zip(
            boards[board_buckets == number].tolist(), rows[board_buckets == number], strict=True
        ):
            for outcome, row in zip(naive.outcomes(board, all_hands, SMALL.cards, 3), own, strict=True):
                if outcome:
                    assert row_of.setdefault(tuple(outcome), row) == row
                    means[row].append(np.mean(outcome))
        middle = [np.mean(own) for own in means if own]
        assert middle == sorted(middle)
        assert len(middle) > 4


def test_starting_hands_are_numbered_as_the_chart():
    made, _ = built("flop hold'em")
    np.testing.assert_array_equal(made.boards(0, np.empty((1, 0), dtype=int))[1][0], preflop_classes()[0])


def test_fewer_rows_than_starting_hands_are_clusters():
    made = Abstraction.build(AbstractionSpec(SMALL, 2, (0, 3), ("all", 5), (4, 5)))
    assert made.n_rows == (4, 5)
    rows = made.boards(0, np.empty((1, 0), dtype=int))[1][0]
    assert rows[hands(SMALL, 2).tolist().index([49, 50])] == 3  # aces


def test_every_board_is_dealt_as_often_as_any_other():
    made, _ = built("small hold'em")
    n_boards = comb(15, 2) * 13
    dealt = made.deal(3, range(6 * n_boards))
    seen = Counter((*sorted(board[:2]), board[2]) for board in dealt.boards.tolist())
    assert len(seen) == n_boards
    assert set(seen.values()) == {6}
    assert (
        len(np.unique(made.deal(2, range(n_boards)).boards, axis=0)) == n_boards
    )  # once before any comes again


def test_each_block_deals_each_first_board_once_in_an_order_of_its_own():
    made, _ = built("small hold'em")
    orders = []
    for block in range(40):
        flops = made.deal(9, range(105 * block, 105 * (block + 1))).boards[:, :2].tolist()
        assert len({tuple(flop) for flop in flops}) == 105
        assert all(first < second for first, second in flops)
        orders.append(flops)
    assert orders[0] != orders[1]
    places = np.array([[order.index(flop) for flop in orders[0]] for order in orders[1:]])
    assert 40 < places.mean(axis=0)[:8].mean() < 64
    assert abs(np.corrcoef(np.arange(105), places.mean(axis=0))[0, 1]) < 0.4


def test_deals_begin_with_the_cards_that_are_asked_for():
    made, _ = built("small hold'em")
    start = (made.deck.cards[7], made.deck.cards[2])
    dealt = made.deal(4, range(26), start=start)
    assert (dealt.boards[:, :2] == start).all()
    left = sorted(set(made.deck.cards) - set(start))
    assert [sorted(dealt.boards[first : first + 13, 2].tolist()) for first in (0, 13)] == [left, left]
    for t, n_cards in enumerate(np.cumsum(made.board_sizes)):
        board_buckets, rows = made.boards(t, dealt.boards[:, :n_cards])
        np.testing.assert_array_equal(dealt.board_buckets[:, t], board_buckets)
        np.testing.assert_array_equal(dealt.rows[:, t], np.take_along_axis(rows, dealt.hands, axis=1))
    whole = made.deal(4, range(3), start=dealt.boards[0].tolist())
    assert (whole.boards == dealt.boards[0]).all()
    with pytest.raises(BucketError, match="start: expected all cards of the first rounds, got 1 cards"):
        made.deal(4, range(3), start=start[:1])


def test_intervals_of_one_class():
    seen = np.zeros((2, 255), dtype=np.int64)
    seen[0, [10, 11, 12, 100, 101, 240]] = [5, 5, 5, 5, 5, 5]
    seen[1, 40:45] = 1
    rows = interval_rows(seen, 3)
    assert (np.diff(rows[:, :255].astype(int), axis=1) >= 0).all()
    assert rows[0, [10, 11, 12]].tolist() == [0, 0, 0]
    assert rows[0, 240] == 2
    assert rows[1, 40] == 0
    assert rows[1, 44] == 2


def test_features_are_made_once():
    kept, spec = {}, spec_of("small hold'em")
    first = Abstraction.build(spec, cache=kept)
    assert sorted(kept) == feature_names((0, 2, 1))
    told = []
    kept["board-2"] = np.roll(kept["board-2"], 3, axis=0)
    other = Abstraction.build(spec, cache=kept, progress=lambda *done: told.append(done))
    assert (first.arrays["classes"] != other.arrays["classes"]).any()
    assert told[-1][0] == told[-1][1]


def test_the_same_wish_gives_the_same_arrays():
    first, second = (Abstraction.build(spec_of("small hold'em", seed=4)) for _ in range(2))
    for name, array in first.arrays.items():
        np.testing.assert_array_equal(second.arrays[name], array)


@pytest.mark.parametrize("name", GAMES)
def test_progress_ends_where_it_said(name):
    _, told = built(name, remember="remembers the flop itself" not in name)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert not told or told[-1][0] == told[-1][1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"board_buckets": (1, 0)}, "board buckets of round 1: expected at least 1, or 'all', got 0"),
        (
            {"board_buckets": (1, 4)},
            "board buckets of round 1: expected 1 to 3, the number of its boards, got 4",
        ),
        (
            {"board_buckets": (2, 3)},
            "board buckets of round 0: expected 1 to 1, the number of its boards, got 2",
        ),
        ({"board_buckets": (1,)}, "board buckets: expected a number for each of 2 rounds, got 1"),
        ({"rows": (3, 0)}, "rows of round 1: expected 1 to 255, or 'hands', got 0"),
        ({"rows": (3, 256)}, "rows of round 1: expected 1 to 255, or 'hands', got 256"),
        (
            {"rows": (3, "hands"), "board_buckets": (1, 2)},
            "rows of round 1: 'hands' is only possible with board buckets 'all', got 2",
        ),
        ({"board_sizes": (0, 3)}, "hole and board cards: expected one of .* together, got 4"),
        ({"deck": Deck(2, 1)}, "deck: expected cards for two hands and a board, 3, got 2"),
    ],
)
def test_bad_wishes_are_refused(changed, message):
    asked = {
        "deck": Deck(3, 2),
        "hole": 1,
        "board_sizes": (0, 1),
        "board_buckets": ("all", 2),
        "rows": (3, 3),
    }
    with pytest.raises(BucketError, match=message):
        Abstraction.build(AbstractionSpec(**asked | changed))


def test_what_is_too_much_for_the_last_round_is_refused_at_once(monkeypatch):
    monkeypatch.setattr("buckets.abstraction.build.Percentiles", None)
    rows = (50, 6, 5)
    with pytest.raises(
        BucketError, match="board buckets of round 2: expected 1 to 95, the number of its boards, got 96"
    ):
        Abstraction.build(AbstractionSpec(SMALL, 2, (0, 2, 1), ("all", 4, 96), rows))
    with pytest.raises(BucketError, match=r"boards of \(3, 1, 1\) cards: expected at most 16,000,000"):
        Abstraction.build(AbstractionSpec(FULL, 2, (0, 3, 1, 1), ("all", 100, 200, "all"), (169, 40, 40, 40)))


def test_bad_questions_are_refused():
    leduc, _ = built("leduc")
    for t, boards, message in (
        (2, [[42]], "round: expected 0 to 1, got 2"),
        (1, [[42, 43]], r"boards: expected shape \(n, 1\), got \(1, 2\)"),
        (1, [[0]], "boards: expected cards of Deck"),
    ):
        with pytest.raises(BucketError, match=message):
            leduc.boards(t, boards)
    with pytest.raises(BucketError, match="boards: expected each card once on a board, got a card twice"):
        built("rhode island")[0].boards(2, [[3, 3]])
    with pytest.raises(BucketError, match="deals: expected numbers of at least 0, got -1"):
        leduc.deal(0, range(-1, 4))
    with pytest.raises(BucketError, match="a first and a count of at least 0, got -1 and 5"):
        leduc.classes_of_deals(0, -1, 5)
    with pytest.raises(BucketError, match="seed: expected a number from 0"):
        leduc.deal(-1, range(5))


@pytest.mark.slow
def test_hold_em_from_the_deal_to_the_river():
    kept = {}
    made = Abstraction.build(
        AbstractionSpec(FULL, 2, (0, 3, 1, 1), ("all", 20, 40, 80), (169, 10, 10, 10)), cache=kept
    )
    assert made.n_board_buckets == (1, 20, 40, 80)
    assert made.n_rows == (169, 10, 10, 10)
    dealt = made.deal(1, range(22_100))
    assert len({tuple(flop) for flop in dealt.boards[:, :3].tolist()}) == 22_100
    for t in (1, 2, 3):
        boards = dealt.boards[:50, : 2 + t]
        board_buckets, rows = made.boards(t, boards)
        shuffled = np.random.default_rng(t).permuted(boards, axis=1)
        np.testing.assert_array_equal(made.boards(t, shuffled)[0], board_buckets)
        np.testing.assert_array_equal(made.boards(t, shuffled)[1], rows)
        held = np.bincount(dealt.rows[:1000, t].ravel(), minlength=10) / dealt.rows[:1000, t].size
        assert held.min() > 0.03
