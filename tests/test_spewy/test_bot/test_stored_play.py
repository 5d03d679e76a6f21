"""Stored play after bets that the tree lacks, and both ranges of a hand: against all draws, hand by hand."""

from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
from bot_games import any_action, dealt, limped, played_out
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from buckets.cards import Deck, blocked, hands
from spewy import open_bot, open_policy
from spewy.bot.bet_translation import legal_actions, translations
from spewy.bot.bot import Answer
from spewy.bot.resolving.translation import Blueprint
from spewy.bot.stored_play import PublicState, StoredLine, StoredPlay, best_hands_call, range_after_action
from spewy.game.hand import Hand


@pytest.fixture(scope="module")
def book(folders):
    with open_policy(folders["no-limit"]) as policy:
        yield Blueprint(policy)


def line_of(stored):
    return None if stored.node is None else stored.node.line


def states(book, actions):
    """The public states of a hand: `actions` has ACPC actions, and boards between them."""
    root = StoredLine(book.node(""))
    play, state = StoredPlay(book, "random", 0), PublicState(Hand.start(book.game), (root,), 0)
    for action in actions:
        if isinstance(action, str):
            hand = state.hand.apply(action)
            lines = play.after(state, hand.betting, action)
            state = PublicState(hand, lines, 0, above=state, action=action)
        else:
            state = PublicState(state.hand.deal(action), state.lines, 0, above=state)
        yield play, state


def drawn(book, actions, draws):
    """Probability of one way to translate all bets, how often player 0 then plays as it did, and the tree's line.

    ``draws`` has a number for each action. After an all-in that is called, the tree has no line, and plays nothing.
    """
    hand, line, often, reach = Hand.start(book.game), "", 1.0, 1.0
    for action, draw in zip(actions, draws, strict=True):
        if not isinstance(action, str):
            hand = hand.deal(action)
            continue
        found = [(None, 1.0)]
        if line is not None:
            node = book.node(line)
            found = translations(action, legal_actions(node, hand.betting), hand.betting, "random")
        if draw >= len(found):
            return 0.0, None, None
        number, probability = found[draw]
        often *= probability
        if number is not None:
            if hand.to_act == 0:
                reach = reach * book.strategy(node, hand.board)[number]
            child = node.children[number]
            child = child.children[0] if child.kind == "chance" else child
            line = child.line if child.kind == "decision" else None
        hand = hand.apply(action)
    return often, reach, line


def test_a_hand_follows_each_line_as_often_as_all_draws_say(book):
    """Player 0, the bot, checks and calls bets on two rounds, which the tree lacks."""
    cards = book.game.deck.cards
    actions = ["c", "c", cards[:3], "c", "r25", "c", (cards[3],), "c", "r60"]
    *_, (play, state) = states(book, actions)
    assert len(state.lines) == 3
    expected = dict.fromkeys((line_of(line) for line in state.lines), 0.0)
    for draws in product(range(2), repeat=len(actions)):
        often, reach, line = drawn(book, actions, draws)
        if often:
            expected[line] = expected[line] + often * reach
    total = sum(expected.values())
    seen = total > 0
    assert seen.any()
    for line, weight in zip(state.lines, play.weights(state, 0), strict=True):
        np.testing.assert_allclose(
            weight[seen], (expected[line_of(line)] / np.where(seen, total, 1))[seen], atol=1e-12
        )


def test_weights_of_lines_add_up_to_one(book):
    several, rng = 0, Random(5)

    def choose(hand):
        action = any_action(hand, rng)
        return "c" if action == "f" else action

    for _ in range(60):
        coming = dealt(book.game, rng)[1]
        actions, board = [], ()
        for state, action in played_out(Hand.start(book.game), coming, choose)[1]:
            actions += [state.board[len(board) :], action] if state.board != board else [action]
            board = state.board
        for play, state in states(book, actions):
            several += len(state.lines) > 1
            assert len({(line_of(line), line.exact, line.calls) for line in state.lines}) == len(state.lines)
            assert sum(line.probability for line in state.lines) == pytest.approx(1)
            for player in (0, 1):
                np.testing.assert_allclose(play.weights(state, player).sum(axis=0), 1)
    assert several > 50


