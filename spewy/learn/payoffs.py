"""Get the payoff matrices of the chunks below a chance leaf: stored by visits, estimated, or from average strategies.

A payoff is the net number of chips that player 0 wins in the whole hand.
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
    """Reads the payoff matrices that the last visits stored; estimates those of chunks that were never visited.

    Args:
        layout: boards and betting of the problem.
        store: the store with the payoff matrices.
        estimate: estimator of payoff matrices; None for all-in equity.

    Attributes:
        estimated: whether a payoff matrix was estimated since this object was made. Chunks that have neither decisions
            nor chance leaves do not count, because all-in equity gives their exact payoffs.
    """

    def __init__(self, layout: Layout, store: Reads, estimate: Payoffs | None = None) -> None:
        self._layout, self._store = layout, store
        self._estimate = estimate or NoMoreBetting(layout)
        self.estimated = False

    def __call__(self, t: int, b: int, r: int) -> Floats:
        """Read or estimate the payoffs of a chunk.

        Args:
            t: round of the chunk.
            b: number of the board.
            r: number of the betting line that enters the chunk.

        Returns:
            Payoffs ``[matrix, row of player 0, row of player 1]``: two matrices, for the regrets of player 0 and of
            player 1, or a single matrix for both.
        """
        stored = read_payoffs(self._layout, self._store, t, b, r)
        if stored is not None:
            return stored
        kind = self._layout.tree(t, r).forest.arrays.kind
        self.estimated |= bool(np.any((kind == DECISION) | (kind == CHANCE)))
        return self._estimate(t, b, r)


class AveragePayoffs:
    """Computes payoff matrices under the stored average strategies, recursively through all later rounds.

    Args:
        layout: boards and betting of the problem.
        store: the store with the average strategies, made by any engine.
        play_down: computes both ranges from the average strategies.
        tremble: fraction of the initial range that is added to each range, so that no row has weight 0.
    """

    def __init__(self, layout: Layout, store: Reads, play_down: PlayDown, tremble: float) -> None:
        self._layout, self._play_down, self._tremble = layout, play_down, tremble
        self._sums = Chunks(layout, store)

    def __call__(self, t: int, b: int, r: int) -> Floats:
        """Compute the payoffs of a chunk.

        Args:
            t: round of the chunk.
            b: number of the board.
            r: number of the betting line that enters the chunk.

        Returns:
            Payoffs ``[1, row of player 0, row of player 1]``.
        """
        ranges = [side[r] for side in self._play_down.ranges(t, b)]
        weighing = one_view(self._layout, t, b, ranges, self._tremble)
        chunk = build_chunk(self._layout, t, b, r, weighing, self)
        return root_payoffs(chunk, normalise(chunk, self._sums.get(t, b, r) or chunk.zeros()), 1)
