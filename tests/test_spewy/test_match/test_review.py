"""What decisions cost, held against a strategy that is told."""

from dataclasses import replace

import numpy as np
import pytest
from naive_matches import ends, public, shares_of
from stand_ins import Told, all_deals

from spewy.errors import InputError
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.match.acpc_text import LoggedHand
from spewy.match.review import review_hand, review_hands, summary

KUHN, LEDUC = load_game("kuhn"), load_game("leduc")


def kuhn_hand(line, first=0, second=1):
    hand = Hand.start(KUHN, (KUHN.deck.cards[first : first + 1], KUHN.deck.cards[second : second + 1]))
    for action in line:
        hand = hand.apply(action)
    return hand


def worth(bot, hand, player):
    """What a player wins from a state on with its hand, against all hands that the other may have there."""
    total = weight_of_all = 0.0
    for first, second, board in all_deals(KUHN):
        start = Hand.start(KUHN, (first, second))
        if start.hole[player] != hand.hole[player]:
            continue
        now, weight = start, 1.0
        for action in hand.betting.line:
            if now.to_act != player:
                weight *= dict(shares_of(bot, now))[action]
            now = now.apply(action)
        for share, end, _ in ends(now, board, lambda at: shares_of(bot, at)):
            total += weight * share * end.net()[player]
        weight_of_all += weight
    return total / weight_of_all


@pytest.mark.parametrize("line", ["cc", "crc", "crf", "rf", "rc"])
def test_where_a_round_is_the_game_values_are_exact(line):
    bot, hand = Told(KUHN, 11), kuhn_hand(line, 1, 2)
    found = review_hand(bot, hand)
    assert [decided.action for decided in found] == list(line)
    now = kuhn_hand("", 1, 2)
    for decided in found:
        values = [worth(bot, now.apply(action), decided.player) for action in decided.actions]
        assert decided.values == pytest.approx(values)
        shares = dict(shares_of(bot, now))
        mean = sum(shares[action] * value for action, value in zip(decided.actions, values, strict=True))
        assert decided.cost == pytest.approx(mean - values[decided.actions.index(decided.action)])
        assert decided.frequency == pytest.approx(shares[decided.action])
        now = now.apply(decided.action)


def test_decisions_drawn_from_the_strategy_cost_nothing_on_average():
    bot = Told(LEDUC, 12)
    hand = Hand.start(LEDUC, (LEDUC.deck.cards[:1], LEDUC.deck.cards[2:3])).apply("c").apply("c")
    hand = hand.deal(LEDUC.deck.cards[5:6])
    mix = bot.strategy(public(hand))
    costs = []
    for action in mix.actions:
        over = hand.apply(action)
        while not over.is_over:
            over = over.apply("c")
        costs.append(review_hand(bot, over, players=(0,))[-1].cost)
    assert mix.of(LEDUC.hand_number(hand.hole[0])) @ np.array(costs) == pytest.approx(0, abs=1e-12)
    assert max(costs) > 0.01


def test_a_hand_that_is_not_known_costs_nothing_that_is_told():
    hand = kuhn_hand("rf")
    found = review_hand(Told(KUHN, 1), replace(hand, hole=(hand.hole[0], None)))
    assert found[0].cost is not None
    assert (found[1].cost, found[1].values, found[1].frequency) == (None, None, None)
    assert found[1].actions == ("f", "c")


def test_a_player_who_never_decided_is_told_of_too():
    hand = Hand.start(LEDUC, (LEDUC.deck.cards[:1], LEDUC.deck.cards[1:2]))
    played = [LoggedHand(0, hand.apply("c").apply("r").apply("f"), ("a", "b"))]
    bot = Told(LEDUC, 1)
    assert summary(played, [], 1)["a"].cost is None  # nothing is known, which is not nothing
    assert set(summary(played, review_hands(bot, played), 1)) == {"a", "b"}
    assert set(summary(played, [], 1, "b")) == {"b"}


def test_players_of_one_name_are_refused():
    with pytest.raises(InputError, match="hand 3: expected two players whose names differ, found 'a' twice"):
        review_hands(Told(KUHN, 1), [LoggedHand(3, kuhn_hand("rf"), ("a", "a"))])
