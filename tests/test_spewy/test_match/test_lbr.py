"""Local Best Response: what arithmetic says, and never more than a best response."""

from dataclasses import replace

import numpy as np
import pytest
from naive_matches import best_response, public, shares_of, value
from stand_ins import Told

from buckets.cards import parse_cards
from spewy.bot.bot import Mix
from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.match.lbr import SETTINGS, Lbr, lbr_setting

KUHN, LEDUC = load_game("kuhn"), load_game("leduc")
NO_LIMIT = load_game("holdem.nolimit.2p.reverse_blinds")


class Calls(Told):
    """Calls with every hand."""

    def made_up(self, hand, key):
        return Mix(("c",), np.arange(len(self.deck)), np.ones((1, len(self.deck))))


class FoldsToBets(Told):
    """Folds where it can, whatever it holds."""

    def made_up(self, hand, key):
        actions = ("f", "c") if hand.betting.can_fold else ("c",)
        frequencies = np.zeros((len(actions), len(self.deck)))
        frequencies[0] = 1
        return Mix(actions, np.arange(len(self.deck)), frequencies)


def won(game, other, setting, player):
    """Chips that LBR wins as a player, by all that can happen."""

    def choose(hand):
        if hand.to_act != player:
            return shares_of(other, hand)
        lbr = Lbr(other, lbr_setting(setting))
        lbr.new_hand(hand, player, 0)
        return [(lbr.act(hand), 1.0)]

    return value(game, choose) * (1 if player == 0 else -1)


@pytest.mark.parametrize("player", [0, 1])
def test_against_one_who_calls_it_bets_the_king(player):
    # K wins 2 chips, Q wins and loses as often, J loses one.
    assert won(KUHN, Calls(KUHN), "all", player) == pytest.approx((2 + 0 - 1) / 3)


def test_against_one_who_folds_it_bets_everything():
    assert won(KUHN, FoldsToBets(KUHN), "all", 0) == pytest.approx(1)


@pytest.mark.parametrize("number", [5, 6, 7])
@pytest.mark.parametrize("player", [0, 1])
def test_it_never_wins_more_than_a_best_response(number, player):
    other = Told(KUHN, number)
    lbr, best = won(KUHN, other, "all", player), best_response(KUHN, other, player)
    assert won(KUHN, other, "fc", player) <= best + 1e-9
    assert lbr <= best + 1e-9
    assert lbr > best - 0.4


@pytest.mark.slow
@pytest.mark.parametrize("player", [0, 1])
def test_it_never_wins_more_than_a_best_response_of_leduc(player):
    other = Told(LEDUC, 8)
    assert won(LEDUC, other, "all", player) <= best_response(LEDUC, other, player) + 1e-9


class GoesAllIn(Told):
    """Checks and calls before the river, and bets all its chips there, with every hand."""

    def made_up(self, hand, key):
        action = "r20000" if hand.betting.round == 3 else "c"
        return Mix((action,), np.arange(len(self.deck)), np.ones((1, len(self.deck))))


def at_the_river(game=NO_LIMIT, holes=(parse_cards("AsAh"), None)):
    hand = Hand.start(game, holes)
    board = parse_cards("Ks 7d 2c 3h 9s")
    hand = hand.apply("c").apply("c").deal(board[:3]).apply("c").apply("c").deal(board[3:4])
    return hand.apply("c").apply("c").deal(board[4:])


def test_it_bets_what_is_called_most():
    lbr = Lbr(Calls(NO_LIMIT), SETTINGS["fcpa"])
    hand = at_the_river()
    lbr.new_hand(hand, 0, 1)
    assert lbr.act(hand) == "r20000"


def test_chips_above_its_own_stack_come_back():
    """A call of 900 into a pot of 1,100 needs 45 % equity, however many chips the bet has."""
    game = replace(NO_LIMIT, stacks=(20_000, 1_000))
    lbr = Lbr(GoesAllIn(game), SETTINGS["fc"])
    for own, action in (("JhTh", "f"), ("Kd2d", "c")):
        hand = at_the_river(game, (None, parse_cards(own)))
        lbr.new_hand(hand, 1, 1)
        assert lbr.act(hand.apply("r20000")) == action


def test_it_does_only_what_its_setting_allows():
    hand = at_the_river()
    for name in ("fc", "late-fc"):
        lbr = Lbr(Calls(NO_LIMIT), SETTINGS[name])
        lbr.new_hand(hand, 0, 1)
        assert lbr.act(hand) == "c"
    lbr = Lbr(Calls(NO_LIMIT), SETTINGS["56"])
    lbr.new_hand(hand, 0, 1)
    sizes = list(lbr._actions(hand.betting))
    assert (len(sizes), sizes[:2], sizes[-1]) == (57, ["c", "r200"], "r20000")
    first = Hand.start(NO_LIMIT, (None, parse_cards("7d2c")))
    lbr.new_hand(first, 1, 1)
    assert list(lbr._actions(first.betting)) == ["c"]


def test_its_range_of_the_other_is_exact():
    other = Told(KUHN, 9)
    hand = Hand.start(KUHN, (KUHN.deck.cards[:1], None)).apply("c").apply("r")
    lbr = Lbr(other, SETTINGS["all"])
    lbr.new_hand(hand, 0, 0)
    mix = other.strategy(public(Hand.start(KUHN).apply("c")))
    np.testing.assert_allclose(lbr.opponent_range(hand), mix.frequencies[mix.actions.index("r")])


def test_an_unknown_setting():
    with pytest.raises(InputError, match="expected one of fc, fcpa, 56, late-fc, all, found 'x'"):
        lbr_setting("x")
