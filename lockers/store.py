"""The protocols of a store, and `MemoryStore`, a store in memory.

Tests compare `MemoryStore` with the store on disk. `BaseTransaction` and the functions after it serve both stores.
"""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from lockers.codec import (
    VISITS,
    Array,
    decode,
    describe,
    encode,
    full_key,
    internal_key,
    locker_start,
    split_key,
)
from lockers.errors import DamagedLockerError, LockerError, ReadOnlyLockerError
from lockers.files import normalise

T = TypeVar("T")
Value: TypeAlias = bytes | Callable[[], Array]
"""An encoded array, or a function that returns the array (see `Transaction.put_later`)."""

_MAX_VISIT_ID = 2**63 - 1


class Transaction(Protocol):
    """A group of reads and writes; either all of its writes take effect or none.

    A transaction sees its own writes. It ends when the function that `Store.transact` runs returns; later use raises a
    `LockerError`.
    """

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a new copy of the array under a key; None if there is no such key."""
        ...

    def put(self, locker: str, key: bytes, array: Array) -> None:
        """Store an array under a key and replace any earlier array."""
        ...

    def put_later(self, locker: str, key: bytes, read: Callable[[], Array]) -> None:
        """Store the array that ``read`` returns; a store in memory keeps ``read`` instead of a copy of the array.

        ``read`` must return an equal array at each call, also after the transaction.
        """
        ...

    def delete(self, locker: str, key: bytes) -> bool:
        """Remove a key and its array; return whether the key existed."""
        ...

    def visits(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the id of the last visit; (0, 0) before the first visit."""
        ...

    def count_visit(self, key: bytes, visit_id: int) -> bool:
        """Count a visit of a key (one improvement of its arrays), and return whether it was counted.

        The ids of a key's visits are positive and increase. A visit with an id that is not greater than the last
        counted id is a repetition, and is not counted.
        """
        ...


