"""Computes from stored strategies both ranges at a board's chunks (`PlayDown`), exploitability, and values.

The weight of a hand in a range is its initial weight, times the frequency of each action that its player took on the
way to the chunk. The opponent's actions and the probabilities of cards are not included. Exploitability and values
(`Judge`, `walked_leaves`) are exact, over all boards and betting that can follow.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import cached_property

import numpy as np

from lockers import Reads
from solvers.game import Strategies
from solvers.measure import Exploitability, expected_value, exploitability
from solvers.reference.kernels import match, reach_down
from solvers.reference.walk import Walker
from solvers.stopping import Stopped, never
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.records.chunks import Chunks, Pair, known_leaves

Reader = Callable[[int, int, int], tuple[Floats, Floats] | None]
"""Function of a chunk's (round, board, entering line) that returns both players' regrets or strategy sums.

Each array is ``[slot, row]``; None stands for the uniform strategy.
"""


class PlayDown:
    """Computes and caches ranges at chunk roots; make a new object when strategies change.

    Args:
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
        """Return both ranges ``[line that enters the round, hand]`` at the roots of all chunks of a board."""
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
        """Compute player p's range ``[chance leaf, hand]`` from ``entering``, the range at the chunk's root.

        ``stored`` has the chunk's regrets or strategy sums; None stands for uniform strategies.
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


class Judge:
    """Measures the exploitability and the value of average strategies in the full game, without any abstraction.

    Args:
        threads: number of threads, which divide the boards among themselves.
    """

    def __init__(self, layout: Layout, threads: int) -> None:
        self._layout, self._threads = layout, threads

    @cached_property
    def _walker(self) -> Walker:
        return Walker(self._layout.live, self._threads)

    def exploitability(self, sums: Strategies, stopped: Stopped = never) -> Exploitability:
        return exploitability(self._walker, sums, stopped)

    def expected_values(self, sums: Strategies) -> tuple[float, float]:
        """Compute the chips per deal that each player wins under the average strategies.

        Each number is computed independently, so their sum shows rounding errors.
        """
        return expected_value(self._walker, sums), expected_value(self._walker, sums, 1)


def walked_leaves(layout: Layout, store: Reads, ranges: tuple[Floats, Floats], threads: int) -> Pair:
    """Compute each player's values in chips ``[chance leaf, hand]`` on a board under the stored average strategies.

    Args:
        layout: the board, as root of the layout, and everything that follows it.
        store: the store with the strategy sums. If later rounds were not saved, the store has the values of the chance
            leaves that lead to them.
        ranges: for each player ``[line that enters the board's round, hand]``.
    """
    known = known_leaves(layout, store, 0), known_leaves(layout, store, 1)
    with closing(Walker(with_ranges(layout.live, ranges), threads)) as walker:
        return walker.leaf_values(Chunks(layout, store).whole(), known)[0, 0]
