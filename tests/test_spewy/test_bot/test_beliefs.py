"""Both ranges of a hand, against a play-down hand by hand and decision by decision."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from bot_games import LIMIT_GAME, NO_LIMIT_GAME, any_action, dealt, folder_of

from buckets.cards import Deck, blocked, hands
from spewy.bot.agent import open_bot
from spewy.bot.stored_play import range_after_action
from spewy.game.hand import Hand
from spewy.look.folder import open_policy

REPEATABLE = {"seconds": None, "iterations": 8}


@pytest.fixture(scope="module")
def limit(tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("limit"), LIMIT_GAME)


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("no_limit"), NO_LIMIT_GAME)


def states(game, seed):
    """The public hands of one deal in which somebody acts, each with the action that followed."""
    rng = Random(seed)
    coming, hand, out = dealt(game, rng)[1], Hand.start(game), []
    while not hand.is_over:
        if hand.to_deal:
            new, coming = coming[: hand.to_deal], coming[hand.to_deal :]
            hand = hand.deal(new)
        else:
            action = any_action(hand, rng)
            out.append((hand, action))
            hand = hand.apply(action)
    return out


def test_ranges_are_what_the_locker_plays_down_to(limit):
    with open_bot(limit, resolve="never") as bot, open_policy(limit) as policy:
        deck = hands(bot.game.deck, 2)
        for seed in range(12):
            bot.new_hand(Hand.start(bot.game), 0, seed)
            expected = [np.ones(len(deck)), np.ones(len(deck))]
            for hand, action in states(bot.game, seed):
                dead = blocked(deck, hand.board)
                for p, found in enumerate(bot.ranges(hand)):
                    np.testing.assert_allclose(found[~dead], expected[p][~dead])
                    assert not found[dead].any()
                decision = policy.decision(hand.betting.line, hand.board)
                taken = [each.acpc for each in decision.actions].index(action)
                for h in range(len(deck)):
                    if not dead[h]:
                        cards = tuple(deck[h].tolist())
                        often = policy.frequencies(hand.betting.line, hand.board, cards)[taken]
                        expected[hand.to_act][h] *= often
                if not expected[hand.to_act][~dead].any():
                    break  # nobody plays like this


@pytest.mark.parametrize(
    "how", [{"resolve": "always"}, {"resolve": "always", "safe": True}, {"resolve": "off-tree"}]
)
def test_ranges_follow_what_was_re_solved(no_limit, how):
    """Whatever answers, a player's range is the product of the frequencies of what it did."""
    sources = set()
    with open_bot(no_limit, **how, **REPEATABLE, translation="likelier") as bot:
        for seed in range(25):
            bot.new_hand(Hand.start(bot.game), 0, seed)
            done = states(bot.game, seed)
            for (hand, action), (after, _) in pairwise(done):
                mix, p = bot.strategy(hand), hand.to_act
                sources.add(bot.answer(hand).source)
                if action not in mix.actions or after.board != hand.board:
                    continue
                before, found = (bot.ranges(each)[p][mix.hands] for each in (hand, after))
                played = before * mix.frequencies[mix.actions.index(action)]
                np.testing.assert_allclose(found, played if played.any() else before)
    assert sources >= {"stored", "re-solved"}


def test_the_order_of_questions_changes_nothing(no_limit):
    found = []
    with open_policy(no_limit) as policy:
        done = [state for seed in (3, 8) for state in states(policy.problem.game, seed)]
    for order in (done, done[::-1]):
        with open_bot(no_limit, resolve="always", **REPEATABLE) as bot:
            found.append({(h.betting.line, h.board): bot.strategy(h).frequencies for h, _ in order})
    assert found[0].keys() == found[1].keys()
    for key, mine in found[0].items():
        np.testing.assert_array_equal(mine, found[1][key])


def test_an_action_that_no_hand_takes_says_nothing():
    deck = hands(Deck(5, 3), 2)
    some = np.linspace(0, 1, len(deck))
    np.testing.assert_array_equal(range_after_action(some, np.zeros(len(deck)), deck, ()), some)
    only_dead = blocked(deck, (0,)).astype(float)
    np.testing.assert_array_equal(range_after_action(some, only_dead, deck, (0,)), some)


def test_an_off_tree_bet_is_remembered(no_limit):
    """What answers on later rounds is the locker, at the line of the bet that it was taken for."""
    with open_bot(no_limit, resolve="never", translation="likelier") as bot:
        hand = Hand.start(bot.game).apply("r33").apply("c").deal(bot.game.deck.cards[:3])
        near = Hand.start(bot.game).apply("r30").apply("c").deal(bot.game.deck.cards[:3])
        first, second = bot.answer(hand), bot.answer(near)
        assert (first.source, second.source) == ("translated", "stored")
        np.testing.assert_array_equal(first.frequencies, second.frequencies)
        assert first.actions != second.actions  # the same shares of another pot
