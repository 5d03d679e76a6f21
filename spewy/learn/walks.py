"""Compute exploitability and expected values exactly, over all boards and betting that can follow a board."""

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
    """Measures the exploitability and the value of average strategies in the full game, without any abstraction.

    Args:
        layout: boards and betting of the game.
        threads: number of threads, which divide the boards among themselves.
    """

    def __init__(self, layout: Layout, threads: int) -> None:
        self._layout, self._threads = layout, threads

    @cached_property
    def _walker(self) -> Walker:
        return Walker(self._layout.live, self._threads)

    def exploitability(self, sums: Strategies, stopped: Stopped = never) -> Exploitability:
        """Measure exploitability by best responses to the average strategies.

        Args:
            sums: strategy sums of both players.
            stopped: called every few boards, to ask whether to give up.

        Raises:
            StoppedError: ``stopped()`` returned True.
        """
        return exploitability(self._walker, sums, stopped)

    def expected_values(self, sums: Strategies) -> tuple[float, float]:
        """Compute the chips per deal that each player wins under the average strategies.

        Each number is computed independently, so their sum shows rounding errors.
        """
        return expected_value(self._walker, sums), expected_value(self._walker, sums, 1)


def walked_leaves(layout: Layout, store: Reads, ranges: tuple[Floats, Floats], threads: int) -> Pair:
    """Compute the hands' values at the chance leaves of a board's chunks under the stored average strategies.

    Args:
        layout: the board, as root of the layout, and everything that follows it.
        store: the store with the strategy sums. If later rounds were not saved, the store has the values of the chance
            leaves that lead to them.
        ranges: for each player ``[line, hand]``, ranges for each betting line that enters the board's round.
        threads: number of threads, which divide the boards among themselves.

    Returns:
        Counterfactual values in chips, for each player ``[chance leaf, hand]``.
    """
    known = known_leaves(layout, store, 0), known_leaves(layout, store, 1)
    with closing(Walker(with_ranges(layout.live, ranges), threads)) as walker:
        return walker.leaf_values(Chunks(layout, store).whole(), known)[0, 0]
