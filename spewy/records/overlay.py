"""A store of dropped rounds, with the sums of chunks that were solved again laid over it; nothing is written."""

from __future__ import annotations

from collections.abc import Sequence

from lockers import Reads
from lockers.codec import Array
from solvers.chunk import ChunkStrategy
from spewy.chunks.layout import Layout
from spewy.records.chunks import Kind, join
from spewy.records.progress import first_dropped


class Overlay:
    """Reads a store; of dropped rounds what was put here."""

    def __init__(self, store: Reads) -> None:
        self._store = store
        self.first = first_dropped(store)
        """The first dropped round of the game; None: nothing was dropped."""
        self._values: dict[bytes, Array] = {}

    def put(self, layout: Layout, t: int, b: int, r: int, sums: ChunkStrategy) -> None:
        """Lay a chunk's sums ``[slot, row]`` over the store."""
        self._values[layout.key(t, b, r)] = join(sums)

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
