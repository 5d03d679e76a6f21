"""The protocols of a store, on disk or in memory, for use in other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from lockers.codec import Array

T = TypeVar("T")


class Transaction(Protocol):
    """Reads and writes that happen together or not at all.

    A transaction sees its own writes. It ends with the function that `Store.transact` runs; a later use is a
    `LockerError`.
    """

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a fresh copy of an array, or None."""
        ...

    def put(self, locker: str, key: bytes, array: Array) -> None:
        """Store an array under a key, in place of what was there."""
        ...

    def delete(self, locker: str, key: bytes) -> bool:
        """Remove a key; return whether it was there."""
        ...

    def visits(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the last visit's id; (0, 0) at first."""
        ...

    def count_visit(self, key: bytes, visit_id: int) -> bool:
        """Count a visit, unless it was counted before.

        Ids of a key's visits rise: 1 or more, each above the last. A visit whose id is not above the last one is a
        replay: the answer is False and nothing changes.
        """
        ...


class Reads(Protocol):
    """The part of a store that reads arrays."""

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a fresh copy of an array as last committed, checksum verified, or None."""
        ...

    def get_many(self, locker: str, keys: Sequence[bytes]) -> list[Array | None]:
        """Return the answer of `get` for each key, all from one commit."""
        ...


class Store(Reads, Protocol):
    """Arrays in lockers under keys; `lockers.keys` defines both."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """JSON values that name the game and job of the lockers."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether the store refuses `transact`."""
        ...

    def keys(self, locker: str, prefix: bytes = b"") -> Iterator[bytes]:
        """Yield the keys of a locker that begin with a prefix, sorted.

        The store may be written to meanwhile, also by the caller: a key that is there from beginning to end is yielded
        once; a key that comes or goes may be missed.
        """
        ...

    def visits(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the last visit's id, as last committed."""
        ...

    def transact(self, body: Callable[[Transaction], T]) -> T:
        """Run ``body`` in one write transaction; return its answer.

        An exception of ``body`` undoes all its writes. A store may run ``body`` more than once (when the map must
        grow), so it must have no effects but through the transaction. Transactions do not nest. ``store.get`` within a
        body is allowed and sees the last commit.
        """
        ...

    def flush(self) -> None:
        """Wait until all commits are on the disk itself."""
        ...

    def compact(self) -> None:
        """Free the space of deleted and replaced arrays; raise a `LockerError` if another process uses the store."""
        ...

    def require_alone(self) -> None:
        """Refuse with a `LockerError` when another process has the store open right now."""
        ...

    def require_sound(self) -> None:
        """Refuse with a `DamagedLockerError` when something is wrong with the structure of the file.

        Callers check before they write much, since a write into damaged pages can end the process.
        """
        ...

    def check(self) -> list[str]:
        """Audit the store; each string names a locker, a key (hex) and a broken invariant. Empty: healthy."""
        ...

    def size(self) -> int:
        """Return the bytes used: of the data file, or of the arrays in memory."""
        ...

    def close(self) -> None:
        """Release files and memory; a second call does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
