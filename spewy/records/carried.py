"""What was read of a store for somebody who does not reach it: entries as they were then, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lockers import Reads
from lockers.codec import Array
from spewy.records.chunks import Kind
from spewy.records.keys import DROPPED_KEY, META, PAYOFF, SWEEP_KEY


class Carried:
    """Reads what was taken along of chunks; it can be pickled.

    Args:
        store: it is taken from.
        arrays: of which kinds, and the chunks' keys.
        payoffs: keys of chunks whose payoff matrices are.
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
        """What the store held.

        Raises:
            KeyError: it was not taken along, whether the store had it or not.
        """
        found = self._values[str(locker), key]
        return None if found is None else found.copy()

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """The same for several keys."""
        return [self.get(locker, key) for key in keys]
