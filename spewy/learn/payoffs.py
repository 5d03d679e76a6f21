"""Payoff matrices of the chunks below a chunk's leaves, from stored visits, estimates or average strategies.

Each source is a `Payoffs`: (t, b, r) → ``[view, row of player 0, row of player 1]``, net chips of player 0 in the whole
hand.
"""

from __future__ import annotations

import numpy as np

from lockers import Reads
from solvers.matrix.chunk import normalise
from solvers.tree import CHANCE, DECISION, Floats
from spewy.chunks.layout import Layout
from spewy.learn.chunk_matrices import Payoffs, build_chunk, one_view, root_payoffs
from spewy.learn.estimates import NoMoreBetting
from spewy.learn.playdown import PlayDown
from spewy.records.chunks import Chunks, read_payoffs


class StoredPayoffs:
    """Payoff matrices of the last visits; estimates for chunks that were never visited.

    Args:
        layout: layout of the chunks.
        store: the store with their payoff matrices.
        estimate: the estimate; None: no more betting.

    Attributes:
        estimated: whether a matrix was asked for whose chunk has betting or cards that no visit has covered.
    """

    def __init__(self, layout: Layout, store: Reads, estimate: Payoffs | None = None) -> None:
        self._layout, self._store = layout, store
        self._estimate = estimate or NoMoreBetting(layout)
        self.estimated = False

    def __call__(self, t: int, b: int, r: int) -> Floats:
        """Return the payoff matrices of chunk (t, b, r)."""
        stored = read_payoffs(self._layout, self._store, t, b, r)
        if stored is not None:
            return stored
        kind = self._layout.tree(t, r).forest.arrays.kind
        self.estimated |= bool(np.any((kind == DECISION) | (kind == CHANCE)))
        return self._estimate(t, b, r)


class AveragePayoffs:
    """Payoff matrices under the stored average strategies, computed from the last round up.

    Args:
        layout: layout of the chunks.
        store: the store with their average strategies, whichever engine made them.
        play_down: both ranges by the same strategies.
        tremble: share of the initial range that keeps every row alive, as in the job.
    """

    def __init__(self, layout: Layout, store: Reads, play_down: PlayDown, tremble: float) -> None:
        self._layout, self._play_down, self._tremble = layout, play_down, tremble
        self._sums = Chunks(layout, store)

    def __call__(self, t: int, b: int, r: int) -> Floats:
        """Return the payoff matrix of chunk (t, b, r), which serves both players."""
        ranges = [side[r] for side in self._play_down.ranges(t, b)]
        weighing = one_view(self._layout, t, b, ranges, self._tremble)
        chunk = build_chunk(self._layout, t, b, r, weighing, self)
        return root_payoffs(chunk, normalise(chunk, self._sums.get(t, b, r) or chunk.zeros()), 1)
