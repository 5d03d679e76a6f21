"""What the transactions of all stores have in common: which keys they may touch, tickets, and their end."""

from __future__ import annotations

import abc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from lockers.codec import Array
from lockers.errors import DamagedLockerError, LockerError
from lockers.names import TICKETS, describe, full_key, internal_key, shard_part

_MAX_TICKET = 2**63 - 1


class BaseTransaction(abc.ABC):
    """A transaction over arrays under full keys; a store says how to load, save and drop one."""

    def __init__(self, shard_key: bytes, *, one_shard: bool) -> None:
        self._part = None if one_shard else shard_part(shard_key)
        self._ended = False

    def get(self, locker: str, key: bytes) -> Array | None:
        """Return a fresh copy of an array, or None."""
        return self._load(self._admit(full_key(locker, key), key))

    def put(self, locker: str, key: bytes, array: Array) -> None:
        """Store an array under a key, in place of what was there."""
        self._save(self._admit(full_key(locker, key), key), array)

    def delete(self, locker: str, key: bytes) -> bool:
        """Remove a key; tell whether it was there."""
        return self._drop(self._admit(full_key(locker, key), key))

    def tickets(self, key: bytes) -> tuple[int, int]:
        """Return the number of visits counted for a key and the last ticket; (0, 0) at first."""
        full = self._admit(internal_key(TICKETS, key), key)
        return read_tickets(self._load(full), full)

    def punch(self, key: bytes, ticket: int) -> bool:
        """Count a visit unless ``ticket`` is not above the last; tell whether it was counted."""
        if ticket > _MAX_TICKET:
            raise LockerError(f"a ticket for key {key.hex()}: expected at most {_MAX_TICKET}, found {ticket}")
        full = self._admit(internal_key(TICKETS, key), key)
        visits, last = read_tickets(self._load(full), full)
        if ticket <= last:
            return False
        self._save(full, np.array([visits + 1, ticket], np.int64))
        return True

    def end(self) -> None:
        """Refuse everything from now on."""
        self._ended = True

    def _admit(self, full: bytes, key: bytes) -> bytes:
        if self._ended:
            raise LockerError(f"{describe(full)}: expected a running transaction, found one that has ended")
        # The shard part and not the shard: two parts may share a shard today and not with another shard
        # count. A store made with a single shard stays one, so there all keys go together.
        if self._part is not None and shard_part(key) != self._part:
            raise LockerError(
                f"{describe(full)}: expected a key of this transaction's shard part {self._part.hex()}, "
                f"found shard part {shard_part(key).hex()}"
            )
        return full

    @abc.abstractmethod
    def _load(self, full: bytes) -> Array | None: ...

    @abc.abstractmethod
    def _save(self, full: bytes, array: Array) -> None: ...

    @abc.abstractmethod
    def _drop(self, full: bytes) -> bool: ...


def read_tickets(record: Array | None, full: bytes) -> tuple[int, int]:
    """Return (visits, last ticket) of a ticket record: two int64.

    As tickets rise from 1, ``1 <= visits <= last ticket``.
    """
    if record is None:
        return 0, 0
    if record.shape != (2,) or record.dtype != np.int64:
        raise DamagedLockerError(
            f"{describe(full)}: expected a ticket record of two int64, found {record.dtype} {record.shape}"
        )
    visits, last = record.tolist()
    if not 1 <= visits <= last:
        raise DamagedLockerError(
            f"{describe(full)}: expected 1 <= visits <= last ticket, "
            f"found {visits} visits, last ticket {last}"
        )
    return visits, last


class Turnstile(threading.local):
    """Lets each thread into one transaction at a time.

    A second one on the same shard would wait for the first for ever, one on another shard could wait in a
    circle with another process.
    """

    busy = False

    @contextmanager
    def pass_through(self, subject: str) -> Iterator[None]:
        """Hold the thread's only place while the block runs."""
        if self.busy:
            raise LockerError(f"{subject}: expected no transaction in this thread, found one that is running")
        self.busy = True
        try:
            yield
        finally:
            self.busy = False


TURNSTILE = Turnstile()
