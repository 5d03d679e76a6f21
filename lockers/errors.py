"""The errors of the lockers, few and under one base.

Every message names its subject (the folder, file, locker or key), what was expected there and what was found.
"""

from __future__ import annotations


class LockerError(Exception):
    """A store was asked for something that it cannot do, or holds something that it should not."""


class ManifestMismatchError(LockerError):
    """The folder holds the lockers of another job; the message names the keys that differ."""


class DamagedLockerError(LockerError):
    """The disk holds something else than was written: a checksum, a header, a page or a length is wrong."""


class ReadOnlyLockerError(LockerError):
    """A caller wants to write to a store that is read-only."""


class StorageError(LockerError):
    """The machine failed, not the request: no room, too many open files, a broken disk."""


class LockerFullError(StorageError):
    """Disk, file size limit or address space left no room; the transaction has changed nothing."""
