"""Luck taken out of hands: no bias, whatever is known, and less error."""

from dataclasses import replace

import numpy as np
import pytest
from stand_ins import Told, all_deals

from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.match.aivat import estimate
from spewy.match.table import Fault, Played, Step


def ends(hand, board, bots, steps=(), weight=1.0):
    """All ways in which a hand can be played to its end, and how likely they are."""
    if hand.is_over:
        yield weight, hand, steps
        return
    if hand.to_deal:
        yield from ends(hand.deal(board[: hand.to_deal]), board[hand.to_deal :], bots, steps, weight)
        return
    public = replace(hand, hole=(None, None))
    mix = bots[hand.to_act].strategy(public)
    for action, share in zip(mix.actions, mix.of(hand.game.hand_number(hand.hole[hand.to_act])), strict=True):
        step = Step(public, action, mix)
        yield from ends(hand.apply(action), board, bots, (*steps, step), weight * share)


def moments(game, bots, known):
    """Mean and standard deviation of chips and of the estimate, over everything that can happen."""
    rows = []
    deals = list(all_deals(game))
    for first, second, board in deals:
        for weight, hand, steps in ends(Hand.start(game, (first, second)), board, bots):
            told = tuple(step if known[step.player] else replace(step, mix=None) for step in steps)
            found = estimate(Played(hand, told, ()), known, seed=0)
            rows.append((weight / len(deals), hand.net()[0], found))
    weights, won, found = np.array(rows).T
    assert weights.sum() == pytest.approx(1)

    def spread(values):
        return np.sqrt(weights @ values**2 - (weights @ values) ** 2)

    return weights @ won, weights @ found, spread(won), spread(found)


KNOWN = [(True, False), (False, True), (True, True), (False, False)]
CASES = [("kuhn", known) for known in KNOWN] + [
    pytest.param("leduc", known, marks=() if known == (False, True) else pytest.mark.slow) for known in KNOWN
]


@pytest.mark.parametrize(("name", "known"), CASES)
def test_it_is_unbiased_and_narrower(name, known):
    game = load_game(name)
    won, found, plain, narrow = moments(game, (Told(game, 3), Told(game, 4)), known)
    assert found == pytest.approx(won, abs=1e-9)
    assert narrow < (0.8 if any(known) else 1.0) * plain


def test_a_hand_with_a_fault_is_worth_what_was_won():
    game = load_game("kuhn")
    hand = Hand.start(game, (game.deck.cards[:1], game.deck.cards[1:2])).apply("c").apply("c")
    assert estimate(Played(hand, (), (Fault(0, "act: expected an answer"),)), (True, True), seed=0) == -1
