"""The common base of the transactions on disk and in memory: arrays, visit counters, and a guard against nesting."""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from lockers.codec import Array, decode
from lockers.errors import DamagedLockerError, LockerError
from lockers.keys import VISITS, describe, full_key, internal_key, split_key

_MAX_VISIT_ID = 2**63 - 1


class BaseTransaction(abc.ABC):
    """A transaction; subclasses load, save and delete the array under a full key."""

    def __init__(self) -> None:
        self._ended = False

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a new copy of the array under a key; None if there is no such key."""
        return self._load(self._running(full_key(locker, key)))

    def put(self, locker: str, key: bytes, array: Array) -> None:
        """Store an array under a key and replace any earlier array."""
        self._save(self._running(full_key(locker, key)), array)

    def put_later(self, locker: str, key: bytes, read: Callable[[], Array]) -> None:
        """Store the array that ``read`` returns: see `lockers.Transaction`."""
        self.put(locker, key, read())

    def delete(self, locker: str, key: bytes) -> bool:
        """Remove a key and its array; return whether the key existed."""
        return self._drop(self._running(full_key(locker, key)))

    def visits(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the id of the last visit; (0, 0) before the first visit."""
        full = self._running(internal_key(VISITS, key))
        return read_visits(self._load(full), full)

    def count_visit(self, key: bytes, visit_id: int) -> bool:
        """Count a visit of a key if ``visit_id`` is greater than the last counted id; return whether it was counted."""
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


def read_visits(record: Array | None, full: bytes) -> tuple[int, int]:
    """Return the number of visits and the last visit's id from a record of two int64; (0, 0) if the record is None.

    Raises:
        DamagedLockerError: The record has another shape or dtype, or violates ``1 <= visits <= last id``.
    """
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
        """Mark this thread as in a transaction while the ``with`` block runs.

        Args:
            subject: The store, for messages.

        Raises:
            LockerError: The thread is in a transaction already.
        """
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
