"""A hand as it is played, against plain bookkeeping."""

from dataclasses import replace
from random import Random

import pytest
from naive_cards import strength_key

from buckets.cards import parse_cards
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand

GAMES = ("kuhn", "leduc", "rhode-island", "holdem.limit.2p.reverse_blinds", "doyle", "upac", "flop-holdem")
NO_LIMIT = load_game("holdem.nolimit.2p.reverse_blinds")


def legal(hand, rng):
    choices = ["c", "f"] if hand.betting.can_fold else ["c"]
    bounds = hand.betting.raise_bounds()
    if bounds is not None:
        total = rng.choice((bounds[0], bounds[1], rng.randint(*bounds)))
        choices.append("r" if hand.game.limit else f"r{total}")
    return rng.choice(choices)


def paid(game, hand):
    """Who won what, told from the text of the line and the cards alone."""
    spent, actions = hand.betting.spent, hand.betting.line.replace("/", "")
    if actions.endswith("f"):
        loser = hand.betting.folded
        chips = spent[loser]
        return (-chips, chips) if loser == 0 else (chips, -chips)
    first, second = (strength_key((*held, *hand.board)) for held in hand.hole)
    chips = min(spent)
    return (chips, -chips) if first > second else (-chips, chips) if first < second else (0, 0)


def test_a_showdown_with_uneven_stacks_pays_the_smaller():
    game = replace(
        load_game("kuhn"), limit=False, stacks=(7, 20), blinds=(5, 10), first_player=(1,), raise_sizes=()
    )
    game = replace(game, max_raises=(1,))
    low, high = (game.deck.cards[k : k + 1] for k in (0, 1))
    for line, hole, net in (
        ("cc", (high, low), 7),
        ("r20c", (high, low), 7),
        ("r20c", (low, high), -7),
        ("r20f", (high, low), -5),
    ):
        hand = Hand.start(game, hole)
        for action in ("r20", line[3:]) if line[0] == "r" else line:
            hand = hand.apply(action)
        assert hand.net() == (net, -net)


@pytest.mark.parametrize("name", GAMES)
def test_random_hands_end_and_pay(name):
    game, rng, ends = load_game(name), Random(name), set()
    for _ in range(100):
        cards = rng.sample(game.deck.cards, 2 * game.num_hole_cards + sum(game.num_board_cards))
        n = game.num_hole_cards
        coming = cards[2 * n :]
        hand = Hand.start(game, (tuple(cards[:n]), tuple(cards[n : 2 * n])))
        while not hand.is_over:
            if hand.to_deal:
                assert hand.to_act is None
                sizes = zip(game.num_board_cards, game.board_sizes, strict=True)
                assert hand.to_deal == next(n for n, total in sizes if n and total > len(hand.board))
                dealt, coming = coming[: hand.to_deal], coming[hand.to_deal :]
                hand = hand.deal(dealt)
            else:
                assert hand.to_act in (0, 1)
                assert len(hand.board) == game.board_sizes[hand.betting.round]
                hand = hand.apply(legal(hand, rng))
        assert (hand.to_act, hand.to_deal) == (None, 0)
        assert hand.net() == paid(game, hand)
        assert sum(hand.net()) == 0
        ends.add("fold" if hand.betting.folded is not None else "showdown")
    assert ends == {"fold", "showdown"}


def test_the_board_is_run_out_after_an_all_in():
    hand = Hand.start(NO_LIMIT, (parse_cards("AsAh"), parse_cards("KdKc")))
    hand = hand.apply("r20000").apply("c")
    for cards, left in (("Ks 7d 2c", 1), ("Ad", 1), ("3h", 0)):
        assert not hand.is_over
        hand = hand.deal(parse_cards(cards))
        assert hand.to_deal == left
    assert hand.net() == (20000, -20000)


@pytest.mark.parametrize(
    ("actions", "shown"),
    [("", False), ("c", False), ("cr", False), ("crf", False), ("cc", True), ("crc", True)],
)
def test_only_a_showdown_shows_the_opponents_cards(actions, shown):
    kuhn = load_game("kuhn")
    first, second = (kuhn.deck.cards[k : k + 1] for k in (0, 1))
    hand = Hand.start(kuhn, (first, second))
    for action in actions:
        hand = hand.apply(action)
    assert hand.seen_by(0).hole == (first, second if shown else None)
    assert hand.seen_by(1).hole == (first if shown else None, second)


def test_cards_that_nobody_showed_pay_nobody():
    kuhn = load_game("kuhn")
    hand = Hand.start(kuhn, (None, kuhn.deck.cards[:1])).apply("c").apply("c")
    with pytest.raises(InputError, match="expected the hole cards of oop to be shown"):
        hand.net()
    assert Hand.start(kuhn).apply("r").apply("f").net() == (1, -1)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda h: h.apply("c"), r"action 'c' after 'cc/': expected 3 public cards first, found none"),
        (lambda h: h.deal(parse_cards("2c3c")), r"public cards after 'cc/': expected 3, found 2 \(2c3c\)"),
        (lambda h: h.deal(parse_cards("2c3cAs")), "expected cards left in the deck, found As"),
        (lambda h: h.deal((0, 4, 0)), "expected cards left in the deck, found 2c"),
        (lambda h: h.net(), "hand 'cc/': the hand is not over"),
        (lambda h: h.deal(parse_cards("2c3c4c")).apply("f"), "action 'f' after 'cc/': expected c, "),
        (lambda h: h.deal(parse_cards("2c3c4c")).deal((40,)), "expected 0, found 1"),
        (lambda h: Hand.start(NO_LIMIT, ((51, 50), (51, 49))), "hole cards: expected cards left in the deck"),
        (lambda h: Hand.start(NO_LIMIT, ((51,), None)), r"hole cards of oop: expected 2, found 1 \(As\)"),
        (lambda h: Hand.start(load_game("leduc"), ((0,), None)), "expected cards left in the deck, found 2c"),
    ],
)
def test_what_cannot_happen_is_refused(wrong, told):
    hand = Hand.start(NO_LIMIT, (parse_cards("AsAh"), parse_cards("KdKc"))).apply("c").apply("c")
    with pytest.raises(InputError, match=told):
        wrong(hand)
