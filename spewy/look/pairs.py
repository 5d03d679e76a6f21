"""Pairs of hands on a board: which go together, and how often the first beats the second if all betting stops.

Two matrices ``[hand of player 0, hand of player 1]`` answer every question about one board at once:
``compatible`` is 1 where the hands share no card; ``lead`` is there the mean over all final boards of 1 where the first
hand wins and -1 where it loses, so that its equity is ``(1 + lead) / 2``. NumPy alone finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from buckets.rank_sets import board_strength
from solvers.forest import Floats
from spewy.chunks.problem import Ints
from spewy.game.gamefile import Game

_FLUSH_EVERY = 127
"""Wins that are counted in 8 bits, many times faster than in more."""


@dataclass(frozen=True)
class Pairs:
    """See the module."""

    compatible: Floats
    lead: Floats

    def seen_by(self, p: int) -> Pairs:
        """The same as ``[hand of player p, hand of the other]``, and from p's side."""
        return self if p == 0 else Pairs(self.compatible.T, -self.lead.T)


def pairs(game: Game, deck: Ints, board: Sequence[int], hands: tuple[Ints, Ints]) -> Pairs:
    """The pairs of two players' hands on a board.

    Args:
        game: the rules.
        deck: ``[hand of the deck, hole card]``.
        board: public cards.
        hands: per player, numbers of hands that the board leaves.
    """
    together = np.ones((len(hands[0]), len(hands[1])))
    for mine in deck[hands[0]].T:
        for theirs in deck[hands[1]].T:
            together[mine[:, None] == theirs] = 0.0
    held = np.zeros(len(deck), dtype=np.bool_)
    held[np.concatenate(hands)] = True  # np.union1d would load numpy.ma, which takes longer than a river
    every = np.flatnonzero(held)
    wins = _wins(game, deck[every], board)
    first, second = (np.searchsorted(every, mine) for mine in hands)
    left, missing = len(game.deck) - len(board) - 2 * game.num_hole_cards, _missing(game, board)
    ahead = wins[np.ix_(first, second)].astype(np.float64) - wins[np.ix_(second, first)].T
    return Pairs(together, together * ahead / comb(left, missing))


def _missing(game: Game, board: Sequence[int]) -> int:
    return sum(game.num_board_cards) - len(board)


def _wins(game: Game, hands: Ints, board: Sequence[int]) -> NDArray[np.int32]:
    """``[hand, other hand]``: on how many final boards that leave both the first is the stronger one."""
    n = len(hands)
    total, few = np.zeros((n, n), dtype=np.int32), np.zeros((n, n), dtype=np.int8)
    stronger = np.empty((n, n), dtype=np.bool_)
    strength = _strengths(game, hands, board)
    orders = _orders(strength)
    beatable = np.where(strength < 0, np.iinfo(orders.dtype).max, orders)
    for done, (order, beaten) in enumerate(zip(orders, beatable, strict=True), 1):
        np.greater(order[:, None], beaten, out=stronger)
        few += stronger.view(np.int8)
        if done % _FLUSH_EVERY == 0:
            total += few
            few[:] = 0
    return total + few


def _strengths(game: Game, hands: Ints, board: Sequence[int]) -> NDArray[np.int32]:
    """``[final board, hand]``, -1 where the board takes a card of the hand."""
    left = [card for card in game.deck.cards if card not in board]
    dealt = combinations(left, _missing(game, board))
    return np.array([board_strength(np.array([*board, *more], dtype=np.int64), hands) for more in dealt])


def _orders(strength: NDArray[np.int32]) -> NDArray[np.unsignedinteger]:
    """The same order of hands on each board in as few bits as it takes, 8 in hold'em, which compare the fastest."""
    order = np.argsort(strength, axis=1)
    levels = np.diff(np.take_along_axis(strength, order, axis=1), axis=1, prepend=strength.min()) > 0
    ranks = np.cumsum(levels, axis=1, dtype=np.uint16)
    out = np.empty(strength.shape, dtype=np.min_scalar_type(ranks.max(initial=0)))
    np.put_along_axis(out, order, ranks.astype(out.dtype), axis=1)
    return out