class Reads(Protocol):
    """The methods of a store that read arrays."""

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a new copy of the last committed array under a key, with its checksum verified; None if absent."""
        ...

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """Return the result of `get` for each key; all arrays are from the same commit."""
        ...


class Store(Reads, Protocol):
    """Lockers with arrays under keys; `lockers.codec` defines valid names and keys."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The game and job of the lockers, as JSON values."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether the store refuses `transact`."""
        ...

    def keys(self, locker: str, prefix: bytes = b"") -> Iterator[bytes]:
        """Yield the keys of a locker that begin with a prefix, sorted.

        The caller and others may write to the store during the iteration. Each key that exists all the time is yielded
        once; keys that are added or deleted meanwhile may be missing.
        """
        ...

    def visits(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the id of the last visit, as of the last commit.

        Both numbers are 0 before the first visit.
        """
        ...

    def snapshot(self) -> AbstractContextManager[int]:
        """Let all reads of this thread see one commit while a ``with`` block runs; the block gets the commit's number.

        The block must not write. In some stores, writers in other threads wait until the block has ended.
        """
        ...

    def transact(self, body: Callable[[Transaction], T]) -> T:
        """Run ``body`` in one write transaction and return its result; an exception of ``body`` undoes all writes.

        A store may run ``body`` more than once, so ``body`` must change nothing outside of the transaction. It must not
        start another transaction. It may call ``store.get``, which reads the last commit.
        """
        ...

    def flush(self) -> None:
        """Wait until all commits are on the disk."""
        ...

    def compact(self) -> None:
        """Free the disk space of deleted and replaced arrays.

        Raises:
            LockerError: Another process has the store open.
        """
        ...

    def require_alone(self) -> None:
        """Raise a `LockerError` if another process has the store open."""
        ...

    def require_sound(self) -> None:
        """Check the page structure of the data file, but not the arrays.

        Callers check before they write much, because writing to damaged pages can end the process.

        Raises:
            DamagedLockerError: A page is damaged.
        """
        ...

    def check(self) -> list[str]:
        """Check all pages, keys and values; return a description of each defect, or an empty list if there is none."""
        ...

    def let_go(self) -> None:
        """Release the memory of a large data file's pages; they are read again when they are needed."""
        ...

    def size(self) -> int:
        """Return the size in bytes of the data file, or of the arrays in memory."""
        ...

    def close(self) -> None:
        """Close files and free memory; a second call does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class MemoryStore(Store):
    """A `Store` in the memory of one process; threads may share it.

    Args:
        manifest: JSON values that name the game and job of the lockers.
        read_only: Whether to refuse `transact`.
    """

    read_only: bool = False

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
        return self._manifest

    def get(self, locker: str, key: bytes) -> Array | None:
        return self._read(full_key(locker, key))

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        fulls = [full_key(locker, key) for key in keys]
        with self._lock:
            return [self._read(full) for full in fulls]

    def keys(self, locker: str, prefix: bytes = b"") -> Iterator[bytes]:
        start = locker_start(locker) + prefix
        with self._lock:
            self._require_open()
            fulls = sorted(full for full in self._values if full.startswith(start))
        return (split_key(full)[1] for full in fulls)

    def visits(self, key: bytes) -> tuple[int, int]:
        full = internal_key(VISITS, key)
        return read_visits(self._read(full), full)

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        with self._lock:
            self._require_open()
            yield self._commits

    def transact(self, body: Callable[[Transaction], T]) -> T:
        self._require_writable()
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
        self._require_writable()
        with NOT_NESTED.enter("a memory store"):
            self._require_open()

    def require_alone(self) -> None:
        """Do nothing, because no other process can use a store in memory."""
        self._require_open()

    def require_sound(self) -> None:
        """Do nothing, because a store in memory has no files."""
        self._require_open()

    def check(self) -> list[str]:
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

    def _require_writable(self) -> None:
        if self.read_only:
            raise ReadOnlyLockerError("a memory store: expected a writable store, found a read-only one")


class BaseTransaction(Transaction):
    """A transaction on disk or in memory; subclasses load, save and delete the array under a full key."""

    def __init__(self) -> None:
        self._ended = False

    def get(self, locker: str, key: bytes) -> Array | None:
        return self._load(self._running(full_key(locker, key)))

    def put(self, locker: str, key: bytes, array: Array) -> None:
        self._save(self._running(full_key(locker, key)), array)

    def put_later(self, locker: str, key: bytes, read: Callable[[], Array]) -> None:
        self.put(locker, key, read())

    def delete(self, locker: str, key: bytes) -> bool:
        return self._drop(self._running(full_key(locker, key)))

    def visits(self, key: bytes) -> tuple[int, int]:
        full = self._running(internal_key(VISITS, key))
        return read_visits(self._load(full), full)

    def count_visit(self, key: bytes, visit_id: int) -> bool:
        if visit_id > _MAX_VISIT_ID:
            raise LockerError(
                f"a visit of key {key.hex()}: expected an id of at most {_MAX_VISIT_ID}, found {visit_id}"
            )
        full = self._running(internal_key(VISITS, key))
        count, last = read_visits(self._load(full), full)
        if visit_id <= last:
            return False
        self._save(full, np.array([count + 1, visit_id], np.int64))
        return True

    def end(self) -> None:
        """End the transaction: every later use raises a `LockerError`."""
        self._ended = True

    def _running(self, full: bytes) -> bytes:
        if self._ended:
            raise LockerError(f"{describe(full)}: the transaction has ended and can no longer be used")
        return full

    @abc.abstractmethod
    def _load(self, full: bytes) -> Array | None: ...

    @abc.abstractmethod
    def _save(self, full: bytes, array: Array) -> None: ...

    @abc.abstractmethod
    def _drop(self, full: bytes) -> bool: ...


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


def read_visits(record: Array | None, full: bytes) -> tuple[int, int]:
    """Return the number of visits and the last visit's id from a record of two int64; (0, 0) without a record."""
    if record is None:
        return 0, 0
    if record.shape != (2,) or record.dtype != np.int64:
        raise DamagedLockerError(
            f"{describe(full)}: expected a visit record of two int64, found {record.dtype} {record.shape}"
        )
    visits, last = record.tolist()
    if not 1 <= visits <= last:
        raise DamagedLockerError(
            f"{describe(full)}: expected 1 <= visits <= last id, found {visits} visits, last id {last}"
        )
    return visits, last


def entry_findings(full: bytes, value: bytes | bytearray) -> list[str]:
    """Return a description of each defect of a full key and its value: locker name, header, checksum, visit record."""
    try:
        locker, _ = split_key(full)
        array = decode(bytearray(value), full)
        if locker == VISITS:
            read_visits(array, full)
    except LockerError as error:
        return [str(error)]
    return []


class NotNested(threading.local):
    """A guard that allows each thread one transaction at a time.

    A second transaction on the same store would wait for the first one for ever. A second transaction on another store
    could wait for a process that waits for the first transaction.
    """

    busy = False

    @contextmanager
    def enter(self, subject: str) -> Iterator[None]:
        """Refuse a second transaction of this thread while the ``with`` block runs; ``subject`` is for messages."""
        if self.busy:
            raise LockerError(
                f"{subject}: expected no transaction in this thread, but a transaction is running"
            )
        self.busy = True
        try:
            yield
        finally:
            self.busy = False


NOT_NESTED = NotNested()
