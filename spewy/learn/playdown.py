"""Compute both ranges at a chunk's root from the initial ranges and the strategies of earlier rounds.

The weight of a hand is its initial weight, times the frequency of each action that its player took on the way to the
chunk. The opponent's actions and the probabilities of cards are not included.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.reference.kernels import match, reach_down
from solvers.tree import Floats
from spewy.chunks.layout import Layout

Reader = Callable[[int, int, int], tuple[Floats, Floats] | None]
"""Function of a chunk's (round, board, entering line) that returns both players' regrets or strategy sums.

Each array is ``[slot, row]``; None stands for the uniform strategy.
"""


class PlayDown:
    """Computes and caches ranges at chunk roots; make a new object when strategies change.

    Args:
        layout: boards and betting of the problem.
        read: reads the regrets or strategy sums of a chunk.
        ranges: ranges at the layout's root, one ``[hand]`` for each player; None for the initial ranges.
    """

    def __init__(self, layout: Layout, read: Reader, ranges: tuple[Floats, Floats] | None = None) -> None:
        self.layout = layout
        self.read = read
        self._ranges: dict[tuple[int, int], tuple[Floats, Floats]] = {}
        if ranges is not None:
            self._ranges[0, 0] = ranges[0][None], ranges[1][None]

    def ranges(self, t: int, b: int) -> tuple[Floats, Floats]:
        """Return both ranges at the roots of all chunks on board b of round t.

        Returns:
            For each player an array ``[line, hand]``, with a row for each betting line that enters the round.
        """
        if (t, b) not in self._ranges:
            self._ranges[t, b] = self._compute(t, b)
        return self._ranges[t, b]

    def _compute(self, t: int, b: int) -> tuple[Floats, Floats]:
        """Compute the ranges on a board from the ranges on the board that precedes it in the previous round."""
        layout, board = self.layout, self.layout.board(t, b)
        if t == 0:
            return board.hands[0].weight[None, :].copy(), board.hands[1].weight[None, :].copy()
        above = self.ranges(t - 1, board.parent)
        image = layout.image(t - 1, board.parent, board.entry)
        n_roots = layout.betting[t].forest.n_roots
        out = [np.zeros((n_roots, len(board.hands[p].numbers))) for p in (0, 1)]
        for r, chunk in enumerate(layout.betting[t - 1].chunks):
            if not len(chunk.exits):
                continue
            stored = self.read(t - 1, board.parent, r)
            for p in (0, 1):
                leaving = self._leave(t - 1, board.parent, r, p, above[p][r], stored)
                stays = image[p] >= 0
                out[p][np.ix_(chunk.exits, image[p][stays])] = leaving[:, stays]
        return out[0], out[1]

    def _leave(
        self, t: int, b: int, r: int, p: int, entering: Floats, stored: tuple[Floats, Floats] | None
    ) -> Floats:
        """Compute player p's range at the chance leaves of a chunk.

        Args:
            t: round of the chunk.
            b: number of the board.
            r: number of the betting line that enters the chunk.
            p: the player.
            entering: the player's range ``[hand]`` at the chunk's root.
            stored: both players' regrets or strategy sums in the chunk; None for the uniform strategy.

        Returns:
            Ranges ``[chance leaf, hand]``.
        """
        chunk, rows = self.layout.tree(t, r), self.layout.board(t, b).hands[p]
        arrays = chunk.forest.arrays
        weights = np.zeros((chunk.forest.n_slots[p], rows.n_rows)) if stored is None else stored[p]
        strategy = np.empty_like(weights)
        match(arrays, p, np.ascontiguousarray(weights), strategy)
        reach = np.empty((chunk.forest.n_sequences(p), len(entering)))
        reach[0] = entering
        reach_down(arrays, p, strategy, rows.row, False, len(entering), reach)
        out: Floats = reach[arrays.sequence[p, chunk.forest.chance_leaves]]
        return out
