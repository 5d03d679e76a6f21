"""The methods of every store, on disk or in memory, as protocols for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from lockers.codec import Array

T = TypeVar("T")


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
        """Count a visit of a key, and return whether it was counted.

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
    """Lockers with arrays under keys; `lockers.keys` defines valid names and keys."""

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
        """Let all reads of this thread see one commit while a ``with`` block runs; ``as`` gives the commit's number.

        The block must not write. Other threads and processes may write, or wait until the block has ended.
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
        """Check that no other process has the store open.

        Raises:
            LockerError: Another process has the store open.
        """
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
