"""Luck taken out of hands: no bias, whatever is known, and less error."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from naive_matches import ends, public, shares_of
from stand_ins import Rule, Told, all_deals

from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.match.aivat import estimate
from spewy.match.table import Fault, Played, Seat, Step, look_ahead


class Cheap(Told):
    """Tells its strategy at states that a hand does not reach, too: everywhere, or only for some betting lines."""

    def __init__(self, game, number, everywhere=True):
        super().__init__(game, number)
        self.everywhere = everywhere

    def is_cheap(self, hand):
        return self.everywhere or len(hand.betting.line) % 3 != 2


def moments(game, bots, known, wrong=lambda hand: ()):
    """Mean and standard deviation of chips and of the estimate, over everything that can happen.

    ``wrong`` gives the faults of a hand that is over.
    """
    rows = []
    silent = Rule(game, lambda hand: "c")
    seats = tuple(Seat(bot if told else silent) for bot, told in zip(bots, known, strict=True))

    @cache
    def step(at, action):
        mix = seats[at.to_act].strategy(at)
        return Step(at, action, mix, {} if mix is None else look_ahead(seats, at, mix))

    deals = list(all_deals(game))
    for first, second, board in deals:
        start = Hand.start(game, (first, second))
        for weight, hand, steps in ends(start, board, lambda hand: shares_of(bots[hand.to_act], hand)):
            told = tuple(step(public(at), action) for at, action in steps)
            found = estimate(Played(hand, told, tuple(wrong(hand))), known)
            rows.append((weight / len(deals), hand.net()[0], found))
    weights, won, found = np.array(rows).T
    assert weights.sum() == pytest.approx(1)

    def spread(values):
        return np.sqrt(weights @ values**2 - (weights @ values) ** 2)

    return weights @ won, weights @ found, spread(won), spread(found)


KNOWN = [(True, False), (False, True), (True, True), (False, False)]
GAMES = {
    "kuhn": load_game("kuhn"),
    "one suit": replace(load_game("leduc"), num_ranks=4, num_suits=1),
    "leduc": load_game("leduc"),
}


BOTS = {
    "tells": Told,
    "tells everywhere": Cheap,
    "tells on some lines": lambda game, number: Cheap(game, number, everywhere=False),
}
CASES = [("kuhn", *case) for case in (*product(BOTS, KNOWN[:3]), ("tells", KNOWN[3]))]
CASES += [
    *(("one suit", "tells", KNOWN[0]), ("one suit", "tells", KNOWN[2])),
    *(("one suit", "tells everywhere", KNOWN[1]), ("one suit", "tells on some lines", KNOWN[2])),
]
"""Each bot and each known seat in the game of one round; in that of two, which takes long, each bot."""


@pytest.mark.parametrize(("name", "bots", "known"), CASES)
def test_it_is_unbiased_and_narrower(name, bots, known):
    game = GAMES[name]
    won, found, plain, narrow = moments(game, (BOTS[bots](game, 3), BOTS[bots](game, 4)), known)
    assert found == pytest.approx(won, abs=1e-5)
    assert narrow < (0.9 if any(known) else 1.0) * plain


@pytest.mark.slow
@pytest.mark.parametrize("known", KNOWN)
def test_it_is_unbiased_and_narrower_in_leduc(known):
    test_it_is_unbiased_and_narrower("leduc", "tells", known)


def test_nothing_is_left_to_luck_in_a_round_whose_strategies_are_known():
    """Kuhn's game has one round; all of it is foreseen from the first decision."""
    game = GAMES["kuhn"]
    won, found, plain, narrow = moments(game, (Cheap(game, 3), Cheap(game, 4)), (True, True))
    assert found == pytest.approx(won, abs=1e-5)
    assert narrow < 1e-3 < plain
    assert moments(game, (Told(game, 3), Told(game, 4)), (True, True))[3] > 0.1


@pytest.mark.parametrize("name", ["kuhn", "one suit"])
def test_faults_of_who_tells_nothing_are_no_bias(name):
    """They may come with good cards only, whose luck is to be taken out all the same."""
    game = GAMES[name]
    best = game.deck.cards[-1]

    def wrong(hand):
        return (Fault(1, "act: expected r4"),) if best in hand.hole[1] else ()

    won, found, _, _ = moments(game, (Told(game, 3), Told(game, 4)), (True, False), wrong)
    assert found == pytest.approx(won, abs=1e-5)


def test_a_hand_with_a_fault_is_worth_what_was_won():
    game = load_game("kuhn")
    hand = Hand.start(game, (game.deck.cards[:1], game.deck.cards[1:2])).apply("c").apply("c")
    assert estimate(Played(hand, (), (Fault(0, "act: expected an answer"),)), (True, True)) == -1


def test_strategies_that_the_score_may_not_know_change_nothing():
    game = load_game("kuhn")
    bots = Told(game, 1), Told(game, 2)
    seats = tuple(map(Seat, bots))
    for first, second, board in all_deals(game):
        start = Hand.start(game, (first, second))
        for _, hand, steps in ends(start, board, lambda hand: shares_of(bots[hand.to_act], hand)):
            told = [
                Step(public(at), action, seats[at.to_act].strategy(public(at)), {}) for at, action in steps
            ]
            silent = tuple(replace(step, mix=None) for step in told)
            known = (False, False)
            assert estimate(Played(hand, tuple(told), ()), known) == estimate(Played(hand, silent, ()), known)
