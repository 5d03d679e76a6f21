"""What must hold for each single entry of a store, in memory and on disk alike."""

from __future__ import annotations

from lockers.codec import decode
from lockers.errors import LockerError
from lockers.names import TICKETS, split_key
from lockers.transaction import read_tickets


def entry_findings(full: bytes, value: bytes | bytearray) -> list[str]:
    """Return what is wrong with an entry: its key, its header and checksum, its ticket record."""
    try:
        locker, _ = split_key(full)
        array = decode(bytearray(value), full)
        if locker == TICKETS:
            read_tickets(array, full)
    except LockerError as error:
        return [str(error)]
    return []
