"""Showdowns of all hands on final boards, with exact card removal.

On each board one pass goes through the hands from the weakest to the strongest, hands of equal strength together. It
sums the weight of the hands so far, in all and per card; the weight of hands that share a card with a hand is
subtracted by inclusion and exclusion. ``tests/naive_cards.py`` has slow, obvious versions for the tests.
"""

from typing import Any

import numpy as np

from buckets.cards.cards import NUM_CARDS
from buckets.types import Array
from compiled import kernel, part

_BITS = 16  # number of bits that a hand's number has in a sort key, below its strength
_MASK = (1 << _BITS) - 1
_BLOCKED = np.uint16(_MASK)
_FEW = 255  # number of boards that an 8-bit counter can count


@kernel
def add_showdowns(
    strength: Array, hands: Array, weights: Array, won: Array, weight: Array, opponents: Array
) -> None:
    """Add the showdowns on some boards to ``won``, ``weight`` and ``opponents``, each ``[hand]``.

    `buckets.cards.showdown.ShowdownTotals` explains the three arrays. ``weights[hand]`` are the opponent's weights;
    ``strength[board, hand]`` is -1 if the board blocks the hand.
    """
    n_hands, hole = hands.shape
    second = _second_cards(hands)
    order = np.empty(n_hands, dtype=np.int64)
    by_card = np.empty(NUM_CARDS + 1)
    count_by_card = np.empty(NUM_CARDS + 1, dtype=np.int64)
    for b in range(len(strength)):
        n_live = _sort_live(strength[b], order)
        total = _add_wins(order[:n_live], hands, second, weights, 0.5, by_card, won)
        count_by_card[:] = 0
        count = 0
        for i in range(n_live):
            h = order[i] & _MASK
            if weights[h] > 0.0:
                count += 1
                count_by_card[hands[h, 0]] += 1
                count_by_card[second[h]] += hole - 1
        for i in range(n_live):
            h = order[i] & _MASK
            first = hands[h, 0]
            same = weights[h] if hole == 2 else 0.0  # the same hand was subtracted once per card
            weight[h] += total - by_card[first] - by_card[second[h]] + same
            opponents[h] += count - count_by_card[first] - count_by_card[second[h]] + (1 if same > 0.0 else 0)


@kernel
def fill_levels(strength: Array, hands: Array, levels: Array) -> None:
    """Write ``2 · wins + ties`` of each hand against all others to ``levels[board, hand]``; -1: a blocked hand."""
    n_hands = len(hands)
    second = _second_cards(hands)
    order = np.empty(n_hands, dtype=np.int64)
    by_card = np.empty(NUM_CARDS + 1, dtype=np.int64)
    ones = np.ones(n_hands, dtype=np.int64)
    for b in range(len(strength)):
        n_live = _sort_live(strength[b], order)
        levels[b] = -1
        for i in range(n_live):
            levels[b, order[i] & _MASK] = 0
        _add_wins(order[:n_live], hands, second, ones, 1, by_card, levels[b])


@kernel
def fill_order(strength: Array, order: Array) -> int:
    """Replace strengths by small numbers in the same order, 0, 1, 2, … on each board; return the highest number.

    Args:
        strength: ``[board, hand]``; -1: the board blocks the hand.
        order: ``[board, hand]``, 16-bit integers without sign, overwritten; 65,535: the board blocks the hand.
    """
    ascending = np.empty(strength.shape[1], dtype=np.int64)
    highest = 0
    for b in range(len(strength)):
        order[b] = _BLOCKED
        n_live = _sort_live(strength[b], ascending)
        level = 0
        for place in range(n_live):
            if place and ascending[place] >> _BITS != ascending[place - 1] >> _BITS:
                level += 1
            order[b, ascending[place] & _MASK] = level
        highest = max(highest, level)
    return highest


@kernel
def fill_wins(order: Array, blocked: int, first: int, wins: Array) -> None:
    """Count the boards on which one hand beats another: ``wins[hand - first, other hand]``, hands from ``first`` on.

    Args:
        order: ``[board, hand]``, integers of 8 or 16 bits without sign, larger for stronger hands.
        blocked: number in ``order`` of hands that the board blocks, larger than all others; the board does not count
            for these hands.
        first: number of the first hand whose wins are counted.
        wins: 32-bit integers, a row for each hand whose wins are counted, overwritten.
    """
    n_boards, n_hands = order.shape
    few = np.empty(n_hands, dtype=np.uint8)
    for row in range(len(wins)):
        wins[row] = 0
        for start in range(0, n_boards, _FEW):
            few[:] = 0
            for b in range(start, min(start + _FEW, n_boards)):
                own, others = order[b, first + row], order[b]
                if own == blocked:
                    continue
                for other in range(n_hands):
                    few[other] += np.uint8(others[other] < own)
            for other in range(n_hands):
                wins[row, other] += few[other]


@part
def _second_cards(hands: Array) -> Array:
    """Return the second card of each hand; a one-card hand gets card 52, to which no weight is ever added."""
    return hands[:, 1].copy() if hands.shape[1] == 2 else np.full(len(hands), NUM_CARDS)


@part
def _sort_live(strength: Array, order: Array) -> int:
    """Write ``strength << 16 | hand`` of each hand that is not blocked to ``order``, ascending; return their count."""
    n_live = 0
    for h in range(len(strength)):
        if strength[h] >= 0:
            order[n_live] = np.int64(strength[h]) << _BITS | h
            n_live += 1
    order[:n_live].sort()
    return n_live


@part
def _add_wins(
    order: Array, hands: Array, second: Array, weights: Array, half: Any, by_card: Array, out: Array
) -> Any:
    """Add the weight of the hands that each hand beats or ties to ``out[hand]``; return the weight of all hands.

    ``order`` is the result of `_sort_live`. A tied weight has the factor ``half``, a beaten weight twice this factor.
    ``by_card[card]`` is overwritten with the weight of the hands that hold each card.
    """
    two_cards = hands.shape[1] == 2
    by_card[:] = 0
    total = weights[0] - weights[0]
    n_live = len(order)
    start = 0
    while start < n_live:
        value = order[start] >> _BITS
        end = start
        while end < n_live and order[end] >> _BITS == value:
            h = order[end] & _MASK
            out[h] += half * (total - by_card[hands[h, 0]] - by_card[second[h]])
            end += 1
        for place in range(start, end):
            h = order[place] & _MASK
            total += weights[h]
            by_card[hands[h, 0]] += weights[h]
            if two_cards:
                by_card[second[h]] += weights[h]
        for place in range(start, end):
            h = order[place] & _MASK
            # With two cards h itself was subtracted once per card; with one card, once.
            rest = total - by_card[hands[h, 0]] - by_card[second[h]]
            out[h] += half * (rest + weights[h] if two_cards else rest)
        start = end
    return total
