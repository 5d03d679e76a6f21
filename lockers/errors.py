"""The errors of the lockers, few and under one base.

Every message has the same three parts: the subject (which folder, shard, locker or key), what was expected
there and what was found.
"""

from __future__ import annotations


class LockerError(Exception):
    """A store was asked for something that it cannot do, or holds something that it should not."""


class ManifestMismatchError(LockerError):
    """The folder holds the lockers of another job; the message names the keys that differ."""


class DamagedLockerError(LockerError):
    """What is on disk is not what was written: a checksum, a header, a page or a length is wrong."""


class ReadOnlyLockerError(LockerError):
    """Something was to be written to a store that is read-only."""


class BusyLockerError(LockerError):
    """A reader that may not write the lock file found no moment in which what it read stood still."""


class StorageError(LockerError):
    """The machine failed, not what was asked of it: no room, too many open files, a broken disk."""


class LockerFullError(StorageError):
    """Disk, file size limit or address space left no room; the transaction has changed nothing."""
