"""Parts that the transactions of all stores share: arrays under full keys, counted visits, no nesting."""

from __future__ import annotations

import abc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from lockers.codec import Array, decode
from lockers.errors import DamagedLockerError, LockerError
from lockers.keys import VISITS, describe, full_key, internal_key, split_key

_MAX_VISIT_ID = 2**63 - 1


class BaseTransaction(abc.ABC):
    """A transaction over arrays under full keys; a store says how to load, save and drop one."""

    def __init__(self) -> None:
        self._ended = False

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a fresh copy of an array, or None."""
        return self._load(self._running(full_key(locker, key)))

    def put(self, locker: str, key: bytes, array: Array) -> None:
        """Store an array under a key, in place of what was there."""
        self._save(self._running(full_key(locker, key)), array)

    def delete(self, locker: str, key: bytes) -> bool:
        """Remove a key; return whether it was there."""
        return self._drop(self._running(full_key(locker, key)))

    def visits(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the last visit's id; (0, 0) at first."""
        full = self._running(internal_key(VISITS, key))
        return read_visits(self._load(full), full)

    def count_visit(self, key: bytes, visit_id: int) -> bool:
        """Count a visit unless ``visit_id`` is not above the last one; return whether it was counted."""
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
        """Refuse every later use."""
        self._ended = True

    def _running(self, full: bytes) -> bytes:
        if self._ended:
            raise LockerError(f"{describe(full)}: expected a running transaction, found one that has ended")
        return full

    @abc.abstractmethod
    def _load(self, full: bytes) -> Array | None: ...

    @abc.abstractmethod
    def _save(self, full: bytes, array: Array) -> None: ...

    @abc.abstractmethod
    def _drop(self, full: bytes) -> bool: ...


def read_visits(record: Array | None, full: bytes) -> tuple[int, int]:
    """Return (number of visits, last visit id) of a record of two int64.

    As ids rise from 1, ``1 <= visits <= last id``.
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
    """Return what is wrong with one entry of a store: its key, its header and checksum, its visit record."""
    try:
        locker, _ = split_key(full)
        array = decode(bytearray(value), full)
        if locker == VISITS:
            read_visits(array, full)
    except LockerError as error:
        return [str(error)]
    return []


class NotNested(threading.local):
    """A guard that lets each thread into one transaction at a time.

    A second transaction on a store would wait for the first one for ever, and one on another store could wait in a
    circle with another process.
    """

    busy = False

    @contextmanager
    def enter(self, subject: str) -> Iterator[None]:
        """Refuse the block with a `LockerError` if this thread is in a transaction."""
        if self.busy:
            raise LockerError(f"{subject}: expected no transaction in this thread, found one that is running")
        self.busy = True
        try:
            yield
        finally:
            self.busy = False


NOT_NESTED = NotNested()
