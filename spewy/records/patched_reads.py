"""Read a store with an overlay of chunks that were re-solved in memory, and snapshot a store for other processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lockers import Reads
from lockers.codec import Array
from spewy.chunks.layout import Layout
from spewy.records.chunks import Kind, join
from spewy.records.keys import DROPPED_KEY, META, PAYOFF, SWEEP_KEY
from spewy.records.leaves import Pair, are_kept, hands_on, read_leaves
from spewy.records.progress import first_dropped

if TYPE_CHECKING:
    from solvers.matrix.chunk import ChunkStrategy


class PatchedReads:
    """Reads a store; in dropped rounds, reads strategies and chance-leaf values from an overlay in memory."""

    def __init__(self, store: Reads) -> None:
        self._store = store
        self.first = first_dropped(store)
        """First dropped round of the game, or None."""
        self._values: dict[bytes, Array] = {}
        self._leaves: dict[bytes, Pair] = {}
        self._kept: dict[int, bool] = {}

    def put_leaves(self, layout: Layout, t: int, b: int, values: Pair) -> None:
        """Overlay the chance-leaf values of board (t, b), per player ``[root of the next round, hand]``."""
        hands = hands_on(layout, t, b)
        for r, chunk in enumerate(layout.betting[t].chunks):
            mine = values[0][chunk.exits, : hands[0]], values[1][chunk.exits, : hands[1]]
            self._leaves[layout.key(t, b, r)] = mine

    def leaves(self, t: int, key: bytes, n_exits: int, n_hands: tuple[int, int]) -> Pair | None:
        """Values of the chance leaves of a chunk of round t of the game; None if they are unknown."""
        if key in self._leaves:
            return self._leaves[key]
        if self._kept.get(t) is None:
            self._kept[t] = (self.first is None or t < self.first) and are_kept(self._store, t)
        return read_leaves(self._store, key, n_exits, n_hands) if self._kept[t] else None

    def put_board(self, layout: Layout, t: int, b: int, sums: ChunkStrategy) -> None:
        """Overlay the sums ``[slot of the round, row]`` of board (t, b)."""
        for r in range(len(layout.betting[t].chunks)):
            self._values[layout.key(t, b, r)] = join(layout.take(sums, t, b, r))

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return the overlay's entry, or else the store's."""
        return self.get_many(locker, [key])[0]

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """The entries under several keys, as `get`."""
        if self.first is None or locker != Kind.SUMS:
            return self._store.get_many(locker, keys)
        kept = [key for key in keys if _round_of(key) < self.first]
        found = dict(zip(kept, self._store.get_many(locker, kept), strict=True)) if kept else {}
        return [found[key] if key in found else self._values.get(key) for key in keys]


def _round_of(key: bytes) -> int:
    return int(key.partition(b".")[0])


class Snapshot:
    """Entries of a store at the time of the snapshot; it can be pickled.

    Args:
        store: store to copy from.
        arrays: by kind, keys of the chunks whose arrays are copied.
        payoffs: keys of the chunks whose payoff matrices are copied.
    """

    def __init__(
        self, store: Reads, arrays: Mapping[Kind, Iterable[bytes]], payoffs: Iterable[bytes]
    ) -> None:
        self._values: dict[tuple[str, bytes], Array | None] = {}
        for locker, keys in (*arrays.items(), (PAYOFF, payoffs), (META, (SWEEP_KEY, DROPPED_KEY))):
            mine = list(dict.fromkeys(keys))
            found = store.get_many(locker, mine)
            self._values.update(((str(locker), key), array) for key, array in zip(mine, found, strict=True))

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return the entry at the time of the snapshot; None if the store had none.

        Raises:
            KeyError: the entry is not in the snapshot.
        """
        found = self._values[str(locker), key]
        return None if found is None else found.copy()

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """The entries under several keys, as `get`."""
        return [self.get(locker, key) for key in keys]
