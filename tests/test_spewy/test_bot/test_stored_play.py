"""The stored strategy after bets that its tree lacks: against all draws of translations, one by one."""

from itertools import product
from random import Random

import numpy as np
import pytest
from bot_games import NO_LIMIT_GAME, any_action, dealt, folder_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from buckets.cards import blocked
from spewy import open_bot, open_policy
from spewy.bot.bet_translation import legal_actions, translations
from spewy.bot.bot import Answer
from spewy.bot.resolving.translation import Blueprint
from spewy.bot.stored_play import PublicState, StoredLine, StoredPlay, best_hands_call
from spewy.game.hand import Hand


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("no-limit"), NO_LIMIT_GAME)


@pytest.fixture(scope="module")
def book(folder):
    with open_policy(folder) as policy:
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


def test_weights_of_lines_add_up_to_one(folder):
    several = 0
    with open_bot(folder, resolve="never") as bot, open_policy(folder) as policy:
        book, rng = Blueprint(policy), Random(5)
        for _ in range(60):
            actions, hand = [], Hand.start(bot.game)
            coming = dealt(bot.game, rng)[1]
            while not hand.is_over:
                if hand.to_deal:
                    step, coming = tuple(coming[: hand.to_deal]), coming[hand.to_deal :]
                    hand = hand.deal(step)
                else:
                    step = any_action(hand, rng)
                    if hand.betting.can_fold and step == "f":
                        step = "c"
                    hand = hand.apply(step)
                actions.append(step)
            for play, state in states(book, actions):
                several += len(state.lines) > 1
                assert len({(line_of(line), line.exact, line.calls) for line in state.lines}) == len(
                    state.lines
                )
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


def test_an_opponent_does_not_see_the_draw(folder):
    """The strategy after a translated bet is the same for every seed of the hand."""
    found = []
    for seed in range(6):
        with open_bot(folder, resolve="never") as bot:
            hand = Hand.start(bot.game).apply("c").apply("c").deal(bot.game.deck.cards[:3]).apply("r25")
            bot.new_hand(hand, 1, seed)
            found.append(bot.strategy(hand).frequencies)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


SHARES = arrays(float, 12, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]))


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
