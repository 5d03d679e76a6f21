"""Push or fold: the linear program, published charts, and plain loops over hands."""

import numpy as np
import pytest

from buckets.cards import Deck, equities, hands, preflop_classes
from spewy.competitions.upac.push_fold import equities as start_equities
from spewy.competitions.upac.push_fold import odds, push_fold, values
from spewy.errors import InputError

CLASSES, NAMES = preflop_classes()
NUMBER = {name: number for number, name in enumerate(NAMES)}


def share(frequencies):
    """Of all hands."""
    counts = np.bincount(CLASSES)
    return float(frequencies @ counts / counts.sum())


@pytest.mark.parametrize("stack", [1, 2, 3, 5, 10, 20, 50, 100])
def test_nobody_gains_by_playing_otherwise(stack):
    found = push_fold(stack)
    assert abs(found.exploitability) < 1e-9
    assert values(stack, found.push, found.call) == (found.value, found.exploitability)


def test_all_in_blinds_leave_nothing_to_decide():
    assert [push_fold(stack).value for stack in (1, 2)] == pytest.approx([0, 0], abs=1e-12)
    assert push_fold(2).push.min() == 1


def test_published_charts_of_ten_big_blinds():
    """The share of hands is 58 % to push and 37 % to call; hands of the charts far from their edges."""
    found = push_fold(20)
    assert share(found.push) == pytest.approx(0.583, abs=0.005)
    assert share(found.call) == pytest.approx(0.374, abs=0.005)
    for play, often, names in (
        (found.push, 1, ("22", "A2o", "K2s", "Q8o", "J9o", "T8s", "65s")),
        (found.push, 0, ("72o", "32o", "J2o", "93s")),
        (found.call, 1, ("22", "A2o", "K7o", "QTo")),
        (found.call, 0, ("54s", "Q2o", "J8o")),
    ):
        assert {name: play[NUMBER[name]] for name in names} == dict.fromkeys(names, often)


def test_best_responses_by_loops_over_hands():
    """A best response of each hand on its own, card removal by looking at cards."""
    stack, held = 12, hands(Deck(), 2)
    found = push_fold(stack)
    pairs, margin = odds()
    wins = 0.0
    for hand in range(0, len(held), 13):
        apart = ~np.isin(held, held[hand]).any(axis=1)
        theirs = CLASSES[apart]
        call = found.call[theirs]
        pushed = ((1 - call) * 2 + call * stack * margin[CLASSES[hand], theirs]).mean()
        best = max(pushed, -1.0)
        played = found.push[CLASSES[hand]]
        assert played * pushed + (1 - played) * -1.0 == pytest.approx(best, abs=1e-9)
        wins += best
    assert len(held[apart]) == 1225
    assert pairs.sum() == 1326 * 1225


def test_odds_of_two_hands_are_those_of_their_boards():
    """Of aces against kings; a published value, over all suits and boards."""
    _, margin = odds()
    assert margin[NUMBER["AA"], NUMBER["KK"]] == pytest.approx(2 * 0.819461 - 1, abs=1e-6)
    assert np.array_equal(margin, -margin.T)


def test_equities_of_starting_hands():
    found = start_equities()
    assert found[NUMBER["AA"]] == pytest.approx(0.852037, abs=1e-6)
    assert found[NUMBER["32o"]] == pytest.approx(0.323032, abs=1e-6)
    sampled = equities((), hands(Deck(), 2), np.ones(1326), samples=1000)
    means = np.bincount(CLASSES, sampled) / np.bincount(CLASSES)
    assert np.abs(found - means).max() < 0.05


@pytest.mark.parametrize("stack", [0, -1, 10**7])
def test_a_stack_that_is_none(stack):
    with pytest.raises(InputError, match="expected 1 to 1,000,000 chips, found"):
        push_fold(stack)
