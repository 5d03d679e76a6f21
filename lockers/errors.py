"""The errors of the package `lockers`; all derive from `LockerError`.

Every message names the folder, file, locker or key, what was expected there and what was found.
"""

from __future__ import annotations

from compiled.errors import SpewyError


class LockerError(SpewyError):
    """A request that a store cannot fulfil, or content that a store must not have."""


class ManifestMismatchError(LockerError):
    """The folder holds the lockers of another job; the message names the manifest's keys that differ."""


class DamagedLockerError(LockerError):
    """A checksum, a header, a page or a length on the disk is not as it was written."""


class ReadOnlyLockerError(LockerError):
    """An attempt to write to a read-only store."""


class StorageError(LockerError):
    """The disk or the system failed: no room, too many open files, or a broken disk."""


class LockerFullError(StorageError):
    """The disk, the limit of file sizes or the address space is full; the transaction has changed nothing."""
