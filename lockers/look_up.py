"""Look up a key in an LMDB transaction, and tell an absent key from a key that damaged pages hide."""

from __future__ import annotations

from pathlib import Path

from lockers.environment import LmdbTransaction
from lockers.errors import DamagedLockerError
from lockers.keys import describe


def look_up(transaction: LmdbTransaction, full: bytes, path: Path) -> bytearray | None:
    """Return a copy of the value under a full key (`lockers.keys`), or None if the key is absent.

    Args:
        transaction: The LMDB transaction.
        full: The full key.
        path: The data file, for messages.

    Raises:
        DamagedLockerError: The key may exist, but damaged pages hide it.
    """
    value = transaction.get(full)
    if value is None:
        _require_absent(transaction, full, path)
        return None
    return bytearray(value)


def _require_absent(transaction: LmdbTransaction, full: bytes, path: Path) -> None:
    """Refuse a damaged file in which LMDB does not find a key because two pages were swapped.

    The search must find the keys that would be the absent key's neighbours in the sorted order of keys. If the search
    misses a neighbour, the search may also have missed the key.

    Raises:
        DamagedLockerError: The search does not find a neighbour.
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
