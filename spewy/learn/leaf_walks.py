"""What going on is worth at the chance leaves of a board, by walks through all that follows it."""

from __future__ import annotations

from contextlib import closing

from lockers import Reads
from solvers.reference.walk import Walker
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.chunks.live_game import with_ranges
from spewy.records.chunks import Chunks
from spewy.records.leaves import Pair, known_leaves


def walked_leaves(layout: Layout, store: Reads, ranges: tuple[Floats, Floats], threads: int) -> Pair:
    """Per player ``[chance leaf, hand]`` on the layout's first board, in which average strategies are played.

    Args:
        layout: that board and all that follows it.
        store: strategies; of dropped rounds what the leaves that lead there are worth.
        ranges: at the board's root lines, per player ``[root, hand]``.
        threads: that share boards.
    """
    known = known_leaves(layout, store, 0), known_leaves(layout, store, 1)
    with closing(Walker(with_ranges(layout.live, ranges), threads)) as walker:
        return walker.leaf_values(Chunks(layout, store).whole(), known)[0, 0]
