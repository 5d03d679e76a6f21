"""The lock file beside a data file: who may write it, how it is made, and who is alone.

LMDB keeps its locks and the reader table in it. A process that has the data file open in LMDB holds a read lock on
its first byte.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path

from lockers.errors import LockerError

MAX_READERS = 1024

_SIZE = 64 * MAX_READERS + 4096  # 64 bytes for each reader, and a header


def lock_file(path: Path) -> Path:
    """Return the lock file of a data file."""
    return path.with_name(path.name + "-lock")


def make_lock_file(path: Path) -> None:
    """Make the lock file of a data file, with blocks of its own, unless there is one.

    LMDB makes a file with a hole in it and maps that; when the disk is full, writing there ends the process
    with SIGBUS. Whoever may not write the data file makes none. Root makes it for the data file's owner, who
    could not open it otherwise.
    """
    lock = lock_file(path)
    with contextlib.suppress(FileExistsError):
        owner = path.stat() if path.exists() else None
        if owner is not None and not may_write(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            if owner is not None and not os.geteuid():
                os.fchown(descriptor, owner.st_uid, owner.st_gid)
            os.posix_fallocate(descriptor, 0, _SIZE)
        except OSError:
            lock.unlink()
            raise
        finally:
            os.close(descriptor)


def may_write(path: Path) -> bool:
    """Return whether a file is there and may be written; without opening it, which would give up locks on it."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def lock_alone(descriptor: int, path: Path) -> None:
    """Be the only process that has a data file open in LMDB until ``descriptor``, of its lock file, is closed."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    except (BlockingIOError, PermissionError) as error:
        raise LockerError(
            f"{path}: expected nobody else to have it open, found another process that does"
        ) from error