def test_a_small_bet_is_sometimes_no_bet(book):
    """A bet of 10 into a pot of 60, after a check: in one line the tree's round is over, and the bot calls."""
    actions = ["r30", "c", book.game.deck.cards[:3], "c", "r40"]
    *_, (play, state) = states(book, actions)
    called, bet = state.lines
    assert called.calls
    assert not bet.calls
    assert called.probability == pytest.approx(4 / 7)
    *_, (_, after) = states(book, [*actions, "c"])
    assert [line.calls for line in after.lines] == [False, False]
    assert after.lines[0].node is called.node
    answer = play.answer(state, lambda _: (~blocked(book.hands, state.hand.board)).astype(float))
    assert answer.source == "translated"
    assert set(answer.actions) >= {"f", "c"}
    alone = book.strategy(bet.node, state.hand.board)[0]  # how often a hand folds to the tree's smallest bet
    live = ~blocked(book.hands, state.hand.board)
    assert answer.frequencies[answer.actions.index("f")][live].sum() == pytest.approx(
        bet.probability * alone[live].sum()
    )


def test_an_opponent_does_not_see_the_draw(folders):
    """The strategy after a translated bet is the same for every seed of the hand."""
    found = []
    with open_bot(folders["no-limit"], resolve="never", ready=False) as bot:
        hand = limped(bot.game, bot.game.deck.cards[:3]).apply("r25")
        for seed in range(6):
            bot.new_hand(hand, 1, seed)
            found.append(bot.strategy(hand).frequencies)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


SHARES = arrays(float, 12, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))


@settings(deadline=None)
@given(SHARES, SHARES, SHARES, arrays(float, 12, elements=st.sampled_from([0.1, 0.4, 0.7])))
def test_the_best_hands_call_as_often_as_all_hands_did(calls, raises, reach, equity):
    rest = 1 - raises
    answer = Answer(("f", "c", "r30"), np.stack([rest * (1 - calls), rest * calls, raises]), "translated")
    found = best_hands_call(answer, reach, equity).frequencies
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=0), 1)
    np.testing.assert_array_equal(found[2], raises)
    np.testing.assert_allclose(found @ reach, answer.frequencies @ reach, atol=1e-12)
    share = np.divide(found[1], rest, out=np.zeros(12), where=rest > 0)
    shown = [i for i in range(12) if rest[i] > 0 and reach[i] > 0]
    for i in shown:
        for j in shown:
            if (calls[i], equity[i]) > (calls[j], equity[j]):
                assert share[i] >= share[j] - 1e-12
                assert share[i] > 1 - 1e-9 or share[j] < 1e-9


REPEATABLE = {"seconds": None, "iterations": 8}


def random_states(game, seed):
    """The public hands of one deal in which somebody acts, each with the action that followed."""
    rng = Random(seed)
    coming = dealt(game, rng)[1]
    return played_out(Hand.start(game), coming, lambda hand: any_action(hand, rng))[1]


def test_ranges_are_what_the_locker_plays_down_to(folders):
    with open_bot(folders["limit"], resolve="never") as bot, open_policy(folders["limit"]) as policy:
        deck = hands(bot.game.deck, 2)
        for seed in range(12):
            bot.new_hand(Hand.start(bot.game), 0, seed)
            expected = [np.ones(len(deck)), np.ones(len(deck))]
            for hand, action in random_states(bot.game, seed):
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
def test_ranges_follow_what_was_re_solved(folders, how):
    """Whatever answers, a player's range is the product of the frequencies of what it did."""
    sources = set()
    with open_bot(folders["no-limit"], **how, **REPEATABLE, translation="likelier") as bot:
        for seed in range(25):
            bot.new_hand(Hand.start(bot.game), 0, seed)
            for (hand, action), (after, _) in pairwise(random_states(bot.game, seed)):
                mix, p = bot.strategy(hand), hand.to_act
                sources.add(bot.answer(hand).source)
                if action not in mix.actions or after.board != hand.board:
                    continue
                before, found = (bot.ranges(each)[p][mix.hands] for each in (hand, after))
                played = before * mix.frequencies[mix.actions.index(action)]
                np.testing.assert_allclose(found, played if played.any() else before)
    assert sources >= {"stored", "re-solved"}


def test_the_order_of_questions_changes_nothing(folders):
    found = []
    with open_policy(folders["no-limit"]) as policy:
        done = [state for seed in (3, 8) for state in random_states(policy.problem.game, seed)]
    for order in (done, done[::-1]):
        with open_bot(folders["no-limit"], resolve="always", **REPEATABLE) as bot:
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


def test_an_off_tree_bet_is_remembered(folders):
    """What answers on later rounds is the locker, at the line of the bet that it was taken for."""
    with open_bot(folders["no-limit"], resolve="never", translation="likelier") as bot:
        first, second = (
            bot.answer(Hand.start(bot.game).apply(bet).apply("c").deal(bot.game.deck.cards[:3]))
            for bet in ("r33", "r30")
        )
        assert (first.source, second.source) == ("translated", "stored")
        np.testing.assert_array_equal(first.frequencies, second.frequencies)
        assert first.actions != second.actions  # the same shares of another pot
