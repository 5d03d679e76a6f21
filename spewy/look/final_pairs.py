"""Compare both players' hands on a final board: sums over pairs of hands without a matrix of all pairs.

Hands that share a card are subtracted as in `spewy.look.card_sums`. Sorted by strength, the weaker and the stronger
hands are a first and a last part, so differences of running sums give the totals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from buckets.cards.rank_sets import board_strength
from buckets.types import Ints
from solvers.tree import Floats
from spewy.look.card_sums import CardSums


@dataclass(frozen=True)
class _Side:
    """Places of a player's hands among the opponent's hands, which are sorted by strength and by card.

    Attributes:
        order: ``[opponent's hand]``, the opponent's hands by strength, the weakest first.
        weaker, not_stronger: ``[hand]``, number of the opponent's hands that the hand beats, and that it beats or ties.
        holders: ``[place]``, the opponent's hands that hold the first card, by strength, then those of the next card.
        first, low, high, end: ``[hand, hole card]``, places in ``holders``: where the hands with the card begin, where
            the hands that tie with the player's hand begin and end, and where the hands with the card end.
    """

    order: Ints
    weaker: Ints
    not_stronger: Ints
    holders: Ints
    first: Ints
    low: Ints
    high: Ints
    end: Ints


class FinalPairs:
    """Sums over all pairs of both players' compatible hands on a final board, in the terms of `spewy.look.pairs.Pairs`.

    Args:
        deck: ``[hand, hole card]``, the cards of all hands of the deck.
        board: all public cards of the game.
        hands: per player, numbers in ``deck`` of the hands that the board does not block, ascending.
    """

    has_leads = True

    def __init__(self, deck: Ints, board: Sequence[int], hands: tuple[Ints, Ints]) -> None:
        strength = board_strength(np.array(board, dtype=np.int64), deck)
        levels = np.searchsorted(np.sort(strength), strength)  # equal for hands of equal strength
        self._sides = tuple(_side(deck, levels, hands[p], hands[1 - p]) for p in (0, 1))
        self._sums = tuple(CardSums(deck, hands[p], hands[1 - p]) for p in (0, 1))

    def masses(self, p: int, ranges: Floats) -> Floats:
        """Sum the weights of the opponent's hands that are compatible with each hand of player p.

        Args:
            p: the player.
            ranges: ``[opponent's hand]`` or ``[opponent's hand, range]``, weights in one or more ranges.
        """
        return self._sums[p].masses(ranges)

    def leads(self, p: int, ranges: Floats) -> Floats:
        """Sum, for each hand of player p, the weights of the opponent's hands that it beats minus those that beat it.

        Args:
            p: the player.
            ranges: ``[opponent's hand]`` or ``[opponent's hand, range]``, weights in one or more ranges.
        """
        side = self._sides[p]
        total, by_card = _running(ranges[side.order]), _running(ranges[side.holders])
        beaten = total[side.weaker] - (by_card[side.low] - by_card[side.first]).sum(axis=1)
        lost: Floats = (
            total[-1] - total[side.not_stronger] - (by_card[side.end] - by_card[side.high]).sum(axis=1)
        )
        return np.asarray(beaten - lost)


def _side(deck: Ints, levels: Ints, own: Ints, other: Ints) -> _Side:
    """Find where each hand of a player stands among the opponent's hands.

    Args:
        deck: ``[hand, hole card]``.
        levels: ``[hand]``, numbers below the number of hands that are larger for stronger hands.
        own: numbers in ``deck`` of the player's hands.
        other: numbers in ``deck`` of the opponent's hands.
    """
    order = np.argsort(levels[other], kind="stable")
    weaker, not_stronger = (
        np.searchsorted(levels[other][order], levels[own], end) for end in ("left", "right")
    )
    # One number for card and level sorts the opponent's hands by the cards that they hold, and then by strength.
    step = len(deck) + 1
    keys = (deck[other] * step + levels[other][:, None]).ravel()
    sorting = np.argsort(keys, kind="stable")
    holders, keys = sorting // deck.shape[1], keys[sorting]
    cards, level = deck[own] * step, levels[own][:, None]
    return _Side(
        order,
        weaker,
        not_stronger,
        holders,
        np.searchsorted(keys, cards),
        np.searchsorted(keys, cards + level),
        np.searchsorted(keys, cards + level, "right"),
        np.searchsorted(keys, cards + step),
    )


def _running(values: Floats) -> Floats:
    """Return the sums of the first 0, 1, 2, … entries along the first axis."""
    out = np.zeros((len(values) + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=out[1:])
    return out
