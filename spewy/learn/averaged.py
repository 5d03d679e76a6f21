"""Payoff matrices of chunks as their average strategies make them, worked out from the last round up."""

from __future__ import annotations

from lockers import Reads
from solvers.matrix.chunk import normalise
from solvers.tree import Floats
from spewy.chunks.layout import Layout
from spewy.learn.leaves import build_chunk, one_view, root_payoffs
from spewy.learn.playdown import PlayDown
from spewy.records.chunks import Chunks


class Averaged:
    """What going on is worth under the stored average strategies, whichever engine has left them.

    Args:
        layout: of the chunks.
        store: their lockers.
        play_down: both ranges, by the same strategies.
        tremble: as in the job.
    """

    def __init__(self, layout: Layout, store: Reads, play_down: PlayDown, tremble: float) -> None:
        self._layout, self._play_down, self._tremble = layout, play_down, tremble
        self._sums = Chunks(layout, store)

    def __call__(self, t: int, b: int, r: int) -> Floats:
        """One view's payoff matrix ``[view, row of player 0, row of player 1]`` of chunk (t, b, r)."""
        ranges = [side[r] for side in self._play_down.ranges(t, b)]
        weighing = one_view(self._layout, t, b, ranges, self._tremble)
        chunk = build_chunk(self._layout, t, b, r, weighing, self)
        return root_payoffs(chunk, normalise(chunk, self._sums.get(t, b, r) or chunk.zeros()), 1)
