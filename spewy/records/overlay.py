"""A store of dropped rounds, with the sums of chunks that were solved again laid over it; nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lockers import Reads
from lockers.codec import Array
from spewy.chunks.layout import Layout
from spewy.records.chunks import Kind, join
from spewy.records.leaves import Pair, are_kept, hands_on, read_leaves
from spewy.records.progress import first_dropped

if TYPE_CHECKING:
    from solvers.matrix.chunk import ChunkStrategy


class Overlay:
    """Reads a store; of dropped rounds what was put here."""

    def __init__(self, store: Reads) -> None:
        self._store = store
        self.first = first_dropped(store)
        """The first dropped round of the game; None: nothing was dropped."""
        self._values: dict[bytes, Array] = {}
        self._leaves: dict[bytes, Pair] = {}
        self._kept: dict[int, bool] = {}

    def put_leaves(self, layout: Layout, t: int, b: int, values: Pair) -> None:
        """Keep what the chance leaves of board (t, b) are worth, per player ``[root of the next round, hand]``."""
        hands = hands_on(layout, t, b)
        for r, chunk in enumerate(layout.betting[t].chunks):
            mine = values[0][chunk.exits, : hands[0]], values[1][chunk.exits, : hands[1]]
            self._leaves[layout.key(t, b, r)] = mine

    def leaves(self, t: int, key: bytes, n_exits: int, n_hands: tuple[int, int]) -> Pair | None:
        """What the chance leaves of a chunk of round t of the game are worth; None: nobody has found out."""
        if key in self._leaves:
            return self._leaves[key]
        if self._kept.get(t) is None:
            self._kept[t] = (self.first is None or t < self.first) and are_kept(self._store, t)
        return read_leaves(self._store, key, n_exits, n_hands) if self._kept[t] else None

    def put_board(self, layout: Layout, t: int, b: int, sums: ChunkStrategy) -> None:
        """Lay the sums ``[slot of the round, row]`` of board (t, b) over the store."""
        for r in range(len(layout.betting[t].chunks)):
            self._values[layout.key(t, b, r)] = join(layout.take(sums, t, b, r))

    def get(self, locker: str, key: bytes) -> Array | None:
        """What the store holds, or what was put in its place."""
        return self.get_many(locker, [key])[0]

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """The same for several keys."""
        if self.first is None or locker != Kind.SUMS:
            return self._store.get_many(locker, keys)
        kept = [key for key in keys if _round_of(key) < self.first]
        found = dict(zip(kept, self._store.get_many(locker, kept), strict=True)) if kept else {}
        return [found[key] if key in found else self._values.get(key) for key in keys]


def _round_of(key: bytes) -> int:
    return int(key.partition(b".")[0])
