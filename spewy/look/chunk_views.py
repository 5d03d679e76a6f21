"""The chunks of a folder as they are looked at: each from one read, both ranges played down by those before it.

``range[hand] = initial[hand] · Π (own actions on the way)``. Boards are those that were asked for, whichever of those
that are the same up to suits was solved.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from buckets.cards import blocked
from solvers.tree import Floats
from spewy.chunks.problem import Ints
from spewy.game.nodes import entry_line
from spewy.look.chunk_view import ChunkView, reaches
from spewy.look.pairs import Pairs, pairs
from spewy.records.chunk_policy import ChunkPolicy
from spewy.records.leaves import Pair
from spewy.records.policy import ChunkPlay

Cards = tuple[int, ...]
Leaves = Callable[[str, Cards, ChunkPlay], Pair]
"""What the chance leaves of the chunk that a line enters are worth, per player ``[exit, hand of the solved board]``."""

KEPT, KEPT_BOARDS = 128, 4
"""Chunks whose play and ranges are kept, and boards whose pairs of hands are, some megabytes each."""


class ChunkViews:
    """The chunks of a store.

    Args:
        policy: what is played.
        leaves: what going on is worth.
    """

    def __init__(self, policy: ChunkPolicy, leaves: Leaves) -> None:
        self._leaves, self._problem = leaves, policy.problem
        self.play = lru_cache(KEPT)(policy.chunk)
        self.ranges = lru_cache(KEPT)(self._ranges)
        self.hands = lru_cache(KEPT)(self._hands)
        self.pairs = lru_cache(KEPT_BOARDS)(self._pairs)

    def of(self, line: str, cards: Cards, *, values: bool = True) -> ChunkView:
        """The chunk that a line enters on a board, the root's cards first; without ``values`` EVs are NaN."""
        play, ranges, config = self.play(line, cards), self.ranges(line, cards), self._problem.tree.config
        if not values:
            return ChunkView(play, ranges, config)
        first, second = self._leaves(line, cards, play)
        assert play.solved is not None
        leaves = first[:, play.solved.rows[0]], second[:, play.solved.rows[1]]
        return ChunkView(play, ranges, config, leaves, self.pairs(cards))

    def _ranges(self, line: str, cards: Cards) -> tuple[Floats, Floats]:
        """Per player ``[hand]`` where a line enters a chunk, which need not be there."""
        hands = self.hands(cards)
        if not line:
            return self._problem.ranges[0][hands[0]], self._problem.ranges[1][hands[1]]
        sizes = np.cumsum(self._problem.game.num_board_cards)
        before, t = entry_line(line[:-1]), self._problem.first_round + line.count("/")
        board = cards[: sizes[t - 1]]
        left = reaches(self.play(before, board), self.ranges(before, board))[line[:-1]]
        above = self.hands(board)
        first, second = (left[p][np.searchsorted(above[p], hands[p])] for p in (0, 1))
        return first, second

    def _hands(self, cards: Cards) -> tuple[Ints, Ints]:
        """Per player the numbers of hands that a board leaves, ascending."""
        free = ~blocked(self._problem.hands, cards)
        first, second = (np.flatnonzero(free & (weights > 0)) for weights in self._problem.ranges)
        return first, second

    def _pairs(self, cards: Cards) -> Pairs:
        return pairs(self._problem.game, self._problem.hands, cards, self.hands(cards))
