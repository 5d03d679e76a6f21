"""What is read of a shard at once: the state that one commit left, whatever is written meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

import lmdb

LmdbTransaction: TypeAlias = "lmdb.Transaction[memoryview]"


class Snapshot(Protocol):
    """Entries under full keys, as one commit left them."""

    @property
    def entries(self) -> int:
        """How many there are."""
        ...

    def get(self, full: bytes) -> bytearray | None:
        """Return a copy of a value, or None."""
        ...

    def keys(self, start: bytes) -> Iterator[bytes]:
        """Yield the keys from ``start`` on, in order."""
        ...

    def items(self) -> Iterator[tuple[bytes, bytearray]]:
        """Yield all keys and copies of their values, in order."""
        ...


class LmdbSnapshot:
    """A `Snapshot` by LMDB, which keeps the pages of a running transaction from being used again.

    LMDB trusts its pages, and finds nothing where one is not what it should be: ``require_absent`` is asked then.
    """

    def __init__(
        self, transaction: LmdbTransaction, require_absent: Callable[[bytes], None] | None = None
    ) -> None:
        self._transaction, self._require_absent = transaction, require_absent

    @property
    def entries(self) -> int:
        """How many entries there are."""
        return self._transaction.stat()["entries"]

    def get(self, full: bytes) -> bytearray | None:
        """Return a copy of a value, or None."""
        # Checksums are verified on the copy: a snapshot that is held for less time, and no view into a map
        # that may move.
        value = self._transaction.get(full)
        if value is None and self._require_absent is not None:
            self._require_absent(full)
        return None if value is None else bytearray(value)

    def keys(self, start: bytes) -> Iterator[bytes]:
        """Yield the keys from ``start`` on, in order."""
        with self._transaction.cursor() as cursor:
            more = cursor.set_range(start)
            while more:
                yield bytes(cursor.key())
                more = cursor.next()

    def items(self) -> Iterator[tuple[bytes, bytearray]]:
        """Yield all keys and copies of their values, in order."""
        with self._transaction.cursor() as cursor:
            for full, value in cursor:
                yield bytes(full), bytearray(value)
