"""Play down: both ranges at a chunk's root, from the initial ranges and the stored strategies above it.

``range[hand] = initial[hand] · Π (own actions on the way)``; the opponent's actions and the cards do not enter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.reference.kernels import match, reach_down
from solvers.tree import Floats
from spewy.chunks.layout import Layout

Reader = Callable[[int, int, int], tuple[Floats, Floats] | None]
"""(t, b, r) → per player ``[slot, row]`` to be normalised (regrets or sums), or None: uniform."""


class PlayDown:
    """Ranges at chunk roots. What is read is kept, so one instance serves as long as strategies above stand still.

    Args:
        layout: of the chunks.
        read: their strategies.
        ranges: at the layout's root, per player ``[row's hand]``; None: the initial ones.
    """

    def __init__(self, layout: Layout, read: Reader, ranges: tuple[Floats, Floats] | None = None) -> None:
        self.layout = layout
        self.read = read
        self._ranges: dict[tuple[int, int], tuple[Floats, Floats]] = {}
        if ranges is not None:
            self._ranges[0, 0] = ranges[0][None], ranges[1][None]

    def ranges(self, t: int, b: int) -> tuple[Floats, Floats]:
        """Per player ``[root, row's hand]`` on board b of round t."""
        found = self._ranges.get((t, b))
        if found is None:
            found = self._ranges[t, b] = self._compute(t, b)
        return found

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
        """Player p's range ``[chance leaf, hand]`` when the chunk is left."""
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
