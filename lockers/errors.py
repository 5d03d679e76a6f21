"""The errors of the package `lockers`, and their making from errors of LMDB and of the operating system.

All errors derive from `LockerError`. Every message names the folder, file, locker or key, what was expected there and
what was found.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import lmdb

from compiled.errors import SpewyError

# LMDB reports an incomplete write, which a full disk causes, as EIO; EFBIG means the limit on file sizes.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
_HANDLES = {errno.EMFILE, errno.ENFILE}
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}
_GENERAL = {errno.ENOMEM, errno.ENAMETOOLONG}
_DAMAGED = (
    lmdb.CorruptedError,
    lmdb.PageNotFoundError,
    lmdb.InvalidError,
    lmdb.VersionMismatchError,
    lmdb.PageFullError,
    lmdb.CursorFullError,
    lmdb.NotFoundError,
    lmdb.MapResizedError,  # after many attempts: the file claims to be larger than every map
    lmdb.BadValsizeError,
)


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


def translate(
    error: lmdb.Error | OSError, path: Path, needed: int = 0, expected: str = "a file that can be used"
) -> LockerError:
    """Return the `LockerError` for an error that writing ``path`` raised.

    ``needed`` is the approximate number of bytes to write (0: unknown). Some errors, such as a full disk, have special
    messages. For every other error of the operating system the message says "expected", then the text ``expected``.
    """
    code = _code(error)
    if code == errno.EIO and isinstance(error, OSError):
        return StorageError(f"{path}: expected a disk that works, found: {error}")
    if code in _FULL or isinstance(error, lmdb.DiskError):
        room = f"room for about {needed} bytes" if needed else "room to write"
        return LockerFullError(
            f"{path}: expected {room}, found {_free_bytes(path)} bytes free and: {error} ({_name(code)})"
        )
    if code == errno.ENOMEM or isinstance(error, lmdb.MemoryError):
        wanted = f" for {needed} bytes" if needed else ""
        return LockerFullError(f"{path}: expected memory or address space{wanted}, found none: {error}")
    if code in _HANDLES:
        return StorageError(f"{path}: expected to be able to open another file, found: {error}")
    if code in _READ_ONLY or isinstance(error, lmdb.ReadonlyError):
        return ReadOnlyLockerError(f"{path}: expected a folder and files that can be written, found: {error}")
    if isinstance(error, _DAMAGED):
        return DamagedLockerError(f"{path}: expected sound LMDB pages, found: {error}")
    if isinstance(error, lmdb.PanicError):
        return StorageError(f"{path}: expected a commit to finish, found: {error}")
    if code == errno.ENAMETOOLONG:
        return LockerError(f"{path}: expected names of at most 255 bytes, found longer ones")
    if isinstance(error, OSError):
        return LockerError(f"{path}: expected {expected}, found: {error}")
    return LockerError(f"{path}: expected LMDB to work, found: {error} ({_name(code)})")


def unreadable(error: lmdb.Error | OSError, path: Path) -> LockerError:
    """Return the `LockerError` for an error that reading ``path`` raised."""
    code = _code(error)
    if code in _READ_ONLY or (isinstance(error, OSError) and code not in {*_FULL, *_HANDLES, *_GENERAL}):
        found = error.strerror if isinstance(error, OSError) and error.strerror else error
        return LockerError(f"{path}: expected to be able to read it, found: {found}")
    return translate(error, path)


def _code(error: lmdb.Error | OSError) -> int:
    return int((error.errno if isinstance(error, OSError) else getattr(error, "code", 0)) or 0)


def _free_bytes(path: Path) -> int | str:
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return "an unknown number of"


def _name(code: int | None) -> str:
    return errno.errorcode.get(code or 0) or os.strerror(code) if code and code > 0 else f"code {code}"
