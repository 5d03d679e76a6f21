"""LMDB's lock file beside a data file: its creation, who may write it, and exclusive use.

The file holds LMDB's locks and the table of readers, whose pages writers keep, so readers write it too. A process
that has the data file open in LMDB holds a read lock on the first byte.
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
_ANYBODY_WRITES = 0o222


def lock_file(path: Path) -> Path:
    """Return the lock file of a data file."""
    return path.with_name(path.name + "-lock")


def make_lock_file(path: Path) -> None:
    """Make the lock file of a data file, with blocks of its own, or mend its mode.

    LMDB would make a file with a hole and map it; when the disk is full, writing there ends the process with SIGBUS.
    Whoever may read the data file may write the lock file. Root makes the file for the data file's owner.
    """
    owner, lock = path.stat(), lock_file(path)
    mode = owner.st_mode & 0o666 | (owner.st_mode & 0o444) >> 1
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        status = lock.stat()
        if status.st_mode & mode != mode and os.geteuid() in (0, status.st_uid):
            lock.chmod(status.st_mode & 0o777 | mode)
        return
    try:
        os.fchmod(descriptor, mode)  # whatever the umask says
        if not os.geteuid():
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        os.posix_fallocate(descriptor, 0, _SIZE)
    except OSError:
        lock.unlink()
        raise
    finally:
        os.close(descriptor)


def require_writable(path: Path) -> None:
    """Refuse to write a data file whose mode keeps everybody from writing, root too: readers take no lock there."""
    if not _may_write(path) or not path.stat().st_mode & _ANYBODY_WRITES:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


def readers_lock(path: Path) -> bool:
    """Whether readers of a data file take LMDB's locks; create the lock file if it is needed.

    Nobody writes a data file on a read-only file system or of a mode without write permission, so reading needs no
    locks there.

    Raises:
        LockerError: The reader may not write the lock file, and somebody may write the data file.
    """
    if not path.stat().st_mode & _ANYBODY_WRITES or os.statvfs(path).f_flag & os.ST_RDONLY:
        return False
    lock = lock_file(path)
    if not _may_write(lock):
        with contextlib.suppress(PermissionError):
            make_lock_file(path)
        if not _may_write(lock):
            raise LockerError(
                f"{lock}: expected a lock file that you may write, as reading takes a lock; found "
                f"{'one that you may not' if lock.exists() else 'none'}: "
                "ask the owner of the folder to open it once, or read a copy of the folder"
            )
    return True


def lock_alone(descriptor: int, path: Path) -> None:
    """Exclude other processes from a data file until ``descriptor``, of its lock file, is closed."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    except (BlockingIOError, PermissionError) as error:
        raise LockerError(
            f"{path}: expected nobody else to have it open, found another process that does"
        ) from error


def _may_write(path: Path) -> bool:
    """Return whether a file is there and may be written; without opening it, which would give up locks on it."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
