"""Sums over the opponent's hands that share no card with a hand, without a matrix of all pairs of hands.

The sum over all opposing hands, minus the sums over the hands that hold each of the hand's cards, plus the weight of
the same two cards, which were subtracted twice.
"""

from __future__ import annotations

import numpy as np

from buckets.types import Ints
from solvers.tree import Floats


class CardSums:
    """Sums the weights of the opponent's hands that are compatible with each hand of a player.

    Args:
        deck: ``[hand, hole card]``, the cards of all hands of the deck.
        own: numbers in ``deck`` of the player's hands, ascending.
        other: numbers in ``deck`` of the opponent's hands, ascending.

    Attributes:
        holding: ``[card, opponent's hand]``, 1 for the hands that hold a card, else 0.
    """

    def __init__(self, deck: Ints, own: Ints, other: Ints) -> None:
        self._cards = deck[own]
        self.holding = np.zeros((int(deck.max(initial=0)) + 1, len(other)))
        for held in deck[other].T:
            self.holding[held, np.arange(len(other))] = 1.0
        self._same = np.full(len(own), len(other))
        if deck.shape[1] == 2:
            place = np.searchsorted(other, own)
            found = place < len(other)
            found[found] = other[place[found]] == own[found]
            self._same[found] = place[found]

    def masses(self, ranges: Floats) -> Floats:
        """Sum the weights of the compatible opposing hands of each hand.

        Args:
            ranges: ``[opponent's hand]`` or ``[opponent's hand, range]``, weights in one or more ranges.

        Returns:
            The sums, ``[hand]`` or ``[hand, range]``.
        """
        by_card = self.holding @ ranges
        same = np.concatenate([ranges, np.zeros((1, *ranges.shape[1:]))])[self._same]
        total: Floats = ranges.sum(axis=0) - by_card[self._cards].sum(axis=1) + same
        return total
