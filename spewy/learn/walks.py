"""Exact values from the reference walk through all boards and betting that follow a board."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property

from lockers import Reads
from solvers.game import Strategies
from solvers.measure import Exploitability, expected_value, exploitability
from solvers.reference.walk import Walker
from solvers.stopping import Stopped, never
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.records.chunks import Chunks
from spewy.records.leaves import Pair, known_leaves


class Judge:
    """Measures average strategies in the real game, without any abstraction.

    Args:
        layout: layout of the game.
        threads: number of threads, which share the boards.
    """

    def __init__(self, layout: Layout, threads: int) -> None:
        self._layout, self._threads = layout, threads

    @cached_property
    def _walker(self) -> Walker:
        return Walker(self._layout.live, self._threads)

    def exploitability(self, sums: Strategies, stopped: Stopped = never) -> Exploitability:
        """Compute best responses to the average strategies.

        Raises:
            StoppedError: ``stopped()``, which is called every few boards, returned True.
        """
        return exploitability(self._walker, sums, stopped)

    def expected_values(self, sums: Strategies) -> tuple[float, float]:
        """Compute both players' chips per deal, each by a walk of its own."""
        return expected_value(self._walker, sums), expected_value(self._walker, sums, 1)


def walked_leaves(layout: Layout, store: Reads, ranges: tuple[Floats, Floats], threads: int) -> Pair:
    """Compute the values at the chance leaves of a layout's first board under the stored average strategies.

    Args:
        layout: the board and everything that follows it.
        store: the store with the strategies; for dropped rounds, with the values of the leaves that lead there.
        ranges: ranges at the board's root lines, per player ``[root, hand]``.
        threads: number of threads, which share the boards.

    Returns:
        Values per player, ``[chance leaf, hand]``.
    """
    known = known_leaves(layout, store, 0), known_leaves(layout, store, 1)
    with closing(Walker(with_ranges(layout.live, ranges), threads)) as walker:
        return walker.leaf_values(Chunks(layout, store).whole(), known)[0, 0]
