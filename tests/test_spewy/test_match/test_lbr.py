"""Local Best Response: what arithmetic says, and never more than a best response."""

from dataclasses import replace

import numpy as np
import pytest
from bot_games import limped
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


class Always(Told):
    """Takes the action of ``rule(betting)`` with every hand."""

    def __init__(self, game, rule):
        super().__init__(game)
        self.rule = rule

    def made_up(self, hand, key):
        return Mix((self.rule(hand.betting),), np.arange(len(self.deck)), np.ones((1, len(self.deck))))


def calls(betting):
    return "c"


def folds_to_bets(betting):
    return "f" if betting.can_fold else "c"


def goes_all_in(betting):
    """On the river; before it, it checks and calls."""
    return "r20000" if betting.round == 3 else "c"


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
    assert won(KUHN, Always(KUHN, calls), "all", player) == pytest.approx((2 + 0 - 1) / 3)


def test_against_one_who_folds_it_bets_everything():
    assert won(KUHN, Always(KUHN, folds_to_bets), "all", 0) == pytest.approx(1)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("game", "number"),
    [(KUHN, 5), (KUHN, 6), (KUHN, 7), pytest.param(LEDUC, 8, marks=pytest.mark.slow)],
)
def test_it_never_wins_more_than_a_best_response(game, number, player):
    other = Told(game, number)
    best = best_response(game, other, player)
    for setting in ("all", "fc") if game is KUHN else ("all",):
        assert won(game, other, setting, player) <= best + 1e-9
    if game is KUHN:
        assert won(game, other, "all", player) > best - 0.4


def at_the_river(game=NO_LIMIT, holes=(parse_cards("AsAh"), None)):
    return limped(game, parse_cards("Ks 7d 2c 3h 9s"), holes)


def test_it_bets_what_is_called_most():
    lbr = Lbr(Always(NO_LIMIT, calls), SETTINGS["fcpa"])
    hand = at_the_river()
    lbr.new_hand(hand, 0, 1)
    assert lbr.act(hand) == "r20000"


def test_chips_above_its_own_stack_come_back():
    """A call of 900 into a pot of 1,100 needs 45 % equity, however many chips the bet has."""
    game = replace(NO_LIMIT, stacks=(20_000, 1_000))
    lbr = Lbr(Always(game, goes_all_in), SETTINGS["fc"])
    for own, action in (("JhTh", "f"), ("Kd2d", "c")):
        hand = at_the_river(game, (None, parse_cards(own)))
        lbr.new_hand(hand, 1, 1)
        assert lbr.act(hand.apply("r20000")) == action


def test_it_does_only_what_its_setting_allows():
    hand = at_the_river()
    for name in ("fc", "late-fc"):
        lbr = Lbr(Always(NO_LIMIT, calls), SETTINGS[name])
        lbr.new_hand(hand, 0, 1)
        assert lbr.act(hand) == "c"
    lbr = Lbr(Always(NO_LIMIT, calls), SETTINGS["56"])
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
