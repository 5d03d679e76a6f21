"""Two readers of lockers: a store with re-solved chunks in memory, and a copy of entries for other processes."""

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
    from solvers.state import ChunkStrategy


class PatchedReads:
    """Reads a store, and re-solved chunks of dropped rounds from memory.

    A board b of round t is numbered as in a `Layout`; round 0 is the first of the layout.

    Args:
        store: the store, which is never written.
    """

    def __init__(self, store: Reads) -> None:
        self._store = store
        self.first = first_dropped(store)
        """First dropped round of the game; None if no round was dropped."""
        self._values: dict[bytes, Array] = {}
        self._leaves: dict[bytes, Pair] = {}
        self._kept: dict[int, bool] = {}

    def put_leaves(self, layout: Layout, t: int, b: int, values: Pair) -> None:
        """Keep the values at all chance leaves on board b of round t in memory.

        ``values`` are ``[line, hand]`` for each player, with all lines that enter the next round.
        """
        hands = hands_on(layout, t, b)
        for r, chunk in enumerate(layout.betting[t].chunks):
            chunk_values = values[0][chunk.exits, : hands[0]], values[1][chunk.exits, : hands[1]]
            self._leaves[layout.key(t, b, r)] = chunk_values

    def leaves(self, t: int, key: bytes, n_exits: int, n_hands: tuple[int, int]) -> Pair | None:
        """Return both players' values ``[chance leaf, hand]`` in a chunk; None if they are unknown.

        Args:
            t: round of the game.
            key: key of the chunk.
            n_exits: number of chance leaves.
            n_hands: number of hands of each player.
        """
        if key in self._leaves:
            return self._leaves[key]
        if self._kept.get(t) is None:
            self._kept[t] = (self.first is None or t < self.first) and are_kept(self._store, t)
        return read_leaves(self._store, key, n_exits, n_hands) if self._kept[t] else None

    def put_board(self, layout: Layout, t: int, b: int, sums: ChunkStrategy) -> None:
        """Keep the strategy sums on board b of round t in memory.

        ``sums`` are ``[slot, row]`` for each player, with a slot for each action in the round.
        """
        for r in range(len(layout.betting[t].chunks)):
            self._values[layout.key(t, b, r)] = join(layout.take(sums, t, b, r))

    def chunk(self, key: bytes) -> tuple[Array | None, Pair | None]:
        """Return the strategy sums of a re-solved chunk and its values at chance leaves; None for what it lacks."""
        return self._values.get(key), self._leaves.get(key)

    def put_chunk(self, key: bytes, sums: Array, leaves: Pair) -> None:
        """Keep what `chunk` returned in memory."""
        self._values[key], self._leaves[key] = sums, leaves

    def keep_root(self, layout: Layout) -> bool:
        """Forget all chunks of a re-solved subgame but the one at its root; return whether this one is complete."""
        root = layout.key(0, 0, 0)
        for t, b in layout.every_board():
            for r in range(len(layout.betting[t].chunks)):
                key = layout.key(t, b, r)
                if key != root:
                    self._values.pop(key, None)
                    self._leaves.pop(key, None)
        sums, leaves = self.chunk(root)
        return sums is not None and (leaves is not None or not len(layout.tree(0, 0).exits))

    @property
    def nbytes(self) -> int:
        """Number of bytes of the re-solved chunks in memory."""
        leaves = (values.nbytes for pair in self._leaves.values() for values in pair)
        return sum(leaves) + sum(sums.nbytes for sums in self._values.values())

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return the array under a key, from memory if the key is that of a re-solved chunk; None if there is none."""
        return self.get_many(locker, [key])[0]

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """Return the arrays under several keys; None for a missing array."""
        if self.first is None or locker != Kind.SUMS:
            return self._store.get_many(locker, keys)
        kept = [key for key in keys if _round_of(key) < self.first]
        stored = dict(zip(kept, self._store.get_many(locker, kept), strict=True)) if kept else {}
        return [stored[key] if key in stored else self._values.get(key) for key in keys]


def _round_of(key: bytes) -> int:
    return int(key.partition(b".")[0])


class Snapshot:
    """A copy of some entries of a store, which can be pickled and sent to another process.

    Args:
        store: store to copy from.
        arrays: keys of the chunks to copy, by kind of array.
        payoffs: keys of the chunks whose payoff matrices are copied.
    """

    def __init__(
        self, store: Reads, arrays: Mapping[Kind, Iterable[bytes]], payoffs: Iterable[bytes]
    ) -> None:
        self._values: dict[tuple[str, bytes], Array | None] = {}
        for locker, keys in (*arrays.items(), (PAYOFF, payoffs), (META, (SWEEP_KEY, DROPPED_KEY))):
            unique_keys = list(dict.fromkeys(keys))
            values = store.get_many(locker, unique_keys)
            self._values.update(
                ((str(locker), key), array) for key, array in zip(unique_keys, values, strict=True)
            )

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return the array that the store had under a key; None if the store had no such array.

        Raises:
            KeyError: the key was not copied.
        """
        array = self._values[str(locker), key]
        return None if array is None else array.copy()

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """Return the arrays that the store had under several keys; None for a missing array."""
        return [self.get(locker, key) for key in keys]
