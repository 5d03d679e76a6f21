"""A store in memory that behaves like the store on disk; tests compare the two."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NoReturn, Self, TypeAlias

from lockers.codec import Array, decode, encode
from lockers.errors import LockerError, ReadOnlyLockerError
from lockers.keys import VISITS, full_key, internal_key, locker_start, split_key
from lockers.manifest import normalise
from lockers.store import T, Transaction
from lockers.transaction import NOT_NESTED, BaseTransaction, entry_findings, read_visits

Value: TypeAlias = bytes | Callable[[], Array]
"""An encoded array, or a function that returns the array (see `Transaction.put_later`)."""


class MemoryStore:
    """A `Store` in the memory of one process; threads may share it.

    Args:
        manifest: JSON values that name the game and job of the lockers.
        read_only: Whether to refuse `transact`.
    """

    def __init__(self, manifest: Mapping[str, Any] | None = None, *, read_only: bool = False) -> None:
        self.read_only = read_only
        self._manifest = normalise({} if manifest is None else manifest, "a memory store")
        # Encoded values make copies, errors and checksums the same as in a store on disk.
        self._values: dict[bytes, Value] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._commits = 0

    @property
    def manifest(self) -> Mapping[str, Any]:
        """JSON values that name the game and job of the lockers."""
        return self._manifest

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a new copy of the last committed array under a key; None if there is no such key."""
        return self._read(full_key(locker, key))

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """Return the result of `get` for each key; all arrays are from the same commit."""
        fulls = [full_key(locker, key) for key in keys]
        with self._lock:
            return [self._read(full) for full in fulls]

    def keys(self, locker: str, prefix: bytes = b"") -> Iterator[bytes]:
        """Yield the keys of a locker that begin with a prefix, sorted."""
        start = locker_start(locker) + prefix
        with self._lock:
            self._require_open()
            fulls = sorted(full for full in self._values if full.startswith(start))
        return (split_key(full)[1] for full in fulls)

    def visits(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the id of the last visit, as of the last commit.

        Both numbers are 0 before the first visit.
        """
        full = internal_key(VISITS, key)
        return read_visits(self._read(full), full)

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        """Let all reads of this thread see one commit while the ``with`` block runs; yield the number of the commit."""
        with self._lock:
            self._require_open()
            yield self._commits

    def transact(self, body: Callable[[Transaction], T]) -> T:
        """Run ``body`` in one write transaction and return its result; an exception undoes all writes."""
        if self.read_only:
            raise ReadOnlyLockerError("a memory store: expected a writable store, found a read-only one")
        with NOT_NESTED.enter("a memory store"), self._lock:
            self._require_open()
            transaction = _MemoryTransaction(self._values)
            try:
                answer = body(transaction)
            finally:
                transaction.end()
            for full, value in transaction.changes.items():
                if value is None:
                    self._values.pop(full, None)
                else:
                    self._values[full] = value
            self._commits += 1
            return answer

    def flush(self) -> None:
        """Do nothing, because the store is not on a disk."""
        self._require_open()

    def compact(self) -> None:
        """Do nothing, because the memory of deleted arrays is freed at once."""
        if self.read_only:
            raise ReadOnlyLockerError("a memory store: expected a writable store, found a read-only one")
        with NOT_NESTED.enter("a memory store"):
            self._require_open()

    def require_alone(self) -> None:
        """Do nothing, because no other process can use a store in memory."""
        self._require_open()

    def require_sound(self) -> None:
        """Do nothing, because a store in memory has no files."""
        self._require_open()

    def check(self) -> list[str]:
        """Check every key and value, and return a description of each defect; an empty list if there is none."""
        with self._lock:
            self._require_open()
            return [
                finding
                for full, value in self._values.items()
                for finding in entry_findings(full, _encoded(full, value))
            ]

    def let_go(self) -> None:
        """Do nothing, because the arrays have no file."""
        self._require_open()

    def size(self) -> int:
        """Return the size of all arrays with their headers in bytes."""
        with self._lock:
            self._require_open()
            return sum(len(_encoded(full, value)) for full, value in self._values.items())

    def close(self) -> None:
        """Delete all arrays and refuse later use."""
        with self._lock:
            self._closed = True
            self._values = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        # The changes that another process makes to a pickled copy would be lost.
        raise LockerError("a memory store: expected to stay in its process, found an attempt to pickle it")

    def _read(self, full: bytes) -> Array | None:
        with self._lock:
            self._require_open()
            value = self._values.get(full)
        return None if value is None else decode(bytearray(_encoded(full, value)), full)

    def _require_open(self) -> None:
        if self._closed:
            raise LockerError("a memory store: expected an open store, found a closed one")


class _MemoryTransaction(BaseTransaction):
    def __init__(self, values: Mapping[bytes, Value]) -> None:
        super().__init__()
        self._values = values
        self.changes: dict[bytes, Value | None] = {}

    def put_later(self, locker: str, key: bytes, read: Callable[[], Array]) -> None:
        self.changes[self._running(full_key(locker, key))] = read

    def _load(self, full: bytes) -> Array | None:
        value = self.changes[full] if full in self.changes else self._values.get(full)
        return None if value is None else decode(bytearray(_encoded(full, value)), full)

    def _save(self, full: bytes, array: Array) -> None:
        self.changes[full] = encode(array, full)

    def _drop(self, full: bytes) -> bool:
        present = full in self._values if full not in self.changes else self.changes[full] is not None
        self.changes[full] = None
        return present


def _encoded(full: bytes, value: Value) -> bytes:
    return value if isinstance(value, bytes) else encode(value(), full)
