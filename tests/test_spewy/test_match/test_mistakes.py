"""Costs by street and kind of mistake, of decisions that are made up."""

import pytest

from spewy.match.hand_review import Decided
from spewy.match.mistakes import Mistakes, mistakes
from spewy.match.review import Reviewed

FLOP, TURN = (0, 5, 10), (0, 5, 10, 15)


def decision(board, action, values, *, faces_bet=False, big_blind=2.0):
    """A decision that follows a strategy which always takes the best action."""
    actions = (*(("f",) if faces_bet else ()), "c", "r10", "r30")[: len(values)]
    best = max(values)
    frequencies = tuple(float(value == best) for value in values)
    cost = best - values[actions.index(action)]
    decided = Decided(0, "", board, action, actions, frequencies, tuple(values), cost)
    return Reviewed(1, "a", (1, 2), decided, big_blind)


def test_costs_are_summed_by_street_and_kind():
    found = mistakes(
        [
            decision(FLOP, "c", (1, 3)),
            decision(FLOP, "c", (1, 5), big_blind=4.0),
            decision(FLOP, "r30", (1, 5, 2)),
            decision(FLOP, "r10", (1, 5, 2)),
            decision(TURN, "f", (0, 4), faces_bet=True),
            decision(TURN, "c", (0, -4, -5), faces_bet=True),
            Reviewed(1, "a", None, Decided(0, "", FLOP, "c", ("c",), None, None, None), 2.0),
        ]
    )
    assert found == [
        Mistakes("flop", "check", "bet", 2, pytest.approx(1000 * (2 / 2 + 4 / 4))),
        Mistakes("flop", "bet", "another size", 1, pytest.approx(1000 * 3 / 2)),
        Mistakes("flop", "bet", "the same", 1, 0.0),
        Mistakes("turn", "fold", "call", 1, pytest.approx(1000 * 4 / 2)),
        Mistakes("turn", "call", "fold", 1, pytest.approx(1000 * 4 / 2)),
    ]
