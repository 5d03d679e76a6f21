"""Computes both ranges at a chunk's root from the initial ranges and the strategies above the chunk.

``range[hand] = initial[hand] · Π (frequencies of own actions on the way)``; the opponent's actions and the cards do not
enter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.reference.kernels import match, reach_down
from solvers.tree import Floats
from spewy.chunks.layout import Layout

Reader = Callable[[int, int, int], tuple[Floats, Floats] | None]
"""Maps (t, b, r) to regrets or sums ``[slot, row]`` of both players; None means the uniform strategy."""


class PlayDown:
    """Ranges at chunk roots; an instance caches them, so it is valid as long as the strategies do not change.

    Args:
        layout: layout of the chunks.
        read: reads the chunks' strategies.
        ranges: ranges at the layout's root, per player ``[hand]``; None: the initial ranges.
    """

    def __init__(self, layout: Layout, read: Reader, ranges: tuple[Floats, Floats] | None = None) -> None:
        self.layout = layout
        self.read = read
        self._ranges: dict[tuple[int, int], tuple[Floats, Floats]] = {}
        if ranges is not None:
            self._ranges[0, 0] = ranges[0][None], ranges[1][None]

    def ranges(self, t: int, b: int) -> tuple[Floats, Floats]:
        """Return both ranges on board b of round t, per player ``[root, hand]``."""
        if (t, b) not in self._ranges:
            self._ranges[t, b] = self._compute(t, b)
        return self._ranges[t, b]

    def _compute(self, t: int, b: int) -> tuple[Floats, Floats]:
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
        """Compute player p's range ``[chance leaf, hand]`` at the chance leaves of a chunk."""
        chunk, rows = self.layout.tree(t, r), self.layout.board(t, b).hands[p]
        arrays = chunk.forest.arrays
        source = np.zeros((chunk.forest.n_slots[p], rows.n_rows)) if stored is None else stored[p]
        strategy = np.empty_like(source)
        match(arrays, p, np.ascontiguousarray(source), strategy)
        reach = np.empty((chunk.forest.n_sequences(p), len(entering)))
        reach[0] = entering
        reach_down(arrays, p, strategy, rows.row, False, len(entering), reach)
        out: Floats = reach[arrays.sequence[p, chunk.forest.chance_leaves]]
        return out
