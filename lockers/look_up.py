"""Looks up one key in a transaction of LMDB, and finds out whether a missing key is missing because of damage."""

from __future__ import annotations

from pathlib import Path

from lockers.environment import LmdbTransaction
from lockers.errors import DamagedLockerError
from lockers.keys import describe


def look_up(transaction: LmdbTransaction, full: bytes, path: Path) -> bytearray | None:
    """Return a copy of a value, or None for an absent key."""
    value = transaction.get(full)
    if value is None:
        _require_absent(transaction, full, path)
        return None
    return bytearray(value)


def _require_absent(transaction: LmdbTransaction, full: bytes, path: Path) -> None:
    """Refuse a damaged file in which LMDB misses a key because two pages were swapped.

    The neighbours of a missing key in the sorted order of keys must be found by a search. If they are not, the key may
    exist too.

    Raises:
        DamagedLockerError: A neighbour is not found.
    """
    neighbours = []
    with transaction.cursor() as cursor:
        if cursor.set_range(full):
            neighbours.append(bytes(cursor.key()))
            if cursor.prev():
                neighbours.append(bytes(cursor.key()))
        elif cursor.last():
            neighbours.append(bytes(cursor.key()))
    for neighbour in neighbours:
        if transaction.get(neighbour) is None:
            raise DamagedLockerError(f"{path}: {describe(neighbour)}: expected on its page, found on another")
