"""Opponents: legal, repeatable, quick, and as good as they look."""

import time
from itertools import islice
from random import Random

import numpy as np
import pytest
from acpc_tables import LIMIT, NO_LIMIT, matched, table
from naive_cards import strength_key

from buckets.cards import hands, parse_cards
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.match.odds import HandOdds
from spewy.match.opponents import OPPONENTS, call_price, opponent, pot_raise
from spewy.match.table import Seat, deals, play_hand

GAMES = ("kuhn", "leduc", "rhode-island", "flop-holdem", "doyle", LIMIT.name, NO_LIMIT.name)


def played(first, second, dealt, seed):
    """A hand between two bots; it is over, with all cards."""
    found = play_hand(dealt, (Seat(first), Seat(second)), first.game, (seed, seed))
    assert not found.faults
    return found.hand


def won(game, first, second, n_hands, seed=1):
    """Chips per hand of the first in duplicate play."""
    total = 0
    for number, dealt in enumerate(islice(deals(game, seed), n_hands)):
        total += played(first, second, dealt, number).net()[0] + played(second, first, dealt, number).net()[1]
    return total / (2 * n_hands)


@pytest.mark.parametrize("name", GAMES)
def test_every_opponent_plays_every_game_the_same_way_again(name):
    game = load_game(name)
    for who in OPPONENTS:
        for number, dealt in enumerate(islice(deals(game, 3), 8)):
            lines = {
                played(opponent(who, game), opponent("random", game), dealt, number).betting.line
                for _ in range(2)
            }
            assert len(lines) == 1


def test_opponents_at_a_dealers_table():
    for who in ("random", "equity"):
        bots = [opponent(who, NO_LIMIT), opponent("loose", NO_LIMIT)]
        _, heard, clients, _ = matched(table(NO_LIMIT, 20), bots)
        assert [client.faults for client in clients] == [0, 0]
        assert not any(note.startswith("WARNING") for note in heard.notes)


def test_the_random_player_does_all_there_is():
    bot, seen = opponent("random", NO_LIMIT), set()
    hand = Hand.start(NO_LIMIT, (None, parse_cards("AsKs")))
    for seed in range(300):
        bot.new_hand(hand, 1, seed)
        seen.add(bot.act(hand))
    assert seen == {"f", "c", "r200", "r300", "r500", "r20000"}


def test_raises_by_the_pot():
    hand = Hand.start(NO_LIMIT).apply("c").apply("c").deal((0, 5, 10)).betting
    assert pot_raise(hand, 1.0) == 300
    assert pot_raise(hand, 0.01) == 200
    assert pot_raise(hand, 1e9) == 20000
    assert call_price(hand.apply("r300")) == pytest.approx(200 / 600)
    with pytest.raises(InputError, match="expected f, c"):
        pot_raise(hand.apply("r20000"), 1.0)


@pytest.mark.parametrize(
    ("who", "cards", "line", "action"),
    [
        ("tight", "AsAh", "", "r"),
        ("tight", "7s2h", "", "f"),
        ("tight", "AsKs", "", "r"),
        ("tight", "JsTs", "", "c"),
        ("tight", "JsTs", "rr", "f"),
        ("loose", "9s7s", "", "c"),
        ("loose", "3s2h", "", "f"),
        ("loose", "KsJs", "", "r"),
        ("equity", "AsAh", "rr", "r"),
        ("equity", "9s8s", "rr", "c"),
        ("equity", "3s2h", "", "c"),  # 5 chips for 20 with a third of them
    ],
)
def test_what_rules_do_before_the_flop(who, cards, line, action):
    hand = Hand.start(LIMIT, (None, parse_cards(cards)))
    bot = opponent(who, LIMIT)
    bot.new_hand(hand, 1, 0)
    for each in line:
        hand = hand.apply(each)
    assert bot.act(hand) == action


def test_equity_pays_for_a_call_or_not():
    for cards, action in (("AsAh", "c"), ("3s2h", "f")):
        hand = Hand.start(NO_LIMIT, (parse_cards(cards), None))
        bot = opponent("equity", NO_LIMIT)
        bot.new_hand(hand, 0, 0)
        assert bot.act(hand.apply("r20000")) == action


def test_an_opponent_without_cards_is_told_so():
    with pytest.raises(InputError, match="expected the cards of player 0, found none"):
        opponent("tight", LIMIT).new_hand(Hand.start(LIMIT), 0, 0)
    told = "opponent 'nobody' does not exist; choose one of random, call, raise, fold, tight, loose, equity"
    with pytest.raises(InputError, match=told):
        opponent("nobody", LIMIT)


def test_odds_are_those_of_plain_counting():
    rng = Random(4)
    for name in ("leduc", "rhode-island", "holdem.limit.2p.reverse_blinds"):
        game = load_game(name)
        odds, every = HandOdds(game), hands(game.deck, game.num_hole_cards).tolist()
        for _ in range(3):
            cards = rng.sample(game.deck.cards, game.num_hole_cards + sum(game.num_board_cards))
            hole, board = tuple(sorted(cards[: game.num_hole_cards])), tuple(cards[game.num_hole_cards :])
            mine = strength_key((*hole, *board))
            others = [strength_key((*o, *board)) for o in every if not {*o} & {*hole, *board}]
            beaten = np.mean([(mine > other) + 0.5 * (mine == other) for other in others])
            assert odds.percentile(hole, board) == pytest.approx(beaten)
            assert odds.equity(hole, board) == pytest.approx(beaten)


def test_the_equity_of_a_turn_is_the_mean_of_its_rivers():
    odds, hole, board = HandOdds(LIMIT), parse_cards("QsQh"), parse_cards("2c7d9hKs")
    rivers = [card for card in LIMIT.deck.cards if card not in (*hole, *board)]
    mean = np.mean([odds.equity(hole, (*board, card)) for card in rivers])
    assert odds.equity(hole, board) == pytest.approx(mean, abs=1e-12)
    assert odds.equity(parse_cards("AhAs"), ()) == pytest.approx(0.852, abs=0.03)
    assert odds.equity(parse_cards("2c7d"), ()) == pytest.approx(0.346, abs=0.03)
    assert odds.equity(parse_cards("AhAs"), ()) == odds.equity(parse_cards("AdAc"), ())
    assert odds.equity(parse_cards("8s9s"), parse_cards("TsJsQs")) > 0.97


def test_those_who_look_at_their_cards_beat_those_who_do_not():
    assert won(LIMIT, opponent("equity", LIMIT), opponent("random", LIMIT), 60) > 0
    assert won(LIMIT, opponent("equity", LIMIT), opponent("raise", LIMIT), 60) > 0
    assert won(LIMIT, opponent("loose", LIMIT), opponent("raise", LIMIT), 60) > 0


@pytest.mark.parametrize("who", ["tight", "loose", "equity"])
def test_a_decision_takes_milliseconds(who):
    bot, other, n_decisions = opponent(who, LIMIT), opponent("call", LIMIT), 0
    won(LIMIT, bot, other, 5)
    begun = time.monotonic()
    for number, dealt in enumerate(islice(deals(LIMIT, 9), 40)):
        hand = played(bot, other, dealt, number)
        n_decisions += sum(len(actions) for actions in hand.betting.rounds) // 2
    assert (time.monotonic() - begun) / n_decisions < 0.05
