"""Reading what a sweep has left of each chunk: it is there, or the lockers are damaged.

A key that a broken page hides looks like one that was never written. But every sweep visits every chunk.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lockers import Reads
from solvers.chunk import ChunkStrategy
from spewy.errors import InputError
from spewy.solve.dropped import first_dropped
from spewy.solve.keys import META, SWEEP_KEY
from spewy.solve.layout import Layout
from spewy.solve.visit import split


def saved_sweeps(store: Reads) -> int:
    """Finished sweeps that a store holds."""
    array = store.get(META, SWEEP_KEY)
    return 0 if array is None else int(array)


class StoredChunks:
    """The arrays of one locker by chunk, per player ``[slot, row]``.

    None is what no sweep has left yet, what was dropped, and what has no decision.
    """

    def __init__(self, layout: Layout, store: Reads, locker: str) -> None:
        self._layout, self._store, self._locker = layout, store, locker
        first = first_dropped(store)
        present = layout.problem.game.num_rounds if first is None else first
        self._present = present if saved_sweeps(store) else 0  # rounds of the game

    def get(self, t: int, b: int, r: int) -> ChunkStrategy | None:
        """What is stored for a chunk.

        Raises:
            InputError: nothing is, but a sweep was finished.
        """
        return self.get_many(t, [(b, r)])[0]

    def get_many(self, t: int, places: Sequence[tuple[int, int]]) -> list[ChunkStrategy | None]:
        """The same for several chunks (t, b, r) of one round."""
        keys = [self._layout.key(t, b, r) for b, r in places]
        found = self._store.get_many(self._locker, keys)
        return [self._split(t, b, r, array) for (b, r), array in zip(places, found, strict=True)]

    def _split(self, t: int, b: int, r: int, array: np.ndarray | None) -> ChunkStrategy | None:
        slots, rows = self._layout.tree(t, r).forest.n_slots, self._layout.n_rows(t, b)
        size = slots[0] * rows[0] + slots[1] * rows[1]
        if array is None and (not size or self._layout.boards[t].round >= self._present):
            return None
        if array is None or array.size != size:
            found = "none" if array is None else f"{array.size:,}"
            raise InputError(
                f"locker {self._locker!r}, key {self._layout.key(t, b, r).decode()}: expected the {size:,} numbers "
                f"that every finished sweep leaves, found {found}: the lockers are damaged, or of an earlier version "
                "that gave rows to hands of hardly any weight; spewy solve --again begins from nothing"
            )
        return split(self._layout, t, b, r, array)
