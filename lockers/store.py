"""What every store can do, on disk or in memory: the protocols that other packages are written against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from lockers.codec import Array

T = TypeVar("T")


class Transaction(Protocol):
    """Reads and writes that happen together or not at all, within one shard part (see `lockers.names`).

    In a store made with a single shard a transaction may touch every key.

    A transaction sees its own writes. It ends with the function it was given to; a later use is a
    `LockerError`.
    """

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a fresh copy of an array, or None."""
        ...

    def put(self, locker: str, key: bytes, array: Array) -> None:
        """Store an array under a key, in place of what was there."""
        ...

    def delete(self, locker: str, key: bytes) -> bool:
        """Remove a key; tell whether it was there."""
        ...

    def tickets(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the last ticket; (0, 0) at first."""
        ...

    def punch(self, key: bytes, ticket: int) -> bool:
        """Count a visit, unless it was counted before.

        Tickets of a key rise: 1 or more, each above the last. One that is not above the last is a replay:
        the answer is False and nothing changes.
        """
        ...


class Reads(Protocol):
    """What reading takes; every store can do it."""

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a fresh copy of an array as last committed, checksum verified, or None."""
        ...

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """Return what `get` returns for each key; the keys of one shard are read from one snapshot."""
        ...


class Store(Reads, Protocol):
    """Arrays in lockers under keys; see `lockers.names` for what a locker, a key and a shard part are."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What the lockers were made for, as JSON values."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether `transact` is refused."""
        ...

    def keys(self, locker: str, prefix: bytes = b"") -> Iterator[bytes]:
        """Yield the keys of a locker that begin with a prefix, sorted.

        The store may be written to meanwhile, also by the one who iterates: a key that is there from
        beginning to end is yielded once; one that comes or goes may be missed.
        """
        ...

    def tickets(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the last ticket, as last committed."""
        ...

    def transact(self, shard_key: bytes, body: Callable[[Transaction], T]) -> T:
        """Run ``body`` in one write transaction on the shard part of ``shard_key``; return its answer.

        Whatever it raises undoes all it wrote. It may be run more than once (when the map must grow), so it
        must have no effects but through the transaction. Transactions do not nest. ``store.get`` within a
        body is allowed and sees what was committed before.
        """
        ...

    def flush(self) -> None:
        """Wait until all that was committed is on the disk itself."""
        ...

    def compact(self) -> None:
        """Give back the room of what was deleted or replaced; a `LockerError` if another process is there."""
        ...

    def require_alone(self) -> None:
        """Refuse with a `LockerError` when another process has the store open right now."""
        ...

    def require_sound(self) -> None:
        """Refuse with a `DamagedLockerError` when something is wrong with the structure of the files.

        To be asked before much is written: a write into damaged pages can end the process.
        """
        ...

    def check(self) -> list[str]:
        """Audit the store; each string names a locker, a key (hex) and a broken invariant. Empty: healthy."""
        ...

    def size(self) -> int:
        """Return the bytes used: of the data files, or of the arrays in memory."""
        ...

    def close(self) -> None:
        """Let go of files and memory; a second call does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
